//! Calls under one key, length and tweak.

use core::fmt;

use zeroize::Zeroize;

use super::Key;
use crate::alphabet::Alphabet;
use crate::cipher::Schedule;
use crate::error::Error;
use crate::feistel::{Base, Direction, Family, Plan, walk};
#[cfg(feature = "std")]
use crate::ff1;
use crate::numerals::{self, Numeral};
use crate::{ff3, kernel};

/// A key, a length and a tweak: everything that does not depend on the value is computed.
pub struct Tweaked<'k> {
    pub(super) key: &'k Key,
    pub(super) digits: usize,
    pub(super) route: Route,
}

/// Which arithmetic the length needs.
pub(super) enum Route {
    Short(Plan, Base),
    #[cfg(feature = "std")]
    Long(alloc::boxed::Box<ff1::long::Long>),
    Overlong(Base),
}

impl Tweaked<'_> {
    /// The number of digits of a value.
    #[must_use]
    pub const fn digits(&self) -> usize {
        self.digits
    }

    /// The key.
    #[must_use]
    pub const fn key(&self) -> &Key {
        self.key
    }

    /// Encrypts `input` into `output`.
    ///
    /// # Errors
    /// [`Error::EncryptRefused`], [`Error::LengthMismatch`], [`Error::NumeralWidth`], [`Error::Digit`];
    /// `output` is untouched then.
    pub fn encrypt<T: Numeral>(&self, input: &[T], output: &mut [T]) -> Result<(), Error> {
        self.apart(Direction::Encrypt, input, output)
    }

    /// Decrypts `input` into `output`.
    ///
    /// # Errors
    /// As [`Tweaked::encrypt`]; decryption is never refused by policy.
    pub fn decrypt<T: Numeral>(&self, input: &[T], output: &mut [T]) -> Result<(), Error> {
        self.apart(Direction::Decrypt, input, output)
    }

    /// Encrypts a value where it stands.
    ///
    /// # Errors
    /// As [`Tweaked::encrypt`].
    pub fn encrypt_in_place<T: Numeral>(&self, value: &mut [T]) -> Result<(), Error> {
        self.admit(Direction::Encrypt, value)?;
        self.run(Direction::Encrypt, value);
        Ok(())
    }

    /// Decrypts a value where it stands.
    ///
    /// # Errors
    /// As [`Tweaked::decrypt`].
    pub fn decrypt_in_place<T: Numeral>(&self, value: &mut [T]) -> Result<(), Error> {
        self.admit(Direction::Decrypt, value)?;
        self.run(Direction::Decrypt, value);
        Ok(())
    }

    fn apart<T: Numeral>(
        &self,
        direction: Direction,
        input: &[T],
        output: &mut [T],
    ) -> Result<(), Error> {
        self.admit(direction, input)?;
        if output.len() != input.len() {
            return Err(Error::LengthMismatch {
                expected: input.len(),
                given: output.len(),
            });
        }
        output.copy_from_slice(input);
        self.run(direction, output);
        Ok(())
    }

    /// Everything that can be wrong with a call, before anything is written.
    #[inline]
    fn admit<T: Numeral>(&self, direction: Direction, value: &[T]) -> Result<(), Error> {
        self.permit(direction, value.len())?;
        numerals::check_width::<T>(self.key.radix())?;
        numerals::check(self.key.radix(), value)
    }

    #[inline]
    pub(crate) fn permit(&self, direction: Direction, digits: usize) -> Result<(), Error> {
        self.key.permit(direction)?;
        if digits != self.digits {
            return Err(Error::LengthMismatch {
                expected: self.digits,
                given: digits,
            });
        }
        match self.route {
            Route::Overlong(_) if direction == Direction::Encrypt => Err(Error::Length {
                mode: self.key.mode(),
                radix: self.key.radix().value(),
                length: digits,
                longest: self.key.longest_short,
            }),
            _ => Ok(()),
        }
    }

    /// One value as judged bytes of text; `false` if the backend leaves the alphabet to the caller.
    #[inline]
    pub(crate) fn run_text(
        &self,
        direction: Direction,
        alphabet: &Alphabet,
        text: &mut [u8],
    ) -> bool {
        let Route::Short(plan, base) = &self.route else {
            return false;
        };
        let walk = kernel::Walk {
            schedule: &self.key.schedule,
            plan,
            bases: &[],
            direction,
        };
        kernel::one_text(&walk, base, alphabet, text)
    }

    /// One value whose length and digits have been judged.
    #[inline]
    pub(crate) fn run<T: Numeral>(&self, direction: Direction, value: &mut [T]) {
        match &self.route {
            Route::Short(plan, base) => single(&self.key.schedule, plan, base, direction, value),
            #[cfg(feature = "std")]
            Route::Long(long) => long.run(&self.key.schedule, direction, value),
            Route::Overlong(base) => {
                ff3::overlong::decrypt(&self.key.schedule, &self.key.digits, base, value);
            }
        }
    }
}

/// One value: through the walk of the backend if it has one for the shape, else through the common one, of
/// which there is an instance for each family and direction.
#[inline]
pub(crate) fn single<T: Numeral>(
    schedule: &Schedule,
    plan: &Plan,
    base: &Base,
    direction: Direction,
    value: &mut [T],
) {
    if kernel::one(schedule, plan, base, direction, value) {
        return;
    }
    let as_ff1 = || Plan {
        family: Family::Ff1,
        ..*plan
    };
    let as_ff3 = || Plan {
        family: Family::Ff3,
        ..*plan
    };
    match (plan.family, direction) {
        (Family::Ff1, Direction::Encrypt) => {
            walk(schedule, &as_ff1(), base, Direction::Encrypt, value);
        }
        (Family::Ff1, Direction::Decrypt) => {
            walk(schedule, &as_ff1(), base, Direction::Decrypt, value);
        }
        (Family::Ff3, Direction::Encrypt) => {
            walk(schedule, &as_ff3(), base, Direction::Encrypt, value);
        }
        (Family::Ff3, Direction::Decrypt) => {
            walk(schedule, &as_ff3(), base, Direction::Decrypt, value);
        }
    }
}

impl Drop for Tweaked<'_> {
    fn drop(&mut self) {
        match &mut self.route {
            Route::Short(_, base) | Route::Overlong(base) => base.zeroize(),
            #[cfg(feature = "std")]
            Route::Long(_) => {}
        }
    }
}

impl fmt::Debug for Tweaked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tweaked")
            .field("key", &self.key)
            .field("digits", &self.digits)
            .finish_non_exhaustive()
    }
}
