//! What is told of keys.

use std::collections::BTreeMap;
use std::sync::Arc;

use keywright_api::vault::answer::{self, KeyFacts, KeyNames, VersionFacts};
use keywright_api::write::Done;
use keywright_custody::{Input, Key};
use keywright_encoding::base64;
use keywright_service::{DataOperation, Prepared};
use keywright_types::{Algorithm, Code, KeyVersion, Origin, Purpose};

use super::{Answer, Visit};
use crate::exchange::good;
use crate::uses::{self, Asked};

impl Visit<'_> {
    /// The names of keys that these routes can use.
    pub(super) async fn keys(&self) -> Answer {
        let recorded = self.application.worker.contexts(self.call);
        let keys = self.application.release(recorded).await?;
        let usable = keys.iter().filter(|key| is_usable(key));
        let keys = usable.map(|key| key.name().as_str().to_owned()).collect();
        Ok(good(answer::data(&KeyNames { keys }, self.call.request)))
    }

    pub(super) async fn key(&self) -> Answer {
        let recorded = self.application.worker.describe(self.call, self.found.name);
        let key = self.application.release(recorded).await?;
        if !is_usable(&key) {
            return Err(Code::Unsupported.into());
        }
        let public = match key.spec().purpose {
            Purpose::Sign => self.public_keys(&key).await?,
            _ => BTreeMap::new(),
        };
        Ok(good(answer::data(&facts(&key, &public), self.call.request)))
    }

    /// The public keys of the versions that verify. Who may not see them sees none.
    async fn public_keys(&self, key: &Key) -> Result<BTreeMap<KeyVersion, String>, Code> {
        let mut items = Prepared::default();
        for version in key
            .versions()
            .iter()
            .filter(|version| key.may_open(version))
        {
            items.name(version.number());
            Asked::new(None, None, Input::Message).push(&mut items, Ok(None), None);
        }
        let (worker, operation) = (&self.application.worker, DataOperation::PublicKey);
        let recorded = worker
            .perform(self.call, self.found.name, operation, items)
            .await;
        let shown = match self.application.release(recorded).await {
            Ok(shown) => shown,
            Err(Code::OperationDenied) => return Ok(BTreeMap::new()),
            Err(code) => return Err(code),
        };
        let mut public = BTreeMap::new();
        for item in shown.iter().filter(|item| item.code == Code::Ok) {
            if let Done::PublicKey {
                public_key, pem, ..
            } = uses::tell(operation, item.payload, item.version)?
            {
                let text = match key.spec().algorithm {
                    Algorithm::Ed25519 => base64::encode(public_key),
                    _ => pem.to_owned(),
                };
                public.insert(item.version, text);
            }
        }
        Ok(public)
    }
}

/// Whether there is a route that uses keys of this kind.
fn is_usable(key: &Arc<Key>) -> bool {
    matches!(
        key.spec().purpose,
        Purpose::Seal | Purpose::Sign | Purpose::Mac
    )
}

fn facts(key: &Key, public: &BTreeMap<KeyVersion, String>) -> KeyFacts {
    let spec = key.spec();
    let (seals, signs) = (spec.purpose == Purpose::Seal, spec.purpose == Purpose::Sign);
    let kind = kind(spec.algorithm);
    let versions = key.versions().iter();
    let keys = versions.clone().map(|version| {
        let created = version.material().created();
        let facts = match signs {
            false => VersionFacts::Created(created.unix_seconds()),
            true => VersionFacts::Signs {
                creation_time: created.rfc3339(),
                name: kind.to_owned(),
                public_key: public.get(&version.number()).cloned().unwrap_or_default(),
            },
        };
        (version.number().number().to_string(), facts)
    });
    KeyFacts {
        name: key.name().as_str().to_owned(),
        kind: kind.to_owned(),
        latest_version: versions
            .clone()
            .map(|version| version.number().number())
            .max()
            .unwrap_or(0),
        min_decryption_version: key.min_open().number(),
        min_encryption_version: 0,
        min_available_version: 0,
        deletion_allowed: false,
        derived: false,
        exportable: false,
        allow_plaintext_backup: false,
        imported_key: spec.origin == Origin::Imported,
        supports_encryption: seals,
        supports_decryption: seals,
        supports_derivation: false,
        supports_signing: signs,
        keys: keys.collect(),
    }
}

/// Vault's word for an algorithm, where it has one for the same; else ours.
fn kind(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::TokenGcm12 => "aes256-gcm96",
        Algorithm::HmacSha256 | Algorithm::HmacSha384 | Algorithm::HmacSha512 => "hmac",
        Algorithm::Aes256Cmac => "aes256-cmac",
        Algorithm::Rsa2048Pkcs1 | Algorithm::Rsa2048Pss => "rsa-2048",
        Algorithm::Rsa3072Pkcs1 | Algorithm::Rsa3072Pss => "rsa-3072",
        Algorithm::Rsa4096Pkcs1 | Algorithm::Rsa4096Pss => "rsa-4096",
        // The names of signatures over P-256, P-384, P-521 and of Ed25519 are the same.
        other => other.name(),
    }
}
