//! What a run came to, as text or JSON.

use std::time::Duration;

use keywright_protect::{Direction, Files, Plan, Summary, protection_of};
use serde::Serialize;

use super::Opened;
use crate::exit::Failure;
use crate::output::{self, Format};

#[derive(Serialize)]
struct Told {
    command: &'static str,
    input: String,
    output: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    protection: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rejects: Option<String>,
    rows: u64,
    /// Lines of the file that the rows take; nothing where tables have no lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<u64>,
    written: u64,
    rejected: u64,
    /// Rows that an interrupted run had done.
    resumed: u64,
    bytes: u64,
    seconds: f64,
    rows_per_s: f64,
    columns: Vec<Column>,
    /// Entries of the input's metadata that the output does not have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    metadata_left_out: Vec<String>,
}

#[derive(Serialize)]
struct Column {
    name: String,
    changed: u64,
    empty: u64,
    nulled: u64,
    rejected: u64,
}

pub(super) fn summary(
    summary: &Summary,
    took: Duration,
    (source, plan, files): (&Opened, &Plan, &Files),
    format: Format,
) -> Result<(), Failure> {
    let seconds = took.as_secs_f64();
    let new = summary.rows - summary.resumed;
    let columns = summary.columns.iter().map(|column| Column {
        name: column.name.clone(),
        changed: column.counts.changed,
        empty: column.counts.empty,
        nulled: column.counts.nulled,
        rejected: column.counts.rejected,
    });
    let told = Told {
        command: match plan.direction() {
            Direction::Reveal => "reveal",
            Direction::Migrate => "migrate",
            _ => "protect",
        },
        input: source.path().display().to_string(),
        output: files.output().display().to_string(),
        protection: plan
            .protection()
            .map(|_| protection_of(files.output()).display().to_string()),
        rejects: (summary.rejected > 0).then(|| files.rejects().display().to_string()),
        rows: summary.rows,
        lines: summary.lines,
        written: summary.rows - summary.rejected,
        rejected: summary.rejected,
        resumed: summary.resumed,
        bytes: summary.bytes,
        seconds,
        rows_per_s: new as f64 / seconds.max(f64::MIN_POSITIVE),
        columns: columns.collect(),
        metadata_left_out: summary.left_out.clone(),
    };
    output::document(format, &told, || told.text())
}

impl Told {
    fn text(&self) -> String {
        let heading = ["COLUMN", "CHANGED", "EMPTY", "NULLED", "REJECTED"];
        let mut table = vec![heading.map(str::to_owned).to_vec()];
        for column in &self.columns {
            table.push(vec![
                column.name.clone(),
                column.changed.to_string(),
                column.empty.to_string(),
                column.nulled.to_string(),
                column.rejected.to_string(),
            ]);
        }
        let mut text = output::table(&table);
        let on_lines = |lines| format!(" on {}", output::counted(lines, "line"));
        let lines = self.lines.map(on_lines);
        text.push_str(&format!(
            "{}{} in {:.1} s, {} written to {}\n",
            output::counted(self.rows, "row"),
            lines.unwrap_or_default(),
            self.seconds,
            self.written,
            output::line(&self.output)
        ));
        if self.resumed > 0 {
            let line = format!("{} of them by a run that was interrupted\n", self.resumed);
            text.push_str(&line);
        }
        if let Some(rejects) = &self.rejects {
            let rejects = output::line(rejects);
            let rejected = output::counted(self.rejected, "row");
            text.push_str(&format!("{rejected} rejected to {rejects}\n"));
        }
        for entry in &self.metadata_left_out {
            let entry = output::line(entry);
            let line = format!("metadata left out, it may hold values of these columns: {entry}\n");
            text.push_str(&line);
        }
        if let Some(protection) = &self.protection {
            let protection = output::line(protection);
            text.push_str(&format!("{protection} belongs beside it\n"));
        }
        text
    }
}
