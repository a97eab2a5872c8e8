//! From a request to an answer.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{
    ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName,
    RETRY_AFTER, SET_COOKIE, STRICT_TRANSPORT_SECURITY, WWW_AUTHENTICATE,
};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use tokio::sync::watch;
use tokio::time::timeout;

use super::access::Gate;
use super::connection::Places;
use super::feed::{self, Following};
use super::{Library, Limits, pages};
use crate::live::Live;

type Answer = Response<Either<Full<Bytes>, Following>>;

/// Everything that answers are made of.
pub(super) struct Site {
    pub(super) live: Arc<Live>,
    pub(super) limits: Limits,
    pub(super) stop: watch::Receiver<bool>,
    gate: Gate,
    library: Arc<dyn Library>,
    pub(super) events: watch::Sender<Bytes>,
    pub(super) followers: Places,
}

/// Nothing but the files of this server; nothing inline.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Beside the content policy, in every answer.
const HEADERS: [(&str, &str); 6] = [
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-resource-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    (
        "permissions-policy",
        "camera=(), geolocation=(), microphone=()",
    ),
];

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";

impl Site {
    pub(super) fn new(
        gate: Gate,
        limits: Limits,
        live: Arc<Live>,
        library: Arc<dyn Library>,
        stop: watch::Receiver<bool>,
    ) -> Self {
        Self {
            live,
            stop,
            gate,
            library,
            events: watch::Sender::new(Bytes::new()),
            followers: Places::new(limits.followers),
            limits,
        }
    }

    pub(super) async fn answer(&self, request: Request<Incoming>) -> Answer {
        let mut answer = match self.checked(&request) {
            Err(refusal) => *refusal,
            Ok(()) => self.found(&request).await,
        };
        let headers = answer.headers_mut();
        for (name, value) in HEADERS {
            headers.insert(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            );
        }
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers
            .entry(CONTENT_SECURITY_POLICY)
            .or_insert(HeaderValue::from_static(POLICY));
        if self.gate.is_guarded() {
            headers.insert(
                STRICT_TRANSPORT_SECURITY,
                HeaderValue::from_static("max-age=86400"),
            );
        }
        answer
    }

    /// What does not depend on the path.
    fn checked(&self, request: &Request<Incoming>) -> Result<(), Box<Answer>> {
        self.gate
            .host(request.headers(), request.uri())
            .map_err(|status| {
                Box::new(refused(status, "this is not the server you asked for\n"))
            })?;
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut answer = refused(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n");
            answer
                .headers_mut()
                .insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
            return Err(Box::new(answer));
        }
        if is_from_elsewhere(request.headers()) {
            let text = "asked for by a page from elsewhere\n";
            return Err(Box::new(refused(StatusCode::FORBIDDEN, text)));
        }
        Ok(())
    }

    async fn found(&self, request: &Request<Incoming>) -> Answer {
        let path = request.uri().path();
        if let Some((kind, text)) = pages::file(path) {
            return text_answer(kind, text);
        }
        if path == "/session" {
            return self.session(request.headers());
        }
        if !self.gate.lets_in(request.headers()) {
            let mut answer = refused(
                StatusCode::UNAUTHORIZED,
                "open / and give the access token\n",
            );
            let challenge = HeaderValue::from_static("Bearer");
            answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
            return answer;
        }
        match path {
            "/snapshot.json" => text_answer(JSON, feed::json(&self.live)),
            "/events" => self.follow(request.method()),
            "/runs" => {
                self.asked(|library| Some(pages::runs(&library.runs())))
                    .await
            }
            "/runs.json" => self.listed().await,
            "/trends" => self.reported(|library| library.trends()).await,
            _ => match path.strip_prefix("/runs/").filter(|id| is_id(id)) {
                Some(id) => {
                    let id = id.to_owned();
                    self.reported(move |library| library.report(&id)).await
                }
                None => not_found(),
            },
        }
    }

    /// A session for the token, so that a browser can follow events and open reports.
    fn session(&self, headers: &HeaderMap) -> Answer {
        match self.gate.session(headers) {
            None => not_found(),
            Some(Err(status)) => {
                let text = match headers.contains_key(AUTHORIZATION) {
                    true => "this is not the access token\n",
                    false => "the access token is missing\n",
                };
                refused(status, text)
            }
            Some(Ok(cookie)) => {
                let mut answer = refused(StatusCode::NO_CONTENT, "");
                answer.headers_mut().remove(CONTENT_TYPE);
                answer.headers_mut().insert(SET_COOKIE, cookie);
                answer
            }
        }
    }

    fn follow(&self, method: &Method) -> Answer {
        let stream = "text/event-stream";
        if method == Method::HEAD {
            return text_answer(stream, "");
        }
        let Some(place) = self.followers.take() else {
            return busy("too many clients follow already\n");
        };
        let channels = (self.events.subscribe(), self.stop.clone());
        let following = Following::new(&self.live, channels, self.limits.heartbeat, place);
        let mut answer = Response::new(Either::Right(following));
        answer
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static(stream));
        answer
    }

    async fn listed(&self) -> Answer {
        let list = self
            .ask(|library| serde_json::to_string(&library.runs()).ok())
            .await;
        list.map_or_else(|answer| *answer, |text| text_answer(JSON, text))
    }

    async fn asked(
        &self,
        find: impl FnOnce(&dyn Library) -> Option<String> + Send + 'static,
    ) -> Answer {
        self.ask(find)
            .await
            .map_or_else(|answer| *answer, |page| text_answer(HTML, page))
    }

    /// A finished page with a style and a script of its own, which are allowed by their hashes. It is put
    /// in a sandbox, so that it cannot read what else this server has.
    async fn reported(
        &self,
        find: impl FnOnce(&dyn Library) -> Option<String> + Send + 'static,
    ) -> Answer {
        match self.ask(find).await {
            Err(answer) => *answer,
            Ok(page) => {
                let policy = HeaderValue::try_from(pages::report_policy(&page));
                let mut answer = text_answer(HTML, page);
                if let Ok(policy) = policy {
                    answer.headers_mut().insert(CONTENT_SECURITY_POLICY, policy);
                }
                answer
            }
        }
    }

    /// Asks the library where it may block.
    async fn ask(
        &self,
        find: impl FnOnce(&dyn Library) -> Option<String> + Send + 'static,
    ) -> Result<String, Box<Answer>> {
        let library = Arc::clone(&self.library);
        let finding = tokio::task::spawn_blocking(move || find(&*library));
        match timeout(self.limits.library, finding).await {
            Err(_) => Err(Box::new(busy("the list of runs is busy\n"))),
            Ok(Err(_)) => {
                let text = "the list of runs failed\n";
                Err(Box::new(refused(StatusCode::INTERNAL_SERVER_ERROR, text)))
            }
            Ok(Ok(found)) => found.ok_or_else(|| Box::new(not_found())),
        }
    }
}

/// Browsers say whether a page of another site asks; following a link from there is harmless.
fn is_from_elsewhere(headers: &HeaderMap) -> bool {
    let is = |name: &str, value: &str| headers.get(name).is_some_and(|header| header == value);
    (is("sec-fetch-site", "cross-site") || is("sec-fetch-site", "same-site"))
        && !is("sec-fetch-mode", "navigate")
}

fn is_id(id: &str) -> bool {
    let fits = (1..=64).contains(&id.len()) && !id.starts_with('.');
    fits && id
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
}

fn text_answer(kind: &'static str, text: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Either::Left(Full::new(text.into())));
    answer
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

fn refused(status: StatusCode, text: &'static str) -> Answer {
    let mut answer = text_answer(TEXT, text);
    *answer.status_mut() = status;
    answer
}

fn not_found() -> Answer {
    refused(StatusCode::NOT_FOUND, "there is nothing here\n")
}

fn busy(text: &'static str) -> Answer {
    let mut answer = refused(StatusCode::SERVICE_UNAVAILABLE, text);
    answer
        .headers_mut()
        .insert(RETRY_AFTER, HeaderValue::from_static("5"));
    answer
}
