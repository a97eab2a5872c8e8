//! Records as JSON, for people and for other tools (`audit show`).
//!
//! Every known number is shown by its name, ids and hashes in hexadecimal, times as RFC 3339 in UTC with
//! nanoseconds; a field that this version does not know is shown by its number and its raw bytes. Files
//! come one after another, in the order of their first records. Not here: whether the log is whole. A
//! record is shown only if it fits the chain of its file, which anyone could have written: use `verify`. `evidence` says
//! what the heads in the folder say of it, whoever signed them: `signed` if they state it, `unproven` if they state it as such, `unsigned`
//! if it stands behind the newest.

use std::io;
use std::path::{Path, PathBuf};

use keywright_clock::WallTime;
use keywright_encoding::hex;
use keywright_types::{KeyId, PrincipalId, RequestId};
use serde_json::{Value, json};

use crate::AuditError;
use crate::chain::{FileId, FileState, ReadError, Step};
use crate::check::CheckKey;
use crate::field::{Field, Resumption};
use crate::finding::Finding;
use crate::head::Fingerprint;
use crate::history::{self, Proofs};
use crate::record::{Entry, Facts, ReadField};

/// Which records to show; everything that is set must fit.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a plain choice, made with `..Filter::default()`"
)]
pub struct Filter {
    /// Only this request.
    pub request: Option<RequestId>,
    /// Only this principal.
    pub principal: Option<PrincipalId>,
    /// Only this context.
    pub context: Option<KeyId>,
    /// Not before this time.
    pub from: Option<WallTime>,
    /// Before this time.
    pub until: Option<WallTime>,
}

impl Filter {
    fn admits(&self, facts: &Facts) -> bool {
        self.request.is_none_or(|request| facts.request == request)
            && self
                .principal
                .is_none_or(|principal| facts.principal == principal)
            && self.context.is_none_or(|context| facts.key == context)
            && self.from.is_none_or(|from| facts.time >= from)
            && self.until.is_none_or(|until| facts.time < until)
    }
}

/// Why a file is not shown to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShowError {
    /// The chain breaks here; the rest of the file is skipped.
    #[error("{0}")]
    Finding(#[from] Finding),
    /// A file could not be read.
    #[error("{file} cannot be read")]
    Io {
        /// The file's name.
        file: String,
        /// What the operating system said.
        source: io::Error,
    },
}

/// The records of a folder.
///
/// # Errors
/// What the file system says when the folder is listed; each item has its own.
pub fn show(dir: &Path, filter: Filter) -> io::Result<Records> {
    let mut files = Vec::new();
    for file in history::list(dir)?.records {
        let mut reader = history::open_records(dir, file)?;
        let first = match reader.step() {
            Ok(Step::Record) => reader.entry().map(|entry| entry.facts().time),
            _ => None,
        };
        files.push((first, file));
    }
    files.sort_by(|a, b| b.cmp(a));
    // Without heads that can be read, nothing is signed.
    let proofs = history::proofs(dir, None).unwrap_or_default();
    Ok(Records {
        proofs,
        judged: false,
        dir: dir.to_owned(),
        filter,
        files,
        current: None,
    })
}

/// Iterates over the records of a folder.
#[derive(Debug)]
pub struct Records {
    dir: PathBuf,
    filter: Filter,
    /// The files that are still to come, the next one last.
    files: Vec<(Option<WallTime>, FileId)>,
    current: Option<(String, history::Records)>,
    /// What heads state, and what check frames prove where there is a key.
    proofs: Proofs,
    judged: bool,
}

impl Iterator for Records {
    type Item = Result<Value, ShowError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some((name, mut reader)) = self.current.take() else {
                let (_, file) = self.files.pop()?;
                let name = file.file_name();
                match history::open_records(&self.dir, file) {
                    Ok(reader) => self.current = Some((name, reader)),
                    Err(source) => return Some(Err(ShowError::Io { file: name, source })),
                }
                continue;
            };
            let state = reader.state();
            match reader.step() {
                Ok(Step::Record) => {
                    let shown = reader
                        .entry()
                        .filter(|entry| self.filter.admits(entry.facts()))
                        .map(|entry| {
                            let mut shown = to_json(&name, &entry);
                            shown["evidence"] = self.evidence(&reader.state()).into();
                            shown
                        });
                    self.current = Some((name, reader));
                    if let Some(shown) = shown {
                        return Some(Ok(shown));
                    }
                }
                Ok(Step::Check(_)) => self.current = Some((name, reader)),
                Ok(Step::End | Step::Cut) => {}
                Err(ReadError::Io(source)) => {
                    return Some(Err(ShowError::Io { file: name, source }));
                }
                Err(ReadError::Fault(_)) if reader.is_unused_tail().unwrap_or(false) => {}
                Err(ReadError::Fault(fault)) => {
                    let (offset, sequence) = (state.length, Some(state.sequence + 1));
                    return Some(Err(Finding {
                        file: name,
                        offset,
                        sequence,
                        fault,
                    }
                    .into()));
                }
            }
        }
    }
}

impl Records {
    /// The fingerprint of the key that has signed the newest head. Anybody can sign a log with a key of their own:
    /// compare it with one from outside.
    #[must_use]
    pub const fn signer(&self) -> Option<Fingerprint> {
        self.proofs.signer
    }

    /// Has what stands behind the newest head judged under the check key: `checked` or `unproven` instead of `unsigned`.
    ///
    /// # Errors
    /// [`AuditError`]: heads or records cannot be read.
    pub fn judged_by(self, key: &CheckKey) -> Result<Self, AuditError> {
        let proofs = history::proofs(&self.dir, Some(key))?;
        Ok(Self {
            proofs,
            judged: true,
            ..self
        })
    }

    /// What heads say of the record that was read last.
    fn evidence(&self, state: &FileState) -> &'static str {
        let extent = self
            .proofs
            .extents
            .get(&state.file)
            .copied()
            .unwrap_or_default();
        match extent.evidence(state.length) {
            // Without the check key nobody knows more of it.
            _ if !self.judged && state.length > extent.signed => "unsigned",
            evidence => evidence.name(),
        }
    }
}

/// One record.
#[must_use]
pub fn to_json(file: &str, entry: &Entry<'_>) -> Value {
    let facts = entry.facts();
    let nanos = u64::try_from(facts.duration.as_nanos()).unwrap_or(u64::MAX);
    json!({
        "file": file,
        "sequence": entry.sequence(),
        "type": facts.kind.name(),
        "time": time(facts.time),
        "epoch": facts.epoch,
        "request": facts.request,
        "tenant": facts.tenant,
        "principal": facts.principal,
        "connection": facts.connection,
        "operation": facts.operation,
        "outcome": facts.outcome,
        "key": facts.key,
        "version": facts.version,
        "items": facts.items,
        "failed": facts.failed,
        "bytes_in": facts.bytes_in,
        "bytes_out": facts.bytes_out,
        "duration_ns": nanos,
        "fields": entry.fields().map(|field| field_json(&field)).collect::<Vec<_>>(),
    })
}

fn field_json(field: &ReadField<'_>) -> Value {
    match field {
        ReadField::Known(field) => json!({ "name": field.tag().name(), "value": value(field) }),
        ReadField::Unknown { tag, bytes } => json!({ "tag": tag, "bytes": hex::encode(bytes) }),
    }
}

fn value(field: &Field<'_>) -> Value {
    match field {
        Field::MessageId(id) => hex::encode(id).into(),
        Field::ItemGroups(groups) => {
            let listed = groups.iter().map(|group| {
                json!({
                    "version": group.version,
                    "outcome": group.outcome,
                    "items": group.items,
                })
            });
            json!({ "groups": listed.collect::<Vec<_>>(), "other": groups.other() })
        }
        Field::ItemIds(ids) => ids.iter().map(|id| hex::encode(id)).collect(),
        Field::Reason(reason) => reason.name().into(),
        Field::Address(address) => address.to_string().into(),
        Field::AddressPrefix(prefix) => prefix.to_string().into(),
        Field::ItemDigest(bytes)
        | Field::Anchor(bytes)
        | Field::Leaf(bytes)
        | Field::NewestHead(bytes)
        | Field::OrderDigest(bytes) => hex::encode(bytes).into(),
        Field::Serial(serial) => hex::encode(serial.as_bytes()).into(),
        Field::Subject(subject) => subject.as_str().into(),
        Field::Resumed(resumed) => (*resumed == Resumption::Resumed).into(),
        Field::Name(name) => name.as_str().into(),
        Field::Row(row) => json!({
            "table": row.table.as_str(),
            "key": hex::encode(row.key),
            "row": hex::encode(row.row),
            "mac": hex::encode(row.mac),
        }),
        Field::Installation(id) => id.to_string().into(),
        Field::Node(id) => id.to_string().into(),
        Field::Boot(id) => id.to_string().into(),
        Field::Writer(writer) => (*writer).into(),
        Field::Preallocated(length) => (*length).into(),
        Field::CarriedFrom(place) => {
            json!({ "file": place.file.file_name(), "sequence": place.sequence })
        }
        Field::Group(id) => id.to_string().into(),
        Field::Paths(paths) => paths.iter().collect(),
        Field::Approval(id) => id.to_string().into(),
        Field::Searchable(searchable) => hex::encode(searchable.as_bytes()).into(),
        Field::DataKey(id) => id.to_string().into(),
        Field::AboutPrincipal(id) => id.to_string().into(),
        Field::AboutTenant(id) => id.to_string().into(),
        Field::NotAfter(seconds) => WallTime::from_unix_seconds(*seconds).rfc3339().into(),
    }
}

/// RFC 3339 with nanoseconds.
fn time(time: WallTime) -> String {
    let seconds = time.rfc3339();
    let nanos = time.unix_nanos() % 1_000_000_000;
    format!("{}.{nanos:09}Z", seconds.trim_end_matches('Z'))
}
