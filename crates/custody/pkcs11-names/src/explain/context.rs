//! What somebody was about to do, and the steps by which they find out why it failed.

use std::fmt;

use crate::spelling::SpellingError;
use crate::{Family, Function};

use super::steps;

/// What a failing command was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Context {
    /// Decryption.
    Decrypt,
    /// Derivation of keys.
    Derive,
    /// Digests.
    Digest,
    /// Encapsulation and decapsulation of secrets.
    Encapsulate,
    /// Encryption.
    Encrypt,
    /// Search of objects.
    Find,
    /// Anything else.
    General,
    /// Bringing keys and other objects in.
    Import,
    /// Setting and changing PINs.
    InitPin,
    /// Initialising a token.
    InitToken,
    /// Making keys.
    Keygen,
    /// Logging in.
    Login,
    /// Codes with a key.
    Mac,
    /// Sealing and opening messages with associated data.
    MessageAead,
    /// Random bytes.
    Random,
    /// Loading the module, opening sessions.
    Session,
    /// Signing.
    Sign,
    /// Unwrapping keys.
    Unwrap,
    /// Verifying a signature.
    Verify,
    /// Verifying a chain of certificates.
    VerifyChain,
    /// Wrapping keys.
    Wrap,
}

/// A step: what to look at, and the command that shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    pub(super) text: &'static str,
    pub(super) command: Option<&'static str>,
}

/// What stands in the commands for what the reader has.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::exhaustive_structs, reason = "the names that commands need")]
pub struct Placeholders<'a> {
    /// The label of the token, else `TOKEN`.
    pub token: Option<&'a str>,
    /// The label of the key, else `KEY`.
    pub key: Option<&'a str>,
}

impl Step {
    /// What to look at, as a sentence without full stop.
    #[must_use]
    pub const fn text(self) -> &'static str {
        self.text
    }

    /// The command that shows it, with the names put in and quoted for a shell.
    #[must_use]
    pub fn command(self, names: Placeholders<'_>) -> Option<String> {
        let token = names.token.map_or_else(|| "TOKEN".to_owned(), quoted);
        let key = names.key.map_or_else(|| "KEY".to_owned(), quoted);
        let parts = self.command?.split(' ').map(|word| match word {
            "{token}" => token.as_str(),
            "{key}" => key.as_str(),
            other => other,
        });
        Some(parts.collect::<Vec<_>>().join(" "))
    }
}

/// As one word for a POSIX shell.
fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

impl Context {
    /// Every context, by name.
    pub const ALL: [Self; 21] = [
        Self::Decrypt,
        Self::Derive,
        Self::Digest,
        Self::Encapsulate,
        Self::Encrypt,
        Self::Find,
        Self::General,
        Self::Import,
        Self::InitPin,
        Self::InitToken,
        Self::Keygen,
        Self::Login,
        Self::Mac,
        Self::MessageAead,
        Self::Random,
        Self::Session,
        Self::Sign,
        Self::Unwrap,
        Self::Verify,
        Self::VerifyChain,
        Self::Wrap,
    ];

    /// As it is written on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Decrypt => "decrypt",
            Self::Derive => "derive",
            Self::Digest => "digest",
            Self::Encapsulate => "encapsulate",
            Self::Encrypt => "encrypt",
            Self::Find => "find",
            Self::General => "general",
            Self::Import => "import",
            Self::InitPin => "init-pin",
            Self::InitToken => "init-token",
            Self::Keygen => "keygen",
            Self::Login => "login",
            Self::Mac => "mac",
            Self::MessageAead => "message-aead",
            Self::Random => "random",
            Self::Session => "session",
            Self::Sign => "sign",
            Self::Unwrap => "unwrap",
            Self::Verify => "verify",
            Self::VerifyChain => "verify-chain",
            Self::Wrap => "wrap",
        }
    }

    /// What a call of this function is about, as far as the function alone says.
    #[must_use]
    pub fn of(function: Function) -> Self {
        let name = function.name();
        match function.family() {
            Family::Encrypt | Family::Decrypt if name.contains("Message") => Self::MessageAead,
            Family::Encrypt => Self::Encrypt,
            Family::Decrypt => Self::Decrypt,
            Family::Digest => Self::Digest,
            Family::Sign => Self::Sign,
            Family::Verify => Self::Verify,
            Family::Find => Self::Find,
            Family::Random => Self::Random,
            Family::Key if name.starts_with("C_Generate") => Self::Keygen,
            Family::Key if name.starts_with("C_Wrap") => Self::Wrap,
            Family::Key if name.starts_with("C_Unwrap") => Self::Unwrap,
            Family::Key if name.starts_with("C_Derive") => Self::Derive,
            Family::Key => Self::Encapsulate,
            Family::Object if name == "C_CreateObject" => Self::Import,
            Family::Session if name.starts_with("C_Login") => Self::Login,
            Family::Session => Self::Session,
            Family::Slot => match name {
                "C_InitToken" => Self::InitToken,
                "C_InitPIN" | "C_SetPIN" => Self::InitPin,
                _ => Self::Session,
            },
            _ => Self::General,
        }
    }

    /// What to look at, in this order.
    #[must_use]
    pub const fn steps(self) -> &'static [Step] {
        match self {
            Self::Decrypt => steps::DECRYPT,
            Self::Derive => steps::DERIVE,
            Self::Digest => steps::DIGEST,
            Self::Encapsulate => steps::ENCAPSULATE,
            Self::Encrypt => steps::ENCRYPT,
            Self::Find => steps::FIND,
            Self::General => steps::GENERAL,
            Self::Import => steps::IMPORT,
            Self::InitPin => steps::INIT_PIN,
            Self::InitToken => steps::INIT_TOKEN,
            Self::Keygen => steps::KEYGEN,
            Self::Login => steps::LOGIN,
            Self::Mac => steps::MAC,
            Self::MessageAead => steps::MESSAGE_AEAD,
            Self::Random => steps::RANDOM,
            Self::Session => steps::SESSION,
            Self::Sign => steps::SIGN,
            Self::Unwrap => steps::UNWRAP,
            Self::Verify => steps::VERIFY,
            Self::VerifyChain => steps::VERIFY_CHAIN,
            Self::Wrap => steps::WRAP,
        }
    }
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl std::str::FromStr for Context {
    type Err = SpellingError;

    fn from_str(text: &str) -> Result<Self, SpellingError> {
        let text = text.trim().replace('_', "-");
        let mut all = Self::ALL.into_iter();
        all.find(|one| one.name().eq_ignore_ascii_case(&text))
            .ok_or(SpellingError::Unknown {
                kind: "context",
                nearest: Vec::new(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_context_has_steps_and_is_read_back_from_its_name() {
        for context in Context::ALL {
            assert!(context.steps().len() >= 2, "{context}");
            assert_eq!(context.name().parse(), Ok(context));
            assert_eq!(
                context.name().to_uppercase().replace('-', "_").parse(),
                Ok(context)
            );
        }
        assert!(
            Context::ALL
                .windows(2)
                .all(|pair| pair[0].name() < pair[1].name())
        );
        for wrong in ["", "signs", "init pin"] {
            assert!(wrong.parse::<Context>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn commands_are_lines_that_a_shell_takes() {
        let names = Placeholders {
            token: Some("it's mine"),
            key: Some("plain-1"),
        };
        for step in Context::ALL.into_iter().flat_map(Context::steps) {
            let Some(line) = step.command(names) else {
                continue;
            };
            assert!(line.starts_with("keywright hsm "), "{line}");
            assert!(!line.contains(['{', '}', '\n']), "{line}");
        }
        let line = steps::SIGN[0].command(names).unwrap();
        assert!(
            line.contains(r"--label 'it'\''s mine' --key-label plain-1"),
            "{line}"
        );
        let line = steps::SIGN[0].command(Placeholders::default()).unwrap();
        assert!(line.contains("--label TOKEN --key-label KEY"), "{line}");
    }

    #[test]
    fn names_cannot_add_words_to_a_command() {
        for hostile in ["", "a b", "$(x)", "a;b", "`x`", "a\nb", "{key}", "é"] {
            let word = quoted(hostile);
            assert!(word.starts_with('\'') && word.ends_with('\''), "{word}");
        }
        let names = Placeholders {
            token: Some("{key}"),
            key: Some("k"),
        };
        assert!(
            steps::SIGN[0]
                .command(names)
                .unwrap()
                .contains("--label '{key}' ")
        );
    }

    #[test]
    fn the_context_follows_from_the_function() {
        for (name, context) in [
            ("C_SignInit", Context::Sign),
            ("C_EncryptMessage", Context::MessageAead),
            ("C_WrapKeyAuthenticated", Context::Wrap),
            ("C_UnwrapKey", Context::Unwrap),
            ("C_GenerateKeyPair", Context::Keygen),
            ("C_DecapsulateKey", Context::Encapsulate),
            ("C_LoginUser", Context::Login),
            ("C_SetPIN", Context::InitPin),
            ("C_OpenSession", Context::Session),
            ("C_CreateObject", Context::Import),
            ("C_DestroyObject", Context::General),
            ("C_Initialize", Context::General),
        ] {
            assert_eq!(
                Context::of(Function::named(name).unwrap()),
                context,
                "{name}"
            );
        }
    }
}
