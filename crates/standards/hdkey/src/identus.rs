//! Paths of Identus wallets: `m/29'/29'/did'/usage'/index'`, 29 being the registered purpose and method.
//!
//! DIDs are counted in each wallet, keys in each DID and usage; the master key of a DID is usage 1, index 0.
//! Names of DIDs follow from that key and are made by [`prism_did`].

use keywright_primitives::hash::sha256;

use crate::Error;
use crate::path::{Path, PathError};
use crate::public::PublicKey;
use crate::scheme::Curve;

/// What a key of a DID is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Purpose {
    /// Changes the DID itself.
    Master,
    /// Issues credentials.
    Issuing,
    /// Agrees with others; never signs.
    KeyAgreement,
    /// Shows who the DID's owner is.
    Authentication,
    /// Revokes credentials.
    Revocation,
    /// Uses a capability.
    CapabilityInvocation,
    /// Passes a capability on.
    CapabilityDelegation,
    /// Writes to the verifiable data registry.
    Vdr,
}

impl Purpose {
    /// Every purpose, in the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::Master,
        Self::Issuing,
        Self::KeyAgreement,
        Self::Authentication,
        Self::Revocation,
        Self::CapabilityInvocation,
        Self::CapabilityDelegation,
        Self::Vdr,
    ];

    /// The number in the path.
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            Self::Master => 1,
            Self::Issuing => 2,
            Self::KeyAgreement => 3,
            Self::Authentication => 4,
            Self::Revocation => 5,
            Self::CapabilityInvocation => 6,
            Self::CapabilityDelegation => 7,
            Self::Vdr => 8,
        }
    }

    /// The name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Master => "master",
            Self::Issuing => "issuing",
            Self::KeyAgreement => "key-agreement",
            Self::Authentication => "authentication",
            Self::Revocation => "revocation",
            Self::CapabilityInvocation => "capability-invocation",
            Self::CapabilityDelegation => "capability-delegation",
            Self::Vdr => "vdr",
        }
    }

    /// The purpose of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|purpose| purpose.name() == name)
    }

    /// Whether keys of this purpose agree, and so never sign. All others sign, and never agree.
    #[must_use]
    pub const fn agrees(self) -> bool {
        matches!(self, Self::KeyAgreement)
    }
}

/// The purpose in the path of a key; none for any other path.
#[must_use]
pub fn purpose_of(path: &Path) -> Option<Purpose> {
    let [method, prefix, _, usage, _] = path.children() else {
        return None;
    };
    let hardened = path.children().iter().all(|child| child.is_hardened());
    let ours = hardened && method.number() == METHOD && prefix.number() == METHOD;
    let number = usage.number();
    Purpose::ALL
        .into_iter()
        .find(|purpose| ours && purpose.number() == number)
}

const METHOD: u32 = 29;

/// The path of a key.
///
/// # Errors
/// [`PathError::TooLarge`] if a number is 2^31 or more.
pub fn key_path(did: u32, purpose: Purpose, index: u32) -> Result<Path, PathError> {
    Path::all_hardened(&[METHOD, METHOD, did, purpose.number(), index])
}

/// The path of an account, under which all keys of one DID lie.
///
/// # Errors
/// [`PathError::TooLarge`] if the number is 2^31 or more.
pub fn account_path(did: u32) -> Result<Path, PathError> {
    Path::all_hardened(&[METHOD, METHOD, did])
}

/// The canonical DID that a master key alone creates: the SHA-256 of the operation that would write it, the
/// key being called `master` there, as the method's proposal for deterministic DIDs has it. A DID that the
/// cloud agent makes holds other keys too, and so has another name.
///
/// # Errors
/// [`Error::WrongUse`] unless the key is one of secp256k1.
pub fn prism_did(master: &PublicKey) -> Result<String, Error> {
    if master.scheme().curve() != Some(Curve::Secp256k1) {
        return Err(Error::WrongUse {
            scheme: master.scheme(),
            wanted: "name a DID",
        });
    }
    // The messages of the method, in its fields' order: AtalaOperation.create_did = 1, .did_data = 1,
    // .public_keys = 2; a key has id = 1, usage = 2 (1 is the master key), compressed_ec_key_data = 9 with
    // curve = 1 and data = 2.
    let key = [field(1, b"secp256k1"), field(2, master.as_bytes())].concat();
    let key = [field(1, b"master"), vec![2 << 3, 1], field(9, &key)].concat();
    let operation = field(1, &field(1, &field(2, &key)));
    let mut did = String::from("did:prism:");
    for byte in sha256(&operation) {
        for digit in [byte >> 4, byte & 15] {
            did.extend(char::from_digit(u32::from(digit), 16));
        }
    }
    Ok(did)
}

/// A field of bytes in the encoding of protocol buffers. Nothing here reaches the 128 bytes where a length
/// takes a second byte.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let length = u8::try_from(bytes.len()).unwrap_or(0x7F).min(0x7F);
    [&[number << 3 | 2, length], bytes].concat()
}
