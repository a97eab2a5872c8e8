//! A ciphertext whose GCM tag fits under two keys opens under one of them only.
//!
//! GCM's tag is a polynomial in a secret point, so somebody who knows two keys can choose one block such
//! that both polynomials give the same tag. That attack is carried out here against the AEAD alone, where
//! it succeeds, and then against the envelope, where the commitment stops it.

use keywright_envelope::{Aad, Binding, Envelope, derive};
use keywright_primitives::aead::{Aes256Gcm, Xaes256Gcm};
use keywright_primitives::kdf::expand_sha256;
use keywright_types::Suite;

use crate::scene::{identity, open, sealed};

const NONCE: [u8; 24] = [0x22; 24];
const KEYS: [[u8; 32]; 2] = [[0x42; 32], [0x43; 32]];

/// An element of GF(2^128) in GCM's order of bits: the first bit of the first byte is the constant term.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Element(u128);

const ONE: Element = Element(1 << 127);
const ZERO: Element = Element(0);

impl Element {
    fn of(block: &[u8]) -> Self {
        let mut bytes = [0; 16];
        bytes[..block.len()].copy_from_slice(block);
        Self(u128::from_be_bytes(bytes))
    }

    fn plus(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }

    /// SP 800-38D, algorithm 1.
    fn times(self, other: Self) -> Self {
        let (mut z, mut v) = (0, other.0);
        for bit in (0..128).rev() {
            if self.0 >> bit & 1 == 1 {
                z ^= v;
            }
            v = if v & 1 == 1 {
                v >> 1 ^ 0xE1 << 120
            } else {
                v >> 1
            };
        }
        Self(z)
    }

    /// The power 2^128 - 2, which undoes `times`.
    fn inverse(self) -> Self {
        let (mut result, mut square) = (ONE, self);
        for _ in 1..128 {
            square = square.times(square);
            result = result.times(square);
        }
        result
    }
}

/// The point H and the mask of the tag, drawn out of an oracle that seals: aad and text to tag.
struct Secrets {
    h: Element,
    mask: Element,
}

impl Secrets {
    fn draw(tag: impl Fn(&[u8]) -> [u8; 16]) -> Self {
        // Nothing at all is authenticated as a block of zero lengths: the tag is the mask.
        let mask = Element::of(&tag(&[]));
        // A block of zeros adds nothing, its length L times H does.
        let lengths = lengths(16, 0);
        let h = Element::of(&tag(&[0; 16]))
            .plus(mask)
            .times(lengths.inverse());
        Self { h, mask }
    }

    fn tag(&self, blocks: &[Element]) -> Element {
        let ghash = blocks
            .iter()
            .fold(ZERO, |sum, block| sum.plus(*block).times(self.h));
        ghash.plus(self.mask)
    }

    /// H to the power.
    fn power(&self, power: usize) -> Element {
        (0..power).fold(ONE, |product, _| product.times(self.h))
    }
}

fn lengths(aad: u64, text: u64) -> Element {
    Element(u128::from(aad * 8) << 64 | u128::from(text * 8))
}

/// Ciphertext of 32 bytes and a tag that fits under both secrets: the second block is solved for.
fn collide(first: &Secrets, second: &Secrets, aad: &[u8]) -> ([u8; 32], [u8; 16]) {
    let aad_len = u64::try_from(aad.len()).unwrap();
    let mut blocks: Vec<_> = aad.chunks(16).map(Element::of).collect();
    blocks.extend([Element::of(b"chosen freely..."), ZERO, lengths(aad_len, 32)]);
    let difference = first.tag(&blocks).plus(second.tag(&blocks));
    // The free block stands before the block of lengths, so it is multiplied by H squared.
    let weight = first.power(2).plus(second.power(2));
    let free = blocks.len() - 2;
    blocks[free] = difference.times(weight.inverse());
    let tag = first.tag(&blocks);
    assert_eq!(tag, second.tag(&blocks), "the equation is solved");
    let mut text = [0; 32];
    text[..16].copy_from_slice(&blocks[free - 1].0.to_be_bytes());
    text[16..].copy_from_slice(&blocks[free].0.to_be_bytes());
    (text, tag.0.to_be_bytes())
}

fn subkey(k: &[u8; 32], suite: Suite) -> [u8; 32] {
    let of = identity(suite);
    let info: [&[u8]; 4] = [
        b"keywright/seal/v1",
        &[of.suite.number(), of.kind.number()],
        of.key.as_bytes(),
        &of.version.number().to_be_bytes(),
    ];
    let mut made = [0; 64];
    expand_sha256(k, &info, &mut made).unwrap();
    made[..32].try_into().unwrap()
}

#[test]
fn arithmetic_of_the_attack_is_right() {
    let x = Element(0x66e9_4bd4_ef8a_2c3b_884c_fa59_ca34_2b2e);
    assert_eq!(x.times(ONE), x);
    assert_eq!(x.times(x.inverse()), ONE);
    // SP 800-38D's test case 2: GHASH of one block under the zero key's point.
    let block = Element(0x0388_dace_60b6_a392_f328_c2b9_71b2_fe78);
    let sum = block.times(x).plus(lengths(0, 16)).times(x);
    assert_eq!(sum, Element(0xf38c_bb1a_d692_23dc_c345_7ae5_b6b0_f885));
}

#[test]
fn suite_1_a_tag_that_fits_two_keys_opens_under_the_committed_one_only() {
    let aeads = KEYS.map(|k| Xaes256Gcm::new(&subkey(&k, Suite::Xaes256Gcm)).unwrap());
    let draw = |aead: &Xaes256Gcm| Secrets::draw(|aad| aead.seal(&NONCE, aad, &mut []).unwrap());
    // All that is authenticated besides the text is the header, which is the same for both.
    let good = sealed(Suite::Xaes256Gcm, Binding::None, &Aad::EMPTY, &[0; 32]);
    let header = &good[..26];
    let (text, tag) = collide(&draw(&aeads[0]), &draw(&aeads[1]), header);

    let texts = aeads.each_ref().map(|aead| {
        let mut opened = text;
        aead.open(&NONCE, header, &mut opened, &tag)
            .expect("the AEAD alone takes it");
        opened
    });
    assert_ne!(texts[0], texts[1], "one ciphertext, two texts");

    for (index, k) in KEYS.iter().enumerate() {
        let (sealing, _) = derive(k, identity(Suite::Xaes256Gcm)).unwrap();
        let own = keywright_envelope::hazmat::seal_with_nonce(
            &sealing,
            Binding::None,
            &Aad::EMPTY,
            b"",
            &NONCE,
        )
        .unwrap();
        // Header, nonce and this key's commitment, then the colliding text.
        let forged = [&own[..82], &text, &tag].concat();
        assert!(Envelope::parse(&forged).is_ok());
        for (other, k) in KEYS.iter().enumerate() {
            let (_, opening) = derive(k, identity(Suite::Xaes256Gcm)).unwrap();
            let opened = open(&opening, &forged, &Aad::EMPTY);
            let expected = (other == index).then(|| texts[index].to_vec());
            assert_eq!(
                opened, expected,
                "committed to {index}, opened with {other}"
            );
        }
    }
}

#[test]
fn suite_3_a_tag_that_fits_two_keys_opens_under_neither() {
    let nonce = NONCE.first_chunk().unwrap();
    let aeads = KEYS.map(|k| Aes256Gcm::new(&k).unwrap());
    let draw = |aead: &Aes256Gcm| Secrets::draw(|aad| aead.seal(nonce, aad, &mut []).unwrap());
    let good = sealed(Suite::TokenGcm12, Binding::None, &Aad::EMPTY, b"");
    let (text, tag) = collide(&draw(&aeads[0]), &draw(&aeads[1]), &good[..26]);
    for (aead, k) in aeads.iter().zip(KEYS) {
        assert!(
            aead.open(nonce, &good[..26], &mut text.clone(), &tag)
                .is_ok()
        );
        let forged = [&good[..38], &text, &tag].concat();
        let (_, opening) = derive(&k, identity(Suite::TokenGcm12)).unwrap();
        assert_eq!(
            open(&opening, &forged, &Aad::EMPTY),
            None,
            "the zeros are the commitment"
        );
    }
}
