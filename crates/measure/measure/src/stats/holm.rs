//! Holm's adjustment of the p-values of a family of tests.
//!
//! Source: Holm, "A simple sequentially rejective multiple test procedure" (Scand. J. Stat. 6,
//! 1979). It bounds the chance of one or more false alarms in the family whatever the dependence
//! between the tests.

/// The adjusted p-values in the order given: the i-th smallest of k times k − i + 1, never smaller
/// than the one before it, at most 1. `None` when one is not in 0..=1.
#[must_use]
pub fn adjust(p_values: &[f64]) -> Option<Vec<f64>> {
    if !p_values.iter().all(|p| (0.0..=1.0).contains(p)) {
        return None;
    }
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|left, right| p_values[*left].total_cmp(&p_values[*right]));
    let mut adjusted = vec![1.0; p_values.len()];
    let mut floor = 0.0_f64;
    for (position, &place) in order.iter().enumerate() {
        let remaining = (p_values.len() - position) as f64;
        floor = floor.max(p_values[place] * remaining).min(1.0);
        adjusted[place] = floor;
    }
    Some(adjusted)
}
