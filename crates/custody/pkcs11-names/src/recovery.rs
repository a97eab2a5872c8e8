//! What to do with the session after a return code.

use std::fmt;

use crate::{Named, ReturnCode};

/// What the caller of a function does next. From the harmless to the final.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(rename_all = "kebab-case")
)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever recovers must say what it does for each"
)]
pub enum Recovery {
    /// Nothing is wrong: go on.
    Proceed,
    /// The session is good; the same request would fail again. Change the request.
    Amend,
    /// The session is good, and so was the request: repeat it, a bounded number of times with a pause.
    Retry,
    /// The session is good, its user is not logged in: log in once, then repeat. Never with a PIN that was just
    /// refused.
    Login,
    /// The session is of no more use. Close it, open another, log in, look handles up again, then repeat.
    Reopen,
    /// The token or the module was lost: finalise, initialise, find the token again by serial, then as
    /// [`Reopen`](Self::Reopen).
    Reconnect,
    /// Nothing the program does will help; somebody has to.
    GiveUp,
}

impl Recovery {
    /// Whether the session may be used for the next request.
    #[must_use]
    pub const fn keeps_session(self) -> bool {
        matches!(
            self,
            Self::Proceed | Self::Amend | Self::Retry | Self::Login
        )
    }

    /// Whether the same request may succeed after the recovery.
    #[must_use]
    pub const fn repeats(self) -> bool {
        matches!(
            self,
            Self::Retry | Self::Login | Self::Reopen | Self::Reconnect
        )
    }

    /// One word.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Proceed => "proceed",
            Self::Amend => "amend",
            Self::Retry => "retry",
            Self::Login => "login",
            Self::Reopen => "reopen",
            Self::Reconnect => "reconnect",
            Self::GiveUp => "give-up",
        }
    }
}

impl fmt::Display for Recovery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl ReturnCode {
    /// What to do with the session, whichever function has answered this. A code without a name says nothing about
    /// the state of the session, which is therefore given up.
    ///
    /// ```
    /// use keywright_pkcs11_names::{Recovery, ReturnCode};
    ///
    /// assert_eq!(ReturnCode::SESSION_HANDLE_INVALID.recovery(), Recovery::Reopen);
    /// assert_eq!(ReturnCode::new(0x8000_0001).recovery(), Recovery::Reopen);
    /// ```
    #[must_use]
    pub fn recovery(self) -> Recovery {
        crate::explain::Explanation::of(self).map_or(Recovery::Reopen, |known| known.recovery())
    }

    /// Whether this is `CKR_OK`.
    #[must_use]
    pub fn is_ok(self) -> bool {
        self == Self::OK
    }

    /// Whether a signature, a code or a tag was found wrong, and nothing else.
    #[must_use]
    pub fn is_refusal(self) -> bool {
        matches!(
            self,
            Self::SIGNATURE_INVALID | Self::SIGNATURE_LEN_RANGE | Self::AEAD_DECRYPT_FAILED
        )
    }

    /// Whether this number has no name.
    #[must_use]
    pub fn is_unnamed(self) -> bool {
        self.name().is_none()
    }
}
