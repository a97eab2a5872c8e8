//! Spans of requests: begun where a call is, ended with its answer, its stream, or its client.
//!
//! What a span tells is put together here, from the table of routes, the method's place in a closed list, the status, and
//! what the request's record says. Neither path nor body nor caller are within reach of it.

use std::borrow::Cow;

use http::request::Parts;
use http::{HeaderMap, Method, Response, StatusCode};
use keywright_clock::{Clock, MonotonicTime, WallTime, nanos};
use keywright_service::{Call, Told};
use keywright_telemetry::{Parent, Phases, Span, SpanId, TraceId, Tracer};
use keywright_types::RequestId;

use crate::Application;
use crate::transport::Reply;

/// The template of a route, if a request leads to one.
pub(crate) type Template = Option<Cow<'static, str>>;

/// How an answer goes out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Piece by piece, after the handler is done.
    Stream,
    Whole,
}

/// A request that has a span, or not. Dropped before [`Traced::end`], it says that there was no answer.
#[must_use = "dropped, it tells that the client went away"]
pub(crate) struct Traced<'a> {
    application: &'a Application,
    open: Option<Box<Open>>,
}

struct Open {
    tracer: Tracer,
    clock: Clock,
    trace: TraceId,
    id: SpanId,
    parent: Option<SpanId>,
    method: &'static str,
    route: Template,
    request: RequestId,
    started: MonotonicTime,
}

const TRACEPARENT: &str = "traceparent";

impl Application {
    /// Looks whether a request has a span; where traces are off, that is all there is to it.
    pub(crate) fn traced(
        &self,
        call: &Call<'_>,
        head: &Parts,
        route: impl FnOnce() -> Template,
    ) -> Traced<'_> {
        let open = match &self.traces {
            None => None,
            Some(tracer) => self.sampled(tracer, call, head, route),
        };
        Traced {
            application: self,
            open,
        }
    }

    fn sampled(
        &self,
        tracer: &Tracer,
        call: &Call<'_>,
        head: &Parts,
        route: impl FnOnce() -> Template,
    ) -> Option<Box<Open>> {
        let parent = parent_of(&head.headers);
        let bytes = call.request.as_bytes();
        // The id is random, so it is the draw as well, and without a parent the trace's id. The draw is its front:
        // samplers behind a collector may go by the end of the trace's.
        let (draw, _) = bytes.split_first_chunk()?;
        let draw = u64::from_be_bytes(*draw);
        if call.request == RequestId::NONE || !tracer.wants(parent.as_ref(), draw, call.started) {
            return None;
        }
        let own = self.worker.request_id().ok()?;
        let (id, _) = own.as_bytes().split_first_chunk()?;
        let trace = match parent {
            Some(parent) => parent.trace,
            None => TraceId::new(*bytes)?,
        };
        let id = SpanId::new(*id)?;
        if !self.worker.watch(call.request) {
            tracer.note_dropped();
            return None;
        }
        Some(Box::new(Open {
            tracer: tracer.clone(),
            clock: self.worker.shared().clock().clone(),
            trace,
            id,
            parent: parent.map(|parent| parent.span),
            method: name_of(&head.method),
            route: route(),
            request: call.request,
            started: call.started,
        }))
    }
}

impl Traced<'_> {
    /// The answer is there. The span of a stream ends when its record says so, which is after its last byte was made.
    pub(crate) fn end(mut self, response: &Response<Reply>, shape: Shape) {
        let Some(open) = self.open.take() else { return };
        let (worker, status) = (&self.application.worker, response.status());
        if shape == Shape::Stream && status == StatusCode::OK {
            let request = open.request;
            let then = move |told| open.end(Some(status), Some(told));
            worker.when_told(request, Box::new(then));
        } else {
            let told = worker.told(open.request);
            open.end(Some(status), told);
        }
    }
}

impl Drop for Traced<'_> {
    fn drop(&mut self) {
        if let Some(open) = self.open.take() {
            let told = self.application.worker.told(open.request);
            open.end(None, told);
        }
    }
}

impl Open {
    fn end(self, status: Option<StatusCode>, told: Option<Told>) {
        let (end, now) = (self.clock.wall(), self.clock.monotonic());
        let took = nanos(now.since(self.started));
        let told = told.map(|told| keywright_telemetry::Told {
            operation: told.operation,
            code: told.code,
            items: told.items,
            failed: told.failed,
            phases: told.spent.map(|spent| Phases {
                queue: spent.queue,
                holder: spent.holder,
            }),
        });
        self.tracer.give(Box::new(Span {
            trace: self.trace,
            id: self.id,
            parent: self.parent,
            start: WallTime::from_unix_nanos(end.unix_nanos().saturating_sub(took)),
            end,
            method: self.method,
            route: self.route,
            status: status.map(|status| status.as_u16()),
            request: self.request,
            told,
        }));
    }
}

/// What a request says of its parent. Of two that disagree neither is believed.
fn parent_of(headers: &HeaderMap) -> Option<Parent> {
    let mut values = headers.get_all(TRACEPARENT).iter();
    match (values.next(), values.next()) {
        (Some(only), None) => Parent::parse(only.as_bytes()),
        _ => None,
    }
}

/// A method's name, of those that are known; the others are the caller's own words.
fn name_of(method: &Method) -> &'static str {
    const KNOWN: [&str; 8] = [
        "GET", "POST", "PUT", "LIST", "HEAD", "DELETE", "OPTIONS", "PATCH",
    ];
    let known = KNOWN.into_iter().find(|name| *name == method.as_str());
    known.unwrap_or("_OTHER")
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn a_parent_is_said_once_or_not_at_all() {
        let mut headers = HeaderMap::new();
        assert_eq!(parent_of(&headers), None);
        headers.append(TRACEPARENT, HeaderValue::from_static(GOOD));
        assert!(parent_of(&headers).is_some());
        headers.append(TRACEPARENT, HeaderValue::from_static(GOOD));
        assert_eq!(parent_of(&headers), None);
    }

    #[test]
    fn methods_are_of_a_closed_set() {
        assert_eq!(name_of(&Method::POST), "POST");
        for other in ["post", "SECRET", "GETS", "CONNECT", "TRACE"] {
            let method = Method::from_bytes(other.as_bytes()).unwrap();
            assert_eq!(name_of(&method), "_OTHER");
        }
    }
}
