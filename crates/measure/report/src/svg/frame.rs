//! A plot on its way to the page: grid, bands, bars, rules, curves, legend.

use super::axis::Range;
use super::plot::{Direction, Plot, Rule, Series, Shape};
use super::{Canvas, coordinate, width_of};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 270.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 14.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 42.0;

/// A plot with its ranges known.
pub(super) struct Frame<'a> {
    plot: &'a Plot,
    x: Range,
    y: Range,
}

impl<'a> Frame<'a> {
    pub(super) const fn new(plot: &'a Plot, x: Range, y: Range) -> Self {
        Self { plot, x, y }
    }

    /// The whole drawing, with what a script needs to read values back from places.
    pub(super) fn drawn(&self) -> String {
        let plot = self.plot;
        let mut canvas = Canvas::new(WIDTH, HEIGHT, &plot.title);
        let (x, y) = (plot.x.data(self.x), plot.y.data(self.y));
        let area = [LEFT, TOP, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM];
        let area = area.map(coordinate).join(" ");
        canvas.raw(&format!(
            " class=\"plot\" data-x=\"{x}\" data-y=\"{y}\" data-area=\"{area}\">"
        ));
        self.grid(&mut canvas);
        self.bands(&mut canvas);
        self.bars(&mut canvas);
        self.rules(&mut canvas);
        for series in &plot.series {
            self.series(&mut canvas, series);
        }
        self.legend(&mut canvas);
        canvas.finish()
    }

    /// A value's place on the drawing; outside values stay at the edge.
    fn at(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        (self.plot.x.holds(x) && self.plot.y.holds(y)).then(|| (self.across(x), self.up(y)))
    }

    fn across(&self, x: f64) -> f64 {
        LEFT + self.plot.x.place(self.x, x).clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT)
    }

    fn up(&self, y: f64) -> f64 {
        HEIGHT - BOTTOM - self.plot.y.place(self.y, y).clamp(0.0, 1.0) * (HEIGHT - TOP - BOTTOM)
    }

    fn grid(&self, canvas: &mut Canvas) {
        let (right, bottom) = (WIDTH - RIGHT, HEIGHT - BOTTOM);
        let mut lines = String::new();
        for (value, label) in self.plot.y.ticks(self.y) {
            let y = self.up(value);
            lines += &format!("M{LEFT} {}H{right}", coordinate(y));
            canvas.label("e", (LEFT - 6.0, y + 4.0), &label);
        }
        let mut free = f64::MIN;
        for (value, label) in self.plot.x.ticks(self.x) {
            let (x, half) = (self.across(value), width_of(&label) / 2.0);
            lines += &format!("M{} {bottom}v4", coordinate(x));
            if x - half > free && x + half < WIDTH {
                canvas.label("m", (x, bottom + 17.0), &label);
                free = x + half + 6.0;
            }
        }
        canvas.raw(&format!("<path class=\"g\" d=\"{lines}\"/>"));
        canvas.line("a", (LEFT, bottom), (right, bottom));
        canvas.label(
            "m l",
            ((LEFT + right) / 2.0, HEIGHT - 6.0),
            &self.plot.x.label,
        );
        canvas.label("l", (4.0, 14.0), &self.plot.y.label);
    }

    fn bands(&self, canvas: &mut Canvas) {
        for band in &self.plot.bands {
            let ends = |end: fn(&(f64, f64, f64)) -> f64| {
                band.points
                    .iter()
                    .filter_map(move |point| self.at(point.0, end(point)))
                    .collect()
            };
            let (lower, mut upper): (Vec<_>, Vec<_>) =
                (ends(|point| point.1), ends(|point| point.2));
            upper.reverse();
            let outline: Vec<(f64, f64)> = lower.into_iter().chain(upper).collect();
            if outline.len() > 2 {
                let points = joined(&outline);
                canvas.raw(&format!(
                    "<polygon class=\"b {}\" points=\"{points}\"/>",
                    band.tone.class()
                ));
            }
        }
    }

    fn bars(&self, canvas: &mut Canvas) {
        let (mut path, bottom) = (String::new(), HEIGHT - BOTTOM);
        for bar in &self.plot.bars {
            let from = if self.plot.x.holds(bar.from) {
                bar.from
            } else {
                self.x.lo
            };
            let (Some((left, top)), Some((right, _))) =
                (self.at(from, bar.height), self.at(bar.to, bar.height))
            else {
                continue;
            };
            // What is there at all stays visible.
            let top = if bar.height > 0.0 {
                top.min(HEIGHT - BOTTOM - 1.0)
            } else {
                top
            };
            let right = right.max(left + 1.4) - 0.6;
            let [left, right, top] = [left, right, top].map(coordinate);
            path += &format!("M{left} {bottom}V{top}H{right}V{bottom}Z");
        }
        if !path.is_empty() {
            canvas.raw(&format!("<path class=\"f t0\" d=\"{path}\"/>"));
        }
    }

    fn rules(&self, canvas: &mut Canvas) {
        let (uprights, levels): (Vec<&Rule>, Vec<&Rule>) = self
            .plot
            .rules
            .iter()
            .partition(|rule| rule.direction == Direction::Upright);
        for rule in levels.into_iter().filter(|rule| self.plot.y.holds(rule.at)) {
            let y = self.up(rule.at);
            canvas.line("r", (LEFT, y), (WIDTH - RIGHT, y));
            canvas.label("e r", (WIDTH - RIGHT, y - 4.0), &rule.label);
        }
        let mut uprights: Vec<(f64, &str)> = uprights
            .into_iter()
            .filter(|rule| self.plot.x.holds(rule.at))
            .map(|rule| (self.across(rule.at), rule.label.as_str()))
            .collect();
        uprights.sort_by(|one, other| one.0.total_cmp(&other.0));
        // Labels of neighbours stand below each other; what finds no room goes without.
        let mut free = [f64::MIN; 3];
        for (x, label) in uprights {
            canvas.line("r", (x, TOP), (x, HEIGHT - BOTTOM));
            let half = width_of(label) / 2.0;
            let row = free
                .iter_mut()
                .zip(0_u8..)
                .find(|(end, _)| **end < x - half);
            if let Some((end, row)) = row {
                *end = x + half + 4.0;
                canvas.label("m r", (x, TOP - 3.0 + 12.0 * f64::from(row)), label);
            }
        }
    }

    fn series(&self, canvas: &mut Canvas, series: &Series) {
        let class = series.tone.class();
        let places: Vec<Option<(f64, f64)>> = series
            .points
            .iter()
            .map(|point| self.at(point.0, point.1))
            .collect();
        // Points that cannot be drawn leave a gap, they are not bridged.
        for piece in places.split(Option::is_none) {
            let piece: Vec<(f64, f64)> = piece.iter().copied().flatten().collect();
            if series.shape != Shape::Dots && piece.len() > 1 {
                let kind = if series.shape == Shape::Dashed {
                    "d"
                } else {
                    "s"
                };
                canvas.raw(&format!("<polyline class=\"{kind} {class}\" data-n=\""));
                canvas.text(&series.name);
                canvas.raw(&format!("\" points=\"{}\"/>", joined(&piece)));
            }
            if matches!(series.shape, Shape::Dots | Shape::Marked) || piece.len() == 1 {
                for at in piece {
                    canvas.dot(class, at);
                }
            }
        }
    }

    fn legend(&self, canvas: &mut Canvas) {
        let named: Vec<&Series> = self
            .plot
            .series
            .iter()
            .filter(|series| !series.name.is_empty())
            .collect();
        if named.len() + usize::from(!self.plot.bars.is_empty()) < 2 {
            return;
        }
        let mut x = WIDTH - RIGHT;
        for series in named.iter().rev() {
            x -= width_of(&series.name);
            canvas.label("k", (x, 14.0), &series.name);
            let class = series.tone.class();
            match series.shape {
                Shape::Dots => canvas.dot(class, (x - 11.0, 10.0)),
                Shape::Dashed => {
                    canvas.line(&format!("d {class}"), (x - 24.0, 10.0), (x - 6.0, 10.0))
                }
                _ => canvas.line(&format!("s {class}"), (x - 24.0, 10.0), (x - 6.0, 10.0)),
            }
            x -= 38.0;
        }
    }
}

fn joined(points: &[(f64, f64)]) -> String {
    let points: Vec<String> = points
        .iter()
        .map(|(x, y)| format!("{},{}", coordinate(*x), coordinate(*y)))
        .collect();
    points.join(" ")
}
