//! Signatures, agreement, public keys and MACs: what callers give and get.

use keywright_api::answer::{
    AgreeAnswer, KeyExportAnswer, MacAnswer, PublicKeyAnswer, SignAnswer, VerifyAnswer, XpubAnswer,
};
use keywright_api::request::{
    AgreeItem, MacItem, MacVerifyItem, PathItem, PublicKeyItem, SignItem, VerifyItem,
};
use keywright_api::{Binary, Text};
use keywright_secret::SecretBytes;
use keywright_types::KeyVersion;

pub use keywright_api::request::SignatureForm;

use crate::Error;
use crate::items::{AROUND, Give, Take, encoded, public, secret};

/// What is signed.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing between")]
pub enum Signing<'a> {
    /// A digest of 32 bytes.
    Digest(&'a [u8]),
    /// A message.
    Message(&'a [u8]),
}

/// Something to sign.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the arguments of a call, by name"
)]
pub struct Sign<'a> {
    /// What.
    pub what: Signing<'a>,
    /// Where the key lies, if the context is a tree of keys.
    pub path: Option<&'a str>,
    /// The form; none for the usual one of the key.
    pub form: Option<SignatureForm>,
}

/// A signature to look at.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the arguments of a call, by name"
)]
pub struct Verify<'a> {
    /// What was signed, with which key, in which form.
    pub signed: Sign<'a>,
    /// The signature.
    pub signature: &'a [u8],
    /// The version that made it.
    pub key_version: KeyVersion,
}

/// Which key: where it lies, and its version.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the arguments of a call, by name"
)]
pub struct Which<'a> {
    /// Where it lies, if the context is a tree of keys.
    pub path: Option<&'a str>,
    /// Its version; none for the active one.
    pub key_version: Option<KeyVersion>,
}

/// A signature.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Signed {
    /// The signature.
    pub signature: Vec<u8>,
    /// The version that made it.
    pub key_version: KeyVersion,
}

/// Whether a signature or MAC fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// Whether it fits.
    pub valid: bool,
    /// The version that was named.
    pub key_version: KeyVersion,
}

/// A secret that two have.
#[derive(Debug)]
#[non_exhaustive]
pub struct Agreed {
    /// The secret.
    pub secret: SecretBytes,
    /// The version that was used.
    pub key_version: KeyVersion,
}

/// A public key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PublicKey {
    /// As its curve writes it.
    pub public_key: Vec<u8>,
    /// As a JSON Web Key.
    pub jwk: std::collections::BTreeMap<String, String>,
    /// As PEM.
    pub pem: String,
    /// Its version.
    pub key_version: KeyVersion,
}

/// An extended public key.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Xpub {
    /// The key.
    pub xpub: String,
    /// Its version.
    pub key_version: KeyVersion,
}

/// A private key that was let out.
#[derive(Debug)]
#[non_exhaustive]
pub struct ExportedKey {
    /// The key.
    pub private_key: SecretBytes,
    /// The scheme of its tree.
    pub scheme: String,
    /// How the seed came to be.
    pub seed: String,
    /// Its version.
    pub key_version: KeyVersion,
}

/// A message authentication code.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mac {
    /// The code.
    pub mac: Vec<u8>,
    /// The version that made it.
    pub key_version: KeyVersion,
}

impl<'a> Give for Sign<'a> {
    type Wire = SignItem<'a>;

    fn wire(&self) -> SignItem<'a> {
        let (message, digest) = match self.what {
            Signing::Digest(digest) => (None, Some(Binary::new(digest))),
            Signing::Message(message) => (Some(Binary::new(message)), None),
        };
        SignItem {
            message,
            digest,
            path: self.path.map(Text::new),
            form: self.form,
        }
    }

    fn weight(&self) -> usize {
        let (Signing::Digest(what) | Signing::Message(what)) = self.what;
        3 * AROUND + encoded(Some(what)) + self.path.map_or(0, str::len)
    }
}

impl<'a> Verify<'a> {
    pub(crate) fn wire(&self) -> VerifyItem<'a> {
        let SignItem {
            message,
            digest,
            path,
            form,
        } = self.signed.wire();
        VerifyItem {
            message,
            digest,
            signature: Binary::new(self.signature),
            key_version: self.key_version,
            path,
            form,
        }
    }
}

impl<'a> Which<'a> {
    pub(crate) fn wire(&self) -> PublicKeyItem<'a> {
        PublicKeyItem {
            path: self.path.map(Text::new),
            key_version: self.key_version,
        }
    }

    pub(crate) fn with_peer(&self, peer: &'a [u8]) -> AgreeItem<'a> {
        AgreeItem {
            public_key: Binary::new(peer),
            path: self.path.map(Text::new),
            key_version: self.key_version,
        }
    }
}

pub(crate) const fn at(path: &str) -> PathItem<'_> {
    PathItem {
        path: Text::new(path),
    }
}

pub(crate) const fn to_mac(message: &[u8]) -> MacItem<'_> {
    MacItem {
        message: Binary::new(message),
    }
}

pub(crate) const fn of_mac<'a>(
    message: &'a [u8],
    mac: &'a [u8],
    version: KeyVersion,
) -> MacVerifyItem<'a> {
    MacVerifyItem {
        message: Binary::new(message),
        mac: Binary::new(mac),
        key_version: version,
    }
}

impl Take for Signed {
    type Wire<'a> = SignAnswer<'a>;

    fn take(wire: SignAnswer<'_>) -> Result<Self, Error> {
        Ok(Self {
            signature: public(&wire.signature)?,
            key_version: wire.key_version,
        })
    }
}

impl Take for Verified {
    type Wire<'a> = VerifyAnswer;

    fn take(wire: VerifyAnswer) -> Result<Self, Error> {
        Ok(Self {
            valid: wire.valid,
            key_version: wire.key_version,
        })
    }
}

impl Take for Agreed {
    type Wire<'a> = AgreeAnswer<'a>;

    fn take(wire: AgreeAnswer<'_>) -> Result<Self, Error> {
        Ok(Self {
            secret: secret(&wire.secret)?,
            key_version: wire.key_version,
        })
    }
}

impl Take for PublicKey {
    type Wire<'a> = PublicKeyAnswer<'a>;

    fn take(wire: PublicKeyAnswer<'_>) -> Result<Self, Error> {
        Ok(Self {
            public_key: public(&wire.public_key)?,
            jwk: wire.jwk,
            pem: wire.pem,
            key_version: wire.key_version,
        })
    }
}

impl Take for Xpub {
    type Wire<'a> = XpubAnswer;

    fn take(wire: XpubAnswer) -> Result<Self, Error> {
        Ok(Self {
            xpub: wire.xpub,
            key_version: wire.key_version,
        })
    }
}

impl Take for ExportedKey {
    type Wire<'a> = KeyExportAnswer<'a>;

    fn take(wire: KeyExportAnswer<'_>) -> Result<Self, Error> {
        Ok(Self {
            private_key: secret(&wire.private_key)?,
            scheme: wire.scheme,
            seed: wire.seed,
            key_version: wire.key_version,
        })
    }
}

impl Take for Mac {
    type Wire<'a> = MacAnswer<'a>;

    fn take(wire: MacAnswer<'_>) -> Result<Self, Error> {
        Ok(Self {
            mac: public(&wire.mac)?,
            key_version: wire.key_version,
        })
    }
}
