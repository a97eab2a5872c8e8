//! audit-keys.

use std::path::{Path, PathBuf};

use keywright_clock::Clock;
use keywright_encoding::terminal::escaped;
use keywright_hsm::Access;
use keywright_hsm::audit::RuleError;
use keywright_hsm::audit::{
    self, Accepted, AuditReport, Baseline, Day, FIELDS, Issue, RuleSet, Severity, State, Waivers,
};

use super::answer::{Answer, Beside, Refusal};
use super::files::{self, Output};
use super::pin::UserPin;
use super::place::{Entry, Place};
use super::sarif;
use crate::exit::Exit;
use crate::output::{Format, table};

/// A token to hold against rules.
#[derive(Debug, clap::Args)]
pub(crate) struct AuditWords {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    pin: UserPin,
    /// A file of rules in place of those that are built in (TOML; `builtin = true` in it keeps them).
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// A file of findings that somebody answers for, each with a reason and a last day (TOML).
    #[arg(long, value_name = "FILE")]
    waivers: Option<PathBuf>,
    /// A file of findings that were accepted: they are shown and do not count.
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,
    /// Write the findings of this run into a file for --baseline.
    #[arg(long, value_name = "FILE")]
    write_baseline: Option<PathBuf>,
    /// End with 3 if a finding that counts weighs this or more: low, medium, high, critical, or never.
    #[arg(long, value_name = "SEVERITY", default_value = "high", value_parser = threshold)]
    fail_on: Threshold,
    /// Show the names that conditions can use, and nothing else.
    #[arg(long)]
    fields: bool,
    /// Show the rules that are built in, as a file, and nothing else.
    #[arg(long)]
    show_rules: bool,
    /// The day for dates and waivers [default: today].
    #[arg(long, value_name = "YYYY-MM-DD")]
    on: Option<Day>,
    #[command(flatten)]
    output: Output,
}

/// From which weight on findings fail.
#[derive(Clone, Copy, Debug)]
pub(super) struct Threshold(Option<Severity>);

fn threshold(text: &str) -> Result<Threshold, String> {
    match text {
        "never" => Ok(Threshold(None)),
        _ => {
            let severity = text.parse::<Severity>();
            severity
                .map(|severity| Threshold(Some(severity)))
                .map_err(|error| format!("{error}, or never"))
        }
    }
}

pub(super) fn audit_keys(words: &AuditWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    if words.fields {
        return Ok(fields());
    }
    if words.show_rules {
        let data = serde_json::json!({ "rules": RuleSet::builtin_text() });
        return Ok(Answer::of(&data).text(RuleSet::builtin_text()));
    }
    // Whatever is wrong with a file is said before the token is asked for a PIN.
    let rules = match &words.rules {
        Some(path) => read(path, RuleSet::read)?,
        None => RuleSet::builtin(),
    };
    let waivers = match &words.waivers {
        Some(path) => read(path, Waivers::read)?,
        None => Waivers::default(),
    };
    let baseline = words.baseline.as_deref().map(accepted).transpose()?;
    let how = (Access::Read, Entry::Needed);
    let desk = words.place.desk(beside, &words.pin, how, &[])?;
    let today = words.on.unwrap_or_else(today);
    let report = audit::audit(&desk, &rules, &Accepted::new(waivers, baseline), today)?;
    beside.warnings.extend(report.notes.iter().cloned());
    if let Some(path) = &words.write_baseline {
        keep(path, &report)?;
    }
    let fails = words
        .fail_on
        .0
        .zip(report.worst())
        .is_some_and(|(least, worst)| worst >= least);
    let text = match beside.format {
        Some(Format::Sarif) => sarif::document("audit-keys", &rows(&report)),
        Some(Format::Csv) => spreadsheet(&report),
        _ => in_words(&report),
    };
    let exit = if fails { Exit::Gate } else { Exit::Ok };
    Ok(words
        .output
        .place_text(Answer::of(&report).text(text))?
        .exit(exit))
}

fn today() -> Day {
    let seconds = Clock::system().wall().unix_seconds();
    Day::from_days(i64::try_from(seconds / 86_400).unwrap_or_default())
}

fn read<T>(path: &Path, parse: impl FnOnce(&str) -> Result<T, RuleError>) -> Result<T, Refusal> {
    let bytes = files::read(path)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Refusal::usage(
            format!("{} is not text", path.display()),
            "name the right file",
        )
    })?;
    parse(&text).map_err(|error| {
        Refusal::usage(
            format!("{}, {error}", path.display()),
            "correct it; --fields lists the names of conditions, --show-rules shows rules as they are written",
        )
    })
}

fn accepted(path: &Path) -> Result<Baseline, Refusal> {
    let bytes = files::read(path)?;
    let read = serde_json::from_slice::<Baseline>(&bytes).ok();
    let read = read.and_then(|read| read.checked().ok());
    read.ok_or_else(|| {
        Refusal::usage(
            format!("{} is not a baseline of audit-keys", path.display()),
            "name a file that --write-baseline made",
        )
    })
}

fn keep(path: &Path, report: &AuditReport) -> Result<(), Refusal> {
    let baseline = Baseline::of(report.marks());
    let mut text = serde_json::to_vec_pretty(&baseline).unwrap_or_default();
    text.push(b'\n');
    files::replace(path, &text)
}

fn fields() -> Answer {
    let rows: Vec<_> = FIELDS
        .iter()
        .map(|field| {
            let kind = field.kind.to_string();
            let kind = kind.split(' ').next().unwrap_or_default().to_owned();
            vec![field.name.to_owned(), kind, field.about.to_owned()]
        })
        .collect();
    let data: Vec<_> = rows
        .iter()
        .map(|row| serde_json::json!({ "name": row.first(), "kind": row.get(1), "about": row.get(2) }))
        .collect();
    Answer::of(&serde_json::json!({ "fields": data })).text(table(&rows))
}

fn in_words(report: &AuditReport) -> String {
    let mut text = String::new();
    for issue in &report.issues {
        let name = match issue.key_label.is_empty() {
            true => &issue.uri,
            false => &issue.key_label,
        };
        let state = match (issue.state, &issue.waived) {
            (State::New, _) => String::new(),
            (_, Some(waived)) => format!(" [waived until {}: {}]", waived.until, waived.reason),
            _ => " [known]".to_owned(),
        };
        let lines = [
            format!(
                "{} {} {} {name:?}{state}",
                issue.severity, issue.issue_type, issue.key_class
            ),
            format!("  {}", issue.description),
            format!("  {}", issue.recommendation),
        ];
        for line in lines {
            text.push_str(&crate::output::line(&line));
            text.push('\n');
        }
    }
    let sums = &report.summary;
    text.push_str(&format!(
        "{} objects, {} rules: {} findings ({} critical, {} high, {} medium, {} low), {} known, {} waived\n",
        report.total_objects, report.rules_applied, sums.total_issues, sums.critical_count, sums.high_count,
        sums.medium_count, sums.low_count, sums.known_count, sums.waived_count
    ));
    text
}

fn rows(report: &AuditReport) -> Vec<sarif::Row<'_>> {
    let row = |issue: &'_ Issue| -> Option<String> {
        match (issue.state, &issue.waived) {
            (State::New, _) => None,
            (_, Some(waived)) => Some(waived.reason.clone()),
            _ => Some("in the baseline".to_owned()),
        }
    };
    let rows = report.issues.iter().map(|issue| sarif::Row {
        rule: &issue.issue_type,
        severity: issue.severity.name(),
        message: format!(
            "{} {:?}: {}",
            issue.key_class, issue.key_label, issue.description
        ),
        advice: &issue.recommendation,
        place: sarif::Place::Object(&issue.uri),
        accepted: row(issue),
    });
    rows.collect()
}

fn spreadsheet(report: &AuditReport) -> String {
    let cell = |text: &str| format!("\"{}\"", escaped(text).replace('"', "\"\""));
    let mut out =
        "severity,issue,class,label,id,state,description,recommendation,uri\r\n".to_owned();
    for issue in &report.issues {
        let state = match issue.state {
            State::New => "new",
            State::Known => "known",
            State::Waived => "waived",
        };
        // A label that begins like a formula is text all the same.
        let label = match issue.key_label.starts_with(['=', '+', '-', '@']) {
            true => format!("'{}", issue.key_label),
            false => issue.key_label.clone(),
        };
        let cells = [
            issue.severity.name(),
            &issue.issue_type,
            &issue.key_class,
            &label,
            &issue.id,
            state,
            &issue.description,
            &issue.recommendation,
            &issue.uri,
        ];
        out.push_str(&cells.map(cell).join(","));
        out.push_str("\r\n");
    }
    out
}
