//! Against other people's trees, by the thousand.

use ed25519_bip32::{DerivationScheme, XPrv};
use keywright_hdkey::{ChildIndex, Path, PrivateNode, Scheme, Seed};
use keywright_mutate::SplitMix;

use crate::scene::{bytes, child, exported};

/// Derivations under the plain suite. Judges hash and multiply slowly when nothing is optimised.
const CASES: usize = 3_000;

fn bip32_agrees(dice: &mut SplitMix, levels: usize) -> Option<u8> {
    let length = [16, 32, 64][dice.below(3)];
    let seed = &bytes::<64>(dice)[..length];
    let mut root = PrivateNode::root(&Seed::raw(seed).unwrap(), Scheme::Bip32Secp256k1).unwrap();
    root.allow_soft();
    let children: Vec<ChildIndex> = (0..levels)
        .map(|_| child(dice, Scheme::Bip32Secp256k1))
        .collect();
    let node = root.derive(&Path::new(children.clone()).unwrap()).unwrap();
    let theirs = children
        .iter()
        .fold(bip32::XPrv::new(seed).unwrap(), |node, child| {
            node.derive_child(bip32::ChildNumber(child.to_raw()))
                .unwrap()
        });
    assert_eq!(
        exported(&node),
        theirs.to_bytes(),
        "{seed:02x?} {children:?}"
    );
    let public = theirs.public_key();
    assert_eq!(node.public_key().unwrap().as_bytes(), public.to_bytes());
    exported(&node).first().copied()
}

#[test]
fn t34_thousands_of_random_keys_are_those_of_the_bip32_crate() {
    let mut dice = SplitMix::new(34);
    let leading_zeros = (0..CASES)
        .filter(|_| {
            let levels = 1 + dice.below(2);
            bip32_agrees(&mut dice, levels) == Some(0)
        })
        .count();
    assert!(
        leading_zeros > 3,
        "keys that begin with zero are what this is about"
    );
}

#[test]
#[ignore = "a million derivations: minutes without optimisation"]
fn t34_a_million_random_keys_are_those_of_the_bip32_crate() {
    let mut dice = SplitMix::new(1_000_034);
    for _ in 0..1_000_000 {
        bip32_agrees(&mut dice, 1);
    }
}

/// Seeds are tried until a key on the way begins with zeros; its child is where they were lost elsewhere.
#[test]
fn t34_children_of_keys_with_leading_zeros_are_those_of_the_bip32_crate() {
    let mut met = 0;
    let mut number = 0_u32;
    while met < 40 {
        number += 1;
        let mut seed = [0; 32];
        seed[..4].copy_from_slice(&number.to_be_bytes());
        let parent = PrivateNode::root(&Seed::raw(&seed).unwrap(), Scheme::Bip32Secp256k1).unwrap();
        if exported(&parent)[0] != 0 {
            continue;
        }
        met += 1;
        for raw in [1 << 31, u32::MAX] {
            let path = Path::new(vec![ChildIndex::from_raw(raw)]).unwrap();
            let ours = parent.derive(&path).unwrap();
            let theirs = bip32::XPrv::new(&seed).unwrap();
            let theirs = theirs.derive_child(bip32::ChildNumber(raw)).unwrap();
            assert_eq!(exported(&ours), theirs.to_bytes());
        }
    }
}

fn ed25519_agrees(dice: &mut SplitMix, levels: usize) {
    let (key, chain) = (bytes::<32>(dice), bytes::<32>(dice));
    // Both clear the third-highest bit of the root.
    let seed = [key, chain].concat();
    let theirs = XPrv::from_nonextended_force(&key, &chain);
    let mut root = PrivateNode::root(&Seed::raw(&seed).unwrap(), Scheme::Bip32Ed25519V2).unwrap();
    root.allow_soft();
    let children: Vec<ChildIndex> = (0..levels)
        .map(|_| child(dice, Scheme::Bip32Ed25519V2))
        .collect();
    let ours = root.derive(&Path::new(children.clone()).unwrap()).unwrap();
    let theirs = children.iter().fold(theirs, |node, child| {
        node.derive(DerivationScheme::V2, child.to_raw())
    });
    assert_eq!(exported(&ours), theirs.extended_secret_key_bytes());
    assert_eq!(
        ours.public_key().unwrap().as_bytes(),
        theirs.public().public_key_bytes()
    );
    let signature = ours.sign_ed25519(b"message").unwrap();
    let expected: ed25519_bip32::Signature<u8> = theirs.sign(b"message");
    assert_eq!(signature[..], expected.to_bytes()[..]);
    assert!(
        ours.public_key()
            .unwrap()
            .verify_ed25519(b"message", &signature)
            .is_ok()
    );
}

#[test]
fn thousands_of_random_keys_are_those_of_the_ed25519_bip32_crate() {
    let mut dice = SplitMix::new(35);
    for _ in 0..CASES {
        let levels = 1 + dice.below(5);
        ed25519_agrees(&mut dice, levels);
    }
}

#[test]
#[ignore = "a hundred thousand derivations: minutes without optimisation"]
fn a_hundred_thousand_random_keys_are_those_of_the_ed25519_bip32_crate() {
    let mut dice = SplitMix::new(100_035);
    for _ in 0..100_000 {
        ed25519_agrees(&mut dice, 2);
    }
}

/// Private and public parents make the same soft children under every scheme that has any.
#[test]
fn public_parents_make_the_public_keys_of_soft_children() {
    let mut dice = SplitMix::new(36);
    for scheme in crate::scene::INDEXED
        .into_iter()
        .filter(|one| one.has_soft_children())
    {
        for _ in 0..100 {
            let seed = Seed::raw(&bytes::<64>(&mut dice)).unwrap();
            let mut root = PrivateNode::root(&seed, scheme).unwrap();
            root.allow_soft();
            let public = root.share_public().unwrap();
            let soft =
                |dice: &mut SplitMix| ChildIndex::soft(child(dice, scheme).number()).unwrap();
            let children = vec![soft(&mut dice), soft(&mut dice)];
            let path = Path::new(children).unwrap();
            let ours = root.derive(&path).unwrap().public_key().unwrap();
            assert_eq!(
                *public.derive(&path).unwrap().key(),
                ours,
                "{scheme} {path}"
            );
        }
    }
}
