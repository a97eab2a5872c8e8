//! The key object.

mod tweaked;

pub use tweaked::Tweaked;
pub(crate) use tweaked::single;

use core::fmt;

use zeroize::Zeroizing;

use crate::arithmetic::Digits;
use crate::cipher::{Algorithm, Backend, Schedule, ScheduleError};
use crate::error::Error;
use crate::feistel::{Direction, Plan};
use crate::numerals::Numeral;
use crate::policy::{Mode, Policy};
use crate::shape::{Length, Radix, Shape};
use crate::{ff1, ff3};
use tweaked::Route;

/// What a key is for. Public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    mode: Mode,
    algorithm: Algorithm,
    radix: Radix,
    policy: Policy,
    backend: Option<Backend>,
}

impl Options {
    /// With the strict policy, on the best backend of the machine.
    #[must_use]
    pub const fn new(mode: Mode, algorithm: Algorithm, radix: Radix) -> Self {
        Self {
            mode,
            algorithm,
            radix,
            policy: Policy::STRICT,
            backend: None,
        }
    }

    /// Under this policy.
    #[must_use]
    pub const fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// On this backend.
    #[must_use]
    pub const fn with_backend(mut self, backend: Backend) -> Self {
        self.backend = Some(backend);
        self
    }
}

/// A key for one mode, algorithm and radix. Immutable; any number of threads may use it at once. Its
/// schedule is wiped when it is dropped.
pub struct Key {
    schedule: Schedule,
    digits: Digits,
    options: Options,
    backend: Backend,
    shortest: u32,
    longest: u32,
    /// The most digits whose halves fit 96 bits.
    longest_short: u32,
}

impl Key {
    /// Takes the bytes of a key: 16, 24 or 32 for AES, 16 for SM4.
    ///
    /// # Errors
    /// [`Error::KeySize`]; [`Error::BackendUnavailable`].
    pub fn new(options: Options, secret: &[u8]) -> Result<Self, Error> {
        let Options {
            mode,
            algorithm,
            radix,
            policy,
            backend,
        } = options;
        let backend = backend.unwrap_or_else(|| Backend::detect(algorithm));
        let schedule = match mode {
            Mode::Ff1 => Schedule::new(algorithm, secret, backend),
            _ => Schedule::new(
                algorithm,
                reversed(&mut Zeroizing::new([0; 33]), secret),
                backend,
            ),
        };
        Ok(Self {
            schedule: schedule.map_err(|error| refused(error, secret.len()))?,
            digits: Digits::new(radix),
            options,
            backend,
            shortest: radix.shortest(policy.floor()),
            longest: match mode {
                Mode::FpecFf31 => ff3::overlong::LONGEST,
                _ => radix.longest(mode),
            },
            longest_short: radix.longest(Mode::Ff3),
        })
    }

    /// The mode.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        self.options.mode
    }

    /// The radix.
    #[must_use]
    pub const fn radix(&self) -> Radix {
        self.options.radix
    }

    /// The block cipher.
    #[must_use]
    pub const fn algorithm(&self) -> Algorithm {
        self.options.algorithm
    }

    /// The policy.
    #[must_use]
    pub const fn policy(&self) -> Policy {
        self.options.policy
    }

    /// The backend that was chosen or detected.
    #[must_use]
    pub const fn backend(&self) -> Backend {
        self.backend
    }

    /// The fewest and the most digits that this key takes.
    #[must_use]
    pub const fn lengths(&self) -> core::ops::RangeInclusive<u32> {
        self.shortest..=self.longest
    }

    /// Whether a value of this length, written by fpe-c as FF3-1, holds digits that were never encrypted.
    /// Only [`Mode::FpecFf31`] takes such lengths.
    #[must_use]
    pub const fn is_partly_in_clear(&self, digits: usize) -> bool {
        matches!(self.options.mode, Mode::FpecFf31) && digits > self.longest_short as usize
    }

    /// What all values of `digits` digits under `tweak` have in common.
    ///
    /// # Errors
    /// [`Error::Domain`], [`Error::Length`], [`Error::TweakEmpty`], [`Error::TweakLength`].
    #[inline]
    pub fn tweaked(&self, digits: usize, tweak: &[u8]) -> Result<Tweaked<'_>, Error> {
        let shape = self.shape(digits)?;
        let route = match self.options.mode {
            Mode::Ff1 => self.route_ff1(shape, tweak)?,
            _ => self.route_ff3(shape, tweak)?,
        };
        Ok(Tweaked {
            key: self,
            digits,
            route,
        })
    }

    #[inline]
    pub(crate) fn shape(&self, digits: usize) -> Result<Shape, Error> {
        let Options {
            mode,
            radix,
            policy,
            ..
        } = self.options;
        let length = match u32::try_from(digits) {
            Ok(length) if self.lengths().contains(&length) => Length::unjudged(length),
            _ => return Err(self.length_refused(mode, radix, digits, policy)),
        };
        Ok(Shape::new(radix, length))
    }

    #[cold]
    fn length_refused(&self, mode: Mode, radix: Radix, digits: usize, policy: Policy) -> Error {
        let otherwise = Error::Length {
            mode,
            radix: radix.value(),
            length: digits,
            longest: self.longest,
        };
        match Length::new(mode, radix, digits, policy.floor()) {
            Err(domain @ Error::Domain { .. }) => domain,
            _ => otherwise,
        }
    }

    /// The length of an FF1 tweak, judged.
    #[inline]
    pub(crate) fn tweak_bytes(&self, tweak: &[u8]) -> Result<u32, Error> {
        let policy = self.options.policy;
        if tweak.is_empty() && !policy.takes_empty_tweak() {
            return Err(Error::TweakEmpty);
        }
        match u32::try_from(tweak.len()) {
            Ok(bytes) if bytes <= policy.longest_tweak() => Ok(bytes),
            _ => Err(Error::TweakLength {
                mode: self.options.mode,
                bytes: tweak.len(),
                shortest: u32::from(!policy.takes_empty_tweak()),
                longest: policy.longest_tweak(),
            }),
        }
    }

    #[inline]
    fn route_ff1(&self, shape: Shape, tweak: &[u8]) -> Result<Route, Error> {
        let bytes = self.tweak_bytes(tweak)?;
        #[cfg(feature = "std")]
        if !self.is_short(shape) {
            let long = ff1::long::Long::new(&self.schedule, shape, self.digits, (tweak, bytes));
            return Ok(Route::Long(alloc::boxed::Box::new(long)));
        }
        let plan = self.plan(shape);
        let encrypted_p = ff1::encrypted_p(&self.schedule, shape, bytes);
        let base = ff1::base(&self.schedule, plan.b(), encrypted_p, tweak);
        Ok(Route::Short(plan, base))
    }

    #[inline]
    fn route_ff3(&self, shape: Shape, tweak: &[u8]) -> Result<Route, Error> {
        let base = ff3::base(self.half_tweaks(tweak)?);
        if self.is_short(shape) {
            return Ok(Route::Short(self.plan(shape), base));
        }
        Ok(Route::Overlong(base))
    }

    pub(crate) fn half_tweaks(&self, tweak: &[u8]) -> Result<[u32; 2], Error> {
        ff3::half_tweaks(self.options.mode, self.options.policy, tweak)
    }

    #[inline]
    pub(crate) const fn is_short(&self, shape: Shape) -> bool {
        shape.length().value() <= self.longest_short
    }

    #[inline]
    pub(crate) fn plan(&self, shape: Shape) -> Plan {
        match self.options.mode {
            Mode::Ff1 => ff1::plan(shape, self.digits),
            _ => ff3::plan(shape, self.digits),
        }
    }

    pub(crate) const fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    #[inline]
    pub(crate) const fn permit(&self, direction: Direction) -> Result<(), Error> {
        let Options { mode, policy, .. } = self.options;
        match direction {
            Direction::Encrypt if !policy.allows_encrypt(mode) => {
                Err(Error::EncryptRefused { mode })
            }
            _ => Ok(()),
        }
    }

    /// Encrypts `input` into `output` under `tweak`.
    ///
    /// # Errors
    /// As [`Key::tweaked`] and [`Tweaked::encrypt`].
    pub fn encrypt<T: Numeral>(
        &self,
        tweak: &[u8],
        input: &[T],
        output: &mut [T],
    ) -> Result<(), Error> {
        self.tweaked(input.len(), tweak)?.encrypt(input, output)
    }

    /// Decrypts `input` into `output` under `tweak`.
    ///
    /// # Errors
    /// As [`Key::tweaked`] and [`Tweaked::decrypt`].
    pub fn decrypt<T: Numeral>(
        &self,
        tweak: &[u8],
        input: &[T],
        output: &mut [T],
    ) -> Result<(), Error> {
        self.tweaked(input.len(), tweak)?.decrypt(input, output)
    }

    /// Encrypts a value where it stands.
    ///
    /// # Errors
    /// As [`Key::tweaked`] and [`Tweaked::encrypt`].
    pub fn encrypt_in_place<T: Numeral>(&self, tweak: &[u8], value: &mut [T]) -> Result<(), Error> {
        self.tweaked(value.len(), tweak)?.encrypt_in_place(value)
    }

    /// Decrypts a value where it stands.
    ///
    /// # Errors
    /// As [`Key::tweaked`] and [`Tweaked::decrypt`].
    pub fn decrypt_in_place<T: Numeral>(&self, tweak: &[u8], value: &mut [T]) -> Result<(), Error> {
        self.tweaked(value.len(), tweak)?.decrypt_in_place(value)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key")
            .field("options", &self.options)
            .field("backend", &self.backend)
            .finish_non_exhaustive()
    }
}

/// REVB of the key, which FF3 and FF3-1 use. A key longer than any stays one byte too long, to be refused.
fn reversed<'b>(buffer: &'b mut Zeroizing<[u8; 33]>, secret: &[u8]) -> &'b [u8] {
    let length = secret.len().min(buffer.len());
    let (room, _) = buffer.split_at_mut(length);
    for (to, from) in room.iter_mut().zip(secret.iter().rev()) {
        *to = *from;
    }
    room
}

fn refused(error: ScheduleError, given: usize) -> Error {
    match error {
        ScheduleError::KeySize { algorithm, .. } => Error::KeySize {
            algorithm,
            bytes: given,
        },
        ScheduleError::NotServed { algorithm, backend }
        | ScheduleError::Unavailable { algorithm, backend } => {
            Error::BackendUnavailable { backend, algorithm }
        }
    }
}
