//! Contexts whose keys make tokens: their format, from the command line or from a rules file.

use std::path::{Path, PathBuf};

use keywright_custody::{Detail, FormatDetail};
use keywright_format::{Cipher, Format, Mask, Rules, Settings, TweakPolicy};
use keywright_service::AdminError;
use keywright_types::{Algorithm, Name};

use crate::exit::{Exit, Failure};
use crate::place;

/// What values of the context look like. With any of these its key makes tokens.
#[derive(Debug, clap::Args)]
pub(super) struct FormatOptions {
    /// Make tokens of values of this format, such as 'card(keep=last4)'; `keywright format list` shows them.
    #[arg(long, value_name = "FORMAT", conflicts_with = "rules")]
    value_format: Option<String>,
    /// The same, as a column of a rules file says.
    #[arg(long, value_name = "FILE", requires = "column")]
    rules: Option<PathBuf>,
    /// The column's name, which is a part of most tweaks [default: the context's name].
    #[arg(long, value_name = "NAME")]
    column: Option<String>,
    /// What the tweak is made of [default: column].
    #[arg(long, value_name = "POLICY", requires = "value_format")]
    tweak: Option<String>,
    /// What those see who may mask and not detokenize, such as last4.
    #[arg(long, value_name = "MASK", requires = "value_format")]
    mask: Option<String>,
    /// Take sets of fewer than 1,000,000 values: who sees enough tokens of one recovers values.
    #[arg(long, requires = "value_format")]
    accept_small_domain: bool,
    /// The block cipher of FF1.
    #[arg(long, value_enum, default_value_t = CipherName::Aes256)]
    cipher: CipherName,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum CipherName {
    #[value(name = "aes-128")]
    Aes128,
    #[value(name = "aes-192")]
    Aes192,
    #[value(name = "aes-256")]
    Aes256,
    Sm4,
}

impl CipherName {
    const fn of(self) -> (Cipher, Algorithm) {
        match self {
            Self::Aes128 => (Cipher::Aes128, Algorithm::Ff1Aes128),
            Self::Aes192 => (Cipher::Aes192, Algorithm::Ff1Aes192),
            Self::Aes256 => (Cipher::Aes256, Algorithm::Ff1Aes256),
            Self::Sm4 => (Cipher::Sm4, Algorithm::Ff1Sm4),
        }
    }
}

impl FormatOptions {
    /// The key's algorithm and detail, if a format is given.
    pub(super) fn read(&self, context: &Name) -> Result<Option<(Algorithm, Detail)>, Failure> {
        let algorithm = self.cipher.of().1;
        let detail = match (&self.value_format, &self.rules) {
            (None, None) => return self.nothing_given().map(|()| None),
            (Some(text), _) => self.described(text, context)?,
            (None, Some(file)) => self.of_rules(file)?,
        };
        Ok(Some((algorithm, Detail::Format(detail))))
    }

    fn nothing_given(&self) -> Result<(), Failure> {
        match &self.column {
            None => Ok(()),
            Some(_) => Err(Failure::new(
                Exit::Usage,
                "--column belongs to a format, and none is given",
                "give --value-format FORMAT, or --rules FILE",
            )),
        }
    }

    fn described(&self, text: &str, context: &Name) -> Result<FormatDetail, Failure> {
        let format = Format::parse(text).map_err(|error| wrong("--value-format", error))?;
        let tweak = self.tweak.as_deref().map(TweakPolicy::parse);
        let tweak = tweak.transpose().map_err(|error| wrong("--tweak", error))?;
        let mask = self.mask.as_deref().map(Mask::parse);
        let mask = mask.transpose().map_err(|error| wrong("--mask", error))?;
        let settings = Settings::new(tweak.unwrap_or_default()).with_cipher(self.cipher.of().0);
        let settings = match self.accept_small_domain {
            true => settings.accept_small_domain(),
            false => settings,
        };
        let column = self.column.as_deref().unwrap_or(context.as_str());
        keywright_service::format_detail(&format, (settings, column), mask.as_ref())
            .map_err(refused)
    }

    fn of_rules(&self, file: &Path) -> Result<FormatDetail, Failure> {
        let name = file.display().to_string();
        let text = String::from_utf8(place::read(file)?).map_err(|_| {
            Failure::new(
                Exit::Usage,
                format!("{name} is not UTF-8"),
                "give a rules file, which is TOML",
            )
        })?;
        let rules = Rules::parse(&text).map_err(|error| wrong(&name, error))?;
        let wanted = self.column.as_deref().unwrap_or_default();
        let rule = rules.columns().iter().find(|rule| rule.name() == wanted);
        let format = rule.and_then(|rule| Some((rule, rule.format()?)));
        let (rule, format) = format.ok_or_else(|| {
            Failure::new(
                Exit::NotFound,
                format!("{name} has no format for a column {wanted:?}"),
                "name a column of the file that has a format: --column NAME",
            )
        })?;
        let settings = rule.settings().with_cipher(self.cipher.of().0);
        keywright_service::format_detail(format, (settings, rule.name()), rule.mask())
            .map_err(refused)
    }
}

fn wrong(place: &str, error: keywright_format::Error) -> Failure {
    Failure::new(
        Exit::Usage,
        format!("{place}: {error}"),
        "`keywright format list` shows what there is, `keywright format describe` one of them",
    )
}

fn refused(error: AdminError) -> Failure {
    let code = error.code();
    Failure {
        code: Some(code.name()),
        ..Failure::new(
            Exit::of(code),
            crate::exit::sentence(&error),
            "nothing was made; choose another format or tweak",
        )
    }
}
