//! A record as a line of JSON, the same bytes that its `Serialize` gives, in a fraction of the time: the thread that
//! writes shares the processor with the application.

use std::borrow::Cow;

use keywright_pkcs11_names::{
    CallRecord, KeySummary, MechanismSummary, MechanismType, Named, ParameterValue,
};

use crate::event::{Details, MOST_PARAMETERS, Parameter};
use crate::render::{self, Tags};

/// Appends a record without the end of its line. Nothing is left if it cannot be written. The mechanism is that of
/// `details`, where there are any, and of the record otherwise.
pub(crate) fn append(
    out: &mut Vec<u8>,
    record: &CallRecord<'_>,
    details: Option<(&Details, &Tags)>,
) -> bool {
    let before = out.len();
    let written = whole(out, record, details).is_some();
    if !written {
        out.truncate(before);
    }
    written
}

fn whole(
    out: &mut Vec<u8>,
    record: &CallRecord<'_>,
    details: Option<(&Details, &Tags)>,
) -> Option<()> {
    out.extend_from_slice(b"{\"v\":");
    string(out, &record.v)?;
    optional(out, b",\"seq\":", record.seq);
    out.extend_from_slice(b",\"ts\":");
    string(out, &record.ts)?;
    optional(out, b",\"mono_ns\":", record.mono_ns);
    optional(out, b",\"pid\":", record.pid);
    optional(out, b",\"tid\":", record.tid);
    text(out, b",\"module\":", record.module.as_ref())?;
    out.extend_from_slice(b",\"func\":");
    string(out, &record.func)?;
    optional(out, b",\"rv\":", record.rv.map(Named::number));
    text(out, b",\"rv_name\":", record.rv_name.as_ref())?;
    optional(out, b",\"dur_ns\":", record.dur_ns);
    optional(out, b",\"slot_id\":", record.slot_id);
    optional(out, b",\"session\":", record.session);
    optional(out, b",\"op_id\":", record.op_id);
    match (details, &record.mech) {
        (Some((details, tags)), _) => used(out, details, tags)?,
        (None, Some(mechanism)) => mechanism_of(out, mechanism)?,
        (None, None) => {}
    }
    if let Some(key) = &record.key {
        key_of(out, key)?;
    }
    rest(out, record)?;
    out.push(b'}');
    Some(())
}

fn rest(out: &mut Vec<u8>, record: &CallRecord<'_>) -> Option<()> {
    if !record.template.is_empty() {
        out.extend_from_slice(b",\"template\":");
        serde_json::to_writer(&mut *out, &record.template).ok()?;
    }
    optional(out, b",\"in_len\":", record.in_len);
    optional(out, b",\"out_len\":", record.out_len);
    if record.size_query {
        out.extend_from_slice(b",\"size_query\":true");
    }
    optional(out, b",\"user_type\":", record.user_type);
    if record.blocking {
        out.extend_from_slice(b",\"blocking\":true");
    }
    text(out, b",\"hint\":", record.hint.as_ref())?;
    optional(out, b",\"dropped\":", record.dropped);
    Some(())
}

fn mechanism_of(out: &mut Vec<u8>, mechanism: &MechanismSummary<'_>) -> Option<()> {
    out.extend_from_slice(b",\"mech\":{");
    if let Some(value) = mechanism.value {
        optional(out, b"\"value\":", Some(value.number()));
        out.push(b',');
    }
    out.extend_from_slice(b"\"name\":");
    string(out, &mechanism.name)?;
    let mut before: &[u8] = b",\"params\":{";
    for (name, value) in &mechanism.params {
        out.extend_from_slice(before);
        before = b",";
        string(out, name)?;
        out.push(b':');
        match value {
            ParameterValue::Flag(true) => out.extend_from_slice(b"true"),
            ParameterValue::Flag(false) => out.extend_from_slice(b"false"),
            ParameterValue::Number(value) => number_of(out, *value),
            ParameterValue::Text(text) => string(out, text)?,
        }
    }
    if !mechanism.params.is_empty() {
        out.push(b'}');
    }
    out.push(b'}');
    Some(())
}

/// The mechanism of a call, without a summary of it in between.
fn used(out: &mut Vec<u8>, details: &Details, tags: &Tags) -> Option<()> {
    let Some(number) = details.mechanism else {
        return Some(());
    };
    let mechanism = MechanismType::new(number);
    optional(out, b",\"mech\":{\"value\":", Some(number));
    out.extend_from_slice(b",\"name\":");
    named(out, mechanism)?;
    let mut all: [Option<(Parameter, u64)>; MOST_PARAMETERS] = [None; MOST_PARAMETERS];
    for (place, parameter) in all.iter_mut().zip(details.named()) {
        *place = Some(parameter);
    }
    // Those that are not there come first, and write nothing.
    all.sort_unstable();
    let mut tag = render::iv_tag(details, tags);
    let mut before: &[u8] = b",\"params\":{";
    for (parameter, value) in all.into_iter().flatten() {
        if parameter > Parameter::IvLen
            && let Some(tag) = tag.take()
        {
            tagged(out, &mut before, &tag);
        }
        out.extend_from_slice(before);
        before = b",";
        plain(out, parameter.name());
        out.push(b':');
        match parameter {
            Parameter::Hash => named(out, MechanismType::new(value))?,
            _ => number_of(out, value),
        }
    }
    if let Some(tag) = tag {
        tagged(out, &mut before, &tag);
    }
    if before == b"," {
        out.push(b'}');
    }
    out.push(b'}');
    Some(())
}

fn tagged(out: &mut Vec<u8>, before: &mut &'static [u8], tag: &str) {
    out.extend_from_slice(before);
    *before = b",";
    out.extend_from_slice(b"\"iv_tag\":");
    plain(out, tag);
}

fn named(out: &mut Vec<u8>, mechanism: MechanismType) -> Option<()> {
    match mechanism.name() {
        Some(name) => plain(out, name),
        None => string(out, &mechanism.to_string())?,
    }
    Some(())
}

fn key_of(out: &mut Vec<u8>, key: &KeySummary<'_>) -> Option<()> {
    optional(out, b",\"key\":{\"handle\":", Some(key.handle));
    optional(out, b",\"class\":", key.class.map(Named::number));
    optional(out, b",\"type\":", key.kind.map(Named::number));
    optional(out, b",\"bits\":", key.bits);
    text(out, b",\"tag\":", key.tag.as_ref())?;
    out.push(b'}');
    Some(())
}

fn text(out: &mut Vec<u8>, name: &[u8], value: Option<&Cow<'_, str>>) -> Option<()> {
    if let Some(value) = value {
        out.extend_from_slice(name);
        string(out, value)?;
    }
    Some(())
}

/// As it is, where nothing in it needs another form. Looked through to its end, so that the compiler can look at many
/// bytes at once.
fn string(out: &mut Vec<u8>, text: &str) -> Option<()> {
    let odd = |byte: u8| (byte < b' ') | (byte == b'"') | (byte == b'\\');
    let bytes = text.as_bytes();
    if bytes.iter().fold(false, |found, byte| found | odd(*byte)) {
        return serde_json::to_writer(out, text).ok();
    }
    plain(out, text);
    Some(())
}

/// A text that needs no other form.
fn plain(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
}

fn optional(out: &mut Vec<u8>, name: &[u8], value: Option<u64>) {
    if let Some(value) = value {
        out.extend_from_slice(name);
        number_of(out, value);
    }
}

/// Two digits at a time.
fn number_of(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [b'0'; 20];
    let mut start = digits.len();
    for pair in digits.as_chunks_mut::<2>().0.iter_mut().rev() {
        let two = (value % 100).to_le_bytes()[0];
        value /= 100;
        *pair = [b'0' + two / 10, b'0' + two % 10];
        start -= 2;
        if value == 0 {
            start += usize::from(two < 10);
            break;
        }
    }
    out.extend_from_slice(digits.get(start..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use keywright_pkcs11_names::{
        AttributeSummary, AttributeType, Function, KeyType, ObjectClass, ReturnCode,
    };

    use crate::event::Iv;
    use crate::settings::Labels;

    use super::*;

    #[track_caller]
    fn same(record: &CallRecord<'_>) {
        let mut line = b"before".to_vec();
        assert!(append(&mut line, record, None));
        let expected = serde_json::to_string(record).unwrap();
        assert_eq!(std::str::from_utf8(&line[6..]).unwrap(), expected);
    }

    fn full() -> CallRecord<'static> {
        let function = Function::named("C_WaitForSlotEvent").unwrap();
        let mut record = CallRecord::new(function, ReturnCode::new(0x8000_0001));
        record.ts = "2026-01-31T23:59:59.000000001Z".into();
        record.module = Some("a \"b\"\\\n\u{1}\u{e9}.so".into());
        for field in [
            &mut record.seq,
            &mut record.mono_ns,
            &mut record.pid,
            &mut record.tid,
            &mut record.dur_ns,
            &mut record.slot_id,
            &mut record.session,
            &mut record.op_id,
            &mut record.in_len,
            &mut record.out_len,
            &mut record.user_type,
            &mut record.dropped,
        ] {
            *field = Some(10_203_040_506_070_809);
        }
        (record.size_query, record.hint) = (true, Some("\u{7f}\u{2028}".into()));
        let mut mechanism = MechanismSummary::new(MechanismType::AES_GCM);
        for (name, value) in [
            ("iv_tag", ParameterValue::Text("ab".into())),
            ("hash", ParameterValue::Flag(false)),
            ("x", ParameterValue::Flag(true)),
            ("len", ParameterValue::Number(0)),
        ] {
            mechanism.params.insert(name.into(), value);
        }
        record.mech = Some(mechanism);
        let mut key = KeySummary::new(u64::MAX);
        (key.class, key.kind) = (Some(ObjectClass::new(3)), Some(KeyType::new(31)));
        (key.bits, key.tag) = (Some(256), Some("tag".into()));
        record.key = Some(key);
        let attribute = AttributeSummary::of(AttributeType::LABEL, b"x", |_| "t".to_owned());
        record.template = vec![attribute.clone(), attribute];
        record
    }

    #[test]
    fn a_line_is_what_the_record_serialises_to() {
        same(&CallRecord::default());
        same(&full());
        for value in [0, 9, 10, 99, 100, u64::MAX] {
            let mut record = CallRecord::default();
            record.seq = Some(value);
            same(&record);
        }
        // Each field left out of the full one.
        let less: [fn(&mut CallRecord<'_>); 9] = [
            |record| record.mech = None,
            |record| record.key = None,
            |record| record.template.clear(),
            |record| record.rv = None,
            |record| record.rv_name = None,
            |record| record.module = None,
            |record| record.seq = None,
            |record| record.hint = None,
            |record| {
                if let Some(mechanism) = &mut record.mech {
                    mechanism.value = None;
                    mechanism.params.clear();
                }
            },
        ];
        for less in less {
            let mut record = full();
            less(&mut record);
            same(&record);
        }
    }

    #[test]
    fn a_mechanism_is_written_as_its_summary_would_be() {
        let tags = Tags::new(Labels::Tagged);
        let mut all = vec![Details::default()];
        for first in 0..Parameter::ALL.len() {
            for count in 0..=MOST_PARAMETERS {
                for iv in [&[][..], &[7; 12]] {
                    let mut details = Details::default();
                    details.mechanism = Some([0x1087, 0x8000_0001][first % 2]);
                    let parameters = Parameter::ALL.iter().cycle().skip(first).step_by(3);
                    for (value, parameter) in (0x220..).zip(parameters.take(count)) {
                        details.put(*parameter, value);
                    }
                    details.iv = Iv::new(iv).filter(|_| !iv.is_empty());
                    all.push(details);
                }
            }
        }
        for details in all {
            let mut record = CallRecord::default();
            let mut line = Vec::new();
            assert!(append(&mut line, &record, Some((&details, &tags))));
            record.mech = render::mechanism(&details, &tags);
            let expected = serde_json::to_string(&record).unwrap();
            assert_eq!(std::str::from_utf8(&line).unwrap(), expected);
        }
        let names = Parameter::ALL.map(Parameter::name);
        assert!(names.is_sorted(), "{names:?}");
    }
}
