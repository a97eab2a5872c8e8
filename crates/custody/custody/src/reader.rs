//! How the seed service sealed, for versions that were brought in from it.
//!
//! ```text
//! ciphertext = nonce[16 or 12] | body | tag[16]          AES-256-GCM, 128 bits of tag
//! AAD        = SHA-256( context | 00 | X )               X is a name of the client: its CN, or its first OU
//! ```
//!
//! Nothing in it says which key, which length of nonce or which name: a label beside it does, and what stands in the
//! version's row. It is only read here, never written; such a version opens nothing else.
//!
//! Not here: who the caller is, and which names it had (`keywright-service`).

use std::fmt;
use std::str::FromStr;

use keywright_encoding::hex;
use keywright_primitives::aead::{TAG_LEN, Tag};
use keywright_primitives::hash::sha256;
use keywright_types::VersionLabel;
use serde::{Deserialize, Serialize};

/// How a version reads that was brought in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a new part must be faced wherever a reader is fixed"
)]
pub struct ReaderDetail {
    /// What its ciphertexts are kept with: the label of the key in the token of that service.
    pub label: String,
    /// The name that the context had there, which is in the associated data.
    pub context: String,
    /// Which name of the client is in it too.
    pub name: FormerName,
    /// Bytes of the nonce.
    pub nonce: NonceLen,
    /// `CKA_ID` of the key, if it is used in a token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<ObjectId>,
}

/// Why a version cannot be brought in like this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BadReader {
    /// The label is empty, too long, or has control characters.
    #[error("a label has 1 to {MAX_TEXT} bytes, and no control characters")]
    Label,
    /// The label could be one of our own.
    #[error("a label that begins with kw1. is one of this service's own")]
    OwnLabel,
    /// The context's former name cannot be one.
    #[error("the former name of a context has 1 to {MAX_TEXT} bytes, and no control characters")]
    Context,
}

impl ReaderDetail {
    /// Refuses what could not be told apart later.
    ///
    /// # Errors
    /// [`BadReader`].
    pub fn check(&self) -> Result<(), BadReader> {
        if !is_text(&self.label) {
            return Err(BadReader::Label);
        }
        if VersionLabel::is_reserved(&self.label) {
            return Err(BadReader::OwnLabel);
        }
        match is_text(&self.context) {
            true => Ok(()),
            false => Err(BadReader::Context),
        }
    }

    /// The associated data of what was sealed for a client of this name.
    #[must_use]
    pub fn aad(&self, name: &str) -> Digest {
        sha256(&[self.context.as_bytes(), &[0], name.as_bytes()].concat())
    }
}

fn is_text(text: &str) -> bool {
    (1..=MAX_TEXT).contains(&text.len()) && !text.chars().any(char::is_control)
}

/// The associated data of one ciphertext.
pub type Digest = [u8; 32];

/// Which name of a client stood in the associated data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(clippy::exhaustive_enums, reason = "that service had these two modes")]
pub enum FormerName {
    /// The common name: the mode `private`.
    CommonName,
    /// The first organisational unit: the mode `shared`.
    OrganizationalUnit,
}

impl FormerName {
    /// Its number in the attributes of a key.
    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::CommonName => 1,
            Self::OrganizationalUnit => 2,
        }
    }
}

/// How long a nonce is. It is said when a key is brought in, and never found out by trying.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
#[expect(clippy::exhaustive_enums, reason = "no other was ever written")]
pub enum NonceLen {
    /// What that service's documents say.
    Twelve,
    /// What it wrote.
    Sixteen,
}

impl NonceLen {
    /// The number of bytes.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Twelve => 12,
            Self::Sixteen => 16,
        }
    }
}

impl From<NonceLen> for u8 {
    fn from(length: NonceLen) -> Self {
        length.number()
    }
}

impl TryFrom<u8> for NonceLen {
    type Error = &'static str;

    fn try_from(number: u8) -> Result<Self, &'static str> {
        match number {
            12 => Ok(Self::Twelve),
            16 => Ok(Self::Sixteen),
            _ => Err("a nonce has 12 or 16 bytes"),
        }
    }
}

/// `CKA_ID` of an object that was there before us: 1 to 64 bytes, in text as lower-case hexadecimal digits.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ObjectId(Vec<u8>);

impl ObjectId {
    /// The id of these bytes, if there are 1 to 64 of them.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Option<Self> {
        (1..=MAX_OBJECT_ID)
            .contains(&bytes.len())
            .then_some(Self(bytes))
    }

    /// The bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl FromStr for ObjectId {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        let refused = "an object's id is 1 to 64 bytes in lower-case hexadecimal digits";
        let bytes = hex::decode(text).map_err(|_| refused)?;
        Self::new(bytes).ok_or(refused)
    }
}

impl TryFrom<String> for ObjectId {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        text.parse()
    }
}

impl From<ObjectId> for String {
    fn from(id: ObjectId) -> Self {
        id.to_string()
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ObjectId({self})")
    }
}

/// A ciphertext of that service, taken apart. Whether it is one shows only when it opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OldCiphertext<'a> {
    /// As it stands in front.
    pub nonce: OldNonce<'a>,
    /// As long as the plaintext.
    pub body: &'a [u8],
    /// What stands behind it.
    pub tag: &'a Tag,
}

/// A nonce of one of the two lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "as NonceLen")]
pub enum OldNonce<'a> {
    /// Of 12 bytes.
    Twelve(&'a [u8; 12]),
    /// Of 16 bytes.
    Sixteen(&'a [u8; 16]),
}

impl<'a> OldNonce<'a> {
    /// The bytes.
    #[must_use]
    pub const fn as_bytes(self) -> &'a [u8] {
        match self {
            Self::Twelve(nonce) => nonce,
            Self::Sixteen(nonce) => nonce,
        }
    }

    /// By what records name the message (design 7.31): its bytes, zeros behind them.
    #[must_use]
    pub fn message_id(self) -> [u8; 16] {
        let mut id = [0; 16];
        let bytes = self.as_bytes();
        id[..bytes.len()].copy_from_slice(bytes);
        id
    }
}

impl<'a> OldCiphertext<'a> {
    /// Takes `bytes` apart; `None` if nonce and tag have no room in them.
    #[must_use]
    pub fn parse(bytes: &'a [u8], length: NonceLen) -> Option<Self> {
        let (nonce, rest) = match length {
            NonceLen::Twelve => {
                let (nonce, rest) = bytes.split_first_chunk()?;
                (OldNonce::Twelve(nonce), rest)
            }
            NonceLen::Sixteen => {
                let (nonce, rest) = bytes.split_first_chunk()?;
                (OldNonce::Sixteen(nonce), rest)
            }
        };
        let (body, tag) = rest.split_last_chunk::<TAG_LEN>()?;
        Some(Self { nonce, body, tag })
    }
}

/// What an item of a reader has in place of the caller's associated data: the digests that may be right, the likeliest
/// first. Anything else than one to eight of them is none.
#[must_use]
pub fn candidates(aad: &[u8]) -> Option<&[Digest]> {
    let (digests, rest) = aad.as_chunks::<32>();
    let fits = rest.is_empty() && (1..=MAX_CANDIDATES).contains(&digests.len());
    fits.then_some(digests)
}

/// How many names are tried at most (design 7.37).
pub const MAX_CANDIDATES: usize = 8;
/// Bytes of a label or of a former name.
pub const MAX_TEXT: usize = 255;
/// Bytes of an object's id.
const MAX_OBJECT_ID: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn reader(label: &str, context: &str) -> ReaderDetail {
        ReaderDetail {
            label: label.to_owned(),
            context: context.to_owned(),
            name: FormerName::CommonName,
            nonce: NonceLen::Sixteen,
            object: None,
        }
    }

    #[test]
    fn the_associated_data_is_that_of_the_golden_vectors() {
        let of = |context, name| hex::encode(&reader("k", context).aad(name));
        // V1; V2 and V3.
        assert_eq!(
            of("exchange-key", "Trading"),
            "fc86400a275c2b59f339a0dddd4e61112e7aedfc7278a0d1a94b8c276c636003"
        );
        assert_eq!(
            of("2fa", "f1"),
            "b50bec0eafb89ba54548723459f74d4e1b0fe0444551a7b10775de6369d02420"
        );
    }

    #[test]
    fn what_has_no_room_for_nonce_and_tag_is_none() {
        let bytes: Vec<u8> = (0..40).collect();
        for (length, least) in [(NonceLen::Twelve, 28), (NonceLen::Sixteen, 32)] {
            for cut in 0..least {
                assert_eq!(OldCiphertext::parse(&bytes[..cut], length), None, "{cut}");
            }
            for whole in least..=40 {
                let parsed = OldCiphertext::parse(&bytes[..whole], length).unwrap();
                let joined = [parsed.nonce.as_bytes(), parsed.body, parsed.tag].concat();
                assert_eq!(joined, bytes[..whole]);
                assert_eq!(parsed.body.len(), whole - least);
                let id = parsed.nonce.message_id();
                assert_eq!(id[..12], bytes[..12]);
                assert_eq!(id[12..] == [0; 4], length == NonceLen::Twelve);
            }
        }
    }

    #[test]
    fn one_to_eight_digests_are_candidates_and_nothing_else_is() {
        for count in 1..=8 {
            assert_eq!(candidates(&vec![1; 32 * count]).unwrap().len(), count);
        }
        for length in [0, 1, 31, 33, 32 * 8 + 1, 32 * 9] {
            assert_eq!(candidates(&vec![1; length]), None, "{length}");
        }
    }

    #[test]
    fn a_label_is_a_text_of_somebody_else() {
        assert_eq!(
            reader("kek-exchange-key-v1", "exchange-key").check(),
            Ok(())
        );
        for label in ["", "a\nb", "a\u{7f}", &"k".repeat(256)] {
            assert_eq!(reader(label, "c").check(), Err(BadReader::Label));
        }
        for label in ["kw1.", "kw1.0", "kw1.00000000000000000000000000000001.1"] {
            assert_eq!(reader(label, "c").check(), Err(BadReader::OwnLabel));
        }
        for context in ["", "a\0b", &"c".repeat(256)] {
            assert_eq!(reader("k", context).check(), Err(BadReader::Context));
        }
    }

    #[test]
    fn an_objects_id_is_some_bytes_and_not_too_many() {
        for refused in ["", "0", "0g", "0A", &"00".repeat(65)] {
            assert!(refused.parse::<ObjectId>().is_err(), "{refused}");
        }
        let id: ObjectId = "00ff".parse().unwrap();
        assert_eq!(
            (id.as_bytes(), id.to_string()),
            (&[0, 0xff][..], "00ff".into())
        );
    }
}
