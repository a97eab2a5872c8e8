//! Everything a printed number can have been before it was rounded, as an interval.
//!
//! A column that is derived from others is recomputed on intervals. Only two intervals that do not touch
//! contradict each other, so that rounding never makes a finding.

/// All values from `low` to `high`; `high` may be infinite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Span {
    pub(crate) const fn new(low: f64, high: f64) -> Self {
        Self { low, high }
    }

    pub(crate) const fn exactly(value: f64) -> Self {
        Self::new(value, value)
    }

    /// One value for a sentence; the finite end if there is only one.
    pub(crate) fn middle(self) -> f64 {
        if self.high.is_finite() {
            f64::midpoint(self.low, self.high)
        } else {
            self.low
        }
    }

    pub(crate) fn is_positive(self) -> bool {
        self.low >= 0.0 && self.high > 0.0
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        Self::new(self.low + other.low, self.high + other.high)
    }

    /// The product; both must not be negative.
    pub(crate) fn times(self, other: Self) -> Self {
        Self::new(product(self.low, other.low), product(self.high, other.high))
    }

    /// The quotient; both must not be negative. What may be a division by zero has no upper end.
    pub(crate) fn over(self, other: Self) -> Self {
        if other.high <= 0.0 {
            return Self::new(0.0, f64::INFINITY);
        }
        let high = if other.low > 0.0 {
            self.high / other.low
        } else {
            f64::INFINITY
        };
        let low = if other.high.is_finite() {
            self.low / other.high
        } else {
            0.0
        };
        Self::new(low, high)
    }

    /// Wider by this share of its ends.
    pub(crate) fn widened(self, share: f64) -> Self {
        Self::new(
            self.low - self.low.abs() * share,
            self.high + self.high.abs() * share,
        )
    }

    pub(crate) fn meets(self, other: Self) -> bool {
        // A comparison that is not a number decides nothing, and so contradicts nothing.
        !(self.low > other.high || other.low > self.high)
    }

    pub(crate) fn is_below(self, other: Self) -> bool {
        self.high < other.low
    }
}

/// Zero times infinity is zero here: nothing in any amount.
fn product(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 { 0.0 } else { a * b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dividing_by_what_may_be_zero_has_no_upper_end() {
        let quotient = Span::exactly(1.0).over(Span::new(0.0, 0.005));
        assert!(quotient.high.is_infinite());
        assert!((quotient.low - 200.0).abs() < 1e-9);
        assert!(
            Span::exactly(1.0)
                .over(Span::exactly(0.0))
                .meets(Span::exactly(7.0))
        );
    }

    #[test]
    fn spans_that_touch_meet_and_others_do_not() {
        assert!(Span::new(1.0, 2.0).meets(Span::new(2.0, 3.0)));
        assert!(!Span::new(1.0, 2.0).meets(Span::new(2.1, 3.0)));
        assert!(Span::new(1.0, 2.0).widened(0.1).meets(Span::new(2.1, 3.0)));
        assert!(Span::exactly(f64::NAN).meets(Span::exactly(1.0)));
    }
}
