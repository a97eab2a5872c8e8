//! How a CSV file is written, as far as a command is told.

use keywright_protect::{Options as RunOptions, Protection};
use keywright_tabular::csv::{Options, Quoting, Separator};

use crate::exit::{Exit, Failure};

/// What separates and quotes the fields of a CSV file.
#[derive(Debug, clap::Args)]
pub(crate) struct DialectArgs {
    /// What separates the fields of a CSV file [default: what cuts the header into most columns].
    #[arg(long, value_enum, value_name = "WORD")]
    separator: Option<SeparatorWord>,
    /// How fields are quoted: by doubled quotes, or not at all [default: what protect was told, else double].
    #[arg(long, value_enum, value_name = "WORD")]
    quote: Option<QuoteWord>,
    /// Accept quoted cells that hold separators or line ends and look like rows or values.
    #[arg(long)]
    accept_quoted_values: bool,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum SeparatorWord {
    Comma,
    Pipe,
    Semicolon,
    Tab,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum QuoteWord {
    /// As RFC 4180 has it, in files with tabs as well.
    Double,
    /// A quote is a byte like any other.
    None,
}

impl From<SeparatorWord> for Separator {
    fn from(word: SeparatorWord) -> Self {
        match word {
            SeparatorWord::Comma => Self::Comma,
            SeparatorWord::Pipe => Self::Pipe,
            SeparatorWord::Semicolon => Self::Semicolon,
            SeparatorWord::Tab => Self::Tab,
        }
    }
}

impl DialectArgs {
    /// The separator, which makes CSV of any file.
    pub(crate) fn is_csv(&self) -> bool {
        self.separator.is_some()
    }

    /// How to read the file; `protection` is its description, if it has one.
    pub(crate) fn options(&self, protection: Option<&Protection>) -> Result<Options, Failure> {
        let recorded = protection.and_then(Protection::quoting);
        let options = Options::default()
            .with_max_record(RunOptions::LONGEST_RECORD)
            .with_quoting(self.quoting(recorded)?);
        Ok(match self.separator {
            Some(word) => options.with_separator(word.into()),
            None => options,
        })
    }

    fn quoting(&self, recorded: Option<Quoting>) -> Result<Quoting, Failure> {
        let quote = self.quote.or(match recorded {
            Some(Quoting::None) => Some(QuoteWord::None),
            Some(Quoting::Double | Quoting::Accepted) => Some(QuoteWord::Double),
            Some(Quoting::Assumed) | None => None,
        });
        let is_accepted = self.accept_quoted_values || recorded == Some(Quoting::Accepted);
        match quote {
            Some(QuoteWord::None) if self.accept_quoted_values => Err(Failure::new(
                Exit::Usage,
                "--accept-quoted-values is for files with quotes",
                "leave it out, or say --quote double",
            )),
            Some(QuoteWord::None) => Ok(Quoting::None),
            _ if is_accepted => Ok(Quoting::Accepted),
            Some(QuoteWord::Double) => Ok(Quoting::Double),
            None => Ok(Quoting::Assumed),
        }
    }
}
