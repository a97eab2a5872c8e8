//! A copy of a log without what it should not have held.
//!
//! What is kept is chosen, not what is left out. Of the spy's text: the lines that name calls, times, handles,
//! mechanisms, lengths and answers, and attributes whose value is a name or a flag. Of JSON: the fields of the
//! schema. All other lines are gone, and counted.

use keywright_pkcs11_names::CallRecord;

use crate::lines::{End, Lines};
use crate::spy::{Line, classify};

/// What became of the lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scrubbed {
    /// Kept, as they were or without what follows a name.
    pub kept: u64,
    /// Left out.
    pub removed: u64,
}

/// Makes the copy, piece by piece.
#[derive(Debug, Default)]
pub struct Scrubber {
    lines: Lines,
    count: Scrubbed,
}

impl Scrubber {
    /// One that has read nothing.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes bytes of the log and adds what may be kept to `out`.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>) {
        let Self { lines, count } = self;
        lines.push(bytes, |line, end| one(line, end, count, out));
    }

    /// The end of the log.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Scrubbed {
        let Self { lines, count } = self;
        lines.finish(|line, end| one(line, end, count, out));
        self.count
    }
}

fn one(line: &[u8], end: End, count: &mut Scrubbed, out: &mut Vec<u8>) {
    let kept = match (end, line.first()) {
        (End::Cut, _) => None,
        (_, None) => Some(Vec::new()),
        (_, Some(b'{')) => record(line),
        _ => text(line),
    };
    match kept {
        Some(kept) => {
            count.kept += 1;
            out.extend_from_slice(&kept);
            out.push(b'\n');
        }
        None => count.removed += 1,
    }
}

/// The fields that the schema has.
fn record(line: &[u8]) -> Option<Vec<u8>> {
    let mut record: CallRecord<'_> = serde_json::from_slice(line).ok()?;
    if !record.v.is_empty() && !record.is_ours() {
        return None;
    }
    record.dur_ns = record.duration_ns();
    record.hint = None;
    serde_json::to_vec(&record).ok()
}

fn text(line: &[u8]) -> Option<Vec<u8>> {
    match classify(line) {
        Line::Banner | Line::Header(..) | Line::Time(_) | Line::Returned(_) => Some(line.to_vec()),
        Line::Loaded(name) => Some(format!("Loaded: \"{name}\"").into_bytes()),
        Line::Field(_) => std::str::from_utf8(line).ok().and_then(field),
        Line::Detail => std::str::from_utf8(line).ok().and_then(detail),
        Line::Dump | Line::Other => None,
    }
}

/// Values that are numbers or names of the standard; lengths of buffers, except of PINs.
fn field(line: &str) -> Option<Vec<u8>> {
    let (mark, rest) = line.split_once(' ')?;
    if let Some((name, value)) = rest.split_once(" = ") {
        let value = value.split("[out] ").next().unwrap_or(value).trim();
        let named = value.starts_with("CK")
            && value
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let unknown = value.strip_prefix("Unknown Mechanism (");
        let unknown = unknown.is_some_and(|rest| is_hexadecimal(rest.trim_end_matches(')')));
        let number = is_hexadecimal(value.strip_prefix("0x").unwrap_or(value));
        return (named || unknown || number || matches!(value, "NULL" | "(nil)"))
            .then(|| format!("{mark} {name} = {value}").into_bytes());
    }
    let (name, behind) = rest.split_once("] ")?;
    let (address, bytes) = behind.split_once(" / ")?;
    let zero = address.bytes().all(|byte| byte == b'0');
    let address = if zero {
        "0000000000000000"
    } else {
        "0000000000000001"
    };
    let length = bytes.trim();
    let plain = length.len() <= 20 && length.bytes().all(|byte| byte.is_ascii_digit());
    (plain && !name.contains("Pin"))
        .then(|| format!("{mark} {name}] {address} / {length}").into_bytes())
}

fn is_hexadecimal(text: &str) -> bool {
    (1..=16).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Attributes that are a flag or a name, and lists of numbers and names.
fn detail(line: &str) -> Option<Vec<u8>> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let fine = match words.as_slice() {
        [name, value] if name.starts_with("CKA_") => {
            matches!(*value, "True" | "False") || value.starts_with("CK")
        }
        ["Count", "is", count] | ["Slot", count] => count.bytes().all(|byte| byte.is_ascii_digit()),
        ["Object", handle, "matches"] => handle.strip_prefix("0x").is_some_and(is_hexadecimal),
        ["[compat]"] => true,
        [name] => name.starts_with("CKM_") || name.starts_with("CKF_"),
        _ => false,
    };
    fine.then(|| line.as_bytes().to_vec())
}
