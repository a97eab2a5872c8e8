//! `keywright audit verify`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use keywright_audit::head::HeadId;
use keywright_audit::verify::{Failure as Verdict, Report, Verifier};
use keywright_clock::WallTime;
use keywright_encoding::hex;
use serde::{Deserialize, Serialize};

use crate::exit::{self, Exit, Failure};
use crate::output::{self, Format};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: super::Place,
    #[command(flatten)]
    signer: super::SignerArgs,
    /// A head that must be in the log: an earlier JSON report of this command, or its number and hash.
    #[arg(long, value_name = "FILE")]
    newest_head: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments, format: Format) -> Result<Exit, Failure> {
    let folder = arguments.place.folder()?;
    let mut verifier = Verifier::new(arguments.signer.read(&arguments.place)?);
    if let Some(file) = &arguments.newest_head {
        verifier = verifier.known_head(read_head(file)?);
    }
    let report = verifier
        .verify(&folder)
        .map_err(|verdict| failed(&folder, verdict))?;
    let document = Document::of(&report);
    output::document(format, &document, || document.text())?;
    Ok(Exit::Ok)
}

fn failed(folder: &Path, verdict: Verdict) -> Failure {
    match verdict {
        Verdict::Finding(finding) => {
            let happened = format!("the log in {} is not whole: {finding}", folder.display());
            let advice =
                "keep the folder as it is, and compare it with copies of the log and of its heads";
            let place = exit::Place {
                file: finding.file,
                offset: finding.offset,
                record: finding.sequence,
            };
            Failure {
                place: Some(place),
                ..Failure::new(Exit::Negative, happened, advice)
            }
        }
        Verdict::Unverified(_) => Failure::new(
            Exit::Usage,
            "not verified: the fingerprint of the log's signer is not known",
            "give --fingerprint or --fingerprint-file from outside the log, or --home DIR",
        ),
        Verdict::Io { file, source } => Failure::file(&folder.join(file), "read", &source),
        other => Failure::new(
            Exit::Internal,
            exit::sentence(&other),
            "see whether the folder can be read",
        ),
    }
}

// === the report ===

/// A head, as the report names it.
#[derive(Serialize, Deserialize)]
struct HeadDocument {
    number: u64,
    hash: String,
    #[serde(default)]
    time: String,
}

#[derive(Serialize)]
struct Document {
    whole: bool,
    records: u64,
    unsigned: u64,
    unproven: u64,
    files: u64,
    heads: u64,
    boots: u64,
    boots_without_shutdown: u64,
    cut: u64,
    first: Option<String>,
    last: Option<String>,
    newest_head: Option<HeadDocument>,
    by_type: BTreeMap<&'static str, u64>,
    by_outcome: BTreeMap<&'static str, u64>,
}

impl Document {
    fn of(report: &Report) -> Self {
        let newest = report.newest_head.map(|(id, time)| HeadDocument {
            number: id.number,
            hash: hex::encode(&id.hash),
            time: time.rfc3339(),
        });
        Self {
            whole: true,
            records: report.records,
            unsigned: report.unsigned,
            unproven: report.unproven,
            files: report.files,
            heads: report.heads,
            boots: report.boots,
            boots_without_shutdown: report.crashes,
            cut: report.cut,
            first: report.first.map(WallTime::rfc3339),
            last: report.last.map(WallTime::rfc3339),
            newest_head: newest,
            by_type: report
                .by_type
                .iter()
                .map(|(kind, count)| (kind.name(), *count))
                .collect(),
            by_outcome: report
                .by_outcome
                .iter()
                .map(|(code, count)| (code.name(), *count))
                .collect(),
        }
    }

    fn text(&self) -> String {
        let time = |time: &Option<String>| time.clone().unwrap_or_else(|| "-".to_owned());
        let counts = |counts: &BTreeMap<&str, u64>| {
            let parts: Vec<_> = counts
                .iter()
                .map(|(name, count)| format!("{name} {count}"))
                .collect();
            parts.join(", ")
        };
        let head = self.newest_head.as_ref();
        let head = head.map_or_else(
            || "-".to_owned(),
            |head| format!("{} {}", head.number, head.hash),
        );
        output::fields(&[
            ("verdict", "whole".to_owned()),
            (
                "records",
                format!(
                    "{} in {} files, {} after the newest head",
                    self.records, self.files, self.unsigned
                ),
            ),
            (
                "unproven",
                format!(
                    "{} marked by heads: nothing proved them when they were found",
                    self.unproven
                ),
            ),
            ("heads", self.heads.to_string()),
            (
                "boots",
                format!(
                    "{}, {} without a shutdown: cut short or still running",
                    self.boots, self.boots_without_shutdown
                ),
            ),
            ("cut files", self.cut.to_string()),
            ("first record", time(&self.first)),
            ("last record", time(&self.last)),
            ("types", counts(&self.by_type)),
            ("outcomes", counts(&self.by_outcome)),
            ("newest head", head),
        ])
    }
}

/// A head from an earlier report, or from a line with its number and hash.
fn read_head(file: &Path) -> Result<HeadId, Failure> {
    #[derive(Deserialize)]
    struct Earlier {
        newest_head: HeadDocument,
    }
    let bytes = crate::place::read(file)?;
    let text = String::from_utf8_lossy(&bytes);
    let parts = match serde_json::from_str::<Earlier>(&text) {
        Ok(Earlier { newest_head }) => Some((newest_head.number, newest_head.hash)),
        Err(_) => text
            .trim()
            .split_once(' ')
            .and_then(|(number, hash)| Some((number.parse().ok()?, hash.trim().to_owned()))),
    };
    let head = parts.and_then(|(number, hash)| {
        Some(HeadId {
            number,
            hash: hex::decode_array(&hash).ok()?,
        })
    });
    head.ok_or_else(|| {
        let happened = format!("{} names no head", file.display());
        Failure::new(
            Exit::Usage,
            happened,
            "give the JSON report of an earlier audit verify, or a line with number and hash",
        )
    })
}
