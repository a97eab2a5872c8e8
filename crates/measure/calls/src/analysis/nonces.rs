//! Nonces that were used twice under one key.
//!
//! The recorder leaves a tag of each nonce, equal for equal nonces. Tags are remembered as 64 bits; when there are
//! more than fit, those whose bits end in one more zero stay, so that both uses of a nonce are remembered or
//! neither, and the share that is compared can be said.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};

use keywright_pkcs11_names::{Function, MechanismType, Named as _, ParameterValue};

use super::{Call, Outcome};
use crate::finding::Spot;
use crate::report::Nonces;

/// The tags.
#[derive(Debug, Default)]
pub(super) struct Tags {
    state: RandomState,
    kept: HashSet<u64>,
    /// How many zeros a tag must end in to be kept.
    zeros: u32,
    seen: u64,
    /// Of modes that a second use breaks.
    pub(super) nonces: Spot,
    /// Of modes that a second use weakens.
    pub(super) vectors: Spot,
}

const MOST: usize = 1 << 18;

impl Tags {
    pub(super) fn take(&mut self, call: &Call<'_>) {
        let Some(mechanism) = call.mech.number().filter(|_| makes(call)) else {
            return;
        };
        let record = &call.seen.record;
        let tag = record
            .mech
            .as_ref()
            .and_then(|mech| mech.params.get("iv_tag"));
        let Some(ParameterValue::Text(tag)) = tag.filter(|_| call.outcome == Outcome::Done) else {
            return;
        };
        self.seen += 1;
        let key = record.key.as_ref();
        let key = (key.and_then(|key| key.tag.as_deref()), call.key);
        // Handles mean something within a process only, and so do tags.
        let hash = self.state.hash_one((call.process, key, mechanism, tag));
        if hash.trailing_zeros() < self.zeros {
            return;
        }
        if !self.kept.insert(hash) {
            match breaks(mechanism) {
                true => self.nonces.mark(call.seen.line),
                false => self.vectors.mark(call.seen.line),
            }
        }
        while self.kept.len() > MOST {
            self.zeros += 1;
            let zeros = self.zeros;
            self.kept.retain(|hash| hash.trailing_zeros() >= zeros);
        }
    }

    pub(super) fn report(&self) -> Nonces {
        Nonces {
            seen: self.seen,
            reused: self.nonces.count + self.vectors.count,
            compared_share: 0.5_f64.powi(i32::try_from(self.zeros).unwrap_or(i32::MAX)),
        }
    }
}

/// Whether the call begins to encrypt or to make a code: what is opened was sealed before, and its nonce comes again.
fn makes(call: &Call<'_>) -> bool {
    let name = call.function.map(Function::name);
    matches!(
        name,
        Some(
            "C_EncryptInit"
                | "C_SignInit"
                | "C_WrapKey"
                | "C_EncryptMessage"
                | "C_EncryptMessageBegin"
        )
    )
}

/// Whether a nonce that comes twice gives plaintext or keys away.
fn breaks(mechanism: MechanismType) -> bool {
    let name = mechanism.name().unwrap_or_default();
    [
        "_GCM", "_CCM", "_CTR", "_GMAC", "CHACHA20", "SALSA20", "_OFB", "_CFB",
    ]
    .iter()
    .any(|part| name.contains(part))
}
