//! What is wrong is refused, each with its reason.

use keywright_hdkey::extended::{ExtendedKey, ExtendedKeyError as Wrong};
use keywright_hdkey::mnemonic::{Mnemonic, MnemonicError, PhraseCheck, WordCount, apollo_seed};
use keywright_hdkey::{
    ChildIndex, Digest, Error, Path, PathError, PrivateNode, PublicKey, Scheme, Seed, SeedScheme,
};
use keywright_primitives::random::RandomStream;
use keywright_vectors::{Family, Tally};

use crate::scene::{INDEXED, PRISM, absent, path, root, seed, text};

// === Paths ===

#[test]
fn t35_bad_paths_name_the_component() {
    use PathError::{Empty, LeadingZero, NoRoot, Syntax, TooLarge};
    let cases: &[(&str, PathError)] = &[
        ("", NoRoot),
        ("/", NoRoot),
        ("M", NoRoot),
        ("M/0", NoRoot),
        ("m'", NoRoot),
        ("m0", NoRoot),
        ("mm", NoRoot),
        ("n/0", NoRoot),
        (" m", NoRoot),
        ("m ", NoRoot),
        ("0/1", NoRoot),
        ("/0", NoRoot),
        ("m/", Empty { position: 1 }),
        ("m//", Empty { position: 1 }),
        ("m//1", Empty { position: 1 }),
        ("m/1//2", Empty { position: 2 }),
        ("m/1/", Empty { position: 2 }),
        ("m/1/2/", Empty { position: 3 }),
        ("m/'", Syntax { position: 1 }),
        ("m/h", Syntax { position: 1 }),
        ("m/1''", Syntax { position: 1 }),
        ("m/1'h", Syntax { position: 1 }),
        ("m/'1", Syntax { position: 1 }),
        ("m/-1", Syntax { position: 1 }),
        ("m/+1", Syntax { position: 1 }),
        ("m/ 1", Syntax { position: 1 }),
        ("m/1 ", Syntax { position: 1 }),
        ("m/1 '", Syntax { position: 1 }),
        ("m/0x1", Syntax { position: 1 }),
        ("m/1.0", Syntax { position: 1 }),
        ("m/1e3", Syntax { position: 1 }),
        ("m/0/a", Syntax { position: 2 }),
        ("m/0/*", Syntax { position: 2 }),
        ("m/0\\1", Syntax { position: 1 }),
        ("m/٣", Syntax { position: 1 }),
        ("m/1’", Syntax { position: 1 }),
        ("m/0\0", Syntax { position: 1 }),
        ("m/00", LeadingZero { position: 1 }),
        ("m/0/01'", LeadingZero { position: 2 }),
        ("m/2147483648", TooLarge { position: 1 }),
        ("m/2147483648'", TooLarge { position: 1 }),
        ("m/4294967295", TooLarge { position: 1 }),
        ("m/4294967296", TooLarge { position: 1 }),
        ("m/0/99999999999999999999999", TooLarge { position: 2 }),
    ];
    for (bad, expected) in cases {
        assert_eq!(bad.parse::<Path>(), Err(*expected), "{bad:?}");
        assert!(expected.to_string().len() > 10);
    }
}

#[test]
fn paths_come_back_in_one_spelling() {
    for (given, written) in [
        ("m", "m"),
        ("m/0", "m/0"),
        ("m/0'", "m/0'"),
        ("m/0h/1H/2", "m/0'/1'/2"),
        ("m/2147483647h", "m/2147483647'"),
        ("m/44'/0'/0'/0/10", "m/44'/0'/0'/0/10"),
    ] {
        assert_eq!(path(given).to_string(), written);
        assert_eq!(path(written), path(given));
    }
}

#[test]
fn t35_a_path_has_at_most_255_levels_and_a_tree_no_more() {
    let deepest = "/0'".repeat(255);
    let at = path(&format!("m{deepest}"));
    for scheme in INDEXED {
        let leaf = root(scheme).derive(&at).unwrap();
        assert_eq!(leaf.depth(), 255);
        assert_eq!(
            leaf.derive(&path("m/0'")).err(),
            Some(Error::TooDeep),
            "{scheme}"
        );
    }
    let beyond: Result<Path, PathError> = format!("m{deepest}/0'").parse();
    assert_eq!(beyond, Err(PathError::TooDeep));
    let child = ChildIndex::hardened(0).unwrap();
    assert_eq!(at.join(child), Err(PathError::TooDeep));
    assert_eq!(Path::new(vec![child; 256]), Err(PathError::TooDeep));
    assert!(ChildIndex::hardened(1 << 31).is_none());
    assert!(ChildIndex::soft(1 << 31).is_none());
}

#[test]
fn children_that_are_not_hardened_are_refused_with_their_place() {
    let at = path("m/0'/1/2'");
    for scheme in INDEXED {
        let strict = PrivateNode::root(&seed(), scheme).unwrap();
        let expected = match scheme.has_soft_children() {
            true => Error::SoftChild { position: 2 },
            false => Error::HardenedOnly {
                scheme,
                position: 2,
            },
        };
        assert_eq!(strict.derive(&at).err(), Some(expected));
        let mut loose = PrivateNode::root(&seed(), scheme).unwrap();
        loose.allow_soft();
        assert_eq!(
            loose.derive(&at).is_ok(),
            scheme.has_soft_children(),
            "{scheme}"
        );
    }
    let mut account = root(Scheme::Bip32Secp256k1);
    let public = account.share_public().unwrap();
    assert_eq!(
        public.derive(&path("m/1/2'")).err(),
        Some(Error::HardenedPublicChild { position: 2 })
    );
}

// === Extended keys ===

#[test]
fn t36_sixteen_invalid_keys_each_for_its_reason() {
    let mut tally = Tally::new("bip32-invalid");
    let Some(file) = Family::locate("bip32").json("bip32_vectors.json").unwrap() else {
        absent(&mut tally, 16);
        return tally.finish().unwrap();
    };
    for case in file["invalid"].as_array().unwrap() {
        let reason = text(case, "reason");
        let private = text(case, "key").starts_with("xprv");
        let expected = match reason {
            "pubkey version / prvkey mismatch" => Wrong::PrivateInPublic,
            "prvkey version / pubkey mismatch" => Wrong::PublicInPrivate,
            "invalid pubkey prefix 04" => Wrong::PublicPrefix { first: 4 },
            "invalid prvkey prefix 04" => Wrong::PrivatePrefix { first: 4 },
            "invalid pubkey prefix 01" => Wrong::PublicPrefix { first: 1 },
            "invalid prvkey prefix 01" => Wrong::PrivatePrefix { first: 1 },
            "zero depth with non-zero parent fingerprint" => Wrong::RootWithParent,
            "zero depth with non-zero index" => Wrong::RootWithIndex,
            "unknown extended key version" => Wrong::Version,
            "private key 0 not in 1..n-1" => Wrong::PrivateZero,
            "private key n not in 1..n-1" => Wrong::PrivateTooLarge,
            "invalid checksum" => Wrong::Checksum,
            _ if !private && reason.starts_with("invalid pubkey 02") => Wrong::NotOnCurve,
            other => panic!("a reason that is not known: {other}"),
        };
        let got = ExtendedKey::parse(text(case, "key"), Scheme::Bip32Secp256k1);
        tally.check(reason, got.err() == Some(Error::Extended(expected)));
    }
    assert_eq!(tally.total(), 16);
    tally.finish().unwrap();
}

#[test]
fn texts_that_are_no_extended_keys_are_refused() {
    let good = "xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi";
    let parse = |text: &str| ExtendedKey::parse(text, Scheme::Bip32Secp256k1).map(|_| ());
    assert_eq!(parse(good), Ok(()));
    let wrong = |reason| Err(Error::Extended(reason));
    assert_eq!(parse(""), wrong(Wrong::Length));
    assert_eq!(parse("xprv"), wrong(Wrong::Length));
    assert_eq!(
        parse(&format!(" {good}")),
        wrong(Wrong::Character { position: 1 })
    );
    assert_eq!(
        parse(&format!("{good}\n")),
        wrong(Wrong::Character { position: 112 })
    );
    assert_eq!(
        parse(&good.replace('3', "0")),
        wrong(Wrong::Character { position: 15 })
    );
    assert_eq!(parse(&good[..110]), wrong(Wrong::Length));
    assert_eq!(parse(&format!("{good}1")), wrong(Wrong::Length));
    assert_eq!(parse(&"z".repeat(100_000)), wrong(Wrong::Length));
    for scheme in Scheme::ALL {
        let curve = matches!(scheme, Scheme::Bip32Secp256k1 | Scheme::Slip10Secp256k1);
        assert_eq!(ExtendedKey::parse(good, scheme).is_ok(), curve, "{scheme}");
    }
}

#[test]
fn extended_keys_leave_only_where_soft_children_are_on_and_the_parent_is_known() {
    let strict = PrivateNode::root(&seed(), Scheme::Bip32Secp256k1).unwrap();
    assert_eq!(strict.to_xprv().err(), Some(Error::PublicNodesOff));
    let loose = root(Scheme::Bip32Secp256k1);
    let unknown = Some(Error::Extended(Wrong::ParentUnknown));
    assert_eq!(
        loose.derive(&path("m/1'")).unwrap().to_xprv().err(),
        unknown
    );
    assert!(
        loose
            .derive_with_parent(&path("m/1'"))
            .unwrap()
            .to_xprv()
            .is_ok()
    );
    for scheme in [
        Scheme::Slip10NistP256,
        Scheme::Slip10Ed25519,
        Scheme::Bip32Ed25519V2,
    ] {
        let refused = root(scheme).to_xprv().err();
        assert!(matches!(refused, Some(Error::WrongUse { .. })), "{scheme}");
    }
}

// === Mnemonics and seeds ===

#[test]
fn t39_words_that_are_no_mnemonic_are_refused_with_the_word_that_is_wrong() {
    let words: Vec<&str> = PRISM.split_whitespace().collect();
    let parse = |words: &[&str]| Mnemonic::parse(&words.join(" ")).map(|_| ());
    for found in (0..=30).filter(|count| !WordCount::ALL.iter().any(|one| one.words() == *count)) {
        let many: Vec<&str> = words.iter().copied().cycle().take(found).collect();
        assert_eq!(parse(&many), Err(MnemonicError::WordCount { found }));
    }
    assert_eq!(parse(&words), Ok(()));
    for position in 1..=24 {
        for bad in ["abandonn", "Vacuum", "zzz", "1", "é"] {
            let mut changed = words.clone();
            changed[position - 1] = bad;
            assert_eq!(
                parse(&changed),
                Err(MnemonicError::UnknownWord { position })
            );
            let seed = apollo_seed(&changed.join(" "), "", PhraseCheck::Skip).map(|_| ());
            assert_eq!(seed, Err(MnemonicError::UnknownWord { position }));
        }
    }
    let mut changed = words.clone();
    changed[23] = "zoo";
    assert_eq!(
        parse(&changed),
        Err(MnemonicError::Checksum { position: 24 })
    );
    let mut swapped = words;
    swapped.swap(0, 1);
    assert_eq!(
        parse(&swapped),
        Err(MnemonicError::Checksum { position: 24 })
    );
    for found in [0, 1, 15, 17, 31, 33, 64] {
        let refused = Mnemonic::from_entropy(&vec![0; found]).map(|_| ());
        assert_eq!(refused, Err(MnemonicError::EntropyLength { found }));
    }
    assert_eq!(
        apollo_seed("  ", "", PhraseCheck::Skip).map(|_| ()),
        Err(MnemonicError::WordCount { found: 0 })
    );
}

/// Each last word is right for one in 2^checksum entropies and no other.
#[test]
fn of_all_last_words_as_many_fit_as_there_are_bits_for() {
    for count in WordCount::ALL {
        let words = vec!["abandon"; count.words() - 1].join(" ");
        let list = include_str!("../../data/bip39-english.txt");
        let fitting = list
            .lines()
            .filter(|last| Mnemonic::parse(&format!("{words} {last}")).is_ok())
            .count();
        assert_eq!(fitting, 2_048 >> (count.words() / 3));
    }
}

#[test]
fn new_words_are_read_back_and_are_not_the_old_ones() {
    let mut random = RandomStream::new().unwrap();
    for count in WordCount::ALL {
        let one = Mnemonic::generate(count, &mut random).unwrap();
        let other = Mnemonic::generate(count, &mut random).unwrap();
        assert_ne!(one.entropy(), other.entropy());
        assert_eq!(one.word_count(), count.words());
        let phrase = String::from_utf8(one.phrase().expose().to_vec()).unwrap();
        let spaced = phrase.replace(' ', " \n\t\u{3000} ");
        assert_eq!(Mnemonic::parse(&spaced).unwrap().entropy(), one.entropy());
        assert_eq!(
            one.to_seed("a").expose(),
            Mnemonic::parse(&phrase).unwrap().to_seed("a").expose()
        );
        assert_ne!(one.to_seed("a").expose(), one.to_seed("b").expose());
    }
}

#[test]
fn seeds_have_16_to_64_bytes_and_those_of_words_64() {
    for found in [0, 1, 15, 65, 128] {
        let refused = Seed::raw(&vec![7; found]).err();
        assert_eq!(refused, Some(Error::SeedLength { found }));
    }
    for length in 16..=64 {
        assert!(Seed::raw(&vec![7; length]).is_ok());
    }
    for scheme in [SeedScheme::Bip39, SeedScheme::Apollo] {
        assert!(Seed::restore(&[7; 63], scheme).is_err());
        assert_eq!(Seed::restore(&[7; 64], scheme).unwrap().scheme(), scheme);
    }
    assert!(Seed::restore(&[7; 64], SeedScheme::Node).is_err());
    let short = Seed::raw(&[7; 32]).unwrap();
    assert_eq!(
        PrivateNode::root(&short, Scheme::Bip32Ed25519V2).err(),
        Some(Error::SeedLengthOfScheme {
            scheme: Scheme::Bip32Ed25519V2,
            expected: 64,
            found: 32
        })
    );
    let labels = PrivateNode::root(&short, Scheme::Slip21).err();
    assert!(matches!(labels, Some(Error::WrongUse { .. })));
}

#[test]
fn parts_that_are_no_root_of_ed25519_are_refused() {
    let mut scalar = [0; 32];
    scalar[31] = 0x40;
    assert!(PrivateNode::from_ed25519_parts(&scalar, &[1; 32], &[2; 32]).is_ok());
    for (place, value) in [
        (0, 1),
        (0, 7),
        (31, 0),
        (31, 0x20),
        (31, 0x60),
        (31, 0x80),
        (31, 0xC0),
    ] {
        let mut bad = scalar;
        bad[place] = value;
        let refused = PrivateNode::from_ed25519_parts(&bad, &[1; 32], &[2; 32]).err();
        assert_eq!(refused, Some(Error::PrivateKeyRejected), "{place} {value}");
    }
}

// === Uses ===

#[test]
fn a_key_does_only_what_its_scheme_is_for() {
    let digest = Digest::of_sha256(b"m");
    for scheme in INDEXED {
        let node = root(scheme);
        let key = node.public_key().unwrap();
        let name = scheme.name();
        let (ecdsa, schnorr) = (
            name.ends_with("256k1") || name.ends_with("256p1"),
            name.ends_with("256k1"),
        );
        let (ed25519, agrees) = (name.contains("-ed25519"), !name.contains("-ed25519"));
        assert_eq!(node.sign_ecdsa(&digest).is_ok(), ecdsa, "{scheme}");
        assert_eq!(
            node.sign_ecdsa_recoverable(&digest).is_ok(),
            ecdsa,
            "{scheme}"
        );
        assert_eq!(
            node.sign_schnorr(b"m", &[0; 32]).is_ok(),
            schnorr,
            "{scheme}"
        );
        assert_eq!(node.sign_ed25519(b"m").is_ok(), ed25519, "{scheme}");
        assert_eq!(node.agree(&key).is_ok(), agrees, "{scheme}");
        let wrong = |result: Result<(), Error>| matches!(result, Err(Error::WrongUse { .. }));
        assert_eq!(
            wrong(key.verify_ecdsa(&digest, &[1; 64])),
            !ecdsa,
            "{scheme}"
        );
        assert_eq!(
            wrong(key.verify_schnorr(b"m", &[1; 64])),
            !schnorr,
            "{scheme}"
        );
        assert_eq!(
            wrong(key.verify_ed25519(b"m", &[1; 64])),
            !ed25519,
            "{scheme}"
        );
    }
}

#[test]
fn signatures_fit_their_message_and_key_only_and_name_the_key() {
    let (digest, other) = (Digest::of_sha256(b"m"), Digest::of_sha256(b"n"));
    for scheme in [
        Scheme::Bip32Secp256k1,
        Scheme::Slip10Secp256k1,
        Scheme::Slip10NistP256,
    ] {
        let node = root(scheme).derive(&path("m/1'/2'")).unwrap();
        let sibling = root(scheme)
            .derive(&path("m/1'/3'"))
            .unwrap()
            .public_key()
            .unwrap();
        let key = node.public_key().unwrap();
        let signature = node.sign_ecdsa(&digest).unwrap();
        assert_eq!(key.verify_ecdsa(&digest, &signature), Ok(()));
        assert_eq!(key.verify_ecdsa(&other, &signature), Err(Error::Rejected));
        assert_eq!(
            sibling.verify_ecdsa(&digest, &signature),
            Err(Error::Rejected)
        );
        let recoverable = node.sign_ecdsa_recoverable(&digest).unwrap();
        assert_eq!(recoverable.signature, signature);
        assert_eq!(recoverable.recover(scheme, &digest), Ok(key));
        assert_ne!(recoverable.recover(scheme, &other), Ok(key));
        let mut changed = recoverable;
        changed.id = 9;
        assert_eq!(changed.recover(scheme, &digest), Err(Error::Rejected));
        assert!(recoverable.recover(Scheme::Slip10Ed25519, &digest).is_err());
    }
    for scheme in [Scheme::Slip10Ed25519, Scheme::Bip32Ed25519V2] {
        let key = root(scheme).public_key().unwrap();
        let signature = root(scheme).sign_ed25519(b"m").unwrap();
        assert_eq!(key.verify_ed25519(b"m", &signature), Ok(()));
        assert_eq!(key.verify_ed25519(b"n", &signature), Err(Error::Rejected));
    }
}

#[test]
fn two_owners_agree_and_peers_of_other_curves_are_refused() {
    for scheme in [
        Scheme::Bip32Secp256k1,
        Scheme::Slip10Secp256k1,
        Scheme::Slip10NistP256,
        Scheme::Slip10Curve25519,
    ] {
        let a = root(scheme).derive(&path("m/1'")).unwrap();
        let b = root(scheme).derive(&path("m/2'")).unwrap();
        let shared = a.agree(&b.public_key().unwrap()).unwrap();
        assert!(shared.ct_eq(&b.agree(&a.public_key().unwrap()).unwrap()));
        let own = a.agree(&a.public_key().unwrap()).unwrap();
        assert!(!shared.ct_eq(&own));
    }
    let key = root(Scheme::Slip10NistP256).public_key().unwrap();
    assert_eq!(
        root(Scheme::Bip32Secp256k1).agree(&key).err(),
        Some(Error::OtherScheme {
            found: Scheme::Slip10NistP256,
            expected: Scheme::Bip32Secp256k1
        })
    );
    let zero = PublicKey::from_bytes(Scheme::Slip10Curve25519, &[0; 32]).unwrap();
    let refused = root(Scheme::Slip10Curve25519).agree(&zero).err();
    assert_eq!(refused, Some(Error::Rejected));
    for scheme in Scheme::ALL {
        for bad in [&[][..], &[2; 31], &[5; 33], &[4; 65], &[0xFF; 33]] {
            assert!(
                PublicKey::from_bytes(scheme, bad).is_err(),
                "{scheme} {bad:02x?}"
            );
        }
    }
}
