//! What went wrong, of which kind it is, and what to do about it.

use keywright_pkcs11::{Error as Layer, Failure};
use keywright_pkcs11_names::explain::{Context, Explanation};
use keywright_pkcs11_names::{AttributeType, Function, MechanismType, ReturnCode};

use crate::uri::UriError;

/// What kind of end this is; a command has an exit code for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever ends must say what each kind is there"
)]
pub enum Kind {
    /// More than one token or object matches.
    Ambiguous,
    /// The PIN: wrong, locked, expired, not set, of a length the token refuses.
    Auth,
    /// An input or output failed.
    Io,
    /// A signature, MAC or ciphertext does not fit.
    Negative,
    /// No such module, slot, token, object or code.
    NotFound,
    /// Not allowed, or not confirmed.
    Refused,
    /// The token failed.
    Token,
    /// The token cannot do this.
    Unsupported,
    /// The request or the configuration is wrong.
    Usage,
}

impl Kind {
    /// One word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ambiguous => "ambiguous",
            Self::Auth => "auth",
            Self::Io => "io",
            Self::Negative => "negative",
            Self::NotFound => "not-found",
            Self::Refused => "refused",
            Self::Token => "token",
            Self::Unsupported => "unsupported",
            Self::Usage => "usage",
        }
    }
}

/// What tells objects apart that match alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no other")]
pub enum Apart {
    /// Their classes: the halves of a pair share label and id.
    Class,
    /// Their ids.
    Id,
    /// Their URIs, where one word names the key and no other flag adds to it.
    Uri,
}

/// Why an operation did not happen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The layer or the token refused.
    #[error("{0}")]
    Layer(#[source] Layer),
    /// The URI is none.
    #[error("the URI is not a PKCS#11 URI: {0}")]
    Uri(#[from] UriError),
    /// The URI has a path attribute that nothing matches.
    #[error("the URI asks for {0:?}, which no token or object is known by")]
    UriUnknown(String),
    /// Two URIs for one thing contradict each other.
    #[error("nothing is both at {first} and at {second}")]
    UriConflict {
        /// One, without a PIN.
        first: String,
        /// The other, without a PIN.
        second: String,
    },
    /// The configuration file cannot be used.
    #[error("{0}")]
    Config(#[from] crate::config::ConfigError),
    /// No token matches.
    #[error("no token is {wanted}{}", listed("; here are", present))]
    NoToken {
        /// What was asked for.
        wanted: String,
        /// The tokens that are there.
        present: Vec<String>,
    },
    /// More than one token matches.
    #[error("{} tokens are {wanted}{}", matching.len(), listed(":", matching))]
    ManyTokens {
        /// What was asked for.
        wanted: String,
        /// The tokens that match.
        matching: Vec<String>,
    },
    /// No object matches.
    #[error("no {what} is {wanted}{}", listed("; nearest:", similar))]
    NoKey {
        /// Such as `private key`.
        what: &'static str,
        /// What was asked for.
        wanted: String,
        /// Labels that are spelt alike.
        similar: Vec<String>,
    },
    /// More than one object matches.
    #[error("more than one {what} is {wanted}{}", listed(":", matching))]
    ManyKeys {
        /// Such as `private key`.
        what: &'static str,
        /// What was asked for.
        wanted: String,
        /// Those that match.
        matching: Vec<String>,
        /// What tells them apart.
        apart: Apart,
    },
    /// Nothing was named that could be looked for.
    #[error("no {0} is named")]
    Unnamed(&'static str),
    /// The next wrong PIN locks.
    #[error("the next wrong PIN locks the token")]
    FinalTry,
    /// A signature, MAC or checksum does not fit.
    #[error("the {0} does not fit")]
    Unfit(&'static str),
    /// A MAC of another length than the verifier asks for.
    #[error("the MAC has {found} bytes, and {wanted} are expected")]
    MacLength {
        /// Its bytes.
        found: usize,
        /// Those of a whole one, or of one that was cut as the verifier says.
        wanted: usize,
    },
    /// Not a container of ours, or damaged, or under another key, or with other additional data.
    #[error(
        "this does not open under this key: it is damaged, or made with another key or other additional data"
    )]
    Rejected {
        /// The call that said so, where it was the token.
        failure: Option<Failure>,
    },
    /// The key cannot be used like this.
    #[error("the key cannot do this: {0}")]
    Unusable(String),
    /// The token does not take a parameter of a mechanism that it has.
    #[error("this token does not take {what}")]
    NoParameter {
        /// What was asked for.
        what: &'static str,
        /// The call that refused it; none where the module's version already says so.
        failure: Option<Failure>,
    },
    /// The token made a signature that its own public half refuses.
    #[error("the signature that the token made does not verify with the public half of the key")]
    Faulty,
    /// The key was made to stay where it is.
    #[error("the key was made to stay in the token")]
    Stays,
    /// An attribute that is needed cannot be read.
    #[error("{0} of the key cannot be read")]
    Unreadable(AttributeType),
    /// A value given is wrong.
    #[error("{0}")]
    Value(String),
    /// An input that must fit into memory does not.
    #[error("the input has more than {limit} bytes")]
    InputTooLong {
        /// Most bytes.
        limit: usize,
    },
    /// It is so already, or may not be done.
    #[error("{0}")]
    Refused(String),
    /// A distinguished name or an alternative name is none.
    #[error("{0}")]
    Name(#[from] crate::name::NameError),
    /// The input cannot be read.
    #[error("the input cannot be read: {0}")]
    Input(#[source] std::io::Error),
    /// The output cannot be written.
    #[error("the output cannot be written: {0}")]
    Output(#[source] std::io::Error),
    /// The system gave no random bytes.
    #[error("the system gave no random bytes")]
    Random,
}

/// What the layer says of a key is said like what is found out here.
impl From<Layer> for Error {
    fn from(error: Layer) -> Self {
        match error {
            Layer::AttributeMissing(kind) => Self::Unreadable(kind),
            Layer::Unusable(why) => Self::Unusable(why),
            error => Self::Layer(error),
        }
    }
}

fn listed(lead: &str, list: &[String]) -> String {
    if list.is_empty() {
        return String::new();
    }
    format!("{lead} {}", list.join(", "))
}

impl Error {
    /// Of which kind it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Layer(error) => kind(error),
            Self::Uri(_) | Self::Config(_) | Self::Unnamed(_) | Self::Value(_) | Self::Name(_) => {
                Kind::Usage
            }
            Self::InputTooLong { .. } | Self::Unusable(_) => Kind::Usage,
            Self::UriUnknown(_)
            | Self::UriConflict { .. }
            | Self::NoToken { .. }
            | Self::NoKey { .. } => Kind::NotFound,
            Self::ManyTokens { .. } | Self::ManyKeys { .. } => Kind::Ambiguous,
            Self::FinalTry | Self::Refused(_) | Self::Stays => Kind::Refused,
            Self::Unfit(_) | Self::MacLength { .. } | Self::Rejected { .. } => Kind::Negative,
            Self::Unreadable(_) | Self::Faulty => Kind::Token,
            Self::NoParameter { .. } => Kind::Unsupported,
            Self::Input(_) | Self::Output(_) | Self::Random => Kind::Io,
        }
    }

    /// The call that failed, if it was one.
    #[must_use]
    pub const fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Layer(error) => error.failure(),
            Self::Rejected {
                failure: Some(failure),
            }
            | Self::NoParameter {
                failure: Some(failure),
                ..
            } => Some(failure),
            _ => None,
        }
    }

    /// The return code that says the same, of a call that failed or of one that was not made for this reason.
    #[must_use]
    pub fn code(&self) -> Option<ReturnCode> {
        if let Some(failure) = self.failure() {
            return Some(failure.code());
        }
        Some(match self {
            Self::Layer(Layer::NoMechanism { .. }) => ReturnCode::MECHANISM_INVALID,
            Self::Layer(Layer::KeySize { .. }) => ReturnCode::KEY_SIZE_RANGE,
            Self::Layer(Layer::PinLength { .. }) => ReturnCode::PIN_LEN_RANGE,
            Self::Layer(Layer::InputTooLong { .. }) => ReturnCode::DATA_LEN_RANGE,
            Self::Layer(Layer::AttributeChanged(_)) => ReturnCode::TEMPLATE_INCONSISTENT,
            Self::NoParameter { .. } => ReturnCode::MECHANISM_PARAM_INVALID,
            Self::Stays => ReturnCode::KEY_UNEXTRACTABLE,
            Self::Unreadable(_) => ReturnCode::ATTRIBUTE_TYPE_INVALID,
            // A check value, or a signature that the token itself made, is none that somebody gave.
            Self::Unfit("signature" | "code") => ReturnCode::SIGNATURE_INVALID,
            Self::MacLength { .. } => ReturnCode::SIGNATURE_LEN_RANGE,
            Self::Rejected { .. } => ReturnCode::ENCRYPTED_DATA_INVALID,
            Self::Random => ReturnCode::RANDOM_NO_RNG,
            _ => return None,
        })
    }

    /// As the error of a key that one word alone names.
    pub(crate) fn named_by_one_word(self) -> Self {
        match self {
            Self::ManyKeys {
                what,
                wanted,
                matching,
                ..
            } => Self::ManyKeys {
                what,
                wanted,
                matching,
                apart: Apart::Uri,
            },
            other => other,
        }
    }

    /// What to do about it, as half a sentence or one.
    #[must_use]
    pub fn advice(&self) -> String {
        if let Self::Layer(Layer::NoMechanism { what, instead, .. }) = self {
            return would_do(what, instead);
        }
        if let Some(advice) = self.own_advice() {
            return advice.to_owned();
        }
        let explained = self.code().and_then(Explanation::of);
        match explained {
            Some(known) => known.hint().trim_end_matches('.').to_owned(),
            None => "add --help to see what the command takes".to_owned(),
        }
    }

    fn own_advice(&self) -> Option<&'static str> {
        Some(match self {
            Self::Uri(_) | Self::UriUnknown(_) => {
                "write it like pkcs11:token=NAME;object=KEY?module-path=/path/to/module.so"
            }
            Self::UriConflict { .. } => {
                "name the token and the key in one URI, or correct one of them"
            }
            Self::Config(_) => "correct the file; nothing was done",
            Self::NoToken { .. } => {
                "name one with --label, --serial, --slot-id or --uri; keywright hsm list-slots shows all"
            }
            Self::ManyTokens { .. } => "name one by --serial, --slot-id or --uri",
            Self::NoKey { .. } => {
                "see what is there: keywright hsm list-objects; private objects need a PIN source"
            }
            Self::ManyKeys { apart, .. } => match apart {
                Apart::Class => {
                    "name one by --class, such as --class private; where the ids differ, --id or --uri names one too"
                }
                Apart::Id => "name one by --id or --uri",
                Apart::Uri => {
                    "put the URI of one in place of its label; keywright hsm find-key --json shows them"
                }
            },
            Self::Unnamed(_) => "name it with --key-label, --id or --uri",
            Self::NoParameter { .. } => {
                "leave out what it does not take, such as --mgf, --salt-length, --context or --mechanism eddsa-ph, or take another token"
            }
            Self::Faulty => {
                "nothing was written; see whether both halves of the pair are of one key: keywright hsm inspect-key, and the health of the token"
            }
            Self::Stays => "only keys made with --extractable can be wrapped",
            Self::FinalTry => "make sure of the PIN, then add --final-try",
            Self::Unfit(_) => "check that data, key and mechanism are those it was made with",
            Self::MacLength { .. } => {
                "give the whole MAC; if it was cut when it was made, say to how many bytes: --mac-len N"
            }
            Self::Rejected { .. } => {
                "give the whole file, the same key and the same --aad as when it was made"
            }
            Self::InputTooLong { .. } => "split it, or name files with --input and --output",
            Self::Input(_) | Self::Output(_) => {
                "check that the path exists and that you may use it"
            }
            Self::Random => "see whether the system is healthy, then try again",
            Self::Layer(error) => return layer_advice(error),
            _ => return None,
        })
    }

    /// The words to type for more about the return code; none without one.
    #[must_use]
    pub fn explain_line(&self, context: Context) -> Option<String> {
        let function = self
            .failure()
            .and_then(|failure| Function::named(failure.function()));
        let context = match function.map(Context::of) {
            // What the function is about says more than the command, but for a failed log-in before it.
            Some(Context::Login) => Context::Login,
            _ => context,
        };
        let code = self.code()?.value();
        Some(format!(
            "keywright hsm explain-error 0x{code:x} --context {context}"
        ))
    }
}

/// As many mechanisms as are named; a token has dozens.
const NAMED: usize = 8;

/// The mechanisms of the token that do the same kind of thing.
fn would_do(what: &str, instead: &[MechanismType]) -> String {
    let all = "keywright hsm list-mechanisms --detailed";
    if instead.is_empty() {
        return format!("this token has none for {what}: {all}");
    }
    let named: Vec<_> = instead
        .iter()
        .take(NAMED)
        .map(ToString::to_string)
        .collect();
    let more = match instead.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named = named.join(", ");
    format!("for {what} this token has {named}{more}; see {all}")
}

fn layer_advice(error: &Layer) -> Option<&'static str> {
    Some(match error {
        Layer::Load { .. } => {
            "name the module's file: --module PATH, KEYWRIGHT_PKCS11_MODULE or PKCS11_MODULE"
        }
        Layer::PinLength { .. } => "give a PIN of a length that the token takes; it was not sent",
        Layer::Duplicate { .. } => "choose another --key-label or --id, or add --allow-duplicate",
        Layer::KeySize { .. } => "choose a size that the token takes",
        Layer::MixedUse => "make two keys, one for each use",
        Layer::InputTooLong { .. } => "encrypt a key instead of the data, or use a larger key",
        Layer::LabelTooLong => "choose a label of at most 32 bytes",
        Layer::AttributeChanged(_) => "the token cannot hold a key like this; ask for another",
        _ => return None,
    })
}

fn kind(error: &Layer) -> Kind {
    match error {
        Layer::Load { fault, .. } => match fault {
            keywright_pkcs11::LoadFault::Unreadable(error)
                if error.kind() == std::io::ErrorKind::NotFound =>
            {
                Kind::NotFound
            }
            _ => Kind::Usage,
        },
        Layer::Login { .. } | Layer::PinLength { .. } => Kind::Auth,
        Layer::SignatureInvalid(_) | Layer::Rejected(_) => Kind::Negative,
        Layer::NoToken { .. } | Layer::NoObject => Kind::NotFound,
        Layer::ManyTokens { .. } | Layer::ManyObjects { .. } => Kind::Ambiguous,
        Layer::NoMechanism { .. } | Layer::KeySize { .. } => Kind::Unsupported,
        Layer::Duplicate { .. } | Layer::MixedUse => Kind::Refused,
        Layer::InputTooLong { .. } | Layer::LabelTooLong => Kind::Usage,
        Layer::Failed(failure) => of_code(failure.code()),
        _ => Kind::Token,
    }
}

fn of_code(code: ReturnCode) -> Kind {
    match code {
        ReturnCode::PIN_INCORRECT
        | ReturnCode::PIN_INVALID
        | ReturnCode::PIN_LEN_RANGE
        | ReturnCode::PIN_EXPIRED
        | ReturnCode::PIN_LOCKED
        | ReturnCode::PIN_TOO_WEAK
        | ReturnCode::USER_NOT_LOGGED_IN
        | ReturnCode::USER_PIN_NOT_INITIALIZED => Kind::Auth,
        ReturnCode::MECHANISM_INVALID
        | ReturnCode::FUNCTION_NOT_SUPPORTED
        | ReturnCode::CURVE_NOT_SUPPORTED
        | ReturnCode::PARAMETER_SET_NOT_SUPPORTED
        | ReturnCode::KEY_SIZE_RANGE
        | ReturnCode::RANDOM_NO_RNG => Kind::Unsupported,
        ReturnCode::SIGNATURE_INVALID | ReturnCode::SIGNATURE_LEN_RANGE => Kind::Negative,
        _ => Kind::Token,
    }
}

/// A decryption that failed with a code that says so, or that may say so while the session is as it was.
pub(crate) fn rejected(error: Layer, session: &keywright_pkcs11::Session) -> Error {
    match &error {
        Layer::Rejected(failure) => Error::Rejected {
            failure: Some(*failure),
        },
        Layer::Failed(failure) if failure.is_ambiguous() && session.check().is_ok() => {
            Error::Rejected {
                failure: Some(*failure),
            }
        }
        _ => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_somebody_gave_to_be_verified_has_the_code_of_a_signature() {
        for what in ["signature", "code"] {
            let code = Error::Unfit(what).code();
            assert_eq!(code, Some(ReturnCode::SIGNATURE_INVALID), "{what}");
        }
        for what in [
            "signature that the token made",
            "check value of the unwrapped key",
        ] {
            let error = Error::Unfit(what);
            assert_eq!((error.code(), error.kind()), (None, Kind::Negative));
            assert_eq!(error.explain_line(Context::Unwrap), None);
        }
    }

    #[test]
    fn a_faulty_signature_is_the_tokens_and_a_parameter_is_not_supported() {
        assert_eq!(
            (Error::Faulty.code(), Error::Faulty.kind()),
            (None, Kind::Token)
        );
        let none = Error::NoParameter {
            what: "a context",
            failure: None,
        };
        assert_eq!(none.kind(), Kind::Unsupported);
        assert_eq!(none.code(), Some(ReturnCode::MECHANISM_PARAM_INVALID));
        assert!(none.advice().contains("--context"), "{}", none.advice());
    }
}
