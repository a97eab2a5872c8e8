//! Vectors of trees of keys: BIP-32 with what is invalid, BIP-39, BIP-340, SLIP-0010, SLIP-0021, the keys of
//! PRISM with BIP32-Ed25519, and our own files of shares and profiles.
//!
//! The lists of words of other languages are not here: their cases are followed from the words to the seed and
//! the root, and are counted apart as such.

use keywright_encoding::hex;
use keywright_hdkey::extended::ExtendedKey;
use keywright_hdkey::identus::prism_did;
use keywright_hdkey::mnemonic::{Mnemonic, PhraseCheck, apollo_seed, phrase_seed};
use keywright_hdkey::profile::ProfileKey;
use keywright_hdkey::shares::{Share, ShareError, combine};
use keywright_hdkey::slip21::LabelNode;
use keywright_hdkey::{Path, PrivateNode, PublicNode, Scheme, Seed};
use keywright_primitives::secp256k1;
use serde_json::Value as Json;

use super::families::{Judged, Ruling};
use super::fields::{Fields, Wrong, field, unhex};

type Judgement = Result<Vec<Judged>, Wrong>;

/// What stands beside the seeds of other languages.
const WORDS_TO_SEED: &str = "of other languages, from the words to the seed";

/// The cases of a file of JSON; none if it is no file of trees.
pub(super) fn of_json(file: &Fields<'_>, json: &Json) -> Option<Judgement> {
    let format = file.text("format").unwrap_or_default();
    let keys = |names: &[&str]| names.iter().all(|name| file.has(name));
    if format == "seed shares" {
        Some(shares(file))
    } else if format == "identus profiles" {
        Some(profiles(file))
    } else if keys(&["mnemonic", "secp256k1", "bip32_ed25519_apollo"]) {
        Some(identus(file))
    } else if keys(&["valid", "invalid"]) && json["valid"][0].get("chains").is_some() {
        Some(bip32(file))
    } else if json["vectors"][0].get("curve").is_some() {
        Some(slip10(file))
    } else if keys(&["seed", "nodes"]) {
        Some(slip21(file))
    } else if json["english"][0]
        .as_array()
        .is_some_and(|case| case.len() == 4)
    {
        Some(bip39(json))
    } else {
        None
    }
}

const BIP340: &str = "index,secret key,public key,aux_rand,message,signature,verification result";

/// The table of BIP-340; none if it is another one.
pub(super) fn of_table(text: &str) -> Option<Judgement> {
    text.starts_with(BIP340)
        .then(|| text.lines().skip(1).map(schnorr).collect())
}

/// What is refused on the way does not hold.
fn tried(name: impl Into<String>, holds: Option<bool>) -> Judged {
    Judged {
        name: name.into(),
        ruling: match holds {
            Some(true) => Ruling::Holds,
            _ => Ruling::Fails,
        },
    }
}

fn seed(file: &Fields<'_>) -> Result<Seed, Wrong> {
    Seed::raw(&file.hex("seed")?).map_err(|_| file.wrong("seed"))
}

fn path(case: &Fields<'_>) -> Result<Path, Wrong> {
    case.text("path")?.parse().map_err(|_| case.wrong("path"))
}

fn array<const N: usize>(case: &Fields<'_>, name: &str) -> Result<[u8; N], Wrong> {
    case.hex(name)?.try_into().map_err(|_| case.wrong(name))
}

fn root_of(seed: &Seed, scheme: Scheme) -> Option<Box<PrivateNode>> {
    let mut root = PrivateNode::root(seed, scheme).ok()?;
    if scheme.has_soft_children() {
        root.allow_soft();
    }
    Some(root)
}

fn private(node: &PrivateNode) -> Option<Vec<u8>> {
    Some(node.export().ok()?.key.expose().to_vec())
}

// === BIP-32 ===

fn bip32(file: &Fields<'_>) -> Judgement {
    let scheme = Scheme::Bip32Secp256k1;
    let mut cases = Vec::new();
    for vector in file.list("valid")? {
        let root = root_of(&seed(&vector)?, scheme);
        for chain in vector.list("chains")? {
            let (at, xprv, xpub) = (path(&chain)?, chain.text("xprv")?, chain.text("xpub")?);
            let holds = root.as_ref().and_then(|root| {
                let mut node = root.derive_with_parent(&at).ok()?;
                let private = node.to_xprv().ok()?.expose() == xprv.as_bytes();
                let public = node.share_public().ok()?.to_xpub().ok()? == xpub;
                let read = [xprv, xpub].map(|text| ExtendedKey::parse(text, scheme).is_ok());
                Some(private && public && read == [true; 2])
            });
            cases.push(tried(format!("{} {at}", vector.name()), holds));
        }
    }
    for case in file.list("invalid")? {
        let refused = ExtendedKey::parse(case.text("key")?, scheme).is_err();
        cases.push(tried(case.name(), Some(refused)));
    }
    Ok(cases)
}

// === BIP-39 ===

fn bip39(json: &Json) -> Judgement {
    let languages = json
        .as_object()
        .ok_or_else(|| field("the file", "languages"))?;
    let mut cases = Vec::new();
    for (language, list) in languages {
        let list = list.as_array().ok_or_else(|| field("the file", language))?;
        for (place, case) in list.iter().enumerate() {
            let name = format!("{language}/{place}");
            let text = |part: usize| {
                let text = case[part].as_str();
                text.ok_or_else(|| field(&name, "its four texts"))
            };
            let texts = [text(0)?, text(1)?, text(2)?, text(3)?];
            let english = language == "english";
            let mut holds = words(texts);
            if english && holds == Some(true) {
                holds = list_of_words(texts);
            }
            let mut case = tried(name.clone(), holds);
            if !english && case.ruling == Ruling::Holds {
                case.ruling = Ruling::HoldsInPart(WORDS_TO_SEED);
            }
            cases.push(case);
        }
    }
    Ok(cases)
}

/// From the words to the seed and the root.
fn words([_, words, expected, xprv]: [&str; 4]) -> Option<bool> {
    // Vectors exist for more lists than the ten of BIP-39, so nothing but the derivation is judged.
    let seed = phrase_seed(words, "TREZOR", PhraseCheck::Skip).ok()?;
    let root = root_of(&seed, Scheme::Bip32Secp256k1)?;
    Some(seed.expose() == unhex(expected)? && root.to_xprv().ok()?.expose() == xprv.as_bytes())
}

/// Between the entropy and the words, both ways, with the checksum.
fn list_of_words([entropy, words, expected, _]: [&str; 4]) -> Option<bool> {
    let mnemonic = Mnemonic::parse(words).ok()?;
    let made = Mnemonic::from_entropy(&unhex(entropy)?).ok()?;
    Some(
        mnemonic.entropy() == unhex(entropy)?
            && mnemonic.to_seed("TREZOR").expose() == unhex(expected)?
            && made.phrase().expose() == words.as_bytes(),
    )
}

// === BIP-340 ===

fn schnorr(line: &str) -> Result<Judged, Wrong> {
    let cells: Vec<&str> = line.split(',').collect();
    let [index, secret, public, aux, message, signature, result, ..] = cells[..] else {
        return Err(field("a line", "its cells"));
    };
    let name = format!("case {index}");
    let bytes = |text: &str, what: &str| unhex(text).ok_or_else(|| field(&name, what));
    let fixed = |text: &str, what: &str| -> Result<[u8; 32], Wrong> {
        let bytes = bytes(text, what)?;
        bytes.try_into().map_err(|_| field(&name, what))
    };
    let (public, message) = (fixed(public, "public key")?, bytes(message, "message")?);
    let signature: [u8; 64] = bytes(signature, "signature")?
        .try_into()
        .map_err(|_| field(&name, "signature"))?;
    let expected = match result {
        "TRUE" => true,
        "FALSE" => false,
        _ => return Err(field(&name, "verification result")),
    };
    let mut holds = secp256k1::verify_schnorr(&public, &message, &signature).is_ok() == expected;
    if !secret.is_empty() {
        let (secret, aux) = (fixed(secret, "secret key")?, fixed(aux, "aux_rand")?);
        let made = secp256k1::PrivateKey::from_bytes(&secret)
            .and_then(|key| key.sign_schnorr(&message, &aux));
        holds &= made.is_ok_and(|made| made == signature);
    }
    Ok(tried(name, Some(holds)))
}

// === SLIP-0010, SLIP-0021 ===

fn slip10(file: &Fields<'_>) -> Judgement {
    let mut cases = Vec::new();
    for vector in file.list("vectors")? {
        let scheme = format!("slip10-{}", vector.text("curve")?);
        let scheme: Scheme = scheme.parse().map_err(|_| vector.wrong("curve"))?;
        let root = root_of(&seed(&vector)?, scheme);
        for node in vector.list("nodes")? {
            let at = path(&node)?;
            let expected = [
                node.hex("private")?,
                node.hex("public")?,
                node.hex("fingerprint")?,
                node.hex("chain_code")?,
            ];
            let holds = root
                .as_ref()
                .and_then(|root| slip10_node(root, &at, &expected));
            cases.push(tried(format!("{} {at}", vector.name()), holds));
        }
    }
    Ok(cases)
}

fn slip10_node(root: &PrivateNode, at: &Path, expected: &[Vec<u8>; 4]) -> Option<bool> {
    let [private_key, public, fingerprint, chain] = expected;
    let mut node = root.derive(at).ok()?;
    let parent = match at.children().split_last() {
        Some((_, above)) => {
            let above = Path::new(above.to_vec()).ok()?;
            root.derive(&above).ok()?.fingerprint().ok()?
        }
        None => [0; 4],
    };
    // Where there are no public nodes the chain code shows in the level below.
    let same_chain = match node.share_public() {
        Ok(shared) => shared.chain_code()[..] == chain[..],
        Err(_) => !root.scheme().has_soft_children(),
    };
    let key = root.derive(at).ok()?;
    Some(
        private(&key)? == *private_key
            && key.public_key().ok()?.serialized()[..] == public[..]
            && parent[..] == fingerprint[..]
            && same_chain,
    )
}

fn slip21(file: &Fields<'_>) -> Judgement {
    let root = LabelNode::root(&seed(file)?);
    let mut cases = Vec::new();
    for node in file.list("nodes")? {
        let labels = node.json("path")?.as_array();
        let labels = labels.ok_or_else(|| node.wrong("path"))?;
        let labels: Option<Vec<&str>> = labels.iter().map(Json::as_str).collect();
        let labels = labels.ok_or_else(|| node.wrong("path"))?;
        let same = root.derive(&labels).key().expose()[..] == node.hex("key")?[..];
        cases.push(tried(node.name(), Some(same)));
    }
    Ok(cases)
}

// === Identus ===

fn identus(file: &Fields<'_>) -> Judgement {
    let seed = apollo_seed(
        file.text("mnemonic")?,
        file.text("passphrase")?,
        PhraseCheck::Require,
    );
    let seed = seed.map_err(|_| file.wrong("mnemonic"))?;
    let mut cases = vec![tried("seed", Some(seed.expose() == file.hex("seed")?))];
    for case in file.list("secp256k1")? {
        let at = path(&case)?;
        let optional = |name: &str| case.text(name).ok();
        let (public, did) = (optional("public_compressed"), optional("did"));
        let expected = case.hex("private")?;
        let holds = || {
            let node = PrivateNode::derive_from(&seed, Scheme::Bip32Secp256k1, &at).ok()?;
            let key = node.public_key().ok()?;
            let same_public = public.is_none_or(|text| hex::encode(key.as_bytes()) == text);
            let same_did = did.is_none_or(|text| prism_did(&key).is_ok_and(|made| made == text));
            Some(private(&node)? == expected && same_public && same_did)
        };
        cases.push(tried(format!("secp256k1 {at}"), holds()));
    }
    for case in file.list("bip32_ed25519_apollo")? {
        let at = path(&case)?;
        let holds = match case.has("xprv") {
            true => extended_private(&case, &at)?,
            false => extended_public(&case, &at)?,
        };
        cases.push(tried(format!("bip32-ed25519 {at}"), holds));
    }
    Ok(cases)
}

fn extended_private(case: &Fields<'_>, at: &Path) -> Result<Option<bool>, Wrong> {
    let key: [u8; 64] = array(case, "xprv")?;
    let (chain, child_chain) = (array(case, "chain")?, array::<32>(case, "child_chain")?);
    let child = case.hex("child_xprv")?;
    let (mut scalar, mut prefix) = ([0; 32], [0; 32]);
    scalar.copy_from_slice(&key[..32]);
    prefix.copy_from_slice(&key[32..]);
    let holds = || {
        let mut root = PrivateNode::from_ed25519_parts(&scalar, &prefix, &chain).ok()?;
        root.allow_soft();
        let mut node = root.derive(at).ok()?;
        let same = private(&node)? == child;
        Some(same && *node.share_public().ok()?.chain_code() == child_chain)
    };
    Ok(holds())
}

fn extended_public(case: &Fields<'_>, at: &Path) -> Result<Option<bool>, Wrong> {
    let (key, chain) = (array(case, "xpub")?, array(case, "chain")?);
    let (child, child_chain) = (case.hex("child_xpub")?, array::<32>(case, "child_chain")?);
    let holds = || {
        let root = PublicNode::from_ed25519_parts(&key, &chain).ok()?;
        let node = root.derive(at).ok()?;
        Some(node.key().as_bytes() == child && *node.chain_code() == child_chain)
    };
    Ok(holds())
}

// === Our own ===

fn shares(file: &Fields<'_>) -> Judgement {
    let mut cases = Vec::new();
    for case in file.list("cases")? {
        let list = case.json("shares")?.as_array();
        let texts: Option<Vec<&str>> =
            list.and_then(|list| list.iter().map(Json::as_str).collect());
        let texts = texts.ok_or_else(|| case.wrong("shares"))?;
        let read: Result<Vec<Share>, ShareError> = texts.into_iter().map(Share::parse).collect();
        let back = read.and_then(|shares| combine(&shares));
        let holds = match (case.truth("valid")?, back) {
            (true, Ok(seed)) => {
                seed.expose() == case.hex("seed")?
                    && seed.scheme().name() == case.text("seed_scheme")?
            }
            (false, Err(_)) => true,
            _ => false,
        };
        cases.push(tried(case.text("name")?, Some(holds)));
    }
    Ok(cases)
}

fn profiles(file: &Fields<'_>) -> Judgement {
    let mut cases = Vec::new();
    for case in file.list("cases")? {
        let (seed, at) = (seed(&case)?, path(&case)?);
        let profile = case.text("profile")?.parse();
        let profile = profile.map_err(|_| case.wrong("profile"))?;
        let expected = [
            case.hex("public")?,
            case.hex("message")?,
            case.hex("signature")?,
        ];
        let holds = || {
            let node = PrivateNode::derive_from(&seed, Scheme::Bip32Ed25519V2, &at).ok()?;
            let key = ProfileKey::of(&node, profile).ok()?;
            let [public, message, signature] = &expected;
            let signed = match key.sign(message) {
                Ok(made) => made[..] == signature[..],
                // Agreement keys sign nothing.
                Err(_) => signature.is_empty(),
            };
            Some(signed && key.public_key().ok()?[..] == public[..])
        };
        cases.push(tried(case.text("name")?, holds()));
    }
    Ok(cases)
}
