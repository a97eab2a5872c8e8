//! Seeded randomness for schedules, resampling and simulation. Not for cryptography: whoever sees
//! a few outputs knows all the others.
//!
//! Source: Blackman & Vigna, "Scrambled linear pseudorandom number generators" (ACM TOMS 2021),
//! xoshiro256** with its state filled by SplitMix64 (Steele, Lea & Flood, OOPSLA 2014); bounded
//! integers after Lemire, "Fast random integer generation in an interval" (ACM TOMACS 2019);
//! normal values by the polar method of Marsaglia & Bray (1964).
//!
//! The sequence for a seed is part of a result's meaning: a report that names its seed can be
//! computed again. A change here changes published intervals.

/// SplitMix64: turns any seed, also a small one, into well mixed words.
#[derive(Debug, Clone)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// A generator whose every output follows from `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.state;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }
}

/// xoshiro256**, the generator of every seeded computation of this crate. Not for cryptography.
#[derive(Debug, Clone)]
pub struct Generator {
    state: [u64; 4],
    spare_normal: Option<f64>,
}

impl Generator {
    /// The generator of `seed`; equal seeds give equal sequences.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut fill = SplitMix64::new(seed);
        // SplitMix64 visits every word once per period, so four in a row are never all zero.
        let state = [
            fill.next_u64(),
            fill.next_u64(),
            fill.next_u64(),
            fill.next_u64(),
        ];
        Self {
            state,
            spare_normal: None,
        }
    }

    /// The generator in a given state. `None` for the all-zero state, which would yield only zeros.
    #[must_use]
    pub fn from_state(state: [u64; 4]) -> Option<Self> {
        (state != [0; 4]).then_some(Self {
            state,
            spare_normal: None,
        })
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        let [a, b, c, d] = &mut self.state;
        let result = b.wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let shifted = *b << 17;
        *c ^= *a;
        *d ^= *b;
        *b ^= *c;
        *a ^= *d;
        *c ^= shifted;
        *d = d.rotate_left(45);
        result
    }

    /// Uniform on `[0, 1)`, a multiple of 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        const SCALE: f64 = 1.0 / (1_u64 << 53) as f64;
        (self.next_u64() >> 11) as f64 * SCALE
    }

    /// Uniform on `(0, 1]`, for whoever takes the logarithm.
    pub fn positive_uniform(&mut self) -> f64 {
        1.0 - self.uniform()
    }

    /// Exponential with the given mean, in the mean's unit: the gap between arrivals of a Poisson
    /// process.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -self.positive_uniform().ln() * mean
    }

    /// Normal with mean 0 and variance 1.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare_normal.take() {
            return spare;
        }
        loop {
            let x = 2.0f64.mul_add(self.uniform(), -1.0);
            let y = 2.0f64.mul_add(self.uniform(), -1.0);
            let square = x * x + y * y;
            if square > 0.0 && square < 1.0 {
                let factor = (-2.0 * square.ln() / square).sqrt();
                self.spare_normal = Some(y * factor);
                return x * factor;
            }
        }
    }

    /// Uniform on `0..bound`, without bias; 0 when `bound` is 0 or 1.
    pub fn index(&mut self, bound: usize) -> usize {
        let range = bound as u64;
        if range < 2 {
            return 0;
        }
        // The low half of the product says whether this word lies in the short last stripe, where
        // some results would be one word likelier than others.
        let rejected = range.wrapping_neg() % range;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(range);
            let (high, low) = halves(product);
            if low >= rejected {
                return usize::try_from(high).unwrap_or(0);
            }
        }
    }

    /// Every order equally likely (Fisher & Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            let chosen = self.index(end + 1);
            items.swap(end, chosen);
        }
    }

    /// Fills `into` with values drawn from `from` with replacement; leaves it alone when `from` is
    /// empty.
    pub fn resample(&mut self, from: &[f64], into: &mut [f64]) {
        if from.is_empty() {
            return;
        }
        for slot in into {
            *slot = from[self.index(from.len())];
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "splits 128 bits into two times 64"
)]
fn halves(product: u128) -> (u64, u64) {
    ((product >> 64) as u64, product as u64)
}
