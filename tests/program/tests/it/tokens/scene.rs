//! A home with a token, and contexts in it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use keywright_home::{Answer, Beginning, Contents, HomeError, NewRoot, Order, Token};
use keywright_policy::ContextPattern;
use keywright_tokens::Store;
use keywright_types::{Algorithm, BindingKind, Custody, KeySpec, KeyVersion, Operation, State};

use crate::fixture::*;

/// A context in the token.
pub(super) const VAULT: &str = "vault";

/// A file with the PIN of the store's token, for its owner alone.
pub(super) fn pin_file(store: &Store) -> PathBuf {
    let path = store.folder().join("pin");
    fs::write(&path, format!("{}\n", store.tokens()[0].user_pin())).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    path
}

/// The section of the configuration, with `more` at its end.
pub(crate) fn section(store: &Store, more: &str) -> String {
    let token = &store.tokens()[0];
    format!(
        "[token]\nmodule = {:?}\nlabel = {:?}\npin_file = {:?}\n{more}\n[audit]",
        token.module(),
        token.label(),
        pin_file(store)
    )
}

/// The demonstration with the token of a store.
pub(super) fn home_with(store: &Store, more: &str) -> Home {
    Home::demo().configure("[audit]", &section(store, more))
}

/// A demonstration whose root key is in the token.
pub(super) fn home_rooted(store: &Store) -> Home {
    Home::made_by(|place| create_rooted(store, place).unwrap())
}

pub(super) fn create_rooted(store: &Store, place: &Path) -> Result<(), HomeError> {
    let token = &store.tokens()[0];
    let (module, label) = (token.module().to_owned(), token.label().to_owned());
    let beginning = Beginning {
        contents: Contents::Demo,
        root: NewRoot::Token,
        token: Some(Token::new(module, Some(label), pin_file(store))),
        custody: Custody::Wrapped,
    };
    keywright_home::create_as(place, &beginning, &keywright_clock::Clock::system())
}

pub(super) fn spec(algorithm: Algorithm) -> KeySpec {
    KeySpec {
        algorithm,
        custody: Custody::Token,
        ..KeySpec::seal()
    }
}

pub(super) fn create(site: &Site, context: &str, spec: KeySpec) -> Result<(), HomeError> {
    let order = Order::ContextCreate {
        tenant: name("default"),
        name: name(context),
        binding: BindingKind::None,
        spec,
        rules: keywright_custody::Rules::default(),
        detail: None,
        secret: None,
    };
    site.node().carry_out(order).map(drop)
}

/// A site with a context in the token, which the trader may use in every way.
pub(super) fn with_vault(site: Site) -> Site {
    create(&site, VAULT, spec(Algorithm::TokenGcm12)).unwrap();
    allow(&site, VAULT);
    site
}

pub(crate) fn allow(site: &Site, context: &str) {
    site.change_policy(|document| {
        let grant = document
            .grants
            .iter_mut()
            .find(|grant| grant.operations.contains(&Operation::Encrypt))
            .unwrap();
        grant.contexts.push(ContextPattern::Exact(name(context)));
    });
}

pub(super) fn rotate(site: &Site, context: &str) -> Result<KeyVersion, HomeError> {
    let order = Order::KeyRotate {
        tenant: name("default"),
        name: name(context),
    };
    match site.node().carry_out(order)? {
        Answer::KeyRotated { version } => Ok(version),
        other => panic!("{other:?}"),
    }
}

/// The states of a context's versions, oldest first.
pub(super) fn states(site: &Site, context: &str) -> Vec<State> {
    let order = Order::Contexts {
        tenant: name("default"),
        name: Some(name(context)),
    };
    let Answer::Contexts { contexts } = site.node().carry_out(order).unwrap() else {
        panic!()
    };
    contexts[0]
        .versions
        .iter()
        .map(|version| version.state)
        .collect()
}

/// One message opened, or the code for which it was not.
pub(super) fn open(wire: &mut Wire, context: &str, sealed: &[u8]) -> Result<Vec<u8>, String> {
    let got = wire.post(&path(context, "decrypt"), item(&[("ciphertext", sealed)]));
    match got.status {
        200 => Ok(got.binary("plaintext")),
        _ => Err(got.code()),
    }
}

/// One message sealed, or the code for which it was not.
pub(super) fn try_seal(wire: &mut Wire, context: &str, text: &[u8]) -> Result<Vec<u8>, String> {
    let got = wire.post(&path(context, "encrypt"), item(&[("plaintext", text)]));
    match got.status {
        200 => Ok(got.binary("ciphertext")),
        _ => Err(got.code()),
    }
}

/// The id of the object with the key that made an envelope, in hexadecimal digits: the key's id, which stands in the
/// header, and the first version.
pub(super) fn object_of(sealed: &[u8]) -> String {
    let digits = sealed[6..22].iter().map(|byte| format!("{byte:02x}"));
    digits.chain(["00000001".to_owned()]).collect()
}

/// Has somebody else's tool do something with a secret key of the store's token; what it says if it does not.
pub(super) fn elsewhere(store: &Store, id: &str, words: &[&str]) -> Result<(), String> {
    let token = &store.tokens()[0];
    let mut tool = store.pkcs11_tool(token.label()).unwrap();
    tool.args(["--login", "--pin", token.user_pin()]);
    tool.args(words).args(["--type", "secrkey", "--id", id]);
    let done = tool.output().unwrap();
    match done.status.success() {
        true => Ok(()),
        false => Err(format!("{done:?}")),
    }
}
