//! What can be kept where (design 7.13), and what to say about what cannot.
//!
//! Looked at when a context is created, before a holder is asked: a holder says only that it does not support
//! something, not why nobody could.

use keywright_types::{Algorithm, Custody, Export, KeySpec, Purpose};

/// Why no holder could keep such a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misfit {
    /// Tokens have no operation for this purpose: formats, trees, deterministic encryption.
    #[error(
        "a key of purpose {0} cannot stay in a token: tokens have no such operation, and the key must not leave"
    )]
    Purpose(Purpose),
    /// A suite that needs the key in this process: one subkey a message, a commitment, streams.
    #[error(
        "{0} cannot run in a token: its subkeys, its commitment and streams need the key in this process"
    )]
    SuiteInToken(Algorithm),
    /// A suite that only a token runs.
    #[error("{0} runs in a token only, and this key would be used in this process")]
    SuiteWrapped(Algorithm),
    /// A key in a token never leaves it.
    #[error("a key in a token never leaves it, so its export cannot be {0}")]
    Export(Export),
    /// There is no token.
    #[error("this node has no token to keep the key in")]
    NoToken,
}

impl Misfit {
    /// What to do about it, in one sentence.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Purpose(_) => {
                "create the context with custody wrapped: its key is then sealed under the root key, which may be in a token"
            }
            Self::SuiteInToken(_) => {
                "choose token-gcm-12, or token-gcm-16 for a token that makes nonces itself; or create the context with custody wrapped"
            }
            Self::SuiteWrapped(_) => {
                "create the context with custody token, or choose xaes-256-gcm or xchacha20-poly1305"
            }
            Self::Export(_) => "create the context with export never, or with custody wrapped",
            Self::NoToken => {
                "name module, token and PIN file in the section [token] of keywright.toml and restart, or create the context with custody wrapped"
            }
        }
    }
}

/// Whether a key's purpose, suite, custody and export go together.
///
/// # Errors
/// The first [`Misfit`].
pub const fn check(spec: &KeySpec) -> Result<(), Misfit> {
    let of_tokens = runs_in_tokens(spec.algorithm);
    match spec.custody {
        Custody::Token if !stays_in_tokens(spec.purpose) => Err(Misfit::Purpose(spec.purpose)),
        Custody::Token if matches!(spec.purpose, Purpose::Seal) && !of_tokens => {
            Err(Misfit::SuiteInToken(spec.algorithm))
        }
        Custody::Token if !matches!(spec.export, Export::Never) => Err(Misfit::Export(spec.export)),
        Custody::Wrapped if of_tokens => Err(Misfit::SuiteWrapped(spec.algorithm)),
        _ => Ok(()),
    }
}

/// Suites 3 and 4, whose whole work is one operation of a token.
pub(crate) const fn runs_in_tokens(algorithm: Algorithm) -> bool {
    matches!(algorithm, Algorithm::TokenGcm12 | Algorithm::TokenGcm16)
}

const fn stays_in_tokens(purpose: Purpose) -> bool {
    matches!(
        purpose,
        Purpose::Seal | Purpose::Mac | Purpose::Sign | Purpose::Agree | Purpose::Wrap
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_token(purpose: Purpose, algorithm: Algorithm) -> KeySpec {
        KeySpec {
            purpose,
            algorithm,
            custody: Custody::Token,
            ..KeySpec::seal()
        }
    }

    #[test]
    fn formats_trees_and_deterministic_keys_stay_out_of_tokens() {
        for purpose in Purpose::ALL {
            let checked = check(&in_token(*purpose, Algorithm::TokenGcm12));
            let refused = matches!(
                purpose,
                Purpose::Deterministic | Purpose::Tokenise | Purpose::Tree
            );
            let expected = if refused {
                Err(Misfit::Purpose(*purpose))
            } else {
                Ok(())
            };
            assert_eq!(checked, expected);
        }
    }

    #[test]
    fn suites_go_with_their_custody_alone() {
        for algorithm in Algorithm::ALL {
            let of_tokens = runs_in_tokens(*algorithm);
            let token = check(&in_token(Purpose::Seal, *algorithm));
            assert_eq!(token.is_ok(), of_tokens, "{algorithm}");
            let wrapped = check(&KeySpec {
                algorithm: *algorithm,
                ..KeySpec::seal()
            });
            assert_eq!(wrapped.is_ok(), !of_tokens, "{algorithm}");
        }
    }

    #[test]
    fn what_never_leaves_cannot_be_exported() {
        for export in [Export::Sealed, Export::Plain] {
            let spec = KeySpec {
                export,
                ..in_token(Purpose::Seal, Algorithm::TokenGcm16)
            };
            assert_eq!(check(&spec), Err(Misfit::Export(export)));
            let wrapped = KeySpec {
                export,
                ..KeySpec::seal()
            };
            assert_eq!(check(&wrapped), Ok(()));
        }
    }

    #[test]
    fn every_misfit_says_what_why_and_what_to_do() {
        let all = [
            Misfit::Purpose(Purpose::Tree),
            Misfit::SuiteInToken(Algorithm::Xaes256Gcm),
            Misfit::SuiteWrapped(Algorithm::TokenGcm12),
            Misfit::Export(Export::Plain),
            Misfit::NoToken,
        ];
        for misfit in all {
            assert!(misfit.to_string().contains("token") && misfit.advice().contains("custody"));
        }
    }
}
