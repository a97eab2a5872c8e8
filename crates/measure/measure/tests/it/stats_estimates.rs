//! Estimates and intervals agree with scipy 1.17.1 (tests/golden/stats.py prints every constant said
//! to be scipy's) and with sorting all pairs, and admit the level they attain.

use keywright_measure::stats::location::median;
use keywright_measure::stats::random::Generator;
use keywright_measure::stats::{hodges_lehmann, interval};

const A: [f64; 6] = [10.1, 10.4, 9.8, 10.9, 10.0, 10.6];
const B: [f64; 7] = [10.7, 11.2, 10.5, 11.0, 10.3, 11.6, 10.8];
const D: [f64; 8] = [0.3, -0.1, 0.8, 0.5, -0.2, 1.1, 0.7, 0.4];

fn close(ours: f64, golden: f64) {
    assert!(
        (ours - golden).abs() < 1e-9 * golden.abs().max(1e-3),
        "{ours} is not {golden}"
    );
}

#[test]
fn the_centre_is_the_median_of_walsh_averages_between_the_right_two_of_them() {
    let centre = hodges_lehmann::centre(&D, 0.95).unwrap();
    close(centre.estimate, 0.450_000_000_000_000_07);
    // Of 36 averages the 4th from either end; P(W < 4) = 5/256.
    close(centre.lo, 0.049_999_999_999_999_99);
    close(centre.hi, 0.8);
    close(centre.level, 1.0 - 10.0 / 256.0);
}

#[test]
fn the_shift_is_the_median_difference_between_the_right_two_of_them() {
    let shift = hodges_lehmann::shift(&A, &B, 0.95).unwrap();
    close(shift.estimate, 0.599_999_999_999_999_6);
    close(shift.lo, -0.099_999_999_999_999_64);
    close(shift.hi, 1.199_999_999_999_999_3);
    close(shift.level, 0.965_034_965_034_965);
    let back = hodges_lehmann::shift(&B, &A, 0.95).unwrap();
    close(back.estimate, -shift.estimate);
    close(back.lo, -shift.hi);
}

#[test]
fn estimates_by_counting_are_those_by_sorting_all_pairs() {
    for seed in 0..100 {
        let mut generator = Generator::new(seed);
        let mut draw = |count: usize| -> Vec<f64> {
            (0..count)
                .map(|_| (3.0 * generator.normal()).round())
                .collect()
        };
        let (left, right) = (draw(1 + usize::try_from(seed).unwrap() % 40), draw(23));
        let mut averages = Vec::new();
        for (place, one) in left.iter().enumerate() {
            averages.extend(
                left[place..]
                    .iter()
                    .map(|other| f64::midpoint(*one, *other)),
            );
        }
        let centre = hodges_lehmann::centre(&left, 0.9).unwrap();
        assert_eq!(Some(centre.estimate), median(&averages));
        assert!(averages.contains(&centre.lo) && averages.contains(&centre.hi));
        let differences: Vec<f64> = left
            .iter()
            .flat_map(|one| right.iter().map(move |other| other - one))
            .collect();
        let shift = hodges_lehmann::shift(&left, &right, 0.9).unwrap();
        assert_eq!(Some(shift.estimate), median(&differences));
        assert!(differences.contains(&shift.lo) && differences.contains(&shift.hi));
    }
}

#[test]
fn too_few_values_widen_to_the_outermost_pair_and_admit_the_level() {
    let five = hodges_lehmann::centre(&[3.0, 1.0, 2.0, 5.0, 4.0], 0.95).unwrap();
    assert_eq!((five.lo, five.estimate, five.hi), (1.0, 3.0, 5.0));
    close(five.level, 0.9375);
    let six = hodges_lehmann::centre(&[3.0, 1.0, 2.0, 5.0, 4.0, 6.0], 0.95).unwrap();
    assert!(six.level >= 0.95);
    let three = hodges_lehmann::shift(&[1.0, 2.0, 3.0], &[5.0, 6.0, 7.0], 0.95).unwrap();
    close(three.level, 0.9);
}

#[test]
fn large_samples_are_estimated_without_writing_the_pairs_down() {
    let values: Vec<f64> = (0..100_001).map(|i| f64::from(i) - 50_000.0).collect();
    let centre = hodges_lehmann::centre(&values, 0.95).unwrap();
    assert_eq!(centre.estimate.to_bits(), 0.0_f64.to_bits());
    assert!(centre.lo < 0.0 && centre.lo > -600.0 && centre.hi > 0.0 && centre.hi < 600.0);
    let moved: Vec<f64> = values.iter().map(|value| value + 12.5).collect();
    assert_eq!(
        hodges_lehmann::shift(&values, &moved, 0.95)
            .unwrap()
            .estimate,
        12.5
    );
}

#[test]
fn t_intervals_on_logarithms_are_those_of_scipy() {
    // exp of ttest_1samp(log(A), 0).confidence_interval(0.95), and gmean(A)
    let one = interval::geometric_mean(&A, 0.95).unwrap();
    close(one.estimate, 10.293_242_203_575_629);
    close(one.lo, 9.873_870_194_127_022);
    close(one.hi, 10.730_426_163_034_839);
    // exp of ttest_ind(log(B), log(A), equal_var=False).confidence_interval(0.95)
    let ratio = interval::geometric_ratio(&A, &B, 0.95).unwrap();
    close(ratio.estimate, 1.055_440_890_168_605_4);
    close(ratio.lo, 1.005_024_941_926_395);
    close(ratio.hi, 1.108_385_897_871_060_8);
}

#[test]
fn a_ratio_of_constants_is_a_point() {
    let ratio = interval::geometric_ratio(&[2.0, 2.0], &[3.0, 3.0], 0.95).unwrap();
    close(ratio.estimate, 1.5);
    assert_eq!((ratio.lo, ratio.hi), (ratio.estimate, ratio.estimate));
    assert!(ratio.contains(ratio.estimate) && !ratio.contains(1.0));
}
