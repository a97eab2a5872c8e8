//! What the tests share: keys on every backend, and numbers that look random.

use keywright_fpe::{Algorithm, Backend, Key, Mode, Options, Policy, Radix};

/// 2B7E151628AED2A6ABF7158809CF4F3C.
pub(crate) const SECRET: [u8; 16] = [
    0x2B, 0x7E, 0x15, 0x16, 0x28, 0xAE, 0xD2, 0xA6, 0xAB, 0xF7, 0x15, 0x88, 0x09, 0xCF, 0x4F, 0x3C,
];

/// The backends of this machine that run the algorithm.
pub(crate) fn backends(algorithm: Algorithm) -> Vec<Backend> {
    Backend::ALL
        .into_iter()
        .filter(|backend| backend.serves(algorithm) && backend.is_available())
        .collect()
}

pub(crate) fn radix(value: u32) -> Radix {
    Radix::new(value).unwrap()
}

/// Everything that the standard of 2016 allows.
pub(crate) fn options(mode: Mode, algorithm: Algorithm, value: u32) -> Options {
    Options::new(mode, algorithm, radix(value)).with_policy(Policy::STANDARD_2016)
}

/// A key under [`SECRET`] with everything allowed that the standard of 2016 allows.
pub(crate) fn key(mode: Mode, algorithm: Algorithm, value: u32) -> Key {
    Key::new(options(mode, algorithm, value), &SECRET).unwrap()
}

/// FF1 with AES-128 under the strict policy.
pub(crate) fn strict(value: u32) -> Key {
    let options = Options::new(Mode::Ff1, Algorithm::Aes, radix(value));
    Key::new(options, &SECRET).unwrap()
}

/// A sequence that is the same in every run.
pub(crate) struct Sequence(u64);

impl Sequence {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2).wrapping_add(1))
    }

    pub(crate) const fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let bound = u64::try_from(bound).unwrap();
        usize::try_from((self.next() >> 16) % bound).unwrap()
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next().to_le_bytes()[5]).collect()
    }

    /// Digits below the radix, with runs of the least and the greatest among them.
    pub(crate) fn digits(&mut self, radix: u32, count: usize) -> Vec<u32> {
        let kind = self.below(8);
        (0..count)
            .map(|_| match kind {
                0 => 0,
                1 => radix - 1,
                _ => u32::try_from(self.below(usize::try_from(radix).unwrap())).unwrap(),
            })
            .collect()
    }
}
