//! Everything that can be wrong with a batch, before anything is written.

use super::super::{BatchError, Layout, Tweaks};
use super::Job;
use crate::error::Error;
use crate::feistel::Direction;
use crate::kernel;
use crate::numerals::{self, Numeral};

/// Elements that are worth a thread of their own.
#[cfg(feature = "std")]
const SHARE: usize = 1 << 18;

impl Job<'_> {
    /// Everything that can be wrong, before anything is written. Returns the number of records.
    pub(super) fn judge<T: Numeral>(self, values: &[T]) -> Result<usize, BatchError> {
        numerals::check_width::<T>(self.key.radix())?;
        let records = self.records(values.len())?;
        if self.alphabet.is_some() && T::bytes(&[]).is_none() {
            return Err(Error::AlphabetNotAscii.into());
        }
        let tweaks = self.tweaks.count().unwrap_or(records);
        if tweaks != records {
            return Err(Error::BatchShape {
                expected: records,
                given: tweaks,
            }
            .into());
        }
        self.judge_tweaks(records)?;
        if self.all_good(values) {
            return Ok(records);
        }
        Err(self.first_bad(records, values))
    }

    /// Whether every digit lies below the radix, or every byte is a symbol.
    fn good<T: Numeral>(self, values: &[T]) -> bool {
        match (self.alphabet, T::bytes(values)) {
            (Some(alphabet), Some(text)) => {
                kernel::Symbols::new(alphabet, self.key.backend()).known(text)
            }
            _ => !T::any_above(values, self.key.radix().value() - 1),
        }
    }

    /// The same over the threads: on one, the reading of a large batch would take a tenth of the time of all
    /// rounds, during which the others wait.
    #[cfg(feature = "std")]
    fn all_good<T: Numeral>(self, values: &[T]) -> bool {
        let share = values.len().div_ceil(self.threads.max(1)).max(SHARE);
        let Some((own, others)) = values.split_at_checked(share) else {
            return self.good(values);
        };
        std::thread::scope(|scope| {
            let judged: alloc::vec::Vec<_> = others
                .chunks(share)
                .map(|piece| {
                    let judge = move || self.good(piece);
                    std::thread::Builder::new()
                        .spawn_scoped(scope, judge)
                        .map_err(|_| piece)
                })
                .collect();
            let own = self.good(own);
            judged.into_iter().fold(own, |all, piece| {
                all & match piece {
                    Ok(thread) => thread.join().unwrap_or(false),
                    Err(piece) => self.good(piece),
                }
            })
        })
    }

    #[cfg(not(feature = "std"))]
    fn all_good<T: Numeral>(self, values: &[T]) -> bool {
        self.good(values)
    }

    fn records(self, values: usize) -> Result<usize, BatchError> {
        match self.layout {
            Layout::Fixed(digits) => {
                self.judge_length(digits)?;
                if values.checked_rem(digits) != Some(0) {
                    return Err(Error::BatchShape {
                        expected: values.next_multiple_of(digits.max(1)),
                        given: values,
                    }
                    .into());
                }
                Ok(values / digits)
            }
            #[cfg(feature = "std")]
            Layout::Offsets(offsets) => {
                let ends = (offsets.first(), offsets.last());
                let rising = offsets.windows(2).all(|pair| pair.is_sorted());
                if ends != (Some(&0), Some(&values)) || !rising {
                    return Err(Error::BatchShape {
                        expected: values,
                        given: offsets.last().copied().unwrap_or_default(),
                    }
                    .into());
                }
                let records = offsets.len() - 1;
                for record in 0..records {
                    self.judge_length(self.range(record).len())
                        .map_err(|error| BatchError::at(record, error))?;
                }
                Ok(records)
            }
            #[cfg(not(feature = "std"))]
            Layout::Never(never, _) => match never {},
        }
    }

    pub(super) fn judge_length(self, digits: usize) -> Result<(), Error> {
        let shape = self.key.shape(digits)?;
        if self.direction == Direction::Encrypt
            && self.key.mode().is_legacy()
            && !self.key.is_short(shape)
        {
            // Only values that fpe-c wrote are so long.
            return Err(Error::Length {
                mode: self.key.mode(),
                radix: self.key.radix().value(),
                length: digits,
                longest: self.key.radix().longest(crate::Mode::Ff3),
            });
        }
        Ok(())
    }

    pub(super) fn judge_tweaks(self, records: usize) -> Result<(), BatchError> {
        let judge = |tweak: &[u8]| match self.key.mode() {
            crate::Mode::Ff1 => self.key.tweak_bytes(tweak).map(drop),
            _ => self.key.half_tweaks(tweak).map(drop),
        };
        if let Tweaks::Same(tweak) = self.tweaks {
            return Ok(judge(tweak)?);
        }
        // Judged by their lengths, so that one speaks for all of one width.
        let judged = match self.tweaks {
            Tweaks::Each { .. } => records.min(1),
            _ => records,
        };
        for record in 0..judged {
            let Some(tweak) = self.tweaks.of(record) else {
                return Err(Error::BatchShape {
                    expected: records,
                    given: record,
                }
                .into());
            };
            judge(tweak).map_err(|error| BatchError::at(record, error))?;
        }
        Ok(())
    }

    /// Sought only after the batch was found bad.
    #[cold]
    fn first_bad<T: Numeral>(self, records: usize, values: &[T]) -> BatchError {
        let radix = self.key.radix();
        let bad = |value: &[T]| match (self.alphabet, T::bytes(value)) {
            (Some(alphabet), Some(text)) => text
                .iter()
                .position(|byte| !alphabet.has_bytes(&[*byte]))
                .map(|position| Error::Symbol { position }),
            _ => numerals::check(radix, value).err(),
        };
        let found = (0..records).find_map(|record| {
            let value = values.get(self.range(record))?;
            Some(BatchError::at(record, bad(value)?))
        });
        found.unwrap_or_else(|| {
            BatchError::from(Error::BatchShape {
                expected: records,
                given: values.len(),
            })
        })
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;
    use crate::alphabet::Alphabet;
    use crate::batch::Batch;
    use crate::cipher::Algorithm;
    use crate::key::{Key, Options};
    use crate::policy::Mode;
    use crate::shape::Radix;

    #[test]
    fn a_bad_digit_in_the_piece_of_any_thread_is_named_and_nothing_is_written() {
        let key = Key::new(
            Options::new(Mode::Ff1, Algorithm::Aes, Radix::DECIMAL),
            &[7; 16],
        )
        .unwrap();
        let good = std::vec![3_u8; 3 * SHARE + 8 * 10];
        let records = good.len() / 8;
        for record in [0, SHARE / 8 - 1, SHARE / 8, 2 * SHARE / 8 + 5, records - 1] {
            for threads in [1, 2, 3, 4, 9] {
                let mut digits = good.clone();
                digits[8 * record + 5] = 10;
                let mut text: std::vec::Vec<u8> = digits.iter().map(|digit| digit + b'0').collect();
                let (before, symbols) = (digits.clone(), text.clone());
                let batch = Batch::new(&key).with_threads(threads);
                let (tweaks, layout) = (Tweaks::Same(b"tweak"), Layout::Fixed(8));
                let found = batch.encrypt(tweaks, layout, &mut digits).unwrap_err();
                let error = Error::Digit {
                    position: 5,
                    radix: 10,
                };
                assert_eq!((found.record(), found.error()), (Some(record), error));
                let batch = batch.over(Alphabet::DIGITS);
                let found = batch.encrypt(tweaks, layout, &mut text).unwrap_err();
                let error = Error::Symbol { position: 5 };
                assert_eq!((found.record(), found.error()), (Some(record), error));
                assert!(digits == before && text == symbols);
            }
        }
    }
}
