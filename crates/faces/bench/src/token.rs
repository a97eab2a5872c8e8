//! `benchmark`: what a token does in a second, on the measurement engine.

use std::sync::Arc;

use keywright_targets::token::{NamedKey, Opened, TokenPlace};

use crate::bench::{TokenFlags, unmeasurable};
use crate::exit::{Exit, Failure};
use crate::output::Format;
use keywright_hsm::{Context, Kind};
use keywright_secret::locked::refuse_core_files;
use keywright_terminal::token::answer::{self, Beside, Refusal};
use keywright_terminal::token::environment;
use keywright_terminal::token::pin::UserPin;
use keywright_terminal::token::place::{Entry, Key, Place, login};

/// Which token is measured, and how.
#[derive(Debug, clap::Args)]
pub(crate) struct BenchmarkWords {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    pin: UserPin,
    #[command(flatten)]
    key: Key,
    #[command(flatten)]
    flags: TokenFlags,
}

/// The same as a command of its own: with the flag that `hsm` has for all its commands.
#[derive(Debug, clap::Args)]
pub(crate) struct Alone {
    /// The same as --format json.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) words: BenchmarkWords,
}

/// Measures a token. Whatever keeps it from being measured is said as the other commands on tokens say it.
pub(crate) fn run(words: &BenchmarkWords, format: Format) -> Result<Exit, Failure> {
    // PINs, plain texts and keys of files pass through the memory of this process.
    refuse_core_files();
    let mut beside = Beside::default();
    let typed = crate::program::words();
    let prepared = environment::prepare(crate::program::definitions(&typed), &typed);
    let ready = prepared.and_then(|()| words.ready(&mut beside));
    match ready.and_then(|ready| words.run(&ready, &mut beside, format)) {
        Ok(exit) => Ok(exit),
        Err(refusal) => answer::print("benchmark", Context::General, format, &beside, Err(refusal)),
    }
}

/// A token that is ready to be measured.
struct Ready {
    token: Arc<Opened>,
    key: Option<NamedKey>,
}

impl BenchmarkWords {
    /// Opens the token, and finds the key if one is named.
    fn ready(&self, beside: &mut Beside) -> Result<Ready, Refusal> {
        self.flags.check()?;
        let named = self.place.key(&self.key)?;
        let (token, at) = self.place.token(&[&named], beside)?;
        let login = login(&token, &at, &self.pin, Entry::Needed, beside)?;
        let place = TokenPlace {
            token,
            login,
            storage: self.flags.storage(),
            sharing: self.flags.sharing(),
        };
        let token = Opened::new(place).map_err(|error| unmeasurable(&error))?;
        // A wrong PIN is found here, and never tried a second time.
        token.log_in(self.pin.caution())?;
        let choice = named.choice();
        let key = match choice.is_empty() {
            true => None,
            false => Some(token.name_key(&choice)?),
        };
        Ok(Ready { token, key })
    }

    /// Measures it. What comes of it is a document of the measurement engine; why nothing comes of it is said
    /// as the other commands say it.
    fn run(&self, ready: &Ready, beside: &mut Beside, format: Format) -> Result<Exit, Refusal> {
        // Before it begins, because it may take long.
        for warning in beside.warnings.drain(..) {
            message!("warning: {}", crate::output::line(&warning));
        }
        let measured =
            crate::bench::on_token(&self.flags, (&ready.token, ready.key.as_ref()), format);
        measured.map_err(|failure| match ready.token.take_cause(&failure.happened) {
            None => failure.into(),
            // A signature that does not fit is an answer to `verify`; here it is a fault of the token.
            Some(error) if kind(failure.exit).is_some_and(|kind| error.kind() != kind) => {
                failure.into()
            }
            Some(error) => {
                // Which operation it was: the token's error knows the call alone.
                beside.warnings.push(failure.happened);
                error.into()
            }
        })
    }
}

/// The kind of an error of the token that ends a measurement like this.
const fn kind(exit: Exit) -> Option<Kind> {
    match exit {
        Exit::Target => Some(Kind::Token),
        Exit::Unsupported => Some(Kind::Unsupported),
        _ => None,
    }
}
