//! What the parts of a seal cost, in nanoseconds: `cargo run --release -p keywright-primitives --example cost`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a measuring program"
)]

use std::hint::black_box;
use std::time::Instant;

use keywright_primitives::aead::{Aes256Gcm, Xaes256Gcm};
use keywright_primitives::random::RandomStream;

fn measure(name: &str, mut work: impl FnMut()) {
    let mut samples: Vec<u128> = (0..9)
        .map(|_| {
            let start = Instant::now();
            (0..20_000).for_each(|_| work());
            start.elapsed().as_nanos() / 20_000
        })
        .collect();
    samples.sort_unstable();
    println!("{name:<28} {:>6} ns", samples[4]);
}

fn main() {
    let gcm = Aes256Gcm::new(&[1; 32]).unwrap();
    let xaes = Xaes256Gcm::new(&[1; 32]).unwrap();
    let mut text = [0; 64];
    measure("aes-256-gcm set-up", || {
        drop(black_box(Aes256Gcm::new(black_box(&[1; 32]))))
    });
    measure("aes-256-gcm seal 64", || {
        black_box(gcm.seal(&[2; 12], b"aad", &mut text).unwrap());
    });
    measure("xaes-256-gcm seal 64", || {
        black_box(xaes.seal(&[2; 24], b"aad", &mut text).unwrap());
    });
    measure("random stream, one nonce", || {
        black_box(RandomStream::new().unwrap().array::<24>().unwrap());
    });
    let mut stream = RandomStream::new().unwrap();
    measure("one more nonce", || {
        black_box(stream.array::<24>().unwrap());
    });
}
