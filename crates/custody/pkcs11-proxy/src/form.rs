//! What a line looks like: the record as it is, or a span of OpenTelemetry.
//!
//! A span is what OTLP's JSON has under `spans` (opentelemetry.proto.trace.v1): identifiers in hexadecimal, 64-bit
//! numbers as text. Calls of one operation share a trace. [`crate::collector`] puts spans into requests.

use keywright_clock::WallTime;
use keywright_pkcs11_names::{CallRecord, ParameterValue, ReturnCode};
use keywright_primitives::random;
use serde_json::{Value, json};

use crate::event::Details;
use crate::line;
use crate::render::{self, Tags};

/// The form of lines.
pub(crate) enum Form {
    Records,
    /// With what tells the traces of this process from all others.
    Spans {
        run: u64,
    },
}

/// Of a trace that is no operation's: a call by itself.
const ALONE: u64 = 1 << 63;
/// The span of a client, in the numbers of OTLP.
const CLIENT: u8 = 3;
/// A span that failed.
const FAILED: u8 = 2;

impl Form {
    /// Spans of this process.
    pub(crate) fn spans() -> Self {
        // Without randomness traces are told apart within this process at least.
        let run = random::from_kernel().map_or(1, u64::from_le_bytes);
        Self::Spans { run }
    }

    /// Appends a line of a record and what else is known of its mechanism. One that cannot be written as JSON leaves
    /// none.
    pub(crate) fn append(
        &self,
        lines: &mut Vec<u8>,
        record: &mut CallRecord<'_>,
        (began, details): (WallTime, Option<(&Details, &Tags)>),
    ) {
        let before = lines.len();
        let written = match self {
            Self::Records => line::append(lines, record, details),
            Self::Spans { run } => {
                record.mech = details.and_then(|(details, tags)| render::mechanism(details, tags));
                serde_json::to_writer(&mut *lines, &span(*run, record, began)).is_ok()
            }
        };
        if written {
            lines.push(b'\n');
        } else {
            lines.truncate(before);
        }
    }
}

fn span(run: u64, record: &CallRecord<'_>, began: WallTime) -> Value {
    let number = record.seq.unwrap_or_default();
    let trace = record.op_id.unwrap_or(ALONE | number);
    let start = began.unix_nanos();
    let end = start.saturating_add(record.dur_ns.unwrap_or_default());
    let mut span = json!({
        "traceId": format!("{run:016x}{:016x}", trace.wrapping_add(1)),
        "spanId": format!("{:016x}", number.wrapping_add(1)),
        "name": record.func,
        "kind": CLIENT,
        "startTimeUnixNano": start.to_string(),
        "endTimeUnixNano": end.to_string(),
        "attributes": attributes(record),
    });
    if record.rv.is_some_and(|rv| rv != ReturnCode::OK)
        && let Some(object) = span.as_object_mut()
    {
        let status = json!({"code": FAILED, "message": record.rv_name});
        object.insert("status".to_owned(), status);
    }
    span
}

/// What the record holds besides, under names of this project.
fn attributes(record: &CallRecord<'_>) -> Vec<Value> {
    let mut all = Vec::new();
    let mut text = |key: &str, value: Option<&str>| {
        if let Some(value) = value {
            all.push(json!({"key": key, "value": {"stringValue": value}}));
        }
    };
    text("pkcs11.rv_name", record.rv_name.as_deref());
    text(
        "pkcs11.mechanism",
        record.mech.as_ref().map(|mech| &*mech.name),
    );
    let key = record.key.as_ref();
    text("pkcs11.key.tag", key.and_then(|key| key.tag.as_deref()));
    text("pkcs11.hint", record.hint.as_deref());
    let mut number = |key: &str, value: Option<u64>| {
        if let Some(value) = value {
            all.push(json!({"key": key, "value": {"intValue": value.to_string()}}));
        }
    };
    number("thread.id", record.tid);
    number("pkcs11.slot", record.slot_id);
    number("pkcs11.session", record.session);
    number("pkcs11.operation", record.op_id);
    number("pkcs11.key", key.map(|key| key.handle));
    number("pkcs11.key.bits", key.and_then(|key| key.bits));
    number("pkcs11.bytes_in", record.in_len);
    number("pkcs11.bytes_out", record.out_len);
    number("pkcs11.user_type", record.user_type);
    number("pkcs11.dropped", record.dropped);
    let flags = [
        ("pkcs11.size_query", record.size_query),
        ("pkcs11.blocking", record.blocking),
    ];
    for (key, _) in flags.into_iter().filter(|(_, set)| *set) {
        all.push(json!({"key": key, "value": {"boolValue": true}}));
    }
    parameters(record, &mut all);
    all
}

fn parameters(record: &CallRecord<'_>, all: &mut Vec<Value>) {
    for (name, value) in record.mech.iter().flat_map(|mech| &mech.params) {
        let value = match value {
            ParameterValue::Flag(flag) => json!({"boolValue": flag}),
            ParameterValue::Number(number) => json!({"intValue": number.to_string()}),
            ParameterValue::Text(text) => json!({"stringValue": text}),
        };
        all.push(json!({"key": format!("pkcs11.mechanism.{name}"), "value": value}));
    }
    if !record.template.is_empty() {
        let names = record.template.iter();
        let names: Vec<_> = names.map(|one| json!({"stringValue": one.attr})).collect();
        all.push(json!({"key": "pkcs11.template", "value": {"arrayValue": {"values": names}}}));
    }
}
