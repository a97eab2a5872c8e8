//! Reading what others keep in HashiCorp Vault or OpenBao: names and secrets of the key/value engine, version 2.
//!
//! Nothing is measured and nothing is written. Answers are bounded, names that could lead elsewhere are
//! refused, and what a store says about a secret that is not there is told from what it says when it is
//! sealed or when the token has no right.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request, StatusCode, header};
use keywright_secret::SecretBytes;
use keywright_tls::Protocol;
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};

use crate::Settings;
use crate::call::Answer;
use crate::connection::Connection;
use crate::payload::Payload;

/// Names that one folder may hold.
const MOST_NAMES: usize = 100_000;

/// What the token of a store is sent in.
const TOKEN: HeaderName = HeaderName::from_static("x-vault-token");

/// Why a store gave nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address is not `https://host[:port]`.
    #[error("the store's address must be https://host or https://host:port, and nothing else")]
    Url,
    /// The certificate or the token is refused, on either side.
    #[error("the store refuses the caller: {0}")]
    Authentication(String),
    /// It does not answer, is sealed or in maintenance.
    #[error("the store cannot be reached: {0}")]
    Unreachable(String),
    /// It answers what cannot be used.
    #[error("the store failed: {0}")]
    Failed(String),
}

/// A connection to a store, for reading. Must not be used or dropped inside a runtime.
pub struct Reader {
    // Before the runtime, so that it is dropped while that still exists.
    connection: Connection,
    runtime: Runtime,
    settings: Settings,
    token: HeaderValue,
    mount: String,
}

/// What one path holds.
#[derive(Debug)]
#[non_exhaustive]
pub struct Kept {
    /// The answer's `data`, as JSON: the secret under `data`, what is known about it under `metadata`.
    pub json: SecretBytes,
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}

impl Reader {
    /// Connects to the store at `url`, and asks about its health. `mount` is the key/value engine of version 2.
    /// White space around the token, such as the end of a file's line, is no part of it; the copies in requests are
    /// not wiped.
    ///
    /// # Errors
    /// [`Error::Unreachable`] if nobody answers or the store is sealed, [`Error::Authentication`] if the certificate
    /// or the token is refused.
    pub fn open(
        url: &str,
        tls: Arc<rustls::ClientConfig>,
        token: &SecretBytes,
        mount: &str,
    ) -> Result<Self, Error> {
        let settings = Settings::new(url, tls).map_err(|_| Error::Url)?;
        let token = header_of(token)?;
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Error::Unreachable(error.to_string()))?;
        let connection = connect(&runtime, &settings)?;
        let mut reader = Self {
            connection,
            runtime,
            settings,
            token,
            mount: mount.to_owned(),
        };
        let health = reader.answer("sys/health")?;
        if !health.status.is_success() {
            let status = health.status.as_u16();
            return Err(Error::Unreachable(format!(
                "it is sealed or in maintenance (status {status} to a question about its health)"
            )));
        }
        Ok(reader)
    }

    /// The names directly below a path, those of folders with a slash at their end; none where nothing is.
    /// `below` is empty for the mount itself.
    ///
    /// # Errors
    /// Those of [`Self::open`]; [`Error::Failed`] for an answer that is none, and for names that
    /// are empty, lead elsewhere or are too many.
    pub fn names(&mut self, below: &str) -> Result<Vec<String>, Error> {
        let path = format!("{}/metadata/{}?list=true", self.mount, escaped(below));
        let Some(answer) = self.ask(&path)? else {
            return Ok(Vec::new());
        };
        let names = answer["data"]["keys"].as_array();
        let names = names.ok_or_else(|| lies("a list of names is none"))?;
        if names.len() > MOST_NAMES {
            return Err(lies("a folder has more than 100,000 names"));
        }
        let name = |name: &Value| {
            let name = name.as_str().filter(|name| is_name(name));
            name.map(str::to_owned)
                .ok_or_else(|| lies("a list has a name that is none"))
        };
        names.iter().map(name).collect()
    }

    /// What a path holds; nothing where nothing is.
    ///
    /// # Errors
    /// As [`Self::names`].
    pub fn read(&mut self, path: &str) -> Result<Option<Kept>, Error> {
        let path = format!("{}/data/{}", self.mount, escaped(path));
        let Some(mut answer) = self.ask(&path)? else {
            return Ok(None);
        };
        let data = answer["data"].take();
        match data["data"].is_object() {
            true => Ok(Some(Kept {
                json: SecretBytes::from_vec(data.to_string().into_bytes()),
            })),
            false => Err(lies("an answer about a secret holds none")),
        }
    }

    fn ask(&mut self, path: &str) -> Result<Option<Value>, Error> {
        let answer = self.answer(path)?;
        // An answer of status 404 about an engine that is not there has words in it; one about a secret has none.
        if answer.status == StatusCode::NOT_FOUND && has_no_errors(&answer.body) {
            return Ok(None);
        }
        judged(&answer).map(Some)
    }

    /// The answer, whatever it is. A connection that the store closed while nothing happened on it is noticed only
    /// now, so the request is made once more.
    fn answer(&mut self, path: &str) -> Result<Answer, Error> {
        match self.exchange(path) {
            Err(Error::Unreachable(_)) => {
                self.connection = connect(&self.runtime, &self.settings)?;
                self.exchange(path)
            }
            answer => answer,
        }
    }

    fn exchange(&mut self, path: &str) -> Result<Answer, Error> {
        let authority = self.settings.authority.as_str();
        let request = match self.connection.protocol() {
            Protocol::Http2 => Request::get(format!("https://{authority}/v1/{path}")),
            _ => Request::get(format!("/v1/{path}")).header(header::HOST, authority),
        };
        let request = request.header(TOKEN, self.token.clone());
        let request = request.body(Payload::whole(Bytes::new()));
        let request = request.map_err(|_| lies("a path cannot be asked for"))?;
        let (timeout, limit) = (self.settings.timeout, self.settings.answer_bytes);
        let exchange = self.connection.exchange(request, limit);
        let answer = self
            .runtime
            .block_on(async { tokio::time::timeout(timeout, exchange).await });
        match answer {
            Ok(answer) => answer.map_err(|failure| of(&failure.into_error())),
            Err(_) => Err(Error::Unreachable("no answer in time".to_owned())),
        }
    }
}

fn connect(runtime: &Runtime, settings: &Settings) -> Result<Connection, Error> {
    let opening =
        async { tokio::time::timeout(settings.timeout, Connection::open(settings)).await };
    match runtime.block_on(opening) {
        Ok(connection) => connection.map_err(|error| of(&error)),
        Err(_) => Err(Error::Unreachable("no connection in time".to_owned())),
    }
}

/// The token as the value of a header.
fn header_of(token: &SecretBytes) -> Result<HeaderValue, Error> {
    let token = token.expose().trim_ascii();
    if token.is_empty() {
        return Err(Error::Authentication("no token was given".to_owned()));
    }
    let value = HeaderValue::from_bytes(token);
    let mut value = value.map_err(|_| {
        Error::Authentication("the token has characters that a header cannot carry".to_owned())
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// What an error of the connection means.
fn of(error: &crate::Error) -> Error {
    let mut reason = error.to_string();
    if let Some(cause) = std::error::Error::source(error) {
        reason = format!("{reason}: {cause}");
    }
    match error {
        crate::Error::Tls(_) => Error::Authentication(reason),
        crate::Error::Answer => lies("an answer is too large"),
        _ => Error::Unreachable(reason),
    }
}

fn lies(reason: &str) -> Error {
    Error::Failed(reason.to_owned())
}

/// What an answer holds that must be a success. The store's own words are left out: they may repeat anything that it
/// was sent.
fn judged(answer: &Answer) -> Result<Value, Error> {
    let status = answer.status.as_u16();
    match status {
        200 | 204 => {}
        401 | 403 => {
            return Err(Error::Authentication(format!(
                "status {status}: the token is missing, unknown, or has no right to do this"
            )));
        }
        404 => {
            return Err(lies(
                "status 404: no such engine is mounted there, or not this version",
            ));
        }
        400..500 => return Err(lies(&format!("it has no such request (status {status})"))),
        503 => {
            return Err(Error::Unreachable(
                "it is sealed or in maintenance".to_owned(),
            ));
        }
        _ => return Err(Error::Unreachable(format!("status {status}"))),
    }
    if answer.body.is_empty() {
        return Ok(Value::Null);
    }
    serde_json::from_slice(&answer.body).map_err(|_| lies("an answer is not JSON"))
}

fn has_no_errors(body: &[u8]) -> bool {
    let Ok(answer) = serde_json::from_slice::<Value>(body) else {
        return false;
    };
    answer["errors"].as_array().is_none_or(Vec::is_empty)
}

/// One component, with a slash behind it if it is a folder.
fn is_name(name: &str) -> bool {
    let bare = name.strip_suffix('/').unwrap_or(name);
    !bare.is_empty()
        && bare.len() <= 1_024
        && !matches!(bare, "." | "..")
        && !bare.contains('/')
        && !bare.chars().any(char::is_control)
}

/// A path with everything but unreserved characters, slashes and colons written as `%` and digits.
fn escaped(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b':' => {
                out.push(char::from(byte));
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_in_no_text_about_it_and_one_that_is_none_is_refused() {
        let token = |bytes: &[u8]| header_of(&SecretBytes::from_vec(bytes.to_vec()));
        let header = token(b"canary-7361\n").unwrap();
        assert_eq!(header.as_bytes(), b"canary-7361");
        assert!(!format!("{header:?}").contains("canary"));
        for bad in [b"".as_slice(), b" \n", b"cana\nry", b"canary\0"] {
            let error = token(bad).unwrap_err();
            assert!(matches!(error, Error::Authentication(_)));
            assert!(!error.to_string().contains("cana"), "{error}");
        }
    }

    #[test]
    fn names_that_lead_elsewhere_are_none() {
        for good in ["a", "a/", "did:peer:2.Ez", "0f-0", "a b", "..."] {
            assert!(is_name(good), "{good}");
        }
        let long = "a".repeat(1_025);
        for bad in [
            "", "/", ".", "..", "../", "a/b", "/a", "a//", "a\n", "a\0", &long,
        ] {
            assert!(!is_name(bad), "{bad:?}");
        }
    }

    #[test]
    fn a_path_cannot_grow_a_query_or_a_second_line() {
        assert_eq!(escaped("a/b:c-d_e.f~0"), "a/b:c-d_e.f~0");
        assert_eq!(escaped("a?list=true#x"), "a%3Flist%3Dtrue%23x");
        assert_eq!(escaped("a b\r\nc%2F"), "a%20b%0D%0Ac%252F");
        assert_eq!(escaped("é"), "%C3%A9");
    }

    #[test]
    fn what_is_missing_is_told_from_what_is_refused() {
        for body in [r#"{"errors":[]}"#, "{}"] {
            assert!(has_no_errors(body.as_bytes()));
        }
        for body in [r#"{"errors":["no handler for route"]}"#, "", "<html>"] {
            assert!(!has_no_errors(body.as_bytes()));
        }
    }
}
