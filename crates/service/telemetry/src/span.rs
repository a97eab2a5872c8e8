//! What is told of a request, and its form in OTLP's JSON: identifiers in hexadecimal, 64-bit numbers as text.

use std::borrow::Cow;
use std::time::Duration;

use keywright_clock::{WallTime, nanos};
use keywright_types::{Code, Operation, RequestId};
use serde_json::{Value, json};

use crate::{SpanId, TraceId};

/// One request. Everything in it is a number, an identifier, or a word of a closed set of the program.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a field more is one more thing that is told, which its maker must face"
)]
pub struct Span {
    /// Its trace: the caller's, or its own.
    pub trace: TraceId,
    /// Itself.
    pub id: SpanId,
    /// The caller's span, if it said one.
    pub parent: Option<SpanId>,
    /// When the request began.
    pub start: WallTime,
    /// When its answer was there, or was given up.
    pub end: WallTime,
    /// Its method, or `_OTHER`.
    pub method: &'static str,
    /// The template of its route; none where it led nowhere.
    pub route: Option<Cow<'static, str>>,
    /// The status of its answer; none where there was no answer.
    pub status: Option<u16>,
    /// Its id, by which the audit log has it.
    pub request: RequestId,
    /// What its record says, if it has one.
    pub told: Option<Told>,
}

/// What the record of a request says.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "as `Span`")]
pub struct Told {
    /// What was asked for.
    pub operation: Operation,
    /// How it ended.
    pub code: Code,
    /// Items.
    pub items: u32,
    /// Those of them that failed.
    pub failed: u32,
    /// Where its time went, where a key holder worked.
    pub phases: Option<Phases>,
}

/// The phases that `Server-Timing` tells of.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "as `Span`")]
pub struct Phases {
    /// Waiting for a thread of the key holder.
    pub queue: Duration,
    /// With the key holder.
    pub holder: Duration,
}

/// Of whom spans tell.
#[derive(Clone, Debug, Default)]
pub struct Resource(Vec<(String, String)>);

impl Resource {
    /// Attributes and their values.
    #[must_use]
    pub fn new(attributes: impl IntoIterator<Item = (String, String)>) -> Self {
        Self(attributes.into_iter().collect())
    }

    /// The body of a request that hands `spans` over.
    pub(crate) fn request(&self, spans: &[Span]) -> Vec<u8> {
        let attributes: Vec<_> = self.0.iter().map(|(key, value)| text(key, value)).collect();
        let spans: Vec<_> = spans.iter().map(|span| span.json()).collect();
        let document = json!({"resourceSpans": [{
            "resource": {"attributes": attributes},
            "scopeSpans": [{
                "scope": {"name": "keywright", "version": env!("CARGO_PKG_VERSION")},
                "spans": spans,
            }],
        }]});
        document.to_string().into_bytes()
    }
}

/// The numbers of OTLP.
const SERVER: u8 = 2;
const FAILED: u8 = 2;
/// Sampled; and that the parent is known to be of another process.
const FLAGS: u32 = 1;
const REMOTE_PARENT: u32 = 0x300;

/// The name of a span without a route.
const UNROUTED: &str = "unrouted";

impl Span {
    fn json(&self) -> Value {
        let mut span = json!({
            "traceId": self.trace.text(),
            "spanId": self.id.text(),
            "name": self.route.as_deref().unwrap_or(UNROUTED),
            "kind": SERVER,
            "startTimeUnixNano": self.start.unix_nanos().to_string(),
            "endTimeUnixNano": self.end.unix_nanos().to_string(),
            "attributes": self.attributes(),
            "flags": FLAGS,
            "status": {},
        });
        let mut set = |name: &str, value: Value| {
            if let Some(object) = span.as_object_mut() {
                object.insert(name.to_owned(), value);
            }
        };
        if let Some(parent) = self.parent {
            set("parentSpanId", json!(parent.text()));
            set("flags", json!(FLAGS | REMOTE_PARENT));
        }
        // A request that was refused with reason is no failure of the server.
        if self.status.is_none_or(|status| status >= 500) {
            set("status", json!({"code": FAILED}));
        }
        span
    }

    fn attributes(&self) -> Vec<Value> {
        let mut all = vec![
            text("http.request.method", self.method),
            text("keywright.request", &self.request.to_string()),
        ];
        if let Some(route) = &self.route {
            all.push(text("http.route", route));
        }
        if let Some(status) = self.status {
            all.push(number("http.response.status_code", status.into()));
        }
        if let Some(told) = &self.told {
            all.push(text("keywright.operation", &told.operation.to_string()));
            all.push(text("keywright.code", &told.code.to_string()));
            all.push(number("keywright.items", told.items.into()));
            all.push(number("keywright.items.failed", told.failed.into()));
            if let Some(phases) = &told.phases {
                all.push(number("keywright.queue_ns", nanos(phases.queue)));
                all.push(number("keywright.holder_ns", nanos(phases.holder)));
            }
        }
        all
    }
}

fn text(key: &str, value: &str) -> Value {
    json!({"key": key, "value": {"stringValue": value}})
}

fn number(key: &str, value: u64) -> Value {
    json!({"key": key, "value": {"intValue": value.to_string()}})
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn span() -> Span {
        Span {
            trace: TraceId::new([0xA5; 16]).unwrap(),
            id: SpanId::new([7; 8]).unwrap(),
            parent: SpanId::new([9; 8]),
            start: WallTime::from_unix_nanos(u64::MAX - 1),
            end: WallTime::from_unix_nanos(u64::MAX),
            method: "POST",
            route: Some("/v1/contexts/{context}/encrypt".into()),
            status: Some(200),
            request: RequestId::from_bytes([3; 16]),
            told: Some(Told {
                operation: Operation::Encrypt,
                code: Code::Ok,
                items: 3,
                failed: 1,
                phases: Some(Phases {
                    queue: Duration::from_nanos(5),
                    holder: Duration::from_micros(7),
                }),
            }),
        }
    }

    fn attribute<'a>(span: &'a Value, key: &str) -> Option<&'a Value> {
        let all = span["attributes"].as_array().unwrap();
        let found = all.iter().find(|one| one["key"] == key);
        found.map(|one| &one["value"])
    }

    #[test]
    fn a_span_has_the_form_of_the_protocol() {
        let resource = Resource::new([("service.name".to_owned(), "\"kw\"\n".to_owned())]);
        let body = resource.request(&[span()]);
        let body: Value = serde_json::from_slice(&body).unwrap();
        let whose = &body["resourceSpans"][0]["resource"]["attributes"][0];
        assert_eq!(whose["value"]["stringValue"], "\"kw\"\n");
        let span = &body["resourceSpans"][0]["scopeSpans"][0]["spans"][0];
        assert_eq!(span["traceId"], "a5".repeat(16));
        assert_eq!(span["spanId"], "07".repeat(8));
        assert_eq!(span["parentSpanId"], "09".repeat(8));
        assert_eq!(span["name"], "/v1/contexts/{context}/encrypt");
        // Not every number of 64 bits is one of JSON's.
        assert_eq!(span["endTimeUnixNano"], u64::MAX.to_string());
        assert_eq!((&span["kind"], &span["flags"]), (&json!(2), &json!(0x301)));
        assert_eq!(span["status"], json!({}));
        for (key, kind, value) in [
            ("http.request.method", "stringValue", "POST"),
            ("http.response.status_code", "intValue", "200"),
            ("keywright.operation", "stringValue", "encrypt"),
            ("keywright.code", "stringValue", "ok"),
            ("keywright.items", "intValue", "3"),
            ("keywright.items.failed", "intValue", "1"),
            ("keywright.queue_ns", "intValue", "5"),
            ("keywright.holder_ns", "intValue", "7000"),
        ] {
            assert_eq!(attribute(span, key).unwrap()[kind], value, "{key}");
        }
    }

    #[test]
    fn only_what_failed_here_is_a_failure_and_what_is_not_known_is_not_said() {
        for (status, failed) in [
            (Some(200), false),
            (Some(400), false),
            (Some(429), false),
            (Some(500), true),
            (Some(503), true),
            (None, true),
        ] {
            let bare = Span {
                parent: None,
                route: None,
                told: None,
                status,
                ..span()
            }
            .json();
            assert_eq!(bare["status"]["code"] == 2, failed, "{status:?}");
            assert_eq!(
                (&bare["name"], &bare["flags"]),
                (&json!("unrouted"), &json!(1))
            );
            assert!(bare.get("parentSpanId").is_none());
            for key in ["http.route", "keywright.code", "keywright.queue_ns"] {
                assert!(attribute(&bare, key).is_none(), "{key}");
            }
        }
    }
}
