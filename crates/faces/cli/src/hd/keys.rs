//! `keywright hd derive`, `public` and `xpub`.

use keywright_encoding::hex;
use keywright_hdkey::identus::{Purpose, prism_did, purpose_of};
use keywright_hdkey::profile::{Profile, ProfileKey};
use keywright_hdkey::{Path, PrivateNode, PublicKey};
use keywright_secret::SecretBytes;
use serde::Serialize;

use super::refused::refused;
use super::seed::may_leave;
use super::tree::Tree;
use crate::confirm::{Yes, confirm};
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

#[derive(Debug, clap::Args)]
pub(super) struct Derive {
    #[command(flatten)]
    tree: Tree,
    #[command(flatten)]
    yes: Yes,
}

#[derive(Debug, clap::Args)]
pub(super) struct Public {
    #[command(flatten)]
    tree: Tree,
    /// The key that a library of Identus made of a node of bip32-ed25519-v2, to hold against one that is
    /// known. Not confirmed by keys that those libraries have made.
    #[arg(long, value_enum)]
    profile: Option<ProfileName>,
}

/// Whose way of making a key of a node.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum ProfileName {
    /// JavaScript.
    #[value(name = "identus-ed25519-js")]
    IdentusEd25519Js,
    /// JVM, Android and Apple.
    #[value(name = "identus-ed25519-jvm")]
    IdentusEd25519Jvm,
    /// For agreement.
    #[value(name = "identus-x25519")]
    IdentusX25519,
}

impl From<ProfileName> for Profile {
    fn from(name: ProfileName) -> Self {
        match name {
            ProfileName::IdentusEd25519Js => Self::IdentusEd25519Js,
            ProfileName::IdentusEd25519Jvm => Self::IdentusEd25519Jvm,
            ProfileName::IdentusX25519 => Self::IdentusX25519,
        }
    }
}

/// A public key under a profile.
#[derive(Serialize)]
struct UnderProfile {
    scheme: &'static str,
    seed_scheme: &'static str,
    profile: &'static str,
    path: String,
    public: String,
}

#[derive(Debug, clap::Args)]
pub(super) struct Xpub {
    #[command(flatten)]
    tree: Tree,
}

/// A key with its names. Fields that do not belong to a command are left out.
#[derive(Serialize)]
struct Key<'a> {
    scheme: &'static str,
    seed_scheme: &'static str,
    path: String,
    public: String,
    fingerprint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    jwk: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    did: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    xpub: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chain_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    private: Option<&'a str>,
}

impl Key<'_> {
    fn of(path: &Path, public: &PublicKey, seed_scheme: &'static str) -> Self {
        Self {
            scheme: public.scheme().name(),
            seed_scheme,
            path: path.to_string(),
            public: hex::encode(public.as_bytes()),
            fingerprint: hex::encode(&public.fingerprint()),
            jwk: public.to_jwk().ok(),
            did: did(path, public),
            xpub: None,
            chain_code: None,
            private: None,
        }
    }

    fn print(&self, format: Format) -> Result<Exit, Failure> {
        output::document(format, self, || {
            let mut rows = vec![
                ("scheme", self.scheme.to_owned()),
                ("seed scheme", self.seed_scheme.to_owned()),
                ("path", self.path.clone()),
                ("public", self.public.clone()),
                ("fingerprint", self.fingerprint.clone()),
            ];
            let more = [
                ("jwk", self.jwk.clone()),
                ("did", self.did.clone()),
                ("xpub", self.xpub.clone()),
                ("chain code", self.chain_code.clone()),
                ("private", self.private.map(str::to_owned)),
            ];
            rows.extend(
                more.into_iter()
                    .filter_map(|(name, value)| Some((name, value?))),
            );
            output::fields(&rows)
        })?;
        Ok(Exit::Ok)
    }
}

/// The DID that a first master key of secp256k1 names.
fn did(path: &Path, public: &PublicKey) -> Option<String> {
    let first = path
        .children()
        .last()
        .is_some_and(|last| last.number() == 0);
    let master = purpose_of(path) == Some(Purpose::Master);
    (first && master).then(|| prism_did(public).ok()).flatten()
}

pub(super) fn derive(arguments: &Derive, format: Format) -> Result<Exit, Failure> {
    let tree = &arguments.tree;
    let path = tree.path()?;
    let document = tree.document()?;
    may_leave(document.export)?;
    let node = tree.root(&document)?.derive(&path).map_err(refused)?;
    confirm("the private key is printed in plain form", arguments.yes)?;
    let exported = node.export().map_err(refused)?;
    let digits = SecretBytes::from_vec(hex::encode(exported.key.expose()).into_bytes());
    let public = node.public_key().map_err(refused)?;
    let mut key = Key::of(&path, &public, node.seed_scheme().name());
    key.private = std::str::from_utf8(digits.expose()).ok();
    key.print(format)
}

pub(super) fn public(arguments: &Public, format: Format) -> Result<Exit, Failure> {
    let path = arguments.tree.path()?;
    let node = arguments.tree.node(&path)?;
    if let Some(profile) = arguments.profile {
        return under(profile.into(), node, &path, format);
    }
    let public = node.public_key().map_err(refused)?;
    let key = Key::of(&path, &public, node.seed_scheme().name());
    // Whoever reads may take long, and needs no private key for it.
    drop(node);
    key.print(format)
}

fn under(
    profile: Profile,
    node: Box<PrivateNode>,
    path: &Path,
    format: Format,
) -> Result<Exit, Failure> {
    let key = ProfileKey::of(&node, profile).map_err(refused)?;
    let shown = UnderProfile {
        scheme: node.scheme().name(),
        seed_scheme: node.seed_scheme().name(),
        profile: profile.name(),
        path: path.to_string(),
        public: hex::encode(&key.public_key().map_err(refused)?),
    };
    drop((key, node));
    output::document(format, &shown, || {
        output::fields(&[
            ("scheme", shown.scheme.to_owned()),
            ("seed scheme", shown.seed_scheme.to_owned()),
            ("profile", shown.profile.to_owned()),
            ("path", shown.path.clone()),
            ("public", shown.public.clone()),
        ])
    })?;
    Ok(Exit::Ok)
}

pub(super) fn xpub(arguments: &Xpub, format: Format) -> Result<Exit, Failure> {
    let tree = &arguments.tree;
    let path = tree.path()?;
    let root = tree.root(&tree.document()?)?;
    let mut node = root.derive_with_parent(&path).map_err(refused)?;
    let public = node.share_public().map_err(refused)?;
    let mut key = Key::of(&path, public.key(), node.seed_scheme().name());
    // P-256 and BIP32-Ed25519 have public nodes and no text for them.
    key.xpub = public.to_xpub().ok();
    key.chain_code = Some(hex::encode(public.chain_code()));
    drop((root, node));
    key.print(format)
}
