//! What was written into a store, so that it can be removed.

use http::{Method, StatusCode};
use keywright_encoding::hex;
use keywright_measure::TargetError;
use keywright_primitives::random::RandomStream;
use serde_json::{Value, json};

use super::session::{Session, is_success};

/// Secrets and keys below a name that no other run has. Dropping it removes them.
pub(super) struct Belongings {
    pub(super) session: Session,
    name: String,
    held: Vec<Held>,
}

/// One thing that was written.
enum Held {
    /// A key of the transit engine, by its path.
    Key(String),
    /// A secret, by the path under which all of its versions are removed.
    Secret(String),
}

/// What the names of everything begin with.
const PREFIX: &str = "keywright-bench-";

impl Belongings {
    pub(super) fn new(session: Session) -> Result<Self, TargetError> {
        let random = RandomStream::new().and_then(|mut stream| stream.array::<8>());
        let random = random.map_err(|error| TargetError::System(error.to_string()))?;
        Ok(Self {
            session,
            name: format!("{PREFIX}{}", hex::encode(&random)),
            held: Vec::new(),
        })
    }

    /// The name that everything of this run stands below.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Writes a secret; `removal` is the path that takes it away again. The answer's data.
    pub(super) fn write(
        &mut self,
        path: &str,
        body: &Value,
        removal: &str,
    ) -> Result<Value, TargetError> {
        let request = self.session.post(path, body)?;
        // First, because a write whose answer is lost may have taken place.
        self.also_remove(removal);
        let mut answer = self.session.want(&request)?;
        Ok(answer.get_mut("data").map(Value::take).unwrap_or_default())
    }

    /// Something that stands there has to be removed as well.
    pub(super) fn also_remove(&mut self, path: &str) {
        self.held.push(Held::Secret(path.to_owned()));
    }

    /// Makes a key of this kind; its name.
    pub(super) fn make_key(&mut self, mount: &str, kind: &str) -> Result<String, TargetError> {
        let name = format!("{}-{}", self.name, self.held.len());
        let path = format!("{mount}/keys/{name}");
        let request = self.session.post(&path, &json!({ "type": kind }))?;
        self.held.push(Held::Key(path));
        self.session.want(&request)?;
        Ok(name)
    }

    /// Removes everything. What could not be removed is tried again when this is dropped.
    pub(super) fn remove(&mut self) -> Result<(), TargetError> {
        let mut kept = Vec::new();
        let mut first = Ok(());
        while let Some(held) = self.held.pop() {
            if let Err(error) = self.take_away(&held) {
                kept.push(held);
                let gone = matches!(error, TargetError::Unreachable { .. });
                if first.is_ok() {
                    first = Err(error);
                }
                // Each further question would wait as long for nothing.
                if gone {
                    break;
                }
            }
        }
        self.held.append(&mut kept);
        first
    }

    fn take_away(&mut self, held: &Held) -> Result<(), TargetError> {
        let path = match held {
            Held::Secret(path) => path,
            Held::Key(path) => {
                // Keys are protected from deletion until this is said.
                let allow = json!({ "deletion_allowed": true });
                let request = self.session.post(&format!("{path}/config"), &allow)?;
                // A key that does not exist cannot be configured; the deletion says whether it is gone.
                self.session.ask(&request)?;
                path
            }
        };
        let request = self.session.request(Method::DELETE, path, None)?;
        let reply = self.session.ask(&request)?;
        if is_success(reply.status) || reply.status == StatusCode::NOT_FOUND {
            return Ok(());
        }
        // Deleting a key that was never made is a bad request.
        let lookup = self.session.get(path)?;
        match self.session.ask(&lookup)?.status {
            StatusCode::NOT_FOUND => Ok(()),
            _ => self.session.want(&request).map(drop),
        }
    }
}

impl Drop for Belongings {
    fn drop(&mut self) {
        // Nobody is left to tell; `StoreCarrier::close` tells.
        let _ = self.remove();
    }
}
