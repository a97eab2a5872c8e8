//! The routes for programs that speak Vault's transit API.
//!
//! A second spelling and no second way: bodies become the same items, go through the same [`Worker`], and leave the
//! same records as on native routes. Who asks is decided by the certificate of the connection. A token adds nothing to
//! that: it may be left out, and one that is not the certificate's own refuses the request.
//!
//! [`Worker`]: keywright_service::Worker

mod items;
mod keys;
mod login;
mod signing;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, RETRY_AFTER};
use http::request::Parts;
use http::{HeaderValue, Response};
use keywright_api::vault::answer::{self, Refused};
use keywright_api::vault::request::{LoginBody, NothingBody, RandomBody, parse, says_nothing};
use keywright_api::vault::route::{Endpoint, Found, RouteMatch, match_route_on};
use keywright_api::{Limits, MAX_RANDOM, Text};
use keywright_service::{Call, Need, Ordering};
use keywright_types::{Code, Operation, Plane};

use self::login::{Presented, Tokens};
use crate::Application;
use crate::exchange::good;
use crate::transport::{Body, Reply, empty, json};

/// What the routes need besides the service: tokens of logins.
pub struct VaultDoor {
    tokens: Tokens,
}

impl VaultDoor {
    /// A door whose tokens work for `life`, and only with this process.
    ///
    /// # Errors
    /// If there is no randomness.
    pub fn new(life: Duration) -> Result<Self, keywright_primitives::Error> {
        Tokens::new(life).map(|tokens| Self { tokens })
    }

    /// The door, for a path behind it that no native route has.
    pub(crate) fn of<'d>(door: Option<&'d Arc<Self>>, path: &str) -> Option<&'d Self> {
        let ours = path.starts_with("/v1/transit/") || path.starts_with("/v1/auth/");
        door.map(AsRef::as_ref).filter(|_| ours)
    }

    /// What a request is for that no native route has, as far as its head says.
    pub(crate) fn operation(
        door: Option<&Arc<Self>>,
        plane: Option<Plane>,
        head: &Parts,
    ) -> Operation {
        match Self::of(door, head.uri.path()).map(|_| matched(plane, head)) {
            Some(RouteMatch::Found(found)) => found.route.operation,
            _ => Operation::Unrouted,
        }
    }

    /// The template of the route of such a request.
    pub(crate) fn template(
        door: Option<&Arc<Self>>,
        plane: Option<Plane>,
        head: &Parts,
    ) -> Option<&'static str> {
        match Self::of(door, head.uri.path()).map(|_| matched(plane, head)) {
            Some(RouteMatch::Found(found)) => Some(found.route.path),
            _ => None,
        }
    }
}

impl fmt::Debug for VaultDoor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VaultDoor")
    }
}

/// Where a request leads.
fn matched(plane: Option<Plane>, head: &Parts) -> RouteMatch<'_> {
    match_route_on(plane, &head.method, head.uri.path(), head.uri.query())
}

/// A request on its way.
struct Visit<'a> {
    application: &'a Application,
    door: &'a VaultDoor,
    call: Call<'a>,
    found: Found<'a>,
}

type Answer = Result<Response<Reply>, Refused>;

/// Answers a request for a path of these routes, or one beside them.
pub(crate) async fn respond(
    application: &Application,
    door: &VaultDoor,
    call: Call<'_>,
    head: &Parts,
    body: &mut Body,
) -> Response<Reply> {
    let (answer, allow) = match matched(application.plane, head) {
        RouteMatch::Found(found) => {
            let visit = Visit {
                application,
                door,
                call,
                found,
            };
            (visit.answer(head, body).await, None)
        }
        RouteMatch::NotFound => {
            let code = application.unrouted(call, Code::RouteNotFound).await;
            (Err(Refused::new(code)), None)
        }
        RouteMatch::WrongMethod { allow } => {
            let code = application.unrouted(call, Code::MethodNotAllowed).await;
            (Err(Refused::new(code)), Some(allow))
        }
    };
    let mut response = answer.unwrap_or_else(|refused| refuse(&refused, &application.limits, call));
    if let Some(allow) = allow {
        response
            .headers_mut()
            .insert(ALLOW, HeaderValue::from_static(allow));
    }
    response
}

fn refuse(refused: &Refused, limits: &Limits, call: Call<'_>) -> Response<Reply> {
    let mut response = json(refused.status(), refused.body(limits, call.request));
    if let Some(seconds) = refused.retry_after() {
        response
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

impl Visit<'_> {
    async fn answer(mut self, head: &Parts, body: &mut Body) -> Answer {
        let presented = Presented::of(&head.headers);
        let endpoint = self.found.route.endpoint;
        // Whoever logs in may still send the token before.
        let checked = match endpoint {
            Endpoint::Login => Ok(()),
            _ => self.check(&presented),
        };
        if let Err(refused) = checked.and_then(|()| only_plain_headers(head)) {
            return Err(self.refused(refused).await);
        }
        match endpoint {
            Endpoint::Keys => self.keys().await,
            Endpoint::Key => self.key().await,
            Endpoint::LookupSelf => self.look_up(&presented).await,
            _ => {
                let body = self.body(body).await?;
                match endpoint {
                    Endpoint::Login => self.login(&body).await,
                    Endpoint::Random => self.random(&body).await,
                    Endpoint::Rotate => self.rotate(&body).await,
                    Endpoint::Sign | Endpoint::Verify | Endpoint::Hmac => self.use_key(&body).await,
                    _ => self.seal_or_open(&body).await,
                }
            }
        }
    }

    /// A token that comes along must be the certificate's own.
    fn check(&self, presented: &Presented<'_>) -> Result<(), Refused> {
        let refused = || Refused::new(Code::TokenRefused);
        match presented {
            Presented::Nothing => Ok(()),
            Presented::Unreadable => Err(refused()),
            Presented::Token(text) => {
                let now = self.application.worker.shared().clock().wall();
                let credential = self.call.caller.credential().ok_or_else(refused)?;
                let known = self.door.tokens.check(text, &credential, now);
                known.map(|_| ()).ok_or_else(refused)
            }
        }
    }

    async fn body(&mut self, body: &mut Body) -> Result<Bytes, Refused> {
        let operation = self.found.route.operation;
        let read = self.application.body(&mut self.call, operation, body).await;
        read.map_err(Refused::new)
    }

    /// Records a request that was not understood, and gives back why.
    async fn refused(&self, refused: Refused) -> Refused {
        let operation = self.found.route.operation;
        let recorded = self
            .application
            .record_refusal(self.call, operation, refused.code());
        match recorded.await {
            Code::AuditUnavailable => Refused::new(Code::AuditUnavailable),
            _ => refused,
        }
    }

    /// What was read of a body; a body that was not understood is recorded here.
    async fn understood<T>(&self, read: Result<T, Refused>) -> Result<T, Refused> {
        match read {
            Ok(read) => Ok(read),
            Err(refused) => Err(self.refused(refused).await),
        }
    }

    async fn login(&self, body: &[u8]) -> Answer {
        let parsed = parse::<LoginBody<'_>>(body, &self.application.limits);
        let wanted = self.understood(parsed).await?.name;
        let worker = &self.application.worker;
        let (snapshot, now) = (worker.shared().snapshot(), worker.shared().clock().wall());
        let principal = self.call.caller.principal(&snapshot, now);
        let principal = self.understood(principal.map_err(Refused::new)).await?;
        let other = wanted.as_ref().is_some_and(|name| {
            let name = name.expose();
            !name.is_empty() && name != principal.name().as_str()
        });
        if other {
            let because = "`name` is not that of the principal of this certificate";
            return Err(self
                .refused(Refused::because(Code::ValueInvalid, because))
                .await);
        }
        let recorded = worker.plain(self.call, Operation::Connect, Need::Identity, |_| ());
        self.application.release(recorded).await?;
        let credential = self.call.caller.credential().ok_or(Code::Internal)?;
        let (token, seconds) = self.door.tokens.issue(&credential, now);
        let name = principal.name().as_str();
        Ok(good(answer::login(
            &token,
            name,
            seconds,
            self.call.request,
        )))
    }

    async fn look_up(&self, presented: &Presented<'_>) -> Answer {
        let worker = &self.application.worker;
        let (snapshot, now) = (worker.shared().snapshot(), worker.shared().clock().wall());
        let principal = self.call.caller.principal(&snapshot, now);
        let principal = self.understood(principal.map_err(Refused::new)).await?;
        let ends = match presented {
            Presented::Token(text) => {
                let credential = self.call.caller.credential();
                credential.and_then(|credential| self.door.tokens.check(text, &credential, now))
            }
            _ => None,
        };
        let Some(ends) = ends else {
            return Err(self.refused(Refused::new(Code::TokenRefused)).await);
        };
        let recorded = worker.plain(self.call, Operation::Connect, Need::Identity, |_| ());
        self.application.release(recorded).await?;
        let facts = login::facts(principal.name().as_str(), ends, now);
        Ok(good(answer::data(&facts, self.call.request)))
    }

    async fn rotate(&self, body: &[u8]) -> Answer {
        let parsed = parse::<NothingBody>(body, &self.application.limits);
        self.understood(parsed).await?;
        let application = self.application;
        let order = (Operation::KeyRotate, Ordering::Rotate);
        let (name, desk) = (self.found.name, &application.probes.desk);
        let recorded = application.worker.order(self.call, name, order, desk).await;
        application.release(recorded).await?;
        Ok(empty(http::StatusCode::NO_CONTENT))
    }

    async fn random(&self, body: &[u8]) -> Answer {
        let parsed = parse::<RandomBody<'_>>(body, &self.application.limits);
        let wanted = parsed.and_then(|parsed| wanted_bytes(&parsed, self.found.word));
        let (length, hex) = self.understood(wanted).await?;
        let recorded = self
            .application
            .worker
            .random(self.call, length, &[Code::Ok]);
        let bytes = self.application.release(recorded).await?;
        let done = match hex {
            true => answer::Done::RandomHex(bytes.expose()),
            false => answer::Done::Random(bytes.expose()),
        };
        Ok(good(answer::one(&done, self.call.request)))
    }
}

/// How many bytes, and whether in hexadecimal.
fn wanted_bytes(body: &RandomBody<'_>, in_path: &str) -> Result<(usize, bool), Refused> {
    let source = body.source.as_ref().map_or("platform", Text::expose);
    if !says_nothing(body.source.as_ref()) && source != "platform" {
        return Err(Refused::because(
            Code::ValueInvalid,
            "`source` is `platform`",
        ));
    }
    let hex = match body.format.as_ref().map_or("", Text::expose) {
        "" | "base64" => false,
        "hex" => true,
        _ => {
            return Err(Refused::because(
                Code::ValueInvalid,
                "`format` is `base64` or `hex`",
            ));
        }
    };
    let said = match (in_path, body.bytes) {
        ("", None) => Some(USUAL_RANDOM),
        ("", Some(bytes)) => Some(bytes.0),
        (path, None) => path.parse().ok(),
        (path, Some(bytes)) => path.parse().ok().filter(|path| *path == bytes.0),
    };
    let length = said.filter(|length| (1..=MAX_RANDOM).contains(length));
    let length = length.and_then(|length| usize::try_from(length).ok());
    let because = "`bytes` is 1 to 65536, and the same in path and body";
    Ok((
        length.ok_or(Refused::because(Code::ValueInvalid, because))?,
        hex,
    ))
}

/// Headers that would change what an answer is. There are no namespaces and no wrapped answers here.
fn only_plain_headers(head: &Parts) -> Result<(), Refused> {
    let says = |name: &str, nothing: &[&str]| {
        let mut values = head.headers.get_all(name).iter();
        values.any(|value| !nothing.iter().any(|nothing| value == nothing))
    };
    let because = if says("x-vault-namespace", &["", "/", "root", "root/"]) {
        "there are no namespaces here; the certificate decides whose keys are asked for"
    } else if says("x-vault-wrap-ttl", &["", "0", "0s"]) {
        "answers are not wrapped here"
    } else {
        return Ok(());
    };
    Err(Refused::because(Code::ValueInvalid, because))
}

/// Random bytes where nothing is said of their number.
const USUAL_RANDOM: u64 = 32;
