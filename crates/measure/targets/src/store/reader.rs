//! Reading what others keep in a store: names and secrets of the key/value engine, version 2.
//!
//! Nothing is measured and nothing is written. Answers are bounded, names that could lead elsewhere are
//! refused, and what a store says about a secret that is not there is told from what it says when it is
//! sealed or when the token has no right.

use http::StatusCode;
use keywright_measure::TargetError;
use keywright_secret::SecretBytes;
use serde_json::Value;

use super::Settings;
use super::session::Session;

/// Names that one folder may hold.
const MOST_NAMES: usize = 100_000;

/// A connection to a store, for reading.
pub struct Reader {
    session: Session,
    mount: String,
}

/// What one path holds.
#[derive(Debug)]
#[non_exhaustive]
pub struct Kept {
    /// The answer's `data`, as JSON: the secret under `data`, what is known about it under `metadata`.
    pub json: SecretBytes,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").finish_non_exhaustive()
    }
}

impl Reader {
    /// Connects, and asks about the store's health.
    ///
    /// # Errors
    /// [`TargetError::Unreachable`] if nobody answers or the store is sealed, [`TargetError::Authentication`]
    /// if the certificate or the token is refused.
    pub fn open(settings: &Settings) -> Result<Self, TargetError> {
        let mut session = Session::open(settings, "vault.kv.get")?;
        let health = session.get("sys/health")?;
        let reply = session.ask(&health)?;
        if !reply.status.is_success() {
            let status = reply.status.as_u16();
            return Err(settings.unreachable(&format!(
                "it is sealed or in maintenance (status {status} to a question about its health)"
            )));
        }
        Ok(Self {
            session,
            mount: settings.mounts.kv.clone(),
        })
    }

    /// The names directly below a path, those of folders with a slash at their end; none where nothing is.
    /// `below` is empty for the mount itself.
    ///
    /// # Errors
    /// Those of [`Self::open`]; [`TargetError::Failed`] for an answer that is none, and for names that
    /// are empty, lead elsewhere or are too many.
    pub fn names(&mut self, below: &str) -> Result<Vec<String>, TargetError> {
        let path = format!("{}/metadata/{}?list=true", self.mount, escaped(below));
        let Some(answer) = self.ask(&path)? else {
            return Ok(Vec::new());
        };
        let names = answer["data"]["keys"].as_array();
        let names = names.ok_or_else(|| self.lies("a list of names is none"))?;
        if names.len() > MOST_NAMES {
            return Err(self.lies("a folder has more than 100,000 names"));
        }
        let name = |name: &Value| {
            let name = name.as_str().filter(|name| is_name(name));
            name.map(str::to_owned)
                .ok_or_else(|| self.lies("a list has a name that is none"))
        };
        names.iter().map(name).collect()
    }

    /// What a path holds; nothing where nothing is.
    ///
    /// # Errors
    /// As [`Self::names`].
    pub fn read(&mut self, path: &str) -> Result<Option<Kept>, TargetError> {
        let path = format!("{}/data/{}", self.mount, escaped(path));
        let Some(mut answer) = self.ask(&path)? else {
            return Ok(None);
        };
        let data = answer["data"].take();
        match data["data"].is_object() {
            true => Ok(Some(Kept {
                json: SecretBytes::from_vec(data.to_string().into_bytes()),
            })),
            false => Err(self.lies("an answer about a secret holds none")),
        }
    }

    fn ask(&mut self, path: &str) -> Result<Option<Value>, TargetError> {
        let request = self.session.get(path)?;
        let reply = self.session.ask(&request)?;
        // An answer of status 404 about an engine that is not there has words in it; one about a secret has none.
        if reply.status == StatusCode::NOT_FOUND && has_no_errors(&reply.body) {
            return Ok(None);
        }
        self.session.judged(&reply).map(Some)
    }

    fn lies(&self, reason: &str) -> TargetError {
        self.session.failed(reason)
    }
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
