//! Seeds of wallets and other keys, sealed to recipients: a file that `keywright open` reads, of a text that says what it
//! is.

use keywright_container::{DataKey, Slot};
use keywright_encoding::{base64, hex};
use keywright_envelope::Aad;
use keywright_hpke::{Kem, Policy, PublicKey};
use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;
use keywright_service::{AdminError, Author, RevealedKey, RevealedSeed};
use keywright_types::{KeyVersion, Name};
use serde::{Deserialize, Serialize};

use crate::{Answer, HomeError, Node};

/// The first line of a key's text.
pub const KEY_TEXT: &str = "keywright key 1";
/// The first line of a seed's text.
pub const SEED_TEXT: &str = "keywright seed 1";

/// Somebody to whom a seed is sealed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct Recipient {
    /// The number of the key's KEM.
    pub kem: u16,
    /// The public key, as base64.
    pub key: String,
}

impl Recipient {
    /// This key.
    #[must_use]
    pub fn new(key: &PublicKey) -> Self {
        Self {
            kem: key.kem().id(),
            key: base64::encode(key.as_bytes()),
        }
    }

    fn open(&self) -> Option<PublicKey> {
        let kem = Kem::from_id(self.kem).ok()?;
        PublicKey::from_bytes(kem, &base64::decode(&self.key).ok()?).ok()
    }
}

/// A seed as it is written in files: its name beside it, so that it is not read as a seed of another kind.
///
/// ```text
/// keywright seed 1
/// seed_scheme bip39
/// export never
/// seed 0123...
/// ```
#[must_use]
pub fn seed_text(seed: &SecretBytes, scheme: &str) -> SecretBytes {
    let digits = SecretBytes::from_vec(hex::encode(seed.expose()).into_bytes());
    let front = format!("{SEED_TEXT}\nseed_scheme {scheme}\nexport never\nseed ");
    let mut text = Vec::with_capacity(front.len() + digits.len() + 1);
    text.extend_from_slice(front.as_bytes());
    text.extend_from_slice(digits.expose());
    text.push(b'\n');
    SecretBytes::from_vec(text)
}

/// A key as it is written in files.
///
/// ```text
/// keywright key 1
/// purpose mac
/// algorithm hmac-sha-256
/// key 0123...
/// ```
fn key_text(key: &RevealedKey) -> SecretBytes {
    let digits = SecretBytes::from_vec(hex::encode(key.secret.expose()).into_bytes());
    let (purpose, algorithm) = (key.spec.purpose, key.spec.algorithm);
    let front = format!("{KEY_TEXT}\npurpose {purpose}\nalgorithm {algorithm}\nkey ");
    let mut text = Vec::with_capacity(front.len() + digits.len() + 1);
    text.extend_from_slice(front.as_bytes());
    text.extend_from_slice(digits.expose());
    text.push(b'\n');
    SecretBytes::from_vec(text)
}

/// The keys of recipients, if they are some.
fn opened(recipients: &[Recipient]) -> Result<Vec<PublicKey>, AdminError> {
    let keys: Option<Vec<_>> = recipients.iter().map(Recipient::open).collect();
    keys.filter(|keys| !keys.is_empty())
        .ok_or(AdminError::Unsupported)
}

impl Node {
    /// The key of a context that is no wallet, sealed to these recipients.
    pub(crate) fn export_key(
        &self,
        named: (&Name, &Name),
        version: Option<KeyVersion>,
        recipients: &[Recipient],
    ) -> Result<Answer, HomeError> {
        // Before anything is recorded as given out.
        let keys = opened(recipients)?;
        let key = self.admin().reveal_key(&Author::owner(), named, version)?;
        let sealed = seal(&key_text(&key), &keys)?;
        Ok(Answer::SeedSealed {
            file: base64::encode(&sealed),
        })
    }

    /// The seed of a wallet, sealed to these recipients.
    pub(crate) fn export_seed(
        &self,
        named: (&Name, &Name),
        recipients: &[Recipient],
    ) -> Result<Answer, HomeError> {
        // Before anything is recorded as given out.
        let keys = opened(recipients)?;
        let RevealedSeed { seed, scheme, .. } =
            self.admin().reveal_seed(&Author::owner(), named)?;
        let sealed = seal(&seed_text(&seed, &scheme), &keys)?;
        Ok(Answer::SeedSealed {
            file: base64::encode(&sealed),
        })
    }
}

fn seal(text: &SecretBytes, recipients: &[PublicKey]) -> Result<Vec<u8>, HomeError> {
    let mut random = RandomStream::new()?;
    let key = DataKey::generate(&mut random).map_err(HomeError::Sealing)?;
    let policy = Policy::default();
    let slots: Result<Vec<_>, _> = recipients
        .iter()
        .map(|to| slot(&key, to, &policy))
        .collect();
    let mut file = Vec::new();
    let sealed = keywright_container::seal(
        &mut text.expose(),
        &mut file,
        &key,
        &slots.map_err(HomeError::Sealing)?,
        &Aad::EMPTY,
        &mut |_| (),
    );
    sealed.map_err(HomeError::Sealing)?;
    Ok(file)
}

fn slot(
    key: &DataKey,
    to: &PublicKey,
    policy: &Policy,
) -> Result<Slot, keywright_container::Error> {
    let suite = policy.suites().iter().find(|suite| suite.kem == to.kem());
    let suite = suite.ok_or(keywright_hpke::Error::SuiteRefused)?;
    Slot::hpke(key, to, policy.admit(*suite)?)
}
