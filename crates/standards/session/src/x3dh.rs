//! The handshake with signed prekeys, from the public X3DH specification (sections 2.4 and 3.3), with an
//! encapsulation to an ML-KEM prekey beside the agreements where the record has one.
//!
//! ```text
//! DH1 = DH(IKa, SPKb)   DH2 = DH(EKa, IKb)   DH3 = DH(EKa, SPKb)   DH4 = DH(EKa, OPKb), if there is one
//! T   = SHA-256(lp("keywright/x3dh/transcript/v1") + lp(mode) + lp(card A) + lp(card B) + lp(SHA-256(record))
//!     + lp(what was read) + lp(EKa) + lp(SPKb) + lp(OPKb or nothing) + lp(ciphertext or nothing)
//!     + lp(application))
//! prk = HKDF-Extract-SHA-256(salt = 32 zeros, ikm = 32 times FF + DH1 + DH2 + DH3 + DH4 + SS)
//! secret = HKDF-Expand(prk, "keywright/x3dh/secret/v1" + T, 32)
//! binder = HKDF-Expand(prk, "keywright/binder/v1" + T, 32)
//! ```
//!
//! IK are the keys of the cards, SPKb is the record's ratchet prekey, SS comes out of ML-KEM-768. What was
//! read is the id that the first frame names. The transcript has the whole record in it by its digest, the
//! ML-KEM key and the responder's suites included.

use keywright_encoding::lp;
use keywright_primitives::agreement::{X25519PrivateKey, X25519PublicKey};
use keywright_primitives::hash::sha256;
use keywright_primitives::kdf::HkdfSha256;
use keywright_ratchet::SessionSecret;
use keywright_secret::{Secret, SecretBytes};
use keywright_wire::PrekeyHead;

use crate::{Card, Error, Record};

const TRANSCRIPT_LABEL: &[u8] = b"keywright/x3dh/transcript/v1";
const SECRET_LABEL: &[u8] = b"keywright/x3dh/secret/v1";
const BINDER_LABEL: &[u8] = b"keywright/binder/v1";
/// Four agreements and one encapsulated secret behind the prefix.
const MATERIAL_LEN: usize = 6 * 32;

/// What a handshake gives to both sides.
pub(crate) struct Agreed {
    pub(crate) secret: SessionSecret,
    pub(crate) binder: Secret<32>,
    pub(crate) transcript: [u8; 32],
}

/// What both sides know and nobody has to hide.
pub(crate) struct Public<'a> {
    pub(crate) initiator: &'a Card,
    pub(crate) record: &'a Record,
    pub(crate) one_time: Option<&'a [u8; 32]>,
    pub(crate) head: &'a PrekeyHead<'a>,
    pub(crate) application: &'a [u8],
}

/// The agreements in their order.
pub(crate) struct Material(SecretBytes, usize);

impl Material {
    pub(crate) fn new() -> Self {
        let mut bytes = SecretBytes::zeroed(MATERIAL_LEN);
        bytes.expose_mut()[..32].fill(0xFF);
        Self(bytes, 32)
    }

    pub(crate) fn agree(&mut self, own: &X25519PrivateKey, peer: &[u8; 32]) -> Result<(), Error> {
        let peer = X25519PublicKey::from_bytes(peer).map_err(|_| Error::Rejected)?;
        let shared = own.agree(&peer).map_err(|_| Error::Rejected)?;
        self.push(&shared);
        Ok(())
    }

    /// There is room for all that a handshake has.
    pub(crate) fn push(&mut self, shared: &Secret<32>) {
        let place = self.0.expose_mut().get_mut(self.1..self.1 + 32);
        if let Some(place) = place {
            place.copy_from_slice(shared.expose());
            self.1 += 32;
        }
    }

    pub(crate) fn finish(self, public: &Public<'_>) -> Result<Agreed, Error> {
        let transcript = public.transcript()?;
        let (material, _) = self.0.expose().split_at(self.1);
        let prk = HkdfSha256::extract(&[0; 32], material)?;
        let shared = Secret::try_from_fill(|out| prk.expand(&[SECRET_LABEL, &transcript], out))?;
        let binder = Secret::try_from_fill(|out| prk.expand(&[BINDER_LABEL, &transcript], out))?;
        Ok(Agreed {
            secret: SessionSecret::expand(&shared)?,
            binder,
            transcript,
        })
    }
}

impl Public<'_> {
    fn transcript(&self) -> Result<[u8; 32], Error> {
        let head = self.head;
        let fields = lp(&[
            TRANSCRIPT_LABEL,
            &[head.mode_number()],
            &self.initiator.to_bytes(),
            &self.record.card().to_bytes(),
            &sha256(self.record.as_bytes()),
            head.record.as_bytes(),
            head.ephemeral,
            &self.record.prekey,
            self.one_time.map_or(&[], |key| &key[..]),
            head.kem_ciphertext.map_or(&[], |bytes| &bytes[..]),
            self.application,
        ]);
        Ok(sha256(&fields.map_err(|_| Error::TooLong)?))
    }
}
