//! Bodies of the fuzz targets. Plain tests run them too.

use crate::extended::ExtendedKey;
use crate::mnemonic::{Mnemonic, PhraseCheck, apollo_seed, phrase_seed};
use crate::path::Path;
use crate::rules::PathPattern;
use crate::scheme::Scheme;
use crate::shares::Share;

/// Paths: what is read is written the same way, but for the letter that marks a hardened child.
pub fn path(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(path) = text.parse::<Path>() {
        assert!(path.children().len() <= 255, "too deep");
        assert_eq!(
            path.to_string(),
            text.replace(['h', 'H'], "'"),
            "two spellings"
        );
    }
}

/// Mnemonics: what is read is written with single spaces.
pub fn mnemonic(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    // Long texts are refused by their number of words; the stretching of short ones is not what is tested.
    if let Ok(mnemonic) = Mnemonic::parse(text) {
        let phrase = mnemonic.phrase();
        let phrase = std::str::from_utf8(phrase.expose()).unwrap_or_default();
        assert_eq!(phrase.split(' ').count(), mnemonic.word_count(), "words");
        let again = Mnemonic::parse(phrase);
        assert!(
            again.is_ok_and(|again| again.entropy() == mnemonic.entropy()),
            "two meanings"
        );
        assert!(
            apollo_seed(text, "", PhraseCheck::Require).is_ok() || !text.is_ascii(),
            "words of the list"
        );
        assert!(
            phrase_seed(text, "", PhraseCheck::Require).is_ok(),
            "the English list is one of ten"
        );
    }
}

/// Extended keys, as texts and, since hardly any text has a checksum that fits, as the bytes of one.
pub fn extended_key(data: &[u8]) {
    if let Some(bytes) = data.first_chunk::<78>() {
        extended_key_text(&crate::base58::encode(bytes));
    }
    if let Ok(text) = std::str::from_utf8(data) {
        extended_key_text(text);
    }
}

/// What is read is written the same way.
fn extended_key_text(text: &str) {
    match ExtendedKey::parse(text, Scheme::Bip32Secp256k1) {
        Ok(ExtendedKey::Private(mut node)) => {
            node.allow_soft();
            let written = node.to_xprv();
            assert!(
                written.is_ok_and(|written| written.expose() == text.as_bytes()),
                "two spellings"
            );
        }
        Ok(ExtendedKey::Public(node)) => {
            assert!(
                node.to_xpub().is_ok_and(|written| written == text),
                "two spellings"
            );
        }
        Err(_) => {}
    }
}

/// Patterns of paths: what is read is written the same way, but for the letter that marks a hardened child.
pub fn pattern(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(pattern) = text.parse::<PathPattern>() {
        assert_eq!(
            pattern.to_string(),
            text.replace(['h', 'H'], "'"),
            "two spellings"
        );
    }
}

/// Shares of seeds: what is read is written the same way.
pub fn share(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(share) = Share::parse(text) {
        assert!(share.to_text().expose() == text.as_bytes(), "two spellings");
        assert!(share.number() <= share.plan().count(), "its own number");
    }
}

/// Files of an agent's secrets: what is read is written with the same meaning.
#[cfg(feature = "vault")]
pub fn vault(data: &[u8]) {
    use crate::vault::Export;
    if let Ok(export) = Export::read(data, "secret") {
        let written = Export::write(export.wallets.values().flatten());
        let again = Export::read(written.expose(), "secret");
        let again = again.map(|again| Export::write(again.wallets.values().flatten()));
        assert!(
            again.is_ok_and(|again| again.expose() == written.expose()),
            "two meanings"
        );
    }
}
