//! What workers are given: messages of a seed, and nonces that never come twice under one key.

use keywright_measure::stats::random::Generator;
use keywright_primitives::random::RandomStream;

/// One turn's input, with what was made from it beforehand.
#[derive(Clone, Debug, Default)]
pub(super) struct Input {
    pub(super) message: Vec<u8>,
    /// A signature, a code, a ciphertext, a hash; empty where there is none.
    pub(super) other: Vec<u8>,
}

/// Inputs in turn, a power of two of them: few where they are long.
pub(super) fn messages(seed: u64, worker: u32, bytes: usize) -> Vec<Input> {
    const TOGETHER: usize = 64 << 10;
    let count = 1_usize << (TOGETHER / bytes.max(1)).clamp(2, 16).ilog2();
    let mut random = Generator::new(seed ^ (u64::from(worker) << 32));
    let message = |random: &mut Generator| {
        let words = (0..bytes.div_ceil(8)).flat_map(|_| random.next_u64().to_le_bytes());
        words.take(bytes).collect()
    };
    (0..count)
        .map(|_| Input {
            message: message(&mut random),
            other: Vec::new(),
        })
        .collect()
}

/// Nonces of AES-GCM: eight random bytes for each worker, and a counter. A key that is measured may be one
/// that works elsewhere, so nothing of a nonce depends on the seed.
#[derive(Debug)]
pub(super) struct Nonces {
    prefix: [u8; 8],
    next: u32,
}

impl Nonces {
    pub(super) fn new() -> Result<Self, keywright_primitives::Error> {
        Ok(Self {
            prefix: RandomStream::new()?.array()?,
            next: 0,
        })
    }

    /// The next one; none after four thousand million.
    pub(super) fn draw(&mut self) -> Option<[u8; 12]> {
        let count = self.next;
        self.next = count.checked_add(1)?;
        let mut nonce = [0; 12];
        nonce[..8].copy_from_slice(&self.prefix);
        nonce[8..].copy_from_slice(&count.to_be_bytes());
        Some(nonce)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_depend_on_seed_and_worker_and_on_nothing_else() {
        let of = |seed, worker| -> Vec<Vec<u8>> {
            let inputs = messages(seed, worker, 100);
            inputs.into_iter().map(|input| input.message).collect()
        };
        assert_eq!(of(1, 0), of(1, 0));
        assert_ne!(of(1, 0), of(1, 1));
        assert_ne!(of(1, 0), of(2, 0));
        assert!(of(1, 0).iter().all(|message| message.len() == 100));
        assert!(messages(1, 0, 1 << 20).len().is_power_of_two());
        assert!(
            messages(1, 0, 0)
                .iter()
                .all(|input| input.message.is_empty())
        );
    }

    #[test]
    fn nonces_never_come_twice_and_end_rather_than_begin_again() {
        let mut one = Nonces::new().unwrap();
        let mut two = Nonces::new().unwrap();
        let drawn = [one.draw(), one.draw(), two.draw(), two.draw()];
        for (place, nonce) in drawn.iter().enumerate() {
            assert!(nonce.is_some() && !drawn[..place].contains(nonce));
        }
        one.next = u32::MAX;
        assert_eq!(one.draw(), None);
        assert_eq!(one.draw(), None);
    }
}
