//! Traces by option (`[telemetry]`): a span for each sampled request, sent to an OpenTelemetry collector by OTLP over
//! HTTP with JSON, the one of its forms that a reader of `opentelemetry/proto/trace/v1` can check with a text editor.
//!
//! * [`Parent`]: what the header `traceparent` of a request says (W3C Trace Context). What is malformed is passed over.
//! * [`Sampling`] decides whether a request has a span; without allocating, and without believing a caller too often.
//! * [`Span`] holds what may be told of a request: its fields are numbers, identifiers and words of closed sets. There
//!   is none for a path, a body, a context, a key or a client.
//! * [`Tracer`] hands spans to a bounded queue; what does not fit is dropped and counted. [`Exporting`] is the thread
//!   that empties the queue. A collector that is slow, gone or unwilling costs spans, and nobody any time.
//!
//! **Own code, and why.** `opentelemetry_sdk` and `opentelemetry-otlp` are well kept, but heavy for what is wanted of
//! them in the process that holds keys: `prost` and generated types of three signals, a client of HTTP beside the one that
//! is here, an endpoint and headers that are read from the environment too, and spans that take attributes of any name and
//! value, where this needs a closed list. What is used of the protocol is one `POST` of one JSON document; hyper, rustls
//! and `serde_json` are here anyway.
//!
//! Not here: `tracestate` and `baggage`, which are texts of the caller's; repeats of a batch that was not taken; other
//! signals than traces; compression; credentials for a collector.
#![forbid(unsafe_code)]

mod endpoint;
mod exporter;
#[doc(hidden)]
pub mod fuzzing;
mod link;
mod sampling;
mod span;
mod traceparent;
mod tracer;

pub use endpoint::{Endpoint, EndpointError, Plain};
pub use exporter::{Exporting, FLUSH, Settings};
pub use sampling::Sampling;
pub use span::{Phases, Resource, Span, Told};
pub use traceparent::{Parent, SpanId, TraceId};
pub use tracer::{Count, Fate, Tracer};
