//! Faults that were made elsewhere, one test each.

use keywright_hdkey::extended::ExtendedKey;
use keywright_hdkey::identus::{Purpose, key_path, purpose_of};
use keywright_hdkey::mnemonic::{
    APOLLO_SALTS, Mnemonic, MnemonicError, PhraseCheck, apollo_seed, phrase_seed,
};
use keywright_hdkey::{Digest, Error, PrivateNode, Scheme, SeedScheme};
use keywright_primitives::hash::sha512;

use crate::scene::{INDEXED, PRISM, exported, path, root, seed, unhex};

/// One soft child's private key less what its public parent adds is the parent's private key.
#[test]
fn t37_a_soft_childs_private_key_and_the_public_parent_give_the_parents_private_key() {
    let mut parent = root(Scheme::Bip32Secp256k1);
    let child = exported(&parent.derive(&path("m/5")).unwrap());
    let secret = exported(&parent);
    let public = parent.share_public().unwrap();
    // What an attacker computes: HMAC over public values, and a subtraction.
    let mac = keywright_primitives::mac::HmacSha512::new(public.chain_code()).unwrap();
    let image = mac.mac_pieces(&[public.key().as_bytes(), &5_u32.to_be_bytes()]);
    let mut tweak: [u8; 32] = image[..32].try_into().unwrap();
    negate(&mut tweak);
    let mut found: [u8; 32] = child.try_into().unwrap();
    keywright_primitives::secp256k1::tweak_private(&mut found, &tweak).unwrap();
    assert_eq!(found[..], secret);
}

/// The order of secp256k1 less a number.
fn negate(number: &mut [u8; 32]) {
    let order = unhex("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141");
    let mut borrow = 0;
    for (digit, order) in number.iter_mut().zip(order).rev() {
        let rest = i32::from(order) - i32::from(*digit) - borrow;
        borrow = i32::from(rest < 0);
        *digit = u8::try_from(rest.rem_euclid(256)).unwrap();
    }
}

#[test]
fn t37_soft_children_are_off_and_after_a_public_node_no_private_key_below_it_leaves() {
    for scheme in INDEXED {
        let mut strict = PrivateNode::root(&seed(), scheme).unwrap();
        assert!(strict.derive(&path("m/0")).is_err());
        let refused = strict.share_public().err().unwrap();
        assert_eq!(refused == Error::PublicNodesOff, scheme.has_soft_children());
        assert!(strict.export().is_ok());
    }
    for scheme in INDEXED
        .into_iter()
        .filter(|scheme| scheme.has_soft_children())
    {
        let above = root(scheme);
        let mut account = above.derive(&path("m/44'/0'/0'")).unwrap();
        assert!(account.export().is_ok());
        account.share_public().unwrap();
        let shared = Some(Error::PublicNodeShared);
        assert_eq!(account.export().err(), shared);
        for below in ["m/0", "m/0/1", "m/0'", "m/0'/1'"] {
            let leaf = account.derive(&path(below)).unwrap();
            assert_eq!(leaf.export().err(), shared, "{scheme} {below}");
            assert!(leaf.public_key().is_ok());
            assert!(leaf.to_xprv().is_err());
        }
        assert!(above.export().is_ok());
    }
}

/// The values of SLIP-0010 and of the second form of BIP32-Ed25519 over one seed and path, as constants, so
/// that a change of either shows.
#[test]
fn t38_the_ed25519_schemes_differ_and_each_key_says_which_it_is() {
    let at = path("m/29'/29'/0'/4'/0'");
    let made = INDEXED.map(|scheme| PrivateNode::derive_from(&seed(), scheme, &at).unwrap());
    for (place, node) in made.iter().enumerate() {
        let key = node.export().unwrap();
        assert_eq!(
            (key.scheme, key.seed_scheme),
            (INDEXED[place], SeedScheme::Raw)
        );
        assert_eq!(node.public_key().unwrap().scheme(), INDEXED[place]);
        for (other_place, other) in made[..place].iter().enumerate() {
            let same_curve = (INDEXED[other_place], INDEXED[place])
                == (Scheme::Bip32Secp256k1, Scheme::Slip10Secp256k1);
            let same = exported(other)[..32] == key.key.expose()[..32];
            // These two differ only where a number is beyond the order.
            assert_eq!(
                same, same_curve,
                "{} {}",
                INDEXED[other_place], INDEXED[place]
            );
        }
    }
    let signature = made[3].sign_ed25519(b"m").unwrap();
    let other = made[5].public_key().unwrap();
    assert_eq!(other.verify_ed25519(b"m", &signature), Err(Error::Rejected));
}

#[test]
fn t38_a_text_of_one_scheme_is_not_read_as_another() {
    let text = root(Scheme::Bip32Secp256k1).to_xprv().unwrap();
    let text = std::str::from_utf8(text.expose()).unwrap();
    for scheme in INDEXED {
        match ExtendedKey::parse(text, scheme) {
            Ok(ExtendedKey::Private(node)) => {
                assert_eq!(node.scheme(), scheme);
                assert!(scheme.name().ends_with("secp256k1"));
            }
            Ok(_) => panic!("not private"),
            Err(error) => assert!(matches!(error, Error::WrongUse { .. })),
        }
    }
    for name in ["ed25519", "", "bip32"] {
        assert!(name.parse::<Scheme>().is_err());
    }
}

/// The third-highest bit of this seed's hash is set, so a missing mask shows.
#[test]
fn t38_the_root_of_ed25519_is_masked_in_three_bits_above_and_three_below() {
    let seed = apollo_seed(PRISM, "", PhraseCheck::Require).unwrap();
    let hash = sha512(&seed.expose()[..32]);
    assert_eq!(hash[31] & 0x20, 0x20);
    let root = PrivateNode::root(&seed, Scheme::Bip32Ed25519V2).unwrap();
    let key = exported(&root);
    assert_eq!(key[31], (hash[31] & 0x1F) | 0x40);
    assert_eq!(key[0], hash[0] & 0xF8);
    assert_eq!(key[1..31], hash[1..31]);
    assert_eq!(key[32..], hash[32..]);
    // Little-endian numbers: big-endian ones would make the children 1 and 2^24 swap places.
    let child = |at: &str| exported(&root.derive(&path(at)).unwrap());
    assert_ne!(child("m/1'"), child("m/16777216'"));
}

#[test]
fn t39_four_salts_give_four_seeds_and_only_one_is_bip39() {
    let begins = [
        "3b32a5049f2b4e3a",
        "97375283db62de32",
        "0aba4391c2335d11",
        "6ffe61f076fb7bfe",
    ];
    for (salt, begins) in APOLLO_SALTS.iter().zip(begins) {
        let seed = apollo_seed(PRISM, salt, PhraseCheck::Require).unwrap();
        assert_eq!(seed.expose()[..8], unhex(begins), "{salt}");
        assert_eq!(seed.scheme(), SeedScheme::Apollo);
    }
    let standard = Mnemonic::parse(PRISM).unwrap().to_seed("");
    assert_eq!(standard.expose()[..8], unhex(begins[1]));
    assert_eq!(standard.scheme(), SeedScheme::Bip39);
}

/// Twelve words of one list each, with their checksum: the bits 0 eleven times and a last word.
const PHRASES: [[&str; 2]; 9] = [
    ["\u{7684}", "\u{5728}"],
    ["abdikace", "agrese"],
    ["abaisser", "abeille"],
    ["abaco", "abete"],
    ["あいこくしん", "あおぞら"],
    ["가격", "가능"],
    ["abacate", "abater"],
    ["ábaco", "abierto"],
    ["abandon", "about"],
];

fn phrase([first, last]: [&str; 2]) -> String {
    format!("{}{last}", format!("{first} ").repeat(11))
}

#[test]
fn phrases_of_every_list_need_count_list_and_checksum() {
    let check = |text: &str| phrase_seed(text, "", PhraseCheck::Require).map(|_| ());
    for [first, last] in PHRASES {
        let good = phrase([first, last]);
        assert_eq!(check(&good), Ok(()), "{good}");
        // Composed or not, and with the space that Japanese phrases have.
        assert_eq!(check(&good.replace(' ', "\u{3000}")), Ok(()));
        let wrong = MnemonicError::Checksum { position: 12 };
        assert_eq!(check(&phrase([first, first])), Err(wrong), "{first}");
        let swapped = format!("{last} {}", format!("{first} ").repeat(11));
        assert_eq!(check(&swapped), Err(wrong), "{first}");
        let found = 11;
        let short = good.split_once(' ').unwrap().1;
        assert_eq!(check(short), Err(MnemonicError::WordCount { found }));
        for position in [1, 5, 12] {
            let mut words: Vec<&str> = good.split(' ').collect();
            words[position - 1] = "x";
            let wrong = MnemonicError::UnlistedWord { position };
            assert_eq!(check(&words.join(" ")), Err(wrong), "{first} {position}");
        }
    }
    for nothing in ["", " ", "\n\t ", ": |", "a", "0"] {
        assert!(matches!(
            check(nothing),
            Err(MnemonicError::WordCount { .. })
        ));
    }
    // Words of two lists are a phrase of none.
    let mixed = format!("{}{}", "abandon ".repeat(6), "abaco ".repeat(6));
    let wrong = MnemonicError::UnlistedWord { position: 7 };
    assert_eq!(check(&mixed), Err(wrong));
}

#[test]
fn without_a_check_any_words_make_a_seed_but_not_no_words() {
    let seed = |text: &str| phrase_seed(text, "", PhraseCheck::Skip);
    assert!(seed("a").is_ok());
    assert!(seed(&phrase(["абзац", "абзац"])).is_ok());
    for nothing in ["", " ", "\u{3000}\n"] {
        let found = 0;
        let wrong = Some(MnemonicError::WordCount { found });
        assert_eq!(seed(nothing).err(), wrong);
        assert_eq!(apollo_seed(nothing, "", PhraseCheck::Skip).err(), wrong);
        assert_eq!(apollo_seed(nothing, "", PhraseCheck::Require).err(), wrong);
    }
}

#[test]
fn t39_the_two_ways_part_at_checksum_count_and_normalisation() {
    // Eleven words, thirteen, and a checksum that does not fit: imported only without a check.
    let words: Vec<&str> = PRISM.split_whitespace().collect();
    for many in [
        words[..11].join(" "),
        words[..13].join(" "),
        words[1..].join(" "),
    ] {
        assert!(Mnemonic::parse(&many).is_err());
        assert!(apollo_seed(&many, "", PhraseCheck::Require).is_err());
        assert!(apollo_seed(&many, "", PhraseCheck::Skip).is_ok());
    }
    let (composed, decomposed) = ("\u{e9}", "e\u{301}");
    let mnemonic = Mnemonic::parse(PRISM).unwrap();
    assert_eq!(
        mnemonic.to_seed(composed).expose(),
        mnemonic.to_seed(decomposed).expose()
    );
    let apollo = |salt| {
        apollo_seed(PRISM, salt, PhraseCheck::Require)
            .unwrap()
            .expose()
            .to_vec()
    };
    assert_ne!(apollo(composed), apollo(decomposed));
}

/// Under another public key the same nonce would answer another challenge, and two answers give the key.
/// There is no call that takes a public key beside a private one, so a signature always fits the key's own.
#[test]
fn t40_ed25519_signs_under_its_own_public_key_only() {
    for scheme in [Scheme::Slip10Ed25519, Scheme::Bip32Ed25519V2] {
        let (node, other) = (root(scheme), root(scheme).derive(&path("m/1'")).unwrap());
        let first = node.sign_ed25519(b"message").unwrap();
        assert_eq!(first, node.sign_ed25519(b"message").unwrap());
        let (own, foreign) = (node.public_key().unwrap(), other.public_key().unwrap());
        assert_eq!(own.verify_ed25519(b"message", &first), Ok(()));
        assert_eq!(
            foreign.verify_ed25519(b"message", &first),
            Err(Error::Rejected)
        );
        // Another message has another nonce, so R never repeats.
        assert_ne!(first[..32], node.sign_ed25519(b"massage").unwrap()[..32]);
    }
}

#[test]
fn t41_one_secret_is_never_a_key_of_ed25519_and_of_x25519() {
    let at = path("m/29'/29'/0'/3'/0'");
    let signs = root(Scheme::Slip10Ed25519).derive(&at).unwrap();
    let agrees = root(Scheme::Slip10Curve25519).derive(&at).unwrap();
    assert_ne!(exported(&signs), exported(&agrees));
    assert!(matches!(
        signs.agree(&agrees.public_key().unwrap()),
        Err(Error::WrongUse { .. })
    ));
    assert!(matches!(
        agrees.sign_ed25519(b"m"),
        Err(Error::WrongUse { .. })
    ));
    assert!(matches!(
        agrees.public_key().unwrap().verify_ed25519(b"m", &[0; 64]),
        Err(Error::WrongUse { .. })
    ));
}

#[test]
fn purposes_say_whether_a_key_signs_or_agrees() {
    for purpose in Purpose::ALL {
        let at = key_path(7, purpose, 9).unwrap();
        assert_eq!(purpose_of(&at), Some(purpose));
        assert_eq!(purpose.agrees(), purpose == Purpose::KeyAgreement);
        assert_eq!(Purpose::from_name(purpose.name()), Some(purpose));
    }
    for other in [
        "m",
        "m/29'/29'/0'/9'/0'",
        "m/29'/29'/0'/0'/0'",
        "m/29'/29'/0'/1'/0",
        "m/29'/0'/0'/1'",
    ] {
        assert_eq!(purpose_of(&path(other)), None, "{other}");
    }
    assert!(key_path(1 << 31, Purpose::Master, 0).is_err());
    assert!(key_path(0, Purpose::Master, 1 << 31).is_err());
}

/// The library of Identus returns the root's key where a path is missing; here a path is always given.
#[test]
fn the_root_is_a_key_of_its_own() {
    let root = root(Scheme::Bip32Secp256k1);
    assert_eq!(exported(&root.derive(&path("m")).unwrap()), exported(&root));
    assert_ne!(
        exported(&root.derive(&path("m/0'")).unwrap()),
        exported(&root)
    );
    let digest = Digest::from_bytes([3; 32]);
    assert!(root.sign_ecdsa(&digest).is_ok());
}
