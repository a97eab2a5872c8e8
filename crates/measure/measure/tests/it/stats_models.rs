//! Scaling, size model and outliers on figures whose answers are known.

use keywright_measure::stats::bootstrap::Resampling;
use keywright_measure::stats::outliers::{classify, modified_z};
use keywright_measure::stats::random::Generator;
use keywright_measure::stats::scaling::{Step, decline, jain_fairness, scaling};
use keywright_measure::stats::size_model::{self, MisfitReason, SizePoint};
use keywright_measure::stats::usl;

const SWEEP: [f64; 6] = [760.0, 1_080.0, 1_453.0, 1_543.0, 1_282.0, 1_484.0];

fn steps(rates: &[f64]) -> Vec<Step> {
    rates
        .iter()
        .zip(1..)
        .map(|(rate, workers)| Step {
            workers,
            throughput: *rate,
        })
        .collect()
}

fn near(ours: f64, expected: f64, tolerance: f64) {
    assert!(
        (ours - expected).abs() <= tolerance,
        "{ours} is not {expected}"
    );
}

#[test]
fn a_measured_sweep_has_the_efficiency_serial_fraction_and_decline_of_its_figures() {
    let four = scaling(SWEEP[0], steps(&SWEEP)[3]).unwrap();
    near(four.speed_up, 1_543.0 / 760.0, 1e-12);
    near(four.efficiency, 0.51, 0.005);
    near(four.karp_flatt.unwrap(), 0.32, 0.005);
    assert_eq!(decline(&steps(&SWEEP)), Some(5));
}

#[test]
fn one_worker_has_no_serial_fraction_and_nonsense_no_scaling() {
    let one = scaling(
        5.0,
        Step {
            workers: 1,
            throughput: 5.0,
        },
    )
    .unwrap();
    assert_eq!(
        (one.speed_up, one.efficiency, one.karp_flatt),
        (1.0, 1.0, None)
    );
    assert_eq!(
        scaling(
            0.0,
            Step {
                workers: 2,
                throughput: 5.0
            }
        ),
        None
    );
    assert_eq!(
        scaling(
            5.0,
            Step {
                workers: 0,
                throughput: 5.0
            }
        ),
        None
    );
    assert_eq!(
        scaling(
            5.0,
            Step {
                workers: 2,
                throughput: f64::NAN
            }
        ),
        None
    );
    assert_eq!(decline(&steps(&[1.0, 2.0, 2.0, 3.0])), None);
    assert_eq!(decline(&[]), None);
}

#[test]
fn fairness_is_one_for_equal_shares_and_one_in_n_for_a_single_winner() {
    assert_eq!(jain_fairness(&[7.0; 5]), Some(1.0));
    assert_eq!(jain_fairness(&[0.0, 3.0, 0.0, 0.0]), Some(0.25));
    near(jain_fairness(&[1e300, 1e300]).unwrap(), 1.0, 1e-12);
    for bad in [&[][..], &[0.0, 0.0], &[-1.0, 2.0], &[f64::NAN]] {
        assert_eq!(jain_fairness(bad), None);
    }
}

#[test]
fn the_scalability_law_is_recovered_from_its_own_curve() {
    for (lambda, sigma, kappa) in [
        (995.0, 0.0267, 0.000_769),
        (1e6, 0.3, 0.02),
        (2.0, 0.0, 0.01),
        (50.0, 0.1, 0.0),
    ] {
        let curve: Vec<f64> = (1..=24)
            .map(f64::from)
            .map(|n| lambda * n / (1.0 + sigma * (n - 1.0) + kappa * n * (n - 1.0)))
            .collect();
        let fitted = usl::fit(&steps(&curve)).unwrap();
        near(fitted.lambda / lambda, 1.0, 1e-6);
        near(fitted.sigma, sigma, 1e-6);
        near(fitted.kappa, kappa, 1e-7);
        near(fitted.r_squared, 1.0, 1e-9);
        near(fitted.throughput(3.0) / curve[2], 1.0, 1e-6);
        if kappa > 0.0 {
            near(fitted.peak().unwrap(), ((1.0 - sigma) / kappa).sqrt(), 1e-2);
        }
    }
}

#[test]
fn the_scalability_fit_is_the_least_squares_one() {
    // scipy 1.17.1: optimize.least_squares on the sweep in thousands, bounds at zero
    let fitted = usl::fit(&steps(&SWEEP)).unwrap();
    near(fitted.lambda, 724.323_924_6, 1e-2);
    near(fitted.sigma, 0.150_889_173, 1e-5);
    near(fitted.kappa, 0.044_478_282, 1e-5);
    let left: f64 = SWEEP
        .iter()
        .zip(1..)
        .map(|(rate, workers)| (rate - fitted.throughput(f64::from(workers))).powi(2))
        .sum();
    near(left, 55_856.826_92, 0.01);
    near(fitted.peak().unwrap(), 4.37, 0.005);
}

#[test]
fn scaling_better_than_linear_is_fitted_without_negative_coefficients() {
    let fitted = usl::fit(&steps(&[10.0, 22.0, 35.0, 49.0])).unwrap();
    assert_eq!(
        (fitted.sigma, fitted.kappa, fitted.peak()),
        (0.0, 0.0, None)
    );
    // What is left is x = λN with λ = ΣxN/ΣN².
    near(fitted.lambda, 355.0 / 30.0, 1e-6);
}

#[test]
fn too_little_of_a_sweep_is_not_fitted() {
    assert_eq!(usl::fit(&steps(&[1.0, 2.0])), None);
    assert_eq!(
        usl::fit(
            &[Step {
                workers: 2,
                throughput: 3.0
            }; 5]
        ),
        None
    );
    assert_eq!(usl::fit(&steps(&[1.0, 0.0, 2.0])), None);
    assert_eq!(usl::fit(&steps(&[1.0, f64::INFINITY, 2.0])), None);
}

fn single(bytes: f64, time: f64) -> SizePoint {
    SizePoint {
        bytes,
        times: vec![time],
    }
}

#[test]
fn a_bandwidth_that_falls_at_one_mebibyte_is_flagged_there() {
    let micros = [28.8, 47.0, 248.9, 3_556.0];
    let sizes = [1_024.0, 10_240.0, 102_400.0, 1_048_576.0];
    let points: Vec<SizePoint> = sizes
        .iter()
        .zip(micros)
        .map(|(bytes, time)| single(*bytes, time * 1e3))
        .collect();
    let model = size_model::fit(&points, &Resampling::default()).unwrap();
    let slopes: Vec<f64> = model.segments.iter().map(|segment| segment.slope).collect();
    for (slope, rounded) in slopes.iter().zip([2.0, 2.2, 3.5]) {
        near(*slope, rounded, 0.05);
    }
    let bends: Vec<f64> = model
        .misfits
        .iter()
        .filter(|misfit| misfit.reason == MisfitReason::Bend)
        .map(|misfit| misfit.bytes)
        .collect();
    assert_eq!(bends, [1_048_576.0]);
    assert!(
        model
            .misfits
            .iter()
            .any(|misfit| misfit.reason == MisfitReason::Residual)
    );
}

#[test]
fn a_line_is_recovered_and_not_flagged() {
    for (call, byte) in [(900.0, 0.2), (25_000.0, 2.2), (0.5, 3.0), (1_000.0, 1e-6)] {
        let points: Vec<SizePoint> = [16.0, 64.0, 256.0, 4_096.0, 65_536.0, 1_048_576.0]
            .map(|bytes| single(bytes, call + byte * bytes))
            .to_vec();
        let model = size_model::fit(&points, &Resampling::default()).unwrap();
        near(model.per_call.estimate / call, 1.0, 1e-6);
        near(model.per_byte.estimate / byte, 1.0, 1e-6);
        assert!(model.misfits.is_empty(), "{:?}", model.misfits);
    }
}

#[test]
fn a_noisy_line_is_seldom_flagged_and_its_intervals_hold_the_truth() {
    let plan = |seed| Resampling {
        resamples: 200,
        seed,
        ..Resampling::default()
    };
    let (mut flagged, mut call_held, mut byte_held) = (0, 0, 0);
    for seed in 0..200 {
        let mut generator = Generator::new(seed);
        let mut time = |bytes: f64| (900.0 + 0.2 * bytes) * (0.03 * generator.normal()).exp();
        let points: Vec<SizePoint> = [16.0, 256.0, 4_096.0, 65_536.0, 1_048_576.0]
            .map(|bytes| SizePoint {
                bytes,
                times: (0..9).map(|_| time(bytes)).collect(),
            })
            .to_vec();
        let model = size_model::fit(&points, &plan(seed)).unwrap();
        flagged += u32::from(!model.misfits.is_empty());
        call_held += u32::from(model.per_call.contains(900.0));
        byte_held += u32::from(model.per_byte.contains(0.2));
    }
    assert!(flagged <= 2, "{flagged}");
    assert!(
        call_held >= 170 && byte_held >= 170,
        "{call_held} {byte_held}"
    );
}

#[test]
fn sizes_that_cannot_carry_a_line_are_refused() {
    let plan = Resampling::default();
    let good = [single(1.0, 1.0), single(2.0, 2.0), single(3.0, 3.0)];
    assert!(size_model::fit(&good, &plan).is_some());
    assert_eq!(size_model::fit(&good[..2], &plan), None);
    for bad in [
        single(1.0, 5.0),
        single(9.0, 0.0),
        single(f64::NAN, 1.0),
        single(-1.0, 1.0),
    ] {
        let mut points = good.to_vec();
        points.push(bad);
        assert_eq!(size_model::fit(&points, &plan), None);
    }
    let empty = SizePoint {
        bytes: 9.0,
        times: vec![],
    };
    assert_eq!(
        size_model::fit(&[good[0].clone(), good[1].clone(), empty], &plan),
        None
    );
}

#[test]
fn outliers_are_classed_by_side_and_distance_and_stay_in_the_data() {
    // Quartiles 26 and 76, range 50: fences at −49, −124 and 151, 226.
    let mut values: Vec<f64> = (1..=101).map(f64::from).collect();
    let clean = classify(&values).unwrap();
    assert_eq!(
        (
            clean.low_mild,
            clean.low_severe,
            clean.high_mild,
            clean.high_severe
        ),
        (0, 0, 0, 0)
    );
    values.extend([-60.0, -500.0, 170.0, 180.0, 900.0, 901.0]);
    let classes = classify(&values).unwrap();
    assert_eq!((classes.low_mild, classes.low_severe), (1, 1));
    assert_eq!((classes.high_mild, classes.high_severe), (2, 2));
    assert_eq!(
        (classes.low_by_deviation, classes.high_by_deviation),
        (1, 2)
    );
    assert_eq!(values.len(), 107);
}

#[test]
fn modified_z_of_a_constant_is_zero_and_of_what_leaves_it_infinite() {
    assert_eq!(modified_z(&[2.0; 4]), Some(vec![0.0; 4]));
    let scores = modified_z(&[2.0, 2.0, 2.0, 2.0, 3.0]).unwrap();
    assert_eq!(scores[4], f64::INFINITY);
    assert_eq!(
        classify(&[2.0, 2.0, 2.0, 2.0, 3.0])
            .unwrap()
            .high_by_deviation,
        1
    );
    assert_eq!(modified_z(&[]), None);
    assert_eq!(classify(&[f64::NAN]), None);
}
