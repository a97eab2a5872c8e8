//! Earlier results: the history and result files.

use std::path::{Path, PathBuf};

use keywright_measure::doctor::Build;
use keywright_measure::document::Document;
use keywright_report::filter::Filter;
use keywright_report::history::{History, HistoryError, RunFilter, RunId, RunSummary};
use keywright_report::{exports, html, json, number};
use serde::Serialize;

use super::flags::{OutputFlags, PastFlags};
use super::outputs::Outputs;
use super::trend::PLOTTED;
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

/// Render results again.
#[derive(Debug, clap::Args)]
pub(crate) struct ReportArguments {
    /// Result files, or ids of runs in the history.
    #[arg(required = true, value_name = "RUN|FILE")]
    runs: Vec<String>,
    /// Only cases that fulfil this, such as `ops_per_s < 50 and op ~ "aead.*"`.
    #[arg(long = "where", value_name = "EXPRESSION")]
    filter: Option<String>,
    /// Say at which rate each case may be run: this share of the highest one that passed.
    #[arg(long, value_name = "FACTOR", num_args = 0..=1, default_missing_value = "0.75")]
    capacity: Option<f64>,
    #[command(flatten)]
    output: OutputFlags,
}

/// List the runs of the history.
#[derive(Debug, clap::Args)]
pub(crate) struct HistoryArguments {
    /// Only runs with a case like this; `*` stands for anything.
    #[arg(long, value_name = "GLOB")]
    case: Option<String>,
    /// At most so many, the newest first.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    #[command(flatten)]
    past: PastFlags,
}

/// Write a note beside a run of the history.
#[derive(Debug, clap::Args)]
pub(crate) struct NoteArguments {
    /// The run.
    run: String,
    /// The note.
    text: String,
    #[command(flatten)]
    past: PastFlags,
}

/// Remove what measurements left behind, and old runs.
#[derive(Debug, clap::Args)]
pub(crate) struct CleanArguments {
    /// Keep so many of the newest runs in the history; baselines stay.
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
    #[command(flatten)]
    past: PastFlags,
}

/// Why the history cannot be used.
pub(super) fn unusable(error: HistoryError) -> Failure {
    let (exit, advice) = match &error {
        HistoryError::NoSuchBaseline { .. } => {
            (Exit::NotComparable, "see `keywright bench baseline list`")
        }
        HistoryError::NoSuchRun { .. } => (Exit::NotFound, "see `keywright bench history`"),
        HistoryError::DebugBaseline { .. } => (Exit::Refused, "measure with a release build"),
        HistoryError::BaselineName | HistoryError::MalformedRunId => (
            Exit::Usage,
            "see `keywright bench history` and `keywright bench baseline list`",
        ),
        HistoryError::Damaged | HistoryError::NotAHistory | HistoryError::NewerVersion { .. } => (
            Exit::NotComparable,
            "name another file with --history, or move this one away",
        ),
        _ => (Exit::Internal, "check the file and the space on its disk"),
    };
    Failure::new(exit, format!("the history: {error}"), advice)
}

/// Where the history is.
#[expect(clippy::disallowed_methods, reason = "the faces read the environment")]
pub(super) fn place(flags: &PastFlags) -> Result<PathBuf, Failure> {
    if let Some(path) = &flags.history {
        return Ok(path.clone());
    }
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let state = set("XDG_STATE_HOME")
        .map(PathBuf::from)
        .or_else(|| set("HOME").map(|home| Path::new(&home).join(".local/state")));
    let state = state.ok_or_else(|| {
        Failure::new(
            Exit::Usage,
            "there is no folder for the history",
            "name a file: --history FILE",
        )
    })?;
    Ok(state.join("keywright").join("bench.sqlite"))
}

pub(super) fn open(flags: &PastFlags) -> Result<History, Failure> {
    let path = place(flags)?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|error| Failure::file(folder, "written", &error))?;
    }
    History::open(&path).map_err(unusable)
}

/// Finds out before a measurement whether its result can be kept, where that was asked for by name.
pub(super) fn check(flags: &PastFlags, baseline: Option<&str>) -> Result<(), Failure> {
    if baseline.is_some() && super::build() != Build::Release {
        return Err(Failure::new(
            Exit::Refused,
            "figures of a debug or quick build cannot be a baseline",
            "measure with a release build",
        ));
    }
    if flags.history.is_some() && !flags.no_history || baseline.is_some() {
        open(flags)?;
    }
    Ok(())
}

/// Keeps a result, and gives it its name as a baseline.
pub(super) fn keep(flags: &OutputFlags, document: &Document) -> Result<(), Failure> {
    if flags.past.no_history && flags.save_baseline.is_none() {
        return Ok(());
    }
    let mut history = open(&flags.past)?;
    let run = history.record(document).map_err(unusable)?;
    if let Some(name) = &flags.save_baseline {
        history.baseline_save(name, &run).map_err(unusable)?;
    }
    Ok(())
}

/// A baseline by its name, or from a result file.
pub(super) fn baseline(flags: &PastFlags, name: &str) -> Result<Document, Failure> {
    let path = Path::new(name);
    if path.exists() {
        return read(path).map_err(|failure| Failure {
            exit: Exit::NotComparable,
            ..failure
        });
    }
    open(flags)?.baseline_show(name).map_err(unusable)
}

/// A result file: our own form, or the older one of the HSM benchmark.
fn read(path: &Path) -> Result<Document, Failure> {
    let bytes = std::fs::read(path).map_err(|error| Failure::file(path, "read", &error))?;
    json::read(&bytes).or_else(|error| {
        exports::seed::read(&bytes).map_err(|_| {
            Failure::new(
                Exit::NotComparable,
                format!("{} is no result that can be read: {error}", path.display()),
                "give a file written with --format json or -o FILE.json",
            )
        })
    })
}

/// Whether this is written like a result file or the id of a run, not like a suite.
pub(super) fn names_result(text: &str) -> bool {
    let file = Path::new(text).extension();
    file.is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
        || RunId::parse(text).is_ok()
}

/// A run by file or id.
pub(super) fn find(flags: &PastFlags, run: &str) -> Result<Document, Failure> {
    let path = Path::new(run);
    if path.exists() {
        return read(path);
    }
    open(flags)?
        .run(&RunId::parse(run).map_err(unusable)?)
        .map_err(unusable)
}

pub(super) fn report(arguments: &ReportArguments, format: Format) -> Result<Exit, Failure> {
    let filter = arguments.filter.as_deref().map(Filter::parse).transpose();
    let filter = filter.map_err(|error| {
        Failure::new(
            Exit::Usage,
            error.to_string(),
            "see BENCHMARKING.md for the fields and signs",
        )
    })?;
    let mut outputs = Outputs::open(&arguments.output, format)?;
    for run in &arguments.runs {
        let mut document = find(&arguments.output.past, run)?;
        if let Some(filter) = &filter {
            document.cases.retain(|case| filter.matches(case));
        }
        if let Some(factor) = arguments.capacity {
            output::data(capacity(&document, factor).as_bytes())?;
            continue;
        }
        outputs.write(&document, None)?;
    }
    Ok(Exit::Ok)
}

/// For each saturation search the highest passing rate times a factor. Multiples of it are arithmetic, and
/// say so.
fn capacity(document: &Document, factor: f64) -> String {
    use keywright_measure::document::Model;
    let mut text = String::new();
    for case in &document.cases {
        let Some(Model::Saturation(found)) = &case.model else {
            continue;
        };
        let Some(highest) = found.highest_passing_per_s else {
            text += &format!("{}: no rate passed\n", case.id);
            continue;
        };
        let advised = highest * factor;
        text += &format!(
            "{}: {} measured, {} advised ({} of it), {} for three instances (EXTRAPOLATED)\n",
            case.id,
            number::rate(highest),
            number::rate(advised),
            number::percent(factor * 100.0),
            number::rate(advised * 3.0)
        );
    }
    if text.is_empty() {
        "no saturation search in this result: keywright bench saturate\n".clone_into(&mut text);
    }
    text
}

#[derive(Serialize)]
struct Runs {
    runs: Vec<RunLine>,
}

#[derive(Serialize)]
struct RunLine {
    id: String,
    started: String,
    cases: u32,
    suite: Option<String>,
    exit: String,
    notes: Vec<String>,
}

pub(super) fn history(arguments: &HistoryArguments, format: Format) -> Result<Exit, Failure> {
    let mut history = open(&arguments.past)?;
    if format == Format::Html {
        output::data(html::trends(&history.trends(&PLOTTED).map_err(unusable)?).as_bytes())?;
        return Ok(Exit::Ok);
    }
    let filter = RunFilter {
        case: arguments.case.clone(),
        ..RunFilter::default()
    };
    let runs = history.runs(&filter, arguments.limit).map_err(unusable)?;
    let line = |run: &RunSummary| {
        Ok(RunLine {
            id: run.id.as_str().to_owned(),
            started: run.started.clone(),
            cases: run.cases,
            suite: run.suite.clone(),
            exit: run.exit_name.clone(),
            notes: history.notes(&run.id)?,
        })
    };
    let lines: Result<Vec<_>, HistoryError> = runs.iter().map(line).collect();
    let listed = Runs {
        runs: lines.map_err(unusable)?,
    };
    output::document(format, &listed, || {
        let mut rows = vec![
            ["run", "started", "cases", "suite", "exit", "notes"]
                .map(str::to_owned)
                .to_vec(),
        ];
        rows.extend(listed.runs.iter().map(|run| {
            let suite = run.suite.clone().unwrap_or_default();
            let (cases, notes) = (run.cases.to_string(), run.notes.join("; "));
            vec![
                run.id.clone(),
                run.started.clone(),
                cases,
                suite,
                run.exit.clone(),
                notes,
            ]
        }));
        output::table(&rows)
    })?;
    Ok(Exit::Ok)
}

pub(super) fn note(arguments: &NoteArguments) -> Result<Exit, Failure> {
    open(&arguments.past)?
        .note(
            &RunId::parse(&arguments.run).map_err(unusable)?,
            &arguments.text,
        )
        .map_err(unusable)?;
    Ok(Exit::Ok)
}

pub(super) fn clean(arguments: &CleanArguments) -> Result<Exit, Failure> {
    if let Some(keep) = arguments.keep {
        let gone = open(&arguments.past)?.prune(keep).map_err(unusable)?;
        output::data(format!("{gone} runs removed from the history\n").as_bytes())?;
    }
    let mut folders = 0;
    for folder in super::work::abandoned() {
        std::fs::remove_dir_all(&folder)
            .map_err(|error| Failure::file(&folder, "removed", &error))?;
        folders += 1;
    }
    output::data(format!("{folders} folders of ended measurements removed\n").as_bytes())?;
    Ok(Exit::Ok)
}
