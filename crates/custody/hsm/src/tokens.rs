//! Tokens initialised, PINs set and changed, tokens emptied.
//!
//! PKCS#11 has no way to delete a token: [`erase`] initialises it again, with no label and no user PIN.

use keywright_pkcs11::{Access, Module, SlotId, Template, Token, TokenInfo, User};
use serde::Serialize;

use crate::desk::{Caution, Login};
use crate::error::Error;
use crate::information::TokenReport;
use crate::selection::TokenChoice;

/// A token after something was done to it.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct TokenDone {
    pub operation: &'static str,
    pub slot_id: u64,
    #[serde(flatten)]
    pub token: TokenReport,
}

impl TokenDone {
    fn new(operation: &'static str, info: &TokenInfo) -> Self {
        Self {
            operation,
            slot_id: info.slot.number(),
            token: TokenReport::new(info),
        }
    }
}

/// The one token that is not initialised yet and fits; the label of the choice does not count, since such a
/// token has none.
///
/// # Errors
/// [`Error::NoToken`], [`Error::ManyTokens`]; what the module fails with.
pub fn blank(module: &Module, choice: &TokenChoice<'_>) -> Result<Token, Error> {
    let choice = TokenChoice {
        label: None,
        ..*choice
    };
    choice.find_where(module, |info| !info.flags.is_initialized())
}

/// Initialises a blank token, and finds it again: its slot may have another number afterwards.
///
/// # Errors
/// [`Error::Refused`] if it is not blank, or another token has the label; what the token refuses.
pub fn initialize(token: &Token, officer: &Login, label: &str) -> Result<TokenDone, Error> {
    let module = token.module();
    if token.info()?.flags.is_initialized() {
        return Err(Error::Refused(
            "the token is initialised already; delete-token empties it".to_owned(),
        ));
    }
    let blank = label.trim_end_matches(' ');
    if blank.is_empty() || blank.len() != label.len() {
        return Err(Error::Value(
            "a token label is not empty and does not end with a blank".to_owned(),
        ));
    }
    let taken = |info: &TokenInfo| info.flags.is_initialized() && info.label == label;
    if module.tokens()?.iter().any(taken) {
        return Err(Error::Refused(format!(
            "a token labelled {label:?} is there already"
        )));
    }
    token.initialize(officer.credential(), label)?;
    // Asking for the list is how some modules notice their new slots.
    let found = module.tokens()?.into_iter().find(taken);
    match found {
        Some(info) => Ok(TokenDone::new("init-token", &info)),
        None => Err(Error::NoToken {
            wanted: format!("labelled {label:?} after it was initialised"),
            present: Vec::new(),
        }),
    }
}

/// Whether a PIN that is set already may be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no third")]
pub enum Existing {
    /// No.
    Keep,
    /// Yes.
    Replace,
}

/// Sets the user's PIN as security officer, and proves it by logging in with it.
///
/// # Errors
/// [`Error::Refused`] if there is one; [`Error::FinalTry`]; what the token refuses.
pub fn set_user_pin(
    token: &Token,
    officer: &Login,
    pin: &Login,
    (existing, caution): (Existing, Caution),
) -> Result<TokenDone, Error> {
    let info = token.info()?;
    if info.flags.has_user_pin() && existing == Existing::Keep {
        return Err(Error::Refused(
            "the token has a user PIN already; add --yes to replace it".to_owned(),
        ));
    }
    caution.check(&info, User::SecurityOfficer)?;
    let session = token.open_for(Access::Write)?;
    session.login(User::SecurityOfficer, officer.credential())?;
    session.set_user_pin(pin.credential())?;
    session.logout()?;
    session.login(User::User, pin.credential())?;
    Ok(TokenDone::new("init-pin", &token.info()?))
}

/// Changes the PIN of the user or the security officer. The old one is tried once.
///
/// # Errors
/// [`Error::FinalTry`]; what the token refuses.
pub fn change_pin(
    token: &Token,
    who: User,
    (old, new): (&Login, &Login),
    caution: Caution,
) -> Result<TokenDone, Error> {
    caution.check(&token.info()?, who)?;
    let session = token.open_for(Access::Write)?;
    session.login(who, old.credential())?;
    session.change_pin(old.credential(), new.credential())?;
    Ok(TokenDone::new("change-pin", &token.info()?))
}

/// What would be lost with a token.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "the names say it")]
#[non_exhaustive]
pub struct Preview {
    pub slot_id: u64,
    #[serde(flatten)]
    pub token: TokenReport,
    /// Objects that are seen without a log-in; private ones are not among them.
    pub public_object_count: usize,
}

/// Looks at a token that is to be emptied.
///
/// # Errors
/// What the token fails with.
pub fn preview(token: &Token) -> Result<Preview, Error> {
    let info = token.info()?;
    let session = token.open()?;
    let mut public_object_count = 0;
    for object in session.search(&Template::new())? {
        object?;
        public_object_count += 1;
    }
    Ok(Preview {
        slot_id: info.slot.number(),
        token: TokenReport::new(&info),
        public_object_count,
    })
}

/// Initialises a token again with an empty label: every object in it and the user's PIN are gone.
///
/// # Errors
/// [`Error::FinalTry`]; [`Error::Layer`] for a wrong PIN of the security officer, and while a session is open.
pub fn erase(token: &Token, officer: &Login, caution: Caution) -> Result<TokenDone, Error> {
    let before = token.info()?;
    caution.check(&before, User::SecurityOfficer)?;
    token.initialize(officer.credential(), "")?;
    let module = token.module();
    let after = module.tokens()?;
    let same = |info: &&TokenInfo| info.serial == before.serial;
    let found = after.iter().find(same).cloned();
    let info = match found {
        Some(info) => info,
        // A token whose serial number is made anew is still where it was.
        None => module.token_info(SlotId::new(before.slot.number()))?,
    };
    Ok(TokenDone::new("delete-token", &info))
}
