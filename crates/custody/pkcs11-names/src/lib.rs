//! The names of PKCS#11: return codes, mechanisms, attributes, object classes, key types; what a return code
//! means; the record of a call.
//!
//! * Numbers: [`ReturnCode`], [`MechanismType`], [`AttributeType`], [`ObjectClass`], [`KeyType`] and the smaller
//!   ones, with a constant for each name. The tables are written by `generate.py` from the header of PKCS#11 3.2
//!   that cryptoki-sys ships, and a test compares them with it. A number without a name keeps its number.
//! * [`Named::read`]: a name or number in any of the ways in which people write it.
//! * [`ValueType`]: what the value of an attribute is, by which it is shown and compared.
//! * [`Flags`]: the bits of slots, tokens, sessions and mechanisms. [`MechanismType::category`] and
//!   [`MechanismType::uses`]: what a mechanism is for.
//! * [`Function`]: the functions and since which version they are.
//! * [`explain`]: meaning, causes and remedies of each return code; [`ReturnCode::recovery`] says what to do with
//!   the session.
//! * `CallRecord` (feature `serde`): a line of a log of calls.
//!
//! Not here: any call. This crate loads no module and allocates for text only.
//!
//! ```
//! use keywright_pkcs11_names::{MechanismType, Named, ReturnCode};
//!
//! assert_eq!(ReturnCode::new(0xa0).to_string(), "CKR_PIN_INCORRECT");
//! assert_eq!("pin incorrect".parse(), Ok(ReturnCode::PIN_INCORRECT));
//! assert_eq!("A0h".parse(), Ok(ReturnCode::PIN_INCORRECT));
//! assert_eq!(MechanismType::new(0x8000_0011).to_string(), "0x80000011");
//!
//! let reading = ReturnCode::read("101")?;
//! assert_eq!(reading.value(), ReturnCode::KEY_CHANGED);
//! assert_eq!(reading.other(), Some(ReturnCode::USER_NOT_LOGGED_IN));
//! # Ok::<(), keywright_pkcs11_names::SpellingError>(())
//! ```
#![forbid(unsafe_code)]

pub mod explain;
mod flags;
mod function;
mod mechanism;
mod named;
#[cfg(feature = "serde")]
mod record;
mod recovery;
mod spelling;
mod tables;
mod value;

pub use flags::{FlagSet, Flags};
pub use function::{Family, Function, Phase, Version};
pub use mechanism::{Category, Use};
pub use named::{
    AttributeType, CertificateType, HardwareFeature, KeyDerivation, KeyType, MaskGeneration,
    MechanismType, Named, ObjectClass, Profile, ReturnCode, SessionState, UserType,
};
#[cfg(feature = "serde")]
pub use record::{
    AttributeSummary, CallRecord, Disclosure, KeySummary, MechanismSummary, ParameterValue, SCHEMA,
    SCHEMA_VERSION,
};
pub use recovery::Recovery;
pub use spelling::{LONGEST_TEXT, Reading, SpellingError};
pub use value::ValueType;

/// Reads a text as every kind of number and shows what was understood: the body of the fuzz target.
#[doc(hidden)]
pub fn fuzz_spelling(data: &[u8]) {
    spelling::fuzz(data);
}
