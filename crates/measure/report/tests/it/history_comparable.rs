//! What differs is named, field by field, and what does not matter is not.

use keywright_measure::document::{Document, Latency, PhaseRecord};
use keywright_measure::verdict::Word;
use keywright_report::comparability::{Comparability, SeriesKey};

use crate::history_samples::small;

type Alter = fn(&mut Document);

fn facts(document: &mut Document, fact: &str, value: &str) {
    let facts = document
        .environment
        .targets
        .entry("local".to_owned())
        .or_default();
    facts.insert(fact.to_owned(), value.to_owned());
}

const DECISIVE: [(&str, Alter); 22] = [
    ("environment.cpu", |one| {
        one.environment.cpu = "Model 8".to_owned()
    }),
    ("environment.cores", |one| one.environment.cores = 2),
    ("environment.machine_cores", |one| {
        one.environment.machine_cores = 2
    }),
    ("environment.cpu_features", |one| {
        one.environment.cpu_features.push("vaes".to_owned())
    }),
    ("environment.kernel_major", |one| {
        one.environment.kernel = "7.0.0-1".to_owned()
    }),
    ("tool.profile", |one| one.tool.profile = "debug".to_owned()),
    ("tool.features", |one| {
        one.tool.features.push("lto".to_owned())
    }),
    ("load.mode", |one| {
        one.cases[0].load.mode = "open".to_owned()
    }),
    ("load.arrival", |one| {
        one.cases[0].load.arrival = Some("poisson".to_owned())
    }),
    ("load.rate_per_s", |one| {
        one.cases[0].load.rate_per_s = Some(0.5)
    }),
    ("load.cap", |one| one.cases[0].load.cap = 9),
    ("load.connections", |one| {
        one.cases[0].load.connections = Some(2)
    }),
    ("load.duration_ns", |one| one.cases[0].load.duration_ns = 5),
    ("load.phases", |one| {
        one.cases[0].load.phases.push(PhaseRecord::default())
    }),
    ("op", |one| one.cases[0].op = "aead.open".to_owned()),
    ("unit", |one| one.cases[0].unit = "records".to_owned()),
    ("parameters.size_bytes", |one| {
        one.cases[0]
            .parameters
            .insert("size_bytes".to_owned(), "16".to_owned());
    }),
    ("stand_in", |one| one.cases[0].verdicts.push(Word::StandIn)),
    ("targets.local.module_sha256", |one| {
        facts(one, "module_sha256", "ab")
    }),
    ("targets.local.module", |one| {
        facts(one, "module", "SoftHSM 2.6")
    }),
    ("timing", |one| {
        one.cases[0].service = Some(Latency {
            batch_k: Some(64),
            ..Latency::default()
        });
    }),
    ("environment.cpu", |one| one.environment.cpu.clear()),
];

#[test]
fn each_setting_that_a_figure_depends_on_is_named_when_it_differs() {
    for (field, alter) in DECISIVE {
        let (current, mut baseline) = (small(1), small(2));
        alter(&mut baseline);
        for (one, other) in [(&current, &baseline), (&baseline, &current)] {
            let found = Comparability::between(one, other);
            assert!(!found.is_comparable(), "{field}");
            let fields: Vec<&str> = found
                .differences()
                .iter()
                .map(|one| one.field.as_str())
                .collect();
            assert_eq!(fields, [field]);
        }
        let key = |document: &Document| SeriesKey::of(document, &document.cases[0]);
        assert_ne!(key(&current), key(&baseline), "{field}");
    }
}

#[test]
fn the_same_module_in_another_folder_is_the_same_and_a_module_without_a_hash_is_where_it_is() {
    let (mut current, mut baseline) = (small(1), small(2));
    facts(&mut current, "module", "/usr/lib/softhsm/libsofthsm2.so");
    facts(&mut baseline, "module", "/opt/libsofthsm2.so");
    assert!(!Comparability::between(&current, &baseline).is_comparable());
    for one in [&mut current, &mut baseline] {
        facts(one, "module_sha256", "ab");
    }
    assert!(Comparability::between(&current, &baseline).is_comparable());
    let key = |document: &Document| SeriesKey::of(document, &document.cases[0]);
    assert_eq!(key(&current), key(&baseline));
    facts(&mut baseline, "module_sha256", "cd");
    assert!(!Comparability::between(&current, &baseline).is_comparable());
}

#[test]
fn what_one_wants_to_compare_or_what_does_not_matter_is_no_difference() {
    let indifferent: [Alter; 12] = [
        |one| one.tool.version = "9.9".to_owned(),
        |one| one.tool.commit = Some("abc".to_owned()),
        |one| one.run.seed = 9,
        |one| one.run.command = "other".to_owned(),
        |one| one.environment.kernel = "6.99.1".to_owned(),
        |one| one.environment.load_average = Some(4.0),
        |one| one.environment.memory_bytes = 1,
        |one| one.cases[0].achieved_per_s = 1.0,
        |one| one.cases[0].load.warmup_ns = 7,
        |one| facts(one, "version", "1.2.3"),
        |one| one.cases[0].verdicts.push(Word::Noisy),
        |one| {
            one.cases[0].service = Some(Latency {
                batch_k: Some(1),
                ..Latency::default()
            });
        },
    ];
    for alter in indifferent {
        let (mut current, mut baseline) = (small(1), small(2));
        current.environment.kernel = "6.1.0-13-amd64".to_owned();
        baseline.environment.kernel = "6.12".to_owned();
        alter(&mut current);
        let found = Comparability::between(&current, &baseline);
        assert!(found.is_comparable(), "{:?}", found.differences());
    }
}

#[test]
fn the_length_is_an_outcome_where_the_number_of_operations_is_given() {
    let (mut current, mut baseline) = (small(1), small(2));
    for (document, duration) in [(&mut current, 5), (&mut baseline, 6)] {
        document.cases[0].load.iterations = Some(1000);
        document.cases[0].load.duration_ns = duration;
    }
    assert!(Comparability::between(&current, &baseline).is_comparable());
    baseline.cases[0].load.iterations = Some(500);
    for (mode, comparable) in [("closed", true), ("open", false)] {
        for document in [&mut current, &mut baseline] {
            mode.clone_into(&mut document.cases[0].load.mode);
        }
        let found = Comparability::between(&current, &baseline);
        assert_eq!(found.is_comparable(), comparable, "{mode}");
    }
}

#[test]
fn the_order_in_which_features_are_listed_says_nothing() {
    let (mut current, mut baseline) = (small(1), small(2));
    current.environment.cpu_features = ["aes", "avx2"].map(str::to_owned).into();
    baseline.environment.cpu_features = ["avx2", "aes", "aes"].map(str::to_owned).into();
    assert!(Comparability::between(&current, &baseline).is_comparable());
}

#[test]
fn two_batch_sizes_are_comparable_and_single_operations_with_neither() {
    let batched = |k| {
        let mut document = small(1);
        document.cases[0].service = Some(Latency {
            batch_k: k,
            ..Latency::default()
        });
        document
    };
    let pair = |one, other| Comparability::between(&batched(one), &batched(other)).is_comparable();
    assert!(pair(Some(64), Some(128)));
    assert!(!pair(Some(64), Some(1)));
    assert!(!pair(None, Some(2)));
}

#[test]
fn runs_without_a_common_case_are_not_comparable() {
    let (current, mut baseline) = (small(1), small(2));
    baseline.cases.clear();
    let found = Comparability::between(&current, &baseline);
    assert!(found.differences().is_empty() && !found.is_comparable());
    assert_eq!(found.added(), ["seal"]);
    assert!(!Comparability::between(&baseline, &baseline).is_comparable());
}

#[test]
fn new_missing_and_renamed_cases_are_told_apart() {
    let (mut current, mut baseline) = (small(1), small(2));
    let case = current.cases[0].clone();
    let named = |id: &str, op: &str| {
        let mut case = case.clone();
        (case.id, case.op) = (id.to_owned(), op.to_owned());
        case
    };
    current
        .cases
        .extend([named("new", "sign"), named("verify-2", "verify")]);
    baseline
        .cases
        .extend([named("verify", "verify"), named("old", "hash")]);
    let found = Comparability::between(&current, &baseline);
    assert!(found.is_comparable());
    assert_eq!(found.shared(), ["seal"]);
    assert_eq!(
        (found.added(), found.missing()),
        (&["new".to_owned()][..], &["old".to_owned()][..])
    );
    assert_eq!(
        found.renamed(),
        [("verify-2".to_owned(), "verify".to_owned())]
    );
}

#[test]
fn a_difference_says_of_which_case_what_is_and_what_was() {
    let (mut current, mut baseline) = (small(1), small(2));
    current.cases[0].load.rate_per_s = Some(2000.0);
    baseline.environment.cores = 8;
    let mut second = current.cases[0].clone();
    second.id = "open".to_owned();
    current.cases.push(second.clone());
    second.load.rate_per_s = Some(2000.0);
    baseline.cases.push(second);
    let found = Comparability::between(&current, &baseline);
    let texts: Vec<String> = found
        .differences()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        texts,
        [
            "environment.cores is 4, in the baseline 8",
            "seal: load.rate_per_s is 2000, in the baseline absent",
        ]
    );
    assert_eq!(found.of_case("seal").count(), 2);
    assert_eq!(found.of_case("open").count(), 1);
}

#[test]
fn names_cannot_be_chosen_so_that_two_settings_look_like_one() {
    let with = |parameters: &[(&str, &str)]| {
        let mut document = small(1);
        let all = parameters
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        document.cases[0].parameters = all.collect();
        SeriesKey::of(&document, &document.cases[0])
    };
    assert_ne!(
        with(&[("a", "1\",\"parameters.b\":\"2")]),
        with(&[("a", "1"), ("b", "2")])
    );
    assert_ne!(with(&[("a", "1\nb=2")]), with(&[("a", "1"), ("b", "2")]));
}
