//! From a file to its cases: which form it has is seen in the file itself.

mod acvp;
mod families;
mod fields;
mod own;
mod samples;
mod trees;
mod wycheproof;

use std::path::Path;

use serde_json::Value as Json;

pub(super) use self::families::{Judged, Ruling};
use self::fields::{Fields, Wrong};
use super::case::Case;
use crate::exit::{Exit, Failure};

/// What a file holds.
#[derive(Debug)]
pub(super) enum Content {
    /// Cases that this command runs.
    Cases(Vec<Case>),
    /// Cases of what sessions are made of, which were run while they were read.
    Judged(Vec<Judged>),
    /// So many cases of something else.
    Other { cases: u64, of: String },
    /// No vectors, as far as can be told.
    Unknown,
}

/// The largest file that is read, in bytes.
const LARGEST: u64 = 256 << 20;

/// Reads a file.
///
/// A file that has the beginning of a form and not the rest of it is an error, never half its cases.
pub(super) fn read(path: &Path) -> Result<Content, Failure> {
    let extension = path.extension().and_then(|ending| ending.to_str());
    let Some(extension @ ("csv" | "json" | "tsv" | "tv" | "txt")) = extension else {
        return Ok(Content::Unknown);
    };
    let failed = |error| Failure::file(path, "read", &error);
    if std::fs::metadata(path).map_err(failed)?.len() > LARGEST {
        return Err(wrong(path, &Wrong::TooLarge));
    }
    let bytes = std::fs::read(path).map_err(failed)?;
    let content = match (extension, std::str::from_utf8(&bytes)) {
        ("json", _) => match serde_json::from_slice(&bytes) {
            Ok(json) => of_json(path, &json),
            Err(_) => Err(Wrong::NotJson),
        },
        ("csv", Ok(text)) => {
            trees::of_table(text).map_or(Ok(Content::Unknown), |judged| judged.map(Content::Judged))
        }
        ("tsv", Ok(text)) => acvp::table(path, text),
        ("tv", Ok(text)) => samples::blocks(text),
        (_, Ok(text)) => samples::ffx(text),
        (_, Err(_)) => Ok(Content::Unknown),
    };
    content.map_err(|error| wrong(path, &error))
}

fn wrong(path: &Path, error: &Wrong) -> Failure {
    Failure::new(
        Exit::Usage,
        format!("{}: {error}", path.display()),
        "see whether the file is whole; take it anew from where it was published",
    )
}

fn of_json(path: &Path, json: &Json) -> Result<Content, Wrong> {
    // The validation server wraps its file into a list behind a version.
    let body = match json.as_array().map(Vec::as_slice) {
        Some([_, body]) => body,
        _ => json,
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if let Some(judged) = families::of_list(&name, json) {
        return judged.map(Content::Judged);
    }
    let Ok(file) = Fields::new(name, body) else {
        return Ok(Content::Unknown);
    };
    if let Some(judged) = trees::of_json(&file, body) {
        return judged.map(Content::Judged);
    }
    if let Some(judged) = families::of_json(&file) {
        return judged.map(Content::Judged);
    }
    if file.has("testGroups") {
        return match file.has("numberOfTests") {
            true => wycheproof::read(&file),
            false => acvp::json(&file),
        };
    }
    if !file.has("cases") {
        return Ok(Content::Unknown);
    }
    let cases = file.list("cases")?;
    let Some(first) = cases.first() else {
        return Ok(Content::Unknown);
    };
    if file.text("format").is_ok_and(|format| format == "fpe") {
        return own::golden(&cases);
    }
    match (first.has("alg"), first.has("plaintext")) {
        (true, _) => own::published(&cases),
        (false, true) => samples::json(&file, &cases),
        (false, false) => Ok(Content::Unknown),
    }
}
