//! Keys of the transit engine, and what they do.

use keywright_encoding::base64;
use keywright_primitives::aead::{Aes256Gcm, TAG_LEN};
use keywright_primitives::mac::MacKey;
use keywright_primitives::random::RandomStream;
use keywright_primitives::signature::{SIGNATURE_LEN, SigningKey};
use keywright_secret::Secret;

/// What a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Encryption,
    Signature,
}

/// A key with its versions, the first of which is number 1.
pub(super) struct Key {
    pub(super) kind: Kind,
    pub(super) deletable: bool,
    versions: Vec<Version>,
}

struct Version {
    secret: Secret<32>,
    mac: MacKey,
}

/// Why a key does not do something. The text goes into the answer.
pub(super) type Refused = &'static str;

const NO_RANDOM: Refused = "no random bytes";
const NONCE_LEN: usize = 12;

impl Kind {
    pub(super) fn named(name: &str) -> Option<Self> {
        match name {
            "aes256-gcm96" => Some(Self::Encryption),
            "ed25519" => Some(Self::Signature),
            _ => None,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Encryption => "aes256-gcm96",
            Self::Signature => "ed25519",
        }
    }
}

impl Key {
    pub(super) fn make(kind: Kind, random: &mut RandomStream) -> Result<Self, Refused> {
        let mut key = Self {
            kind,
            deletable: false,
            versions: Vec::new(),
        };
        key.rotate(random)?;
        Ok(key)
    }

    pub(super) fn rotate(&mut self, random: &mut RandomStream) -> Result<(), Refused> {
        let secret = random.secret().map_err(|_| NO_RANDOM)?;
        let mac: Secret<32> = random.secret().map_err(|_| NO_RANDOM)?;
        let mac = MacKey::new(mac.expose());
        self.versions.push(Version { secret, mac });
        Ok(())
    }

    pub(super) const fn newest(&self) -> usize {
        self.versions.len()
    }

    fn version(&self, number: usize) -> Result<&Version, Refused> {
        let place = number.checked_sub(1);
        let version = place.and_then(|place| self.versions.get(place));
        version.ok_or("the key has no such version")
    }

    pub(super) fn encrypt(&self, text: &str, random: &mut RandomStream) -> Result<String, Refused> {
        let cipher = self.cipher(self.newest())?;
        let mut bytes = base64::decode(text).map_err(|_| "the plaintext is not base64")?;
        let nonce: [u8; NONCE_LEN] = random.array().map_err(|_| NO_RANDOM)?;
        let tag = cipher
            .seal(&nonce, &[], &mut bytes)
            .map_err(|_| "the plaintext is too long")?;
        Ok(self.labelled(&[&nonce, bytes.as_slice(), &tag].concat()))
    }

    /// The text, as it was given to be encrypted.
    pub(super) fn decrypt(&self, ciphertext: &str) -> Result<String, Refused> {
        let (number, bytes) = unlabelled(ciphertext)?;
        let cipher = self.cipher(number)?;
        let short = || "the ciphertext is too short";
        let (nonce, rest) = bytes.split_first_chunk::<NONCE_LEN>().ok_or_else(short)?;
        let (text, tag) = rest.split_last_chunk::<TAG_LEN>().ok_or_else(short)?;
        let mut text = text.to_vec();
        let opened = cipher.open(nonce, &[], &mut text, tag);
        opened.map_err(|_| "message authentication failed")?;
        Ok(base64::encode(&text))
    }

    fn cipher(&self, number: usize) -> Result<Aes256Gcm, Refused> {
        if self.kind != Kind::Encryption {
            return Err("this kind of key does not encrypt");
        }
        let secret = self.version(number)?.secret.expose();
        Aes256Gcm::new(secret).map_err(|_| "the key does not work")
    }

    pub(super) fn sign(&self, input: &str) -> Result<String, Refused> {
        let input = base64::decode(input).map_err(|_| "the input is not base64")?;
        Ok(self.labelled(&self.signing_key(self.newest())?.sign(&input)))
    }

    pub(super) fn verify(&self, input: &str, signature: &str) -> Result<bool, Refused> {
        let input = base64::decode(input).map_err(|_| "the input is not base64")?;
        let (number, bytes) = unlabelled(signature)?;
        let key = self.signing_key(number)?.verifying_key();
        let signature = <[u8; SIGNATURE_LEN]>::try_from(bytes.as_slice());
        let signature = signature.map_err(|_| "the signature has another length")?;
        Ok(key.verify(&input, &signature).is_ok())
    }

    fn signing_key(&self, number: usize) -> Result<SigningKey, Refused> {
        if self.kind != Kind::Signature {
            return Err("this kind of key does not sign");
        }
        let secret = &self.version(number)?.secret;
        SigningKey::from_seed(secret).map_err(|_| "the key does not work")
    }

    pub(super) fn hmac(&self, input: &str) -> Result<String, Refused> {
        let input = base64::decode(input).map_err(|_| "the input is not base64")?;
        Ok(self.labelled(&self.version(self.newest())?.mac.mac(&input)))
    }

    pub(super) fn verify_hmac(&self, input: &str, mac: &str) -> Result<bool, Refused> {
        let input = base64::decode(input).map_err(|_| "the input is not base64")?;
        let (number, bytes) = unlabelled(mac)?;
        let mac = <[u8; 32]>::try_from(bytes.as_slice());
        let mac = mac.map_err(|_| "the HMAC has another length")?;
        Ok(self.version(number)?.mac.verify(&input, &mac).is_ok())
    }

    /// With the version of the key that made it.
    fn labelled(&self, bytes: &[u8]) -> String {
        format!("vault:v{}:{}", self.newest(), base64::encode(bytes))
    }
}

/// The version of the key, and the bytes.
fn unlabelled(text: &str) -> Result<(usize, Vec<u8>), Refused> {
    let malformed = "no version stands before it";
    let rest = text.strip_prefix("vault:v").ok_or(malformed)?;
    let (number, bytes) = rest.split_once(':').ok_or(malformed)?;
    let number = number.parse().map_err(|_| malformed)?;
    let bytes = base64::decode(bytes).map_err(|_| "it is not base64")?;
    Ok((number, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(kind: Kind) -> (Key, RandomStream) {
        let mut random = RandomStream::new().unwrap();
        (Key::make(kind, &mut random).unwrap(), random)
    }

    #[test]
    fn an_old_version_still_opens_and_a_new_one_seals() {
        let (mut key, mut random) = key(Kind::Encryption);
        let old = key.encrypt("AQID", &mut random).unwrap();
        key.rotate(&mut random).unwrap();
        let new = key.encrypt("AQID", &mut random).unwrap();
        assert!(old.starts_with("vault:v1:") && new.starts_with("vault:v2:"));
        assert_eq!(key.decrypt(&old), Ok("AQID".to_owned()));
        assert_eq!(key.decrypt(&new), Ok("AQID".to_owned()));
        let swapped = new.replace(":v2:", ":v1:");
        assert_eq!(key.decrypt(&swapped), Err("message authentication failed"));
    }

    #[test]
    fn what_is_no_ciphertext_is_refused() {
        let (key, _) = key(Kind::Encryption);
        for text in [
            "",
            "AQID",
            "vault:v1:",
            "vault:v1:AQID",
            "vault:v0:AQID",
            "vault:v2:AQID",
            "vault:vx:AQID",
            "vault:v99999999999999999999:AQID",
            "vault:v1:====",
        ] {
            assert!(key.decrypt(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_key_does_only_what_its_kind_does() {
        let (signing, mut random) = key(Kind::Signature);
        let (encrypting, _) = key(Kind::Encryption);
        assert!(signing.encrypt("AQID", &mut random).is_err());
        assert!(encrypting.sign("AQID").is_err());
    }

    #[test]
    fn signatures_and_macs_of_another_text_are_told_apart() {
        let (key, _) = key(Kind::Signature);
        let signature = key.sign("AQID").unwrap();
        assert_eq!(key.verify("AQID", &signature), Ok(true));
        assert_eq!(key.verify("AQIE", &signature), Ok(false));
        let mac = key.hmac("AQID").unwrap();
        assert_eq!(key.verify_hmac("AQID", &mac), Ok(true));
        assert_eq!(key.verify_hmac("AQIE", &mac), Ok(false));
        assert!(key.verify("AQID", &mac).is_err());
    }
}
