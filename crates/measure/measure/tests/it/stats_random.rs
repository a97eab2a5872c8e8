//! The generator is the published one, and its derived values have the promised distributions.

use keywright_measure::stats::location::{mean, variance};
use keywright_measure::stats::random::{Generator, SplitMix64};

#[test]
fn splitmix_gives_the_published_sequence_for_seed_1234567() {
    let mut generator = SplitMix64::new(1_234_567);
    let published = [
        6_457_827_717_110_365_317,
        3_203_168_211_198_807_973,
        9_817_491_932_198_370_423,
        4_593_380_528_125_082_431,
        16_408_922_859_458_223_821,
    ];
    assert_eq!(published.map(|_: u64| generator.next_u64()), published);
}

#[test]
fn xoshiro_gives_the_sequence_of_its_reference_code_from_state_1_2_3_4() {
    let mut generator = Generator::from_state([1, 2, 3, 4]).unwrap();
    let reference = [
        11_520,
        0,
        1_509_978_240,
        1_215_971_899_390_074_240,
        1_216_172_134_540_287_360,
        607_988_272_756_665_600,
        16_172_922_978_634_559_625,
        8_476_171_486_693_032_832,
        10_595_114_339_597_558_777,
        2_904_607_092_377_533_576,
    ];
    assert_eq!(reference.map(|_: u64| generator.next_u64()), reference);
}

#[test]
fn the_state_that_yields_only_zeros_is_refused() {
    assert!(Generator::from_state([0; 4]).is_none());
}

#[test]
fn equal_seeds_agree_and_neighbouring_seeds_do_not() {
    let take = |seed| {
        let mut generator = Generator::new(seed);
        [(); 8].map(|()| generator.next_u64())
    };
    assert_eq!(take(7), take(7));
    assert!(take(7).iter().all(|word| !take(8).contains(word)));
}

#[test]
fn uniform_values_stay_inside_their_half_open_ranges() {
    let mut generator = Generator::new(1);
    for _ in 0..100_000 {
        let low = generator.uniform();
        assert!((0.0..1.0).contains(&low));
        let high = generator.positive_uniform();
        assert!(high > 0.0 && high <= 1.0);
    }
}

#[test]
fn exponential_and_normal_values_have_their_moments() {
    let mut generator = Generator::new(2);
    let gaps: Vec<f64> = (0..200_000).map(|_| generator.exponential(3.0)).collect();
    // Six standard errors: 6 · 3/√200,000 and 6 · 9·√8/√200,000.
    assert!((mean(&gaps).unwrap() - 3.0).abs() < 0.0403);
    assert!((variance(&gaps).unwrap() - 9.0).abs() < 0.342);
    let normal: Vec<f64> = (0..200_000).map(|_| generator.normal()).collect();
    assert!(mean(&normal).unwrap().abs() < 0.0135);
    assert!((variance(&normal).unwrap() - 1.0).abs() < 0.019);
    let inside = normal
        .iter()
        .filter(|value| value.abs() < 1.959_964)
        .count();
    assert!((inside as f64 / 200_000.0 - 0.95).abs() < 0.003);
}

#[test]
fn bounded_indices_reach_every_value_about_equally_often() {
    let mut generator = Generator::new(3);
    let mut counts = [0_u32; 7];
    for _ in 0..70_000 {
        counts[generator.index(7)] += 1;
    }
    // Chi-squared with six degrees of freedom exceeds 35 once in 200,000 trials.
    let chi: f64 = counts
        .iter()
        .map(|count| (f64::from(*count) - 1e4).powi(2) / 1e4)
        .sum();
    assert!(chi < 35.0, "{counts:?}");
}

#[test]
fn an_index_below_nothing_or_one_is_zero() {
    let mut generator = Generator::new(4);
    assert_eq!((generator.index(0), generator.index(1)), (0, 0));
}

#[test]
fn shuffling_loses_nothing_and_favours_no_order() {
    let mut generator = Generator::new(5);
    let mut orders = std::collections::BTreeMap::new();
    for _ in 0..24_000 {
        let mut items = [0, 1, 2, 3];
        generator.shuffle(&mut items);
        *orders.entry(items).or_insert(0_u32) += 1;
    }
    assert_eq!(orders.len(), 24);
    assert!(
        orders.values().all(|count| (800..1_200).contains(count)),
        "{orders:?}"
    );
}

#[test]
fn resampling_from_nothing_leaves_the_target_alone() {
    let mut target = [1.0, 2.0];
    Generator::new(6).resample(&[], &mut target);
    assert_eq!(target, [1.0, 2.0]);
}
