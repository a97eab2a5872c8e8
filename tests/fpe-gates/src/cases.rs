//! Calls of the engine as the memcheck gate makes them: each combination of backend, mode, shape and way of
//! calling, with secret keys and secret digits.

use keywright_fpe::{
    Algorithm, Alphabet, Backend, Batch, BatchError, Error, Key, Layout, Mode, Numeral, Options,
    Policy, Radix, Tweaks,
};

use crate::memcheck;
use crate::sequence::Sequence;

/// A key and a shape.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "plain data")]
pub struct Case {
    /// FF1, FF3 or FF3-1.
    pub mode: Mode,
    /// The block cipher.
    pub algorithm: Algorithm,
    /// What runs it.
    pub backend: Backend,
    /// Bytes of the key.
    pub key_bytes: usize,
    /// The radix.
    pub radix: u32,
    /// Digits of a value.
    pub digits: usize,
}

/// Radix and digits: each kind of reduction, both parities of the length, each width of y, halves of more
/// than 96 bits, and a length from which the long arithmetic divides and conquers.
const SHAPES: [(u32, usize); 20] = [
    (10, 16),
    (10, 6),
    (10, 9),
    (10, 15),
    (36, 5),
    (36, 11),
    (2, 40),
    (2, 130),
    (16, 24),
    (10, 19),
    (10, 38),
    (10, 45),
    (36, 20),
    (62, 24),
    (255, 21),
    (256, 24),
    (1_000, 7),
    (65_536, 8),
    (10, 90),
    (36, 700),
];
/// Records of a batch: full tiles, full waves, and some left over.
const RECORDS: usize = 67;
const TWEAK: [u8; 8] = *b"tweak-08";

/// Every case of one backend.
#[must_use]
pub fn of(algorithm: Algorithm, backend: Backend) -> Vec<Case> {
    let sizes: &[usize] = match algorithm {
        Algorithm::Aes => &[16, 24, 32],
        _ => &[16],
    };
    let mut cases = Vec::new();
    for mode in [Mode::Ff1, Mode::Ff3, Mode::Ff31] {
        for (radix, digits) in SHAPES {
            let longest = Radix::new(radix).map_or(0, |radix| radix.longest(mode));
            // Every size of key with the first shape, the others with the smallest.
            let sizes = if digits == 16 { sizes } else { &[16] };
            let fits = u32::try_from(digits).is_ok_and(|digits| digits <= longest);
            cases.extend(sizes.iter().filter(|_| fits).map(|key_bytes| Case {
                mode,
                algorithm,
                backend,
                key_bytes: *key_bytes,
                radix,
                digits,
            }));
        }
    }
    cases
}

/// One value that is long enough for every way of multiplying.
#[must_use]
pub const fn longest(algorithm: Algorithm, backend: Backend) -> Case {
    Case {
        mode: Mode::Ff1,
        algorithm,
        backend,
        key_bytes: 16,
        radix: 10,
        digits: 45_000,
    }
}

impl Case {
    fn tweak(&self) -> &'static [u8] {
        match self.mode {
            Mode::Ff31 => &TWEAK[..7],
            _ => &TWEAK,
        }
    }

    /// A key whose bytes are secret from here on.
    ///
    /// # Errors
    /// Those of [`Key::new`].
    pub fn key(&self, sequence: &mut Sequence) -> Result<Key, Error> {
        let mut bytes = [0; 32];
        sequence.fill(&mut bytes);
        memcheck::secret(&bytes);
        let options = Options::new(self.mode, self.algorithm, Radix::new(self.radix)?)
            .with_policy(Policy::STANDARD_2016)
            .with_backend(self.backend);
        Key::new(options, bytes.get(..self.key_bytes).unwrap_or_default())
    }

    /// One value of digits, there and back; it must come back.
    ///
    /// # Errors
    /// Those of the calls.
    pub fn one<T>(&self, key: &Key, sequence: &mut Sequence) -> Result<bool, Error>
    where
        T: Numeral + TryFrom<u32> + Default + PartialEq,
    {
        let mut value: Vec<T> = Vec::new();
        value.resize_with(self.digits, T::default);
        sequence.digits(self.radix, &mut value);
        let plain: Vec<T> = value.clone();
        memcheck::secret(&value);
        key.encrypt_in_place(self.tweak(), &mut value)?;
        key.decrypt_in_place(self.tweak(), &mut value)?;
        memcheck::public(&value);
        Ok(value == plain)
    }

    /// One text, there and back, if there is an alphabet; it must come back.
    ///
    /// # Errors
    /// Those of the calls.
    pub fn text(&self, key: &Key, sequence: &mut Sequence) -> Result<bool, Error> {
        let Some((alphabet, symbols)) = alphabet(self.radix) else {
            return Ok(true);
        };
        let mut digits = vec![0_u8; self.digits];
        sequence.digits(self.radix, &mut digits);
        let symbol = |digit: &u8| symbols.as_bytes()[usize::from(*digit)];
        let plain: String = digits.iter().map(symbol).map(char::from).collect();
        let secret = plain.clone();
        memcheck::secret(secret.as_bytes());
        let mut cipher = vec![0; plain.len()];
        key.encrypt_text(self.tweak(), alphabet, &secret, &mut cipher)?;
        memcheck::public(&cipher);
        let cipher = String::from_utf8(cipher).unwrap_or_default();
        memcheck::secret(cipher.as_bytes());
        let back = key.decrypt_string(self.tweak(), alphabet, &cipher)?;
        memcheck::public(back.as_bytes());
        Ok(back == plain)
    }

    /// A batch under one tweak, and one with a tweak for each record, there and back.
    ///
    /// # Errors
    /// Those of the calls.
    pub fn batch<T>(&self, key: &Key, sequence: &mut Sequence) -> Result<bool, BatchError>
    where
        T: Numeral + TryFrom<u32> + Default + PartialEq,
    {
        let mut values: Vec<T> = Vec::new();
        values.resize_with(self.digits * RECORDS, T::default);
        sequence.digits(self.radix, &mut values);
        let plain: Vec<T> = values.clone();
        let width = self.tweak().len();
        let mut tweaks = vec![0; width * RECORDS];
        sequence.fill(&mut tweaks);
        let each = Tweaks::Each {
            bytes: &tweaks,
            width,
        };
        memcheck::secret(&values);
        let (batch, layout) = (Batch::new(key), Layout::Fixed(self.digits));
        for tweaks in [Tweaks::Same(self.tweak()), each] {
            batch.encrypt(tweaks, layout, &mut values)?;
            batch.decrypt(tweaks, layout, &mut values)?;
        }
        memcheck::public(&values);
        Ok(values == plain)
    }

    /// A batch of texts, if there is an alphabet.
    ///
    /// # Errors
    /// Those of the calls.
    pub fn batch_text(&self, key: &Key, sequence: &mut Sequence) -> Result<bool, BatchError> {
        let Some((alphabet, symbols)) = alphabet(self.radix) else {
            return Ok(true);
        };
        let mut digits = vec![0_u8; self.digits * RECORDS];
        sequence.digits(self.radix, &mut digits);
        let symbol = |digit: &u8| symbols.as_bytes()[usize::from(*digit)];
        let mut values: Vec<u8> = digits.iter().map(symbol).collect();
        let plain = values.clone();
        memcheck::secret(&values);
        let batch = Batch::new(key).over(alphabet);
        let (tweaks, layout) = (Tweaks::Same(self.tweak()), Layout::Fixed(self.digits));
        batch.encrypt(tweaks, layout, &mut values)?;
        batch.decrypt(tweaks, layout, &mut values)?;
        memcheck::public(&values);
        Ok(values == plain)
    }
}

impl core::fmt::Display for Case {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self {
            mode,
            algorithm,
            backend,
            key_bytes,
            radix,
            digits,
        } = self;
        let bits = 8 * key_bytes;
        write!(
            f,
            "{mode} {algorithm:?}-{bits} {backend}, radix {radix}, {digits} digits"
        )
    }
}

/// A preset and its symbols.
fn alphabet(radix: u32) -> Option<(&'static Alphabet, &'static str)> {
    match radix {
        10 => Some((Alphabet::DIGITS, "0123456789")),
        62 => Some((
            Alphabet::BASE62,
            "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        )),
        _ => None,
    }
}
