//! The distributions agree with scipy 1.17.1 (tests/golden/stats.py prints every constant here).

use keywright_measure::stats::{location, normal, quantile, student};

fn close(ours: f64, golden: f64) {
    let error = (ours - golden).abs() / golden.abs().max(1.0);
    assert!(error < 1e-9, "{ours} is not {golden}");
}

#[test]
fn normal_probabilities_are_those_of_norm_cdf() {
    for (x, golden) in [
        (-1.0, 0.158_655_253_931_457_07),
        (0.25, 0.598_706_325_682_923_7),
        (2.9, 0.998_134_186_699_616),
        (6.0, 0.999_999_999_013_412_3),
        (-3.5, 0.000_232_629_079_035_525_02),
    ] {
        close(normal::cumulative(x), golden);
    }
}

#[test]
fn normal_tails_keep_their_relative_accuracy() {
    for (x, golden) in [
        (-37.0, 5.725_571_222_523_926_6e-300),
        (-8.0, 6.220_960_574_271_74e-16),
        (-3.5, 0.000_232_629_079_035_525_02),
    ] {
        close(normal::cumulative(x) / golden, 1.0);
    }
    assert_eq!(normal::upper_tail(f64::INFINITY), 0.0);
    assert!(normal::upper_tail(f64::NAN).is_nan());
}

#[test]
fn normal_quantiles_are_those_of_norm_ppf() {
    for (p, golden) in [
        (1e-300, -37.047_096_299_361_2),
        (1e-12, -7.034_483_825_301_131),
        (0.001, -3.090_232_306_167_813),
        (0.025, -1.959_963_984_540_054_5),
        (0.4, -0.253_347_103_135_799_7),
        (0.5, 0.0),
        (0.975, 1.959_963_984_540_054),
        (0.999_999, 4.753_424_308_817_087),
    ] {
        close(normal::quantile(p).unwrap(), golden);
    }
}

#[test]
fn student_quantiles_are_those_of_t_ppf_also_for_fractional_degrees() {
    for (p, df, golden) in [
        (0.975, 1.0, 12.706_204_736_174_694),
        (0.975, 4.0, 2.776_445_105_197_793_4),
        (0.9, 2.5, 1.730_250_928_807_176_6),
        (0.9999, 1.0, 3_183.098_757_118_502),
        (0.995, 9.0, 3.249_835_541_592_126),
        (0.01, 3.7, -3.920_507_819_208_549),
        (0.975, 1e6, 1.959_966_356_814_107),
        (0.5001, 30.0, 0.000_252_760_025_393_364_7),
    ] {
        close(student::quantile(p, df).unwrap(), golden);
    }
}

#[test]
fn student_probabilities_are_those_of_t_cdf() {
    for (t, df, golden) in [
        (2.0, 1.0, 0.852_416_382_349_566_7),
        (-1.3, 4.4, 0.128_762_331_183_581_1),
        (12.0, 6.0, 0.999_989_846_296_902_4),
        (0.001, 80.0, 0.500_397_697_496_955_2),
        (40.0, 2.2, 0.999_828_842_261_717_6),
    ] {
        close(student::cumulative(t, df), golden);
    }
}

#[test]
fn student_quantile_undoes_the_probability_everywhere() {
    for df in [1.0, 1.3, 2.0, 5.5, 40.0, 3e4] {
        for p in [1e-9, 0.003, 0.2, 0.5, 0.81, 0.9999] {
            let back = student::cumulative(student::quantile(p, df).unwrap(), df);
            assert!(
                (back - p).abs() < 1e-10 * p.max(1e-3),
                "df {df}, p {p}: {back}"
            );
        }
    }
}

#[test]
fn the_incomplete_beta_and_gamma_functions_are_those_of_scipy_special() {
    for (a, b, x, golden) in [
        (0.5, 2.0, 0.1, 0.458_530_260_724_414_94),
        (5.0, 3.0, 0.7, 0.647_069_5),
        (80.0, 90.0, 0.45, 0.296_289_411_409_966_6),
        (0.2, 0.3, 0.999, 0.945_832_054_741_717),
    ] {
        close(student::incomplete_beta(a, b, x), golden);
    }
    for (x, golden) in [
        (0.1, 2.252_712_651_734_206),
        (0.5, 0.572_364_942_924_7),
        (3.3, 0.987_098_577_894_734_3),
        (171.5, 709.143_163_030_928_3),
        (1e5, 1_051_287.708_973_656_9),
    ] {
        close(student::ln_gamma(x), golden);
    }
}

#[test]
fn arguments_outside_the_domain_have_no_answer() {
    for p in [0.0, 1.0, -0.1, 1.5, f64::NAN] {
        assert_eq!(normal::quantile(p), None);
        assert_eq!(student::quantile(p, 5.0), None);
        assert_eq!(normal::two_sided(p), None);
        assert_eq!(student::two_sided(p, 5.0), None);
    }
    for df in [0.0, 0.99, -3.0, f64::NAN] {
        assert_eq!(student::quantile(0.9, df), None);
    }
    assert!(student::cumulative(1.0, 0.0).is_nan());
    assert!(student::incomplete_beta(1.0, 1.0, 1.1).is_nan());
    assert!(student::incomplete_beta(0.0, 1.0, 0.5).is_nan());
    assert!(student::ln_gamma(0.0).is_nan());
}

#[test]
fn locations_agree_with_numpy_and_ignore_order() {
    let values = [10.1, 10.4, 9.8, 10.9, 10.0, 10.6];
    close(location::median(&values).unwrap(), 10.25);
    close(
        location::median_absolute_deviation(&values).unwrap(),
        0.299_999_999_999_999_8,
    );
    close(
        quantile::interpolated(&location::sorted(&values), 0.3),
        10.05,
    );
    assert_eq!(location::median(&[3.0, 1.0, 2.0]), Some(2.0));
}

#[test]
fn the_mean_of_a_large_offset_keeps_its_digits() {
    let values: Vec<f64> = (0..1_000_000).map(|i| 1e15 + f64::from(i % 2)).collect();
    assert_eq!(location::mean(&values), Some(1e15 + 0.5));
}

#[test]
fn no_values_or_a_value_that_is_not_finite_has_no_location() {
    for values in [&[][..], &[1.0, f64::NAN], &[f64::INFINITY]] {
        assert_eq!(location::mean(values), None);
        assert_eq!(location::median(values), None);
        assert_eq!(location::median_absolute_deviation(values), None);
        assert_eq!(location::variance(values), None);
    }
    assert_eq!(location::variance(&[1.0]), None);
    assert_eq!(location::weighted_median(&[(1.0, 0.0)]), None);
    assert!(quantile::interpolated(&[], 0.5).is_nan());
}

#[test]
fn the_weighted_median_follows_the_weight_and_not_the_count() {
    let weighted = [(1.0, 1.0), (2.0, 1.0), (3.0, 1.0), (9.0, 5.0)];
    assert_eq!(location::weighted_median(&weighted), Some(9.0));
}
