use std::format;

use super::*;

fn hex<const N: usize>(text: &str) -> [u8; N] {
    core::array::from_fn(|i| u8::from_str_radix(&text[2 * i..2 * i + 2], 16).unwrap())
}

fn served(algorithm: Algorithm) -> impl Iterator<Item = Backend> {
    Backend::ALL
        .into_iter()
        .filter(move |backend| backend.serves(algorithm) && backend.is_available())
}

/// A deterministic stream of bytes.
struct Stream(u64);

impl Stream {
    fn next(&mut self) -> u8 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.to_le_bytes()[3]
    }

    fn block(&mut self) -> [u8; 16] {
        core::array::from_fn(|_| self.next())
    }
}

#[test]
fn every_backend_gives_the_known_answers_of_fips_197_appendix_c() {
    let key: [u8; 32] = core::array::from_fn(|i| u8::try_from(i).unwrap());
    let plain = hex("00112233445566778899aabbccddeeff");
    let answers = [
        (16, "69c4e0d86a7b0430d8cdb78070b4c55a"),
        (24, "dda97ca4864cdfe06eaf70a0ec0d7191"),
        (32, "8ea2b7ca516745bfeafc49904b496089"),
    ];
    for backend in served(Algorithm::Aes) {
        for (size, want) in answers {
            let schedule = Schedule::new(Algorithm::Aes, &key[..size], backend).unwrap();
            assert_eq!(schedule.encrypt(plain), hex(want), "{backend} {size}");
        }
    }
}

#[test]
fn every_backend_gives_the_known_answers_of_gb_t_32907_appendix_a() {
    let key: [u8; 16] = hex("0123456789abcdeffedcba9876543210");
    for backend in served(Algorithm::Sm4) {
        let schedule = Schedule::new(Algorithm::Sm4, &key, backend).unwrap();
        assert_eq!(
            schedule.encrypt(key),
            hex("681edf34d206965e86b3e94f536e4246"),
            "{backend}"
        );
    }
}

#[test]
fn a_million_sm4_rounds_of_encryption_end_where_the_standard_says() {
    let key: [u8; 16] = hex("0123456789abcdeffedcba9876543210");
    let schedule = Schedule::new(Algorithm::Sm4, &key, Backend::detect(Algorithm::Sm4)).unwrap();
    let last = (0..1_000_000).fold(key, |block, _| schedule.encrypt(block));
    assert_eq!(last, hex("595298c7c6fd271f0402f804c33d3f66"));
}

#[test]
fn backends_agree_on_random_keys_and_blocks() {
    let mut stream = Stream(0x9e37_79b9_7f4a_7c15);
    let cases = [
        (Algorithm::Aes, 16),
        (Algorithm::Aes, 24),
        (Algorithm::Aes, 32),
        (Algorithm::Sm4, 16),
    ];
    for (algorithm, size) in cases {
        for _ in 0..300 {
            let key: [u8; 32] = core::array::from_fn(|_| stream.next());
            let blocks: [[u8; 16]; 8] = core::array::from_fn(|_| stream.block());
            let soft = Schedule::new(algorithm, &key[..size], Backend::Portable).unwrap();
            let want = blocks.map(|block| soft.encrypt(block));
            for backend in served(algorithm) {
                let schedule = Schedule::new(algorithm, &key[..size], backend).unwrap();
                let mut eight = blocks;
                schedule.encrypt8(&mut eight);
                assert_eq!(eight, want, "{backend}");
                assert_eq!(schedule.encrypt(blocks[3]), want[3], "{backend}");
            }
        }
    }
}

#[test]
fn a_key_of_another_size_is_refused_by_every_backend() {
    for algorithm in [Algorithm::Aes, Algorithm::Sm4] {
        for backend in served(algorithm) {
            for bytes in [0, 1, 8, 15, 17, 20, 23, 25, 31, 33, 64] {
                assert_eq!(
                    Schedule::new(algorithm, &[7; 64][..bytes], backend).err(),
                    Some(ScheduleError::KeySize { algorithm, bytes })
                );
            }
        }
    }
    for bytes in [24, 32] {
        let refused = Schedule::new(Algorithm::Sm4, &[7; 32][..bytes], Backend::Portable);
        assert_eq!(
            refused.err(),
            Some(ScheduleError::KeySize {
                algorithm: Algorithm::Sm4,
                bytes
            })
        );
    }
}

#[test]
fn a_backend_that_does_not_serve_the_algorithm_is_refused() {
    for algorithm in [Algorithm::Aes, Algorithm::Sm4] {
        for backend in Backend::ALL.into_iter().filter(|b| !b.serves(algorithm)) {
            assert_eq!(
                Schedule::new(algorithm, &[7; 16], backend).err(),
                Some(ScheduleError::NotServed { algorithm, backend })
            );
        }
    }
}

#[test]
fn a_schedule_tells_no_key_and_stays_small() {
    let schedule = Schedule::new(Algorithm::Aes, &[0xa5; 16], Backend::Portable).unwrap();
    assert_eq!(
        format!("{schedule:?}"),
        "Schedule { backend: Portable, .. }"
    );
    assert!(size_of::<Schedule>() <= 272);
}
