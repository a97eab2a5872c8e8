//! What the tests share.

use keywright_encoding::hex;
use keywright_hdkey::{ChildIndex, Path, PrivateNode, Scheme, Seed};
use keywright_mutate::SplitMix;
use keywright_vectors::Tally;
use serde_json::Value;

/// Schemes whose trees have indices.
pub(crate) const INDEXED: [Scheme; 6] = [
    Scheme::Bip32Secp256k1,
    Scheme::Slip10Secp256k1,
    Scheme::Slip10NistP256,
    Scheme::Slip10Ed25519,
    Scheme::Slip10Curve25519,
    Scheme::Bip32Ed25519V2,
];

/// The mnemonic that the method of PRISM publishes.
pub(crate) const PRISM: &str = "vacuum only object oxygen sell engine firm fiscal shiver finish village \
    clock limit unable reject lawn hard adapt plunge between lawsuit stuff educate knock";

pub(crate) fn unhex(text: &str) -> Vec<u8> {
    hex::decode(&text.to_ascii_lowercase()).unwrap()
}

pub(crate) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap()
}

pub(crate) fn path(text: &str) -> Path {
    text.parse().unwrap()
}

pub(crate) fn seed() -> Seed {
    Seed::raw(&[0x2A; 64]).unwrap()
}

/// A root whose soft children are on where the scheme has any.
pub(crate) fn root(scheme: Scheme) -> Box<PrivateNode> {
    let mut root = PrivateNode::root(&seed(), scheme).unwrap();
    if scheme.has_soft_children() {
        root.allow_soft();
    }
    root
}

pub(crate) fn exported(node: &PrivateNode) -> Vec<u8> {
    node.export().unwrap().key.expose().to_vec()
}

pub(crate) fn bytes<const N: usize>(dice: &mut SplitMix) -> [u8; N] {
    let mut out = [0; N];
    out.iter_mut().for_each(|byte| *byte = dice.byte());
    out
}

pub(crate) fn child(dice: &mut SplitMix, scheme: Scheme) -> ChildIndex {
    let raw = u32::from_be_bytes(bytes(dice));
    // Small numbers are what wallets use.
    let raw = if dice.below(2) == 0 {
        raw & 0x8000_000F
    } else {
        raw
    };
    match scheme.has_soft_children() {
        true => ChildIndex::from_raw(raw),
        false => ChildIndex::from_raw(raw | 1 << 31),
    }
}

pub(crate) fn absent(tally: &mut Tally, cases: u64) {
    tally.skip("the folder of vectors is absent", cases);
}
