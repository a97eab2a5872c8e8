//! Values and tokens: what callers give and get.

use keywright_api::answer::{MaskAnswer, TokenAnswer, ValueAnswer};
use keywright_api::request::{TokenItem, ValueItem};
use keywright_api::{Text, Tweak};
use keywright_secret::SecretBytes;
use keywright_types::KeyVersion;

use crate::Error;
use crate::items::{AROUND, Give, Take};

/// Cells of other columns that the tweak needs: the column's name and the text of each.
pub type Cells<'a> = &'a [(&'a str, &'a str)];

/// A value to make a token of.
#[derive(Clone, Copy)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the arguments of a call, by name"
)]
pub struct Value<'a> {
    /// The value, of the context's format.
    pub value: &'a str,
    /// What the context's tweak needs besides.
    pub tweak: Cells<'a>,
}

/// A token to make a value of, or to see masked.
#[derive(Clone, Copy)]
#[expect(
    clippy::exhaustive_structs,
    reason = "the arguments of a call, by name"
)]
pub struct Token<'a> {
    /// The token.
    pub token: &'a str,
    /// The version that made it. Nothing tells a wrong one: it gives another value.
    pub key_version: KeyVersion,
    /// What was given when it was made.
    pub tweak: Cells<'a>,
}

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tokenized {
    /// The token: a value of the same format.
    pub token: String,
    /// The version that made it.
    pub key_version: KeyVersion,
}

/// A value that was made of a token.
#[derive(Debug)]
#[non_exhaustive]
pub struct Detokenized {
    /// The value, UTF-8.
    pub value: SecretBytes,
    /// The version that was named.
    pub key_version: KeyVersion,
}

/// What a mask leaves of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Masked {
    /// What is left.
    pub masked: String,
    /// The version that was named.
    pub key_version: KeyVersion,
}

impl Detokenized {
    /// The value as text.
    #[must_use]
    pub fn text(&self) -> &str {
        // It came as a text of JSON.
        std::str::from_utf8(self.value.expose()).unwrap_or_default()
    }
}

impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Value({} bytes)", self.value.len())
    }
}

impl std::fmt::Debug for Token<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "Token({} bytes, version {})",
            self.token.len(),
            self.key_version
        )
    }
}

fn written<'a>(cells: Cells<'a>) -> Option<Tweak<'a>> {
    let named = cells
        .iter()
        .map(|(name, cell)| (Text::new(name), Text::new(cell)));
    (!cells.is_empty()).then(|| Tweak::new(named.collect()))
}

/// About how many bytes texts take in JSON.
fn weight(text: &str, cells: Cells<'_>) -> usize {
    let one = |(name, cell): &(&str, &str)| name.len() + cell.len() + 6;
    2 * AROUND + text.len() + cells.iter().map(one).sum::<usize>()
}

impl<'a> Give for Value<'a> {
    type Wire = ValueItem<'a>;

    fn wire(&self) -> ValueItem<'a> {
        ValueItem {
            value: Text::new(self.value),
            tweak: written(self.tweak),
        }
    }

    fn weight(&self) -> usize {
        weight(self.value, self.tweak)
    }
}

impl<'a> Give for Token<'a> {
    type Wire = TokenItem<'a>;

    fn wire(&self) -> TokenItem<'a> {
        TokenItem {
            token: Text::new(self.token),
            key_version: self.key_version,
            tweak: written(self.tweak),
        }
    }

    fn weight(&self) -> usize {
        weight(self.token, self.tweak)
    }
}

impl Take for Tokenized {
    type Wire<'a> = TokenAnswer<'a>;

    fn take(wire: TokenAnswer<'_>) -> Result<Self, Error> {
        Ok(Self {
            token: wire.token.expose().to_owned(),
            key_version: wire.key_version,
        })
    }
}

impl Take for Detokenized {
    type Wire<'a> = ValueAnswer<'a>;

    fn take(wire: ValueAnswer<'_>) -> Result<Self, Error> {
        Ok(Self {
            value: SecretBytes::from_vec(wire.value.expose().as_bytes().to_vec()),
            key_version: wire.key_version,
        })
    }
}

impl Take for Masked {
    type Wire<'a> = MaskAnswer<'a>;

    fn take(wire: MaskAnswer<'_>) -> Result<Self, Error> {
        Ok(Self {
            masked: wire.masked.expose().to_owned(),
            key_version: wire.key_version,
        })
    }
}
