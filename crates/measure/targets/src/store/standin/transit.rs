//! The transit engine.

use std::collections::BTreeMap;

use http::StatusCode;
use keywright_encoding::base64;
use keywright_primitives::random::RandomStream;
use serde_json::{Value, json};

use super::answer::Answer;
use super::keys::{Key, Kind, Refused};
use super::state::{Asked, Outputs};

/// Keys by their names.
pub(super) struct Transit {
    keys: BTreeMap<String, Key>,
    random: RandomStream,
}

/// The most random bytes in an answer, and the most texts in a batch.
const MOST: usize = 1 << 17;

impl Transit {
    pub(super) const fn new(random: RandomStream) -> Self {
        Self {
            keys: BTreeMap::new(),
            random,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    pub(super) fn answer(&mut self, asked: &Asked<'_>, rest: &str, outputs: Outputs) -> Answer {
        let Some(body) = asked.object() else {
            return Answer::bad("the body is no JSON object");
        };
        let parts: Vec<_> = rest.split('/').collect();
        let done = match parts.as_slice() {
            ["keys", name] => return self.key(asked, name, &body),
            ["random", count] if asked.writes() => self.random(count, outputs),
            ["keys", name, verb] if asked.writes() => self.change(name, verb, &body),
            ["datakey", "plaintext", name] if asked.writes() => self.datakey(name),
            [verb, name] if asked.writes() => self.operate(verb, name, &body),
            _ => return Answer::refused(StatusCode::NOT_FOUND, "unsupported path"),
        };
        match done {
            Ok(Value::Null) => Answer::empty(),
            Ok(data) => Answer::data(data),
            Err(why) => Answer::bad(why),
        }
    }

    /// Making, reading and deleting.
    fn key(&mut self, asked: &Asked<'_>, name: &str, body: &Value) -> Answer {
        if asked.writes() {
            let kind = body["type"].as_str().unwrap_or(Kind::Encryption.name());
            return match self.make(name, kind) {
                Ok(()) => Answer::empty(),
                Err(why) => Answer::bad(why),
            };
        }
        let Some(key) = self.keys.get(name) else {
            return match asked.deletes() {
                true => Answer::bad("no such key"),
                false => Answer::missing(),
            };
        };
        if asked.deletes() {
            if !key.deletable {
                return Answer::bad("deletion is not allowed for this key");
            }
            self.keys.remove(name);
            return Answer::empty();
        }
        Answer::data(json!({
            "name": name,
            "type": key.kind.name(),
            "latest_version": key.newest(),
            "deletion_allowed": key.deletable,
        }))
    }

    /// A key that exists stays as it is.
    fn make(&mut self, name: &str, kind: &str) -> Result<(), Refused> {
        let kind = Kind::named(kind).ok_or("unknown key type")?;
        if !self.keys.contains_key(name) {
            let key = Key::make(kind, &mut self.random)?;
            self.keys.insert(name.to_owned(), key);
        }
        Ok(())
    }

    fn change(&mut self, name: &str, verb: &str, body: &Value) -> Result<Value, Refused> {
        let key = self.keys.get_mut(name).ok_or(NO_KEY)?;
        match verb {
            "config" => key.deletable = body["deletion_allowed"].as_bool().unwrap_or(key.deletable),
            "rotate" => key.rotate(&mut self.random)?,
            _ => return Err("unsupported operation"),
        }
        Ok(Value::Null)
    }

    fn random(&mut self, count: &str, outputs: Outputs) -> Result<Value, Refused> {
        let count = count
            .parse()
            .ok()
            .filter(|count| (1..=MOST).contains(count));
        let count: usize = count.ok_or("no number of bytes")?;
        // Other random bytes would be as good; one byte too few is wrong.
        let mut bytes = vec![0; count - usize::from(outputs == Outputs::Wrong)];
        self.random
            .fill(&mut bytes)
            .map_err(|_| "no random bytes")?;
        Ok(json!({ "random_bytes": base64::encode(&bytes) }))
    }

    fn datakey(&mut self, name: &str) -> Result<Value, Refused> {
        let key = self.keys.get(name).ok_or(NO_KEY)?;
        let bytes = self.random.secret::<32>().map_err(|_| "no random bytes")?;
        let text = base64::encode(bytes.expose());
        let ciphertext = key.encrypt(&text, &mut self.random)?;
        Ok(json!({ "plaintext": text, "ciphertext": ciphertext }))
    }

    fn operate(&mut self, verb: &str, name: &str, body: &Value) -> Result<Value, Refused> {
        let key = self.keys.get(name).ok_or(NO_KEY)?;
        let Some(batch) = body.get("batch_input") else {
            return one(key, verb, body, &mut self.random);
        };
        let batch = batch
            .as_array()
            .filter(|batch| (1..=MOST).contains(&batch.len()));
        let batch = batch.ok_or("missing batch input to process")?;
        let random = &mut self.random;
        let results: Result<Vec<_>, _> = batch
            .iter()
            .map(|item| one(key, verb, item, random))
            .collect();
        Ok(json!({ "batch_results": results? }))
    }
}

const NO_KEY: Refused = "encryption key not found";

fn one(key: &Key, verb: &str, item: &Value, random: &mut RandomStream) -> Result<Value, Refused> {
    let text = |field: &str| item[field].as_str().ok_or("a field is missing");
    let encrypted = |ciphertext| json!({ "ciphertext": ciphertext, "key_version": key.newest() });
    Ok(match verb {
        "encrypt" => encrypted(key.encrypt(text("plaintext")?, random)?),
        "rewrap" => encrypted(key.encrypt(&key.decrypt(text("ciphertext")?)?, random)?),
        "decrypt" => json!({ "plaintext": key.decrypt(text("ciphertext")?)? }),
        "sign" => json!({ "signature": key.sign(text("input")?)?, "key_version": key.newest() }),
        "hmac" => json!({ "hmac": key.hmac(text("input")?)? }),
        "verify" => json!({ "valid": match item["hmac"].as_str() {
            Some(mac) => key.verify_hmac(text("input")?, mac)?,
            None => key.verify(text("input")?, text("signature")?)?,
        } }),
        _ => return Err("unsupported operation"),
    })
}
