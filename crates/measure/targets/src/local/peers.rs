//! Other people's code for the parts of sessions, in the same run: XChaCha20-Poly1305 of RustCrypto, and the
//! libraries below our HKDF, BLAKE3 and Argon2id, called without anything of ours between.
//!
//! Argon2id is that of the `argon2` crate with lanes on threads and memory that it asks for itself.

use argon2::{Algorithm, Argon2, Params, Version};
use aws_lc_rs::hkdf::{HKDF_SHA256, KeyType, Salt};
use chacha20poly1305::aead::inout::InOutBuf;
use chacha20poly1305::{AeadInOut as _, KeyInit as _, XChaCha20Poly1305};
use keywright_measure::{TargetError, Worker};
use keywright_password::Profile;
use keywright_primitives::aead::{EXTENDED_NONCE_LEN, Tag};
use keywright_primitives::{Error, hash};
use keywright_secret::{Secret, SecretBytes};

use super::aead::Cipher;
use super::argon2id;
use super::kdf::{self, Inputs};
use super::row::{Row, Seeded, refused};
use super::worker::{Ring, answered, ring_of};

/// XChaCha20-Poly1305 of RustCrypto.
pub(super) struct RustCrypto(XChaCha20Poly1305);

impl Cipher for RustCrypto {
    type Nonce = [u8; EXTENDED_NONCE_LEN];

    fn draw(seeded: &mut Seeded) -> Result<Self, Error> {
        let key = seeded.secret::<32>();
        Ok(Self(XChaCha20Poly1305::new(key.expose().into())))
    }

    fn nonce(seeded: &mut Seeded) -> Self::Nonce {
        seeded.array()
    }

    #[inline]
    fn seal(&self, nonce: &Self::Nonce, in_out: &mut [u8]) -> Result<Tag, Error> {
        let sealed = self
            .0
            .encrypt_inout_detached(nonce.into(), &[], InOutBuf::from(in_out));
        sealed.map(Into::into).map_err(|_| Error::TooLong)
    }

    #[inline]
    fn open(&self, nonce: &Self::Nonce, in_out: &mut [u8], tag: &Tag) -> bool {
        let (nonce, tag) = (nonce.into(), tag.into());
        let in_out = InOutBuf::from(in_out);
        self.0
            .decrypt_inout_detached(nonce, &[], in_out, tag)
            .is_ok()
    }
}

/// One key derived with HKDF-SHA-256 of the backend.
pub(super) fn hkdf_sha256(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let ring = kdf::sha256_inputs(row)?;
    let first = SecretBytes::zeroed(row.bytes);
    Ok(answered(ring, first, |inputs: &Inputs, out| {
        let prk = Salt::new(HKDF_SHA256, &inputs.salt).extract(inputs.secret.expose());
        let info = [&inputs.info[..]];
        let length = Length(out.expose().len());
        let derived = prk.expand(&info, length).map_err(refused)?;
        derived.fill(out.expose_mut()).map_err(refused)
    }))
}

struct Length(usize);

impl KeyType for Length {
    fn len(&self) -> usize {
        self.0
    }
}

/// One input hashed by the `blake3` crate.
pub(super) fn blake3_crate(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    blake3_of(row, |input| blake3::hash(input).into())
}

/// The same on all cores.
pub(super) fn blake3_crate_on_all_cores(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    blake3_of(row, |input| {
        blake3::Hasher::new().update_rayon(input).finalize().into()
    })
}

fn blake3_of(
    row: &Row<'_>,
    hash: impl Fn(&[u8]) -> [u8; 32] + Send + 'static,
) -> Result<Box<dyn Worker>, TargetError> {
    let mut seeded = row.seeded();
    let ring = Ring::fill(ring_of(row.bytes), || {
        let input = seeded.bytes(row.bytes);
        let answer = hash::blake3(&input);
        Ok((input, answer))
    })?;
    Ok(answered(ring, [0; 32], move |input: &Vec<u8>, out| {
        *out = hash(input);
        Ok(())
    }))
}

/// 64 MiB, 3 passes, 2 lanes.
pub(super) fn argon2_fast(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    argon2_crate(row, Profile::Fast)
}

/// 256 MiB, 3 passes, 4 lanes.
pub(super) fn argon2_balanced(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    argon2_crate(row, Profile::Balanced)
}

/// 1 GiB, 3 passes, 8 lanes.
pub(super) fn argon2_strong(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    argon2_crate(row, Profile::Strong)
}

fn argon2_crate(row: &Row<'_>, profile: Profile) -> Result<Box<dyn Worker>, TargetError> {
    let (ring, cost) = argon2id::inputs(row, profile)?;
    let params = Params::new(cost.memory_kib, cost.passes, cost.lanes, Some(32));
    let params = params.map_err(|error| row.fails(error))?;
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let first = Secret::from_fill(|_| ());
    Ok(answered(
        ring,
        first,
        move |salt: &[u8; 16], out: &mut Secret<32>| {
            *out = Secret::try_from_fill(|key| {
                argon2.hash_password_into(argon2id::PASSWORD, salt, key)
            })
            .map_err(refused)?;
            Ok(())
        },
    ))
}
