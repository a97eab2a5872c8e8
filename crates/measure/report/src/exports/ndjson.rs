//! A line of JSON per case, for tools that take results line by line.
//!
//! Each line has what a case cannot say of itself beside it: the run, when it began, its seed and how it
//! ended. The case is in the form of the document.

use keywright_encoding::terminal::escaped_json;
use keywright_measure::document::{Case, Document, Ending};
use serde::Serialize;

use crate::Error;

#[derive(Serialize)]
struct Line<'a> {
    schema_version: &'a str,
    run_id: &'a str,
    started: &'a str,
    seed: u64,
    exit: &'a Ending,
    case: &'a Case,
}

/// The cases of the document, one on each line.
///
/// # Errors
/// [`Error::Unwritable`], which would be a bug.
pub fn ndjson(document: &Document) -> Result<String, Error> {
    let mut out = String::new();
    for case in &document.cases {
        let line = Line {
            schema_version: keywright_measure::document::SCHEMA_VERSION,
            run_id: &document.run.id,
            started: &document.run.started,
            seed: document.run.seed,
            exit: &document.exit,
            case,
        };
        out += &escaped_json(&serde_json::to_string(&line).map_err(Error::Unwritable)?);
        out.push('\n');
    }
    Ok(out)
}
