//! Gates on simulated suites: how often they cry wolf, what they find, and that noise never passes.

use keywright_measure::compare::{
    self, CompareError, Compared, Difference, Medium, Metric, pairs_needed, runs_needed,
};
use keywright_measure::document::{Case, Comparison, RunRecord};
use keywright_measure::gate::{self, Condition, ConditionError, Rules};
use keywright_measure::judge;
use keywright_measure::stats::interval::Interval;
use keywright_measure::stats::random::Generator;
use keywright_measure::verdict::{Exit, Word};

/// A case whose runs had these rates.
fn case(id: &str, rates: &[f64]) -> Case {
    let runs = rates.iter().zip(0..).map(|(rate, run)| RunRecord {
        run,
        achieved_per_s: *rate,
        ..RunRecord::default()
    });
    Case {
        id: id.to_owned(),
        runs: runs.collect(),
        verdicts: vec![Word::Valid],
        ..Case::default()
    }
}

/// Rates of runs around `rate`, with so much noise between runs.
fn rates(rate: f64, noise: f64, runs: usize, generator: &mut Generator) -> Vec<f64> {
    (0..runs)
        .map(|_| rate * (noise * generator.normal()).exp())
        .collect()
}

/// Twenty cases of different speed and noise, in which the first may be slower by `slower`.
struct Made {
    runs: usize,
    noise: (f64, f64),
    slower: f64,
    /// What the canary saw.
    noise_percent: Option<f64>,
}

impl Made {
    fn suite(&self, generator: &mut Generator) -> (Vec<Case>, Vec<Case>) {
        let both = (0..20).map(|number| {
            let id = format!("case {number}");
            let rate = 100.0 * (8.0 * generator.uniform()).exp();
            let noise = self.noise.0 + (self.noise.1 - self.noise.0) * generator.uniform();
            let slower = if number == 0 { 1.0 + self.slower } else { 1.0 };
            let [now, before] = [rate / slower, rate].map(|rate| {
                let mut case = case(&id, &rates(rate, noise, self.runs, generator));
                case.checks.noise_percent = self.noise_percent;
                case
            });
            (now, before)
        });
        both.unzip()
    }

    fn compare(&self, seed: u64, rules: &Rules) -> Vec<Comparison> {
        let (now, before) = self.suite(&mut Generator::new(seed));
        let Compared {
            differences,
            refused,
            ..
        } = compare::suite(&now, ("main", &before), &[Metric::Throughput]);
        assert_eq!(refused, []);
        gate::decide(&differences, rules)
    }
}

const SUITES: u64 = 200;

fn word(comparison: &Comparison) -> Word {
    comparison.verdict.unwrap()
}

fn asked(threshold: f64) -> Rules {
    Rules {
        threshold: Some(threshold),
        ..Rules::default()
    }
}

#[test]
fn of_200_suites_without_a_change_at_most_five_percent_show_a_regression() {
    let made = Made {
        runs: 6,
        noise: (0.005, 0.03),
        slower: 0.0,
        noise_percent: Some(0.5),
    };
    // Without any threshold the tests alone have to hold the line.
    for rules in [asked(0.0), Rules::default()] {
        let alarms = |seed: &u64| {
            let rules = Rules { ..rules };
            made.compare(*seed, &rules)
                .iter()
                .any(|found| word(found) == Word::Regression)
        };
        let suites = (0..SUITES).filter(alarms).count();
        assert!(suites <= 10, "{suites} of {SUITES}");
    }
}

#[test]
fn of_200_suites_of_pairs_without_a_change_at_most_five_percent_show_a_regression() {
    let made = Made {
        runs: 10,
        noise: (0.005, 0.03),
        slower: 0.0,
        noise_percent: None,
    };
    let alarms = |seed: &u64| {
        let (now, before) = made.suite(&mut Generator::new(*seed));
        let pairs = now.iter().zip(&before);
        let found: Result<Vec<Difference>, _> = pairs
            .map(|(a, b)| compare::paired(a, b, Metric::Throughput, 20))
            .collect();
        let found = gate::decide(&found.unwrap(), &asked(0.0));
        found.iter().any(|found| word(found) == Word::Regression)
    };
    let suites = (0..SUITES).filter(alarms).count();
    assert!(suites <= 10, "{suites} of {SUITES}");
}

#[test]
fn a_slow_down_of_five_percent_is_found_in_at_least_90_percent_of_suites() {
    // A quiet machine, and a threshold below what is to be found.
    let made = Made {
        runs: 6,
        noise: (0.005, 0.01),
        slower: 0.05,
        noise_percent: Some(0.6),
    };
    let found = (0..SUITES)
        .filter(|seed| word(&made.compare(*seed, &asked(0.02))[0]) == Word::Regression)
        .count();
    assert!(found >= 180, "{found} of {SUITES}");
}

#[test]
fn pairs_of_one_session_find_it_through_a_drift_that_hides_it_from_groups() {
    let mut found = 0;
    for seed in 0..SUITES {
        let mut generator = Generator::new(seed);
        let drift: Vec<f64> = (0..6).map(|_| (0.2 * generator.normal()).exp()).collect();
        let mut side = |rate: f64| -> Vec<f64> {
            drift
                .iter()
                .map(|drift| rate * drift * (0.005 * generator.normal()).exp())
                .collect()
        };
        let (a, b) = (case("a", &side(1000.0)), case("b", &side(1050.0)));
        let pairs = compare::paired(&a, &b, Metric::Throughput, 1).unwrap();
        let groups = compare::stored(&a, &b, "b", Metric::Throughput, 1).unwrap();
        // The groups overlap almost wholly; delta, which looks at groups, is all that pairs share.
        assert!(pairs.cost.contains(1.05) || (pairs.cost.estimate / 1.05 - 1.0).abs() < 0.02);
        assert!(groups.cost.lo < 1.0 && groups.cost.hi > 1.0 || groups.p > 0.01);
        found += u32::from(pairs.p <= 0.05 && pairs.cost.lo > 1.0);
    }
    assert!(found >= 190, "{found}");
}

#[test]
fn noisy_suites_are_inconclusive_and_never_pass() {
    for noise_percent in [Some(5.0), Some(12.0), None] {
        let made = Made {
            runs: 6,
            noise: (0.06, 0.12),
            slower: 0.0,
            noise_percent,
        };
        for seed in 0..SUITES {
            for found in made.compare(seed, &Rules::default()) {
                match word(&found) {
                    Word::Inconclusive => {}
                    Word::Pass if noise_percent.is_none() => {
                        // Nobody said that it is noisy; then only a narrow interval passes.
                        let interval = found.interval.unwrap();
                        assert!(interval.lo > 0.95 && interval.hi < 1.05);
                    }
                    Word::Regression | Word::Improved => assert!(found.p.unwrap() <= 0.05),
                    other => panic!("{other}"),
                }
            }
        }
    }
}

#[test]
fn ten_percent_on_a_noisy_machine_is_found_or_inconclusive_and_never_passes() {
    for (noise, noise_percent) in [(0.04, 4.0), (0.08, 8.0), (0.02, 3.5)] {
        let made = Made {
            runs: 6,
            noise: (noise, noise),
            slower: 0.10,
            noise_percent: Some(noise_percent),
        };
        for seed in 0..SUITES {
            let found = word(&made.compare(seed, &Rules::default())[0]);
            assert!(
                matches!(found, Word::Regression | Word::Inconclusive),
                "{found}"
            );
        }
    }
}

#[test]
fn quiet_suites_without_a_change_pass() {
    let made = Made {
        runs: 6,
        noise: (0.005, 0.01),
        slower: 0.0,
        noise_percent: Some(0.5),
    };
    let passed = (0..SUITES).flat_map(|seed| made.compare(seed, &Rules::default()));
    let passed = passed.filter(|found| word(found) == Word::Pass).count();
    assert!(passed as f64 >= 0.99 * 20.0 * SUITES as f64, "{passed}");
}

#[test]
fn too_few_runs_are_refused_with_the_number_needed() {
    for (comparisons, runs) in [
        (1, 4),
        (2, 5),
        (6, 5),
        (7, 6),
        (23, 6),
        (24, 7),
        (85, 7),
        (86, 8),
    ] {
        assert_eq!(runs_needed(comparisons), runs, "{comparisons}");
    }
    for (comparisons, pairs) in [(1, 6), (6, 8), (25, 10), (102, 12)] {
        assert_eq!(pairs_needed(comparisons), pairs, "{comparisons}");
    }
}

#[test]
fn what_could_show_no_difference_is_refused_before_it_is_tried() {
    let (three, four) = ([100.0, 101.0, 102.0], [100.0, 101.0, 102.0, 103.0]);
    let refused = |now: &[f64], before: &[f64], comparisons| {
        compare::stored(
            &case("a", now),
            &case("a", before),
            "main",
            Metric::Throughput,
            comparisons,
        )
        .unwrap_err()
    };
    let error = refused(&four, &three, 1);
    assert_eq!(
        error,
        CompareError::TooFewRuns {
            case: "a".to_owned(),
            current: 4,
            baseline: 3,
            needed: 4
        }
    );
    assert_eq!(
        error.to_string(),
        "a has 4 runs and its baseline 3; 4 of each are needed"
    );
    assert_eq!(error.word(), Word::NotComparable);
    assert!(matches!(
        refused(&four, &four, 2),
        CompareError::TooFewRuns { needed: 5, .. }
    ));
    assert!(matches!(
        refused(&[], &four, 1),
        CompareError::TooFewRuns { current: 0, .. }
    ));
    assert!(matches!(
        refused(&[1.0], &[1.0; 100], 1),
        CompareError::TooFewRuns { current: 1, .. }
    ));
    let error = compare::paired(&case("a", &four), &case("b", &four), Metric::Throughput, 1);
    assert!(matches!(
        error,
        Err(CompareError::TooFewPairs {
            pairs: 4,
            needed: 6,
            ..
        })
    ));
}

#[test]
fn only_runs_that_took_turns_are_pairs() {
    let a = case("a", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    let mut b = case("b", &[2.0, 4.0, 6.0, 8.0, 10.0, 12.0, 14.0]);
    b.runs.remove(2);
    b.runs.reverse();
    let found = compare::paired(&a, &b, Metric::Throughput, 1).unwrap();
    assert!((found.cost.estimate - 2.0).abs() < 1e-9);
    assert!(found.cost.hi - found.cost.lo < 1e-9);
    b.runs.pop();
    assert!(compare::paired(&a, &b, Metric::Throughput, 1).is_err());
}

#[test]
fn a_cost_above_one_is_worse_and_the_ratio_is_that_of_the_figures() {
    let now = case("a", &[50.0, 51.0, 52.0, 53.0]);
    let before = case("a", &[100.0, 101.0, 102.0, 103.0]);
    let found = compare::stored(&now, &before, "main", Metric::Throughput, 1).unwrap();
    assert!(found.cost.lo > 1.8 && found.delta == 1.0);
    let ratio = found.ratio();
    assert_eq!(ratio.estimate, found.current / found.baseline);
    assert!(ratio.hi < 0.6 && found.shift() == -1.0);
    assert!((found.current - 51.5).abs() < 1e-9 && (found.baseline - 101.5).abs() < 1e-9);
    let with_times = |times: [u64; 4]| {
        let mut case = case("a", &[1.0; 4]);
        for (run, time) in case.runs.iter_mut().zip(times) {
            run.p50_ns = Some(time);
        }
        case
    };
    let (now, before) = (
        with_times([50, 51, 52, 53]),
        with_times([100, 101, 102, 103]),
    );
    let found = compare::stored(&now, &before, "main", Metric::P50, 1).unwrap();
    assert!(found.cost.hi < 0.6 && found.delta == -1.0);
    assert_eq!(
        (found.ratio().estimate, found.shift()),
        (51.5 / 101.5, -1.0)
    );
}

/// A difference of `ratio`, with an interval of `half` on each side, that chance does not explain.
fn difference(ratio: f64, half: f64) -> Difference {
    Difference {
        case: "a".to_owned(),
        against: "main".to_owned(),
        metric: Metric::Throughput,
        medium: Medium::Local,
        cost: Interval {
            estimate: ratio,
            lo: ratio - half,
            hi: ratio + half,
            level: 0.95,
        },
        p: 0.001,
        delta: if ratio > 1.0 { 1.0 } else { -1.0 },
        current: 1.0,
        baseline: 1.0,
        noise_percent: None,
        doubts: Vec::new(),
    }
}

fn decided(difference: Difference, rules: &Rules) -> Word {
    word(&gate::decide(&[difference], rules)[0])
}

/// `ratio` with an interval that is as wide on both sides as ratios go.
fn by_factor(ratio: f64, factor: f64) -> Difference {
    let mut difference = difference(ratio, 0.0);
    (difference.cost.lo, difference.cost.hi) = (ratio / factor, ratio * factor);
    difference
}

fn mirrored(word: Word) -> Word {
    match word {
        Word::Regression => Word::Improved,
        Word::Improved => Word::Regression,
        other => other,
    }
}

#[test]
fn a_change_and_its_inverse_are_judged_alike() {
    for threshold in [0.05, 0.1, 0.5, 1.0, 3.0] {
        let rules = Rules {
            threshold: Some(threshold),
            noise_percent: None,
        };
        for step in 1..200 {
            for factor in [1.001, 1.02, 1.3] {
                let ratio = 1.0 + f64::from(step) * 0.0307;
                let slower = decided(by_factor(ratio, factor), &rules);
                let faster = decided(by_factor(1.0 / ratio, factor), &rules);
                assert_eq!(faster, mirrored(slower), "{ratio} {factor} {threshold}");
            }
        }
    }
}

#[test]
fn an_improvement_can_be_shown_whatever_the_threshold() {
    for threshold in [1.0, 1.5, 4.0] {
        let rules = Rules {
            threshold: Some(threshold),
            noise_percent: None,
        };
        let reached = 0.99 / (1.0 + threshold);
        assert_eq!(decided(by_factor(reached, 1.01), &rules), Word::Improved);
        assert_eq!(
            decided(by_factor(1.0 / reached, 1.01), &rules),
            Word::Regression
        );
        let missed = 1.02 / (1.0 + threshold);
        assert_ne!(decided(by_factor(missed, 1.01), &rules), Word::Improved);
    }
    // Noise of a third of all asks for half the time as well.
    let noisy = Rules {
        threshold: None,
        noise_percent: Some(40.0),
    };
    assert_eq!(decided(by_factor(0.40, 1.01), &noisy), Word::Improved);
    assert_eq!(decided(by_factor(0.50, 1.01), &noisy), Word::Inconclusive);
}

#[test]
fn a_wide_threshold_passes_no_more_on_the_fast_side_than_on_the_slow_one() {
    let rules = Rules {
        threshold: Some(1.0),
        noise_percent: None,
    };
    // Within 1 - 100 %, which any ratio is, but not within a factor of two.
    assert_ne!(decided(by_factor(0.45, 1.2), &rules), Word::Pass);
    assert_ne!(decided(by_factor(2.2, 1.2), &rules), Word::Pass);
    assert_eq!(decided(by_factor(0.7, 1.2), &rules), Word::Pass);
    assert_eq!(decided(by_factor(1.4, 1.2), &rules), Word::Pass);
}

#[test]
fn each_part_of_the_decision_is_needed() {
    let rules = Rules::default();
    let clear = difference(1.10, 0.02);
    assert_eq!(decided(clear.clone(), &rules), Word::Regression);
    assert_eq!(decided(difference(0.90, 0.02), &rules), Word::Improved);
    let by_chance = Difference {
        p: 0.06,
        ..clear.clone()
    };
    let overlapping = Difference {
        delta: 0.3,
        ..clear.clone()
    };
    let wide = difference(1.10, 0.11);
    let below_threshold = difference(1.04, 0.02);
    for doubtful in [by_chance, overlapping, wide, below_threshold] {
        assert_eq!(
            decided(doubtful.clone(), &rules),
            Word::Inconclusive,
            "{doubtful:?}"
        );
    }
    assert_eq!(decided(difference(1.02, 0.02), &rules), Word::Pass);
    assert_eq!(decided(difference(0.98, 0.02), &rules), Word::Pass);
    // Not shown to differ is not shown to be equal.
    let unknown = Difference {
        p: 1.0,
        delta: 0.0,
        ..difference(1.0, 0.2)
    };
    assert_eq!(decided(unknown, &rules), Word::Inconclusive);
    // Twenty of them together are judged more strictly than one alone.
    let many = vec![Difference { p: 0.01, ..clear }; 20];
    assert!(
        gate::decide(&many, &rules)
            .iter()
            .all(|found| word(found) == Word::Inconclusive)
    );
    assert!(gate::decide(&[], &rules).is_empty());
}

#[test]
fn thresholds_follow_medium_metric_and_noise_and_noise_widens_no_pass() {
    let rules = Rules::default();
    let local = difference(1.0, 0.01);
    let network = Difference {
        medium: Medium::Network,
        ..local.clone()
    };
    let tail = Difference {
        metric: Metric::P99,
        ..local.clone()
    };
    let noisy = Difference {
        noise_percent: Some(2.5),
        ..local.clone()
    };
    for (difference, threshold) in [
        (&local, 0.05),
        (&network, 0.10),
        (&tail, 0.15),
        (&noisy, 0.075),
    ] {
        assert!((rules.threshold(difference) - threshold).abs() < 1e-12);
    }
    let machine = Rules {
        noise_percent: Some(3.0),
        ..asked(0.01)
    };
    assert!((machine.threshold(&local) - 0.09).abs() < 1e-12);
    let six = Difference {
        noise_percent: Some(2.5),
        ..difference(1.06, 0.01)
    };
    assert_eq!(decided(six, &rules), Word::Inconclusive);
}

#[test]
fn a_case_whose_figure_is_in_doubt_never_passes_but_can_regress() {
    for doubt in [
        Word::Saturated,
        Word::Noisy,
        Word::Interrupted,
        Word::WrongOutput,
        Word::NotSteady,
    ] {
        let same = [100.0, 100.1, 100.2, 100.3];
        let mut now = case("a", &same);
        now.verdicts = vec![doubt];
        let found =
            compare::stored(&now, &case("a", &same), "main", Metric::Throughput, 1).unwrap();
        assert_eq!(found.doubts, [doubt]);
        assert_eq!(decided(found, &Rules::default()), Word::Inconclusive);
        let faster = [200.0, 200.1, 200.2, 200.3];
        let found =
            compare::stored(&now, &case("a", &faster), "main", Metric::Throughput, 1).unwrap();
        assert_eq!(decided(found, &Rules::default()), Word::Regression);
    }
    let same = [100.0, 100.1, 100.2, 100.3];
    let mut sound = case("a", &same);
    sound.verdicts = vec![Word::SloMissed, Word::ClosedLoop];
    let found = compare::stored(&sound, &sound, "main", Metric::Throughput, 1).unwrap();
    assert_eq!(decided(found, &Rules::default()), Word::Pass);
}

#[test]
fn new_and_gone_cases_are_listed_and_not_compared() {
    let rates = [100.0, 101.0, 102.0, 103.0];
    let now = [case("new", &rates), case("same", &rates)];
    let before = [case("same", &rates), case("gone", &rates)];
    let metrics = [Metric::Throughput, Metric::Cpu];
    let compared = compare::suite(&now, ("main", &before), &metrics);
    let cases: Vec<&str> = compared
        .differences
        .iter()
        .map(|found| found.case.as_str())
        .collect();
    assert_eq!(cases, ["same"]);
    let [new, gone] = compared.refused.as_slice() else {
        panic!("{:?}", compared.refused);
    };
    assert_eq!((new.case(), new.word()), ("new", Word::NoBaseline));
    assert_eq!((gone.case(), gone.word()), ("gone", Word::NotComparable));
}

#[test]
fn two_cases_judged_together_need_more_runs_than_one() {
    let rates = [100.0, 101.0, 102.0, 103.0];
    let cases = [case("one", &rates), case("two", &rates)];
    let compared = compare::suite(&cases, ("main", &cases), &[Metric::Throughput]);
    assert!(compared.differences.is_empty());
    let refused = &compared.refused;
    let five = |error: &CompareError| matches!(error, CompareError::TooFewRuns { needed: 5, .. });
    assert!(refused.len() == 2 && refused.iter().all(five));
}

#[test]
fn a_figure_that_some_runs_lack_is_named() {
    let full = case("a", &[1.0; 6]);
    let mut torn = full.clone();
    torn.runs[3].achieved_per_s = 0.0;
    let error = compare::stored(&torn, &full, "main", Metric::Throughput, 1).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a does not have a throughput in every run"
    );
    for metric in [Metric::Cpu, Metric::P99, Metric::Figure] {
        assert!(matches!(
            compare::paired(&full, &full, metric, 1),
            Err(CompareError::NoFigure { .. })
        ));
    }
}

#[test]
fn words_on_cases_decide_the_exit_code() {
    let comparison = |word| Comparison {
        case: "a".to_owned(),
        verdict: Some(word),
        ..Comparison::default()
    };
    for (words, verdict, exit) in [
        (vec![Word::Pass, Word::Pass], Word::Pass, Exit::Ok),
        (
            vec![Word::Pass, Word::Inconclusive],
            Word::Inconclusive,
            Exit::Inconclusive,
        ),
        (
            vec![Word::Improved, Word::Regression],
            Word::Regression,
            Exit::GateFailed,
        ),
        (vec![Word::Improved], Word::Improved, Exit::Ok),
    ] {
        let mut cases = [case("a", &[1.0]), case("b", &[1.0])];
        let comparisons: Vec<Comparison> = words.into_iter().map(comparison).collect();
        gate::mark(&mut cases, &comparisons, &[]);
        assert_eq!(
            (cases[0].verdict(), judge::exit_of(&cases[0])),
            (verdict, exit)
        );
        assert_eq!(cases[1].verdicts, [Word::Valid]);
        assert_eq!(cases[0].validity.is_empty(), verdict == Word::Pass);
    }
    let mut cases = [case("a", &[1.0])];
    let refused = [CompareError::NoBaseline {
        case: "a".to_owned(),
    }];
    gate::mark(&mut cases, &[], &refused);
    assert_eq!(judge::exit_of(&cases[0]), Exit::NotComparable);
}

fn costs(id: &str, cpu: &[f64]) -> Case {
    let mut case = case(id, &vec![1000.0; cpu.len()]);
    for (run, cpu) in case.runs.iter_mut().zip(cpu) {
        run.cpu_ns_per_unit = Some(*cpu);
        run.figure = Some(2.0 * cpu);
        run.achieved_per_s = 1e9 / cpu;
    }
    case
}

#[test]
fn conditions_take_ratios_within_runs_and_the_median_over_them() {
    // The machine slowed down for both in the second run.
    let cases = [
        costs("a", &[110.0, 330.0, 112.0]),
        costs("b", &[100.0, 300.0, 100.0]),
    ];
    for (text, value, holds) in [
        ("a/b<=1.15", 1.1, true),
        ("a/b<=1.05", 1.1, false),
        ("a/b>=1.05", 1.1, true),
        ("rate:a/b>=0.95", 1.0 / 1.1, false),
        ("a<=112", 112.0, true),
        ("a<=111", 112.0, false),
        ("figure:a<=224", 224.0, true),
        ("figure: a / b >= 1", 1.1, true),
    ] {
        let gate = text.parse::<Condition>().unwrap().judge(&cases).unwrap();
        assert!((gate.value - value).abs() < 1e-9, "{text}: {}", gate.value);
        assert_eq!((gate.holds, gate.condition.as_str()), (holds, text));
        let interval = gate.interval.unwrap();
        assert!(interval.lo <= gate.value && gate.value <= interval.hi);
    }
    let two = [costs("a", &[110.0, 120.0])];
    assert_eq!(
        "a<=200"
            .parse::<Condition>()
            .unwrap()
            .judge(&two)
            .unwrap()
            .interval,
        None
    );
}

#[test]
fn a_stroke_can_be_part_of_a_name() {
    let cases = [costs("x/1", &[10.0]), costs("x/2", &[20.0])];
    let value = |text: &str| {
        text.parse::<Condition>()
            .unwrap()
            .judge(&cases)
            .unwrap()
            .value
    };
    assert_eq!((value("x/1<=1"), value("x/1/x/2<=1")), (10.0, 0.5));
}

#[test]
fn conditions_that_cannot_be_read_or_judged_are_errors() {
    for text in [
        "", "a", "a/b", "a/b<1", "a/b==1", "a/b<=x", "a/b<=", "<=1", "a/<=1", "/b<=1", "a<=1<=2",
        "a<=NaN", "a<=inf", "a<=-1", "a>=1<=2", "rate:<=1",
    ] {
        assert_eq!(
            text.parse::<Condition>(),
            Err(ConditionError::Syntax),
            "{text}"
        );
    }
    let cases = [costs("a", &[1.0]), case("b", &[1.0])];
    let error = |text: &str| {
        text.parse::<Condition>()
            .unwrap()
            .judge(&cases)
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        error("a/c<=1"),
        "the gate a/c<=1 names c, which was not measured"
    );
    assert_eq!(
        error("d/b<=1"),
        "the gate d/b<=1 names d, which was not measured"
    );
    assert_eq!(
        error("speed:a<=1"),
        "the gate speed:a<=1 names speed:a, which was not measured"
    );
    assert_eq!(
        error("a/b<=1"),
        "the gate a/b<=1 needs a cpu of b, which was not measured"
    );
    let none = [case("a", &[])];
    assert!(
        "rate:a<=1"
            .parse::<Condition>()
            .unwrap()
            .judge(&none)
            .is_err()
    );
}
