//! The record of a call: one line of JSON in a log of calls, schema [`SCHEMA`].
//!
//! The recorder writes it, the analyser reads it. A field that does not apply is absent, never zero; readers take
//! fields that they do not know, and the older form of other tools, in which durations are milliseconds (`dur_ms`)
//! and a mechanism is a text.
//!
//! No secret has a place here: there is none for data, PINs, signatures or random bytes, and the value of an
//! attribute is kept by [`AttributeSummary::of`] only where [`AttributeType::disclosure`] allows it.
//!
//! Not here: JSON itself, the writing of files, the key of the tags.

mod attribute;
mod mechanism;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::{Function, Named, ReturnCode};

pub use attribute::{AttributeSummary, Disclosure, KeySummary};
pub use mechanism::{MechanismSummary, ParameterValue};

/// The name of the schema.
pub const SCHEMA: &str = "keywright.p11event";
/// The version that is written; readers take any `1.x`.
pub const SCHEMA_VERSION: &str = "1.0";

/// One call of a PKCS#11 function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CallRecord<'a> {
    /// [`SCHEMA_VERSION`]; empty in records of other tools.
    #[serde(default, borrow)]
    pub v: Cow<'a, str>,
    /// Number of the record in its log, from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// When the call began: RFC 3339 with nanoseconds, UTC.
    #[serde(default, borrow)]
    pub ts: Cow<'a, str>,
    /// When the call began: nanoseconds on the monotonic clock of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mono_ns: Option<u64>,
    /// The process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u64>,
    /// The thread, by the system's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tid: Option<u64>,
    /// The file name of the module that was called.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub module: Option<Cow<'a, str>>,
    /// The function, as `C_Sign`.
    #[serde(borrow)]
    pub func: Cow<'a, str>,
    /// What it answered. Absent when the call never came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rv: Option<ReturnCode>,
    /// The name of `rv`, or its number in hexadecimal.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub rv_name: Option<Cow<'a, str>>,
    /// How long the call took, in nanoseconds. Absent where it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dur_ns: Option<u64>,
    /// The same in milliseconds, by other tools; never written.
    #[serde(default, skip_serializing)]
    pub dur_ms: Option<f64>,
    /// The slot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slot_id: Option<u64>,
    /// The session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<u64>,
    /// Which operation of the process: `Init`, `Update` and `Final` of one share it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub op_id: Option<u64>,
    /// The mechanism.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub mech: Option<MechanismSummary<'a>>,
    /// The key.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeySummary<'a>>,
    /// The attributes that were given or asked for.
    #[serde(default, borrow, skip_serializing_if = "Vec::is_empty")]
    pub template: Vec<AttributeSummary<'a>>,
    /// Bytes that went in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_len: Option<u64>,
    /// Bytes that came out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out_len: Option<u64>,
    /// Whether only the length of the output was asked for.
    #[serde(default, skip_serializing_if = "is_false")]
    pub size_query: bool,
    /// Who logs in, of a login.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_type: Option<u64>,
    /// Whether the call may wait for something outside, so that its duration is no latency.
    #[serde(default, skip_serializing_if = "is_false")]
    pub blocking: bool,
    /// What to do about a failure.
    #[serde(default, borrow, skip_serializing_if = "Option::is_none")]
    pub hint: Option<Cow<'a, str>>,
    /// How many records before this one were not written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<u64>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the form that serde calls"
)]
fn is_false(value: &bool) -> bool {
    !value
}

impl<'a> CallRecord<'a> {
    /// A record of this version, of a call that answered; everything else is absent.
    #[must_use]
    pub fn new(function: Function, rv: ReturnCode) -> Self {
        Self {
            v: Cow::Borrowed(SCHEMA_VERSION),
            func: Cow::Borrowed(function.name()),
            rv: Some(rv),
            rv_name: Some(
                rv.name()
                    .map_or_else(|| Cow::Owned(rv.to_string()), Cow::Borrowed),
            ),
            blocking: function.blocks() || rv == ReturnCode::PENDING,
            ..Self::default()
        }
    }

    /// The function, unless this version of the standard does not know it.
    #[must_use]
    pub fn function(&self) -> Option<Function> {
        Function::named(&self.func)
    }

    /// How long the call took, in nanoseconds, whichever way it was written. A duration in milliseconds that is
    /// no number that can be, is absent.
    #[must_use]
    pub fn duration_ns(&self) -> Option<u64> {
        self.dur_ns.or_else(|| {
            let ns = self.dur_ms? * 1e6;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "positive and below 2^63; the fraction of a nanosecond goes"
            )]
            (0.0..9.2e18).contains(&ns).then(|| ns.round() as u64)
        })
    }

    /// Whether it is of this schema. Others have been seen to write numbers of their own instead of return codes.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.v.starts_with("1.")
    }

    /// A record that borrows nothing.
    #[must_use]
    pub fn into_owned(self) -> CallRecord<'static> {
        CallRecord {
            v: owned(self.v),
            ts: owned(self.ts),
            module: self.module.map(owned),
            func: owned(self.func),
            rv_name: self.rv_name.map(owned),
            mech: self.mech.map(MechanismSummary::into_owned),
            key: self.key.map(KeySummary::into_owned),
            template: self
                .template
                .into_iter()
                .map(AttributeSummary::into_owned)
                .collect(),
            hint: self.hint.map(owned),
            seq: self.seq,
            mono_ns: self.mono_ns,
            pid: self.pid,
            tid: self.tid,
            rv: self.rv,
            dur_ns: self.dur_ns,
            dur_ms: self.dur_ms,
            slot_id: self.slot_id,
            session: self.session,
            op_id: self.op_id,
            in_len: self.in_len,
            out_len: self.out_len,
            size_query: self.size_query,
            user_type: self.user_type,
            blocking: self.blocking,
            dropped: self.dropped,
        }
    }
}

fn owned(text: Cow<'_, str>) -> Cow<'static, str> {
    Cow::Owned(text.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_what_was_measured_or_nothing() {
        let mut record = CallRecord::default();
        assert_eq!(record.duration_ns(), None);
        record.dur_ms = Some(1.5);
        assert_eq!(record.duration_ns(), Some(1_500_000));
        for wrong in [-1.0, f64::NAN, f64::INFINITY, 1e300] {
            record.dur_ms = Some(wrong);
            assert_eq!(record.duration_ns(), None, "{wrong}");
        }
        record.dur_ns = Some(7);
        assert_eq!(record.duration_ns(), Some(7));
    }
}
