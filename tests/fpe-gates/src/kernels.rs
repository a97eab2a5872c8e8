//! What the timing test times: every kernel once, and what is planted for it to find.
//!
//! A kernel here is a piece of code of its own: a way of encrypting one value or many, on one backend, for
//! one kind of moduli. Where backends share one (a single value is the same code on all that have AES-NI), one
//! of them stands for all.

use std::hint::black_box;

use keywright_fpe::{
    Algorithm, Alphabet, Backend, Batch, Error, Key, Layout, Mode, Options, Policy, Radix, Tweaks,
};

use crate::planted;
use crate::sequence::Sequence;
use crate::timing::{Class, Samples};

/// Records of a batch: the kernels fill up with dummies what they take more of.
const RECORDS: usize = 16;
const SECRET: &[u8; 16] = b"sixteen byte key";

/// Takes so many measurements.
pub(crate) type Sampler = dyn FnMut(usize, &mut Sequence) -> Samples;

/// Something that is timed.
pub struct Timed {
    name: String,
    leaks: bool,
    sample: Box<Sampler>,
}

impl Timed {
    /// Something whose time must tell nothing.
    pub(crate) fn silent(name: &str, sample: Box<Sampler>) -> Self {
        Self {
            name: name.to_owned(),
            leaks: false,
            sample,
        }
    }

    /// What it is, in words.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether a difference has to be found.
    #[must_use]
    pub const fn leaks(&self) -> bool {
        self.leaks
    }

    /// Takes so many measurements of either class together.
    pub fn sample(&mut self, count: usize, sequence: &mut Sequence) -> Samples {
        (self.sample)(count, sequence)
    }
}

impl core::fmt::Debug for Timed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Timed").field("name", &self.name).finish()
    }
}

/// What differs between the two classes, and which call is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    /// The digits of one value, encrypted.
    Value,
    /// The symbols of one text, encrypted.
    Text,
    /// The digits of many values, encrypted.
    Batch,
    /// The digits of many values, decrypted.
    BatchBack,
    /// The symbols of many texts, encrypted.
    BatchText,
    /// The key, scheduled and used for one value.
    Key,
}

#[derive(Clone, Copy)]
struct Subject {
    mode: Mode,
    backend: Backend,
    shape: (u32, usize),
    what: What,
}

/// Sixteen decimal digits, which have kernels of their own.
const DECIMAL: (u32, usize) = (10, 16);
/// Fewer, which have others: an odd number of them.
const SHORT: (u32, usize) = (10, 15);
/// And with halves below 2^15.
const SHORTER: (u32, usize) = (10, 9);
/// Halves below 2^32.
const NARROW: (u32, usize) = (36, 10);
/// Halves below 2^61.
const MIDDLE: (u32, usize) = (36, 20);
/// Halves below 2^96.
const WIDE: (u32, usize) = (62, 24);
/// Halves of 128 bits.
const BROAD: (u32, usize) = (256, 32);
/// Halves of any number of bits.
const LONG: (u32, usize) = (10, 60);

/// What is timed on each backend.
fn of(algorithm: Algorithm, backend: Backend) -> Vec<(Mode, (u32, usize), What)> {
    use Mode::{Ff1, Ff31};
    use What::{Batch, BatchBack, BatchText, Key, Text, Value};
    let many = [
        (Ff1, DECIMAL, Batch),
        (Ff31, DECIMAL, Batch),
        (Ff1, DECIMAL, BatchBack),
        (Ff1, SHORT, Batch),
        (Ff31, SHORT, Batch),
        (Ff1, SHORT, BatchBack),
        (Ff1, SHORTER, Batch),
        (Ff1, NARROW, Batch),
        (Ff1, MIDDLE, Batch),
    ];
    match backend {
        // Slow; a batch of either cipher is the same code around it.
        Backend::Portable => [
            &[(Ff1, DECIMAL, Value), (Ff1, DECIMAL, Key)][..],
            if algorithm == Algorithm::Aes {
                &[(Ff31, DECIMAL, Batch)]
            } else {
                &[]
            },
        ]
        .concat(),
        // The same code for one value on every backend with AES instructions.
        Backend::AesNi => [
            &many[..],
            &[
                (Ff1, DECIMAL, Value),
                (Ff31, DECIMAL, Value),
                (Ff1, DECIMAL, Text),
                (Ff1, NARROW, Value),
                (Ff1, MIDDLE, Value),
                (Ff1, WIDE, Text),
                (Ff1, LONG, Value),
                (Ff1, DECIMAL, Key),
            ],
        ]
        .concat(),
        Backend::Vaes512 => [&many[..], &[(Ff1, WIDE, BatchText), (Ff1, BROAD, Batch)]].concat(),
        Backend::Sm4AesNi | Backend::Sm4Gfni | Backend::ArmSm4 => {
            [&many[..5], &[(Ff1, DECIMAL, Value), (Ff1, DECIMAL, Key)]].concat()
        }
        _ => many.to_vec(),
    }
}

/// Every kernel of this machine, and before them the leak that is planted.
///
/// # Errors
/// Those of [`Key::new`].
pub fn all() -> Result<Vec<Timed>, Error> {
    let mut all = vec![planted_leak()];
    for algorithm in [Algorithm::Aes, Algorithm::Sm4] {
        let backends = Backend::ALL.into_iter();
        for backend in backends.filter(|one| one.serves(algorithm) && one.is_available()) {
            for (mode, shape, what) in of(algorithm, backend) {
                let subject = Subject {
                    mode,
                    backend,
                    shape,
                    what,
                };
                all.push(subject.timed(algorithm)?);
            }
        }
    }
    Ok(all)
}

/// The leak that every run of the instrument has to find.
#[must_use]
pub fn planted_leak() -> Timed {
    let mut digits = [0; DECIMAL.1];
    Timed {
        name: "the planted leak".to_owned(),
        leaks: true,
        sample: Box::new(move |count, sequence| {
            let prepare = |class, sequence: &mut _, digits: &mut [u8; DECIMAL.1]| {
                values(class, sequence, DECIMAL.0, digits);
            };
            Samples::take(count, sequence, &mut digits, prepare, |digits| {
                black_box(planted::branches(digits));
            })
        }),
    }
}

const fn tweak(mode: Mode) -> &'static [u8] {
    match mode {
        Mode::Ff3 => b"8 bytes.",
        _ => b"7 bytes",
    }
}

/// Fresh digits for each measurement of the random class, else always the same. Both come from one place, so
/// that nothing but their content differs.
fn values(class: Class, sequence: &mut Sequence, radix: u32, digits: &mut [u8]) {
    sequence.digits(radix, digits);
    choose(class, digits, 7);
}

/// Keeps what is there in the random class, and else overwrites it with one byte, without a branch.
pub(crate) fn choose(class: Class, bytes: &mut [u8], fixed: u8) {
    let mask = black_box(0_u8.wrapping_sub(class as u8));
    for byte in bytes {
        *byte = (*byte & mask) | (fixed & !mask);
    }
}

/// A preset and its symbols.
const fn alphabet(radix: u32) -> (&'static Alphabet, &'static [u8]) {
    const SYMBOLS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    match radix {
        62 => (Alphabet::BASE62, SYMBOLS),
        _ => (Alphabet::DIGITS, SYMBOLS),
    }
}

fn texts(class: Class, sequence: &mut Sequence, radix: u32, text: &mut [u8]) {
    values(class, sequence, radix, text);
    let (_, symbols) = alphabet(radix);
    for byte in text {
        *byte = symbols[usize::from(*byte)];
    }
}

impl Subject {
    fn timed(self, algorithm: Algorithm) -> Result<Timed, Error> {
        let options = Options::new(self.mode, algorithm, Radix::new(self.shape.0)?)
            .with_policy(Policy::STANDARD_2016)
            .with_backend(self.backend);
        let key = Key::new(options, SECRET)?;
        Ok(Timed {
            name: self.name(algorithm),
            leaks: false,
            sample: match self.what {
                What::Key => self.key(options),
                What::Text | What::BatchText => self.texts(key),
                _ => self.digits(key),
            },
        })
    }

    fn name(self, algorithm: Algorithm) -> String {
        let what = match self.what {
            What::Value => "one value",
            What::Text => "one text",
            What::Batch => "a batch",
            What::BatchBack => "a batch, decrypted",
            What::BatchText => "a batch of texts",
            What::Key => "the key, made and used",
        };
        let ((radix, digits), mode, backend) = (self.shape, self.mode, self.backend);
        format!("{mode} {algorithm:?} {backend}, radix {radix}, {digits} digits: {what}")
    }

    fn digits(self, key: Key) -> Box<Sampler> {
        let (radix, digits) = self.shape;
        let (tweak, layout) = (Tweaks::Same(tweak(self.mode)), Layout::Fixed(digits));
        let records = if self.what == What::Value { 1 } else { RECORDS };
        let mut secrets = vec![0; digits * records];
        Box::new(move |count, sequence| {
            let prepare = |class, sequence: &mut _, digits: &mut Vec<u8>| {
                values(class, sequence, radix, digits);
            };
            let batch = Batch::new(&key);
            Samples::take(count, sequence, &mut secrets, prepare, |secrets| {
                let done = match (self.what, tweak) {
                    (What::Value, Tweaks::Same(tweak)) => {
                        key.encrypt_in_place(tweak, secrets).is_ok()
                    }
                    (What::BatchBack, _) => batch.decrypt(tweak, layout, secrets).is_ok(),
                    _ => batch.encrypt(tweak, layout, secrets).is_ok(),
                };
                assert!(black_box(done), "the engine takes its own digits");
            })
        })
    }

    fn texts(self, key: Key) -> Box<Sampler> {
        let (radix, digits) = self.shape;
        let (alphabet, _) = alphabet(radix);
        let tweak = tweak(self.mode);
        let records = if self.what == What::Text { 1 } else { RECORDS };
        let mut made = vec![0; digits];
        let mut secrets = vec![0; digits * records];
        Box::new(move |count, sequence| {
            let prepare = |class, sequence: &mut _, text: &mut Vec<u8>| {
                texts(class, sequence, radix, text);
            };
            let batch = Batch::new(&key).over(alphabet);
            Samples::take(count, sequence, &mut secrets, prepare, |text| {
                let done = if self.what == What::Text {
                    let words = core::str::from_utf8(text).unwrap_or_default();
                    key.encrypt_text(tweak, alphabet, words, &mut made).is_ok()
                } else {
                    let layout = Layout::Fixed(digits);
                    batch.encrypt(Tweaks::Same(tweak), layout, text).is_ok()
                };
                assert!(black_box(done), "the engine takes its own symbols");
            })
        })
    }

    fn key(self, options: Options) -> Box<Sampler> {
        let tweak = tweak(self.mode);
        let mut secret = [0; 16];
        Box::new(move |count, sequence| {
            let prepare = |class, sequence: &mut Sequence, secret: &mut [u8; 16]| {
                sequence.fill(secret);
                choose(class, secret, 0x5A);
            };
            Samples::take(count, sequence, &mut secret, prepare, |secret| {
                let mut value = [3_u8; DECIMAL.1];
                let made = Key::new(options, secret);
                let done = made.is_ok_and(|key| key.encrypt_in_place(tweak, &mut value).is_ok());
                assert!(black_box(done), "the engine takes keys of its size");
            })
        })
    }
}
