//! Whether an answer is right.

use http::StatusCode;
use keywright_encoding::base64;
use keywright_measure::ledger::Outcome;
use keywright_measure::{Fault, FaultPhase};
use serde_json::{Value, json};

use super::session::is_success;
use super::table::KEY_BYTES;
use crate::http::{Call, Prepared, Reply, Step};

/// What shows that an answer is right.
#[derive(Clone, Debug)]
pub(super) enum Proof {
    /// Ciphertexts come, and decrypting them gives these texts.
    AllOpen(Vec<String>),
    /// These texts stand in the results of a batch.
    AllText(Vec<String>),
    /// This value stands at this place.
    At(&'static str, Value),
    /// The answer brings a key in plain and encrypted; decrypting the one gives the other.
    DataKey,
    /// The secret in it decodes to these bytes. Looked at by [`super::decoding`].
    Decoded(Vec<u8>),
    /// Random bytes, not those of the answer before.
    Fresh,
    /// A ciphertext that begins like this comes, and decrypting it gives this text.
    Opens { text: String, from: &'static str },
    /// A signature comes, and it is verified with this text.
    Verifies(String),
    /// A version number comes, and reading gives this value under that number or a later one.
    Written { read: Box<Prepared>, value: Value },
    /// This value stands there, and its version is this one or a later one.
    Since { version: u64, value: Value },
}

/// What is remembered of a request.
#[derive(Debug)]
pub(super) enum Ticket {
    /// The place of the request in its ring.
    Item(usize),
    /// It asks about the output of another one.
    Proof(Box<Proof>),
}

/// Compares, and asks where comparing is not enough.
#[derive(Debug)]
pub(super) struct Judge {
    checker: Option<Prepared>,
    /// The random bytes of the answer before.
    last: Vec<u8>,
}

/// What an answer that is no success counts as.
pub(super) fn failed(status: StatusCode) -> Outcome {
    Outcome::Failed(Fault::new(FaultPhase::Status, status.as_str().to_owned()))
}

impl Judge {
    pub(super) const fn new(checker: Option<Prepared>) -> Self {
        Self {
            checker,
            last: Vec::new(),
        }
    }

    pub(super) fn restart(&mut self) {
        self.last.clear();
    }

    /// The answer to a question about an output. A store that calls its own output malformed has given a
    /// wrong one.
    pub(super) fn answered(&mut self, proof: &Proof, reply: &Reply) -> Step<Ticket> {
        match reply.status {
            StatusCode::BAD_REQUEST => Step::Done(Outcome::Wrong),
            status if !is_success(status) => Step::Done(failed(status)),
            _ => self.look(proof, &reply.body),
        }
    }

    /// Looks at the body of an answer that says all went well.
    pub(super) fn look(&mut self, proof: &Proof, body: &[u8]) -> Step<Ticket> {
        let Ok(answer) = serde_json::from_slice::<Value>(body) else {
            return Step::Done(Outcome::Wrong);
        };
        self.weigh(proof, &answer)
            .unwrap_or(Step::Done(Outcome::Wrong))
    }

    /// `None` if something that must be there is not.
    fn weigh(&mut self, proof: &Proof, answer: &Value) -> Option<Step<Ticket>> {
        let done = |right: bool| {
            Step::Done(match right {
                true => Outcome::Verified,
                false => Outcome::Wrong,
            })
        };
        Some(match proof {
            Proof::At(place, value) => done(answer.pointer(place) == Some(value)),
            Proof::AllText(texts) => {
                let found = column(answer, "plaintext")?;
                done(found == *texts)
            }
            Proof::AllOpen(texts) => {
                let found = column(answer, "ciphertext").filter(|all| all.len() == texts.len())?;
                self.ask(&batch("ciphertext", &found), Proof::AllText(texts.clone()))?
            }
            Proof::Opens { text, from } => {
                let found = word(answer, "/data/ciphertext").filter(|c| c.starts_with(from))?;
                self.ask_to_open(found, text)?
            }
            Proof::DataKey => {
                let text = word(answer, "/data/plaintext")?;
                let key = base64::decode(text)
                    .ok()
                    .filter(|key| key.len() == KEY_BYTES)?;
                if !self.is_new(key) {
                    return None;
                }
                self.ask_to_open(word(answer, "/data/ciphertext")?, text)?
            }
            Proof::Verifies(text) => {
                let signature = word(answer, "/data/signature")?;
                let body = json!({ "input": text, "signature": signature });
                self.ask(&body, Proof::At("/data/valid", Value::Bool(true)))?
            }
            Proof::Fresh => {
                let bytes = base64::decode(word(answer, "/data/random_bytes")?).ok()?;
                done(bytes.len() == KEY_BYTES && self.is_new(bytes))
            }
            Proof::Written { read, value } => {
                let version = answer.pointer("/data/version")?.as_u64()?;
                let value = value.clone();
                Step::Ask(Call {
                    request: Prepared::clone(read),
                    ticket: Ticket::Proof(Box::new(Proof::Since { version, value })),
                })
            }
            Proof::Since { version, value } => {
                let found = answer.pointer("/data/metadata/version")?.as_u64()?;
                done(found >= *version && answer.pointer("/data/data") == Some(value))
            }
            Proof::Decoded(_) => return None,
        })
    }

    /// Bytes that must differ from answer to answer.
    fn is_new(&mut self, bytes: Vec<u8>) -> bool {
        let new = bytes != self.last && bytes.iter().any(|byte| *byte != 0);
        self.last = bytes;
        new
    }

    fn ask_to_open(&self, ciphertext: &str, text: &str) -> Option<Step<Ticket>> {
        let body = json!({ "ciphertext": ciphertext });
        let text = Value::String(text.to_owned());
        self.ask(&body, Proof::At("/data/plaintext", text))
    }

    fn ask(&self, body: &Value, proof: Proof) -> Option<Step<Ticket>> {
        let checker = self.checker.as_ref()?;
        Some(Step::Ask(Call {
            request: checker.with_body(body.to_string()),
            ticket: Ticket::Proof(Box::new(proof)),
        }))
    }
}

/// The body of a request about several values.
pub(super) fn batch(field: &str, values: &[String]) -> Value {
    let items: Vec<_> = values.iter().map(|value| json!({ field: value })).collect();
    json!({ "batch_input": items })
}

fn word<'a>(answer: &'a Value, place: &str) -> Option<&'a str> {
    answer.pointer(place)?.as_str()
}

/// One field of all results of a batch.
fn column(answer: &Value, field: &str) -> Option<Vec<String>> {
    let results = answer.pointer("/data/batch_results")?.as_array()?;
    let field = |result: &Value| Some(result.get(field)?.as_str()?.to_owned());
    results.iter().map(field).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked(proof: &Proof, answer: &Value) -> Outcome {
        let mut judge = Judge::new(None);
        outcome(judge.look(proof, answer.to_string().as_bytes()))
    }

    fn outcome(step: Step<Ticket>) -> Outcome {
        match step {
            Step::Done(outcome) => outcome,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_value_must_stand_where_it_belongs() {
        let proof = Proof::At("/data/data", json!({ "key": "a" }));
        let right = json!({ "data": { "data": { "key": "a" } } });
        assert_eq!(looked(&proof, &right), Outcome::Verified);
        for wrong in [
            json!({ "data": { "data": { "key": "b" } } }),
            json!({ "data": { "key": "a" } }),
            json!({ "data": { "data": { "key": "a", "more": 1 } } }),
            json!([]),
        ] {
            assert_eq!(looked(&proof, &wrong), Outcome::Wrong, "{wrong}");
        }
    }

    #[test]
    fn what_is_no_json_or_lacks_its_field_is_wrong() {
        let mut judge = Judge::new(None);
        for proof in [
            Proof::DataKey,
            Proof::Fresh,
            Proof::AllText(Vec::new()),
            Proof::Verifies(String::new()),
        ] {
            for body in ["", "null", "{", "{\"data\":{}}", "{\"data\":[]}"] {
                let step = judge.look(&proof, body.as_bytes());
                assert_eq!(outcome(step), Outcome::Wrong, "{proof:?} {body}");
            }
        }
    }

    #[test]
    fn random_bytes_that_repeat_or_are_all_zero_are_wrong() {
        let mut judge = Judge::new(None);
        let mut look = |byte: u8, length: usize| {
            let bytes = base64::encode(&vec![byte; length]);
            let answer = json!({ "data": { "random_bytes": bytes } });
            outcome(judge.look(&Proof::Fresh, answer.to_string().as_bytes()))
        };
        assert_eq!(look(1, 32), Outcome::Verified);
        assert_eq!(look(1, 32), Outcome::Wrong);
        assert_eq!(look(2, 32), Outcome::Verified);
        assert_eq!(look(0, 32), Outcome::Wrong);
        assert_eq!(look(3, 31), Outcome::Wrong);
    }

    #[test]
    fn a_written_value_is_not_proved_by_an_older_version() {
        let value = json!({ "key": "a" });
        let read = |version: u64, value: &Value| json!({ "data": { "data": value, "metadata": { "version": version } } });
        let proof = Proof::Since {
            version: 3,
            value: value.clone(),
        };
        assert_eq!(looked(&proof, &read(3, &value)), Outcome::Verified);
        assert_eq!(looked(&proof, &read(4, &value)), Outcome::Verified);
        assert_eq!(looked(&proof, &read(2, &value)), Outcome::Wrong);
        assert_eq!(looked(&proof, &read(3, &json!({}))), Outcome::Wrong);
    }

    #[test]
    fn an_output_the_store_itself_refuses_is_wrong_and_a_failed_question_says_nothing() {
        let mut judge = Judge::new(None);
        let proof = Proof::At("/data/plaintext", json!("a"));
        let mut answered = |status| {
            let body = bytes::Bytes::new();
            outcome(judge.answered(&proof, &Reply { status, body }))
        };
        assert_eq!(answered(StatusCode::BAD_REQUEST), Outcome::Wrong);
        assert!(matches!(
            answered(StatusCode::SERVICE_UNAVAILABLE),
            Outcome::Failed(_)
        ));
    }
}
