//! `benchmark`: what a token does in a second, on the measurement engine.

use std::sync::Arc;

use keywright_targets::token::{NamedKey, Opened, TokenPlace};

use super::answer::{Beside, Refusal};
use super::pin::UserPin;
use super::place::{Entry, Key, Named, Place, login};
use crate::bench::{TokenFlags, unmeasurable};
use crate::exit::{Exit, Failure};
use crate::output::Format;

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

/// A token that is ready to be measured.
pub(super) struct Ready {
    token: Arc<Opened>,
    key: Option<NamedKey>,
}

impl BenchmarkWords {
    /// Opens the token, and finds the key if one is named.
    pub(super) fn ready(&self, beside: &mut Beside) -> Result<Ready, Refusal> {
        self.flags.check()?;
        let (token, at) = self.place.token(beside)?;
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
        let mut named = Named::default();
        let choice = at.key(&self.key, &mut named)?;
        let key = match choice.is_empty() {
            true => None,
            false => Some(token.name_key(&choice)?),
        };
        Ok(Ready { token, key })
    }

    /// Measures it. What comes of it is a document of the measurement engine.
    pub(super) fn run(&self, ready: &Ready, format: Format) -> Result<Exit, Failure> {
        crate::bench::on_token(&self.flags, (&ready.token, ready.key.as_ref()), format)
    }
}
