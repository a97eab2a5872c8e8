//! Horizontal bars and whiskers, a row per name.

use super::axis::{Axis, Range};
use super::{Canvas, Tone, width_of};
use crate::plain;

/// A part of a bar.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Segment {
    /// What it is.
    pub name: String,
    /// How long it is.
    pub value: f64,
    /// In which colour.
    pub tone: Tone,
}

impl Segment {
    /// A segment.
    #[must_use]
    pub fn new(name: &str, value: f64, tone: Tone) -> Self {
        Self {
            name: name.to_owned(),
            value,
            tone,
        }
    }
}

/// A value with its interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Whisker {
    /// Lower end.
    pub lo: f64,
    /// The value.
    pub mid: f64,
    /// Upper end.
    pub hi: f64,
    /// In which colour.
    pub tone: Tone,
}

impl Whisker {
    /// A whisker.
    #[must_use]
    pub const fn new(lo: f64, mid: f64, hi: f64, tone: Tone) -> Self {
        Self { lo, mid, hi, tone }
    }
}

/// One row.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Row {
    /// What it is about.
    pub name: String,
    /// What stands at its right end.
    pub text: String,
    /// Bars, one after the other.
    pub segments: Vec<Segment>,
    /// A value with its interval.
    pub whisker: Option<Whisker>,
}

impl Row {
    /// A row of bars.
    #[must_use]
    pub fn bar(name: &str, text: &str, segments: Vec<Segment>) -> Self {
        Self {
            name: name.to_owned(),
            text: text.to_owned(),
            segments,
            whisker: None,
        }
    }

    /// A row of one value with its interval.
    #[must_use]
    pub fn whisker(name: &str, text: &str, whisker: Whisker) -> Self {
        let whisker = Some(whisker);
        Self {
            name: name.to_owned(),
            text: text.to_owned(),
            segments: Vec::new(),
            whisker,
        }
    }
}

/// Rows over one axis.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Rows {
    /// What it shows.
    pub title: String,
    /// The axis of all rows.
    pub axis: Axis,
    /// From top to bottom.
    pub rows: Vec<Row>,
    /// Upright lines through all rows, with their labels.
    pub rules: Vec<(f64, String)>,
}

const WIDTH: f64 = 640.0;
const STEP: f64 = 24.0;
const TOP: f64 = 20.0;
const BOTTOM: f64 = 26.0;

/// Where bars begin and end.
struct Frame<'a> {
    rows: &'a Rows,
    range: Range,
    left: f64,
    right: f64,
}

impl Rows {
    /// Rows without content.
    #[must_use]
    pub fn new(title: &str, axis: Axis) -> Self {
        Self {
            title: title.to_owned(),
            axis,
            ..Self::default()
        }
    }

    /// The drawing, or nothing if there is nothing to draw.
    #[must_use]
    pub fn svg(&self) -> Option<String> {
        let range = self.axis.range(self.values())?;
        let names = self.rows.iter().map(|row| plain::fitted(&row.name, 30));
        let left = 12.0 + names.map(|name| width_of(&name)).fold(30.0, f64::max);
        let texts = self
            .rows
            .iter()
            .map(|row| width_of(&plain::fitted(&row.text, 34)));
        let right = WIDTH - 14.0 - texts.fold(0.0, f64::max);
        let frame = Frame {
            rows: self,
            range,
            left,
            right,
        };
        let count = u32::try_from(self.rows.len()).map_or(0.0, f64::from);
        let bottom = TOP + STEP * count;
        let mut canvas = Canvas::new(WIDTH, bottom + BOTTOM, &self.title);
        canvas.raw(" class=\"rows\">");
        frame.grid(&mut canvas, bottom);
        for (row, place) in self.rows.iter().zip(0_u32..) {
            frame.row(&mut canvas, row, TOP + STEP * f64::from(place));
        }
        Some(canvas.finish())
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.rows
            .iter()
            .flat_map(|row| {
                let sum: f64 = row
                    .segments
                    .iter()
                    .map(|segment| drawn(segment.value))
                    .sum();
                let bar = (!row.segments.is_empty()).then_some(sum);
                let ends = row
                    .whisker
                    .iter()
                    .flat_map(|whisker| [whisker.lo, whisker.mid, whisker.hi]);
                bar.into_iter().chain(ends).collect::<Vec<f64>>()
            })
            .chain(self.rules.iter().map(|rule| rule.0))
    }
}

impl Frame<'_> {
    fn across(&self, value: f64) -> f64 {
        let place = self.rows.axis.place(self.range, value);
        self.left
            + if place.is_finite() {
                place.clamp(0.0, 1.0)
            } else {
                0.0
            } * (self.right - self.left)
    }

    fn grid(&self, canvas: &mut Canvas, bottom: f64) {
        let mut free = f64::MIN;
        for (value, label) in self.rows.axis.ticks(self.range) {
            let (x, half) = (self.across(value), width_of(&label) / 2.0);
            canvas.line("g", (x, TOP), (x, bottom));
            if x - half > free {
                canvas.label("m", (x, bottom + 15.0), &label);
                free = x + half + 6.0;
            }
        }
        for (at, label) in &self.rows.rules {
            let x = self.across(*at);
            canvas.line("r", (x, TOP), (x, bottom));
            canvas.label("m r", (x, TOP - 6.0), label);
        }
    }

    fn row(&self, canvas: &mut Canvas, row: &Row, top: f64) {
        let middle = top + STEP / 2.0;
        canvas.label(
            "e",
            (self.left - 8.0, middle + 4.0),
            &plain::fitted(&row.name, 30),
        );
        canvas.label(
            "k",
            (self.right + 8.0, middle + 4.0),
            &plain::fitted(&row.text, 34),
        );
        let mut from = 0.0;
        for segment in &row.segments {
            let to = from + drawn(segment.value);
            let (left, right) = (self.across(from), self.across(to));
            if segment.value > 0.0 {
                let size = ((right - left).max(1.0), STEP - 8.0);
                canvas.rect(
                    &format!("f {}", segment.tone.class()),
                    (left, top + 4.0),
                    size,
                );
                if right - left > width_of(&segment.name) + 8.0 && row.segments.len() > 1 {
                    canvas.label("m i", ((left + right) / 2.0, middle + 4.0), &segment.name);
                }
            }
            from = to;
        }
        if let Some(whisker) = row
            .whisker
            .filter(|whisker| self.rows.axis.holds(whisker.mid))
        {
            let class = format!("s {}", whisker.tone.class());
            let (left, right) = (self.across(whisker.lo), self.across(whisker.hi));
            canvas.line(&class, (left, middle), (right, middle));
            for end in [left, right] {
                canvas.line(&class, (end, middle - 4.0), (end, middle + 4.0));
            }
            let at = (self.across(whisker.mid) - 3.0, middle - 3.0);
            canvas.rect(&format!("f {}", whisker.tone.class()), at, (6.0, 6.0));
        }
    }
}

/// A length that can be drawn.
const fn drawn(value: f64) -> f64 {
    if value.is_finite() && value > 0.0 {
        value
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::Unit;

    #[test]
    fn what_cannot_be_drawn_is_left_out() {
        let mut rows = Rows::new("t", Axis::linear("", Unit::Count));
        assert!(rows.svg().is_none());
        let segments = [f64::NAN, -3.0, 5.0].map(|value| Segment::new("<s>", value, Tone::Bad));
        rows.rows.push(Row::bar("<n>", "<t>", segments.into()));
        rows.rows.push(Row::whisker(
            "w",
            "",
            Whisker::new(f64::NAN, 1.0, 2.0, Tone::Good),
        ));
        let svg = rows.svg().unwrap();
        assert!(
            !svg.contains("NaN") && !svg.contains("<s>") && !svg.contains("<n>"),
            "{svg}"
        );
    }
}
