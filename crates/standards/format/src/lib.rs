//! The format language: sets of valid strings, ranked and unranked, permuted within themselves.
//!
//! A [`Format`] describes a set of values, for instance payment card numbers of which the last four digits
//! stay. A [`FormatKey`] is a format under a key. A [`Column`] makes tokens of values and values of tokens,
//! many at a time: values are read into FF1's digits, encrypted in one call, and written back, so that every
//! token is a value of the same set and no two values share one.
//!
//! * [`Format::parse`]: the one-line form; [`Format::canonical`]: the text that keys are derived from.
//! * [`Rules`]: a TOML file that says which column is protected how.
//! * [`TweakPolicy`]: what a tweak is made of.
//! * [`Mask`], [`Masker`]: what does not come back.
//! * [`suggest`]: formats that a sample fits.
//!
//! `docs/format.md` describes the language. The crate leans on FF1 of `keywright-fpe` and adds cycle walking
//! (Black and Rogaway 2002) where N is no power.
//!
//! Reading and writing values takes a time that depends on them, but for columns of digits of one width
//! under one tweak. Not here: files, key management, and any judgement on whether a value exists.
//!
//! ```
//! use keywright_format::{Column, Format, FormatKey, Scope, Settings, TweakPolicy};
//! use keywright_secret::Secret;
//!
//! let format = Format::parse("date(from=0001-01-01, to=9999-12-31)")?;
//! let master = Secret::<32>::from_fill(|key| key.fill(7));
//! let key = FormatKey::derive(&master, &format, Settings::new(TweakPolicy::default()))?;
//! let mut column = Column::new(&key, Scope::column("birth_date"));
//! let token = column.protect_one(b"1912-06-23", &[])?;
//! assert_eq!(column.reveal_one(&token, &[])?, b"1912-06-23");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod arguments;
mod cells;
mod codec;
mod column;
mod divisor;
mod error;
mod find;
mod format;
#[doc(hidden)]
pub mod fuzzing;
mod key;
mod mask;
mod rank;
mod rules;
mod shape;
mod suggest;
mod syntax;
mod tweak;
mod wide;

pub use cells::{Cells, Output};
pub use codec::{Count, SmallSet};
pub use column::{Column, One, Report, Scope};
pub use error::{Error, Misfit, Place, Problem};
pub use find::Finder;
pub use format::{Checker, Embedding, FLOOR, Format, HARD_FLOOR};
pub use key::{Cipher, FormatKey, Settings};
pub use mask::{Mask, Masker, Others};
pub use rules::{ColumnRule, LONGEST_RULES, OnBad, Rules, SmallDomain};
pub use suggest::{Suggestion, suggest};
pub use tweak::{TweakPart, TweakPolicy};
pub use wide::Wide;
