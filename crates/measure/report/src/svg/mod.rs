//! Drawings as SVG text that reads without script and without style sheets of others.
//!
//! A [`Plot`] has two axes, linear or logarithmic, and on them lines, bars, bands and rules; [`Rows`] are
//! horizontal bars and whiskers with names. Colours are classes (`t0` to `t5`), which the page's style sheet
//! fills in for light and dark. Every text is escaped here and nowhere else; figures that are not finite are
//! not drawn.

mod axis;
mod frame;
mod plot;
mod rows;
mod unit;

pub use axis::{Axis, Spread};
pub use plot::{Band, Bar, Direction, Plot, Rule, Series, Shape};
pub use rows::{Row, Rows, Segment, Whisker};
pub use unit::Unit;

/// Which colour of the page a thing has; two things of one tone belong together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Tone {
    /// What went wrong.
    Bad,
    /// The first subject.
    #[default]
    First,
    /// What went well.
    Good,
    /// What is only there for orientation.
    Muted,
    /// The second subject.
    Second,
    /// The third subject.
    Third,
}

impl Tone {
    const fn class(self) -> &'static str {
        match self {
            Self::First => "t0",
            Self::Second => "t1",
            Self::Third => "t2",
            Self::Good => "t3",
            Self::Bad => "t4",
            Self::Muted => "t5",
        }
    }
}

/// A drawing that is being written.
struct Canvas {
    out: String,
}

impl Canvas {
    fn new(width: f64, height: f64, title: &str) -> Self {
        let mut canvas = Self { out: String::new() };
        let (w, h) = (coordinate(width), coordinate(height));
        canvas.raw(&format!(
            "<svg viewBox=\"0 0 {w} {h}\" role=\"img\" aria-label=\""
        ));
        canvas.text(title);
        canvas.raw("\"");
        canvas
    }

    /// Markup of this module.
    fn raw(&mut self, markup: &str) {
        self.out.push_str(markup);
    }

    /// Text of others.
    fn text(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.raw("&amp;"),
                '<' => self.raw("&lt;"),
                '>' => self.raw("&gt;"),
                '"' => self.raw("&quot;"),
                '\'' => self.raw("&#39;"),
                c if c.is_control() => self.raw("\u{fffd}"),
                c => self.out.push(c),
            }
        }
    }

    /// Words at a point; the class says how they are aligned.
    fn label(&mut self, class: &str, at: (f64, f64), text: &str) {
        let (x, y) = (coordinate(at.0), coordinate(at.1));
        self.raw(&format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\">"));
        self.text(text);
        self.raw("</text>");
    }

    fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(coordinate);
        self.raw(&format!(
            "<path class=\"{class}\" d=\"M{x1} {y1}L{x2} {y2}\"/>"
        ));
    }

    fn dot(&mut self, tone: &str, at: (f64, f64)) {
        let (x, y) = (coordinate(at.0), coordinate(at.1));
        self.raw(&format!(
            "<circle class=\"o {tone}\" cx=\"{x}\" cy=\"{y}\" r=\"3\"/>"
        ));
    }

    fn rect(&mut self, class: &str, at: (f64, f64), size: (f64, f64)) {
        let [x, y, w, h] = [at.0, at.1, size.0.max(0.0), size.1.max(0.0)].map(coordinate);
        self.raw(&format!(
            "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\"/>"
        ));
    }

    fn finish(mut self) -> String {
        self.raw("</svg>");
        self.out
    }
}

/// A coordinate with at most one decimal: finer than any screen shows, and half the bytes.
fn coordinate(value: f64) -> String {
    let value = if value.is_finite() {
        value.clamp(-1e5, 1e5)
    } else {
        0.0
    };
    let text = format!("{value:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

/// About how wide text is at the size of labels.
fn width_of(text: &str) -> f64 {
    crate::number::float(u64::try_from(text.chars().count()).unwrap_or(0)) * 7.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_is_never_markup() {
        let mut canvas = Canvas::new(10.0, 10.0, "\"><script>alert(1)</script>");
        canvas.label("a", (1.0, f64::NAN), "<b>&'\u{1b}");
        let svg = canvas.finish();
        assert_eq!(svg.matches('<').count(), 4, "{svg}");
        assert!(!svg.contains("<script") && !svg.contains("<b>"));
    }

    #[test]
    fn coordinates_are_short_and_finite() {
        let all = [1.0, 1.25, -0.01, f64::NAN, f64::INFINITY].map(coordinate);
        assert_eq!(all, ["1", "1.2", "0", "0", "0"]);
    }
}
