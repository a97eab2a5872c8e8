//! The text that a seed lies in, in a [protected file](super::protected).
//!
//! ```text
//! keywright seed 1
//! seed_scheme bip39
//! export never
//! seed 0123...
//! ```
//!
//! A seed whose phrase was imported without a check has the line `phrase unchecked` before that of the seed.
//!
//! The names stand beside the seed, so that it cannot be read as another kind of seed by mistake, and all of
//! it is authenticated.

use std::path::Path;

use keywright_encoding::hex;
use keywright_hdkey::{Seed, SeedScheme};
use keywright_password::Profile;
use keywright_secret::SecretBytes;

use super::protected::Purpose;
use crate::exit::Failure;

const SEED_FILE: Purpose = Purpose {
    label: b"keywright/hd/seed",
    name: "seed file",
    made_by: "keywright hd seed new",
    longest: LONGEST,
};

const FIRST_LINE: &str = "keywright seed 1";

/// The longest text: four short lines and 128 digits.
const LONGEST: usize = 512;

/// Whether a seed, and private keys of it, may leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Export {
    /// Keys are used, and never leave.
    Never,
    /// Seed and keys may leave in plain form.
    Plain,
}

impl Export {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Never => "never",
            Self::Plain => "plain",
        }
    }
}

/// Whether the phrase that a seed came from was checked: number of words, list and checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PhraseRecord {
    /// It was, or the seed came from no phrase.
    Checked,
    /// It was imported with `--unchecked`.
    Unchecked,
}

impl PhraseRecord {
    /// What a command prints of it.
    pub(super) const fn shown(self) -> Option<&'static str> {
        match self {
            Self::Checked => None,
            Self::Unchecked => Some("unchecked"),
        }
    }
}

const UNCHECKED: &str = "phrase unchecked";

/// What a seed file holds.
pub(super) struct Document {
    pub(super) seed: Seed,
    pub(super) export: Export,
    pub(super) phrase: PhraseRecord,
}

impl Document {
    /// Writes the file. What exists already stays as it is, and that is an error.
    pub(super) fn write(
        &self,
        path: &Path,
        password: &SecretBytes,
        profile: Profile,
    ) -> Result<(), Failure> {
        SEED_FILE.write(path, &self.text(), password, profile)
    }

    /// Opens the file.
    pub(super) fn read(path: &Path, password: &SecretBytes) -> Result<Self, Failure> {
        let text = SEED_FILE.read(path, password)?;
        Self::parse(text.expose()).ok_or_else(|| SEED_FILE.none(path))
    }

    fn text(&self) -> SecretBytes {
        let digits = SecretBytes::from_vec(hex::encode(self.seed.expose()).into_bytes());
        let phrase = match self.phrase {
            PhraseRecord::Checked => String::new(),
            PhraseRecord::Unchecked => format!("{UNCHECKED}\n"),
        };
        let front = format!(
            "{FIRST_LINE}\nseed_scheme {}\nexport {}\n{phrase}seed ",
            self.seed.scheme(),
            self.export.name()
        );
        let mut text = Vec::with_capacity(LONGEST);
        text.extend_from_slice(front.as_bytes());
        text.extend_from_slice(digits.expose());
        text.push(b'\n');
        SecretBytes::from_vec(text)
    }

    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        let mut lines = std::str::from_utf8(text)
            .ok()?
            .strip_suffix('\n')?
            .split('\n');
        (lines.next()? == FIRST_LINE).then_some(())?;
        let scheme: SeedScheme = lines.next()?.strip_prefix("seed_scheme ")?.parse().ok()?;
        let export = match lines.next()?.strip_prefix("export ")? {
            "never" => Export::Never,
            "plain" => Export::Plain,
            _ => return None,
        };
        let mut line = lines.next()?;
        let phrase = if line == UNCHECKED {
            line = lines.next()?;
            PhraseRecord::Unchecked
        } else {
            PhraseRecord::Checked
        };
        let seed = hex::decode(line.strip_prefix("seed ")?).ok()?;
        let seed = SecretBytes::from_vec(seed);
        let none_left = lines.next().is_none();
        let seed = Seed::restore(seed.expose(), scheme).ok()?;
        none_left.then_some(Self {
            seed,
            export,
            phrase,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_back_and_nothing_that_is_nearly_one() {
        for scheme in [SeedScheme::Apollo, SeedScheme::Bip39, SeedScheme::Raw] {
            for (export, phrase) in [
                (Export::Never, PhraseRecord::Checked),
                (Export::Plain, PhraseRecord::Unchecked),
            ] {
                let seed = Seed::restore(&[7; 64], scheme).unwrap();
                let document = Document {
                    seed,
                    export,
                    phrase,
                };
                let text = document.text();
                let read = Document::parse(text.expose()).unwrap();
                assert_eq!((read.seed.scheme(), read.export), (scheme, export));
                assert_eq!(read.phrase, phrase);
                assert_eq!(read.seed.expose(), [7; 64]);
                for cut in 0..text.len() {
                    assert!(Document::parse(&text.expose()[..cut]).is_none(), "{cut}");
                }
                let more = [text.expose(), b"\n"].concat();
                assert!(Document::parse(&more).is_none());
            }
        }
        let good = "keywright seed 1\nseed_scheme raw\nexport never\nseed 00000000000000000000000000000000\n";
        assert!(Document::parse(good.as_bytes()).is_some());
        for (from, to) in [
            ("seed 1", "seed 2"),
            ("raw", "bip39"),
            ("raw", "node"),
            ("raw", "Raw"),
            ("never", "ever"),
            ("seed 00", "seed 0"),
            ("seed 00", "seed zz"),
            ("seed 00", "phrase checked\nseed 00"),
            ("seed 00", "phrase unchecked\nphrase unchecked\nseed 00"),
            ("\nexport", "\r\nexport"),
        ] {
            assert!(
                Document::parse(good.replace(from, to).as_bytes()).is_none(),
                "{from} {to}"
            );
        }
    }
}
