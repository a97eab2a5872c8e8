//! Quantile ranks follow their formula, keep their order and admit when samples are too few.

use keywright_measure::stats::quantile::{
    DOUBT, effective_count, minimum_count, nearest_rank, of_series, of_sorted, proof_ranks,
    rank_interval,
};
use keywright_measure::stats::random::Generator;

#[test]
fn quantiles_need_ten_samples_beyond_them() {
    for (q, fewest) in [
        (0.5, 20),
        (0.9, 100),
        (0.95, 200),
        (0.99, 1_000),
        (0.999, 10_000),
    ] {
        assert_eq!(minimum_count(q), Some(fewest));
    }
    assert_eq!(minimum_count(0.9999), Some(100_000));
    assert_eq!(minimum_count(0.01), Some(1_000));
    for q in [0.0, 1.0, f64::NAN] {
        assert_eq!(minimum_count(q), None);
    }
}

#[test]
fn ranks_are_those_of_the_formula() {
    // 1000·0.99 ± 1.96·√9.9 = 990 ± 6.17
    let ranks = rank_interval(1_000, 0.99, 0.0).unwrap();
    assert_eq!((ranks.lo, ranks.point, ranks.hi), (984, 990, 997));
    assert!(!ranks.open_below && !ranks.open_above);
    // With ρ = 0.6 a quarter of the samples count and the width doubles, past the largest.
    let wide = rank_interval(1_000, 0.99, 0.6).unwrap();
    assert_eq!((wide.lo, wide.hi, wide.open_above), (978, 1_000, true));
}

#[test]
fn nearest_ranks_do_not_trip_over_rounding() {
    assert_eq!(nearest_rank(1_000, 0.999), Some(999));
    assert_eq!(nearest_rank(10, 0.7), Some(7));
    assert_eq!(nearest_rank(3, 0.5), Some(2));
    assert_eq!(nearest_rank(5, 0.0), Some(1));
    assert_eq!(nearest_rank(5, 1.0), Some(5));
    assert_eq!(nearest_rank(0, 0.5), None);
    assert_eq!(nearest_rank(5, 1.1), None);
}

#[test]
fn too_few_samples_for_a_tail_leave_the_interval_open_above() {
    let ranks = rank_interval(100, 0.999, 0.0).unwrap();
    assert_eq!((ranks.point, ranks.hi, ranks.open_above), (100, 100, true));
    let one = rank_interval(1, 0.5, 0.0).unwrap();
    assert_eq!(
        (one.lo, one.hi, one.open_below, one.open_above),
        (1, 1, true, true)
    );
    assert_eq!(rank_interval(0, 0.5, 0.0), None);
    assert_eq!(rank_interval(10, 1.0, 0.0), None);
    assert_eq!(of_sorted(&[], 0.5, 0.0), None);
    assert_eq!(of_series(&[1.0, 2.0], 0.5), None);
    assert_eq!(of_series(&[1.0, 2.0, f64::NAN], 0.5), None);
    assert_eq!(of_series(&[1.0, 2.0, 3.0], 0.0), None);
    assert_eq!(of_series(&[7.0; 9], 0.5).unwrap().hi, 7.0);
}

#[test]
fn correlation_shrinks_the_effective_count_and_never_grows_it() {
    assert_eq!(effective_count(1_000, 0.6), 250.0);
    assert_eq!(effective_count(1_000, -0.9), 1_000.0);
    assert_eq!(effective_count(1_000, f64::NAN), 1_000.0);
    assert!(effective_count(1_000, 5.0) > 5.0);
}

#[test]
fn quantiles_and_their_intervals_never_leave_the_order() {
    let qs = [0.001, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999, 0.9999];
    for seed in 0..300 {
        let mut generator = Generator::new(seed);
        let count = 1 + generator.index(400);
        let mut values: Vec<f64> = (0..count)
            .map(|_| (4.0 * generator.uniform()).floor() + generator.exponential(1.0))
            .collect();
        values.sort_unstable_by(f64::total_cmp);
        let rho = generator.uniform();
        let mut last = values[0];
        for q in qs {
            let interval = of_sorted(&values, q, rho).unwrap();
            assert!(interval.lo <= interval.estimate && interval.estimate <= interval.hi);
            assert!(last <= interval.estimate);
            assert!(interval.lo >= values[0] && interval.hi <= values[count - 1]);
            last = interval.estimate;
        }
    }
}

/// P(at most `most` of `count` samples are at or below quantile `q`), summed term by term.
fn binomial(count: u32, q: f64, most: u32) -> f64 {
    // As logarithms, because the first term may be too small for a number.
    let mut term = f64::from(count) * (1.0 - q).ln();
    let mut sum = 0.0;
    for number in 0..=most {
        sum += term.exp();
        term += (f64::from(count - number) / f64::from(number + 1) * q / (1.0 - q)).ln();
    }
    sum
}

#[test]
fn proof_ranks_are_the_exact_binomial_bounds_for_every_small_count() {
    for q in [0.05, 0.5, 0.8, 0.9, 0.95, 0.99, 0.999] {
        for count in 1..=120_u32 {
            let ranks = proof_ranks(u64::from(count), q).unwrap();
            assert_eq!(Some(ranks.point), nearest_rank(u64::from(count), q));
            let above = |rank: u32| binomial(count, q, rank - 1);
            let below = |rank: u32| 1.0 - binomial(count, q, rank - 1);
            let lower = (1..=count).rfind(|rank| above(*rank) <= DOUBT);
            let upper = (1..=count).find(|rank| below(*rank) <= DOUBT);
            assert_eq!(ranks.lower, lower.map(u64::from), "{count} {q}");
            assert_eq!(ranks.upper, upper.map(u64::from), "{count} {q}");
        }
    }
    for q in [0.0, 1.0, f64::NAN] {
        assert_eq!(proof_ranks(100, q), None);
    }
    assert_eq!(proof_ranks(0, 0.5), None);
}

#[test]
fn proof_ranks_of_many_samples_are_near_the_normal_ranks() {
    for count in [10_000, 1_000_000, 100_000_000] {
        for q in [0.5, 0.99, 0.999] {
            let (exact, normal) = (
                proof_ranks(count, q).unwrap(),
                rank_interval(count, q, 0.0).unwrap(),
            );
            assert!(exact.lower.unwrap().abs_diff(normal.lo) <= 3, "{count} {q}");
            assert!(exact.upper.unwrap().abs_diff(normal.hi) <= 3, "{count} {q}");
        }
    }
}
