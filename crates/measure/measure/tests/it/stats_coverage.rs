//! Intervals hold the truth as often as they say, and families of tests raise no more false alarms
//! than they promise: seeded simulations, seeds 0..N−1.

use keywright_measure::stats::bootstrap::{self, Resampling, hierarchical_ratio, run_medians};
use keywright_measure::stats::interval::{Interval, geometric_mean, geometric_ratio};
use keywright_measure::stats::quantile::{of_series, of_sorted};
use keywright_measure::stats::random::Generator;
use keywright_measure::stats::series::lag1;
use keywright_measure::stats::{hodges_lehmann, holm, mann_whitney, normal, signed_rank};

/// The share of simulated intervals that hold `truth`, in percent.
fn coverage(simulations: u64, truth: f64, interval: impl Fn(&mut Generator) -> Interval) -> f64 {
    let held = (0..simulations)
        .filter(|seed| interval(&mut Generator::new(*seed)).contains(truth))
        .count();
    100.0 * held as f64 / simulations as f64
}

fn nominal(percent: f64) {
    assert!((93.0..=97.0).contains(&percent), "covers {percent} %");
}

fn normals(count: usize, generator: &mut Generator) -> Vec<f64> {
    (0..count).map(|_| generator.normal()).collect()
}

fn lognormals(count: usize, spread: f64, generator: &mut Generator) -> Vec<f64> {
    (0..count)
        .map(|_| 250.0 * (spread * generator.normal()).exp())
        .collect()
}

#[test]
fn t_intervals_on_run_values_cover_with_five_six_and_ten_runs() {
    for runs in [5, 6, 10] {
        nominal(coverage(4_000, 250.0, |generator| {
            geometric_mean(&lognormals(runs, 0.2, generator), 0.95).unwrap()
        }));
    }
}

#[test]
fn t_intervals_on_ratios_cover_with_unequal_spreads() {
    nominal(coverage(4_000, 1.0, |generator| {
        let (baseline, candidate) = (
            lognormals(6, 0.05, generator),
            lognormals(8, 0.2, generator),
        );
        geometric_ratio(&baseline, &candidate, 0.95).unwrap()
    }));
}

#[test]
fn quantile_intervals_cover_on_independent_samples() {
    for (count, q) in [(500, 0.5), (500, 0.9), (1_000, 0.99), (2_000, 0.95)] {
        let truth = -f64::ln(1.0 - q);
        nominal(coverage(2_000, truth, |generator| {
            let mut values: Vec<f64> = (0..count).map(|_| generator.exponential(1.0)).collect();
            values.sort_unstable_by(f64::total_cmp);
            of_sorted(&values, q, 0.0).unwrap()
        }));
    }
}

/// Normal values of variance 1 whose neighbours correlate by `rho`.
fn autoregressive(count: usize, rho: f64, generator: &mut Generator) -> Vec<f64> {
    let mut last = generator.normal();
    let shock = (1.0 - rho * rho).sqrt();
    (0..count)
        .map(|_| {
            last = rho * last + shock * generator.normal();
            last
        })
        .collect()
}

fn quantile_of(mut values: Vec<f64>, q: f64, rho: f64) -> Option<Interval> {
    values.sort_unstable_by(f64::total_cmp);
    of_sorted(&values, q, rho)
}

#[test]
fn quantile_intervals_cover_on_autocorrelated_samples() {
    for (rho, q) in [
        (0.0, 0.9),
        (0.3, 0.5),
        (0.6, 0.5),
        (0.6, 0.95),
        (0.8, 0.5),
        (0.8, 0.9),
    ] {
        nominal(coverage(2_000, normal::quantile(q).unwrap(), |generator| {
            of_series(&autoregressive(2_000, rho, generator), q).unwrap()
        }));
    }
}

#[test]
fn quantile_intervals_from_lag1_alone_err_on_the_wide_side_only() {
    for (rho, q) in [(0.3, 0.5), (0.6, 0.5), (0.6, 0.75), (0.8, 0.5)] {
        let percent = coverage(2_000, normal::quantile(q).unwrap(), |generator| {
            let values = autoregressive(2_000, rho, generator);
            let measured = lag1(&values).unwrap();
            quantile_of(values, q, measured).unwrap()
        });
        assert!((93.0..=99.5).contains(&percent), "{rho} {q}: {percent} %");
    }
}

#[test]
fn quantile_intervals_that_ignore_autocorrelation_do_not_cover() {
    let percent = coverage(2_000, 0.0, |generator| {
        quantile_of(autoregressive(2_000, 0.6, generator), 0.5, 0.0).unwrap()
    });
    assert!(percent < 80.0, "covers {percent} %");
}

#[test]
fn hodges_lehmann_intervals_cover_what_they_say_they_attain() {
    for count in [5, 12, 40] {
        let attained = hodges_lehmann::centre(&normals(count, &mut Generator::new(0)), 0.95);
        let percent = coverage(2_000, 0.0, |generator| {
            hodges_lehmann::centre(&normals(count, generator), 0.95).unwrap()
        });
        assert!(
            (percent - 100.0 * attained.unwrap().level).abs() < 1.6,
            "{count}: {percent}"
        );
    }
    let percent = coverage(2_000, 0.0, |generator| {
        hodges_lehmann::shift(&normals(7, generator), &normals(9, generator), 0.95).unwrap()
    });
    nominal(percent);
}

fn plain_mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

#[test]
fn studentised_bootstrap_covers_with_few_runs_where_the_percentile_form_does_not() {
    let plan = |generator: &mut Generator| Resampling {
        resamples: 399,
        seed: generator.next_u64(),
        ..Resampling::default()
    };
    for runs in [6, 10] {
        let studentised = coverage(2_000, 0.0, |generator| {
            let values = normals(runs, generator);
            bootstrap::studentised(&values, plain_mean, &plan(generator)).unwrap()
        });
        nominal(studentised);
        let percentile = coverage(2_000, 0.0, |generator| {
            let values = normals(runs, generator);
            bootstrap::percentile(&values, plain_mean, &plan(generator)).unwrap()
        });
        assert!(percentile < 92.5, "{runs} runs: {percentile} %");
    }
}

#[test]
fn hierarchical_ratios_cover_with_thirty_runs_and_hold_their_estimate() {
    let side = |generator: &mut Generator| -> Vec<Vec<f64>> {
        (0..30)
            .map(|_| {
                let run = (0.1 * generator.normal()).exp();
                (0..5)
                    .map(|_| run * (0.05 * generator.normal()).exp())
                    .collect()
            })
            .collect()
    };
    let percent = coverage(2_000, 1.0, |generator| {
        let (baseline, candidate) = (side(generator), side(generator));
        let plan = Resampling {
            resamples: 100,
            seed: generator.next_u64(),
            ..Resampling::default()
        };
        let interval = hierarchical_ratio(&baseline, &candidate, &plan).unwrap();
        assert!(interval.contains(interval.estimate));
        interval
    });
    nominal(percent);
}

#[test]
fn the_same_seed_gives_the_same_bootstrap_and_another_seed_another() {
    let values = normals(20, &mut Generator::new(1));
    let run = |seed| {
        let plan = Resampling {
            seed,
            ..Resampling::default()
        };
        bootstrap::percentile(&values, plain_mean, &plan)
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn bootstraps_of_nothing_or_of_constants_have_no_answer() {
    let plan = Resampling::default();
    assert_eq!(bootstrap::percentile(&[], plain_mean, &plan), None);
    assert_eq!(
        bootstrap::percentile(&[1.0, f64::NAN], plain_mean, &plan),
        None
    );
    assert_eq!(
        bootstrap::percentile(&[1.0, 2.0], |_| f64::NAN, &plan),
        None
    );
    assert_eq!(bootstrap::studentised(&[0.1; 7], plain_mean, &plan), None);
    assert_eq!(bootstrap::studentised(&[1.0, 2.0], plain_mean, &plan), None);
    let (full, hollow) = (vec![vec![1.0, 2.0]], vec![vec![1.0], vec![]]);
    assert!(hierarchical_ratio(&full, &full, &plan).is_some());
    assert_eq!(hierarchical_ratio(&full, &hollow, &plan), None);
    assert_eq!(hierarchical_ratio(&[], &full, &plan), None);
    assert_eq!(run_medians(&[vec![1.0, 0.0]]), None);
    for plan in [
        Resampling { level: 1.0, ..plan },
        Resampling {
            resamples: 0,
            ..plan
        },
    ] {
        assert_eq!(bootstrap::percentile(&[1.0, 2.0], plain_mean, &plan), None);
        assert_eq!(hierarchical_ratio(&full, &full, &plan), None);
    }
}

#[test]
fn suites_without_a_change_raise_a_false_alarm_in_at_most_one_of_twenty() {
    let cases = 12;
    let suites = 2_000;
    let (mut adjusted, mut plain) = (0, 0);
    for seed in 0..suites {
        let mut generator = Generator::new(seed);
        let p_values: Vec<f64> = (0..cases)
            .map(|case| {
                if case % 2 == 0 {
                    let (left, right) = (normals(6, &mut generator), normals(6, &mut generator));
                    mann_whitney::test(&left, &right).unwrap().p
                } else {
                    signed_rank::test(&normals(10, &mut generator)).unwrap().p
                }
            })
            .collect();
        let alarm = |family: &[f64]| u32::from(family.iter().any(|p| *p <= 0.05));
        adjusted += alarm(&holm::adjust(&p_values).unwrap());
        plain += alarm(&p_values);
    }
    let share = |alarms: u32| f64::from(alarms) / suites as f64;
    assert!(share(adjusted) <= 0.05, "{}", share(adjusted));
    assert!(
        share(adjusted) >= 0.02,
        "the correction is needlessly strict: {}",
        share(adjusted)
    );
    assert!(share(plain) > 0.3, "{}", share(plain));
}
