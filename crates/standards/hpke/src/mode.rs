//! The four modes (RFC 9180, section 5.1), and the pre-shared keys that two of them take.

use crate::{Error, Input, Limits, PrivateKey, PublicKey};

/// Bytes in the shortest pre-shared key (section 9.5: it must have at least as much entropy as a key).
pub const MIN_PSK_LEN: usize = 32;

/// Which mode, as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the four modes of RFC 9180")]
pub enum Mode {
    /// Anybody can be the sender.
    Base,
    /// Whoever knows the pre-shared key.
    Psk,
    /// Whoever has the sender's private key, or the recipient's: see [`SenderMode::AuthRfc9180`].
    AuthRfc9180,
    /// Both.
    AuthPsk,
}

impl Mode {
    /// The number of the mode (table 1).
    #[must_use]
    pub const fn id(self) -> u8 {
        match self {
            Self::Base => 0,
            Self::Psk => 1,
            Self::AuthRfc9180 => 2,
            Self::AuthPsk => 3,
        }
    }

    /// The mode of this number.
    #[must_use]
    pub const fn from_id(id: u8) -> Option<Self> {
        match id {
            0 => Some(Self::Base),
            1 => Some(Self::Psk),
            2 => Some(Self::AuthRfc9180),
            3 => Some(Self::AuthPsk),
            _ => None,
        }
    }

    const fn takes_psk(self) -> bool {
        matches!(self, Self::Psk | Self::AuthPsk)
    }
}

/// A secret that sender and recipient have shared before, and the name by which they call it.
///
/// The name is not secret. The secret must have the entropy of a key; a password is none.
#[derive(Clone, Copy)]
pub struct Psk<'a> {
    secret: &'a [u8],
    id: &'a [u8],
}

/// The secret of a [`Psk`], so that it cannot be exchanged with the id.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "a name for an argument")]
pub struct PskSecret<'a>(pub &'a [u8]);

impl std::fmt::Debug for PskSecret<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PskSecret")
    }
}

impl<'a> Psk<'a> {
    /// A pre-shared key of at least [`MIN_PSK_LEN`] bytes, and its id.
    ///
    /// # Errors
    /// [`Error::PskInconsistent`] if one of the two is missing, [`Error::PskTooShort`] if the key is short.
    pub const fn new(secret: PskSecret<'a>, id: &'a [u8]) -> Result<Self, Error> {
        let secret = secret.0;
        if secret.is_empty() || id.is_empty() {
            return Err(Error::PskInconsistent);
        }
        if secret.len() < MIN_PSK_LEN {
            return Err(Error::PskTooShort);
        }
        Ok(Self { secret, id })
    }

    /// What a mode makes of a secret and an id that may be empty (`VerifyPSKInputs`): for callers whose
    /// mode is a number.
    ///
    /// # Errors
    /// [`Error::PskInconsistent`] if a mode without a pre-shared key gets one, a mode with one gets none, or
    /// only half of one is there; [`Error::PskTooShort`] if it is short.
    pub const fn for_mode(
        mode: Mode,
        secret: PskSecret<'a>,
        id: &'a [u8],
    ) -> Result<Option<Self>, Error> {
        if mode.takes_psk() {
            match Self::new(secret, id) {
                Ok(psk) => Ok(Some(psk)),
                Err(error) => Err(error),
            }
        } else if secret.0.is_empty() && id.is_empty() {
            Ok(None)
        } else {
            Err(Error::PskInconsistent)
        }
    }

    /// The id.
    #[must_use]
    pub const fn id(&self) -> &'a [u8] {
        self.id
    }

    pub(crate) const fn secret(&self) -> &'a [u8] {
        self.secret
    }

    pub(crate) const fn check(&self, limits: Limits) -> Result<(), Error> {
        if self.secret.len() > limits.psk {
            return Err(Error::TooLong(Input::Psk));
        }
        if self.id.len() > limits.psk {
            return Err(Error::TooLong(Input::PskId));
        }
        Ok(())
    }
}

impl std::fmt::Debug for Psk<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Psk")
    }
}

/// The sender's side of a mode.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the four modes of RFC 9180")]
pub enum SenderMode<'a> {
    /// The recipient does not learn who sends.
    Base,
    /// The sender knows a pre-shared key.
    Psk(Psk<'a>),
    /// The sender has this private key, of the same KEM as the recipient's. For reading and writing what
    /// others do; the successor of RFC 9180 drops it.
    ///
    /// **Whoever has the recipient's private key can send in anybody's name** (key-compromise
    /// impersonation), and nothing here withstands a quantum computer. Use [`SenderMode::AuthPsk`] with a
    /// true pre-shared secret, or sign the transcript ([`crate::binder`]).
    AuthRfc9180(&'a PrivateKey),
    /// The sender has this private key and knows a pre-shared key.
    AuthPsk(&'a PrivateKey, Psk<'a>),
}

/// The recipient's side of a mode.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the four modes of RFC 9180")]
pub enum RecipientMode<'a> {
    /// Anybody may have sent.
    Base,
    /// Whoever knows the pre-shared key.
    Psk(Psk<'a>),
    /// The owner of this public key, or whoever has the recipient's own private key: see
    /// [`SenderMode::AuthRfc9180`].
    AuthRfc9180(&'a PublicKey),
    /// The owner of this public key, who knows the pre-shared key.
    AuthPsk(&'a PublicKey, Psk<'a>),
}

/// What both sides' modes have in common.
macro_rules! sides {
    ($name:ident, $key:ident) => {
        impl<'a> $name<'a> {
            /// Which of the four.
            #[must_use]
            pub const fn mode(&self) -> Mode {
                match self {
                    Self::Base => Mode::Base,
                    Self::Psk(_) => Mode::Psk,
                    Self::AuthRfc9180(_) => Mode::AuthRfc9180,
                    Self::AuthPsk(..) => Mode::AuthPsk,
                }
            }

            /// The pre-shared key of the modes that take one.
            #[must_use]
            pub const fn psk(&self) -> Option<Psk<'a>> {
                match self {
                    Self::Psk(psk) | Self::AuthPsk(_, psk) => Some(*psk),
                    Self::Base | Self::AuthRfc9180(_) => None,
                }
            }

            /// The sender's key in the modes that prove it.
            pub(crate) const fn sender(&self) -> Option<&'a $key> {
                match self {
                    Self::AuthRfc9180(key) | Self::AuthPsk(key, _) => Some(key),
                    Self::Base | Self::Psk(_) => None,
                }
            }
        }
    };
}

sides!(SenderMode, PrivateKey);
sides!(RecipientMode, PublicKey);
