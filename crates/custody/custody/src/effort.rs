//! How much a request asks of the processor, told before it is begun.
//!
//! A server thread answers one request after the other, so what takes long there holds up everybody else on it.
//! Sealing and opening an item take no longer than reading it did; a private operation of RSA takes as long as very many
//! of them. What is [`Effort::is_long`] is meant for a pool of threads.
//!
//! The weights are estimates of magnitude. They need not be better than that, as long as a curve of 256 bits and RSA
//! never come near each other; `keywright bench list ops` names the operations that show what they are on a machine.
//!
//! Not here: keys in a token, which wait for their device and have [`Placement`](crate::Placement) for that.

use keywright_types::{Algorithm, KeySpec, Purpose};

use crate::{HolderOperation, KeyMaterial, Request};

/// An amount of work, in sixteenths of a signature over a curve of 256 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Effort(u64);

impl Effort {
    /// One signature, agreement or derivation on a curve of 256 bits.
    pub const CURVE: Self = Self(16);

    /// What a server thread takes on itself: eight of [`Effort::CURVE`]. A single
    /// signature over any curve is below it, every private operation of RSA and of ML-DSA above, and so are
    /// batches of more than eight signatures or 64 tokens.
    pub const BOUND: Self = Self(8 * Self::CURVE.0);

    /// What `request` takes for so many items.
    #[must_use]
    pub fn of(request: &Request, items: usize) -> Self {
        let Some(first) = request.versions.first() else {
            return Self::default();
        };
        let each = Self::of_item(first.spec(), request.operation);
        let opening = request.versions.iter().map(|version| opening(version));
        let all = each.0.saturating_mul(items as u64);
        Self(opening.fold(all, |sum, one| sum.saturating_add(one.0)))
    }

    /// What one item takes, with a key that is in memory.
    #[must_use]
    pub const fn of_item(spec: &KeySpec, operation: HolderOperation) -> Self {
        use HolderOperation as H;
        match (spec.purpose, operation) {
            (Purpose::Tokenise, _) => VALUE,
            (Purpose::Sign, H::Sign) => signing(spec.algorithm),
            (Purpose::Sign, H::Verify) => verifying(spec.algorithm),
            (Purpose::Tree, _) => PATH,
            (Purpose::Agree, H::Agree) | (Purpose::Agree | Purpose::Sign, H::PublicKey) => {
                Self::CURVE
            }
            _ => Self(0),
        }
    }

    /// Whether it is too much for a thread that serves others as well.
    #[must_use]
    pub const fn is_long(self) -> bool {
        self.0 > Self::BOUND.0
    }
}

/// A value that is ranked, permuted and unranked.
const VALUE: Effort = Effort(2);
/// A key of a tree, and one operation with it: a path is a step on the curve for each of its components, of which the
/// first are mostly remembered.
const PATH: Effort = Effort(5 * Effort::CURVE.0);

const fn signing(algorithm: Algorithm) -> Effort {
    Effort(match algorithm {
        Algorithm::EcdsaP384 | Algorithm::EcdsaP521 => 6 * Effort::CURVE.0,
        Algorithm::MlDsa65 => 10 * Effort::CURVE.0,
        Algorithm::Rsa2048Pkcs1 | Algorithm::Rsa2048Pss => 30 * Effort::CURVE.0,
        Algorithm::Rsa3072Pkcs1 | Algorithm::Rsa3072Pss => 90 * Effort::CURVE.0,
        Algorithm::Rsa4096Pkcs1 | Algorithm::Rsa4096Pss => 200 * Effort::CURVE.0,
        _ => Effort::CURVE.0,
    })
}

const fn verifying(algorithm: Algorithm) -> Effort {
    Effort(match algorithm {
        Algorithm::EcdsaP384 | Algorithm::EcdsaP521 => 6 * Effort::CURVE.0,
        Algorithm::MlDsa65 => 4 * Effort::CURVE.0,
        // An exponent of 17 bits, and the other curves.
        _ => 2 * Effort::CURVE.0,
    })
}

/// What it takes before the first item: the numbers of an RSA key are checked against each other when it is opened.
fn opening(material: &KeyMaterial) -> Effort {
    let private = match material.spec().purpose {
        Purpose::Sign => signing(material.spec().algorithm),
        _ => return Effort::default(),
    };
    // Whether it is open costs a look at what threads share, so it is asked where it matters.
    if private.is_long() && !material.cell().is_loaded() {
        return private;
    }
    Effort::default()
}

#[cfg(test)]
mod tests {
    use HolderOperation as H;

    use super::*;

    const SIGNS: [Algorithm; 12] = [
        Algorithm::Ed25519,
        Algorithm::EcdsaP256,
        Algorithm::EcdsaSecp256k1,
        Algorithm::EcdsaP384,
        Algorithm::EcdsaP521,
        Algorithm::MlDsa65,
        Algorithm::Rsa2048Pkcs1,
        Algorithm::Rsa2048Pss,
        Algorithm::Rsa3072Pkcs1,
        Algorithm::Rsa3072Pss,
        Algorithm::Rsa4096Pkcs1,
        Algorithm::Rsa4096Pss,
    ];

    fn long(purpose: Purpose, algorithm: Algorithm, operation: H, items: u64) -> bool {
        let spec = KeySpec {
            purpose,
            algorithm,
            ..KeySpec::seal()
        };
        Effort(Effort::of_item(&spec, operation).0 * items).is_long()
    }

    #[test]
    fn a_single_signature_over_a_curve_stays_and_one_of_rsa_or_of_lattices_never_does() {
        for (place, algorithm) in SIGNS.into_iter().enumerate() {
            let one = long(Purpose::Sign, algorithm, H::Sign, 1);
            assert_eq!(one, place >= 5, "{algorithm:?}");
            assert!(
                !long(Purpose::Sign, algorithm, H::Verify, 1),
                "{algorithm:?}"
            );
            assert!(
                !long(Purpose::Sign, algorithm, H::PublicKey, 1),
                "{algorithm:?}"
            );
        }
    }

    #[test]
    fn every_batch_of_asymmetric_operations_is_long_at_some_length() {
        for algorithm in SIGNS {
            for operation in [H::Sign, H::Verify, H::PublicKey] {
                assert!(
                    long(Purpose::Sign, algorithm, operation, 9),
                    "{algorithm:?}"
                );
            }
        }
        for algorithm in [Algorithm::X25519, Algorithm::EcdhP256] {
            assert!(!long(Purpose::Agree, algorithm, H::Agree, 8));
            assert!(long(Purpose::Agree, algorithm, H::Agree, 9));
        }
        let tree = |items| long(Purpose::Tree, Algorithm::Bip32Secp256k1, H::Sign, items);
        assert_eq!((tree(1), tree(2)), (false, true));
        let values = |items| long(Purpose::Tokenise, Algorithm::Ff1Aes256, H::Mask, items);
        assert_eq!((values(64), values(65)), (false, true));
    }

    #[test]
    fn work_that_costs_what_reading_it_does_is_never_long() {
        for operation in [H::Seal, H::Open, H::Reseal, H::MakeDataKey, H::OpenDataKey] {
            assert!(!long(
                Purpose::Seal,
                Algorithm::Xaes256Gcm,
                operation,
                u64::from(u32::MAX)
            ));
        }
        for operation in [H::Mac, H::VerifyMac] {
            assert!(!long(
                Purpose::Mac,
                Algorithm::HmacSha256,
                operation,
                u64::from(u32::MAX)
            ));
        }
    }
}
