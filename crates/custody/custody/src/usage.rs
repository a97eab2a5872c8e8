//! What an item says of the use of a key besides its message: where the key lies in its tree, the form of
//! a signature, the signature that is looked at.
//!
//! It travels to a holder in the place of the associated data:
//!
//! ```text
//! form u8 | input u8 | lp(path) | lp(proof)        absent and empty are the same
//! ```

use keywright_encoding::{Reader, put_lp};

/// What an item says besides its message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a new part must be faced wherever a key is used"
)]
pub struct Usage<'a> {
    /// The form of a signature.
    pub form: Form,
    /// What the payload is.
    pub input: Input,
    /// Where the key lies in its tree; empty for keys that are no trees.
    pub path: &'a str,
    /// The signature or MAC that is looked at.
    pub proof: &'a [u8],
}

/// The form of a signature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// The one of the key's algorithm: ECDSA, Ed25519, or RSA.
    #[default]
    Usual,
    /// ECDSA: r and s, each as long as the field; on curves of 256 bits s is the lower one.
    Ecdsa,
    /// As ECDSA, and a byte from which the public key can be computed.
    EcdsaRecoverable,
    /// Ed25519.
    Ed25519,
    /// BIP-340.
    Schnorr,
}

/// What a payload is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing between")]
pub enum Input {
    /// The message.
    #[default]
    Message,
    /// The digest of one, as long as the hash of the key's algorithm: 32 bytes, 48 for P-384, 64 for P-521.
    Digest,
}

impl Form {
    /// Every form that can be asked for by name.
    pub const ALL: [Self; 4] = [
        Self::Ecdsa,
        Self::EcdsaRecoverable,
        Self::Ed25519,
        Self::Schnorr,
    ];

    /// The name that callers give.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Usual => "",
            Self::Ecdsa => "ecdsa",
            Self::EcdsaRecoverable => "ecdsa-recoverable",
            Self::Ed25519 => "ed25519",
            Self::Schnorr => "schnorr",
        }
    }

    /// The form of this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.name() == name)
    }
}

impl<'a> Usage<'a> {
    /// Appends it as it travels.
    pub fn put(&self, out: &mut Vec<u8>) {
        out.push(match self.form {
            Form::Usual => 0,
            Form::Ecdsa => 1,
            Form::EcdsaRecoverable => 2,
            Form::Ed25519 => 3,
            Form::Schnorr => 4,
        });
        out.push(u8::from(self.input == Input::Digest));
        // Neither has 4 GiB: both are parts of a body.
        let _ = put_lp(out, self.path.as_bytes());
        let _ = put_lp(out, self.proof);
    }

    /// Reads what [`Usage::put`] wrote; `None` for anything else.
    #[must_use]
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let form = match reader.u8().ok()? {
            0 => Form::Usual,
            1 => Form::Ecdsa,
            2 => Form::EcdsaRecoverable,
            3 => Form::Ed25519,
            4 => Form::Schnorr,
            _ => return None,
        };
        let input = match reader.u8().ok()? {
            0 => Input::Message,
            1 => Input::Digest,
            _ => return None,
        };
        let path = std::str::from_utf8(reader.lp().ok()?).ok()?;
        let proof = reader.lp().ok()?;
        reader.is_empty().then_some(Self {
            form,
            input,
            path,
            proof,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_back_as_it_went_and_nothing_else_is_read() {
        for form in [Form::Usual].into_iter().chain(Form::ALL) {
            for input in [Input::Message, Input::Digest] {
                for (path, proof) in [("", &b""[..]), ("m/0'", b"proof"), ("m", &[7; 64])] {
                    let usage = Usage {
                        form,
                        input,
                        path,
                        proof,
                    };
                    let mut bytes = Vec::new();
                    usage.put(&mut bytes);
                    assert_eq!(Usage::read(&bytes), Some(usage));
                    assert_eq!(Usage::read(&bytes[..bytes.len() - 1]), None);
                    assert_eq!(Usage::read(&[&bytes[..], b"x"].concat()), None);
                    for place in 0..2 {
                        let mut other = bytes.clone();
                        other[place] = 5;
                        assert_eq!(Usage::read(&other), None);
                    }
                }
            }
        }
        assert_eq!(Usage::read(b""), None);
    }

    #[test]
    fn forms_have_one_name_each() {
        for form in Form::ALL {
            assert_eq!(Form::of_name(form.name()), Some(form));
        }
        for other in ["", "ECDSA", "der", "bip340"] {
            assert_eq!(Form::of_name(other), None);
        }
    }
}
