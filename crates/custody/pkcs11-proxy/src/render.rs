//! An event as the record of a call.

use std::borrow::Cow;
use std::cell::OnceCell;

use keywright_pkcs11_names::{
    AttributeSummary, AttributeType, CallRecord, Function, KeySummary, KeyType, MechanismSummary,
    MechanismType, Named as _, ObjectClass, ParameterValue, ReturnCode,
};
use keywright_primitives::mac::Blake3Mac;
use keywright_primitives::random;

use crate::context::Known;
use crate::event::{Attribute, Details, Event, Iv, Parameter};
use crate::settings::Labels;

/// Makes tags: equal for equal values of one kind within this log, and nothing to anybody else.
pub(crate) struct Tags {
    /// Drawn for the first tag.
    key: OnceCell<Option<[u8; 32]>>,
    labels: Labels,
}

impl Tags {
    /// With a key of its own.
    pub(crate) const fn new(labels: Labels) -> Self {
        Self {
            key: OnceCell::new(),
            labels,
        }
    }

    /// Without randomness there are no tags, and none of what is longer than anything that is tagged.
    fn tag(&self, kind: u64, value: &[u8]) -> Option<String> {
        let key = self.key.get_or_init(|| random::from_kernel().ok());
        let mut text = [0; 8 + LONGEST_TAGGED];
        let text = text.get_mut(..8 + value.len())?;
        let (front, rest) = text.split_at_mut_checked(8)?;
        front.copy_from_slice(&kind.to_be_bytes());
        rest.copy_from_slice(value);
        let mac = Blake3Mac::mac_once(key.as_ref()?, text);
        Some(hexadecimal(mac.first_chunk::<8>()?))
    }

    /// A label or id as it is to be shown.
    fn label(&self, attribute: AttributeType, value: &[u8]) -> String {
        match (self.labels, attribute) {
            (Labels::Clear, AttributeType::LABEL) => String::from_utf8_lossy(value).into_owned(),
            (Labels::Clear, _) => hexadecimal(value),
            (Labels::Tagged, _) => self.tag(attribute.number(), value).unwrap_or_default(),
        }
    }
}

/// What an IV is tagged as: no attribute has this number.
const OF_IVS: u64 = u64::MAX;
/// No label, id or IV that is kept is longer.
const LONGEST_TAGGED: usize = 512;

/// What surrounds a call: the process, the module, the time.
pub(crate) struct Surroundings<'a> {
    pub(crate) seq: u64,
    pub(crate) pid: u64,
    pub(crate) module: &'a str,
    /// When it began, as text.
    pub(crate) ts: &'a str,
    pub(crate) dropped: u64,
    /// When it began and how long it took, in nanoseconds.
    pub(crate) began: u64,
    pub(crate) took: u64,
}

/// The record of `event`, without its mechanism.
pub(crate) fn record<'a>(
    function: Function,
    event: &'a Event,
    known: Known,
    tags: &Tags,
    around: &'a Surroundings<'_>,
) -> CallRecord<'a> {
    let mut record = CallRecord::new(function, ReturnCode::new(event.rv));
    record.seq = Some(around.seq);
    record.ts = Cow::Borrowed(around.ts);
    record.mono_ns = Some(around.began);
    record.pid = Some(around.pid);
    record.tid = Some(event.thread);
    record.module = Some(Cow::Borrowed(around.module));
    record.dur_ns = Some(around.took);
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
        let attributes = details.attributes().iter();
        record.template = attributes
            .map(|attribute| summary(attribute, details, tags))
            .collect();
    }
    record
}

/// The mechanism of a call, if it has one.
pub(crate) fn mechanism(details: &Details, tags: &Tags) -> Option<MechanismSummary<'static>> {
    let mut summary = MechanismSummary::new(MechanismType::new(details.mechanism?));
    for (parameter, value) in details.named() {
        let shown = match parameter {
            Parameter::Hash => text(MechanismType::new(value).to_string()),
            _ => ParameterValue::Number(value),
        };
        summary.params.insert(parameter.name().into(), shown);
    }
    if let Some(tag) = iv_tag(details, tags) {
        summary.params.insert("iv_tag".into(), text(tag));
    }
    Some(summary)
}

/// What stands for the IV.
pub(crate) fn iv_tag(details: &Details, tags: &Tags) -> Option<String> {
    let mut room = [0; Iv::LONGEST];
    let iv = details.iv.as_ref()?.bytes(&mut room);
    tags.tag(OF_IVS, iv)
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
    for attribute in details.attributes() {
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
    let digit = |nibble: u8| match nibble {
        0..10 => b'0' + nibble,
        _ => b'a' + nibble - 10,
    };
    let digits = bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]);
    String::from_utf8(digits.collect()).unwrap_or_default()
}
