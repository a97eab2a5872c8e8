//! Signatures over messages of 32 bytes where no other size is asked for; hashing them is part of the operation where the scheme hashes.
//!
//! What was signed is verified, and what was verified is held against a changed message, which must be
//! refused. Only keys of Ed25519 and ML-DSA can be drawn from the seed; the others are the backend's.

use keywright_measure::{Fault, TargetError, Worker};
use keywright_primitives::rsa::RsaSize;
use keywright_primitives::signature::ecdsa::{
    P256SigningKey, P256VerifyingKey, P384SigningKey, P384VerifyingKey,
};
use keywright_primitives::signature::ml_dsa::{self, MlDsa65SigningKey, MlDsa65VerifyingKey};
use keywright_primitives::signature::rsa::{RsaSigningKey, RsaVerifyingKey};
use keywright_primitives::signature::{SIGNATURE_LEN, SigningKey, VerifyingKey};
use keywright_primitives::{Error, Rejected};

use super::output::Output;
use super::row::{Row, refused, rejected};
use super::rsa_keys;
use super::worker::{Act, Ring, changed, rotating};

/// A key pair of a scheme.
pub(super) trait Scheme: Send + Sized + 'static {
    type Signature: Output;

    fn make(row: &Row<'_>) -> Result<Self, TargetError>;
    fn sign(&self, message: &[u8]) -> Result<Self::Signature, Error>;
    fn verify(&self, message: &[u8], signature: &Self::Signature) -> Result<(), Rejected>;
}

struct Signing<S>(S);
struct Verifying<S>(S);

impl<S: Scheme> Act for Signing<S> {
    type Input = Vec<u8>;
    type Output = S::Signature;

    #[inline]
    fn act(&mut self, message: &Vec<u8>, output: &mut S::Signature) -> Result<(), Fault> {
        *output = self.0.sign(message).map_err(refused)?;
        Ok(())
    }

    fn is_right(&mut self, message: &Vec<u8>, signature: &S::Signature) -> bool {
        self.0.verify(message, signature).is_ok()
            && self.0.verify(&changed(message), signature).is_err()
    }
}

impl<S: Scheme> Act for Verifying<S> {
    type Input = (Vec<u8>, S::Signature);
    type Output = bool;

    #[inline]
    fn act(&mut self, (message, signature): &Self::Input, output: &mut bool) -> Result<(), Fault> {
        self.0.verify(message, signature).map_err(rejected)?;
        *output = true;
        Ok(())
    }

    fn is_right(&mut self, (message, signature): &Self::Input, accepted: &bool) -> bool {
        *accepted && self.0.verify(&changed(message), signature).is_err()
    }
}

/// Sixteen messages: signatures are made beforehand for each, and the slowest takes milliseconds.
const LOG2: u32 = 4;

/// One message signed.
pub(super) fn sign<S: Scheme>(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let scheme = S::make(row)?;
    let mut seeded = row.seeded();
    let ring = Ring::fill(LOG2, || Ok(seeded.bytes(row.bytes)))?;
    let first = scheme.sign(&[]).map_err(|error| row.fails(error))?;
    Ok(rotating(Signing(scheme), ring, first))
}

/// One signature verified.
pub(super) fn verify<S: Scheme>(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let scheme = S::make(row)?;
    let mut seeded = row.seeded();
    let ring = Ring::fill(LOG2, || {
        let message = seeded.bytes(row.bytes);
        let signature = scheme.sign(&message).map_err(|error| row.fails(error))?;
        Ok((message, signature))
    })?;
    Ok(rotating(Verifying(scheme), ring, false))
}

/// The two halves of a key, and the names of what they do.
macro_rules! scheme {
    (
        $name:ident, $signing:ty, $verifying:ty, $signature:ty,
        |$row:ident| $make:expr, |$key:ident| $public:expr,
        |$signer:ident, $message:ident| $sign:expr, $verify:ident
    ) => {
        pub(super) struct $name {
            signing: $signing,
            verifying: $verifying,
        }

        impl Scheme for $name {
            type Signature = $signature;

            fn make($row: &Row<'_>) -> Result<Self, TargetError> {
                let signing: $signing = $make.map_err(|error| $row.fails(error))?;
                let $key = &signing;
                let verifying: Result<$verifying, Error> = $public;
                let verifying = verifying.map_err(|error| $row.fails(error))?;
                Ok(Self { signing, verifying })
            }

            #[inline]
            fn sign(&self, $message: &[u8]) -> Result<$signature, Error> {
                let $signer = &self.signing;
                $sign
            }

            #[inline]
            fn verify(&self, message: &[u8], signature: &$signature) -> Result<(), Rejected> {
                self.verifying.$verify(message, signature)
            }
        }
    };
}

scheme! {
    Ed25519, SigningKey, VerifyingKey, [u8; SIGNATURE_LEN],
    |row| SigningKey::from_seed(&row.seeded().secret()), |key| Ok(key.verifying_key()),
    |key, message| Ok(key.sign(message)), verify
}
scheme! {
    EcdsaP256, P256SigningKey, P256VerifyingKey, [u8; 64],
    |row| P256SigningKey::generate(), |key| key.verifying_key(),
    |key, message| key.sign_fixed(message), verify_fixed
}
scheme! {
    EcdsaP384, P384SigningKey, P384VerifyingKey, [u8; 96],
    |row| P384SigningKey::generate(), |key| key.verifying_key(),
    |key, message| key.sign_fixed(message), verify_fixed
}
scheme! {
    MlDsa65, MlDsa65SigningKey, MlDsa65VerifyingKey, [u8; ml_dsa::SIGNATURE_LEN],
    |row| MlDsa65SigningKey::from_seed(&row.seeded().secret()), |key| key.verifying_key(),
    |key, message| key.sign(message), verify
}

macro_rules! rsa {
    ($name:ident, $size:ident, $sign:ident, $verify:ident) => {
        scheme! {
            $name, RsaSigningKey, RsaVerifyingKey, Vec<u8>,
            |row| RsaSigningKey::from_pkcs8(&*rsa_keys::document(row, RsaSize::$size)?),
            |key| key.verifying_key(),
            |key, message| key.$sign(message), $verify
        }
    };
}

rsa!(Rsa2048Pkcs1, Rsa2048, sign_pkcs1, verify_pkcs1);
rsa!(Rsa2048Pss, Rsa2048, sign_pss, verify_pss);
rsa!(Rsa3072Pkcs1, Rsa3072, sign_pkcs1, verify_pkcs1);
rsa!(Rsa3072Pss, Rsa3072, sign_pss, verify_pss);
rsa!(Rsa4096Pkcs1, Rsa4096, sign_pkcs1, verify_pkcs1);
rsa!(Rsa4096Pss, Rsa4096, sign_pss, verify_pss);
