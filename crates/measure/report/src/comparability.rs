//! Whether two runs may be compared, and if not, what differs.
//!
//! A figure depends on the machine, the build and the settings of its case. Each of these is one named
//! setting here, written as the path it has in the JSON form. Two figures are comparable when all their
//! settings are equal; [`SeriesKey`] is the same list as one value, so that the history cannot put a
//! point on a line with which a comparison would refuse it.
//!
//! Not here: judging a difference of figures, which is statistics, and the length of the warm-up, whose
//! effect is checked run by run.

use std::collections::BTreeMap;
use std::fmt;

use keywright_measure::document::{Case, Document, LoadRecord};
use keywright_measure::verdict::Word;

type Settings = BTreeMap<String, String>;

/// A setting in which two runs differ.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The case it is of; absent for the machine and the build.
    pub case: Option<String>,
    /// Its path, such as `environment.cores`, `load.rate_per_s`, `targets.soft.module_sha256`.
    pub field: String,
    /// What the current run has, if it has it.
    pub current: Option<String>,
    /// What the baseline has, if it has it.
    pub baseline: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(case) = &self.case {
            write!(out, "{case}: ")?;
        }
        let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "absent".to_owned());
        write!(
            out,
            "{} is {}, in the baseline {}",
            self.field,
            text(&self.current),
            text(&self.baseline)
        )
    }
}

/// What two documents have in common, and in which settings they differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparability {
    differences: Vec<Difference>,
    shared: Vec<String>,
    added: Vec<String>,
    missing: Vec<String>,
    renamed: Vec<(String, String)>,
}

impl Comparability {
    /// Compares settings, never figures.
    #[must_use]
    pub fn between(current: &Document, baseline: &Document) -> Self {
        let mut differences = Vec::new();
        collect(
            &mut differences,
            None,
            &machine(current),
            &machine(baseline),
        );
        let mut shared = Vec::new();
        for case in &current.cases {
            if let Some(other) = baseline.cases.iter().find(|other| other.id == case.id) {
                let (mine, theirs) = (settings(current, case), settings(baseline, other));
                collect(&mut differences, Some(&case.id), &mine, &theirs);
                shared.push(case.id.clone());
            }
        }
        let mut found = Self {
            differences,
            added: absent_from(current, &shared),
            missing: absent_from(baseline, &shared),
            shared,
            renamed: Vec::new(),
        };
        found.pair_renamed(current, baseline);
        found
    }

    /// Whether there is a case in both, and no setting differs.
    #[must_use]
    pub fn is_comparable(&self) -> bool {
        self.differences.is_empty() && !self.shared.is_empty()
    }

    /// Every difference: first machine and build, then case by case.
    #[must_use]
    pub fn differences(&self) -> &[Difference] {
        &self.differences
    }

    /// The differences that concern one case, those of machine and build among them.
    pub fn of_case<'a>(&'a self, id: &'a str) -> impl Iterator<Item = &'a Difference> {
        self.differences
            .iter()
            .filter(move |one| one.case.as_deref().is_none_or(|case| case == id))
    }

    /// Cases of both, by id.
    #[must_use]
    pub fn shared(&self) -> &[String] {
        &self.shared
    }

    /// Cases that only the current run has.
    #[must_use]
    pub fn added(&self) -> &[String] {
        &self.added
    }

    /// Cases that only the baseline has.
    #[must_use]
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// Cases of equal settings under another id: now, and in the baseline.
    #[must_use]
    pub fn renamed(&self) -> &[(String, String)] {
        &self.renamed
    }

    fn pair_renamed(&mut self, current: &Document, baseline: &Document) {
        for new in &current.cases {
            if !self.added.contains(&new.id) {
                continue;
            }
            let settings_now = settings(current, new);
            let old = baseline.cases.iter().find(|old| {
                self.missing.contains(&old.id) && settings(baseline, old) == settings_now
            });
            if let Some(old) = old {
                self.added.retain(|id| *id != new.id);
                self.missing.retain(|id| *id != old.id);
                self.renamed.push((new.id.clone(), old.id.clone()));
            }
        }
    }
}

/// Everything a figure depends on as one value: figures of equal keys are comparable.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeriesKey(String);

impl SeriesKey {
    /// The key of one case of a run.
    #[must_use]
    pub fn of(document: &Document, case: &Case) -> Self {
        let all: serde_json::Value = machine(document)
            .into_iter()
            .chain(settings(document, case))
            .collect();
        Self(all.to_string())
    }

    /// The key as text: a JSON object of the settings, sorted by path.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    pub(crate) const fn from_stored(text: String) -> Self {
        Self(text)
    }
}

// === The settings ===

/// Machine and build.
fn machine(document: &Document) -> Settings {
    let environment = &document.environment;
    let tool = &document.tool;
    let kernel = environment
        .kernel
        .split(['.', '-'])
        .next()
        .unwrap_or_default();
    [
        ("environment.cores", environment.cores.to_string()),
        ("environment.cpu", environment.cpu.clone()),
        (
            "environment.cpu_features",
            sorted(&environment.cpu_features),
        ),
        ("environment.kernel_major", kernel.to_owned()),
        (
            "environment.machine_cores",
            environment.machine_cores.to_string(),
        ),
        ("tool.features", sorted(&tool.features)),
        ("tool.profile", tool.profile.clone()),
    ]
    .into_iter()
    .map(|(field, value)| (field.to_owned(), value))
    .collect()
}

/// One case: what it did, with which payload, how it was loaded and through which module.
fn settings(document: &Document, case: &Case) -> Settings {
    let mut all = load(&case.load);
    all.insert("op".to_owned(), case.op.clone());
    all.insert("target".to_owned(), case.target.clone());
    all.insert("unit".to_owned(), case.unit.clone());
    all.insert("timing".to_owned(), timing(case).to_owned());
    for (name, value) in &case.parameters {
        all.insert(format!("parameters.{name}"), value.clone());
    }
    // A stand-in speaks a product's protocol; its figures are never held against the product's.
    if case.verdicts.contains(&Word::StandIn) {
        all.insert("stand_in".to_owned(), "true".to_owned());
    }
    let none = BTreeMap::new();
    let facts = document.environment.targets.get(&case.target);
    let facts = facts.unwrap_or(&none);
    for (fact, value) in facts.iter().filter(|(fact, _)| decides(fact, facts)) {
        all.insert(format!("targets.{}.{fact}", case.target), value.clone());
    }
    all
}

fn load(load: &LoadRecord) -> Settings {
    let phases: Vec<String> = load
        .phases
        .iter()
        .map(|one| {
            format!(
                "{}-{}/{}",
                one.rate_per_s, one.end_rate_per_s, one.duration_ns
            )
        })
        .collect();
    // With a number of operations given, the length is an outcome and no setting. In a closed loop their number
    // is none either: rates and medians do not depend on how many operations they are of.
    let length = load.iterations.is_none().then_some(load.duration_ns);
    let iterations = load.iterations.filter(|_| load.mode != "closed");
    [
        ("load.arrival", load.arrival.clone()),
        ("load.cap", Some(load.cap.to_string())),
        ("load.connections", load.connections.map(|n| n.to_string())),
        ("load.duration_ns", length.map(|n| n.to_string())),
        ("load.iterations", iterations.map(|n| n.to_string())),
        ("load.mode", Some(load.mode.clone())),
        (
            "load.phases",
            (!phases.is_empty()).then(|| phases.join(" ")),
        ),
        (
            "load.rate_per_s",
            load.rate_per_s.map(|rate| rate.to_string()),
        ),
    ]
    .into_iter()
    .filter_map(|(field, value)| Some((field.to_owned(), value?)))
    .collect()
}

/// Quantiles of batch means are narrower than those of single operations, whatever the batch size.
fn timing(case: &Case) -> &'static str {
    match case.headline().and_then(|latency| latency.batch_k) {
        Some(2..) => "batched",
        _ => "single",
    }
}

/// Of the facts about a target only its module decides: its hash and version do, the file it was loaded
/// from only where there is no hash to tell modules apart. Versions of a server are what one wants to compare.
fn decides(fact: &str, facts: &Settings) -> bool {
    match fact {
        "module" => !facts.contains_key("module_sha256"),
        _ => fact.starts_with("module"),
    }
}

fn sorted(names: &[String]) -> String {
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.sort_unstable();
    names.dedup();
    names.join(" ")
}

// === Differences ===

fn collect(all: &mut Vec<Difference>, case: Option<&str>, current: &Settings, baseline: &Settings) {
    let only_baseline = baseline
        .keys()
        .filter(|field| !current.contains_key(*field));
    for field in current.keys().chain(only_baseline) {
        let (mine, theirs) = (current.get(field), baseline.get(field));
        if mine != theirs {
            all.push(Difference {
                case: case.map(str::to_owned),
                field: field.clone(),
                current: mine.cloned(),
                baseline: theirs.cloned(),
            });
        }
    }
}

fn absent_from(document: &Document, shared: &[String]) -> Vec<String> {
    let ids = document.cases.iter().map(|case| &case.id);
    ids.filter(|id| !shared.contains(id)).cloned().collect()
}
