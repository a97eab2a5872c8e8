//! The functions of PKCS#11: names, since which version, what they belong to.

use std::fmt;
use std::str::FromStr;

use crate::spelling::SpellingError;
use crate::tables::functions::{LENGTHS, NAMES};

/// A function of PKCS#11: one place in the function list of version 3.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Function(u8);

/// A version that has a function list of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "the lists of the standard")]
pub enum Version {
    /// 2.40 and earlier.
    V2_40,
    /// 3.0 and 3.1.
    V3_0,
    /// 3.2.
    V3_2,
}

/// What a function is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Family {
    /// Completion of calls that went on in the background.
    Async,
    /// Decryption, also of messages.
    Decrypt,
    /// Digests.
    Digest,
    /// Two operations at once.
    Dual,
    /// Encryption, also of messages.
    Encrypt,
    /// Search of objects.
    Find,
    /// Loading and describing the module.
    General,
    /// Making, wrapping, deriving and encapsulating keys.
    Key,
    /// Objects and their attributes.
    Object,
    /// Functions that once ran in parallel; always legacy.
    Parallel,
    /// Random bytes.
    Random,
    /// Sessions and logins.
    Session,
    /// Signatures and codes, also of messages.
    Sign,
    /// Slots and tokens, mechanisms, PINs.
    Slot,
    /// Checking signatures and codes, also of messages.
    Verify,
}

/// Where a function stands in an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the ways in which the standard cuts an operation"
)]
pub enum Phase {
    /// A call that stands alone.
    Whole,
    /// Begins an operation.
    Init,
    /// Does it at once, after an `Init`.
    Single,
    /// Takes or gives a part.
    Update,
    /// Ends it.
    Final,
}

impl Version {
    const ALL: [Self; 3] = [Self::V2_40, Self::V3_0, Self::V3_2];

    /// The functions of this version's list, in its order: 68, 92 or 104.
    pub fn functions(self) -> impl Iterator<Item = Function> {
        let [v2_40, v3_0, v3_2] = LENGTHS;
        let length = match self {
            Self::V2_40 => v2_40,
            Self::V3_0 => v3_0,
            Self::V3_2 => v3_2,
        };
        Function::all().take(length)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::V2_40 => "2.40",
            Self::V3_0 => "3.0",
            Self::V3_2 => "3.2",
        })
    }
}

impl Function {
    /// Every function, in the order of the list of 3.2.
    pub fn all() -> impl Iterator<Item = Self> {
        (0_u8..).zip(NAMES.iter()).map(|(index, _)| Self(index))
    }

    /// The function with exactly this name: `C_Sign`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|one| one.name() == name)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES.get(usize::from(self.0)).copied().unwrap_or_default()
    }

    /// Its place in the function lists, which it keeps in later versions.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The first version that has it.
    #[must_use]
    pub fn since(self) -> Version {
        let lengths = Version::ALL.into_iter().zip(LENGTHS);
        lengths
            .filter(|&(_, length)| self.index() < length)
            .map(|(version, _)| version)
            .next()
            .unwrap_or(Version::V3_2)
    }

    /// What it is about.
    #[must_use]
    pub fn family(self) -> Family {
        let name = self.name();
        let places: &[(Family, &[&str])] = FAMILIES;
        places
            .iter()
            .find(|(_, parts)| parts.iter().any(|part| name.contains(part)))
            .map_or(Family::General, |&(family, _)| family)
    }

    /// Where it stands in its operation.
    #[must_use]
    pub fn phase(self) -> Phase {
        let name = self.name();
        let in_operation = matches!(
            self.family(),
            Family::Decrypt
                | Family::Digest
                | Family::Dual
                | Family::Encrypt
                | Family::Find
                | Family::Sign
                | Family::Verify
        );
        if !in_operation {
            Phase::Whole
        } else if name.ends_with("Init") {
            Phase::Init
        } else if name.ends_with("Final") {
            Phase::Final
        } else if ["Update", "Key", "Begin", "Next", "Objects"]
            .iter()
            .any(|end| name.ends_with(end))
        {
            Phase::Update
        } else {
            Phase::Single
        }
    }

    /// Whether its first argument is a session.
    #[must_use]
    pub fn takes_session(self) -> bool {
        match self.family() {
            Family::General => false,
            Family::Slot => matches!(self.name(), "C_InitPIN" | "C_SetPIN"),
            Family::Session => !matches!(self.name(), "C_OpenSession" | "C_CloseAllSessions"),
            _ => true,
        }
    }

    /// Whether it may wait for an event of the outside for any time.
    #[must_use]
    pub fn blocks(self) -> bool {
        self.name() == "C_WaitForSlotEvent"
    }
}

/// By a part of the name; the first that fits. Longer parts stand before those that they contain.
const FAMILIES: &[(Family, &[&str])] = &[
    (Family::Async, &["C_Async"]),
    (Family::Parallel, &["FunctionStatus", "CancelFunction"]),
    (
        Family::Dual,
        &[
            "DigestEncrypt",
            "DecryptDigest",
            "SignEncrypt",
            "DecryptVerify",
        ],
    ),
    (Family::Random, &["Random"]),
    (
        Family::Key,
        &[
            "GenerateKey",
            "WrapKey",
            "UnwrapKey",
            "DeriveKey",
            "capsulateKey",
        ],
    ),
    (Family::Encrypt, &["Encrypt"]),
    (Family::Decrypt, &["Decrypt"]),
    (Family::Digest, &["Digest"]),
    (Family::Verify, &["Verify"]),
    (Family::Sign, &["Sign"]),
    (Family::Find, &["FindObjects"]),
    (Family::Object, &["Object", "AttributeValue"]),
    (
        Family::Session,
        &["Session", "Login", "Logout", "OperationState"],
    ),
    (
        Family::Slot,
        &["Slot", "Token", "Mechanism", "InitPIN", "SetPIN"],
    ),
];

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Function {
    type Err = SpellingError;

    /// With or without `C_`, in any case.
    fn from_str(text: &str) -> Result<Self, SpellingError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(SpellingError::Empty { kind: "function" });
        }
        let rest = |name: &'static str| name.strip_prefix("C_").unwrap_or(name);
        Self::all()
            .find(|one| {
                let name = one.name();
                name.eq_ignore_ascii_case(text) || rest(name).eq_ignore_ascii_case(text)
            })
            .ok_or(SpellingError::Unknown {
                kind: "function",
                nearest: Vec::new(),
            })
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Function {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Function {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        Self::named(&name).ok_or_else(|| serde::de::Error::custom("no function of this name"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn function(name: &str) -> Function {
        Function::named(name).unwrap()
    }

    #[test]
    fn the_lists_have_68_92_and_104_functions_and_each_begins_with_the_earlier() {
        let lists = Version::ALL.map(|version| version.functions().collect::<Vec<_>>());
        assert_eq!(
            [lists[0].len(), lists[1].len(), lists[2].len()],
            [68, 92, 104]
        );
        assert!(lists[2].starts_with(&lists[1]) && lists[1].starts_with(&lists[0]));
        assert_eq!(function("C_WaitForSlotEvent").since(), Version::V2_40);
        assert_eq!(function("C_GetInterfaceList").since(), Version::V3_0);
        assert_eq!(function("C_EncapsulateKey").since(), Version::V3_2);
    }

    #[test]
    fn families_are_told_by_name() {
        for (name, family) in [
            ("C_Initialize", Family::General),
            ("C_GetInfo", Family::General),
            ("C_GetFunctionList", Family::General),
            ("C_GetInterface", Family::General),
            ("C_GetSlotInfo", Family::Slot),
            ("C_GetMechanismList", Family::Slot),
            ("C_InitToken", Family::Slot),
            ("C_WaitForSlotEvent", Family::Slot),
            ("C_GetSessionInfo", Family::Session),
            ("C_LoginUser", Family::Session),
            ("C_SessionCancel", Family::Session),
            ("C_GetSessionValidationFlags", Family::Session),
            ("C_DestroyObject", Family::Object),
            ("C_FindObjectsInit", Family::Find),
            ("C_EncryptMessageNext", Family::Encrypt),
            ("C_DecryptVerifyUpdate", Family::Dual),
            ("C_DigestKey", Family::Digest),
            ("C_SignRecover", Family::Sign),
            ("C_VerifySignatureUpdate", Family::Verify),
            ("C_UnwrapKeyAuthenticated", Family::Key),
            ("C_DecapsulateKey", Family::Key),
            ("C_SeedRandom", Family::Random),
            ("C_GetFunctionStatus", Family::Parallel),
            ("C_AsyncJoin", Family::Async),
        ] {
            assert_eq!(function(name).family(), family, "{name}");
        }
    }

    #[test]
    fn phases_and_sessions_are_told_by_name() {
        for (name, phase, session) in [
            ("C_Initialize", Phase::Whole, false),
            ("C_GetTokenInfo", Phase::Whole, false),
            ("C_OpenSession", Phase::Whole, false),
            ("C_CloseSession", Phase::Whole, true),
            ("C_InitPIN", Phase::Whole, true),
            ("C_SignInit", Phase::Init, true),
            ("C_Sign", Phase::Single, true),
            ("C_SignMessage", Phase::Single, true),
            ("C_SignMessageBegin", Phase::Update, true),
            ("C_MessageSignFinal", Phase::Final, true),
            ("C_DigestKey", Phase::Update, true),
            ("C_FindObjects", Phase::Update, true),
            ("C_GenerateKeyPair", Phase::Whole, true),
        ] {
            assert_eq!(function(name).phase(), phase, "{name}");
            assert_eq!(function(name).takes_session(), session, "{name}");
        }
    }

    #[test]
    fn names_are_read_with_and_without_prefix_and_unknown_ones_refused() {
        assert_eq!("c_sign".parse(), Ok(function("C_Sign")));
        assert_eq!(" Sign ".parse(), Ok(function("C_Sign")));
        for text in ["", "C_", "C_Sing", "C_Sign ature"] {
            assert!(text.parse::<Function>().is_err(), "{text}");
        }
        assert_eq!(Function::named("c_sign"), None);
    }
}
