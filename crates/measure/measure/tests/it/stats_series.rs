//! Autocorrelation, truncation and trends: found when planted, absent otherwise.
//! Constants said to be scipy's are printed by tests/golden/stats.py (scipy 1.17.1).

use keywright_measure::stats::random::Generator;
use keywright_measure::stats::ranks::Method;
use keywright_measure::stats::series::{lag1, mser5, variance_inflation};
use keywright_measure::stats::trend::{least_squares, mann_kendall, theil_sen};

const SERIES: [f64; 10] = [5.1, 4.9, 5.6, 5.3, 6.0, 5.8, 5.7, 6.4, 6.1, 6.9];
const TIED: [f64; 12] = [1.0, 3.0, 2.0, 2.0, 4.0, 4.0, 5.0, 3.0, 5.0, 6.0, 6.0, 4.0];
const XY: [(f64, f64); 7] = [
    (1.0, 2.1),
    (2.0, 3.9),
    (3.0, 6.2),
    (4.0, 7.7),
    (5.0, 10.4),
    (7.0, 13.6),
    (9.0, 25.0),
];

fn close(ours: f64, golden: f64) {
    assert!(
        (ours - golden).abs() < 1e-9 * golden.abs().max(1e-3),
        "{ours} is not {golden}"
    );
}

fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut generator = Generator::new(seed);
    (0..count).map(|_| generator.normal()).collect()
}

#[test]
fn lag1_finds_the_correlation_that_was_put_in() {
    for rho in [-0.6, 0.0, 0.5, 0.9] {
        let mut last = 0.0;
        let correlated: Vec<f64> = noise(50_000, 1)
            .iter()
            .map(|shock| {
                last = rho * last + shock;
                last
            })
            .collect();
        assert!((lag1(&correlated).unwrap() - rho).abs() < 0.02);
    }
}

#[test]
fn dependence_inflates_the_variance_of_a_mean_by_the_known_factor() {
    for rho in [0.0, 0.5, 0.8] {
        let mut last = 0.0;
        let correlated: Vec<f64> = noise(50_000, 2)
            .iter()
            .map(|shock| {
                last = rho * last + shock;
                last
            })
            .collect();
        let known = (1.0 + rho) / (1.0 - rho);
        assert!((variance_inflation(&correlated).unwrap() / known - 1.0).abs() < 0.1);
    }
    let alternating: Vec<f64> = (0..100).map(|i| f64::from(i % 2)).collect();
    assert_eq!(variance_inflation(&alternating), Some(1.0));
    assert_eq!(variance_inflation(&[4.0; 20]), None);
    assert_eq!(variance_inflation(&[1.0, 2.0]), None);
}

#[test]
fn lag1_of_too_little_or_of_a_constant_does_not_exist() {
    assert_eq!(lag1(&[1.0, 2.0]), None);
    assert_eq!(lag1(&[4.0; 20]), None);
    assert_eq!(lag1(&[1.0, f64::NAN, 2.0, 3.0]), None);
}

#[test]
fn mann_kendall_is_that_of_scipy_exact_and_that_of_the_formula_with_ties() {
    // kendalltau(range(10), SERIES, method="exact")
    let exact = mann_kendall(&SERIES).unwrap();
    close(exact.tau, 0.733_333_333_333_333_3);
    close(exact.p, 0.002_212_852_733_686_067);
    assert_eq!((exact.s, exact.method), (33.0, Method::Exact));
    // kendalltau(range(12), TIED).statistic; p by the tie-corrected variance with norm.sf
    let tied = mann_kendall(&TIED).unwrap();
    close(tied.tau, 0.657_031_033_625_814_6);
    close(tied.p, 0.005_210_538_239_129_057);
    assert_eq!((tied.s, tied.method), (41.0, Method::Approximate));
}

#[test]
fn a_falling_series_is_the_mirror_of_a_rising_one() {
    let falling: Vec<f64> = SERIES.iter().rev().copied().collect();
    let (up, down) = (
        mann_kendall(&SERIES).unwrap(),
        mann_kendall(&falling).unwrap(),
    );
    assert_eq!(up.s, -down.s);
    close(up.p, down.p);
}

#[test]
fn a_constant_series_has_no_trend() {
    let test = mann_kendall(&[2.0; 15]).unwrap();
    assert_eq!((test.s, test.tau, test.p), (0.0, 0.0, 1.0));
    assert_eq!(mann_kendall(&[1.0, 2.0, 3.0]), None);
}

#[test]
fn lines_are_those_of_scipy() {
    // theilslopes(y, x)
    let robust = theil_sen(&XY).unwrap();
    close(robust.slope, 2.075);
    close(robust.intercept, -0.600_000_000_000_000_5);
    // linregress(x, y, alternative="greater")
    let fitted = least_squares(&XY).unwrap();
    close(fitted.line.slope, 2.648_502_994_011_976);
    close(fitted.line.intercept, -1.886_227_544_910_179);
    close(fitted.t, 8.604_703_366_697_478);
    close(fitted.p_rising, 0.000_174_870_411_777_613_16);
}

#[test]
fn exact_and_flat_lines_have_the_p_values_of_certainty_and_of_ignorance() {
    let line = |slope: f64| {
        let points: Vec<(f64, f64)> = (0..10)
            .map(|x| (f64::from(x), 1e9 + slope * f64::from(x)))
            .collect();
        least_squares(&points).unwrap().p_rising
    };
    assert_eq!((line(3.0), line(0.0), line(-3.0)), (0.0, 0.5, 1.0));
}

#[test]
fn theil_sen_stays_on_the_line_with_a_quarter_of_wild_points() {
    let points: Vec<(f64, f64)> = (0..4_000)
        .map(|i| {
            let x = f64::from(i);
            // Wild in one block, which averaging in stretches does not spread.
            let wild = if (1_000..1_900).contains(&i) {
                1e6
            } else {
                0.0
            };
            (x, 7.0 + 0.25 * x + wild)
        })
        .collect();
    let line = theil_sen(&points).unwrap();
    assert!((line.slope - 0.25).abs() < 0.01, "{line:?}");
    assert_eq!(theil_sen(&[(1.0, 1.0), (1.0, 2.0)]), None);
    assert_eq!(theil_sen(&[(1.0, 1.0)]), None);
    assert_eq!(theil_sen(&[(1.0, 1.0), (f64::NAN, 2.0)]), None);
    assert_eq!(least_squares(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None);
    assert_eq!(least_squares(&XY[..2]), None);
}

#[test]
fn mser_cuts_the_whole_warm_up_and_seldom_much_more() {
    let mut ample = 0;
    for seed in 0..200 {
        let mut values = noise(200, seed);
        for (place, value) in values.iter_mut().take(40).enumerate() {
            *value += 20.0 - 0.5 * place as f64;
        }
        let truncation = mser5(&values).unwrap();
        assert!(truncation.cut >= 30, "seed {seed}: {truncation:?}");
        ample += u32::from(truncation.cut > 70);
    }
    assert!(ample < 30, "{ample}");
}

#[test]
fn mser_seldom_cuts_much_of_a_steady_series_or_calls_it_unsteady() {
    let cuts: Vec<_> = (0..1_000)
        .map(|seed| mser5(&noise(200, seed)).unwrap())
        .collect();
    let (long, unsteady) = (
        cuts.iter().filter(|truncation| truncation.cut > 50).count(),
        cuts.iter()
            .filter(|truncation| !truncation.steady())
            .count(),
    );
    assert!(long < 150 && unsteady <= 10, "{long} {unsteady}");
}

#[test]
fn a_series_that_keeps_climbing_is_not_steady() {
    let climbing: Vec<f64> = noise(200, 9)
        .iter()
        .zip(0..)
        .map(|(e, i)| e + f64::from(i))
        .collect();
    assert!(!mser5(&climbing).unwrap().steady());
}

#[test]
fn a_constant_series_has_no_warm_up_and_a_short_one_no_answer() {
    assert_eq!(mser5(&[3.0; 50]).unwrap().cut, 0);
    assert_eq!(mser5(&[3.0; 19]), None);
    assert_eq!(mser5(&[f64::INFINITY; 50]), None);
}
