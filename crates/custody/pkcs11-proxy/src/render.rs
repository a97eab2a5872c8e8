//! An event as the record of a call.

use std::borrow::Cow;

use keywright_clock::WallTime;
use keywright_pkcs11_names::{
    AttributeSummary, AttributeType, CallRecord, Function, KeySummary, KeyType, MechanismSummary,
    MechanismType, Named as _, ObjectClass, ParameterValue, ReturnCode,
};
use keywright_primitives::mac::MacKey;
use keywright_primitives::random::RandomStream;

use crate::context::Known;
use crate::event::{Attribute, Details, Event, Parameter};
use crate::settings::Labels;

/// Makes tags: equal for equal values of one kind within this log, and nothing to anybody else.
pub(crate) struct Tags {
    key: Option<MacKey>,
    labels: Labels,
}

impl Tags {
    /// With a key of its own. Without randomness there are no tags.
    pub(crate) fn new(labels: Labels) -> Self {
        let random = RandomStream::new().and_then(|mut stream| stream.secret::<32>());
        Self {
            key: random.ok().map(|key| MacKey::new(key.expose())),
            labels,
        }
    }

    fn tag(&self, kind: &[u8], value: &[u8]) -> Option<String> {
        let mac = self.key.as_ref()?.mac_pieces(&[kind, b"\0", value]);
        let first = mac.first_chunk::<8>()?;
        Some(hexadecimal(first))
    }

    /// A label or id as it is to be shown.
    fn label(&self, attribute: AttributeType, value: &[u8]) -> String {
        match (self.labels, attribute) {
            (Labels::Clear, AttributeType::LABEL) => String::from_utf8_lossy(value).into_owned(),
            (Labels::Clear, _) => hexadecimal(value),
            (Labels::Tagged, _) => self
                .tag(&attribute.number().to_be_bytes(), value)
                .unwrap_or_default(),
        }
    }
}

/// What surrounds a call: the process, the module, the time.
pub(crate) struct Surroundings<'a> {
    pub(crate) seq: u64,
    pub(crate) pid: u64,
    pub(crate) module: &'a str,
    pub(crate) wall: WallTime,
    pub(crate) dropped: u64,
}

/// The record of `event`.
pub(crate) fn record<'a>(
    function: Function,
    event: &'a Event,
    known: Known,
    tags: &Tags,
    around: &'a Surroundings<'_>,
) -> CallRecord<'a> {
    let mut record = CallRecord::new(function, ReturnCode::new(event.rv));
    record.seq = Some(around.seq);
    record.ts = Cow::Owned(timestamp(around.wall));
    record.mono_ns = Some(event.began);
    record.pid = Some(around.pid);
    record.tid = Some(event.thread);
    record.module = Some(Cow::Borrowed(around.module));
    record.dur_ns = Some(event.took);
    record.slot_id = known.slot;
    record.session = event.session;
    record.op_id = known.operation;
    record.in_len = event.in_len;
    record.out_len = event.out_len;
    record.size_query = event.size_query;
    record.user_type = event.user;
    record.hint = event.hint.as_deref().map(Cow::Borrowed);
    record.dropped = Some(around.dropped).filter(|dropped| *dropped > 0);
    if let Some(details) = &event.details {
        record.mech = mechanism(details, tags);
        let attributes = details.attributes.iter();
        record.template = attributes
            .map(|attribute| summary(attribute, details, tags))
            .collect();
    }
    record
}

/// RFC 3339 in UTC with nanoseconds.
pub(crate) fn timestamp(wall: WallTime) -> String {
    let mut text = wall.rfc3339();
    text.truncate(text.len().saturating_sub(1));
    text.push_str(&format!(".{:09}Z", wall.unix_nanos() % 1_000_000_000));
    text
}

fn mechanism(details: &Details, tags: &Tags) -> Option<MechanismSummary<'static>> {
    let mut summary = MechanismSummary::new(MechanismType::new(details.mechanism?));
    for (parameter, value) in details.parameters() {
        let shown = match parameter {
            Parameter::Hash => text(MechanismType::new(value).to_string()),
            _ => ParameterValue::Number(value),
        };
        summary.params.insert(parameter.name().into(), shown);
    }
    if let Some(tag) = details
        .iv
        .as_ref()
        .and_then(|iv| tags.tag(b"iv", iv.bytes()))
    {
        summary.params.insert("iv_tag".into(), text(tag));
    }
    Some(summary)
}

fn summary(attribute: &Attribute, details: &Details, tags: &Tags) -> AttributeSummary<'static> {
    let kind = AttributeType::new(attribute.kind);
    let value = details.value(attribute);
    let mut summary = AttributeSummary::of(kind, value.unwrap_or_default(), |value| {
        tags.label(kind, value)
    });
    let length = attribute.len.unwrap_or_default();
    summary.len = length;
    summary.redacted = match kind.disclosure() {
        keywright_pkcs11_names::Disclosure::Value => false,
        keywright_pkcs11_names::Disclosure::Tag => {
            length > 0 && (tags.labels == Labels::Tagged || value.is_none())
        }
        _ => length > 0,
    };
    let untold = matches!(&summary.value, Some(ParameterValue::Text(text)) if text.is_empty());
    if untold || value.is_none_or(<[u8]>::is_empty) {
        summary.value = None;
    }
    summary
}

/// What a template tells about the object `handle`: class, type, size and the tag of its label or id. Of a pair it
/// is the second half, whose attributes come last.
pub(crate) fn learned(
    mut key: KeySummary<'static>,
    details: &Details,
    tags: &Tags,
) -> KeySummary<'static> {
    for attribute in &details.attributes {
        let Some(value) = details.value(attribute).filter(|value| !value.is_empty()) else {
            continue;
        };
        match AttributeType::new(attribute.kind) {
            AttributeType::CLASS => key.class = number(value).map(ObjectClass::new),
            AttributeType::KEY_TYPE => key.kind = number(value).map(KeyType::new),
            AttributeType::MODULUS_BITS => key.bits = number(value),
            AttributeType::VALUE_LEN => {
                key.bits = number(value).map(|bytes| bytes.saturating_mul(8))
            }
            kind @ AttributeType::LABEL => key.tag = Some(tags.label(kind, value).into()),
            kind @ AttributeType::ID if key.tag.is_none() => {
                key.tag = Some(tags.label(kind, value).into());
            }
            _ => {}
        }
    }
    key
}

fn number(value: &[u8]) -> Option<u64> {
    Some(u64::from_ne_bytes(value.try_into().ok()?))
}

fn text(text: String) -> ParameterValue<'static> {
    ParameterValue::Text(Cow::Owned(text))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
