//! Times the engine with fixed against random plaintexts, and with fixed against random keys, on every
//! backend. Prints the median of |t| over five repeats of each; it must stay under 4.5, and that of a planted
//! leak must not. The last line counts.
//!
//! `timing [SAMPLES]`: measurements of each repeat, 1,000,000 unless given. Needs a machine with nothing else
//! to do.
#![deny(unsafe_code)]
#![expect(clippy::print_stdout, reason = "a program of tests")]

use std::hint::black_box;
use std::process::ExitCode;

use keywright_fpe::{
    Algorithm, Alphabet, Backend, Batch, Error, Key, Layout, Mode, Options, Policy, Radix, Tweaks,
};
use keywright_fpe_gates::planted;
use keywright_fpe_gates::sequence::Sequence;
use keywright_fpe_gates::timing::{BOUND, Class, Samples, median};

const REPEATS: usize = 5;
const DIGITS: usize = 16;
/// Enough for every kernel, with no records left over.
const RECORDS: usize = 32;

type Secret = [u8; 16];
/// Takes so many measurements.
type Sampler = dyn FnMut(usize, &mut Sequence) -> Samples;

fn options(mode: Mode, algorithm: Algorithm, backend: Backend) -> Options {
    Options::new(mode, algorithm, Radix::DECIMAL)
        .with_policy(Policy::STANDARD_2016)
        .with_backend(backend)
}

const fn tweak(mode: Mode) -> &'static [u8] {
    match mode {
        Mode::Ff3 => b"8 bytes.",
        _ => b"7 bytes",
    }
}

/// A value of its own for each measurement of the random class, else always the same. Both come from one
/// place, so that nothing but their content differs.
fn values<const N: usize>(class: Class, sequence: &mut Sequence) -> [u8; N] {
    let mut fresh = [0; N];
    sequence.digits(10, &mut fresh);
    let mask = 0_u8.wrapping_sub(class as u8);
    fresh.map(|digit| (digit & mask) | (7 & !mask))
}

fn secrets(class: Class, sequence: &mut Sequence) -> Secret {
    let mut fresh = [0; 16];
    sequence.fill(&mut fresh);
    let mask = 0_u8.wrapping_sub(class as u8);
    fresh.map(|byte| (byte & mask) | (0x5A & !mask))
}

/// What is timed, by name.
struct Timed {
    name: String,
    leaks: bool,
    sample: Box<Sampler>,
}

fn timed(name: String, sample: impl FnMut(usize, &mut Sequence) -> Samples + 'static) -> Timed {
    Timed {
        name,
        leaks: false,
        sample: Box::new(sample),
    }
}

fn of(mode: Mode, algorithm: Algorithm, backend: Backend) -> Result<[Timed; 4], Error> {
    let options = options(mode, algorithm, backend);
    let tweak = tweak(mode);
    let key = Key::new(options, b"sixteen byte key")?;
    let (batch, text) = (
        Key::new(options, b"sixteen byte key")?,
        Key::new(options, b"sixteen byte key")?,
    );
    let name = |what: &str| format!("{mode} {algorithm:?} {backend}, {what}");
    Ok([
        timed(name("plaintext of one value"), move |count, sequence| {
            Samples::take(count, sequence, values::<DIGITS>, |value| {
                black_box(key.encrypt_in_place(tweak, value).is_ok());
            })
        }),
        timed(name("one text"), move |count, sequence| {
            let letters = |class: Class, sequence: &mut Sequence| {
                let digits = values::<DIGITS>(class, sequence);
                digits.map(|digit| b'0' + digit)
            };
            let mut made = [0; DIGITS];
            Samples::take(count, sequence, letters, |value| {
                let words = core::str::from_utf8(value).unwrap_or_default();
                let done = text.encrypt_text(tweak, Alphabet::DIGITS, words, &mut made);
                black_box(done.is_ok());
            })
        }),
        timed(name("plaintext of a batch"), move |count, sequence| {
            Samples::take(count, sequence, values::<{ DIGITS * RECORDS }>, |value| {
                let layout = Layout::Fixed(DIGITS);
                let done = Batch::new(&batch).encrypt(Tweaks::Same(tweak), layout, value);
                black_box(done.is_ok());
            })
        }),
        timed(name("key, made and used"), move |count, sequence| {
            Samples::take(count, sequence, secrets, |secret| {
                let mut value = [3_u8; DIGITS];
                let made = Key::new(options, secret);
                black_box(made.is_ok_and(|key| key.encrypt_in_place(tweak, &mut value).is_ok()));
            })
        }),
    ])
}

fn planted_leak() -> Timed {
    Timed {
        name: "the planted leak".to_owned(),
        leaks: true,
        sample: Box::new(|count, sequence| {
            Samples::take(count, sequence, values::<DIGITS>, |value| {
                black_box(planted::branches(value));
            })
        }),
    }
}

fn all() -> Result<Vec<Timed>, Error> {
    let mut all = vec![planted_leak()];
    for algorithm in [Algorithm::Aes, Algorithm::Sm4] {
        let backends = Backend::ALL.into_iter();
        for backend in backends.filter(|one| one.serves(algorithm) && one.is_available()) {
            for mode in [Mode::Ff1, Mode::Ff31] {
                all.extend(of(mode, algorithm, backend)?);
            }
        }
    }
    Ok(all)
}

fn main() -> ExitCode {
    let given = std::env::args().nth(1).map(|words| words.parse());
    let (Ok(count), Ok(mut all)) = (given.unwrap_or(Ok(1_000_000_usize)), all()) else {
        println!("timing: a number of samples, and an engine that takes its keys, are needed");
        return ExitCode::from(2);
    };
    let mut sequence = Sequence::new(101);
    let (mut passed, mut failed) = (0, 0);
    for timed in &mut all {
        let mut repeat = |_| (timed.sample)(count, &mut sequence).t();
        let t = median(&core::array::from_fn::<f64, REPEATS, _>(&mut repeat));
        let good = (t > BOUND) == timed.leaks;
        let words = match (timed.leaks, good) {
            (false, true) => "no difference found",
            (false, false) => "DIFFERENT",
            (true, true) => "found, as it must be",
            (true, false) => "NOT FOUND",
        };
        println!("{:7.2}  {}: {words}", t, timed.name);
        passed += u32::from(good);
        failed += u32::from(!good);
    }
    println!("{passed} passed, {failed} failed, 0 skipped");
    if failed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(3)
    }
}
