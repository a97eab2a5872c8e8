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
    /// A signature that only a token makes.
    #[error("{0} is signed in a token only, and this key would be used in this process")]
    SignatureWrapped(Algorithm),
    /// A signature that no token makes here.
    #[error("{0} is not signed in a token, and a key in a token is used nowhere else")]
    SignatureInToken(Algorithm),
    /// A key in a token never leaves it.
    #[error("a key in a token never leaves it, so its export cannot be {0}")]
    Export(Export),
    /// Keys of a purpose have algorithms of their own.
    #[error("{algorithm} is no algorithm of keys of purpose {purpose}")]
    Algorithm {
        /// The purpose.
        purpose: Purpose,
        /// What was asked for.
        algorithm: Algorithm,
    },
    /// There is no token.
    #[error("this node has no token to keep the key in")]
    NoToken,
    /// The token has no mechanism for it.
    #[error(
        "the token of this node keeps no keys of {0}: it has no mechanism for that, or not for this use"
    )]
    TokenLacks(Algorithm),
    /// What a token keeps was made in it.
    #[error("a key in a token is made there, and is never brought in")]
    ImportInToken,
    /// Only envelopes name whom they are for.
    #[error(
        "what a key of purpose {0} makes is bound to no principal or group: only sealed data is"
    )]
    Bound(Purpose),
    /// Public nodes that derive others are of some curves only.
    #[error("trees of {0} have hardened children only, so there are no public nodes to hand out")]
    HardenedOnly(Algorithm),
    /// What the seed service sealed is opened by what seals here.
    #[error("a context of purpose {0} takes no key of the seed service: only one that seals does")]
    ReaderPurpose(Purpose),
    /// A key is where the others of its context are: here, under the root.
    #[error(
        "the keys of this context are not in a token, so a key of the seed service comes in wrapped"
    )]
    ReaderComesWrapped,
    /// A key is where the others of its context are: in the token.
    #[error(
        "the keys of this context are in the token, so a key of the seed service is taken there by its label"
    )]
    ReaderIsInToken,
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
            Self::SignatureWrapped(_) => {
                "create the context with custody token, or choose ed25519, ecdsa-p256 or ecdsa-p384"
            }
            Self::SignatureInToken(_) => {
                "create the context with custody wrapped, or choose ecdsa-p384 or rsa-3072-pss-sha-256"
            }
            Self::Algorithm { .. } => {
                "choose an algorithm of this purpose; custody and export do not change what a purpose can do"
            }
            Self::Export(_) => "create the context with export never, or with custody wrapped",
            Self::TokenLacks(_) => {
                "choose another algorithm (keywright hsm list-mechanisms shows what a token has), or create the context with custody wrapped"
            }
            Self::ImportInToken => {
                "let the token make the key, or create the context with custody wrapped"
            }
            Self::Bound(_) => "create the context with bind none, or one that seals",
            Self::ReaderPurpose(_) => "name a context that seals",
            Self::ReaderComesWrapped => {
                "give --wrapped-key, --import-key and --check-value, and no --object; or name a context with custody token"
            }
            Self::ReaderIsInToken => {
                "leave --wrapped-key out, or name a context with custody wrapped"
            }
            Self::HardenedOnly(_) => "create the tree without soft children, or one over secp256k1",
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
    let (purpose, algorithm) = (spec.purpose, spec.algorithm);
    match spec.custody {
        Custody::Token if !stays_in_tokens(spec.purpose) => Err(Misfit::Purpose(spec.purpose)),
        Custody::Token if matches!(spec.purpose, Purpose::Seal) && !of_tokens => {
            Err(Misfit::SuiteInToken(spec.algorithm))
        }
        Custody::Token if signs_wrapped(purpose, algorithm) => {
            Err(Misfit::SignatureInToken(algorithm))
        }
        Custody::Token if !serves(purpose, algorithm) && !signs_in_tokens(purpose, algorithm) => {
            Err(Misfit::Algorithm { purpose, algorithm })
        }
        Custody::Token if !matches!(spec.export, Export::Never) => Err(Misfit::Export(spec.export)),
        Custody::Wrapped if signs_in_tokens(purpose, algorithm) => {
            Err(Misfit::SignatureWrapped(algorithm))
        }
        Custody::Wrapped if !serves(purpose, algorithm) => {
            Err(Misfit::Algorithm { purpose, algorithm })
        }
        Custody::Wrapped if of_tokens => Err(Misfit::SuiteWrapped(spec.algorithm)),
        _ => Ok(()),
    }
}

/// Whether keys of this purpose can have this algorithm.
const fn serves(purpose: Purpose, algorithm: Algorithm) -> bool {
    use Algorithm as A;
    match purpose {
        Purpose::Seal | Purpose::Wrap => {
            matches!(algorithm, A::Xaes256Gcm | A::XChaCha20Poly1305) || runs_in_tokens(algorithm)
        }
        Purpose::Tokenise => matches!(
            algorithm,
            A::Ff1Aes128 | A::Ff1Aes192 | A::Ff1Aes256 | A::Ff1Sm4
        ),
        Purpose::Mac => matches!(
            algorithm,
            A::HmacSha256 | A::HmacSha384 | A::HmacSha512 | A::Aes256Cmac
        ),
        Purpose::Sign => {
            matches!(
                algorithm,
                A::Ed25519
                    | A::EcdsaP256
                    | A::EcdsaP384
                    | A::EcdsaSecp256k1
                    | A::MlDsa65
                    | A::Rsa2048Pkcs1
                    | A::Rsa2048Pss
                    | A::Rsa3072Pkcs1
                    | A::Rsa3072Pss
            ) || signs_wrapped(purpose, algorithm)
        }
        Purpose::Deterministic => matches!(algorithm, A::Aes256Siv),
        Purpose::Agree => matches!(algorithm, A::X25519 | A::EcdhP256),
        Purpose::Tree => matches!(
            algorithm,
            A::Bip32Secp256k1
                | A::Slip10Secp256k1
                | A::Slip10NistP256
                | A::Slip10Ed25519
                | A::Slip10Curve25519
        ),
        _ => false,
    }
}

/// Signatures that are made in tokens alone.
const fn signs_in_tokens(purpose: Purpose, algorithm: Algorithm) -> bool {
    matches!(purpose, Purpose::Sign) && matches!(algorithm, Algorithm::EcdsaP521)
}

/// Signatures that are made in this process alone.
const fn signs_wrapped(purpose: Purpose, algorithm: Algorithm) -> bool {
    use Algorithm as A;
    matches!(purpose, Purpose::Sign) && matches!(algorithm, A::Rsa4096Pkcs1 | A::Rsa4096Pss)
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
        let kept = |purpose| match purpose {
            Purpose::Seal | Purpose::Wrap => Some(Algorithm::TokenGcm12),
            Purpose::Mac => Some(Algorithm::HmacSha256),
            Purpose::Sign => Some(Algorithm::Ed25519),
            Purpose::Agree => Some(Algorithm::EcdhP256),
            _ => None,
        };
        for purpose in Purpose::ALL {
            let algorithm = kept(*purpose);
            let checked = check(&in_token(
                *purpose,
                algorithm.unwrap_or(Algorithm::TokenGcm12),
            ));
            let expected = match algorithm {
                Some(_) => Ok(()),
                None => Err(Misfit::Purpose(*purpose)),
            };
            assert_eq!(checked, expected);
        }
    }

    #[test]
    fn in_a_token_too_a_key_has_an_algorithm_of_its_purpose() {
        let purposes = [Purpose::Mac, Purpose::Sign, Purpose::Agree];
        let fits = |purpose, algorithm| match purpose {
            Purpose::Mac => matches!(
                algorithm,
                Algorithm::HmacSha256
                    | Algorithm::HmacSha384
                    | Algorithm::HmacSha512
                    | Algorithm::Aes256Cmac
            ),
            Purpose::Agree => matches!(algorithm, Algorithm::X25519 | Algorithm::EcdhP256),
            _ => {
                let name = algorithm.name();
                ["ed25519", "ml-dsa-65"].contains(&name)
                    || name.starts_with("ecdsa-")
                    || name.starts_with("rsa-")
            }
        };
        for purpose in purposes {
            for algorithm in Algorithm::ALL.iter().copied() {
                let checked = check(&in_token(purpose, algorithm));
                let wrapped = [Algorithm::Rsa4096Pkcs1, Algorithm::Rsa4096Pss];
                let expected = match fits(purpose, algorithm) {
                    _ if purpose == Purpose::Sign && wrapped.contains(&algorithm) => {
                        Err(Misfit::SignatureInToken(algorithm))
                    }
                    true => Ok(()),
                    false => Err(Misfit::Algorithm { purpose, algorithm }),
                };
                assert_eq!(checked, expected, "{purpose} {algorithm}");
            }
        }
    }

    #[test]
    fn some_signatures_are_made_in_tokens_alone_and_some_outside_alone() {
        let checked = |algorithm| {
            let spec = in_token(Purpose::Sign, algorithm);
            let wrapped = KeySpec {
                custody: Custody::Wrapped,
                ..spec
            };
            (check(&spec), check(&wrapped))
        };
        for algorithm in [
            Algorithm::EcdsaP384,
            Algorithm::MlDsa65,
            Algorithm::Rsa3072Pss,
        ] {
            assert_eq!(checked(algorithm), (Ok(()), Ok(())));
        }
        let p521 = Algorithm::EcdsaP521;
        assert_eq!(checked(p521), (Ok(()), Err(Misfit::SignatureWrapped(p521))));
        for algorithm in [Algorithm::Rsa4096Pkcs1, Algorithm::Rsa4096Pss] {
            let refused = Err(Misfit::SignatureInToken(algorithm));
            assert_eq!(checked(algorithm), (refused, Ok(())));
        }
    }

    #[test]
    fn deterministic_keys_have_one_algorithm_and_nothing_else_has_it() {
        for purpose in Purpose::ALL {
            for algorithm in Algorithm::ALL {
                let (purpose, algorithm) = (*purpose, *algorithm);
                let checked = check(&KeySpec {
                    purpose,
                    algorithm,
                    ..KeySpec::seal()
                });
                let (wants, is) = (
                    purpose == Purpose::Deterministic,
                    algorithm == Algorithm::Aes256Siv,
                );
                if wants || is {
                    assert_eq!(checked.is_ok(), wants && is, "{purpose} {algorithm}");
                }
            }
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
            let seals = [Algorithm::Xaes256Gcm, Algorithm::XChaCha20Poly1305];
            assert_eq!(wrapped.is_ok(), seals.contains(algorithm), "{algorithm}");
        }
    }

    #[test]
    fn formats_have_algorithms_of_their_own_and_nothing_else_has_them() {
        let ff1 = [
            Algorithm::Ff1Aes128,
            Algorithm::Ff1Aes192,
            Algorithm::Ff1Aes256,
            Algorithm::Ff1Sm4,
        ];
        for purpose in Purpose::ALL {
            for algorithm in Algorithm::ALL {
                let (purpose, algorithm) = (*purpose, *algorithm);
                let checked = check(&KeySpec {
                    purpose,
                    algorithm,
                    ..KeySpec::seal()
                });
                if ff1.contains(&algorithm) != (purpose == Purpose::Tokenise) {
                    assert!(checked.is_err(), "{purpose} {algorithm}");
                }
                if ff1.contains(&algorithm) && purpose == Purpose::Tokenise {
                    assert_eq!(checked, Ok(()));
                }
            }
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
            Misfit::SignatureWrapped(Algorithm::EcdsaP521),
            Misfit::SignatureInToken(Algorithm::Rsa4096Pss),
            Misfit::Export(Export::Plain),
            Misfit::NoToken,
            Misfit::TokenLacks(Algorithm::X25519),
            Misfit::ImportInToken,
            Misfit::ReaderComesWrapped,
            Misfit::ReaderIsInToken,
        ];
        for (misfit, said, advised) in [
            (Misfit::Bound(Purpose::Mac), "purpose mac", "bind none"),
            (
                Misfit::ReaderPurpose(Purpose::Sign),
                "purpose sign",
                "that seals",
            ),
            (
                Misfit::HardenedOnly(Algorithm::Ed25519),
                "public nodes",
                "without soft children",
            ),
        ] {
            assert!(misfit.to_string().contains(said), "{misfit}");
            assert!(misfit.advice().contains(advised), "{misfit}");
        }
        let algorithm = Misfit::Algorithm {
            purpose: Purpose::Seal,
            algorithm: Algorithm::Ff1Aes256,
        };
        assert!(algorithm.to_string().contains("purpose seal"));
        assert!(algorithm.advice().contains("purpose"));
        for misfit in all {
            assert!(misfit.to_string().contains("token") && misfit.advice().contains("custody"));
        }
    }
}
