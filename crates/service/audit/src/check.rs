//! Check frames: the proof of what no signed head covers yet (design 7.33).
//!
//! A chain of hashes shows that records were not changed one by one; anybody who reads it can go on with it. So each
//! write ends with a MAC over the newest link, under a key that whoever only reads the log lacks.
//!
//! ```text
//! 00000000 | HMAC-SHA-256(check key, link n) 32 | first 8 bytes of SHA-256(link n | 00000000 | HMAC)
//! ```
//!
//! A length of 0 is never a record's. The frame is no link: sequence and chain go on as if it were not there. It needs
//! no name of file, writer or boot: link 0 is made of installation, node, boot, writer and the newest head, so no two
//! files have a link in common, and a frame that is moved holds nowhere else. The last 8 bytes are for readers
//! without the key: they tell where damage begins, as those of a record do.

use std::sync::Arc;

use keywright_primitives::mac::{Mac, MacKey, Sha256Pads};
use keywright_secret::ct_eq;

use crate::chain::Link;

/// The key of check frames. Clones share the prepared hash states, so a frame costs two blocks of hashing and no
/// memory.
#[derive(Clone)]
pub struct CheckKey(Arc<Sha256Pads>);

impl CheckKey {
    /// The check key of a store, derived from the key of its row MACs: whoever can prove rows can prove records.
    #[must_use]
    pub fn derive(row_key: &MacKey) -> Self {
        Self::from_bytes(&row_key.mac(LABEL))
    }

    /// The key of these bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        Self(Arc::new(Sha256Pads::new(bytes)))
    }

    pub(crate) fn mac(&self, link: &Link) -> Mac {
        let mut mac = [0; 32];
        self.0.mac_into(&[link], &mut mac);
        mac
    }

    pub(crate) fn judge(&self, link: &Link, mac: &Mac) -> Proof {
        match ct_eq(&self.mac(link), mac) {
            true => Proof::Holds,
            false => Proof::Fails,
        }
    }
}

impl std::fmt::Debug for CheckKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CheckKey")
    }
}

/// What a check frame says of the records before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Proof {
    /// The node that has the key wrote them.
    Holds,
    /// It did not write this frame.
    Fails,
    /// The reader has no key.
    Unknown,
}

/// Why a record is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a head covers a record, a check frame does, or neither"
)]
pub enum Evidence {
    /// A signed head covers it.
    Signed,
    /// It stands behind the newest head of its file, and a check frame proves it.
    Checked,
    /// Neither: anybody who could write the file could have written it. It may restrict, reversibly, and nothing more.
    Unproven,
}

impl Evidence {
    /// Its name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Signed => "signed",
            Self::Checked => "checked",
            Self::Unproven => "unproven",
        }
    }
}

/// How far the records of one file are proven, in bytes from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extent {
    /// To here signed heads state the file.
    pub(crate) signed: u64,
    /// From here on a head stated records that nothing proved.
    pub(crate) unproven_from: Option<u64>,
    /// To here check frames hold.
    pub(crate) checked: u64,
}

impl Extent {
    /// The evidence of a record that ends at `end`.
    pub(crate) fn evidence(&self, end: u64) -> Evidence {
        match self.unproven_from {
            Some(from) if end > from => Evidence::Unproven,
            _ if end <= self.signed => Evidence::Signed,
            _ if end <= self.checked => Evidence::Checked,
            _ => Evidence::Unproven,
        }
    }
}

/// Bytes of a check frame.
pub(crate) const CHECK_LEN: usize = 44;
const LABEL: &[u8] = b"keywright/audit/check/v1";
