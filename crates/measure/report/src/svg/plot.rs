//! Lines, bars, bands and rules on two axes.

use super::Tone;
use super::axis::Axis;
use super::frame::Frame;

/// How a series is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// A broken line: offered, ideal, bounded.
    Dashed,
    /// Points alone.
    Dots,
    /// A line.
    #[default]
    Line,
    /// A line with a mark on each point.
    Marked,
}

/// Points of one subject.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Series {
    /// What they are.
    pub name: String,
    /// How they are drawn.
    pub shape: Shape,
    /// In which colour.
    pub tone: Tone,
    /// x and y, in the order in which they are joined.
    pub points: Vec<(f64, f64)>,
}

impl Series {
    /// A series.
    #[must_use]
    pub fn new(name: &str, shape: Shape, tone: Tone, points: Vec<(f64, f64)>) -> Self {
        Self {
            name: name.to_owned(),
            shape,
            tone,
            points,
        }
    }
}

/// An interval along a curve.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Band {
    /// The colour of the curve it belongs to.
    pub tone: Tone,
    /// x, lower and upper end.
    pub points: Vec<(f64, f64, f64)>,
}

impl Band {
    /// A band.
    #[must_use]
    pub const fn new(tone: Tone, points: Vec<(f64, f64, f64)>) -> Self {
        Self { tone, points }
    }
}

/// A bar of a histogram.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Bar {
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// How high it is.
    pub height: f64,
}

impl Bar {
    /// A bar.
    #[must_use]
    pub const fn new(from: f64, to: f64, height: f64) -> Self {
        Self { from, to, height }
    }
}

/// Which way a rule runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Direction {
    /// At one y.
    #[default]
    Level,
    /// At one x.
    Upright,
}

/// A line at one value, with its reason.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Rule {
    /// The value.
    pub at: f64,
    /// Which way.
    pub direction: Direction,
    /// Why.
    pub label: String,
}

impl Rule {
    /// A rule.
    #[must_use]
    pub fn new(direction: Direction, at: f64, label: &str) -> Self {
        Self {
            at,
            direction,
            label: label.to_owned(),
        }
    }
}

/// A plot. What is left empty is not drawn.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// From left to right.
    pub x: Axis,
    /// From bottom to top.
    pub y: Axis,
    /// What the bars are, for the table.
    pub bars_name: String,
    /// A histogram.
    pub bars: Vec<Bar>,
    /// Behind the curves.
    pub bands: Vec<Band>,
    /// The curves.
    pub series: Vec<Series>,
    /// Lines for orientation.
    pub rules: Vec<Rule>,
}

impl Plot {
    /// A plot without content.
    #[must_use]
    pub fn new(title: &str, x: Axis, y: Axis) -> Self {
        Self {
            title: title.to_owned(),
            x,
            y,
            ..Self::default()
        }
    }

    /// The drawing, or nothing if there is nothing to draw.
    #[must_use]
    pub fn svg(&self) -> Option<String> {
        let (x, y) = (self.x.range(self.xs())?, self.y.range(self.ys())?);
        Some(Frame::new(self, x, y).drawn())
    }

    /// The points that have a place on both axes.
    fn drawable(&self) -> impl Iterator<Item = &(f64, f64)> {
        let points = self.series.iter().flat_map(|series| &series.points);
        points.filter(|(x, y)| self.x.holds(*x) && self.y.holds(*y))
    }

    fn xs(&self) -> impl Iterator<Item = f64> {
        let bars = self.bars.iter().flat_map(|bar| [bar.from, bar.to]);
        let bands = self
            .bands
            .iter()
            .flat_map(|band| band.points.iter().map(|point| point.0));
        bars.chain(bands)
            .chain(self.drawable().map(|point| point.0))
    }

    fn ys(&self) -> impl Iterator<Item = f64> {
        let bars = self.bars.iter().map(|bar| bar.height);
        let bands = self
            .bands
            .iter()
            .flat_map(|b| b.points.iter().flat_map(|p| [p.1, p.2]));
        let series = self.drawable().map(|point| point.1);
        let rules = self
            .rules
            .iter()
            .filter(|rule| rule.direction == Direction::Level);
        bars.chain(bands)
            .chain(series)
            .chain(rules.map(|rule| rule.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::{Spread, Unit};

    fn plot(points: Vec<(f64, f64)>, spread: Spread) -> Plot {
        let mut plot = Plot::new(
            "t",
            Axis::linear("x", Unit::Count),
            Axis::linear("y", Unit::Time),
        );
        plot.y.spread = spread;
        plot.series
            .push(Series::new("s", Shape::Line, Tone::First, points));
        plot
    }

    #[test]
    fn nothing_drawable_is_no_drawing() {
        assert!(plot(Vec::new(), Spread::Linear).svg().is_none());
        assert!(
            plot(vec![(1.0, f64::NAN), (f64::INFINITY, 1.0)], Spread::Linear)
                .svg()
                .is_none()
        );
        assert!(
            plot(vec![(1.0, 0.0), (2.0, -4.0)], Spread::Log)
                .svg()
                .is_none()
        );
    }

    #[test]
    fn points_that_are_not_finite_leave_a_gap() {
        let points = vec![
            (1.0, 1.0),
            (2.0, 2.0),
            (3.0, f64::NAN),
            (4.0, 1.0),
            (5.0, 3.0),
        ];
        let svg = plot(points, Spread::Linear).svg().unwrap();
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn extreme_values_stay_inside_the_drawing() {
        let points = vec![(0.0, 1e-300), (1.0, f64::MAX), (2.0, f64::MIN_POSITIVE)];
        for spread in [Spread::Linear, Spread::Log] {
            let svg = plot(points.clone(), spread).svg().unwrap_or_default();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
