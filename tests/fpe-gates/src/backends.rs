//! All backends of the machine against the portable one: random keys, shapes, tweaks and records.

use keywright_fpe::{
    Algorithm, Backend, Batch, Error, Key, Layout, Mode, Numeral, Options, Policy, Radix, Tweaks,
};

use crate::sequence::Sequence;

/// The most records of one draw.
const RECORDS: u32 = 2_000;
/// The most records of a draw of values whose halves have more than 96 bits.
const LONG_RECORDS: u32 = 60;
/// The most bytes of an FF1 tweak.
const TWEAK: u32 = 40;

/// What a draw fixes for all of its records.
struct Draw {
    mode: Mode,
    algorithm: Algorithm,
    radix: Radix,
    secret: Vec<u8>,
    digits: usize,
    records: usize,
    tweaks: Vec<u8>,
    width: usize,
}

impl Draw {
    fn new(sequence: &mut Sequence) -> Result<Self, Error> {
        let algorithm = pick(sequence, &[Algorithm::Aes, Algorithm::Sm4]);
        let mode = pick(sequence, &[Mode::Ff1, Mode::Ff1, Mode::Ff3, Mode::Ff31]);
        let key_bytes = match algorithm {
            Algorithm::Aes => pick(sequence, &[16, 24, 32]),
            _ => 16,
        };
        let radix = Radix::new(match sequence.below(5) {
            0 => 10,
            1 => 2 + sequence.below(255),
            2 => pick(sequence, &[16, 26, 36, 62, 64, 95, 1_000, 65_535]),
            3 => 2 << sequence.below(16),
            _ => 2 + sequence.below(65_535),
        })?;
        let least = radix.shortest(Policy::STANDARD_2016.floor());
        let short = radix.longest(Mode::Ff3);
        let is_long = mode == Mode::Ff1 && sequence.below(16) == 0;
        let digits = if is_long {
            short + 1 + sequence.below(short)
        } else {
            least + sequence.below(short - least + 1)
        };
        let most = if is_long { LONG_RECORDS } else { RECORDS };
        let records = number(1 + sequence.below(most));
        let width = match mode {
            Mode::Ff1 => number(1 + sequence.below(TWEAK)),
            Mode::Ff3 => 8,
            _ => 7,
        };
        let (mut secret, mut tweaks) = (vec![0; key_bytes], vec![0; width * records]);
        sequence.fill(&mut secret);
        sequence.fill(&mut tweaks);
        Ok(Self {
            mode,
            algorithm,
            radix,
            secret,
            digits: number(digits),
            records,
            tweaks,
            width,
        })
    }

    /// One tweak for all, or one for each.
    fn tweaks(&self, sequence: &mut Sequence) -> Tweaks<'_> {
        let (bytes, width) = (&self.tweaks[..], self.width);
        if sequence.below(2) == 0 {
            return Tweaks::Same(&bytes[..width]);
        }
        Tweaks::Each { bytes, width }
    }

    fn key(&self, backend: Backend) -> Result<Key, Error> {
        let options = Options::new(self.mode, self.algorithm, self.radix)
            .with_policy(Policy::STANDARD_2016)
            .with_backend(backend);
        Key::new(options, &self.secret)
    }

    /// Runs every backend, and gives the first that differs from the portable one or does not come back.
    fn differing<T>(
        &self,
        sequence: &mut Sequence,
    ) -> Result<Option<Backend>, Box<dyn core::error::Error>>
    where
        T: Numeral + TryFrom<u32> + Default + PartialEq,
    {
        let mut plain = vec![T::default(); self.digits * self.records];
        sequence.digits(self.radix.value(), &mut plain);
        let (tweaks, layout) = (self.tweaks(sequence), Layout::Fixed(self.digits));
        let portable = self.key(Backend::Portable)?;
        let mut expected = vec![T::default(); plain.len()];
        Batch::new(&portable).encrypt_into(tweaks, layout, &plain, &mut expected)?;
        let mut value = expected.clone();
        for backend in others(self.algorithm) {
            let key = self.key(backend)?;
            let batch = Batch::new(&key);
            batch.decrypt(tweaks, layout, &mut value)?;
            if value != plain {
                return Ok(Some(backend));
            }
            batch.encrypt(tweaks, layout, &mut value)?;
            if value != expected {
                return Ok(Some(backend));
            }
        }
        Ok(None)
    }
}

impl core::fmt::Display for Draw {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(
            f,
            "{} {:?}-{}, radix {}, {} records of {} digits, tweaks of {} bytes",
            self.mode,
            self.algorithm,
            8 * self.secret.len(),
            self.radix,
            self.records,
            self.digits,
            self.width
        )
    }
}

/// Backends of this machine besides the portable one.
pub fn others(algorithm: Algorithm) -> impl Iterator<Item = Backend> {
    Backend::ALL
        .into_iter()
        .skip(1)
        .filter(move |backend| backend.serves(algorithm) && backend.is_available())
}

fn pick<T: Copy>(sequence: &mut Sequence, among: &[T]) -> T {
    let count = u32::try_from(among.len()).unwrap_or(1);
    among[number(sequence.below(count))]
}

fn number(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Compares one random draw, and says how many records it had.
///
/// # Errors
/// In words, what was drawn and which backend differs.
pub fn compare(sequence: &mut Sequence) -> Result<u64, String> {
    let draw = Draw::new(sequence).map_err(|error| error.to_string())?;
    let differing = match draw.radix.value() {
        ..=256 if sequence.below(8) > 0 => draw.differing::<u8>(sequence),
        ..=65_536 if sequence.below(4) > 0 => draw.differing::<u16>(sequence),
        _ => draw.differing::<u32>(sequence),
    };
    match differing {
        Ok(None) => Ok(u64::try_from(draw.records).unwrap_or_default()),
        Ok(Some(backend)) => Err(format!("{backend} differs from portable: {draw}")),
        Err(error) => Err(format!("{error}: {draw}")),
    }
}
