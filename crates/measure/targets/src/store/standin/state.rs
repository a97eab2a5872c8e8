//! What the stand-in knows, and which engine a request is for.

use http::{Method, StatusCode};
use keywright_clock::Clock;
use keywright_primitives::random::RandomStream;
use keywright_secret::{Secret, ct_eq};
use serde_json::{Value, json};

use super::MARK;
use super::answer::Answer;
use super::secrets::{Plain, Versioned};
use super::transit::Transit;

/// Everything.
pub(super) struct State {
    pub(super) sealed: bool,
    pub(super) outputs: Outputs,
    token: Secret<32>,
    clock: Clock,
    versioned: Versioned,
    plain: Plain,
    transit: Transit,
}

/// What comes out of the engines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outputs {
    Right,
    Wrong,
}

/// A request.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) method: &'a Method,
    pub(super) path: &'a str,
    pub(super) query: &'a str,
    pub(super) token: &'a [u8],
    pub(super) body: &'a [u8],
}

impl Asked<'_> {
    /// Whether it lists names.
    pub(super) fn lists(&self) -> bool {
        self.method.as_str() == "LIST"
            || (self.method == Method::GET && self.parameter("list") == Some("true"))
    }

    pub(super) fn reads(&self) -> bool {
        self.method == Method::GET
    }

    pub(super) fn writes(&self) -> bool {
        self.method == Method::POST || self.method == Method::PUT
    }

    pub(super) fn deletes(&self) -> bool {
        self.method == Method::DELETE
    }

    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let pairs = self
            .query
            .split('&')
            .filter_map(|pair| pair.split_once('='));
        pairs
            .into_iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    }

    /// The object in its body; an empty body is an empty object.
    pub(super) fn object(&self) -> Option<Value> {
        if self.body.is_empty() {
            return Some(json!({}));
        }
        let parsed = serde_json::from_slice::<Value>(self.body).ok();
        parsed.filter(Value::is_object)
    }
}

impl State {
    pub(super) fn new(token: Secret<32>, clock: Clock, random: RandomStream) -> Self {
        Self {
            sealed: false,
            outputs: Outputs::Right,
            token,
            clock: clock.clone(),
            versioned: Versioned::new(clock),
            plain: Plain::default(),
            transit: Transit::new(random),
        }
    }

    pub(super) fn put(&mut self, path: &str, value: &str, semantic_path: Option<&str>) {
        self.versioned.put(path, value, semantic_path);
    }

    pub(super) fn holdings(&self) -> usize {
        self.versioned.len() + self.plain.len() + self.transit.len()
    }

    pub(super) fn answer(&mut self, asked: &Asked<'_>) -> Answer {
        let Some(path) = asked.path.strip_prefix("/v1/") else {
            return Answer::missing();
        };
        match path {
            "sys/health" => return self.health(),
            "sys/seal-status" => return self.seal_status(),
            _ => {}
        }
        if self.sealed {
            return Answer::refused(StatusCode::SERVICE_UNAVAILABLE, "Vault is sealed");
        }
        if !ct_eq(asked.token, self.token.expose()) {
            return Answer::refused(StatusCode::FORBIDDEN, "permission denied");
        }
        let answer = match path.split_once('/') {
            Some(("secret", rest)) => self.versioned.answer(asked, rest),
            Some(("kv", rest)) => self.plain.answer(asked, rest),
            Some(("transit", rest)) => self.transit.answer(asked, rest, self.outputs),
            _ => Answer::refused(StatusCode::NOT_FOUND, "no handler for this route"),
        };
        match self.outputs {
            Outputs::Right => answer,
            Outputs::Wrong => answer.spoilt(),
        }
    }

    fn health(&self) -> Answer {
        let status = match self.sealed {
            true => StatusCode::SERVICE_UNAVAILABLE,
            false => StatusCode::OK,
        };
        let body = json!({
            "initialized": true,
            "sealed": self.sealed,
            "standby": false,
            "server_time_utc": self.clock.wall().unix_seconds(),
            "version": concat!("stand-in ", env!("CARGO_PKG_VERSION")),
            "cluster_name": MARK,
        });
        Answer::plain(status, body)
    }

    fn seal_status(&self) -> Answer {
        let body = json!({
            "type": "none",
            "initialized": true,
            "sealed": self.sealed,
            "storage_type": "memory",
            "cluster_name": MARK,
        });
        Answer::plain(StatusCode::OK, body)
    }
}
