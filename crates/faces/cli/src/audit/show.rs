//! `keywright audit show`.

use std::path::Path;
use std::str::FromStr;

use keywright_audit::head::Fingerprint;
use keywright_audit::show::{Filter, ShowError, show};
use keywright_audit::verify::{Failure as Verdict, Verifier};
use keywright_audit::{Fault, Finding};
use keywright_encoding::{hex, terminal};
use keywright_types::{Code, KeyId, Operation, PrincipalId, RequestId};
use serde_json::Value;

use crate::exit::{self, Exit, Failure, sentence};
use crate::output::{self, Reader};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    place: super::Place,
    #[command(flatten)]
    signer: super::SignerArgs,
    /// Begin at this record: a number for every file, or FILE:NUMBER for one place of the whole.
    #[arg(long, value_name = "RECORD")]
    from: Option<From>,
    /// Stop after so many records.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Only the record of this request.
    #[arg(long, value_name = "ID")]
    request: Option<RequestId>,
    /// Only what this principal did.
    #[arg(long, value_name = "ID")]
    principal: Option<PrincipalId>,
    /// Only what was done with this context's key.
    #[arg(long, value_name = "ID")]
    context: Option<KeyId>,
    /// Only what ended with this code, such as ok or decryption_failed.
    #[arg(long, value_name = "CODE")]
    outcome: Option<Code>,
    /// Only this operation, such as decrypt or key-rotate.
    #[arg(long, value_name = "NAME")]
    operation: Option<Operation>,
}

/// Where to begin.
#[derive(Clone, Debug)]
enum From {
    Number(u64),
    Place(String, u64),
}

impl FromStr for From {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.rsplit_once(':') {
            Some((file, number)) => Ok(Self::Place(file.to_owned(), number.parse()?)),
            None => Ok(Self::Number(text.parse()?)),
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<Exit, Failure> {
    let folder = arguments.place.folder()?;
    let fingerprint = arguments.signer.read(&arguments.place)?;
    let records = show(&folder, arguments.filter())
        .map_err(|error| Failure::file(&folder, "read", &error))?;
    let signer = records
        .signer()
        .map(|signer| hex::encode(signer.as_bytes()));
    compare_signer(&folder, fingerprint, signer.as_deref())?;
    let (mut begun, mut shown, mut first_error) = (false, 0, None);
    for record in records {
        let mut record = match record {
            Ok(record) => record,
            // What can be read of the other files is still shown.
            Err(error) => {
                first_error.get_or_insert(error);
                continue;
            }
        };
        begun |= arguments.begins(&record);
        if !begun || !arguments.admits(&record) {
            continue;
        }
        if arguments.limit.is_some_and(|limit| shown >= limit) {
            return Ok(Exit::Ok);
        }
        record["schema_version"] = 1.into();
        if record["evidence"] != "unsigned" {
            record["signer"] = signer.as_deref().into();
        }
        let line = format!("{record}\n");
        if output::data(terminal::escaped_json(&line).as_bytes())? == Reader::Gone {
            return Ok(Exit::Ok);
        }
        shown += 1;
    }
    match (first_error, &arguments.from) {
        (Some(error), _) => Err(failed(error)),
        (None, Some(From::Place(file, number))) if !begun => {
            let happened = format!("there is no record {number} in {file}");
            Err(Failure::new(
                Exit::NotFound,
                happened,
                "take file and sequence from a record that is shown without --from",
            ))
        }
        _ => Ok(Exit::Ok),
    }
}

/// Refuses the log of a foreign key if a fingerprint is known; else says whose key has signed it.
fn compare_signer(
    folder: &Path,
    fingerprint: Option<Fingerprint>,
    signer: Option<&str>,
) -> Result<(), Failure> {
    let signer = signer.unwrap_or("no head that can be read");
    if fingerprint.is_none() {
        message!("signed by {signer}, not compared: give --fingerprint HEX from outside the log");
        return Ok(());
    }
    match Verifier::new(fingerprint).verify(folder) {
        Err(Verdict::Finding(Finding {
            fault: Fault::Signer,
            ..
        })) => Err(Failure::new(
            Exit::Negative,
            format!(
                "the log in {} is not of this signer: signed by {signer}",
                folder.display()
            ),
            "compare with the fingerprint that admin init printed, or give that of this log",
        )),
        // Records are shown as far as they can be read.
        Err(error) => {
            let error = sentence(&error);
            message!("signed by {signer}, not compared, since the log is not whole: {error}");
            Ok(())
        }
        Ok(_) => Ok(()),
    }
}

impl Arguments {
    /// The part of the choice that needs no JSON; a place to begin at must not be filtered away.
    fn filter(&self) -> Filter {
        match self.from {
            Some(From::Place(..)) => Filter::default(),
            _ => Filter {
                request: self.request,
                principal: self.principal,
                context: self.context,
                ..Filter::default()
            },
        }
    }

    fn begins(&self, record: &Value) -> bool {
        match &self.from {
            Some(From::Place(file, number)) => {
                record["file"] == file.as_str() && record["sequence"] == *number
            }
            _ => true,
        }
    }

    fn admits(&self, record: &Value) -> bool {
        fn is(record: &Value, field: &str, wanted: Option<impl ToString>) -> bool {
            wanted.is_none_or(|wanted| record[field] == wanted.to_string().as_str())
        }
        let number = record["sequence"].as_u64();
        let late_enough = match self.from {
            Some(From::Number(first)) => number >= Some(first),
            _ => true,
        };
        late_enough
            && is(record, "request", self.request)
            && is(record, "principal", self.principal)
            && is(record, "key", self.context)
            && is(record, "outcome", self.outcome.map(Code::name))
            && is(record, "operation", self.operation.map(Operation::name))
    }
}

fn failed(error: ShowError) -> Failure {
    let happened = format!("not everything was shown: {}", sentence(&error));
    match error {
        ShowError::Finding(finding) => {
            let place = exit::Place {
                file: finding.file,
                offset: finding.offset,
                record: finding.sequence,
            };
            let advice = "run audit verify on a copy of the folder";
            Failure {
                place: Some(place),
                ..Failure::new(Exit::Negative, happened, advice)
            }
        }
        _ => Failure::new(
            Exit::Internal,
            happened,
            "check that the folder can be read",
        ),
    }
}
