//! The statistics of the timing test, on numbers that are made up.

use keywright_fpe_gates::sequence::Sequence;
use keywright_fpe_gates::timing::{BOUND, Class, Samples, median};

/// Two classes of which the random one takes `more` longer, and every hundredth measurement is an outlier.
fn samples(more: u32) -> Samples {
    let mut sequence = Sequence::new(91);
    let mut samples = Samples::default();
    for number in 0..100_000_u32 {
        let random = sequence.next_bits() >> 63 == 1;
        let taken = 1_000 + sequence.below(40) + u32::from(random) * more;
        let tail = if number % 100 == 0 {
            sequence.below(1_000_000)
        } else {
            0
        };
        let class = if random { Class::Random } else { Class::Fixed };
        samples.add(class, taken + tail);
    }
    samples
}

#[test]
fn one_tick_is_seen_in_the_midst_of_noise_and_outliers() {
    assert!(samples(0).t().abs() < BOUND, "{}", samples(0).t());
    assert!(samples(1).t().abs() > BOUND, "{}", samples(1).t());
    // The fixed class is the faster one.
    assert!(samples(1).t() < 0.0);
}

#[test]
fn samples_that_are_all_the_same_or_none_differ_by_nothing() {
    assert!(Samples::default().t().abs() < f64::EPSILON);
    let mut same = Samples::default();
    for number in 0..100 {
        same.add([Class::Fixed, Class::Random][number % 2], 7);
    }
    assert!(same.t().abs() < f64::EPSILON);
}

#[test]
fn the_median_is_of_absolute_values() {
    assert!((median(&[-9.0, 1.0, 2.0, -3.0, 0.0]) - 2.0).abs() < f64::EPSILON);
    assert!(median(&[]).abs() < f64::EPSILON);
}

#[test]
fn every_measurement_is_counted_once_with_secrets_of_its_class() {
    let mut classes = [0_u32; 2];
    let mut sequence = Sequence::new(92);
    let mut calls = 0;
    let _ = Samples::take(
        500,
        &mut sequence,
        &mut (),
        |class, _, ()| classes[class as usize] += 1,
        |()| calls += 1,
    );
    assert_eq!((classes[0] + classes[1], calls), (500, 500));
    assert!(classes.iter().all(|count| *count > 150), "{classes:?}");
}
