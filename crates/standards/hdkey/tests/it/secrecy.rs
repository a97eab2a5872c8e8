//! No text of an error, and nothing that is printed, shows a word, a seed or a key.

use keywright_hdkey::extended::ExtendedKey;
use keywright_hdkey::mnemonic::{Mnemonic, PhraseCheck, apollo_seed};
use keywright_hdkey::slip21::LabelNode;
use keywright_hdkey::{Scheme, Seed};

use crate::scene::{INDEXED, PRISM, path, root};

#[test]
fn errors_over_bad_secrets_show_nothing_of_them() {
    let words: Vec<&str> = PRISM.split_whitespace().collect();
    let mut texts = Vec::new();
    for place in 0..words.len() {
        let mut changed = words.clone();
        changed[place] = "canarycanary";
        let error = Mnemonic::parse(&changed.join(" ")).unwrap_err();
        texts.extend([error.to_string(), format!("{error:?}")]);
        let error = apollo_seed(&changed.join(" "), "canarysalt", PhraseCheck::Skip).unwrap_err();
        texts.extend([error.to_string(), format!("{error:?}")]);
    }
    let xprv = root(Scheme::Bip32Secp256k1).to_xprv().unwrap();
    let xprv = std::str::from_utf8(xprv.expose()).unwrap();
    for cut in 1..xprv.len() {
        let error = ExtendedKey::parse(&xprv[..cut], Scheme::Bip32Secp256k1).unwrap_err();
        texts.extend([error.to_string(), format!("{error:?}")]);
    }
    for text in texts {
        assert!(!text.contains("canary"), "{text}");
        assert!(
            !words
                .iter()
                .any(|word| text.split(' ').any(|other| other == *word)),
            "{text}"
        );
        assert!(!text.contains(&xprv[20..28]), "{text}");
    }
}

#[test]
fn what_is_printed_has_names_only() {
    let seed = Seed::raw(&[0xA7; 64]).unwrap();
    let mnemonic = Mnemonic::parse(PRISM).unwrap();
    let mut printed = vec![
        format!("{seed:?}"),
        format!("{mnemonic:?}"),
        format!("{:?}", LabelNode::root(&seed)),
    ];
    for scheme in INDEXED {
        let node = root(scheme);
        let siblings = node.siblings().unwrap();
        printed.extend([
            format!("{node:?}"),
            format!("{siblings:?}"),
            format!("{:?}", node.export().unwrap()),
            format!(
                "{:?}",
                siblings.derive(path("m/1'").children().iter().copied())
            ),
        ]);
    }
    for text in printed {
        // A byte in either of the ways in which arrays are printed.
        assert!(
            !text.contains("167") && !text.contains("a7") && !text.contains(", 1"),
            "{text}"
        );
        assert!(!text.contains("vacuum"), "{text}");
        assert!(text.len() < 120, "{text}");
    }
}
