//! What each operation needs to be there, and the requests that it takes turns with.

mod transit;

use keywright_encoding::base64;
use keywright_measure::TargetError;
use keywright_primitives::hash::Blake3;
use serde_json::{Value, json};

use super::Shape;
use super::belongings::Belongings;
use super::judge::Proof;
use super::table::{SECRET_BYTES, SECRETS};
use crate::http::Prepared;

/// A request, and what shows that its answer is right.
pub(super) struct Item {
    pub(super) request: Prepared,
    pub(super) proof: Proof,
}

/// The requests of an operation.
pub(super) struct Ring {
    pub(super) items: Vec<Item>,
    /// Where outputs are asked about.
    pub(super) checker: Option<Prepared>,
}

/// Writes what the operation needs and makes its requests.
pub(super) fn prepare(
    shape: Shape,
    seed: u64,
    belongings: &mut Belongings,
) -> Result<Ring, TargetError> {
    let mut make = Maker { seed, belongings };
    match shape {
        Shape::Null => make.null(),
        Shape::KvGet | Shape::KvGetDecode => make.kv_get(shape),
        Shape::KvList => make.kv_list(),
        Shape::KvSet => make.kv_set(),
        Shape::Kv1Get => make.kv1_get(),
        Shape::TransitDatakey => make.datakey(),
        Shape::TransitDecrypt | Shape::TransitRewrap => make.over_ciphertexts(shape),
        Shape::TransitEncrypt => make.encrypt(),
        Shape::TransitEncryptBatch => make.encrypt_batch(),
        Shape::TransitHmac => make.hmac(),
        Shape::TransitRandom => make.random(),
        Shape::TransitSign | Shape::TransitVerify => make.signatures(shape),
    }
}

struct Maker<'a> {
    seed: u64,
    belongings: &'a mut Belongings,
}

impl Maker<'_> {
    fn null(&self) -> Result<Ring, TargetError> {
        let session = &self.belongings.session;
        let request = session.get("sys/health?standbyok=true&perfstandbyok=true")?;
        let proof = Proof::At("/initialized", Value::Bool(true));
        Ok(alone(vec![Item { request, proof }]))
    }

    /// Writes all secrets; their paths for data, in order.
    fn write_all(&mut self, label: &str) -> Result<Vec<String>, TargetError> {
        let mount = self.belongings.session.settings().mounts.kv.clone();
        let below = self.belongings.name().to_owned();
        let mut paths = Vec::with_capacity(SECRETS);
        for number in 0..SECRETS {
            let path = format!("{mount}/data/{below}/{number:03}");
            let body = json!({ "data": self.secret(label, number).1 });
            let removal = format!("{mount}/metadata/{below}/{number:03}");
            let written = self.belongings.write(&path, &body, &removal)?;
            if !written["version"].is_u64() {
                // Version 1 takes any path; what it answers to reading it looks much like version 2.
                self.belongings.also_remove(&path);
                let session = &self.belongings.session;
                return Err(session.unsupported("the engine there has no versions"));
            }
            paths.push(path);
        }
        Ok(paths)
    }

    fn kv_get(&mut self, shape: Shape) -> Result<Ring, TargetError> {
        let paths = self.write_all(STORED)?;
        let item = |(number, path): (usize, &String)| {
            let (key, value) = self.secret(STORED, number);
            Ok(Item {
                request: self.belongings.session.get(path)?,
                proof: match shape {
                    Shape::KvGetDecode => Proof::Decoded(key),
                    _ => Proof::At("/data/data", value),
                },
            })
        };
        let items = paths.iter().enumerate().map(item);
        Ok(alone(items.collect::<Result<_, TargetError>>()?))
    }

    fn kv_list(&mut self) -> Result<Ring, TargetError> {
        self.write_all(STORED)?;
        let session = &self.belongings.session;
        let (mount, below) = (&session.settings().mounts.kv, self.belongings.name());
        let request = session.get(&format!("{mount}/metadata/{below}?list=true"))?;
        let names: Vec<_> = (0..SECRETS).map(|number| format!("{number:03}")).collect();
        let proof = Proof::At("/data/keys", json!(names));
        Ok(alone(vec![Item { request, proof }]))
    }

    /// What is written differs from what was there, or a store that drops writes would look right.
    fn kv_set(&mut self) -> Result<Ring, TargetError> {
        let paths = self.write_all("before")?;
        let item = |(number, path): (usize, &String)| {
            let value = self.secret(STORED, number).1;
            let session = &self.belongings.session;
            Ok(Item {
                request: session.post(path, &json!({ "data": value }))?,
                proof: Proof::Written {
                    read: Box::new(session.get(path)?),
                    value,
                },
            })
        };
        let items = paths.iter().enumerate().map(item);
        Ok(alone(items.collect::<Result<_, TargetError>>()?))
    }

    fn kv1_get(&mut self) -> Result<Ring, TargetError> {
        let mount = self.belongings.session.settings().mounts.kv1.clone();
        let below = self.belongings.name().to_owned();
        let mut items = Vec::with_capacity(SECRETS);
        for number in 0..SECRETS {
            let path = format!("{mount}/{below}/{number:03}");
            let value = self.secret(STORED, number).1;
            self.belongings.write(&path, &value, &path)?;
            items.push(Item {
                request: self.belongings.session.get(&path)?,
                proof: Proof::At("/data", value),
            });
        }
        Ok(alone(items))
    }

    /// The key of a secret, and the secret as it is stored.
    fn secret(&self, label: &str, number: usize) -> (Vec<u8>, Value) {
        let key = drawn(self.seed, label, number, SECRET_BYTES);
        let value = json!({ "key": base64::encode(&key) });
        (key, value)
    }
}

/// What is there to be read, and what is written.
const STORED: &str = "stored";

const fn alone(items: Vec<Item>) -> Ring {
    Ring {
        items,
        checker: None,
    }
}

/// Bytes that depend on the seed: known to everybody who knows it, and of no other use.
fn drawn(seed: u64, label: &str, number: usize, length: usize) -> Vec<u8> {
    let mut hash = Blake3::new();
    hash.update(b"keywright/measure/store");
    hash.update(&seed.to_be_bytes());
    hash.update(&(number as u64).to_be_bytes());
    hash.update(label.as_bytes());
    let mut out = vec![0; length];
    hash.finish_into(&mut out);
    out
}
