//! A token that is open and logged in.

use keywright_pkcs11::{
    Ability, Access, Credential, Error, Mechanism, Module, ObjectHandle, PairKind, Pin, Session,
    Template, Token, TokenQuery, User,
};
use keywright_pkcs11_names::{ObjectClass, ReturnCode};
use keywright_tokens::{Kind, Store};

pub(crate) fn pin(text: &str) -> Pin {
    Pin::from_line(text.as_bytes().to_vec())
}

pub(crate) fn module(store: &Store) -> Module {
    Module::load(store.tokens()[0].module()).unwrap()
}

pub(crate) fn token(store: &Store) -> Token {
    let label = store.tokens()[0].label().to_owned();
    module(store)
        .find_token(&TokenQuery::label(&label))
        .unwrap()
}

/// A session that is logged in as the user.
pub(crate) fn session(store: &Store, access: Access) -> Session {
    let session = token(store).open_for(access).unwrap();
    let pin = pin(store.tokens()[0].user_pin());
    session.login(User::User, Credential::Pin(&pin)).unwrap();
    session
}

pub(crate) fn writing(store: &Store) -> Session {
    session(store, Access::Write)
}

pub(crate) fn is_softhsm(store: &Store) -> bool {
    store.kind() == Kind::SoftHsm
}

#[track_caller]
pub(crate) fn code(error: &Error) -> ReturnCode {
    match error.failure() {
        Some(failure) => failure.code(),
        None => panic!("no call failed: {error:?}"),
    }
}

pub(crate) fn sealed(
    session: &Session,
    mechanism: &Mechanism<'_>,
    key: ObjectHandle,
    text: &[u8],
) -> Vec<u8> {
    let mut out = Vec::new();
    session.encrypt(mechanism, key, text, &mut out).unwrap();
    out
}

pub(crate) fn signed(
    session: &Session,
    mechanism: &Mechanism<'_>,
    key: ObjectHandle,
    text: &[u8],
) -> Vec<u8> {
    let mut out = Vec::new();
    session.sign(mechanism, key, text, &mut out).unwrap();
    out
}

/// Every secret key: some tokens have objects of their own from the beginning.
pub(crate) fn secrets() -> Template {
    Template::new().class(ObjectClass::SECRET_KEY)
}

/// Whether the token makes such pairs.
pub(crate) fn makes(session: &Session, kind: PairKind) -> bool {
    session
        .token()
        .can(&kind.mechanism(), Ability::GeneratePair)
}
