//! What return codes mean and what to do about them.
//!
//! * [`Explanation`]: meaning, causes (the likeliest first), functions, recovery and hint of a code.
//! * [`Context`]: what somebody was about to do, with steps to find the cause, as commands that can be run.
//! * [`Difference`]: where tokens are known to answer in their own ways.
//!
//! The meaning is the one of PKCS#11 3.2, sections 5.1 to 5.24, in other words. Not here: what a vendor's own codes
//! mean.

mod codes;
mod context;
mod difference;
mod steps;

pub use context::{Context, Placeholders, Step};
pub use difference::{DIFFERENCES, Difference, Provider};

use crate::{Family, Function, Phase, Recovery, ReturnCode};

/// What is known of a return code.
#[derive(Clone, Copy, Debug)]
pub struct Explanation(&'static Entry);

/// A row of the tables in [`codes`].
#[derive(Debug)]
struct Entry {
    code: ReturnCode,
    recovery: Recovery,
    meaning: &'static str,
    causes: &'static [&'static str],
    from: &'static [By],
    hint: &'static str,
}

/// Functions that can answer a code.
#[derive(Clone, Copy, Debug)]
enum By {
    /// Every function.
    Every,
    /// Every function that takes a session.
    EverySession,
    /// Every function that needs a token: those with a session, and those with a slot that ask for its token.
    EveryToken,
    /// Every function of a family.
    All(Family),
    /// Those of a family that begin an operation.
    Init(Family),
    /// Those of a family that go on with an operation.
    Run(Family),
    /// One.
    One(&'static str),
}

impl By {
    fn holds(self, function: Function) -> bool {
        match self {
            Self::Every => true,
            Self::EverySession => function.takes_session(),
            Self::EveryToken => function.takes_session() || WITH_TOKEN.contains(&function.name()),
            Self::All(family) => function.family() == family,
            Self::Init(family) => function.family() == family && function.phase() == Phase::Init,
            Self::Run(family) => function.family() == family && function.phase() != Phase::Init,
            Self::One(name) => function.name() == name,
        }
    }
}

/// Functions that take a slot and need the token in it.
const WITH_TOKEN: &[&str] = &[
    "C_CloseAllSessions",
    "C_GetMechanismInfo",
    "C_GetMechanismList",
    "C_GetTokenInfo",
    "C_InitToken",
    "C_OpenSession",
];

impl Explanation {
    /// What is known of a code; nothing of codes that vendors made.
    #[must_use]
    pub fn of(code: ReturnCode) -> Option<Self> {
        Self::all().find(|known| known.code() == code)
    }

    /// Of all codes with a name, ascending.
    pub fn all() -> impl Iterator<Item = Self> {
        codes::ALL.iter().copied().flatten().map(Self)
    }

    /// The code.
    #[must_use]
    pub fn code(self) -> ReturnCode {
        self.0.code
    }

    /// What it says, as half a sentence.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        self.0.meaning
    }

    /// Why it is answered, the likeliest first.
    #[must_use]
    pub fn causes(self) -> &'static [&'static str] {
        self.0.causes
    }

    /// What to do with the session.
    #[must_use]
    pub fn recovery(self) -> Recovery {
        self.0.recovery
    }

    /// What to do first, as a sentence.
    #[must_use]
    pub fn hint(self) -> &'static str {
        self.0.hint
    }

    /// The functions that can answer it by the standard, in the order of the lists.
    pub fn functions(self) -> impl Iterator<Item = Function> {
        let from = self.0.from;
        Function::all().filter(move |function| from.iter().any(|one| one.holds(*function)))
    }

    /// Where tokens answer it in their own ways.
    pub fn differences(self) -> impl Iterator<Item = &'static Difference> {
        DIFFERENCES
            .iter()
            .filter(move |row| row.code() == self.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Named;

    #[test]
    fn every_code_with_a_name_is_explained_once_and_in_order() {
        let explained: Vec<_> = Explanation::all().map(Explanation::code).collect();
        let named: Vec<_> = ReturnCode::all().collect();
        assert_eq!(explained, named);
        assert!(Explanation::of(ReturnCode::new(0x4)).is_none());
        assert!(Explanation::of(ReturnCode::new(0x8000_0001)).is_none());
    }

    #[test]
    fn every_code_has_meaning_causes_functions_and_a_hint() {
        for known in Explanation::all() {
            let code = known.code();
            assert!(known.functions().count() > 0, "{code}");
            assert!(code.is_ok() || !known.causes().is_empty(), "{code}");
            assert!(!known.meaning().ends_with('.'), "{code}");
            let sentence = known.hint();
            assert!(
                sentence.ends_with('.') && sentence.starts_with(char::is_uppercase),
                "{code}"
            );
            for text in known.causes() {
                assert!(!text.ends_with('.') && text.len() < 160, "{code}: {text}");
            }
        }
    }

    #[test]
    fn names_of_functions_in_the_tables_exist() {
        for entry in codes::ALL.iter().copied().flatten() {
            for from in entry.from {
                if let By::One(name) = from {
                    assert!(Function::named(name).is_some(), "{name}");
                }
            }
        }
        for name in WITH_TOKEN {
            assert!(Function::named(name).is_some(), "{name}");
        }
    }

    #[test]
    fn a_login_can_answer_what_logins_answer_and_a_digest_cannot() {
        let can = |code, name: &str| {
            let function = Function::named(name).unwrap();
            Explanation::of(code)
                .unwrap()
                .functions()
                .any(|one| one == function)
        };
        assert!(can(ReturnCode::PIN_INCORRECT, "C_Login"));
        assert!(!can(ReturnCode::PIN_INCORRECT, "C_Digest"));
        assert!(can(ReturnCode::SIGNATURE_INVALID, "C_VerifyFinal"));
        assert!(!can(ReturnCode::SIGNATURE_INVALID, "C_VerifyInit"));
        assert!(can(ReturnCode::MECHANISM_INVALID, "C_GenerateKeyPair"));
        assert!(can(ReturnCode::GENERAL_ERROR, "C_Initialize"));
        assert!(!can(ReturnCode::SESSION_HANDLE_INVALID, "C_OpenSession"));
        assert!(can(ReturnCode::TOKEN_NOT_PRESENT, "C_OpenSession"));
    }

    #[test]
    fn lost_sessions_and_tokens_are_not_used_again_and_a_wrong_pin_is_never_repeated() {
        for code in [
            ReturnCode::SESSION_HANDLE_INVALID,
            ReturnCode::SESSION_CLOSED,
            ReturnCode::DEVICE_REMOVED,
            ReturnCode::TOKEN_NOT_PRESENT,
            ReturnCode::DEVICE_ERROR,
            ReturnCode::CRYPTOKI_NOT_INITIALIZED,
            ReturnCode::GENERAL_ERROR,
        ] {
            assert!(!code.recovery().keeps_session(), "{code}");
        }
        for code in [
            ReturnCode::PIN_INCORRECT,
            ReturnCode::PIN_LOCKED,
            ReturnCode::PIN_EXPIRED,
            ReturnCode::PIN_INVALID,
            ReturnCode::SIGNATURE_INVALID,
            ReturnCode::ENCRYPTED_DATA_INVALID,
            ReturnCode::AEAD_DECRYPT_FAILED,
        ] {
            assert!(!code.recovery().repeats(), "{code}");
        }
        assert_eq!(ReturnCode::USER_NOT_LOGGED_IN.recovery(), Recovery::Login);
    }
}
