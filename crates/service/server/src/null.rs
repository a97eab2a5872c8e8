//! The null mode: everything of the server but the work.
//!
//! Same TLS, same routes, same limits, same JSON and CBOR; answers are constant, there are no keys and no
//! audit. It measures what the transport costs. A separate command starts it; no configuration of a
//! normal server reaches it.

use std::net::SocketAddr;
use std::time::Duration;

use http::Response;
use http::request::Parts;
use keywright_api::error::Refusal;
use keywright_api::route::{Endpoint, RouteMatch, match_route};
use keywright_api::write::{self, Done};
use keywright_api::{Codec, Codecs, Limits};
use keywright_service::DataOperation;
use keywright_types::{Code, KeyVersion, RequestId};

use crate::exchange::{good, good_in, refuse, understand, wrong_method};
use crate::transport::{Body, Handler, Peer, Reply, read_body};

/// Constant answers.
#[derive(Debug)]
pub struct NullApplication {
    limits: Limits,
    body_timeout: Duration,
}

impl NullApplication {
    /// Constant answers within these limits.
    #[must_use]
    pub const fn new(limits: Limits, body_timeout: Duration) -> Self {
        Self {
            limits,
            body_timeout,
        }
    }

    async fn constant(
        &self,
        (operation, constant): (DataOperation, Done<'static>),
        codecs: Codecs,
        body: &mut Body,
    ) -> Result<Response<Reply>, Refusal> {
        let body = read_body(body, self.limits.body_bytes, self.body_timeout).await;
        let body = body.map_err(|error| error.code())?;
        let understood = understand(operation, (codecs.request, &body), &self.limits)?;
        if !understood.form.batch {
            return Ok(good_in(codecs.answer, write::one(codecs.answer, &constant)));
        }
        let count = understood.items.len();
        let mut batch = write::Batch::new(codecs.answer, count, count * 256);
        (0..count).for_each(|_| batch.push(Ok(constant)));
        Ok(good_in(codecs.answer, batch.finish()))
    }
}

impl Handler for NullApplication {
    type Connection = ();

    fn accept(&self, _: Peer<'_>) -> Result<(), Code> {
        Ok(())
    }

    async fn respond(&self, (): &(), head: &Parts, body: &mut Body) -> Response<Reply> {
        let codecs = Codecs::of(&head.headers);
        let refusing = |refusal| refuse(codecs.answer, &refusal, &self.limits, RequestId::NONE);
        let refused = |code| refusing(Refusal::new(code));
        match match_route(&head.method, head.uri.path()) {
            RouteMatch::Found { route, .. } if constant_of(route.endpoint).is_some() => {
                let constant = constant_of(route.endpoint).unwrap_or(SEALED);
                let answered = self.constant(constant, codecs, body).await;
                answered.unwrap_or_else(refusing)
            }
            RouteMatch::Found { route, .. } if route.endpoint == Endpoint::Health => good("{}"),
            RouteMatch::Found { .. } => refused(Code::Unsupported),
            RouteMatch::NotFound => refused(Code::RouteNotFound),
            RouteMatch::WrongMethod { allow } => {
                wrong_method(codecs.answer, allow, &self.limits, RequestId::NONE)
            }
        }
    }

    fn abandoned(&self, (): &(), code: Code) -> Response<Reply> {
        refuse(
            Codec::Json,
            &Refusal::new(code),
            &self.limits,
            RequestId::NONE,
        )
    }

    fn still_welcome(&self, (): &()) -> bool {
        true
    }

    fn handshake_refused(&self, _: SocketAddr, _: Code) {}
}

/// What is read and answered in place of an operation.
type Constant = (DataOperation, Done<'static>);

const fn constant_of(endpoint: Endpoint) -> Option<Constant> {
    match endpoint {
        Endpoint::Encrypt => Some(SEALED),
        Endpoint::Tokenize => Some(TOKENIZED),
        Endpoint::Sign => Some(SIGNED),
        _ => None,
    }
}

/// As long as the envelope of a plaintext of 12 bytes: header 26, nonce 24, commitment 32, tag 16.
const SEALED: Constant = (
    DataOperation::Encrypt,
    Done::Sealed {
        ciphertext: &[0; 110],
        version: KeyVersion::FIRST,
    },
);
/// As long as a signature of Ed25519, or of ECDSA over a curve of 256 bits.
const SIGNED: Constant = (
    DataOperation::Sign,
    Done::Signed {
        signature: &[0; 64],
        version: KeyVersion::FIRST,
    },
);
/// As long as the token of a card number.
const TOKENIZED: Constant = (
    DataOperation::Tokenize,
    Done::Tokenized {
        token: "0000000000000000",
        version: KeyVersion::FIRST,
    },
);
