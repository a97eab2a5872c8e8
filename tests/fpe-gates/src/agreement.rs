//! The engine against other implementations, as functions over arbitrary bytes that the fuzz target and a
//! plain test both call.
//!
//! FF1 is compared with the `fpe` crate, FF3-1 with [`crate::second`]. Either way the engine runs each case on
//! every backend of the machine, one value and a batch, and back.

use aes::{Aes128, Aes192, Aes256};
use fpe::ff1::{FF1, FlexibleNumeralString};
use keywright_fpe::{
    Algorithm, Backend, Batch, DomainFloor, Key, Layout, Mode, Options, Policy, Radix, Tweaks,
};

use crate::second;

/// What arbitrary bytes say: the size of the key, the radix, how long the tweak is, then the key, the tweak,
/// and two bytes for each digit. Missing bytes are zeros.
struct Input<'d> {
    key: Vec<u8>,
    radix: u32,
    tweak: Vec<u8>,
    rest: &'d [u8],
}

impl<'d> Input<'d> {
    fn new(data: &'d [u8]) -> Self {
        let mut rest = data;
        let mut take = |count: usize| -> Vec<u8> {
            let (taken, left) = rest.split_at(count.min(rest.len()));
            rest = left;
            let mut taken = taken.to_vec();
            taken.resize(count, 0);
            taken
        };
        let head = take(4);
        let radix = match head[0] >> 6 {
            0 => 2 + u32::from(head[1]) % 94,
            1 => 1 << (1 + head[1] % 16),
            _ => 2 + u32::from(u16::from_le_bytes([head[1], head[2]])) % 65_535,
        };
        let key = take(16 + 8 * usize::from(head[0] % 3));
        let tweak = take(usize::from(head[3]) % 40);
        Self {
            key,
            radix,
            tweak,
            rest,
        }
    }

    /// As many digits as the bytes have and the mode takes, and at least as many as it needs.
    fn digits(&self, mode: Mode) -> Vec<u32> {
        let Ok(radix) = Radix::new(self.radix) else {
            return Vec::new();
        };
        // The `fpe` crate takes no smaller domains.
        let floor = DomainFloor::Million;
        let least = usize::try_from(radix.shortest(floor)).unwrap_or(usize::MAX);
        let most = usize::try_from(radix.longest(mode)).unwrap_or(usize::MAX);
        let count = (self.rest.len() / 2).clamp(least, most.min(3_000));
        let pairs = self.rest.chunks_exact(2);
        let mut digits: Vec<u32> = pairs
            .take(count)
            .map(|pair| u32::from(u16::from_le_bytes([pair[0], pair[1]])) % self.radix)
            .collect();
        digits.resize(count, 0);
        digits
    }
}

/// Compares FF1 with the `fpe` crate.
///
/// # Panics
/// If the two differ, which is what a fuzzer looks for.
pub fn ff1(data: &[u8]) {
    let input = Input::new(data);
    let plain = input.digits(Mode::Ff1);
    let digits: Vec<u16> = plain
        .iter()
        .filter_map(|digit| u16::try_from(*digit).ok())
        .collect();
    let value = FlexibleNumeralString::from(digits);
    let (key, radix, tweak) = (&input.key, input.radix, &input.tweak);
    let made = match key.len() {
        16 => FF1::<Aes128>::new(key, radix).map(|ff1| ff1.encrypt(tweak, &value)),
        24 => FF1::<Aes192>::new(key, radix).map(|ff1| ff1.encrypt(tweak, &value)),
        _ => FF1::<Aes256>::new(key, radix).map(|ff1| ff1.encrypt(tweak, &value)),
    };
    let Ok(Ok(theirs)) = made else {
        assert!(plain.is_empty(), "the judge refuses what the engine takes");
        return;
    };
    let theirs: Vec<u32> = Vec::<u16>::from(theirs)
        .into_iter()
        .map(u32::from)
        .collect();
    compare(Mode::Ff1, &input, &plain, &theirs);
}

/// Compares FF3-1 with the second implementation.
///
/// # Panics
/// If the two differ, which is what a fuzzer looks for.
pub fn ff3_1(data: &[u8]) {
    let mut input = Input::new(data);
    input.tweak.resize(7, 0);
    let plain = input.digits(Mode::Ff31);
    let tweak: [u8; 7] = core::array::from_fn(|i| input.tweak[i]);
    let theirs = second::encrypt(&input.key, tweak, input.radix, &plain);
    assert!(
        theirs.is_some(),
        "the second implementation takes every size of key"
    );
    compare(Mode::Ff31, &input, &plain, &theirs.unwrap_or_default());
}

fn compare(mode: Mode, input: &Input<'_>, plain: &[u32], theirs: &[u32]) {
    let serving = Backend::ALL
        .into_iter()
        .filter(|backend| backend.serves(Algorithm::Aes) && backend.is_available());
    for backend in serving {
        let ours = on(backend, mode, input, plain);
        let words = format!(
            "{mode}, {backend}, radix {}, {} digits",
            input.radix,
            plain.len()
        );
        assert!(ours.is_ok(), "{words}: {ours:?}");
        assert_eq!(ours.unwrap_or_default(), theirs, "{words}");
    }
}

/// One value, the same as a batch of a few, and back.
fn on(
    backend: Backend,
    mode: Mode,
    input: &Input<'_>,
    plain: &[u32],
) -> Result<Vec<u32>, Box<dyn core::error::Error>> {
    let options = Options::new(mode, Algorithm::Aes, Radix::new(input.radix)?)
        .with_policy(Policy::STANDARD_2016)
        .with_backend(backend);
    let key = Key::new(options, &input.key)?;
    let mut one = plain.to_vec();
    key.encrypt_in_place(&input.tweak, &mut one)?;
    let records = 1 + usize::from(*input.rest.first().unwrap_or(&0)) % 40;
    let mut many = plain.repeat(records);
    let (tweaks, layout) = (Tweaks::Same(&input.tweak), Layout::Fixed(plain.len()));
    let batch = Batch::new(&key);
    batch.encrypt(tweaks, layout, &mut many)?;
    assert_eq!(many, one.repeat(records), "a batch differs from one value");
    batch.decrypt(tweaks, layout, &mut many)?;
    assert_eq!(many, plain.repeat(records), "a batch does not come back");
    let mut back = one.clone();
    key.decrypt_in_place(&input.tweak, &mut back)?;
    assert_eq!(back, plain, "a value does not come back");
    Ok(one)
}
