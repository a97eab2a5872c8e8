//! Published vectors. Without the folder of vectors the cases are counted as skipped.

use keywright_hdkey::extended::ExtendedKey;
use keywright_hdkey::identus::{Purpose, key_path, prism_did, purpose_of};
use keywright_hdkey::mnemonic::{Mnemonic, PhraseCheck, apollo_seed, phrase_seed};
use keywright_hdkey::slip21::LabelNode;
use keywright_hdkey::{PrivateNode, PublicKey, PublicNode, Scheme, Seed, SeedScheme};
use keywright_vectors::{Family, Tally};
use serde_json::Value;

use crate::scene::{PRISM, absent, exported, path, text, unhex};

fn json(family: &str, file: &str) -> Option<Value> {
    Family::locate(family).json(file).unwrap()
}

fn items<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value[field].as_array().unwrap()
}

// === BIP-32 ===

#[test]
fn bip32_nodes() {
    let mut tally = Tally::new("bip32");
    let Some(file) = json("bip32", "bip32_vectors.json") else {
        absent(&mut tally, 17);
        return tally.finish().unwrap();
    };
    for vector in items(&file, "valid") {
        let seed = Seed::raw(&unhex(text(vector, "seed"))).unwrap();
        for scheme in [Scheme::Bip32Secp256k1, Scheme::Slip10Secp256k1] {
            let mut root = PrivateNode::root(&seed, scheme).unwrap();
            root.allow_soft();
            for chain in items(vector, "chains") {
                let at = text(chain, "path");
                let holds = bip32_node(&root, scheme, chain);
                tally.check(format!("{scheme} {} {at}", vector["vector"]), holds);
            }
        }
    }
    assert_eq!(tally.total(), 34);
    tally.finish().unwrap();
}

fn bip32_node(root: &PrivateNode, scheme: Scheme, chain: &Value) -> bool {
    let (xprv, xpub) = (text(chain, "xprv"), text(chain, "xpub"));
    let mut node = root.derive_with_parent(&path(text(chain, "path"))).unwrap();
    let private = node.to_xprv().unwrap().expose() == xprv.as_bytes();
    let public = node.share_public().unwrap().to_xpub().unwrap() == xpub;
    // Both texts are read and written again.
    let ExtendedKey::Private(mut read) = ExtendedKey::parse(xprv, scheme).unwrap() else {
        return false;
    };
    let ExtendedKey::Public(read_public) = ExtendedKey::parse(xpub, scheme).unwrap() else {
        return false;
    };
    read.allow_soft();
    private
        && public
        && read.to_xprv().unwrap().expose() == xprv.as_bytes()
        && read_public.to_xpub().unwrap() == xpub
        && read.seed_scheme() == SeedScheme::Node
        && *read_public.key() == node.public_key().unwrap()
}

/// Soft children are made from the public node too.
#[test]
fn bip32_public_children() {
    let mut tally = Tally::new("bip32-public");
    let Some(file) = json("bip32", "bip32_vectors.json") else {
        absent(&mut tally, 6);
        return tally.finish().unwrap();
    };
    for vector in items(&file, "valid") {
        let mut above: Option<(String, PublicNode)> = None;
        for chain in items(vector, "chains") {
            let (at, xpub) = (text(chain, "path"), text(chain, "xpub"));
            let last = at.rsplit('/').next().unwrap();
            if let Some((_, parent)) = &above
                && !last.ends_with('\'')
                && last != "m"
            {
                let made = parent.derive(&path(&format!("m/{last}"))).unwrap();
                tally.check(at, made.to_xpub().unwrap() == xpub);
            }
            let scheme = Scheme::Bip32Secp256k1;
            if let ExtendedKey::Public(node) = ExtendedKey::parse(xpub, scheme).unwrap() {
                above = Some((at.to_owned(), node));
            }
        }
    }
    assert!(tally.total() >= 5);
    tally.finish().unwrap();
}

// === BIP-340 ===

#[test]
fn bip340() {
    let mut tally = Tally::new("bip340");
    let files = Family::locate("bip32")
        .files("bip340-test-vectors.csv")
        .unwrap();
    let Some(file) = files.first() else {
        absent(&mut tally, 19);
        return tally.finish().unwrap();
    };
    let table = std::fs::read_to_string(file).unwrap();
    for line in table.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [index, secret, public, aux, message, signature, result, ..] = cells[..] else {
            panic!("a line of fewer cells");
        };
        let message = unhex(message);
        let signature: [u8; 64] = unhex(signature).try_into().unwrap();
        let point = [&[2][..], &unhex(public)].concat();
        // An x coordinate of no point is refused before any signature is looked at.
        let verified = PublicKey::from_bytes(Scheme::Bip32Secp256k1, &point)
            .and_then(|key| key.verify_schnorr(&message, &signature));
        let mut holds = verified.is_ok() == (result == "TRUE");
        if !secret.is_empty() {
            let node = imported(&unhex(secret));
            let aux: [u8; 32] = unhex(aux).try_into().unwrap();
            holds &= node.sign_schnorr(&message, &aux).unwrap() == signature;
        }
        tally.check(index, holds);
    }
    assert_eq!(tally.total(), 19);
    tally.finish().unwrap();
}

/// A node of this private key, by way of an `xprv` that is written here.
fn imported(key: &[u8]) -> Box<PrivateNode> {
    let mut bytes = vec![0x04, 0x88, 0xAD, 0xE4];
    bytes.extend([0; 4 + 1 + 4 + 32 + 1]);
    bytes.extend(key);
    match ExtendedKey::parse(&base58check(&bytes), Scheme::Bip32Secp256k1).unwrap() {
        ExtendedKey::Private(node) => node,
        _ => panic!("not private"),
    }
}

/// By division of one long number, independently of the crate.
fn base58check(bytes: &[u8]) -> String {
    use keywright_primitives::hash::sha256;
    let digits = b"123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
    let mut number = [bytes, &sha256(&sha256(bytes))[..4]].concat();
    let mut text = Vec::new();
    while number.iter().any(|byte| *byte != 0) {
        let mut rest = 0_u32;
        for byte in &mut number {
            let value = rest << 8 | u32::from(*byte);
            *byte = u8::try_from(value / 58).unwrap();
            rest = value % 58;
        }
        text.push(digits[usize::try_from(rest).unwrap()]);
    }
    text.reverse();
    String::from_utf8(text).unwrap()
}

// === SLIP-0010, SLIP-0021 ===

#[test]
fn slip10_nodes() {
    let mut tally = Tally::new("slip10");
    let Some(file) = json("slip10", "slip10_vectors.json") else {
        absent(&mut tally, 52);
        return tally.finish().unwrap();
    };
    for vector in items(&file, "vectors") {
        let scheme: Scheme = format!("slip10-{}", text(vector, "curve")).parse().unwrap();
        let seed = Seed::raw(&unhex(text(vector, "seed"))).unwrap();
        let mut root = PrivateNode::root(&seed, scheme).unwrap();
        root.allow_soft();
        for expected in items(vector, "nodes") {
            let at = text(expected, "path");
            let holds = slip10_node(&root, expected);
            tally.check(format!("{} {at}", text(vector, "title")), holds);
        }
    }
    assert_eq!(tally.total(), 52);
    tally.finish().unwrap();
}

fn slip10_node(root: &PrivateNode, expected: &Value) -> bool {
    let at = path(text(expected, "path"));
    let mut node = root.derive(&at).unwrap();
    let parent = match at.children().split_last() {
        Some((_, above)) => {
            let above = keywright_hdkey::Path::new(above.to_vec()).unwrap();
            root.derive(&above).unwrap().fingerprint().unwrap()
        }
        None => [0; 4],
    };
    let private = exported(&node) == unhex(text(expected, "private"));
    let public = node.public_key().unwrap();
    // Where there are public nodes they show the chain code; elsewhere the next level would be wrong.
    let chain = match node.share_public() {
        Ok(shared) => shared.chain_code()[..] == unhex(text(expected, "chain_code")),
        Err(_) => !root.scheme().has_soft_children(),
    };
    private
        && chain
        && public.serialized()[..] == unhex(text(expected, "public"))
        && parent[..] == unhex(text(expected, "fingerprint"))
}

#[test]
fn slip21_nodes() {
    let mut tally = Tally::new("slip21");
    let Some(file) = json("slip10", "slip21_vectors.json") else {
        absent(&mut tally, 4);
        return tally.finish().unwrap();
    };
    let root = LabelNode::root(&Seed::raw(&unhex(text(&file, "seed"))).unwrap());
    for node in items(&file, "nodes") {
        let labels: Vec<&str> = items(node, "path")
            .iter()
            .map(|label| label.as_str().unwrap())
            .collect();
        let key = root.derive(&labels).key();
        tally.check(
            labels.join("/"),
            key.expose()[..] == unhex(text(node, "key")),
        );
    }
    assert_eq!(tally.total(), 4);
    tally.finish().unwrap();
}

// === BIP-39 ===

/// English both ways with its checksum; the other lists from their words to the seed.
#[test]
fn t39_bip39_in_twelve_languages() {
    let mut tally = Tally::new("bip39");
    let Some(file) = json("bip39", "trezor-vectors.json") else {
        absent(&mut tally, 288);
        return tally.finish().unwrap();
    };
    for (language, cases) in file.as_object().unwrap() {
        for (number, case) in cases.as_array().unwrap().iter().enumerate() {
            let [entropy, words, expected, xprv] =
                [0, 1, 2, 3].map(|place| case[place].as_str().unwrap());
            // Two of the lists are not among the ten that BIP-39 has.
            let check = match language.as_str() {
                "russian" | "turkish" => PhraseCheck::Skip,
                _ => PhraseCheck::Require,
            };
            let seed = phrase_seed(words, "TREZOR", check).unwrap();
            let mut holds = seed.expose() == unhex(expected);
            let mut root = PrivateNode::root(&seed, Scheme::Bip32Secp256k1).unwrap();
            root.allow_soft();
            holds &= root.to_xprv().unwrap().expose() == xprv.as_bytes();
            if language == "english" {
                let mnemonic = Mnemonic::parse(words).unwrap();
                holds &= mnemonic.entropy() == unhex(entropy);
                holds &= mnemonic.to_seed("TREZOR").expose() == unhex(expected);
                let made = Mnemonic::from_entropy(&unhex(entropy)).unwrap();
                holds &= made.phrase().expose() == words.as_bytes();
            }
            tally.check(format!("{language} {number}"), holds);
        }
    }
    assert_eq!(tally.total(), 288);
    tally.finish().unwrap();
}

// === Identus ===

#[test]
fn identus_keys_and_dids() {
    let mut tally = Tally::new("identus");
    let Some(file) = json("identus", "prism_hd_vectors.json") else {
        absent(&mut tally, 12);
        return tally.finish().unwrap();
    };
    assert_eq!(text(&file, "mnemonic"), PRISM);
    let seed = apollo_seed(PRISM, text(&file, "passphrase"), PhraseCheck::Require).unwrap();
    tally.check("seed", seed.expose() == unhex(text(&file, "seed")));
    for (name, number) in file["key_usage"].as_object().unwrap() {
        let name = name
            .strip_suffix("_KEY")
            .unwrap_or(name)
            .to_ascii_lowercase()
            .replace('_', "-");
        let purpose = Purpose::from_name(&name);
        assert_eq!(
            purpose.map(|purpose| u64::from(purpose.number())),
            number.as_u64(),
            "{name}"
        );
    }
    for case in items(&file, "secp256k1") {
        let at = path(text(case, "path"));
        let node = PrivateNode::derive_from(&seed, Scheme::Bip32Secp256k1, &at).unwrap();
        let public = node.public_key().unwrap();
        let mut holds = exported(&node) == unhex(text(case, "private"));
        if let Some(expected) = case["public_compressed"].as_str() {
            holds &= public.as_bytes() == unhex(expected);
        }
        if let Some(did) = case["did"].as_str() {
            holds &= prism_did(&public).unwrap() == did;
        }
        let [.., did, _, index] = at.children() else {
            panic!("a short path");
        };
        let named = key_path(did.number(), purpose_of(&at).unwrap(), index.number()).unwrap();
        holds &= named == at;
        tally.check(text(case, "path"), holds);
    }
    bip32_ed25519(&mut tally, &file);
    assert_eq!(tally.total(), 12);
    tally.finish().unwrap();
}

fn bip32_ed25519(tally: &mut Tally, file: &Value) {
    let array =
        |value: &Value, field: &str| -> [u8; 32] { unhex(text(value, field)).try_into().unwrap() };
    for case in items(file, "bip32_ed25519_apollo") {
        let at = path(text(case, "path"));
        let holds = match case["xprv"].as_str() {
            Some(xprv) => {
                let xprv = unhex(xprv);
                let (scalar, prefix) = xprv.split_first_chunk::<32>().unwrap();
                let prefix = prefix.try_into().unwrap();
                let chain = array(case, "chain");
                let root = PrivateNode::from_ed25519_parts(scalar, prefix, &chain);
                let mut root = root.unwrap();
                root.allow_soft();
                let mut node = root.derive(&at).unwrap();
                exported(&node) == unhex(text(case, "child_xprv"))
                    && *node.share_public().unwrap().chain_code() == array(case, "child_chain")
            }
            None => {
                let root =
                    PublicNode::from_ed25519_parts(&array(case, "xpub"), &array(case, "chain"));
                let node = root.unwrap().derive(&at).unwrap();
                node.key().as_bytes() == array(case, "child_xpub")
                    && *node.chain_code() == array(case, "child_chain")
            }
        };
        tally.check(text(case, "path"), holds);
    }
}

/// Keys over 64 zero bytes, computed by a program that shares nothing with this one.
#[test]
fn keys_of_the_benchmark_that_the_seed_describes() {
    let seed = Seed::raw(&[0; 64]).unwrap();
    for (at, begins) in [
        ("m/29'/0'/0'/1'", "0edd64013c84a4f2"),
        ("m/29'/0'/0'/50000'", "7d1f0b93a73a9733"),
        ("m/29'/29'/0'/1'/0'", "7381d78fc99a2f51"),
    ] {
        let node = PrivateNode::derive_from(&seed, Scheme::Bip32Secp256k1, &path(at)).unwrap();
        assert_eq!(exported(&node)[..8], unhex(begins), "{at}");
    }
}
