//! `keywright hd derive`, `public` and `xpub`.

use keywright_encoding::hex;
use keywright_hdkey::identus::{Purpose, prism_did, purpose_of};
use keywright_hdkey::{Path, PublicKey};
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
    let public = node.public_key().map_err(refused)?;
    Key::of(&path, &public, node.seed_scheme().name()).print(format)
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
    key.print(format)
}
