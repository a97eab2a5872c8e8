//! The signature over the text of a backup (docs/formats.md, "Backup").
//!
//! ```text
//! text       format u8 (2) | signer | changes u8, each lp(signed head) | content | signature 64
//! signer     algorithm u16 | key version u32 | public key 32
//! signature  Ed25519("keywright/backup-signature/v2" | SHA-256(everything before the signature))
//! ```
//!
//! The fingerprint of the signer comes from outside. It is that of the key that signed, or of an earlier key from
//! which the changes lead to it: each is the head by which one key hands over to the next (design 7.34).
//!
//! Content is reached through [`SignedText::authenticate`] alone.

use keywright_audit::head::{Fingerprint, SignedHead, Signer, Statement};
use keywright_encoding::{Reader, TooLong, put_lp};
use keywright_primitives::hash::sha256;
use keywright_primitives::signature::{SIGNATURE_LEN, SigningKey, VerifyingKey};
use keywright_types::{Algorithm, KeyVersion};

use super::content::Malformed;
use super::{BackupError, Content};

/// The text of a backup, whose signature is not verified yet.
#[derive(Debug)]
pub(crate) struct SignedText<'a> {
    signer: Signer,
    changes: Vec<SignedHead>,
    content: &'a [u8],
    digest: [u8; 32],
    signature: &'a [u8; SIGNATURE_LEN],
}

/// Who signs a backup: the key that signs the audit log.
#[derive(Debug)]
pub(crate) struct BackupSigner {
    key: SigningKey,
    version: KeyVersion,
}

/// A text whose signature holds.
#[derive(Debug)]
pub(super) struct AuthenticText {
    pub(super) content: Content,
    pub(super) signer: Signer,
    pub(super) digest: [u8; 32],
}

impl BackupSigner {
    pub(crate) const fn new(key: SigningKey, version: KeyVersion) -> Self {
        Self { key, version }
    }

    /// The text with this content. `changes` are the heads by which earlier keys handed over to this one.
    pub(crate) fn sign(
        &self,
        content: &Content,
        changes: &[SignedHead],
    ) -> Result<Vec<u8>, TooLong> {
        let signer = Signer {
            algorithm: Algorithm::Ed25519,
            version: self.version,
            key: self.key.verifying_key(),
        };
        let mut text = front(&signer, changes)?;
        content.put(&mut text)?;
        let signature = self.key.sign(&message(&sha256(&text)));
        text.extend_from_slice(&signature);
        Ok(text)
    }
}

impl<'a> SignedText<'a> {
    pub(crate) fn parse(text: &'a [u8]) -> Result<Self, BackupError> {
        match text.first() {
            Some(&FORMAT) => Self::split(text).map_err(|_| BackupError::Content),
            Some(&format) => Err(BackupError::Format(format)),
            None => Err(BackupError::Content),
        }
    }

    fn split(text: &'a [u8]) -> Result<Self, Malformed> {
        let (signed, signature) = text.split_last_chunk().ok_or(Malformed)?;
        let mut reader = Reader::new(signed);
        reader.u8()?;
        let signer = read_signer(&mut reader)?;
        let count = reader.u8()?;
        let changes = (0..count).map(|_| {
            let head = reader.lp()?;
            SignedHead::from_bytes(head).map_err(|_| Malformed)
        });
        let changes = changes.collect::<Result<_, Malformed>>()?;
        Ok(Self {
            signer,
            changes,
            content: reader.rest(),
            digest: sha256(signed),
            signature,
        })
    }

    /// The content, if the key with this fingerprint signed it, or one to which that key handed over.
    pub(super) fn authenticate(
        &self,
        fingerprint: Fingerprint,
    ) -> Result<AuthenticText, BackupError> {
        let message = message(&self.digest);
        let holds = self.signer.key.verify(&message, self.signature).is_ok();
        if !holds || !self.is_trusted(fingerprint) {
            return Err(BackupError::Signer);
        }
        let content = Content::parse(self.content).map_err(|_| BackupError::Content)?;
        // The node signs its head and its backup with one key.
        if content.head.check().is_err() || *content.head.signer() != self.signer {
            return Err(BackupError::Signer);
        }
        Ok(AuthenticText {
            content,
            signer: self.signer,
            digest: self.digest,
        })
    }

    /// Whether the signer is the one with this fingerprint, or the changes lead from that one to it.
    fn is_trusted(&self, fingerprint: Fingerprint) -> bool {
        let mut trusted = None;
        for change in &self.changes {
            let signer = *change.signer();
            if trusted.is_none() && Fingerprint::of(&signer.key) == fingerprint {
                trusted = Some(signer);
            }
            let Some(expected) = trusted else {
                continue;
            };
            let Statement::SignerChange(next) = change.head().statement else {
                return false;
            };
            if signer != expected || change.check().is_err() {
                return false;
            }
            trusted = Some(next);
        }
        trusted.map_or_else(
            || Fingerprint::of(&self.signer.key) == fingerprint,
            |last| last == self.signer,
        )
    }

    /// The same bytes again, for the promise that a text has one form. Nothing of it is authenticated.
    pub(crate) fn encode_again(&self) -> Option<Vec<u8>> {
        let content = Content::parse(self.content).ok()?;
        let mut text = front(&self.signer, &self.changes).ok()?;
        content.put(&mut text).ok()?;
        text.extend_from_slice(self.signature);
        Some(text)
    }
}

/// Everything before the content. Of more than 255 changes the newest are kept.
fn front(signer: &Signer, changes: &[SignedHead]) -> Result<Vec<u8>, TooLong> {
    let mut text = vec![FORMAT];
    text.extend_from_slice(&signer.algorithm.number().to_be_bytes());
    text.extend_from_slice(&signer.version.number().to_be_bytes());
    text.extend_from_slice(signer.key.as_bytes());
    let newest = &changes[changes.len().saturating_sub(usize::from(u8::MAX))..];
    text.push(u8::try_from(newest.len()).unwrap_or(u8::MAX));
    for change in newest {
        put_lp(&mut text, &change.to_bytes())?;
    }
    Ok(text)
}

fn read_signer(reader: &mut Reader<'_>) -> Result<Signer, Malformed> {
    if reader.u16()? != Algorithm::Ed25519.number() {
        return Err(Malformed);
    }
    Ok(Signer {
        algorithm: Algorithm::Ed25519,
        version: KeyVersion::from_number(reader.u32()?),
        key: VerifyingKey::from_bytes(*reader.array()?),
    })
}

fn message(digest: &[u8; 32]) -> Vec<u8> {
    [LABEL, digest].concat()
}

/// The format of the text. Format 1 had no signature.
const FORMAT: u8 = 2;
const LABEL: &[u8] = b"keywright/backup-signature/v2";

#[cfg(test)]
mod tests {
    use keywright_encoding::hex;
    use keywright_secret::Secret;
    use serde_json::Value;

    use super::*;

    const GOLDEN: &str = include_str!("../../../../../vectors/golden/backup/backups.json");

    fn golden(name: &str) -> Vec<u8> {
        let golden: Value = serde_json::from_str(GOLDEN).unwrap();
        let mut cases = golden["cases"].as_array().unwrap().iter();
        let case = cases.find(|case| case["name"] == name).unwrap();
        hex::decode(case["text"].as_str().unwrap()).unwrap()
    }

    /// Keys of the second implementation are the digests of their names.
    fn signer(name: &str, version: u32) -> BackupSigner {
        let seed = Secret::copy_from(&sha256(name.as_bytes())).unwrap();
        let key = SigningKey::from_seed(&seed).unwrap();
        BackupSigner::new(key, KeyVersion::from_number(version))
    }

    #[test]
    fn the_signer_writes_the_text_of_the_second_implementation() {
        for (case, name, version) in [
            ("usual", "first", 1),
            ("every-table", "first", 1),
            ("two-changes-seen-from-the-first", "third", 3),
        ] {
            let text = golden(case);
            let read = SignedText::parse(&text).unwrap();
            let signer = signer(name, version);
            let expected = Fingerprint::of(&signer.key.verifying_key());
            let content = read.authenticate(expected).unwrap().content;
            assert_eq!(
                signer.sign(&content, &read.changes).unwrap(),
                text,
                "{case}"
            );
        }
    }

    #[test]
    fn of_too_many_changes_the_newest_are_kept() {
        let text = golden("two-changes-seen-from-the-first");
        let read = SignedText::parse(&text).unwrap();
        let signer = signer("third", 3);
        let expected = Fingerprint::of(&signer.key.verifying_key());
        let content = read.authenticate(expected).unwrap().content;
        let [first, second] = &read.changes[..] else {
            panic!("two changes")
        };
        let mut changes = vec![first.clone(); 300];
        changes.push(second.clone());
        let text = signer.sign(&content, &changes).unwrap();
        let read = SignedText::parse(&text).unwrap();
        assert_eq!(
            (read.changes.len(), read.changes.last()),
            (255, Some(second))
        );
    }
}
