//! The measuring of `hsm benchmark`: rows of a token, a mix of them, sizes, threads, the way there and back.

mod flags;
mod rows;

use std::num::NonZeroU32;
use std::sync::Arc;

use keywright_measure::carry::Carrier;
use keywright_measure::document::{Case, Model};
use keywright_measure::plan::CasePlan;
use keywright_measure::session::Entry;
use keywright_measure::{scale, sizes};
use keywright_targets::operation::AnyCarrier;
use keywright_targets::suite::Work;
use keywright_targets::token::{NamedKey, Opened};

pub(crate) use flags::TokenFlags;
use rows::Row;

use super::flags::LoadFlags;
use super::op::told;
use super::ready::{Bench, planned};
use super::sitting::{Sitting, unmeasurable};
use super::{outputs, past, phases};
use crate::exit::{Exit, Failure};
use crate::output::Format;

/// What targets of this kind are called in a result.
const TARGET: &str = "pkcs11";
/// What operations with weights are called together.
const MIX: &str = "Mix";

/// Measures a token. `key` is the one that the caller named, if there is one.
pub(crate) fn run(
    flags: &TokenFlags,
    (token, key): (&Arc<Opened>, Option<&NamedKey>),
    format: Format,
) -> Result<Exit, Failure> {
    let ended = carry_out(flags, (token, key), format);
    if let Err(failure) = &ended {
        outputs::failed(failure.exit);
    }
    ended
}

fn carry_out(
    flags: &TokenFlags,
    (token, key): (&Arc<Opened>, Option<&NamedKey>),
    format: Format,
) -> Result<Exit, Failure> {
    let rows = rows::chosen(flags, key)?;
    let parts = rows::mix(flags)?;
    let ids = ids(flags, &rows, &parts);
    if flags.dry_run {
        let name = flags.judging.baseline.as_deref();
        let baseline = name.map(|name| past::baseline(&flags.output.past, name));
        let runs = flags.runs(&ids, baseline.transpose()?.as_ref());
        return dry_run(&flags.with_runs(runs), &rows, &parts);
    }
    let (output, judging) = (&flags.output, &flags.judging);
    let mut sitting = Sitting::begin_against(output, judging, format, flags.seed, |baseline| {
        flags.runs(&ids, baseline)
    })?;
    sitting.publish();
    let at = Arc::clone(token);
    sitting.more = Some(Box::new(move |error| at.advice(error)));
    if flags.has_more(sitting.runs) {
        let runs = sitting.runs;
        sitting.remark(
            format!("{runs} runs of each operation: what differs from this baseline cannot be told from chance with fewer"),
            "",
        );
    }
    let flags = &flags.with_runs(sitting.runs);
    if let Some(key) = key {
        sitting.remark(format!("the key that was named is {}", key.kind), "");
    }
    let bench = Bench::on_token(&sitting, token)?;
    let mut cases = Vec::new();
    // What logs everybody out has its turns before the others.
    let (alone, together): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(Row::is_alone);
    for (rows, parts) in [(alone, &parts[..0]), (together, &parts[..])] {
        let nothing = rows.is_empty() && parts.is_empty();
        if !nothing && !sitting.stop.is_asked() {
            cases.extend(measured(&sitting, &bench, flags, (&rows, parts))?);
        }
    }
    drop(bench);
    if flags.split {
        split(&sitting, &mut cases);
    }
    sitting.finish(cases, Some(&flags.judging))
}

/// What every case is called.
fn ids(
    flags: &TokenFlags,
    rows: &[Row],
    parts: &[(keywright_targets::operation::Operation, f64)],
) -> Vec<String> {
    let mut names: Vec<&str> = rows.iter().map(|row| row.chosen.id.as_str()).collect();
    names.extend((!parts.is_empty()).then_some(MIX));
    let threads = flags.threads();
    let each = threads.into_iter().flat_map(|threads| {
        let names = names.iter();
        names.map(move |name| at_threads(flags, name, threads))
    });
    each.collect()
}

fn dry_run(
    flags: &TokenFlags,
    rows: &[Row],
    parts: &[(keywright_targets::operation::Operation, f64)],
) -> Result<Exit, Failure> {
    let (mut plans, runs) = (Vec::new(), flags.runs(&[], None));
    for threads in flags.threads() {
        for row in rows {
            plans.push(plan(flags, row, threads)?);
        }
        if !parts.is_empty() {
            plans.push(mix_plan(flags, parts, threads)?);
        }
    }
    told(plans.iter().map(|plan| (plan, runs)))
}

/// Measures rows at every number of threads, in turns.
fn measured(
    sitting: &Sitting,
    bench: &Bench,
    flags: &TokenFlags,
    (rows, parts): (&[Row], &[(keywright_targets::operation::Operation, f64)]),
) -> Result<Vec<Case>, Failure> {
    let mut ready: Vec<(CasePlan, AnyCarrier)> = Vec::new();
    for threads in flags.threads() {
        for row in rows {
            let plan = plan(flags, row, threads)?;
            match bench.workshop.carrier(&row.chosen.operation, &plan.load) {
                Ok(carrier) => ready.push((plan, carrier)),
                Err(error) => sitting.skip(&plan.id, &error),
            }
        }
        if !parts.is_empty() {
            let plan = mix_plan(flags, parts, threads)?;
            let carrier = bench.workshop.mix(parts, &plan.load);
            ready.push((plan, carrier.map_err(|error| unmeasurable(&error))?));
        }
    }
    if ready.is_empty() {
        return Ok(Vec::new());
    }
    let mut entries: Vec<Entry<'_>> = ready
        .iter_mut()
        .map(|(plan, carrier)| Entry {
            plan: plan.clone(),
            carrier: carrier as &mut dyn Carrier,
        })
        .collect();
    let mut cases = sitting.measure(&flags.load(NonZeroU32::MIN).pace(), &mut entries)?;
    if flags.threads().len() > 1 {
        scaling(sitting, flags, rows, &mut cases);
    }
    fit(sitting, flags, rows, &mut cases);
    Ok(cases)
}

fn plan(flags: &TokenFlags, row: &Row, threads: NonZeroU32) -> Result<CasePlan, Failure> {
    let load: LoadFlags = flags.load(threads);
    let mut plan = planned(&row.chosen, &row.chosen.operation, &load, &flags.judging)?;
    plan.id = at_threads(flags, &row.chosen.id, threads);
    finish_plan(flags, &mut plan, threads);
    Ok(plan)
}

fn mix_plan(
    flags: &TokenFlags,
    parts: &[(keywright_targets::operation::Operation, f64)],
    threads: NonZeroU32,
) -> Result<CasePlan, Failure> {
    let mut plan = Work::Mix(parts.to_vec()).plan(TARGET);
    flags.load(threads).apply(&mut plan, NonZeroU32::MIN)?;
    flags.judging.apply(&mut plan);
    plan.id = at_threads(flags, MIX, threads);
    finish_plan(flags, &mut plan, threads);
    Ok(plan)
}

fn finish_plan(flags: &TokenFlags, plan: &mut CasePlan, threads: NonZeroU32) {
    plan.warmup_operations = flags.warmup_operations();
    if let Some(budget) = flags.error_budget {
        plan.error_budget = budget;
    }
    if threads.get() > 1 {
        let threads = threads.to_string();
        plan.parameters.insert("threads".to_owned(), threads);
    }
}

/// A case's name; in a sweep the number of threads belongs to it.
fn at_threads(flags: &TokenFlags, id: &str, threads: NonZeroU32) -> String {
    match flags.threads().len() {
        1 => id.to_owned(),
        _ => format!("{id} x{threads}"),
    }
}

/// The law of scaling of each row, beside its last case.
fn scaling(sitting: &Sitting, flags: &TokenFlags, rows: &[Row], cases: &mut [Case]) {
    for row in rows {
        let ids: Vec<String> = flags
            .threads()
            .into_iter()
            .map(|threads| at_threads(flags, &row.chosen.id, threads))
            .collect();
        let mine = |case: &&mut Case| ids.contains(&case.id);
        let mut mine: Vec<&mut Case> = cases.iter_mut().filter(mine).collect();
        let points: Vec<_> = mine.iter().map(|case| scale::Point::of(case)).collect();
        let Some(model) = scale::model(&points) else {
            continue;
        };
        for remark in scale::remarks(&model) {
            let text = format!("{}: {}", row.chosen.id, remark.text);
            sitting.remark(text, remark.remedy.as_deref().unwrap_or_default());
        }
        if let Some(last) = mine.last_mut() {
            last.model = Some(Model::Scaling(model));
        }
    }
}

/// Time per call and per byte of rows that differ in their size alone, beside the last of them.
fn fit(sitting: &Sitting, flags: &TokenFlags, rows: &[Row], cases: &mut [Case]) {
    let mut stems: Vec<&str> = rows.iter().filter_map(Row::stem).collect();
    stems.sort_unstable();
    stems.dedup();
    for stem in stems {
        let family: Vec<&Row> = rows.iter().filter(|row| row.stem() == Some(stem)).collect();
        let mut points = Vec::new();
        for case in cases.iter() {
            if let Some(row) = family.iter().find(|row| row.chosen.id == case.id) {
                points.push(sizes::Point::of(case, row.chosen.operation.bytes));
            }
        }
        let Some(model) = sizes::model(&points, flags.seed) else {
            continue;
        };
        if !model.misfits.is_empty() {
            let sizes: Vec<String> = model.misfits.iter().map(u64::to_string).collect();
            sitting.remark(
                format!(
                    "{stem}: the line does not hold at {} bytes",
                    sizes.join(", ")
                ),
                "do not predict these sizes from it",
            );
        }
        let last = cases
            .iter_mut()
            .rfind(|case| family.iter().any(|row| row.chosen.id == case.id));
        if let Some(last) = last {
            last.model = Some(Model::Size(model));
        }
    }
}

/// What each operation takes beyond the call that does nothing.
fn split(sitting: &Sitting, cases: &mut [Case]) {
    let Some(null) = cases.iter().find(|case| case.id == rows::NULL).cloned() else {
        return;
    };
    for case in cases.iter_mut().filter(|case| case.id != rows::NULL) {
        let id = case.id.clone();
        phases::split(sitting, (&id, case), (rows::NULL, &null));
    }
}
