//! Which key: a seed file, a scheme and a path.

use std::path::PathBuf;

use keywright_hdkey::identus::{Purpose, key_path};
use keywright_hdkey::{Path, PrivateNode, Scheme};

use super::document::Document;
use super::material::Password;
use super::refused::refused;
use crate::exit::{Exit, Failure};

/// The scheme of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum SchemeName {
    /// Wallets and Identus.
    #[value(name = "bip32-secp256k1")]
    Bip32Secp256k1,
    /// As BIP-32, but what is no key is hashed again.
    #[value(name = "slip10-secp256k1")]
    Slip10Secp256k1,
    /// ECDSA over P-256.
    #[value(name = "slip10-nist256p1")]
    Slip10NistP256,
    /// New keys of Ed25519.
    #[value(name = "slip10-ed25519")]
    Slip10Ed25519,
    /// Keys that agree.
    #[value(name = "slip10-curve25519")]
    Slip10Curve25519,
    /// Keys of Ed25519 that existing trees have.
    #[value(name = "bip32-ed25519-v2")]
    Bip32Ed25519V2,
}

impl From<SchemeName> for Scheme {
    fn from(name: SchemeName) -> Self {
        match name {
            SchemeName::Bip32Secp256k1 => Self::Bip32Secp256k1,
            SchemeName::Slip10Secp256k1 => Self::Slip10Secp256k1,
            SchemeName::Slip10NistP256 => Self::Slip10NistP256,
            SchemeName::Slip10Ed25519 => Self::Slip10Ed25519,
            SchemeName::Slip10Curve25519 => Self::Slip10Curve25519,
            SchemeName::Bip32Ed25519V2 => Self::Bip32Ed25519V2,
        }
    }
}

/// One key of a tree.
#[derive(Debug, clap::Args)]
pub(super) struct Tree {
    /// The file with the seed.
    #[arg(long, value_name = "FILE")]
    seed_file: PathBuf,
    #[command(flatten)]
    password: Password,
    /// The scheme of the tree; the same path is another key under each.
    #[arg(long, value_enum, default_value_t = SchemeName::Bip32Secp256k1)]
    scheme: SchemeName,
    /// The path, such as m/44'/0'/0'.
    #[arg(long, value_name = "PATH", required_unless_present = "identus")]
    path: Option<String>,
    /// The key of an Identus wallet: number of the DID, purpose, index, such as 0/master/0.
    #[arg(long, value_name = "DID/PURPOSE/INDEX", conflicts_with = "path")]
    identus: Option<String>,
    /// Allow children that a public parent could make: their private key and the parent's public node
    /// together give the parent's private key.
    #[arg(long)]
    allow_soft: bool,
}

impl Tree {
    /// Where the key lies.
    pub(super) fn path(&self) -> Result<Path, Failure> {
        match (&self.path, &self.identus) {
            (Some(path), _) => path
                .parse()
                .map_err(|error: keywright_hdkey::PathError| refused(error.into())),
            (None, Some(key)) => identus(key),
            (None, None) => Ok(Path::ROOT),
        }
    }

    pub(super) fn scheme(&self) -> Scheme {
        self.scheme.into()
    }

    /// The seed, and whether it may leave.
    pub(super) fn document(&self) -> Result<Document, Failure> {
        Document::read(&self.seed_file, &self.password.read()?)
    }

    /// The root of the tree.
    pub(super) fn root(&self, document: &Document) -> Result<Box<PrivateNode>, Failure> {
        let mut root = PrivateNode::root(&document.seed, self.scheme()).map_err(refused)?;
        if self.allow_soft {
            root.allow_soft();
        }
        Ok(root)
    }

    /// The key.
    pub(super) fn node(&self, path: &Path) -> Result<Box<PrivateNode>, Failure> {
        let root = self.root(&self.document()?)?;
        root.derive(path).map_err(refused)
    }
}

fn identus(key: &str) -> Result<Path, Failure> {
    let wrong = || {
        let names: Vec<&str> = Purpose::ALL.iter().map(|purpose| purpose.name()).collect();
        Failure::new(
            Exit::Usage,
            "--identus does not name a key",
            format!(
                "give DID/PURPOSE/INDEX such as 0/master/0; purposes: {}",
                names.join(", ")
            ),
        )
    };
    let [did, purpose, index] = key.split('/').collect::<Vec<_>>()[..] else {
        return Err(wrong());
    };
    let number = |text: &str| {
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        digits
            .then(|| text.parse::<u32>().ok())
            .flatten()
            .ok_or_else(wrong)
    };
    let purpose = Purpose::from_name(purpose).ok_or_else(wrong)?;
    key_path(number(did)?, purpose, number(index)?).map_err(|error| refused(error.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_identus_are_named_by_number_purpose_and_number() {
        assert_eq!(
            identus("3/authentication/7").unwrap().to_string(),
            "m/29'/29'/3'/4'/7'"
        );
        for bad in [
            "",
            "0",
            "0/master",
            "0/master/0/0",
            "x/master/0",
            "0/maste/0",
            "0/master/-1",
            "0//0",
            "0/master/2147483648",
            "99999999999/master/0",
            "+1/master/0",
        ] {
            assert!(identus(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_of_schemes_are_those_of_the_library() {
        use clap::ValueEnum as _;
        for name in SchemeName::value_variants() {
            let shown = name.to_possible_value().unwrap();
            assert_eq!(Scheme::from(*name).name(), shown.get_name());
        }
    }
}
