//! The tests agree with scipy 1.17.1 (tests/golden/stats.py prints every constant
//! said to be scipy's) and reach exactly the smallest p-values that can be reached.

use keywright_measure::stats::ranks::{Method, Significance};
use keywright_measure::stats::{
    brunner_munzel, effect, hodges_lehmann, holm, interval, mann_whitney, sign_flip, signed_rank,
};

const A: [f64; 6] = [10.1, 10.4, 9.8, 10.9, 10.0, 10.6];
const B: [f64; 7] = [10.7, 11.2, 10.5, 11.0, 10.3, 11.6, 10.8];
const TIED_A: [f64; 5] = [1.0, 2.0, 2.0, 3.0, 4.0];
const TIED_B: [f64; 6] = [2.0, 3.0, 3.0, 5.0, 6.0, 6.0];
const D: [f64; 8] = [0.3, -0.1, 0.8, 0.5, -0.2, 1.1, 0.7, 0.4];

fn long_a() -> Vec<f64> {
    (0..25).map(|i| f64::from(i * 37 % 101)).collect()
}

fn long_b() -> Vec<f64> {
    (0..30).map(|i| f64::from(i * 53 % 97 + 20)).collect()
}

fn long_d() -> Vec<f64> {
    (0..40).map(|i| f64::from(i * 29 % 83 - 30)).collect()
}

fn close(ours: f64, golden: f64) {
    assert!(
        (ours - golden).abs() < 1e-9 * golden.abs().max(1e-3),
        "{ours} is not {golden}"
    );
}

fn agrees(ours: Significance, golden: (f64, f64), method: Method) {
    close(ours.statistic, golden.0);
    close(ours.p, golden.1);
    assert_eq!(ours.method, method);
}

fn counting(from: i32, count: i32) -> Vec<f64> {
    (from..from + count).map(f64::from).collect()
}

#[test]
fn mann_whitney_is_that_of_scipy_exact_tied_and_approximate() {
    // mannwhitneyu(A, B, method="exact")
    agrees(
        mann_whitney::test(&A, &B).unwrap(),
        (7.0, 0.051_282_051_282_051_28),
        Method::Exact,
    );
    // mannwhitneyu(TIED_A, TIED_B, method=PermutationMethod(n_resamples=inf))
    agrees(
        mann_whitney::test(&TIED_A, &TIED_B).unwrap(),
        (6.0, 0.121_212_121_212_121_22),
        Method::Exact,
    );
    // mannwhitneyu(LONG_A, LONG_B, method="asymptotic")
    let long = mann_whitney::test(&long_a(), &long_b());
    agrees(
        long.unwrap(),
        (267.5, 0.070_472_987_460_876_28),
        Method::Approximate,
    );
}

#[test]
fn two_groups_that_do_not_overlap_reach_the_smallest_p_and_no_smaller() {
    for (runs, rounded) in [
        (3, 0.10),
        (4, 0.029),
        (5, 0.0079),
        (6, 0.0022),
        (7, 0.000_58),
        (8, 0.000_16),
    ] {
        let p = mann_whitney::test(&counting(0, runs), &counting(100, runs))
            .unwrap()
            .p;
        assert!((p - rounded).abs() <= 0.04 * rounded, "{runs}: {p}");
        let side = usize::try_from(runs).unwrap();
        close(mann_whitney::smallest_p(side, side), p);
        let munzel = brunner_munzel::test(&counting(0, runs), &counting(100, runs), 0).unwrap();
        close(munzel.p, p);
    }
}

#[test]
fn twenty_against_twenty_is_still_counted_exactly() {
    let test = mann_whitney::test(&counting(0, 20), &counting(100, 20)).unwrap();
    assert_eq!(test.method, Method::Exact);
    // 2 / C(40, 20)
    close(test.p * 137_846_528_820.0, 2.0);
}

#[test]
fn mann_whitney_does_not_care_which_group_comes_first() {
    let (forth, back) = (
        mann_whitney::test(&A, &B).unwrap(),
        mann_whitney::test(&B, &A).unwrap(),
    );
    close(forth.p, back.p);
    close(forth.statistic + back.statistic, 42.0);
}

#[test]
fn groups_of_nothing_but_ties_are_never_different() {
    let short = [5.0; 4];
    let long = [5.0; 30];
    for (left, right) in [(&short[..], &short[..]), (&long[..], &long[..])] {
        close(mann_whitney::test(left, right).unwrap().p, 1.0);
        close(brunner_munzel::test(left, right, 0).unwrap().p, 1.0);
    }
    close(signed_rank::test(&[0.0; 5]).unwrap().p, 1.0);
    close(sign_flip::test(&[0.0; 5], 0).unwrap().p, 1.0);
    close(sign_flip::test(&[0.0; 40], 0).unwrap().p, 1.0);
}

#[test]
fn brunner_munzel_is_that_of_scipy_permuted_and_approximate() {
    // permutation_test((A, B), brunnermunzel statistic, n_resamples=inf)
    let small = brunner_munzel::test(&A, &B, 0);
    agrees(
        small.unwrap(),
        (2.815_053_871_933_322_7, 0.037_296_037_296_037_296),
        Method::Exact,
    );
    // permutation_test((TIED_A, TIED_B), brunnermunzel statistic, n_resamples=inf)
    let tied = brunner_munzel::test(&TIED_A, &TIED_B, 0);
    agrees(
        tied.unwrap(),
        (2.190_890_230_020_664_7, 0.099_567_099_567_099_57),
        Method::Exact,
    );
    // brunnermunzel(LONG_A, LONG_B, distribution="t")
    let long = brunner_munzel::test(&long_a(), &long_b(), 0);
    agrees(
        long.unwrap(),
        (1.907_204_894_752_302_8, 0.062_227_190_594_000_39),
        Method::Approximate,
    );
}

#[test]
fn brunner_munzel_between_small_and_large_draws_arrangements_from_its_seed() {
    let (left, right) = (&long_a()[..12], &long_b()[..12]);
    let once = brunner_munzel::test(left, right, 1).unwrap();
    assert_eq!(once.method, Method::MonteCarlo);
    assert_eq!(Some(once), brunner_munzel::test(left, right, 1));
    let other = brunner_munzel::test(left, right, 2).unwrap();
    assert!((once.p - other.p).abs() < 0.03, "{once:?} {other:?}");
    let apart = brunner_munzel::test(&counting(0, 12), &counting(100, 12), 1).unwrap();
    assert!(apart.p > 0.0 && apart.p < 1e-3);
}

#[test]
fn signed_rank_is_that_of_scipy_exact_and_approximate() {
    // wilcoxon(D, method="exact"), the statistic as the sum of the positive ranks
    agrees(
        signed_rank::test(&D).unwrap(),
        (33.0, 0.039_062_5),
        Method::Exact,
    );
    // wilcoxon(LONG_D, correction=True, method="asymptotic"), one difference being zero
    let long = signed_rank::test(&long_d());
    agrees(
        long.unwrap(),
        (591.0, 0.015_245_965_494_943_382),
        Method::Approximate,
    );
}

#[test]
fn sign_flips_are_those_of_scipy() {
    // permutation_test((D,), mean, permutation_type="samples", n_resamples=inf)
    agrees(
        sign_flip::test(&D, 0).unwrap(),
        (0.4375, 0.039_062_5),
        Method::Exact,
    );
}

#[test]
fn pairs_that_all_point_one_way_reach_two_over_two_to_the_n() {
    for pairs in 1..=16 {
        let differences = counting(1, pairs);
        let smallest = (2.0 / 2.0f64.powi(pairs)).min(1.0);
        close(signed_rank::test(&differences).unwrap().p, smallest);
        close(sign_flip::test(&differences, 0).unwrap().p, smallest);
        close(
            signed_rank::smallest_p(usize::try_from(pairs).unwrap()),
            smallest,
        );
    }
    close(
        signed_rank::test(&counting(1, 30)).unwrap().p * 2.0f64.powi(29),
        1.0,
    );
}

#[test]
fn equal_differences_are_not_split_by_rounding() {
    // 0.1 added in different orders gives different last bits.
    let p = sign_flip::test(&[0.1, 0.2, 0.3, -0.1, 0.7, 0.1], 0)
        .unwrap()
        .p;
    // Of 64 sign choices those with |sum| of at least 1.3, counted by hand in tenths: 8.
    close(p, 8.0 / 64.0);
}

#[test]
fn many_pairs_are_tested_by_drawing_signs_and_never_give_p_zero() {
    let strong = sign_flip::test(&counting(1, 80), 3).unwrap();
    assert_eq!(strong.method, Method::MonteCarlo);
    close(strong.p, 1.0 / 20_001.0);
    let none: Vec<f64> = (0..80)
        .map(|i| if i % 2 == 0 { 1.0 } else { -1.0 })
        .collect();
    assert!(sign_flip::test(&none, 3).unwrap().p > 0.9);
}

#[test]
fn cliffs_delta_runs_from_minus_one_to_one_and_counts_ties_as_nothing() {
    assert_eq!(effect::cliffs_delta(&[1.0, 2.0], &[3.0, 4.0]), Some(1.0));
    assert_eq!(effect::cliffs_delta(&[3.0, 4.0], &[1.0, 2.0]), Some(-1.0));
    assert_eq!(effect::cliffs_delta(&[1.0, 1.0], &[1.0]), Some(0.0));
    // U of A is 7 of 42 pairs, so delta is (35 − 7)/42.
    close(effect::cliffs_delta(&A, &B).unwrap(), 28.0 / 42.0);
}

#[test]
fn holm_multiplies_by_what_remains_and_keeps_the_order_of_input() {
    // The example of R's and statsmodels' documentation, worked by hand.
    let adjusted = holm::adjust(&[0.01, 0.04, 0.03, 0.005]).unwrap();
    for (ours, by_hand) in adjusted.iter().zip([0.03, 0.06, 0.06, 0.02]) {
        close(*ours, by_hand);
    }
    assert_eq!(holm::adjust(&[0.9, 0.8]), Some(vec![1.0, 1.0]));
    assert_eq!(holm::adjust(&[]), Some(vec![]));
    assert_eq!(holm::adjust(&[0.1, 1.2]), None);
    assert_eq!(holm::adjust(&[f64::NAN]), None);
}

#[test]
fn holm_serves_the_promised_number_of_cases() {
    for (runs, cases) in [(4, 1), (5, 6), (6, 23), (7, 85)] {
        let passes = |family: usize| {
            let mut family = vec![1.0; family];
            family[0] = mann_whitney::smallest_p(runs, runs);
            holm::adjust(&family).unwrap()[0] <= 0.05
        };
        assert!(passes(cases) && !passes(cases + 1), "{runs} runs a side");
    }
    for (pairs, cases) in [(6, 1), (8, 6), (10, 25), (12, 102)] {
        let smallest = signed_rank::smallest_p(pairs);
        assert!(smallest * f64::from(cases) <= 0.05 && smallest * f64::from(cases + 1) > 0.05);
    }
}

#[test]
fn unusable_values_have_no_answer_from_any_test() {
    for bad in [&[][..], &[1.0, f64::NAN], &[f64::NEG_INFINITY]] {
        assert_eq!(mann_whitney::test(bad, &A), None);
        assert_eq!(mann_whitney::test(&A, bad), None);
        assert_eq!(brunner_munzel::test(&A, bad, 0), None);
        assert_eq!(signed_rank::test(bad), None);
        assert_eq!(sign_flip::test(bad, 0), None);
        assert_eq!(effect::cliffs_delta(bad, &A), None);
        assert_eq!(hodges_lehmann::centre(bad, 0.95), None);
        assert_eq!(hodges_lehmann::shift(&A, bad, 0.95), None);
        assert_eq!(interval::geometric_mean(bad, 0.95), None);
        assert_eq!(interval::geometric_ratio(bad, &A, 0.95), None);
    }
    assert_eq!(brunner_munzel::test(&[1.0], &A, 0), None);
    assert_eq!(interval::geometric_mean(&[1.0], 0.95), None);
    assert_eq!(interval::geometric_mean(&[1.0, 0.0, 2.0], 0.95), None);
    for level in [0.0, 1.0, -0.5, f64::NAN] {
        assert_eq!(hodges_lehmann::centre(&A, level), None);
        assert_eq!(hodges_lehmann::shift(&A, &B, level), None);
        assert_eq!(interval::mean(&A, level), None);
    }
}
