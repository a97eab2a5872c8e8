//! Connections and requests as the transport brings them.

use std::net::SocketAddr;

use http::request::Parts;
use http::{HeaderMap, Response};
use keywright_api::error::Refusal;
use keywright_api::route::{RouteMatch, match_route_on};
use keywright_api::{Codec, Codecs};
use keywright_audit::RecordType;
use keywright_audit::field::{Field, Resumption, Serial, Subject};
use keywright_audit::record::Facts;
use keywright_audit::refusals::Whom;
use keywright_service::{Caller, DropReason};
use keywright_types::{Code, Operation, RequestId};

use super::routes::data_operation;
use super::{Application, Asked};
use crate::exchange::{refuse, wrong_method};
use crate::seed;
use crate::streams::Incoming;
use crate::traces::{Shape, Template};
use crate::transport::{Body, Handler, Peer, Reply};
use crate::vault::{self, VaultDoor};

impl Handler for Application {
    type Connection = Caller;

    fn accept(&self, peer: Peer<'_>) -> Result<Caller, Code> {
        let shared = self.worker.shared();
        let (snapshot, now) = (shared.snapshot(), shared.clock().wall());
        let caller =
            Caller::identify_on(self.plane, (peer.certificates, peer.number), &snapshot, now)
                .inspect_err(|code| {
                    self.worker
                        .note_refused(Whom::from(peer.address.ip()), *code)
                })?;
        if !self.note_connection(&peer, &caller, snapshot.epoch) {
            let code = Code::AuditUnavailable;
            self.worker
                .note_refused(Whom::from(peer.address.ip()), code);
            return Err(code);
        }
        Ok(caller)
    }

    async fn respond(&self, caller: &Caller, head: &Parts, body: &mut Body) -> Response<Reply> {
        if let Some(route) = self.seed.route(head.uri.path()) {
            return Box::pin(self.respond_to_seed(caller, route, (head, body))).await;
        }
        let matched = match_route_on(self.plane, &head.method, head.uri.path());
        let codecs = codecs_of(&matched, &head.headers);
        let refuse =
            |refusal: &Refusal, request| refuse(codecs.answer, refusal, &self.limits, request);
        let operation = match matched {
            RouteMatch::Found { route, .. } => route.operation,
            RouteMatch::NotFound => VaultDoor::operation(self.vault.as_ref(), self.plane, head),
            RouteMatch::WrongMethod { .. } => Operation::Unrouted,
        };
        let let_in = match self.enter(caller, (operation, keys_of(&matched)), body) {
            Ok(let_in) => let_in,
            Err(refusal) => return refuse(&refusal, RequestId::NONE),
        };
        let call = self.call(caller, body.begun());
        let asked = |route| Asked {
            call,
            route,
            codecs,
        };
        let traced = self.traced(&call, head, || self.template(&matched, head));
        let shape = shape_of(&matched);
        let mut response = match matched {
            RouteMatch::Found { route, context } if route.is_stream() => {
                let incoming = Incoming {
                    context: context.unwrap_or_default(),
                    headers: &head.headers,
                    body: body.take(),
                    let_in,
                };
                let answered = Box::pin(self.stream(asked(route), incoming)).await;
                answered.unwrap_or_else(|refusal| refuse(&refusal, call.request))
            }
            RouteMatch::Found { route, context } => self.route(asked(route), context, body).await,
            RouteMatch::NotFound => match VaultDoor::of(self.vault.as_ref(), head.uri.path()) {
                Some(door) => Box::pin(vault::respond(self, door, call, head, body)).await,
                None => {
                    let code = self.unrouted(call, Code::RouteNotFound).await;
                    refuse(&Refusal::new(code), call.request)
                }
            },
            RouteMatch::WrongMethod { allow } => {
                let code = self.unrouted(call, Code::MethodNotAllowed).await;
                if code == Code::MethodNotAllowed {
                    wrong_method(codecs.answer, allow, &self.limits, call.request)
                } else {
                    refuse(&Refusal::new(code), call.request)
                }
            }
        };
        traced.end(&response, shape);
        let total = || self.worker.shared().clock().monotonic().since(call.started);
        self.timing.stamp(&mut response, total);
        response
    }

    fn abandoned(&self, caller: &Caller, code: Code) -> Response<Reply> {
        let call = self.call(caller, None);
        let recorded = self.worker.refuse::<()>(call, Operation::Unrouted, code);
        // This answer cannot wait for the group, and must not leave before its record: written alone.
        self.worker.flush();
        let code = recorded
            .release(&self.worker)
            .map_or_else(|lost| lost, |_| code);
        refuse(Codec::Json, &Refusal::new(code), &self.limits, call.request)
    }

    fn still_welcome(&self, caller: &Caller) -> bool {
        let shared = self.worker.shared();
        caller
            .principal(&shared.snapshot(), shared.clock().wall())
            .is_ok()
    }

    fn closed(&self, _: &Caller) {
        self.worker.note_closed();
    }

    fn handshake_refused(&self, from: SocketAddr, reason: Code) {
        self.worker.note_refused(Whom::from(from.ip()), reason);
    }

    fn connection_dropped(&self, from: SocketAddr, reason: DropReason) {
        self.worker.note_dropped(Whom::from(from.ip()), reason);
    }
}

impl Application {
    /// The answer to a client of the seed service.
    async fn respond_to_seed(
        &self,
        caller: &Caller,
        route: keywright_api::seed::Endpoint,
        asked: (&Parts, &mut Body),
    ) -> Response<Reply> {
        let started = self.worker.shared().clock().monotonic();
        let mut response = seed::respond(self, caller, route, asked).await;
        let total = || self.worker.shared().clock().monotonic().since(started);
        self.timing.stamp(&mut response, total);
        response
    }

    /// The template of the route that a request leads to.
    fn template(&self, matched: &RouteMatch<'_>, head: &Parts) -> Template {
        match matched {
            RouteMatch::Found { route, .. } => Some(route.path.to_string().into()),
            RouteMatch::NotFound => {
                let template = VaultDoor::template(self.vault.as_ref(), self.plane, head);
                template.map(Into::into)
            }
            RouteMatch::WrongMethod { .. } => None,
        }
    }

    /// Whether the connection has its record.
    fn note_connection(&self, peer: &Peer<'_>, caller: &Caller, epoch: u64) -> bool {
        let Some(credential) = caller.credential() else {
            return false;
        };
        let shared = self.worker.shared();
        let mut facts = Facts::new(
            RecordType::Connection,
            Operation::Connect,
            shared.clock().wall(),
        );
        (facts.epoch, facts.connection) = (epoch, peer.number);
        if let Ok(principal) = caller.principal(&shared.snapshot(), facts.time) {
            (facts.principal, facts.tenant) = (principal.id(), principal.tenant());
        }
        let resumed = if peer.resumed {
            Resumption::Resumed
        } else {
            Resumption::Full
        };
        let noted = self.worker.note_connection(
            caller,
            facts,
            &[
                Field::Address(peer.address),
                Field::Anchor(credential.anchor),
                Field::Leaf(credential.leaf),
                Field::Serial(Serial::new(&credential.serial)),
                Field::Subject(Subject::new(&credential.subject)),
                Field::Resumed(resumed),
            ],
        );
        // The flush happens whether or not anybody waits for it; after a failure it is what lets the
        // writer begin anew.
        drop(self.group.join());
        noted
    }
}

/// The context whose keys the request needs, if it needs any.
fn keys_of<'a>(matched: &RouteMatch<'a>) -> Option<&'a str> {
    match matched {
        RouteMatch::Found { route, context }
            if route.is_stream() || data_operation(route.endpoint).is_some() =>
        {
            *context
        }
        _ => None,
    }
}

fn shape_of(matched: &RouteMatch<'_>) -> Shape {
    match matched {
        RouteMatch::Found { route, .. } if route.is_stream() => Shape::Stream,
        _ => Shape::Whole,
    }
}

/// A route without items has one form, and so have its refusals.
fn codecs_of(matched: &RouteMatch<'_>, headers: &HeaderMap) -> Codecs {
    match matched {
        RouteMatch::Found { route, .. } if !route.takes_items() => Codecs::JSON,
        _ => Codecs::of(headers),
    }
}
