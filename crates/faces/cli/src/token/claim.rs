//! What issuer and holder can both say.

use keywright_token::ScopeText;

use super::refused::refused;
use super::text::{End, seconds};
use crate::exit::Failure;

/// Claims that narrow.
#[derive(Debug, clap::Args)]
pub(super) struct Common {
    #[command(flatten)]
    pub(super) end: End,
    /// It begins at this second since 1970.
    #[arg(long, value_name = "SECONDS")]
    not_before: Option<u64>,
    /// Who is to accept it.
    #[arg(long, value_name = "NAME")]
    pub(super) audience: Option<String>,
    /// What its holder may do: words with spaces between them, in any order.
    #[arg(long, value_name = "WORDS")]
    scope: Option<String>,
}

impl Common {
    pub(super) fn begin(&self) -> Result<Option<keywright_token::UnixSeconds>, Failure> {
        self.not_before.map(seconds).transpose()
    }

    pub(super) fn scope(&self) -> Result<Option<ScopeText>, Failure> {
        self.scope.as_deref().map(words).transpose()
    }
}

/// A scope of words in any order.
pub(super) fn words(text: &str) -> Result<ScopeText, Failure> {
    ScopeText::of(text.split_ascii_whitespace()).map_err(refused)
}
