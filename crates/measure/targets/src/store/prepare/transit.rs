//! Keys, ciphertexts and signatures of the transit engine.

use http::Method;
use keywright_encoding::base64;
use keywright_measure::TargetError;
use serde_json::{Value, json};

use super::{Item, Maker, Ring, alone, drawn};
use crate::http::Prepared;
use crate::store::Shape;
use crate::store::judge::{Proof, batch};
use crate::store::table::{BATCH, KEY_BYTES, TEXT_BYTES, TEXTS};

/// What a key that encrypts is called.
const ENCRYPTION: &str = "aes256-gcm96";
/// What a key that signs is called.
const SIGNATURE: &str = "ed25519";

impl Maker<'_> {
    pub(super) fn encrypt(&mut self) -> Result<Ring, TargetError> {
        let key = self.key(ENCRYPTION)?;
        let item = |number| {
            let text = self.text(number);
            Ok(Item {
                request: self.transit("encrypt", &key, &json!({ "plaintext": text }))?,
                proof: Proof::Opens { text, from: "" },
            })
        };
        let items = (0..TEXTS).map(item).collect::<Result<_, TargetError>>()?;
        self.checked_by("decrypt", &key, items)
    }

    pub(super) fn encrypt_batch(&mut self) -> Result<Ring, TargetError> {
        let key = self.key(ENCRYPTION)?;
        let item = |round: usize| {
            let numbers = round * BATCH..(round + 1) * BATCH;
            let texts: Vec<_> = numbers.map(|number| self.text(number)).collect();
            Ok(Item {
                request: self.transit("encrypt", &key, &batch("plaintext", &texts))?,
                proof: Proof::AllOpen(texts),
            })
        };
        let items = (0..TEXTS / BATCH)
            .map(item)
            .collect::<Result<_, TargetError>>()?;
        self.checked_by("decrypt", &key, items)
    }

    pub(super) fn over_ciphertexts(&mut self, shape: Shape) -> Result<Ring, TargetError> {
        let key = self.key(ENCRYPTION)?;
        let texts: Vec<_> = (0..TEXTS).map(|number| self.text(number)).collect();
        let request = self.transit("encrypt", &key, &batch("plaintext", &texts))?;
        let answer = self.belongings.session.want(&request)?;
        if shape == Shape::TransitRewrap {
            let mount = self.mount();
            let session = &mut self.belongings.session;
            let rotate = session.post(&format!("{mount}/keys/{key}/rotate"), &json!({}))?;
            session.want(&rotate)?;
        }
        let mut items = Vec::with_capacity(TEXTS);
        for (number, text) in texts.into_iter().enumerate() {
            let place = format!("/data/batch_results/{number}/ciphertext");
            let body = json!({ "ciphertext": self.word(&answer, &place)? });
            items.push(match shape {
                Shape::TransitRewrap => Item {
                    request: self.transit("rewrap", &key, &body)?,
                    proof: Proof::Opens {
                        text,
                        from: "vault:v2:",
                    },
                },
                _ => Item {
                    request: self.transit("decrypt", &key, &body)?,
                    proof: Proof::At("/data/plaintext", Value::String(text)),
                },
            });
        }
        self.checked_by("decrypt", &key, items)
    }

    pub(super) fn datakey(&mut self) -> Result<Ring, TargetError> {
        let key = self.key(ENCRYPTION)?;
        let request = self.transit("datakey/plaintext", &key, &json!({}))?;
        let proof = Proof::DataKey;
        self.checked_by("decrypt", &key, vec![Item { request, proof }])
    }

    pub(super) fn random(&self) -> Result<Ring, TargetError> {
        let path = format!("{}/random/{KEY_BYTES}", self.mount());
        let body = json!({ "format": "base64" });
        let request = self.belongings.session.post(&path, &body)?;
        Ok(alone(vec![Item {
            request,
            proof: Proof::Fresh,
        }]))
    }

    pub(super) fn hmac(&mut self) -> Result<Ring, TargetError> {
        let key = self.key(ENCRYPTION)?;
        let mut items = Vec::with_capacity(TEXTS);
        for number in 0..TEXTS {
            let text = self.text(number);
            let request = self.transit("hmac", &key, &json!({ "input": text }))?;
            let answer = self.belongings.session.want(&request)?;
            let mac = self.word(&answer, "/data/hmac")?;
            if number == 0 {
                self.tells_apart(&key, "hmac", &mac)?;
            }
            let proof = Proof::At("/data/hmac", Value::String(mac));
            items.push(Item { request, proof });
        }
        Ok(alone(items))
    }

    pub(super) fn signatures(&mut self, shape: Shape) -> Result<Ring, TargetError> {
        let key = self.key(SIGNATURE)?;
        let mut items = Vec::with_capacity(TEXTS);
        for number in 0..TEXTS {
            let text = self.text(number);
            let sign = self.transit("sign", &key, &json!({ "input": text }))?;
            if shape == Shape::TransitSign && number > 0 {
                let proof = Proof::Verifies(text);
                items.push(Item {
                    request: sign,
                    proof,
                });
                continue;
            }
            let answer = self.belongings.session.want(&sign)?;
            let signature = self.word(&answer, "/data/signature")?;
            if number == 0 {
                self.tells_apart(&key, "signature", &signature)?;
            }
            let body = json!({ "input": text, "signature": signature });
            items.push(match shape {
                Shape::TransitSign => Item {
                    request: sign,
                    proof: Proof::Verifies(text),
                },
                _ => Item {
                    request: self.transit("verify", &key, &body)?,
                    proof: Proof::At("/data/valid", Value::Bool(true)),
                },
            });
        }
        self.checked_by("verify", &key, items)
    }

    /// The store's own verification is worth something only if it also says no: what belongs to text 0
    /// must fit text 0 and must not fit text 1.
    fn tells_apart(&mut self, key: &str, kind: &str, word: &str) -> Result<(), TargetError> {
        for (number, fits) in [(0, true), (1, false)] {
            let body = json!({ "input": self.text(number), kind: word });
            let request = self.transit("verify", key, &body)?;
            let answer = self.belongings.session.want(&request)?;
            if answer.pointer("/data/valid") != Some(&Value::Bool(fits)) {
                let session = &self.belongings.session;
                return Err(session.wrong("its verification does not tell right from wrong"));
            }
        }
        Ok(())
    }

    fn mount(&self) -> String {
        self.belongings.session.settings().mounts.transit.clone()
    }

    fn key(&mut self, kind: &str) -> Result<String, TargetError> {
        let mount = self.mount();
        self.belongings.make_key(&mount, kind)
    }

    fn transit(&self, verb: &str, key: &str, body: &Value) -> Result<Prepared, TargetError> {
        let path = format!("{}/{verb}/{key}", self.mount());
        self.belongings
            .session
            .request(Method::POST, &path, Some(body))
    }

    fn checked_by(&self, verb: &str, key: &str, items: Vec<Item>) -> Result<Ring, TargetError> {
        Ok(Ring {
            items,
            checker: Some(self.transit(verb, key, &json!({}))?),
        })
    }

    /// A text at a place of an answer.
    fn word(&self, answer: &Value, place: &str) -> Result<String, TargetError> {
        let text = answer.pointer(place).and_then(Value::as_str);
        let session = &self.belongings.session;
        text.map(str::to_owned)
            .ok_or_else(|| session.failed("an answer lacks what it is asked for"))
    }

    /// A text, as the transit engine takes it.
    fn text(&self, number: usize) -> String {
        base64::encode(&drawn(self.seed, "text", number, TEXT_BYTES))
    }
}
