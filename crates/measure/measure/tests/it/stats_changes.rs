//! Change points are found where they were planted and seldom where nothing changed; the split is
//! the one that summing all distances one by one finds.

use keywright_measure::stats::change_points::{self, ChangePoint, Detection};
use keywright_measure::stats::random::Generator;

fn noise(count: usize, seed: u64) -> Vec<f64> {
    let mut generator = Generator::new(seed);
    (0..count).map(|_| generator.normal()).collect()
}

/// The scaled energy distance of Matteson & James, summed pair by pair.
fn energy(left: &[f64], right: &[f64]) -> f64 {
    let distances = |one: &[f64], other: &[f64]| -> f64 {
        one.iter()
            .flat_map(|x| other.iter().map(move |y| (x - y).abs()))
            .sum()
    };
    let (n, m) = (left.len() as f64, right.len() as f64);
    let between = 2.0 * distances(left, right) / (n * m);
    let within_left = distances(left, left) / (n * (n - 1.0));
    let within_right = distances(right, right) / (m * (m - 1.0));
    n * m / (n + m) * (between - within_left - within_right)
}

#[test]
fn the_split_is_the_one_with_the_largest_energy_summed_pair_by_pair() {
    for seed in 0..60 {
        // Rounded, so that there are ties; shifted by little, so that the place is not obvious.
        let mut series = noise(30, seed);
        for (place, value) in series.iter_mut().enumerate() {
            *value = (2.0 * *value + if place < 13 { 0.0 } else { 2.0 }).round();
        }
        // Segments of at least eleven allow one split of thirty points and then no other.
        let how = Detection {
            min_segment: 11,
            significance: 1.0,
            ..Detection::default()
        };
        let changes = change_points::detect(&series, &how).unwrap();
        let best = (11..=19)
            .map(|at| energy(&series[..at], &series[at..]))
            .fold(f64::NEG_INFINITY, f64::max);
        assert_eq!(changes.len(), usize::from(best > 0.0), "seed {seed}");
        for change in changes {
            let (left, right) = series.split_at(change.index);
            let chosen = energy(left, right);
            assert!(
                (chosen - best).abs() < 1e-9 * best.max(1.0),
                "seed {seed}: {chosen} {best}"
            );
        }
    }
}

fn found(series: &[f64]) -> Option<Vec<ChangePoint>> {
    change_points::detect(series, &Detection::default())
}

#[test]
fn planted_steps_are_found_where_they_are() {
    for seed in 0..40 {
        let mut series = noise(120, seed);
        for (place, value) in series.iter_mut().enumerate() {
            *value += if place < 40 {
                1e9
            } else if place < 80 {
                1e9 + 4.0
            } else {
                1e9 - 2.0
            };
        }
        let changes = found(&series).unwrap();
        for planted in [40_usize, 80] {
            let hit = changes
                .iter()
                .any(|change| change.index.abs_diff(planted) <= 2);
            assert!(hit, "seed {seed}: {changes:?}");
        }
        assert!(changes.len() <= 3, "seed {seed}: {changes:?}");
    }
}

#[test]
fn a_noiseless_step_is_found_exactly_with_its_levels() {
    let series: Vec<f64> = (0..60).map(|i| if i < 25 { 3.1 } else { 2.4 }).collect();
    let changes = found(&series).unwrap();
    assert_eq!(changes.len(), 1);
    assert_eq!(
        (changes[0].index, changes[0].before, changes[0].after),
        (25, 3.1, 2.4)
    );
    assert_eq!(changes[0].p, 1.0 / 200.0);
}

#[test]
fn a_pulse_that_returns_to_where_it_was_is_found_at_both_ends() {
    let mut series = noise(90, 4);
    for value in &mut series[30..60] {
        *value += 6.0;
    }
    let places: Vec<usize> = found(&series)
        .unwrap()
        .iter()
        .map(|change| change.index)
        .collect();
    assert_eq!(places, [30, 60]);
}

#[test]
fn a_change_of_spread_without_a_change_of_level_is_found() {
    let mut series = noise(200, 5);
    for value in &mut series[100..] {
        *value *= 6.0;
    }
    let changes = found(&series).unwrap();
    assert!(
        changes.iter().any(|change| change.index.abs_diff(100) <= 8),
        "{changes:?}"
    );
}

#[test]
fn changes_keep_the_minimum_distance_from_each_other_and_from_the_ends() {
    let how = Detection {
        min_segment: 12,
        ..Detection::default()
    };
    let series: Vec<f64> = (0..100).map(|i| f64::from(i / 6 * 10)).collect();
    let changes = change_points::detect(&series, &how).unwrap();
    let mut borders: Vec<usize> = changes.iter().map(|change| change.index).collect();
    borders.insert(0, 0);
    borders.push(100);
    assert!(borders.len() > 3);
    assert!(
        borders.windows(2).all(|pair| pair[1] - pair[0] >= 12),
        "{borders:?}"
    );
}

#[test]
fn only_the_newest_points_are_looked_at_and_indices_count_from_the_oldest() {
    let mut series = noise(10_000, 6);
    for value in &mut series[1_000..] {
        *value += 50.0;
    }
    for value in &mut series[9_800..] {
        *value += 9.0;
    }
    let places: Vec<usize> = found(&series)
        .unwrap()
        .iter()
        .map(|change| change.index)
        .collect();
    assert!(
        places.contains(&9_800) && places.iter().all(|place| *place >= 9_500),
        "{places:?}"
    );
}

#[test]
fn nothing_changes_in_a_constant_or_a_short_series() {
    assert_eq!(found(&[0.1; 300]).unwrap(), []);
    assert_eq!(found(&[1.0, 9.0, 1.0, 9.0]).unwrap(), []);
    assert_eq!(change_points::detect(&[], &Detection::default()), None);
    assert_eq!(
        change_points::detect(&[1.0, f64::NAN], &Detection::default()),
        None
    );
}

#[test]
fn in_noise_a_change_is_reported_about_as_rarely_as_promised() {
    let how = |seed| Detection {
        permutations: 99,
        seed,
        ..Detection::default()
    };
    let alarms = (0..2_000)
        .filter(|seed| {
            !change_points::detect(&noise(40, *seed), &how(seed + 10_000))
                .unwrap()
                .is_empty()
        })
        .count();
    // 5 % of 2,000 is 100 with a standard deviation of 9.7.
    assert!((65..=135).contains(&alarms), "{alarms}");
}
