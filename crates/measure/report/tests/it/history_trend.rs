//! Changes are found where they are, among runs that can be compared, and nowhere else.

use keywright_measure::document::{Bound, Document, Latency, Quantile};
use keywright_measure::verdict::Word;
use keywright_report::comparability::SeriesKey;
use keywright_report::history::{History, Metric, Trend};

use crate::history_samples::{achieved, noise, record_figures, small};

fn memory() -> History {
    History::open_in_memory().unwrap()
}

fn trend(history: &mut History) -> Trend {
    history.trend("seal", Metric::Throughput).unwrap().unwrap()
}

fn step(seed: u64, before: usize, after: usize) -> Vec<f64> {
    let mut figures = noise(seed, 1000.0, before);
    figures.extend(noise(seed + 1, 900.0, after));
    figures
}

#[test]
fn a_step_in_sixty_runs_is_found_at_its_place_with_both_levels() {
    for (seed, place) in [(1, 20), (2, 30), (3, 41), (4, 50)] {
        let mut history = memory();
        let ids = record_figures(&mut history, 0, &step(seed, place, 60 - place));
        let found = trend(&mut history);
        assert_eq!(found.points.len(), 60);
        let places: Vec<usize> = found.change_points.iter().map(|one| one.index).collect();
        assert_eq!(places, [place]);
        assert_eq!(found.change_points[0].run, ids[place]);
        let (current, previous) = (found.current.unwrap(), found.previous.unwrap());
        assert_eq!((previous.runs, current.runs), (place, 60 - place));
        assert_eq!((&current.first, &current.last), (&ids[place], &ids[59]));
        assert!(
            previous.centre.contains(1000.0) || (previous.centre.estimate - 1000.0).abs() < 10.0
        );
        assert!((current.centre.estimate - 900.0).abs() < 10.0);
        let ratio = found.ratio.unwrap();
        let quotient = current.centre.estimate / previous.centre.estimate;
        assert_eq!(ratio.estimate, quotient);
        assert!(ratio.lo <= quotient && quotient <= ratio.hi);
        assert!((ratio.estimate - 0.9).abs() < 0.01 && ratio.hi < 0.93 && ratio.lo > 0.87);
    }
}

#[test]
fn noise_alone_shows_no_change_in_at_least_ninety_five_of_a_hundred_histories() {
    let mut alarms = 0;
    for seed in 0..100 {
        let mut history = memory();
        record_figures(&mut history, 0, &noise(seed, 1000.0, 60));
        let found = trend(&mut history);
        alarms += usize::from(!found.change_points.is_empty());
        if found.change_points.is_empty() {
            assert!(found.previous.is_none() && found.ratio.is_none());
            assert_eq!(found.current.unwrap().runs, 60);
        }
    }
    assert!(alarms <= 5, "{alarms} false alarms");
}

#[test]
fn a_single_slow_run_is_no_change_even_when_it_is_the_last() {
    for place in [30, 59] {
        let mut history = memory();
        let mut figures = noise(7, 1000.0, 60);
        figures[place] = 300.0;
        record_figures(&mut history, 0, &figures);
        assert!(trend(&mut history).change_points.is_empty());
    }
}

#[test]
fn runs_of_another_machine_build_or_setting_are_on_another_line() {
    type Alter = fn(&mut Document);
    let others: [Alter; 9] = [
        |one| one.environment.cpu = "Model 8".to_owned(),
        |one| one.environment.cores = 64,
        |one| one.environment.kernel = "7.0.1".to_owned(),
        |one| one.environment.cpu_features = vec!["vaes".to_owned()],
        |one| one.tool.profile = "debug".to_owned(),
        |one| one.cases[0].load.rate_per_s = Some(5.0),
        |one| one.cases[0].load.cap = 64,
        |one| {
            one.cases[0]
                .parameters
                .insert("size_bytes".to_owned(), "1024".to_owned());
        },
        |one| {
            let facts = [("module_sha256".to_owned(), "00".to_owned())].into();
            one.environment.targets.insert("local".to_owned(), facts);
        },
    ];
    let mut history = memory();
    for number in 0..40 {
        let mut document = achieved(
            2 * number,
            1000.0 + f64::from(u32::try_from(number % 3).unwrap()),
        );
        history.record(&document).unwrap();
        // Recorded between the others, and ten times as fast.
        document.run = small(2 * number + 1).run;
        document.cases[0].achieved_per_s = 10_000.0;
        others[usize::try_from(number).unwrap() % others.len()](&mut document);
        history.record(&document).unwrap();
    }
    let first = small(0);
    let key = SeriesKey::of(&first, &first.cases[0]);
    let found = history.trend_of("seal", Metric::Throughput, key).unwrap();
    assert_eq!(found.points.len(), 40);
    assert!(found.points.iter().all(|point| point.value < 1003.0));
    assert!(found.change_points.is_empty());
    // Without a key it is the newest run that says what is comparable.
    let newest = trend(&mut history);
    assert!(newest.points.len() < 10 && newest.points.iter().all(|point| point.value > 9999.0));
}

#[test]
fn figures_that_do_not_mean_what_they_say_are_in_the_series_and_not_in_the_trend() {
    let mut history = memory();
    let unsound = [
        Word::WrongOutput,
        Word::Saturated,
        Word::GeneratorLimited,
        Word::Interrupted,
    ];
    for (number, word) in (0..).zip(unsound) {
        let mut document = achieved(number, 1.0);
        document.cases[0].verdicts = vec![Word::Valid, word];
        history.record(&document).unwrap();
    }
    let mut missed = achieved(10, 1000.0);
    missed.cases[0].verdicts = vec![Word::SloMissed];
    history.record(&missed).unwrap();
    let found = trend(&mut history);
    let values: Vec<f64> = found.points.iter().map(|point| point.value).collect();
    assert_eq!(values, [1000.0]);
    let all = history
        .case_series("seal", Metric::Throughput, &found.key)
        .unwrap();
    assert_eq!(all.len(), 5);
    assert_eq!(all.iter().filter(|point| point.sound).count(), 1);
    assert_eq!(all[0].verdict, "WRONG-OUTPUT");
}

#[test]
fn quantiles_that_are_withheld_or_only_a_bound_have_no_point() {
    let mut history = memory();
    let quantile = |value, bound| Quantile {
        value,
        bound,
        ..Quantile::default()
    };
    let fine = Quantile {
        value: Some(12),
        value_ps: Some(12_345),
        lo: Some(12),
        hi: Some(13),
        lo_ps: Some(12_001),
        hi_ps: Some(13_002),
        ..Quantile::default()
    };
    let all = [
        quantile(Some(5), Bound::Exact),
        quantile(None, Bound::TooFewSamples),
        quantile(Some(7), Bound::AtLeast),
        fine,
    ];
    for (number, quantile) in (0..).zip(all) {
        let mut document = small(number);
        document.cases[0].service = Some(Latency {
            quantiles: [("p99.9_ns".to_owned(), quantile)].into(),
            ..Latency::default()
        });
        history.record(&document).unwrap();
    }
    let found = history.trend("seal", Metric::P999).unwrap().unwrap();
    let values: Vec<f64> = found.points.iter().map(|point| point.value).collect();
    assert_eq!(values, [5.0, 12.345]);
    let interval = found.points[1].interval.clone().unwrap();
    assert_eq!((interval.lo, interval.hi), (12.001, 13.002));
    assert!(
        history
            .trend("seal", Metric::P99)
            .unwrap()
            .unwrap()
            .points
            .is_empty()
    );
}

#[test]
fn response_is_followed_where_there_is_one_and_never_mixed_with_service() {
    let mut history = memory();
    let mut document = small(1);
    let latency = |value| {
        let quantile = Quantile {
            value: Some(value),
            lo: Some(1),
            hi: Some(9),
            ..Quantile::default()
        };
        Some(Latency {
            quantiles: [("p50_ns".to_owned(), quantile)].into(),
            ..Latency::default()
        })
    };
    document.cases[0].response = latency(8);
    document.cases[0].service = latency(3);
    history.record(&document).unwrap();
    let found = history.trend("seal", Metric::P50).unwrap().unwrap();
    assert_eq!(found.points.len(), 1);
    assert_eq!(found.points[0].value.to_bits(), 8.0_f64.to_bits());
    let interval = found.points[0].interval.as_ref().unwrap();
    assert!(interval.lo < 2.0 && interval.hi > 8.0);
}

#[test]
fn a_case_that_nobody_ran_has_no_trend() {
    let mut history = memory();
    assert_eq!(history.trend("seal", Metric::Throughput).unwrap(), None);
    record_figures(&mut history, 0, &[1.0]);
    assert_eq!(history.trend("open", Metric::Throughput).unwrap(), None);
    let mut other = small(9);
    other.environment.cores = 3;
    let key = SeriesKey::of(&other, &other.cases[0]);
    let empty = history
        .trend_of("seal", Metric::Throughput, key.clone())
        .unwrap();
    assert!(empty.points.is_empty() && empty.current.is_none() && empty.change_points.is_empty());
    assert!(
        history
            .case_series("seal", Metric::Throughput, &key)
            .unwrap()
            .is_empty()
    );
}

#[test]
fn figures_that_are_not_positive_have_levels_and_no_ratio() {
    let mut history = memory();
    let mut figures = vec![0.0; 30];
    figures.extend(noise(5, 1000.0, 30));
    record_figures(&mut history, 0, &figures);
    let found = trend(&mut history);
    assert_eq!(found.change_points.len(), 1);
    assert!(found.previous.is_some() && found.ratio.is_none());
}

#[test]
fn a_change_is_remembered_when_many_runs_have_come_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("history");
    let mut history = History::open(&path).unwrap();
    let changed = record_figures(&mut history, 0, &step(11, 40, 40))[40].clone();
    assert_eq!(trend(&mut history).change_points[0].run, changed);
    // The search sees the newest 250 runs; these are more.
    record_figures(&mut history, 80, &noise(13, 900.0, 400));
    drop(history);
    let found = trend(&mut History::open(&path).unwrap());
    let runs: Vec<&str> = found
        .change_points
        .iter()
        .map(|one| one.run.as_str())
        .collect();
    assert_eq!(runs[0], changed.as_str());
    assert_eq!(found.change_points[0].index, 40);
    assert!((found.change_points[0].before - 1000.0).abs() < 15.0);
}

#[test]
fn a_change_that_later_runs_do_not_bear_out_is_forgotten() {
    let mut history = memory();
    // Fourteen slower runs are a change; among later ones that alternate, the same place is none.
    record_figures(&mut history, 0, &step(21, 6, 14));
    assert_eq!(trend(&mut history).change_points.len(), 1);
    let pair = [880.0, 1020.0];
    let mixed: Vec<f64> = pair.into_iter().cycle().take(200).collect();
    record_figures(&mut history, 20, &mixed);
    let now = trend(&mut history);
    assert!(now.change_points.iter().all(|one| one.index != 6));
    // Nor does it come back when the search has moved on.
    record_figures(&mut history, 220, &mixed);
    record_figures(&mut history, 420, &mixed);
    let later = trend(&mut history);
    assert!(later.change_points.iter().all(|one| one.index != 6));
}

#[test]
fn a_run_that_is_recorded_late_stands_where_it_started() {
    let mut history = memory();
    for (number, figure) in [(0, 1.0), (3, 4.0), (1, 2.0), (2, 3.0)] {
        record_figures(&mut history, number, &[figure]);
    }
    let found = trend(&mut history);
    let values: Vec<f64> = found.points.iter().map(|point| point.value).collect();
    assert_eq!(values, [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn a_change_at_a_pruned_run_is_forgotten_with_it() {
    let mut history = memory();
    record_figures(&mut history, 0, &step(31, 20, 40));
    assert_eq!(trend(&mut history).change_points.len(), 1);
    history.prune(30).unwrap();
    let found = trend(&mut history);
    assert_eq!(found.points.len(), 30);
    assert!(found.change_points.is_empty() && found.previous.is_none());
}
