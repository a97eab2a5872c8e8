//! Format-preserving encryption: a value of `n` digits becomes another value of `n` digits.
//!
//! The crate holds FF1 of NIST SP 800-38G (second draft of Revision 1), and FF3 and FF3-1, which that draft
//! withdraws and which stand here to read and migrate old data; over AES with 128, 192 and 256-bit keys and
//! over SM4, for which no official text exists.
//!
//! * [`Key`]: an immutable object for any number of threads; [`Key::encrypt`] and its companions take the
//!   tweak with each call.
//! * [`Tweaked`]: what a key, a length and a tweak have in common, computed once for many calls.
//! * [`Alphabet`]: text instead of digits.
//! * [`Batch`]: many values of one shape, or of mixed shapes.
//! * [`Policy`]: strict unless opened by name.
//!
//! ```
//! # fn main() -> Result<(), keywright_fpe::Error> {
//! use keywright_fpe::{Algorithm, Alphabet, Backend, Key, Mode, Options, Radix};
//!
//! let options = Options::new(Mode::Ff1, Algorithm::Aes, Radix::DECIMAL)
//!     .with_backend(Backend::detect(Algorithm::Aes));
//! let secret = *b"\x2B\x7E\x15\x16\x28\xAE\xD2\xA6\xAB\xF7\x15\x88\x09\xCF\x4F\x3C";
//! let key = Key::new(options, &secret)?;
//! let mut token = [0; 16];
//! key.encrypt_text(b"9876543", Alphabet::DIGITS, "4111111111111111", &mut token)?;
//! assert_eq!(&token, b"0049466176981546");
//! # Ok(())
//! # }
//! ```
//!
//! Keys, digits and everything computed from them are secret: no branch, no division and no memory address
//! depends on them. Mode, radix, length, tweak, alphabet and the number of records are public. Schedules
//! and halves are wiped.
//!
//! Not here: formats such as card numbers or dates, which are built on this crate, and key management.
#![no_std]
#![deny(unsafe_code)]
#![cfg_attr(
    test,
    expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")
)]

#[cfg(feature = "std")]
extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

mod alphabet;
mod arithmetic;
mod batch;
mod cipher;
mod error;
mod feistel;
mod ff1;
mod ff3;
mod kernel;
mod key;
mod numerals;
mod policy;
mod shape;
mod text;

pub use alphabet::Alphabet;
pub use batch::{Batch, BatchError, Layout, Tweaks};
pub use cipher::{Algorithm, Backend, UnknownBackend};
pub use error::Error;
pub use key::{Key, Options, Tweaked};
pub use numerals::Numeral;
pub use policy::{DomainFloor, Mode, Policy};
pub use shape::{Length, Radix, Shape};
