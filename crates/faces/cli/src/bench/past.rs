//! Earlier results: the history, its trends and baselines, and result files.

use std::path::{Path, PathBuf};

use keywright_measure::document::Document;
use keywright_report::filter::Filter;
use keywright_report::history::{History, HistoryError, Metric, RunFilter, RunId, RunSummary};
use keywright_report::{exports, html, json, number};
use serde::Serialize;

use super::flags::{OutputFlags, PastFlags};
use super::outputs::Outputs;
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

/// Render results again.
#[derive(Debug, clap::Args)]
pub(super) struct ReportArguments {
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
pub(super) struct HistoryArguments {
    /// Only runs with a case like this; `*` stands for anything.
    #[arg(long, value_name = "GLOB")]
    case: Option<String>,
    /// At most so many, the newest first.
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    #[command(flatten)]
    past: PastFlags,
}

/// How a case developed over comparable runs.
#[derive(Debug, clap::Args)]
pub(super) struct TrendArguments {
    /// The case.
    case: String,
    /// What of it: throughput, p50, p90, p95, p99, p99.9, cpu.
    #[arg(long, default_value = "throughput", value_parser = metric)]
    metric: Metric,
    #[command(flatten)]
    past: PastFlags,
}

/// Keep results to compare with.
#[derive(Debug, clap::Args)]
pub(super) struct BaselineArguments {
    #[command(subcommand)]
    command: BaselineCommand,
    #[command(flatten)]
    past: PastFlags,
}

#[derive(Debug, clap::Subcommand)]
enum BaselineCommand {
    /// Give a run of the history a name.
    Save {
        /// The name.
        name: String,
        /// The run.
        run: String,
    },
    /// List the names.
    List,
    /// Show what a name stands for.
    Show {
        /// The name.
        name: String,
    },
    /// Take a name away; the run stays.
    Rm {
        /// The name.
        name: String,
    },
}

/// Write a note beside a run of the history.
#[derive(Debug, clap::Args)]
pub(super) struct NoteArguments {
    /// The run.
    run: String,
    /// The note.
    text: String,
    #[command(flatten)]
    past: PastFlags,
}

/// Remove what measurements left behind, and old runs.
#[derive(Debug, clap::Args)]
pub(super) struct CleanArguments {
    /// Keep so many of the newest runs in the history; baselines stay.
    #[arg(long, value_name = "N")]
    keep: Option<usize>,
    #[command(flatten)]
    past: PastFlags,
}

fn metric(text: &str) -> Result<Metric, String> {
    Metric::named(text).ok_or_else(|| {
        let names: Vec<_> = Metric::ALL.iter().map(|metric| metric.name()).collect();
        format!("choose one of {}", names.join(", "))
    })
}

impl From<HistoryError> for Failure {
    fn from(error: HistoryError) -> Self {
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
            HistoryError::Damaged
            | HistoryError::NotAHistory
            | HistoryError::NewerVersion { .. } => (
                Exit::NotComparable,
                "name another file with --history, or move this one away",
            ),
            _ => (Exit::Internal, "check the file and the space on its disk"),
        };
        Self::new(exit, format!("the history: {error}"), advice)
    }
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

fn open(flags: &PastFlags) -> Result<History, Failure> {
    let path = place(flags)?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|error| Failure::file(folder, "written", &error))?;
    }
    Ok(History::open(&path)?)
}

/// Finds out before a measurement whether its result can be kept, where that was asked for by name.
pub(super) fn check(flags: &PastFlags, baseline: Option<&str>) -> Result<(), Failure> {
    if baseline.is_some() && cfg!(debug_assertions) {
        return Err(Failure::new(
            Exit::Refused,
            "figures of a debug build cannot be a baseline",
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
    let run = history.record(document)?;
    if let Some(name) = &flags.save_baseline {
        history.baseline_save(name, &run)?;
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
    Ok(open(flags)?.baseline_show(name)?)
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
    Ok(open(flags)?.run(&RunId::parse(run)?)?)
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
            print!("{}", capacity(&document, factor));
            continue;
        }
        outputs.write(&document)?;
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

/// What is plotted of every case: what users feel and what operators pay for.
pub(super) const PLOTTED: [Metric; 3] = [Metric::Throughput, Metric::P50, Metric::P99];

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
        output::data(html::trends(&history.trends(&PLOTTED)?).as_bytes())?;
        return Ok(Exit::Ok);
    }
    let filter = RunFilter {
        case: arguments.case.clone(),
        ..RunFilter::default()
    };
    let runs = history.runs(&filter, arguments.limit)?;
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
    let listed = Runs { runs: lines? };
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

pub(super) fn trend(arguments: &TrendArguments, format: Format) -> Result<Exit, Failure> {
    let mut history = open(&arguments.past)?;
    let trend = history
        .trend(&arguments.case, arguments.metric)?
        .ok_or_else(|| {
            Failure::new(
                Exit::NotFound,
                format!("the history has no run of {}", arguments.case),
                "see `keywright bench history`",
            )
        })?;
    if format == Format::Html {
        output::data(html::trends(std::slice::from_ref(&trend)).as_bytes())?;
        return Ok(Exit::Ok);
    }
    let document = TrendDocument::of(&trend);
    output::document(format, &document, || document.text())?;
    Ok(Exit::Ok)
}

#[derive(Serialize)]
struct TrendDocument {
    case: String,
    metric: &'static str,
    runs: usize,
    current: Option<f64>,
    previous: Option<f64>,
    ratio: Option<[f64; 3]>,
    changes: Vec<Change>,
}

#[derive(Serialize)]
struct Change {
    run: String,
    before: f64,
    after: f64,
    p: f64,
}

impl TrendDocument {
    fn of(trend: &keywright_report::history::Trend) -> Self {
        Self {
            case: trend.case.clone(),
            metric: trend.metric.name(),
            runs: trend.points.len(),
            current: trend.current.as_ref().map(|level| level.centre.estimate),
            previous: trend.previous.as_ref().map(|level| level.centre.estimate),
            ratio: trend
                .ratio
                .map(|ratio| [ratio.estimate, ratio.lo, ratio.hi]),
            changes: trend
                .change_points
                .iter()
                .map(|change| Change {
                    run: change.run.as_str().to_owned(),
                    before: change.before,
                    after: change.after,
                    p: change.p,
                })
                .collect(),
        }
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{} of {} over {} comparable runs: now {}\n",
            self.metric,
            self.case,
            self.runs,
            self.current
                .map_or_else(|| "unknown".to_owned(), number::plain)
        );
        if self.changes.is_empty() {
            text += "no change point\n";
        }
        for change in &self.changes {
            text += &format!(
                "changed at run {}: {} -> {} (p {:.3})\n",
                change.run,
                number::plain(change.before),
                number::plain(change.after),
                change.p
            );
        }
        if let Some([ratio, lo, hi]) = self.ratio {
            text += &format!("now over before: {ratio:.3} [{lo:.3}-{hi:.3}] (95 % CI)\n");
        }
        text
    }
}

#[derive(Serialize)]
struct Baselines {
    baselines: Vec<BaselineLine>,
}

#[derive(Serialize)]
struct BaselineLine {
    name: String,
    run: String,
}

pub(super) fn baselines(arguments: &BaselineArguments, format: Format) -> Result<Exit, Failure> {
    let mut history = open(&arguments.past)?;
    match &arguments.command {
        BaselineCommand::Save { name, run } => {
            let document = find(&arguments.past, run)?;
            let run = match history.record(&document) {
                Ok(run) => run,
                Err(HistoryError::RecordedTwice { .. }) => RunId::parse(&document.run.id)?,
                Err(error) => return Err(error.into()),
            };
            let before = history.baseline_save(name, &run)?;
            let note = before.map_or_else(String::new, |before| {
                format!(", before {}", before.as_str())
            });
            println!("{name} is {}{note}", run.as_str());
        }
        BaselineCommand::List => {
            let listed = Baselines {
                baselines: history
                    .baseline_list()?
                    .iter()
                    .map(|one| BaselineLine {
                        name: one.name.clone(),
                        run: one.run.as_str().to_owned(),
                    })
                    .collect(),
            };
            output::document(format, &listed, || {
                let lines = listed.baselines.iter();
                lines
                    .map(|one| format!("{}  {}\n", one.name, one.run))
                    .collect()
            })?;
        }
        BaselineCommand::Show { name } => {
            let document = history.baseline_show(name)?;
            let text = keywright_report::text::summary_table(&document);
            match format {
                Format::Json => print!(
                    "{}",
                    json::render(&document, json::Layout::Pretty).unwrap_or_default()
                ),
                _ => print!("{text}"),
            }
        }
        BaselineCommand::Rm { name } => history.baseline_remove(name)?,
    }
    Ok(Exit::Ok)
}

pub(super) fn note(arguments: &NoteArguments) -> Result<Exit, Failure> {
    open(&arguments.past)?.note(&RunId::parse(&arguments.run)?, &arguments.text)?;
    Ok(Exit::Ok)
}

pub(super) fn clean(arguments: &CleanArguments) -> Result<Exit, Failure> {
    if let Some(keep) = arguments.keep {
        let gone = open(&arguments.past)?.prune(keep)?;
        println!("{gone} runs removed from the history");
    }
    let mut folders = 0;
    for folder in super::work::abandoned() {
        std::fs::remove_dir_all(&folder)
            .map_err(|error| Failure::file(&folder, "removed", &error))?;
        folders += 1;
    }
    println!("{folders} folders of ended measurements removed");
    Ok(Exit::Ok)
}
