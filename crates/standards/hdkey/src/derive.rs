//! Roots and children: BIP-32 (section "Child key derivation"), SLIP-0010, BIP32-Ed25519 in its second form.
//!
//! A step changes a node in place, so a path costs no memory. The HMAC stands behind a trait, because the
//! branches for numbers beyond the order are met once in 2^127 times on secp256k1, and tests make them.

use keywright_primitives::hash::sha512;
use keywright_primitives::mac::Sha512Pads;
use keywright_primitives::{p256, secp256k1};
use keywright_secret::wipe;

use crate::Error;
use crate::node::{PrivateNode, SoftChildren};
use crate::path::ChildIndex;
use crate::scheme::{Curve, Scheme};

/// HMAC-SHA-512 under one key.
pub(crate) trait Prf {
    fn mac_into(&self, pieces: &[&[u8]], out: &mut [u8; 64]);
}

impl Prf for Sha512Pads {
    fn mac_into(&self, pieces: &[&[u8]], out: &mut [u8; 64]) {
        Self::mac_into(self, pieces, out);
    }
}

/// What becomes of a number that is no key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Invalid {
    /// SLIP-0010 hashes again.
    HashAgain,
    /// BIP-32 leaves it to the caller.
    Refuse,
}

/// The bytes of the Ed25519 root that Identus takes from a seed, and all of the seed.
const ED25519_SEED: usize = 64;

// === Roots ===

/// Fills a blank node from a seed.
pub(crate) fn root(node: &mut PrivateNode, seed: &[u8]) -> Result<(), Error> {
    match node.scheme {
        Scheme::Bip32Secp256k1 => root_by_hmac(
            node,
            &Sha512Pads::new(b"Bitcoin seed"),
            seed,
            Invalid::Refuse,
        ),
        Scheme::Slip10Secp256k1 => root_by_hmac(
            node,
            &Sha512Pads::new(b"Bitcoin seed"),
            seed,
            Invalid::HashAgain,
        ),
        Scheme::Slip10NistP256 => root_by_hmac(
            node,
            &Sha512Pads::new(b"Nist256p1 seed"),
            seed,
            Invalid::HashAgain,
        ),
        Scheme::Slip10Ed25519 => root_by_hmac(
            node,
            &Sha512Pads::new(b"ed25519 seed"),
            seed,
            Invalid::HashAgain,
        ),
        Scheme::Slip10Curve25519 => root_by_hmac(
            node,
            &Sha512Pads::new(b"curve25519 seed"),
            seed,
            Invalid::HashAgain,
        ),
        Scheme::Bip32Ed25519V2 => root_of_identus(node, seed),
        Scheme::Slip21 => Err(Error::WrongUse {
            scheme: node.scheme,
            wanted: "have indices; its trees have labels",
        }),
    }
}

fn root_by_hmac(
    node: &mut PrivateNode,
    prf: &impl Prf,
    seed: &[u8],
    invalid: Invalid,
) -> Result<(), Error> {
    let mut image = [0; 64];
    prf.mac_into(&[seed], &mut image);
    while !is_key(node.scheme, &image) {
        if invalid == Invalid::Refuse {
            wipe(&mut image);
            return Err(Error::InvalidRoot);
        }
        // SLIP-0010: the image takes the seed's place.
        let again = image;
        prf.mac_into(&[&again], &mut image);
    }
    node.key.copy_from_slice(&image[..32]);
    node.chain.copy_from_slice(&image[32..]);
    wipe(&mut image);
    Ok(())
}

/// Whether the left half is a private key of the scheme; on the curves of 255 bits every number is one.
fn is_key(scheme: Scheme, image: &[u8; 64]) -> bool {
    let mut left = [0; 32];
    left.copy_from_slice(&image[..32]);
    let good = match scheme.curve() {
        Some(Curve::Secp256k1) => secp256k1::is_private_key(&left),
        Some(Curve::P256) => p256::is_private_key(&left),
        _ => true,
    };
    wipe(&mut left);
    good
}

/// The Identus library: the first half of a seed is hashed and clamped, the second half is the chain code.
fn root_of_identus(node: &mut PrivateNode, seed: &[u8]) -> Result<(), Error> {
    if seed.len() != ED25519_SEED {
        return Err(Error::SeedLengthOfScheme {
            scheme: node.scheme,
            expected: ED25519_SEED,
            found: seed.len(),
        });
    }
    let mut hash = sha512(&seed[..32]);
    hash[0] &= 0xF8;
    // The third-highest bit is cleared too: sums below must not reach the highest.
    hash[31] = (hash[31] & 0x1F) | 0x40;
    node.key.copy_from_slice(&hash[..32]);
    node.right.copy_from_slice(&hash[32..]);
    node.chain.copy_from_slice(&seed[32..]);
    wipe(&mut hash);
    Ok(())
}

// === Children ===

/// Turns a node into its child. `prf` is keyed by the node's chain code; `public` is the node's public key
/// where the caller has it already, else it is computed where it is needed.
pub(crate) fn step(
    node: &mut PrivateNode,
    prf: &impl Prf,
    child: ChildIndex,
    public: Option<&[u8; 33]>,
) -> Result<(), Error> {
    let depth = node.depth.checked_add(1).ok_or(Error::TooDeep)?;
    if !child.is_hardened() {
        soft_allowed(node)?;
    }
    let made = match node.scheme {
        Scheme::Bip32Secp256k1 => step_by_sum(node, prf, child, (public, Invalid::Refuse)),
        Scheme::Slip10Secp256k1 | Scheme::Slip10NistP256 => {
            step_by_sum(node, prf, child, (public, Invalid::HashAgain))
        }
        Scheme::Slip10Ed25519 | Scheme::Slip10Curve25519 => {
            let mut image = [0; 64];
            prf.mac_into(
                &[&[0], &node.key, &child.to_raw().to_be_bytes()],
                &mut image,
            );
            node.key.copy_from_slice(&image[..32]);
            node.chain.copy_from_slice(&image[32..]);
            wipe(&mut image);
            Ok(())
        }
        Scheme::Bip32Ed25519V2 => step_ed25519(node, prf, child, public),
        Scheme::Slip21 => Err(Error::WrongUse {
            scheme: node.scheme,
            wanted: "have indices; its trees have labels",
        }),
    };
    made?;
    node.depth = depth;
    node.index = child;
    node.parent = None;
    Ok(())
}

const fn soft_allowed(node: &PrivateNode) -> Result<(), Error> {
    match (node.scheme.has_soft_children(), node.soft) {
        (true, SoftChildren::Allow) => Ok(()),
        (true, SoftChildren::Refuse) => Err(Error::SoftChild { position: 1 }),
        (false, _) => Err(Error::HardenedOnly {
            scheme: node.scheme,
            position: 1,
        }),
    }
}

/// The Weierstrass curves: the child is the parent plus the left half of the image.
fn step_by_sum(
    node: &mut PrivateNode,
    prf: &impl Prf,
    child: ChildIndex,
    (public, invalid): (Option<&[u8; 33]>, Invalid),
) -> Result<(), Error> {
    let number = child.to_raw().to_be_bytes();
    let mut image = [0; 64];
    match child.is_hardened() {
        true => prf.mac_into(&[&[0], &node.key, &number], &mut image),
        false => {
            let public = serialized(node, public)?;
            prf.mac_into(&[&public, &number], &mut image);
        }
    }
    let mut left = [0; 32];
    loop {
        left.copy_from_slice(&image[..32]);
        let sum = match node.scheme {
            Scheme::Slip10NistP256 => p256::tweak_private(&mut node.key, &left),
            _ => secp256k1::tweak_private(&mut node.key, &left),
        };
        if sum.is_ok() || invalid == Invalid::Refuse {
            node.chain.copy_from_slice(&image[32..]);
            wipe(&mut left);
            wipe(&mut image);
            return sum.map_err(|_| Error::InvalidChild { position: 1 });
        }
        // SLIP-0010: the right half takes the key's place.
        let mut right = [0; 32];
        right.copy_from_slice(&image[32..]);
        prf.mac_into(&[&[1], &right, &number], &mut image);
    }
}

/// BIP32-Ed25519: a small multiple of 8 is added to the scalar, and 256 bits to the prefix of its nonces.
fn step_ed25519(
    node: &mut PrivateNode,
    prf: &impl Prf,
    child: ChildIndex,
    public: Option<&[u8; 33]>,
) -> Result<(), Error> {
    let number = child.to_raw().to_le_bytes();
    let (mut z, mut c) = ([0; 64], [0; 64]);
    match child.is_hardened() {
        true => {
            prf.mac_into(&[&[0], &node.key, &node.right, &number], &mut z);
            prf.mac_into(&[&[1], &node.key, &node.right, &number], &mut c);
        }
        false => {
            let public = serialized(node, public)?;
            prf.mac_into(&[&[2], &public[1..], &number], &mut z);
            prf.mac_into(&[&[3], &public[1..], &number], &mut c);
        }
    }
    let mut tweak = eightfold(&z);
    // No root of the right form outgrows 256 bits within 255 levels.
    let carry = add_little_endian(&mut node.key, &tweak);
    tweak.copy_from_slice(&z[32..]);
    add_little_endian(&mut node.right, &tweak);
    node.chain.copy_from_slice(&c[32..]);
    [&mut z[..], &mut c, &mut tweak].into_iter().for_each(wipe);
    match carry {
        0 => Ok(()),
        _ => Err(Error::InvalidChild { position: 1 }),
    }
}

/// Eight times the first 28 bytes, as a little-endian number.
pub(crate) fn eightfold(z: &[u8; 64]) -> [u8; 32] {
    let mut out = [0; 32];
    let mut carry = 0;
    for (out, byte) in out.iter_mut().zip(&z[..28]) {
        *out = byte << 3 | carry;
        carry = byte >> 5;
    }
    out[28] = carry;
    out
}

/// Adds modulo 2^256; the carry.
fn add_little_endian(sum: &mut [u8; 32], other: &[u8; 32]) -> u16 {
    let mut carry = 0;
    for (sum, other) in sum.iter_mut().zip(other) {
        let [low, high] = (u16::from(*sum) + u16::from(*other) + carry).to_le_bytes();
        *sum = low;
        carry = u16::from(high);
    }
    carry
}

fn serialized(node: &PrivateNode, public: Option<&[u8; 33]>) -> Result<[u8; 33], Error> {
    match public {
        Some(public) => Ok(*public),
        None => Ok(*node.public_key()?.serialized()),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;
    use crate::scheme::SeedScheme;

    /// Gives what it was told to, in order, and keeps what it was asked.
    struct Scripted {
        answers: RefCell<Vec<[u8; 64]>>,
        asked: RefCell<Vec<Vec<u8>>>,
    }

    impl Scripted {
        fn of(mut answers: Vec<[u8; 64]>) -> Self {
            answers.reverse();
            Self {
                answers: RefCell::new(answers),
                asked: RefCell::default(),
            }
        }
    }

    impl Prf for Scripted {
        fn mac_into(&self, pieces: &[&[u8]], out: &mut [u8; 64]) {
            self.asked.borrow_mut().push(pieces.concat());
            *out = self.answers.borrow_mut().pop().unwrap();
        }
    }

    fn image(left: [u8; 32], right: u8) -> [u8; 64] {
        let mut image = [right; 64];
        image[..32].copy_from_slice(&left);
        image
    }

    fn node(scheme: Scheme, key: u8) -> Box<PrivateNode> {
        let mut node = PrivateNode::blank(scheme, SeedScheme::Raw);
        node.key[31] = key;
        node
    }

    /// The order of secp256k1 less a small number, which is a key that a small number brings to zero.
    fn below_order(less: u8) -> [u8; 32] {
        let mut bytes = [0xFF; 32];
        bytes[15] = 0xFE;
        bytes[16..].copy_from_slice(&[
            0xBA, 0xAE, 0xDC, 0xE6, 0xAF, 0x48, 0xA0, 0x3B, 0xBF, 0xD2, 0x5E, 0x8C, 0xD0, 0x36,
            0x41, 0x41,
        ]);
        bytes[31] -= less;
        bytes
    }

    const SEVEN: [u8; 32] = {
        let mut bytes = [0; 32];
        bytes[31] = 7;
        bytes
    };

    #[test]
    fn t35_a_left_half_beyond_the_order_is_an_error_under_bip32_and_hashed_again_under_slip10() {
        let child = ChildIndex::hardened(5).unwrap();
        // Beyond the order, the order itself, and a sum of zero.
        for bad in [[0xFF; 32], below_order(0), below_order(3)] {
            let mut strict = node(Scheme::Bip32Secp256k1, 3);
            let prf = Scripted::of(vec![image(bad, 9)]);
            let made = step(&mut strict, &prf, child, None);
            assert_eq!(made, Err(Error::InvalidChild { position: 1 }));
            assert_eq!(prf.asked.borrow().len(), 1);

            let mut again = node(Scheme::Slip10Secp256k1, 3);
            let prf = Scripted::of(vec![image(bad, 9), image([0xFF; 32], 8), image(SEVEN, 6)]);
            step(&mut again, &prf, child, None).unwrap();
            assert_eq!(again.key[31], 10);
            assert_eq!(again.chain, [6; 32]);
            let asked = prf.asked.borrow();
            let number = [0x80, 0, 0, 5];
            assert_eq!(asked[1], [&[1][..], &[9; 32], &number].concat());
            assert_eq!(asked[2], [&[1][..], &[8; 32], &number].concat());
        }
    }

    #[test]
    fn t35_a_root_beyond_the_order_is_an_error_under_bip32_and_hashed_again_under_slip10() {
        for bad in [[0xFF; 32], below_order(0), [0; 32]] {
            let mut strict = node(Scheme::Bip32Secp256k1, 0);
            let prf = Scripted::of(vec![image(bad, 9)]);
            let made = root_by_hmac(&mut strict, &prf, &[1; 16], Invalid::Refuse);
            assert_eq!(made, Err(Error::InvalidRoot));

            let mut again = node(Scheme::Slip10Secp256k1, 0);
            let prf = Scripted::of(vec![image(bad, 9), image(SEVEN, 6)]);
            root_by_hmac(&mut again, &prf, &[1; 16], Invalid::HashAgain).unwrap();
            assert_eq!((again.key, again.chain), (SEVEN, [6; 32]));
            assert_eq!(prf.asked.borrow()[1], image(bad, 9));
        }
    }

    #[test]
    fn t35_below_255_levels_there_is_nothing_under_any_scheme() {
        for scheme in Scheme::ALL {
            let mut node = node(scheme, 3);
            node.depth = 255;
            let prf = Scripted::of(vec![]);
            let child = ChildIndex::hardened(0).unwrap();
            assert_eq!(step(&mut node, &prf, child, None), Err(Error::TooDeep));
        }
    }

    #[test]
    fn a_scalar_that_outgrows_its_bytes_is_no_child() {
        let mut node = node(Scheme::Bip32Ed25519V2, 0);
        node.key = [0xFF; 32];
        let prf = Scripted::of(vec![[0xFF; 64], [1; 64]]);
        let child = ChildIndex::hardened(0).unwrap();
        let made = step(&mut node, &prf, child, None);
        assert_eq!(made, Err(Error::InvalidChild { position: 1 }));
    }

    #[test]
    fn eight_times_is_a_shift_over_28_bytes() {
        let mut z = [0xFF; 64];
        let out = eightfold(&z);
        assert_eq!(out[0], 0xF8);
        assert_eq!(out[27], 0xFF);
        assert_eq!(out[28..], [7, 0, 0, 0]);
        z[..28].fill(0);
        z[0] = 1;
        assert_eq!(eightfold(&z)[..2], [8, 0]);
    }
}
