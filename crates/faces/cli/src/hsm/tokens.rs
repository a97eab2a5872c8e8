//! The commands on whole tokens: init-token, init-pin, change-pin, delete-token.

use keywright_hsm::tokens::{self, Existing, Preview};
use keywright_hsm::{Caution, Login, TokenChoice, User};

use super::answer::{Answer, Beside, Refusal};
use super::pin::{NewPin, OfficerAlone, OfficerPin, Source, UserPin, Wanted, Words};
use super::place::Place;
use crate::confirm::{Word, Yes, confirm_with};
use crate::exit::{Exit, Failure};

/// The officer's PIN, from its source or the terminal.
fn officer(pin: &OfficerPin, user: &UserPin, beside: &mut Beside) -> Result<Login, Refusal> {
    let source = pin.source()?.unwrap_or(Source::Prompt(Wanted::Officer));
    named(source, user.words(), beside)
}

fn named(source: Source, words: Words, beside: &mut Beside) -> Result<Login, Refusal> {
    Ok(Login::Pin(source.read(words, &mut beside.warnings)?))
}

/// A token to initialise.
#[derive(Debug, clap::Args)]
pub(crate) struct InitWords {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    officer: OfficerAlone,
}

pub(super) fn init(words: &InitWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let place = &words.place;
    let label = place
        .label
        .as_deref()
        .ok_or_else(|| Refusal::usage("the new token has no label", "add --label NAME"))?;
    let at = place.resolve(&[], beside)?;
    let module = at.load()?;
    let choice = TokenChoice {
        label: None,
        ..place.choice(&at)
    };
    let token = tokens::blank(&module, &choice)?;
    let source = words
        .officer
        .source()?
        .unwrap_or(Source::Prompt(Wanted::FirstOfOfficer));
    let officer = named(source, words.officer.words(), beside)?;
    Ok(Answer::of(&tokens::initialize(&token, &officer, label)?))
}

/// A user's PIN to set.
#[derive(Debug, clap::Args)]
pub(crate) struct PinWords {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    officer: OfficerPin,
    #[command(flatten)]
    user: UserPin,
    #[command(flatten)]
    yes: Yes,
}

pub(super) fn init_pin(words: &PinWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let (token, _) = words.place.token(&[], beside)?;
    let officer = officer(&words.officer, &words.user, beside)?;
    let source = words
        .user
        .source()?
        .unwrap_or(Source::Prompt(Wanted::FirstOfUser));
    let pin = named(source, words.user.words(), beside)?;
    let existing = match words.yes.yes {
        true => Existing::Replace,
        false => Existing::Keep,
    };
    let how = (existing, words.user.caution());
    Ok(Answer::of(&tokens::set_user_pin(
        &token, &officer, &pin, how,
    )?))
}

/// A PIN to change.
#[derive(Debug, clap::Args)]
pub(crate) struct ChangeWords {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    user: UserPin,
    #[command(flatten)]
    officer: OfficerPin,
    #[command(flatten)]
    new: NewPin,
    /// Change the security officer's PIN instead of the user's.
    #[arg(long)]
    so: bool,
}

impl ChangeWords {
    /// A PIN of who does not change his would be read by nobody.
    fn refuse_the_other(&self) -> Result<(), Refusal> {
        let other = match self.so {
            true => self
                .user
                .source()?
                .map(|_| "the user's PIN is named, and the security officer's is changed"),
            false => self
                .officer
                .source()?
                .map(|_| "the security officer's PIN is named, and the user's is changed"),
        };
        match other {
            Some(told) => Err(Refusal::usage(
                told,
                "add --so to change the security officer's, and name the one that is changed",
            )),
            None => Ok(()),
        }
    }
}

pub(super) fn change(words: &ChangeWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    words.refuse_the_other()?;
    let (token, _) = words.place.token(&[], beside)?;
    let (who, old) = match words.so {
        true => (
            User::SecurityOfficer,
            officer(&words.officer, &words.user, beside)?,
        ),
        false => {
            let source = words.user.source()?.unwrap_or(Source::Prompt(Wanted::User));
            (User::User, named(source, words.user.words(), beside)?)
        }
    };
    let source = words.new.source()?.unwrap_or(Source::Prompt(Wanted::Next));
    let new = named(source, Words::Refuse, beside)?;
    let done = tokens::change_pin(&token, who, (&old, &new), words.user.caution())?;
    Ok(Answer::of(&done))
}

/// A token to empty.
#[derive(Debug, clap::Args)]
pub(crate) struct DeleteWords {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    officer: OfficerAlone,
    /// Log in even if the next wrong PIN locks the token.
    #[arg(long)]
    final_try: bool,
    /// The serial number of the token, to confirm that it is this one.
    #[arg(long, value_name = "SERIAL")]
    confirm: Option<String>,
    #[command(flatten)]
    yes: Yes,
    /// Show what would be lost, and do nothing.
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn delete(words: &DeleteWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let (token, _) = words.place.token(&[], beside)?;
    let preview = tokens::preview(&token)?;
    if words.dry_run {
        return Ok(Answer::of(&preview));
    }
    consent(words, &preview)?;
    let source = words
        .officer
        .source()?
        .unwrap_or(Source::Prompt(Wanted::Officer));
    let officer = named(source, words.officer.words(), beside)?;
    let caution = match words.final_try {
        true => Caution::Risk,
        false => Caution::Guard,
    };
    let done = tokens::erase(&token, &officer, caution)?;
    Ok(Answer::of(&done))
}

fn consent(words: &DeleteWords, preview: &Preview) -> Result<(), Refusal> {
    let serial = &preview.token.serial_number;
    let deed = format!(
        "re-initialise the token {:?}, serial {serial}, with {} public objects and all private ones",
        preview.token.label, preview.public_object_count
    );
    match &words.confirm {
        Some(given) if given == serial => Ok(()),
        Some(_) => Err(Failure::new(
            Exit::Refused,
            format!("{deed}: --confirm is another serial number"),
            "nothing was changed",
        )
        .into()),
        None => {
            let word = Word::Own("serial number", serial);
            Ok(confirm_with(&deed, word, words.yes)?)
        }
    }
}
