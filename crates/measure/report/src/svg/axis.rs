//! Axes: from values to places and back to labels.

use super::Unit;

/// How values are spread along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Spread {
    /// Equal differences are equal lengths; only the stretch where values are is on the axis.
    Close,
    /// Equal differences are equal lengths; zero is on the axis.
    #[default]
    Linear,
    /// Equal ratios are equal lengths. Values of zero and below are not drawn.
    Log,
}

/// An axis.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Axis {
    /// What it shows.
    pub label: String,
    /// How its values are written.
    pub unit: Unit,
    /// How they are spread.
    pub spread: Spread,
}

impl Axis {
    /// A linear axis.
    #[must_use]
    pub fn linear(label: &str, unit: Unit) -> Self {
        Self {
            label: label.to_owned(),
            unit,
            spread: Spread::Linear,
        }
    }

    /// A logarithmic axis.
    #[must_use]
    pub fn log(label: &str, unit: Unit) -> Self {
        Self {
            label: label.to_owned(),
            unit,
            spread: Spread::Log,
        }
    }

    /// A linear axis of the stretch where values are.
    #[must_use]
    pub fn close(label: &str, unit: Unit) -> Self {
        Self {
            label: label.to_owned(),
            unit,
            spread: Spread::Close,
        }
    }

    /// Logarithmic where positive values differ by more than a factor of 20, else linear.
    #[must_use]
    pub fn fitting(label: &str, unit: Unit, values: impl Iterator<Item = f64>) -> Self {
        let range = Range::of(values.filter(|value| *value > 0.0));
        match range {
            Some(range) if range.hi / range.lo > 20.0 => Self::log(label, unit),
            _ => Self::linear(label, unit),
        }
    }

    /// Whether a value has a place on this axis. No figure of a measurement is near the ends of what a
    /// float can be; what is would only press all others flat.
    pub(super) fn holds(&self, value: f64) -> bool {
        value.abs() < 1e30 && (self.spread != Spread::Log || value > 1e-30)
    }

    /// The range that shows all `values`; `None` if there is nothing to show.
    pub(super) fn range(&self, values: impl Iterator<Item = f64>) -> Option<Range> {
        let range = Range::of(values.filter(|value| self.holds(*value)))?;
        Some(match self.spread {
            Spread::Close => range.close(),
            Spread::Linear => range.with_zero(),
            Spread::Log => range.wide(),
        })
    }

    /// Where a value lies between 0 and 1.
    pub(super) fn place(&self, range: Range, value: f64) -> f64 {
        match self.spread {
            Spread::Close | Spread::Linear => (value - range.lo) / (range.hi - range.lo),
            Spread::Log => (value / range.lo).ln() / (range.hi / range.lo).ln(),
        }
    }

    /// Round values inside the range, with their labels.
    pub(super) fn ticks(&self, range: Range) -> Vec<(f64, String)> {
        let values = match (self.spread, self.unit) {
            (Spread::Close | Spread::Linear, _) => linear_ticks(range),
            (Spread::Log, Unit::Bytes) => power_ticks(range, 2.0),
            (Spread::Log, Unit::Quantile) => quantile_ticks(range),
            (Spread::Log, _) => power_ticks(range, 10.0),
        };
        values
            .into_iter()
            .map(|value| (value, self.unit.tick(value)))
            .collect()
    }

    /// Spread, range and unit for a script that reads values back from places.
    pub(super) fn data(&self, range: Range) -> String {
        let spread = match self.spread {
            Spread::Close | Spread::Linear => "linear",
            Spread::Log => "log",
        };
        format!("{spread} {} {} {}", range.lo, range.hi, self.unit.name())
    }
}

/// The ends of an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub(super) lo: f64,
    pub(super) hi: f64,
}

impl Range {
    fn of(values: impl Iterator<Item = f64>) -> Option<Self> {
        values
            .filter(|value| value.is_finite())
            .fold(None, |range: Option<Self>, value| {
                let range = range.unwrap_or(Self {
                    lo: value,
                    hi: value,
                });
                Some(Self {
                    lo: range.lo.min(value),
                    hi: range.hi.max(value),
                })
            })
    }

    /// With zero and a little air above.
    fn with_zero(self) -> Self {
        let (lo, hi) = (self.lo.min(0.0), self.hi.max(0.0));
        if hi - lo <= 0.0 || !(hi - lo).is_finite() {
            return Self { lo: 0.0, hi: 1.0 };
        }
        let air = (hi - lo) * 0.04;
        Self {
            lo: if lo < 0.0 { lo - air } else { 0.0 },
            hi: hi + air,
        }
    }

    /// With a tenth of air on both sides, and never so close that small noise fills the picture.
    fn close(self) -> Self {
        let least = self.hi.abs().max(self.lo.abs()) * 0.05;
        let missing = (least - (self.hi - self.lo)).max(0.0) / 2.0;
        let air = (self.hi - self.lo) * 0.1 + missing;
        let close = Self {
            lo: self.lo - air,
            hi: self.hi + air,
        };
        let good = (close.hi - close.lo).is_finite() && close.hi > close.lo;
        if good { close } else { self.with_zero() }
    }

    /// With a little air on both sides; one value alone gets half a decade.
    fn wide(self) -> Self {
        let air = if self.hi / self.lo < 1.5 {
            1.8
        } else {
            (self.hi / self.lo).powf(0.03)
        };
        let wide = Self {
            lo: self.lo / air,
            hi: self.hi * air,
        };
        if wide.lo > 0.0 && wide.hi.is_finite() {
            wide
        } else {
            Self {
                lo: 1e-300,
                hi: 1e300,
            }
        }
    }
}

/// Four to eight multiples of 1, 2 or 5 times a power of ten.
fn linear_ticks(range: Range) -> Vec<f64> {
    let raw = (range.hi - range.lo) / 5.0;
    let power = 10_f64.powf(raw.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|step| step * power >= raw)
        .unwrap_or(10.0)
        * power;
    if !step.is_finite() || step <= 0.0 {
        return Vec::new();
    }
    let first = (range.lo / step).ceil();
    (0..12)
        .map(|k| (first + f64::from(k)) * step)
        .filter(|tick| *tick <= range.hi)
        .collect()
}

/// Powers of the base, thinned to about seven; where there are few, 2 and 5 times them as well.
fn power_ticks(range: Range, base: f64) -> Vec<f64> {
    let first = (range.lo.ln() / base.ln()).ceil();
    let last = (range.hi.ln() / base.ln()).floor();
    if last - first < 2.0 && base > 2.0 {
        return fine_ticks(range);
    }
    let stride = ((last - first) / 7.0).ceil().max(1.0);
    (0..16)
        .map(|k| first + f64::from(k) * stride)
        .take_while(|exponent| *exponent <= last)
        .map(|exponent| base.powf(exponent))
        .collect()
}

fn fine_ticks(range: Range) -> Vec<f64> {
    let first = range.lo.log10().floor();
    (0..5)
        .flat_map(|k| [1.0, 2.0, 5.0].map(|m| m * 10_f64.powf(first + f64::from(k))))
        .filter(|tick| (range.lo..=range.hi).contains(tick))
        .collect()
}

/// The quantiles people name.
fn quantile_ticks(range: Range) -> Vec<f64> {
    let named = [1.0, 2.0, 4.0, 10.0, 20.0, 100.0, 1e3, 1e4, 1e5, 1e6, 1e7];
    named
        .into_iter()
        .filter(|tick| (range.lo..=range.hi).contains(tick))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_lie_inside_and_are_few_for_any_range() {
        for (lo, hi) in [
            (0.0, 1.0),
            (0.0, 0.0),
            (3.0, 3.000_1),
            (1.0, 1e12),
            (1e-9, 2e-9),
            (-5.0, 5.0),
            (7.0, 7.0),
        ] {
            for axis in [
                Axis::linear("", Unit::Time),
                Axis::close("", Unit::Time),
                Axis::log("", Unit::Time),
                Axis::log("", Unit::Bytes),
            ] {
                let Some(range) = axis.range([lo, hi].into_iter()) else {
                    continue;
                };
                let ticks = axis.ticks(range);
                assert!(
                    (1..=12).contains(&ticks.len()),
                    "{lo} {hi} {axis:?} {ticks:?}"
                );
                assert!(
                    ticks
                        .iter()
                        .all(|(tick, _)| (range.lo..=range.hi).contains(tick))
                );
            }
        }
    }

    #[test]
    fn nothing_to_show_has_no_range() {
        let axis = Axis::log("", Unit::Time);
        assert_eq!(
            axis.range([0.0, -1.0, f64::NAN, f64::INFINITY].into_iter()),
            None
        );
        assert_eq!(Axis::linear("", Unit::Time).range(std::iter::empty()), None);
    }
}
