//! Requests of preparations and of clean-up, over a connection of their own.

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use keywright_measure::TargetError;
use serde_json::Value;

use super::Settings;
use crate::http::{Endpoint, Lines, Prepared, Reply};

/// A connection beside those that are measured, and the token.
pub(super) struct Session {
    lines: Lines,
    token: HeaderValue,
    settings: Settings,
    /// For whose sake; it is named in errors.
    operation: &'static str,
}

/// What a store answers a request without one of its own tokens with.
const TOKEN: HeaderName = HeaderName::from_static("x-vault-token");

impl Session {
    pub(super) fn open(settings: &Settings, operation: &'static str) -> Result<Self, TargetError> {
        let token = settings.token()?;
        Ok(Self {
            lines: Lines::connect(settings.endpoint()?, 1, 1)?,
            token,
            settings: settings.clone(),
            operation,
        })
    }

    /// A request with the token.
    pub(super) fn request(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Prepared, TargetError> {
        let endpoint: &Endpoint = self.lines.endpoint();
        let body = body.map_or_else(Bytes::new, |body| Bytes::from(body.to_string()));
        let prepared = endpoint.prepare(method, &format!("/v1/{path}"), body)?;
        Ok(prepared.with_header(TOKEN, self.token.clone()))
    }

    /// A request that changes nothing or makes something.
    pub(super) fn post(&self, path: &str, body: &Value) -> Result<Prepared, TargetError> {
        self.request(Method::POST, path, Some(body))
    }

    pub(super) fn get(&self, path: &str) -> Result<Prepared, TargetError> {
        self.request(Method::GET, path, None)
    }

    /// The answer, whatever it is. A connection that the store closed while nothing happened on it is
    /// noticed only now, so the request is made once more.
    pub(super) fn ask(&mut self, request: &Prepared) -> Result<Reply, TargetError> {
        match self.lines.ask(0, request) {
            Err(TargetError::Unreachable { .. }) => self.lines.ask(0, request),
            reply => reply,
        }
    }

    /// The answer to a request that must succeed; null where there is no body.
    pub(super) fn want(&mut self, request: &Prepared) -> Result<Value, TargetError> {
        let reply = self.ask(request)?;
        self.judged(&reply)
    }

    /// What an answer holds that must be a success; null where there is no body.
    pub(super) fn judged(&self, reply: &Reply) -> Result<Value, TargetError> {
        if !is_success(reply.status) {
            return Err(self.refusal(reply));
        }
        if reply.body.is_empty() {
            return Ok(Value::Null);
        }
        let parsed = serde_json::from_slice(&reply.body);
        parsed.map_err(|_| self.failed("an answer is not JSON"))
    }

    /// What an answer that is no success means. The store's own words are left out: they may repeat
    /// anything that it was sent.
    fn refusal(&self, reply: &Reply) -> TargetError {
        let status = reply.status.as_u16();
        match status {
            401 | 403 => self.settings.refused(&format!(
                "status {status}: the token is missing, unknown, or has no right to do this"
            )),
            404 => {
                self.unsupported("status 404: no such engine is mounted there, or not this version")
            }
            405 => self.unsupported(&format!("status {status}: it has no such request")),
            400..500 => self.failed(&format!("status {status} to a request of the preparation")),
            503 => self.settings.unreachable("it is sealed or in maintenance"),
            _ => self.settings.unreachable(&format!("status {status}")),
        }
    }

    /// Why this operation cannot be measured here.
    pub(super) fn unsupported(&self, reason: &str) -> TargetError {
        TargetError::Unsupported {
            target: self.settings.name.clone(),
            operation: self.operation.to_owned(),
            reason: reason.to_owned(),
        }
    }

    /// A result of the store that is wrong.
    pub(super) fn wrong(&self, reason: &str) -> TargetError {
        TargetError::WrongOutput {
            target: self.settings.name.clone(),
            operation: self.operation.to_owned(),
            reason: reason.to_owned(),
        }
    }

    /// What the store did wrongly while the operation was prepared.
    pub(super) fn failed(&self, reason: &str) -> TargetError {
        TargetError::Failed {
            target: self.settings.name.clone(),
            operation: self.operation.to_owned(),
            reason: reason.to_owned(),
        }
    }

    pub(super) const fn settings(&self) -> &Settings {
        &self.settings
    }
}

/// Whether an answer means that all went well. Writes of some engines are answered without a body.
pub(super) fn is_success(status: StatusCode) -> bool {
    matches!(status, StatusCode::OK | StatusCode::NO_CONTENT)
}
