//! analyze: logs of calls.

use std::fs::File;
use std::io::{IsTerminal as _, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use keywright_calls::{
    Analyzer, Comparison, Finding, Options, Report, Scrubber, Severity, Zone, compare, render,
};
use serde_json::json;

use crate::bench::listen;
use crate::exit::{Exit, Failure};
use crate::output::{self, Format, Reader};
use keywright_hsm::Context;
use keywright_secret::locked::refuse_core_files;
use keywright_terminal::token::answer::{self, Answer, Beside, Refusal};
use keywright_terminal::token::files::{self, Output};
use keywright_terminal::token::{interrupt, sarif};

/// A log to read.
#[derive(Debug, clap::Args)]
pub(crate) struct AnalyzeWords {
    /// The log: of the recorder (JSON Lines) or of OpenSC's pkcs11-spy; `-` for standard input.
    #[arg(value_name = "FILE", required_unless_present_any = ["compare", "log_file"])]
    file: Option<PathBuf>,
    #[arg(long, value_name = "FILE", hide = true, conflicts_with = "file")]
    log_file: Option<PathBuf>,
    /// Hold the second of two logs against the first.
    #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"], conflicts_with_all = ["file", "log_file", "follow", "scrub"])]
    compare: Vec<PathBuf>,
    /// Go on reading while the log is written, and show what is known again and again, until Ctrl-C.
    #[arg(long)]
    follow: bool,
    /// What the menu of `keywright` shows of a log, as a JSON line whenever there is more.
    #[arg(long, hide = true, conflicts_with_all = ["compare", "follow", "scrub"])]
    screens: bool,
    /// How often, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=3600))]
    every: u32,
    /// Stop following after so many seconds.
    #[arg(long, value_name = "SECONDS", requires = "follow")]
    r#for: Option<u32>,
    /// Write a copy without what the log should not hold: bytes that may be PINs or data.
    #[arg(long, value_name = "FILE", conflicts_with = "follow")]
    scrub: Option<PathBuf>,
    /// The time zone of logs that write local times: a name such as Europe/Berlin, +02:00, utc or local.
    #[arg(long, value_name = "ZONE", default_value = "local")]
    tz: String,
    /// End with 3 if a finding weighs this or more: low, medium, high or critical. With --compare only new findings
    /// count.
    #[arg(long, value_name = "SEVERITY")]
    fail_on: Option<Severity>,
    #[command(flatten)]
    output: Output,
}

/// The same as a command of its own: with the flag that `hsm` has for all its commands.
#[derive(Debug, clap::Args)]
pub(crate) struct Alone {
    /// The same as --format json.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) words: AnalyzeWords,
}

/// Reads a log and prints what it shows.
pub(crate) fn run(words: &AnalyzeWords, format: Format) -> Result<Exit, Failure> {
    refuse_core_files();
    let mut beside = Beside {
        format: Some(format),
        ..Beside::default()
    };
    if !words.goes_on() {
        interrupt::listen();
    }
    let outcome = interrupt::told(analyze(words, &mut beside));
    answer::print("analyze", Context::General, format, &beside, outcome)
}

fn analyze(words: &AnalyzeWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let zone = words.zone()?;
    if let [before, after] = words.compare.as_slice() {
        let (before, after) = (whole(before, &zone, None)?, whole(after, &zone, None)?);
        return words.compared(&compare(&before, &after), beside);
    }
    let path = words.file.as_deref().or(words.log_file.as_deref());
    let path = path.unwrap_or(Path::new("-"));
    if words.screens {
        return screens(path);
    }
    let report = match (words.follow, &words.scrub) {
        (true, _) => words.followed(path, &zone, beside)?,
        (false, Some(copy)) => words.scrubbed(path, copy, &zone, beside)?,
        (false, None) => whole(path, &zone, None)?,
    };
    if report.total_ops == 0 {
        let told = format!("no line of {} is the record of a call", path.display());
        beside.warnings.push(told);
    }
    let text = match beside.format {
        Some(Format::Csv) => render::csv(&report),
        Some(Format::Html) => render::html(&report),
        Some(Format::Sarif) => {
            sarif::document("analyze", &rows(&report.findings, &path.to_string_lossy()))
        }
        _ => render::text(&report),
    };
    let answer = words.output.place_text(Answer::of(&report).text(text))?;
    Ok(answer.exit(words.gate(&report.findings)))
}

impl AnalyzeWords {
    /// Whether it prints while it goes on.
    const fn goes_on(&self) -> bool {
        self.follow || self.screens
    }

    fn zone(&self) -> Result<Zone, Refusal> {
        if self.tz == "local" {
            let system = jiff::tz::TimeZone::system();
            let name = system.iana_name().unwrap_or("local").to_owned();
            return Ok(Zone::new(system, name));
        }
        Zone::named(&self.tz).map_err(|error| {
            let advice =
                "write a name of the zone database, an offset such as +02:00, utc or local";
            Refusal::usage(format!("--tz: {error}"), advice)
        })
    }

    fn gate(&self, findings: &[Finding]) -> Exit {
        match self.fail_on {
            Some(least) if findings.iter().any(|one| one.severity >= least) => Exit::Gate,
            _ => Exit::Ok,
        }
    }

    fn compared(&self, compared: &Comparison, beside: &Beside) -> Result<Answer, Refusal> {
        let after = self
            .compare
            .last()
            .map(|path| path.to_string_lossy().into_owned());
        let text = match beside.format {
            Some(Format::Sarif) => {
                let name = after.unwrap_or_default();
                sarif::document("analyze", &rows(&compared.new_findings, &name))
            }
            Some(Format::Csv) => render::comparison_csv(compared),
            Some(Format::Html) => render::comparison_html(compared),
            _ => render::comparison(compared),
        };
        let answer = self.output.place_text(Answer::of(compared).text(text))?;
        Ok(answer.exit(self.gate(&compared.new_findings)))
    }

    fn scrubbed(
        &self,
        path: &Path,
        copy: &Path,
        zone: &Zone,
        beside: &mut Beside,
    ) -> Result<Report, Refusal> {
        let to = Output::to(copy, &self.output);
        let mut scrubber = Scrubber::new();
        let (report, _) = to.with(|out| {
            let mut clean = Vec::new();
            let mut each = |bytes: &[u8]| -> std::io::Result<()> {
                scrubber.push(bytes, &mut clean);
                out.write_all(&clean)?;
                clean.clear();
                Ok(())
            };
            whole(path, zone, Some(&mut each)).and_then(|report| {
                let mut rest = Vec::new();
                let count = scrubber.finish(&mut rest);
                out.write_all(&rest)
                    .map_err(|error| Failure::file(copy, "written", &error))?;
                beside.warnings.push(format!(
                    "{} has {} lines; {} were left out",
                    copy.display(),
                    count.kept,
                    count.removed
                ));
                Ok(report)
            })
        })?;
        Ok(report)
    }

    /// Reads on until it is told to stop.
    fn followed(&self, path: &Path, zone: &Zone, beside: &Beside) -> Result<Report, Refusal> {
        let stop = listen()?;
        let mut tail = Tail::open(path)?;
        let mut analyzer = Analyzer::new(Options::default().in_zone(zone.clone()));
        let rounds = self.r#for.map(|seconds| u64::from(seconds) * TICKS);
        for round in 1_u64.. {
            tail.read(&mut analyzer)?;
            let last = rounds.is_some_and(|rounds| round >= rounds);
            if last || stop.is_asked() {
                break;
            }
            if round % (u64::from(self.every) * TICKS) == 0 {
                view(&analyzer.report(), beside)?;
            }
            std::thread::sleep(Duration::from_millis(1000 / TICKS));
        }
        analyzer.finish();
        Ok(analyzer.report())
    }
}

/// Looks for more of the log a second.
const TICKS: u64 = 5;

/// What is known by now: a screen, or a line for whoever reads along.
fn view(report: &Report, beside: &Beside) -> Result<(), Refusal> {
    let shown = match beside.format {
        Some(Format::Json) => {
            json!({
                "total_ops": report.total_ops,
                "error_count": report.error_count,
                "findings": report.findings.len(),
            })
            .to_string()
                + "\n"
        }
        _ if std::io::stdout().is_terminal() => format!("\x1b[2J\x1b[H{}", render::text(report)),
        _ => format!(
            "{} calls, {} failed, {} operations, {} findings\n",
            report.total_ops,
            report.error_count,
            report.ratios.operations,
            report.findings.len()
        ),
    };
    output::data(shown.as_bytes())?;
    Ok(())
}

/// Calls that a screen shows; what came before them is counted only.
const RECENT: usize = 200;

/// Reads on until nobody takes what is printed.
fn screens(path: &Path) -> Result<Answer, Refusal> {
    let mut tail = Tail::open(path)?;
    let mut analyzer = Analyzer::new(Options::default().keeping(RECENT));
    let mut before = String::new();
    for round in 1_u64.. {
        // What cannot be read now may be there the next time.
        drop(tail.read(&mut analyzer));
        let report = analyzer.report();
        let screen = json!({
            "summary": summary(&report),
            "heading": render::call_heading(),
            "calls": analyzer.recent().map(render::call).collect::<Vec<_>>(),
            "report": render::text(&report),
        });
        let screen = screen.to_string();
        let reader = match (screen == before, round % TICKS) {
            (false, _) => output::data(format!("{screen}\n").as_bytes())?,
            // An empty line, to learn whether anybody still reads.
            (true, 0) => output::data(b"\n")?,
            _ => Reader::Listening,
        };
        if reader == Reader::Gone {
            break;
        }
        before = screen;
        std::thread::sleep(Duration::from_millis(1000 / TICKS));
    }
    Ok(Answer::of(&json!({})))
}

/// All of it in a line.
fn summary(report: &Report) -> String {
    let rate = report.throughput.as_ref().and_then(|load| load.calls_per_s);
    let rate = rate.map_or_else(String::new, |rate| format!(", {rate:.0} calls/s"));
    let worst = report.findings.first().map_or_else(String::new, |one| {
        format!("; worst: {} {}", one.severity, one.code)
    });
    format!(
        "{} calls{rate}, {} failed, {} findings{worst}",
        report.total_ops,
        report.error_count,
        report.findings.len()
    )
}

/// A file that somebody else writes, sets aside and begins again.
struct Tail {
    path: PathBuf,
    file: File,
    at: u64,
}

impl Tail {
    fn open(path: &Path) -> Result<Self, Refusal> {
        let file = File::open(path).map_err(|error| Failure::file(path, "read", &error))?;
        Ok(Self {
            path: path.to_owned(),
            file,
            at: 0,
        })
    }

    /// All that is new.
    fn read(&mut self, analyzer: &mut Analyzer) -> Result<(), Refusal> {
        self.rest(analyzer)?;
        let named = std::fs::metadata(&self.path).ok();
        let own = self.file.metadata().ok();
        let (Some(named), Some(own)) = (named, own) else {
            return Ok(());
        };
        if (named.dev(), named.ino()) != (own.dev(), own.ino()) || named.len() < self.at {
            analyzer.finish();
            *self = Self::open(&self.path)?;
            self.rest(analyzer)?;
        }
        Ok(())
    }

    fn rest(&mut self, analyzer: &mut Analyzer) -> Result<(), Refusal> {
        let mut buffer = vec![0; PIECE];
        loop {
            let read = self.file.read(&mut buffer);
            let count = read.map_err(|error| Failure::file(&self.path, "read", &error))?;
            if count == 0 {
                return Ok(());
            }
            self.at += count as u64;
            analyzer.push(buffer.get(..count).unwrap_or_default());
        }
    }
}

const PIECE: usize = 256 << 10;

/// Takes the bytes of a log as they are read.
type Sink<'a> = dyn FnMut(&[u8]) -> std::io::Result<()> + 'a;

/// The report of a whole log, whose bytes `each` sees as well.
fn whole(path: &Path, zone: &Zone, mut each: Option<&mut Sink<'_>>) -> Result<Report, Refusal> {
    let mut input = files::open(path)?;
    let mut analyzer = Analyzer::new(Options::default().in_zone(zone.clone()));
    let mut buffer = vec![0; PIECE];
    loop {
        let read = input.read(&mut buffer);
        let count = read.map_err(|error| Failure::file(path, "read", &error))?;
        let bytes = buffer.get(..count).unwrap_or_default();
        if bytes.is_empty() {
            analyzer.finish();
            return a_log(path, analyzer.report());
        }
        analyzer.push(bytes);
        if let Some(each) = each.as_mut() {
            each(bytes).map_err(|error| Failure::file(path, "copied", &error))?;
        }
    }
}

/// Refuses another file that was named by mistake, before anything is said of it.
fn a_log(path: &Path, report: Report) -> Result<Report, Refusal> {
    if report.is_of_no_log() {
        return Err(Refusal::usage(
            format!("no line of {} is the record of a call", path.display()),
            "name a log of the recorder, of pkcs11-spy, or JSON Lines with func, rv and dur_ms",
        ));
    }
    Ok(report)
}

fn rows<'a>(findings: &'a [Finding], file: &'a str) -> Vec<sarif::Row<'a>> {
    let rows = findings.iter().map(|one| sarif::Row {
        rule: one.code,
        severity: one.severity.name(),
        message: one.happened.clone(),
        advice: one.advice,
        place: sarif::Place::File(file, one.line),
        accepted: None,
    });
    rows.collect()
}
