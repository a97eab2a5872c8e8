//! Cliff's delta, the size of a difference free of units.
//!
//! Source: Cliff (Psychological Bulletin 114, 1993). The bounds 0.147, 0.33 and 0.474 for small,
//! medium and large are those of Romano et al. (2006).

use super::location::{sorted, usable};

/// From here a difference is called medium.
pub const MEDIUM: f64 = 0.33;

/// P(second > first) − P(second < first) over all pairs: +1 when every value of `second` is larger,
/// 0 when neither side tends to be. `None` when a side is empty or not finite.
#[must_use]
pub fn cliffs_delta(first: &[f64], second: &[f64]) -> Option<f64> {
    if !usable(first) || !usable(second) {
        return None;
    }
    let ordered = sorted(first);
    let mut balance = 0.0;
    for value in second {
        let smaller = ordered.partition_point(|other| other < value);
        let not_larger = ordered.partition_point(|other| other <= value);
        balance += smaller as f64 - (ordered.len() - not_larger) as f64;
    }
    Some(balance / (first.len() as f64 * second.len() as f64))
}
