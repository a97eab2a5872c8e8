//! Keys, tweaks and values of an operation, and the key that judges.

use keywright_fpe::{Backend, Error, Key, Mode, Numeral, Options, Policy, Radix, Tweaked};
use keywright_measure::{Fault, FaultPhase, TargetError};
use keywright_secret::SecretBytes;

use super::super::row::{Row, Seeded};
use super::buffers::Place;
use super::task::{Symbols, Task};

/// What is measured, and what it is judged by.
pub(super) struct Subject {
    pub(super) task: Task,
    pub(super) options: Options,
    pub(super) secret: SecretBytes,
    pub(super) tweak: Vec<u8>,
    pub(super) key: &'static Key,
    /// Of the same secret, on the portable backend where that does not take minutes.
    pub(super) judge: &'static Key,
    seeded: Seeded,
}

/// Values longer than this are judged by the backend that made them, backwards.
const LONG: u32 = 10_000;

impl Subject {
    pub(super) fn new(task: Task, row: &Row<'_>) -> Result<Self, TargetError> {
        let mut seeded = row.seeded();
        let secret = SecretBytes::from_vec(seeded.bytes(task.cipher.key_bytes()));
        let tweak = seeded.bytes(task.tweak_bytes());
        let radix = Radix::new(task.symbols.radix()).map_err(|error| row.lacks(error))?;
        let policy = match task.mode {
            Mode::Ff1 => Policy::STRICT,
            _ => Policy::STRICT.allow_legacy_encrypt(),
        };
        let options = Options::new(task.mode, task.cipher.algorithm(), radix).with_policy(policy);
        let measured = options.with_backend(task.backend(row.setting.fpe_backend));
        let judging = match task.digits {
            0..=LONG => options.with_backend(Backend::Portable),
            _ => measured,
        };
        let make = |options| kept(options, &secret).map_err(|error| row.lacks(error));
        Ok(Self {
            key: make(measured)?,
            judge: make(judging)?,
            options: measured,
            task,
            secret,
            tweak,
            seeded,
        })
    }

    /// Values one after the other, as digits or as bytes of text.
    pub(super) fn draw<T: Place>(&mut self, symbols: Form) -> Vec<T> {
        let (task, radix) = (self.task, self.task.symbols.radix());
        let count = usize::try_from(u64::from(task.records()) * u64::from(task.digits));
        let drawn = self.seeded.bytes(count.unwrap_or_default() * 4);
        drawn
            .chunks_exact(4)
            .map(|four| {
                let number = four
                    .iter()
                    .fold(0, |number, byte| number << 8 | u32::from(*byte));
                T::place(symbols.symbol(number % radix))
            })
            .collect()
    }

    /// As many tweaks as there are values, one after the other.
    pub(super) fn tweaks(&mut self) -> Vec<u8> {
        let count = usize::try_from(self.task.records()).unwrap_or_default();
        self.seeded.bytes(count * self.task.tweak_bytes())
    }

    /// Key, length and tweak made ready.
    pub(super) fn tweaked(&self, row: &Row<'_>) -> Result<Tweaked<'static>, TargetError> {
        let digits = usize::try_from(self.task.digits).unwrap_or(usize::MAX);
        let tweaked = self.key.tweaked(digits, &self.tweak);
        tweaked.map_err(|error| row.lacks(error))
    }
}

/// A key for as long as the program runs: what is prepared from it borrows it, and a worker owns both. It is
/// a few hundred bytes for each worker, of a secret that everybody knows who knows the seed.
fn kept(options: Options, secret: &SecretBytes) -> Result<&'static Key, Error> {
    Ok(Box::leak(Box::new(Key::new(options, secret.expose())?)))
}

/// Whether values are digits or text.
#[derive(Clone, Copy)]
pub(super) enum Form {
    Digits,
    Text(&'static [u8]),
}

impl Form {
    pub(super) const fn of(symbols: Symbols) -> Self {
        match symbols.text() {
            Some((_, symbols)) => Self::Text(symbols),
            None => Self::Digits,
        }
    }

    fn symbol(self, digit: u32) -> u32 {
        match self {
            Self::Digits => digit,
            Self::Text(symbols) => {
                let place = usize::try_from(digit).ok();
                let symbol = place.and_then(|place| symbols.get(place));
                symbol.copied().unwrap_or_default().into()
            }
        }
    }
}

/// What the library refused, by its code.
pub(super) fn fault(error: Error) -> Fault {
    Fault::new(FaultPhase::Operation, error.code())
}

/// A value put through the judge, one way.
pub(super) fn judged<T: Numeral>(
    act: impl FnOnce(&mut [T]) -> Result<(), Error>,
    value: &[T],
) -> Option<Vec<T>> {
    let mut value = value.to_vec();
    act(&mut value).ok().map(|()| value)
}
