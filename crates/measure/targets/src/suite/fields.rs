//! What a case may say, and `defaults` with it. What a case does not say, the defaults do.
//!
//! A setting of the case replaces that of the defaults as a whole: tables and lists are not merged. A
//! preset stands for a number of operations and a warm-up, so a case's preset replaces those of the
//! defaults, and what stands beside a preset replaces what it stands for.

use std::time::Duration;

use keywright_measure::Window;
use keywright_measure::carry::Verify;
use keywright_measure::latency::{Few, Percentile};
use keywright_measure::load::Phase;
use keywright_measure::plan::Slo;

use super::GateRule;
use super::error::{Error, Problem};
use super::node::{Item, Located, Section};
use super::preset::Preset;
use super::shape::{self, LoadFields};

/// Settings of a case or of the defaults, as far as they were given.
#[derive(Clone, Debug, Default)]
pub(super) struct Fields {
    pub(super) targets: Option<Vec<Located<String>>>,
    pub(super) op: Option<Located<String>>,
    pub(super) mix: Option<Located<Vec<(String, f64)>>>,
    pub(super) key: Option<String>,
    pub(super) sizes: Option<Vec<Located<u64>>>,
    pub(super) load: Option<Located<LoadFields>>,
    pub(super) phases: Option<Located<Vec<Phase>>>,
    pub(super) window: Option<Window>,
    pub(super) warmup: Option<Window>,
    pub(super) runs: Option<u32>,
    pub(super) cooldown: Option<Duration>,
    pub(super) verify: Option<Verify>,
    pub(super) percentiles: Option<Vec<Percentile>>,
    pub(super) few: Option<Few>,
    pub(super) slo: Option<Vec<Slo>>,
    pub(super) gate: Option<GateRule>,
    pub(super) tags: Option<Vec<String>>,
    pub(super) timeout: Option<Duration>,
    pub(super) drain: Option<Duration>,
    pub(super) seed: Option<u64>,
    pub(super) preset: Option<Preset>,
    pub(super) error_budget: Option<f64>,
}

/// What defaults may say.
pub(super) const DEFAULTS: &[&str] = &[
    "target",
    "load",
    "duration",
    "iterations",
    "warmup",
    "runs",
    "cooldown",
    "verify",
    "percentiles",
    "few_samples",
    "slo",
    "gate",
    "tags",
    "timeout",
    "drain",
    "seed",
    "preset",
    "error_budget",
];

/// What a case may say.
pub(super) const CASE: &[&str] = &[
    "id",
    "target",
    "op",
    "mix",
    "key",
    "sizes",
    "load",
    "phases",
    "duration",
    "iterations",
    "warmup",
    "runs",
    "cooldown",
    "verify",
    "percentiles",
    "few_samples",
    "slo",
    "gate",
    "tags",
    "timeout",
    "drain",
    "seed",
    "preset",
    "error_budget",
];

/// The longest run: a month.
pub(super) const LONGEST: Duration = Duration::from_secs(31 * 24 * 3600);
const HOUR: Duration = Duration::from_secs(3600);
const MILLISECOND: Duration = Duration::from_millis(1);
/// The most operations of a run.
const MOST_OPERATIONS: u64 = 1_000_000_000_000;

impl Fields {
    pub(super) fn read(table: &Section<'_>) -> Result<Self, Error> {
        let mut fields = Self {
            targets: read(table, "target", "target", names)?,
            op: read(table, "op", "op", |item| {
                Ok(item.located(item.name()?.to_owned()))
            })?,
            mix: read(table, "mix", "mix", mix)?,
            key: read(table, "key", "key", |item| item.name().map(str::to_owned))?,
            sizes: read(table, "sizes", "sizes", sizes)?,
            load: read(table, "load", "load", LoadFields::read)?,
            phases: read(table, "phases", "phases", shape::phases)?,
            window: window(table)?,
            warmup: read(table, "warmup", "warmup", warmup)?,
            runs: read(table, "runs", "runs", |item| item.whole32(1..=1000))?,
            cooldown: read(table, "cooldown", "cooldown", |item| {
                item.time(Duration::ZERO..=HOUR)
            })?,
            verify: read(table, "verify", "verify", verify)?,
            percentiles: read(table, "percentiles", "percentiles", percentiles)?,
            few: read(table, "few_samples", "few_samples", few)?,
            slo: read(table, "slo", "slo", objectives)?,
            gate: read(table, "gate", "gate", gate)?,
            tags: read(table, "tags", "tags", tags)?,
            timeout: read(table, "timeout", "timeout", |item| {
                item.time(MILLISECOND..=HOUR)
            })?,
            drain: read(table, "drain", "drain", |item| {
                item.time(MILLISECOND..=HOUR)
            })?,
            seed: read(table, "seed", "seed", |item| {
                item.whole(0..=i64::MAX.unsigned_abs())
            })?,
            preset: read(table, "preset", "preset", preset)?,
            error_budget: read(table, "error_budget", "error_budget", share)?,
        };
        fields.exclusions(table)?;
        if let Some(preset) = fields.preset {
            fields
                .window
                .get_or_insert(Window::Operations(preset.iterations()));
            fields
                .warmup
                .get_or_insert(Window::Operations(preset.warmup()));
        }
        Ok(fields)
    }

    fn exclusions(&self, table: &Section<'_>) -> Result<(), Error> {
        let conflict = |one, other| Err(table.error(Problem::Conflict { one, other }));
        if self.op.is_some() && self.mix.is_some() {
            return conflict("op", "mix");
        }
        if self.phases.is_some() && self.window.is_some() {
            return conflict("phases", "duration or iterations");
        }
        Ok(())
    }

    /// These, and where they say nothing, those.
    pub(super) fn over(self, beneath: &Self) -> Self {
        macro_rules! first {
            ($($field:ident)*) => {
                Self { $($field: self.$field.or_else(|| beneath.$field.clone()),)* }
            };
        }
        first! {
            targets op mix key sizes load phases window warmup runs cooldown verify percentiles few slo
            gate tags timeout drain seed preset error_budget
        }
    }
}

fn read<'a, T>(
    table: &Section<'a>,
    key: &str,
    field: &'static str,
    take: impl FnOnce(&Item<'a>) -> Result<T, Error>,
) -> Result<Option<T>, Error> {
    table.get(key, field).map(|item| take(&item)).transpose()
}

fn names(item: &Item<'_>) -> Result<Vec<Located<String>>, Error> {
    let items = item.one_or_many()?;
    let name = |item: &Item<'_>| Ok(item.located(item.name()?.to_owned()));
    unique(
        item,
        items.iter().map(name).collect::<Result<_, _>>()?,
        "target",
    )
}

/// No value twice: it would make two cases of one id.
fn unique(
    item: &Item<'_>,
    names: Vec<Located<String>>,
    what: &'static str,
) -> Result<Vec<Located<String>>, Error> {
    for (place, name) in names.iter().enumerate() {
        if names[..place].iter().any(|other| other.value == name.value) {
            let name = super::error::cut(&name.value);
            return Err(item.error(Problem::Twice { what, name }));
        }
    }
    Ok(names)
}

fn mix(item: &Item<'_>) -> Result<Located<Vec<(String, f64)>>, Error> {
    let mut parts = Vec::new();
    for (name, weight) in item.entries("mix")? {
        parts.push((name.to_owned(), weight.number(1e-6..=1e9)?));
    }
    if parts.is_empty() {
        let problem = Problem::Missing {
            table: "mix",
            key: "an operation and its weight",
        };
        return Err(item.error(problem));
    }
    Ok(item.located(parts))
}

fn sizes(item: &Item<'_>) -> Result<Vec<Located<u64>>, Error> {
    let mut sizes: Vec<Located<u64>> = Vec::new();
    for item in item.one_or_many()? {
        let size = item.located(item.size(1..=1 << 30)?);
        if sizes.iter().any(|other| other.value == size.value) {
            let name = size.value.to_string();
            return Err(size.error(Problem::Twice { what: "size", name }));
        }
        sizes.push(size);
    }
    Ok(sizes)
}

fn window(table: &Section<'_>) -> Result<Option<Window>, Error> {
    let time = table.get("duration", "duration");
    let count = table.get("iterations", "iterations");
    match (time, count) {
        (Some(_), Some(count)) => Err(count.error(Problem::Conflict {
            one: "duration",
            other: "iterations",
        })),
        (Some(time), None) => Ok(Some(Window::Time(time.time(MILLISECOND..=LONGEST)?))),
        (None, Some(count)) => {
            let count = count.whole(1..=MOST_OPERATIONS)?;
            Ok(Some(Window::Operations(count)))
        }
        (None, None) => Ok(None),
    }
}

/// A time as a text, or a number of operations.
fn warmup(item: &Item<'_>) -> Result<Window, Error> {
    if item.is_text() {
        return item.time(Duration::ZERO..=HOUR).map(Window::Time);
    }
    item.whole(0..=MOST_OPERATIONS).map(Window::Operations)
}

fn verify(item: &Item<'_>) -> Result<Verify, Error> {
    Ok(match item.word(&["sample", "all", "off"])? {
        0 => Verify::Sample,
        1 => Verify::All,
        _ => Verify::Off,
    })
}

fn few(item: &Item<'_>) -> Result<Few, Error> {
    Ok(match item.word(&["withhold", "give"])? {
        0 => Few::Withhold,
        _ => Few::Give,
    })
}

fn percentiles(item: &Item<'_>) -> Result<Vec<Percentile>, Error> {
    let percentile = |item: &Item<'_>| {
        let text = item.text()?;
        let form = "a percentile such as p50, p99 or p99.9";
        text.parse().map_err(|_| item.form(text, form))
    };
    item.one_or_many()?.iter().map(percentile).collect()
}

fn objectives(item: &Item<'_>) -> Result<Vec<Slo>, Error> {
    let entries = item.entries("slo")?;
    let objective = |(name, limit): &(&str, Item<'_>)| {
        let text = limit.text()?;
        let form = "an objective such as p99 = \"20ms\" or errors = \"0.1%\"";
        Slo::new(name, text).map_err(|_| limit.form(&format!("{name} = {text}"), form))
    };
    entries.iter().map(objective).collect()
}

fn gate(item: &Item<'_>) -> Result<GateRule, Error> {
    let table = item.section("gate", &["baseline", "threshold"])?;
    Ok(GateRule {
        baseline: table.need("baseline", "gate.baseline")?.name()?.to_owned(),
        threshold: read(&table, "threshold", "gate.threshold", share)?,
    })
}

fn tags(item: &Item<'_>) -> Result<Vec<String>, Error> {
    let items = item.one_or_many()?;
    items
        .iter()
        .map(|item| item.name().map(str::to_owned))
        .collect()
}

fn preset(item: &Item<'_>) -> Result<Preset, Error> {
    let place = item.word(Preset::NAMES)?;
    Ok(Preset::ALL[place.min(Preset::ALL.len() - 1)])
}

/// A share between 0 and 1, as a number or as "10%".
fn share(item: &Item<'_>) -> Result<f64, Error> {
    if !item.is_text() {
        return item.number(0.0..=1.0);
    }
    let text = item.text()?;
    let percent = text
        .strip_suffix('%')
        .map(|number| number.trim().parse::<f64>());
    match percent {
        Some(Ok(percent)) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err(item.form(text, "a share such as 10% or 0.1")),
    }
}
