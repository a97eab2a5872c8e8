//! Numbers that look random and are the same in every run.

/// A xorshift generator with a multiplied output. Not for secrets.
#[derive(Debug)]
pub struct Sequence(u64);

impl Sequence {
    /// A sequence of its own for each seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(2).wrapping_add(1))
    }

    /// The next 64 bits.
    #[must_use]
    pub const fn next_bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `bound`, or 0 if there is none.
    #[must_use]
    pub fn below(&mut self, bound: u32) -> u32 {
        let high = (self.next_bits() >> 32) * u64::from(bound);
        u32::try_from(high >> 32).unwrap_or_default()
    }

    /// Overwrites `bytes`.
    pub fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            *byte = self.next_bits().to_le_bytes()[5];
        }
    }

    /// Overwrites `digits` with numbers below the radix.
    pub fn digits<T: TryFrom<u32> + Default>(&mut self, radix: u32, digits: &mut [T]) {
        for digit in digits {
            *digit = T::try_from(self.below(radix)).unwrap_or_default();
        }
    }
}

/// Inputs for the bodies of fuzz targets: random bytes of a random length up to 220, most of them a change of
/// the input before.
pub fn mutations(seed: u64, count: usize) -> impl Iterator<Item = Vec<u8>> {
    let mut sequence = Sequence::new(seed);
    let mut input = Vec::new();
    (0..count).map(move |number| {
        let length = u32::try_from(input.len()).unwrap_or_default();
        if number % 8 == 0 {
            input = vec![0; usize::try_from(sequence.below(220)).unwrap_or_default()];
            sequence.fill(&mut input);
        } else if length > 0 {
            let place = usize::try_from(sequence.below(length)).unwrap_or_default();
            match sequence.below(4) {
                0 => input[place] ^= 1 << sequence.below(8),
                1 => input[place] = [0, 0xFF][place % 2],
                2 => input.truncate(place),
                _ => input.insert(place, 0x55),
            }
        }
        input.clone()
    })
}
