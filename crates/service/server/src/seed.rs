//! The routes for clients of the seed service.
//!
//! A second spelling and no second way: what a body asks for is done by the same [`Worker`] under the same rights, and
//! leaves the same records as on native routes. Checks come in that service's order: rate, route, method, body, access,
//! base64, then the key. Who reads a ciphertext is said by the label beside it alone.
//!
//! [`Worker`]: keywright_service::Worker

use http::header::{ALLOW, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderValue, Response};
use keywright_api::error::Refusal;
use keywright_api::seed::{self, DecryptBody, EncryptBody, Endpoint, decode_into};
use keywright_envelope::Envelope;
use keywright_service::{Call, Caller, DataOperation, Prepared};
use keywright_types::{Code, Operation, VersionLabel};

use crate::Application;
use crate::application::health::Looked;
use crate::exchange::good;
use crate::traces::Shape;
use crate::transport::{Body, Reply, json};

/// Whether these routes are there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing between")]
pub enum SeedDoor {
    /// They are.
    Open,
    /// Nothing is at their paths.
    Shut,
}

impl SeedDoor {
    /// The route of a path behind the door.
    pub(crate) fn route(self, path: &str) -> Option<Endpoint> {
        match self {
            Self::Open => Endpoint::of(path),
            Self::Shut => None,
        }
    }
}

/// A request on its way.
struct Visit<'a> {
    application: &'a Application,
    endpoint: Endpoint,
    call: Call<'a>,
}

type Answer = Result<Response<Reply>, Refusal>;

/// Answers a request for one of these routes.
pub(crate) async fn respond(
    application: &Application,
    caller: &Caller,
    endpoint: Endpoint,
    (head, body): (&Parts, &mut Body),
) -> Response<Reply> {
    let takes = endpoint.takes(&head.method);
    let operation = match takes {
        true => endpoint.operation(),
        false => Operation::Unrouted,
    };
    // What is let in stays so until it is answered.
    let let_in = application.enter(caller, (operation, None), body);
    let visit = Visit {
        application,
        endpoint,
        call: application.call(caller, body.begun()),
    };
    let _let_in = match let_in {
        Ok(let_in) => let_in,
        Err(refusal) => return refuse(application, endpoint, refusal),
    };
    let template = || takes.then(|| endpoint.path().into());
    let traced = application.traced(&visit.call, head, template);
    let answer = match takes {
        true => visit.answer(body).await,
        false => {
            let refused = application.unrouted(visit.call, Code::MethodNotAllowed);
            Err(Refusal::new(refused.await))
        }
    };
    let response = answer.unwrap_or_else(|refusal| refuse(application, endpoint, refusal));
    traced.end(&response, Shape::Whole);
    response
}

fn refuse(application: &Application, endpoint: Endpoint, refusal: Refusal) -> Response<Reply> {
    let code = refusal.code();
    let (status, sentence) = seed::refusal(endpoint, code, &application.limits);
    let mut response = json(status, seed::refused(code, &sentence));
    if let Some(seconds) = refusal.retry_after() {
        let seconds = HeaderValue::from(seconds);
        response.headers_mut().insert(RETRY_AFTER, seconds);
    }
    if code == Code::MethodNotAllowed {
        let only = HeaderValue::from_static("POST");
        response.headers_mut().insert(ALLOW, only);
    }
    response
}

impl Visit<'_> {
    async fn answer(mut self, body: &mut Body) -> Answer {
        let operation = self.endpoint.operation();
        match self.endpoint {
            Endpoint::Decrypt | Endpoint::Encrypt => {
                let read = self.application.body(&mut self.call, operation, body);
                let body = read.await?;
                match self.endpoint {
                    Endpoint::Encrypt => self.encrypt(&body).await,
                    _ => self.decrypt(&body).await,
                }
            }
            Endpoint::Health => self.health().await,
        }
    }

    async fn encrypt(&self, body: &[u8]) -> Answer {
        let limits = &self.application.limits;
        let asked = self.understood(EncryptBody::parse(body, limits)).await?;
        let mut items = Prepared::with_capacity(1, body.len());
        items.push(|out| decode_into(asked.plaintext.expose(), out), |_| Ok(()));
        let context = asked.context.expose();
        self.perform(context, DataOperation::Encrypt, items).await
    }

    async fn decrypt(&self, body: &[u8]) -> Answer {
        let limits = &self.application.limits;
        let asked = self.understood(DecryptBody::parse(body, limits)).await?;
        let mut items = Prepared::with_capacity(1, body.len());
        items.label(Some(asked.key_id.expose().to_owned()));
        items.push(
            |out| decode_into(asked.ciphertext.expose(), out),
            |_| Ok(()),
        );
        let context = asked.context.expose();
        self.perform(context, DataOperation::Decrypt, items).await
    }

    async fn perform(&self, context: &str, operation: DataOperation, items: Prepared) -> Answer {
        let worker = &self.application.worker;
        let recorded = worker.perform(self.call, context, operation, items).await;
        let done = self.application.release(recorded).await?;
        let only = done.iter().next().ok_or(Code::Internal)?;
        if only.code != Code::Ok {
            return Err(Refusal::new(only.code));
        }
        Ok(good(match operation {
            DataOperation::Encrypt => {
                let envelope = Envelope::parse(only.payload).map_err(|_| Code::Internal)?;
                let header = envelope.header();
                let label = VersionLabel {
                    key: header.key,
                    version: header.version,
                };
                seed::sealed(only.payload, label)
            }
            _ => seed::opened(only.payload),
        }))
    }

    async fn health(&self) -> Answer {
        let application = self.application;
        let holder = application.worker.holder_works().await;
        let recorded = application.worker.labels(self.call);
        let labels = application.release(recorded).await?;
        let audit = (application.probes.audit)();
        let Looked {
            store,
            certificates,
            ..
        } = application.looked();
        let ready = holder && audit && store && certificates;
        let body = seed::health(ready, holder, &labels);
        if ready {
            return Ok(good(body));
        }
        let later = Refusal::new(Code::HolderUnavailable);
        let mut response = json(later.status(), body);
        if let Some(seconds) = later.retry_after() {
            let seconds = HeaderValue::from(seconds);
            response.headers_mut().insert(RETRY_AFTER, seconds);
        }
        Ok(response)
    }

    /// What was read of a body; a body that was not understood is recorded here.
    async fn understood<T>(&self, read: Result<T, Code>) -> Result<T, Refusal> {
        match read {
            Ok(read) => Ok(read),
            Err(code) => {
                let operation = self.endpoint.operation();
                let recorded = self.application.record_refusal(self.call, operation, code);
                Err(Refusal::new(recorded.await))
            }
        }
    }
}
