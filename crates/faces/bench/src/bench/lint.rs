//! `bench lint`: figures of a file that contradict each other.

use std::path::{Path, PathBuf};

use keywright_claims::Finding;
use serde::Serialize;

use crate::exit::{Exit, Failure, sentence};
use crate::output::{self, Format};

/// Find figures that contradict each other.
#[derive(Debug, clap::Args)]
pub(crate) struct LintArguments {
    /// Result files, CSV, Markdown with tables, or TOML files of claims.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

#[derive(Serialize)]
struct Report {
    files: Vec<FileReport>,
}

#[derive(Serialize)]
struct FileReport {
    file: String,
    understood: usize,
    findings: Vec<Finding>,
}

pub(super) fn run(arguments: &LintArguments, format: Format) -> Result<Exit, Failure> {
    let files = arguments.files.iter().map(|file| lint(file.as_path()));
    let report = Report {
        files: files.collect::<Result<_, _>>()?,
    };
    output::document(format, &report, || text(&report))?;
    let clean = report.files.iter().all(|file| file.findings.is_empty());
    Ok(if clean { Exit::Ok } else { Exit::Gate })
}

fn lint(file: &Path) -> Result<FileReport, Failure> {
    let bytes = std::fs::read(file).map_err(|error| Failure::file(file, "read", &error))?;
    let name = file.to_string_lossy();
    let document = keywright_claims::read(&name, &bytes).map_err(|error| {
        Failure::new(
            Exit::Usage,
            format!("{name}: {}", sentence(&error)),
            "give a result, a CSV file, Markdown with tables, or a TOML file of claims",
        )
    })?;
    Ok(FileReport {
        file: name.into_owned(),
        understood: document.understood(),
        findings: document.check(),
    })
}

fn text(report: &Report) -> String {
    let mut text = String::new();
    for file in &report.files {
        for finding in &file.findings {
            let line = finding
                .place
                .line
                .map_or_else(String::new, |line| format!(":{line}"));
            text += &format!(
                "{}{line}: {}: {}\n",
                output::line(&file.file),
                finding.check,
                output::line(&finding.sentence)
            );
        }
        text += &format!(
            "{}: {} figures understood, {} contradictions\n",
            output::line(&file.file),
            file.understood,
            file.findings.len()
        );
    }
    text
}
