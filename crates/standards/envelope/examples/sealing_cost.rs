//! What sealing costs: `cargo run --release -p keywright-envelope --example sealing_cost`.
//!
//! Medians of nine runs. Suite 6 is compared with AES-256-GCM alone over the same bytes in the same run,
//! the two taking turns.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a measuring program"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use keywright_envelope::stream::{CHUNK_LEN, Prefix, StreamOpener, StreamSealer};
use keywright_envelope::{Aad, Binding, Envelope, Identity, derive};
use keywright_primitives::aead::Aes256Gcm;
use keywright_primitives::random::RandomStream;
use keywright_types::{KeyId, KeyVersion, Kind, PrincipalId, Suite};

const RUNS: usize = 9;
const MESSAGES: u32 = 50_000;
const BUFFER: usize = 1 << 20;
const BUFFERS: usize = 64;

fn main() {
    println!("64-byte messages, bound to a principal, 32 bytes of aad; median of {RUNS} runs");
    for suite in [
        Suite::Xaes256Gcm,
        Suite::XChaCha20Poly1305,
        Suite::TokenGcm12,
    ] {
        messages(suite);
    }
    println!("streams of {BUFFERS} MiB pushed through one buffer of 1 MiB; median of {RUNS} runs");
    streams();
    println!("the same from memory to memory by `transfer`");
    transfers();
}

fn identity(suite: Suite) -> Identity {
    Identity {
        suite,
        kind: Kind::Message,
        key: KeyId::from_bytes([1; 16]),
        version: KeyVersion::FIRST,
    }
}

fn median(mut samples: Vec<Duration>) -> Duration {
    samples.sort_unstable();
    samples[samples.len() / 2]
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn per_message(mut work: impl FnMut()) -> u128 {
    let run = || timed(|| (0..MESSAGES).for_each(|_| work()));
    let samples = std::iter::repeat_with(run).take(RUNS).collect();
    median(samples).as_nanos() / u128::from(MESSAGES)
}

fn messages(suite: Suite) {
    let (sealing, opening) = derive(&[7; 32], identity(suite)).unwrap();
    let binding = Binding::Principal(PrincipalId::from_bytes([2; 16]));
    let aad = Aad::EMPTY.caller(&[3; 32]).unwrap();
    let mut random = RandomStream::new().unwrap();
    let (mut sealed, mut opened) = (Vec::new(), Vec::new());
    let seal = per_message(|| {
        sealed.clear();
        let text = black_box(&[5; 64]);
        black_box(
            sealing
                .seal_into(binding, &aad, text, &mut random, &mut sealed)
                .unwrap(),
        );
    });
    let open = per_message(|| {
        opened.clear();
        let envelope = Envelope::parse(black_box(&sealed)).unwrap();
        opening.open_into(&envelope, &aad, &mut opened).unwrap();
        black_box(&opened);
    });
    let name = suite.name();
    println!("  {name:<20} seal {seal:>5} ns   parse and open {open:>5} ns");
}

fn streams() {
    let (sealing, opening) = derive(&[7; 32], identity(Suite::Chunked)).unwrap();
    let raw = Aes256Gcm::new(&[7; 32]).unwrap();
    let text = vec![5; BUFFER];
    let mut block = text.clone();
    let mut random = RandomStream::new().unwrap();
    let (mut prefix, mut sealed, mut opened) = (Vec::new(), Vec::new(), Vec::new());
    let mut stream = StreamSealer::new(
        &sealing,
        Binding::None,
        &Aad::EMPTY,
        &mut random,
        &mut prefix,
    )
    .unwrap();
    stream.update(&text, &mut sealed).unwrap();
    let read = Prefix::parse(&prefix).unwrap();
    let sealed_text = sealed.clone();

    let mut samples = [const { Vec::new() }; 3];
    for _ in 0..RUNS {
        samples[0].push(timed(|| {
            for _ in 0..BUFFERS {
                black_box(raw.seal(&[0; 12], &[], &mut block).unwrap());
            }
        }));
        let mut stream = StreamSealer::new(
            &sealing,
            Binding::None,
            &Aad::EMPTY,
            &mut random,
            &mut prefix,
        )
        .unwrap();
        samples[1].push(timed(|| {
            for _ in 0..BUFFERS {
                sealed.clear();
                stream.update(black_box(&text), &mut sealed).unwrap();
            }
        }));
        samples[2].push(timed(|| {
            // The same buffer again and again: only the first is where its chunks belong.
            for _ in 0..BUFFERS {
                opened.clear();
                let mut stream = StreamOpener::new(&opening, &read, &Aad::EMPTY).unwrap();
                stream.update(black_box(&sealed_text), &mut opened).unwrap();
            }
        }));
    }
    print_rates(samples);
}

/// Reads from one slice and writes into another, as large as the text.
fn transfers() {
    let (sealing, opening) = derive(&[7; 32], identity(Suite::Chunked)).unwrap();
    let raw = Aes256Gcm::new(&[7; 32]).unwrap();
    let text = vec![5; BUFFER * BUFFERS];
    let (mut block, mut opened) = (text.clone(), text.clone());
    let mut sealed = vec![0; text.len() + 16 * (text.len() / CHUNK_LEN + 1)];
    let mut random = RandomStream::new().unwrap();
    let mut samples = [const { Vec::new() }; 3];
    for _ in 0..RUNS {
        samples[0].push(timed(|| {
            black_box(raw.seal(&[0; 12], &[], &mut block).unwrap());
        }));
        let mut prefix = Vec::new();
        let stream = StreamSealer::new(
            &sealing,
            Binding::None,
            &Aad::EMPTY,
            &mut random,
            &mut prefix,
        )
        .unwrap();
        samples[1].push(timed(|| {
            stream
                .transfer(&mut &text[..], &mut &mut sealed[..], &mut |_| ())
                .unwrap();
        }));
        let prefix = Prefix::parse(&prefix).unwrap();
        samples[2].push(timed(|| {
            let stream = StreamOpener::new(&opening, &prefix, &Aad::EMPTY).unwrap();
            stream
                .transfer(&mut &sealed[..], &mut &mut opened[..], &mut |_| ())
                .unwrap();
        }));
    }
    assert!(opened == text);
    print_rates(samples);
}

fn print_rates(samples: [Vec<Duration>; 3]) {
    let rates = samples.map(|samples| rate(median(samples)));
    println!("  AES-256-GCM alone    seal {:>6.0} MB/s", rates[0]);
    for (name, rate) in [("seal", rates[1]), ("open", rates[2])] {
        println!(
            "  suite 6              {name} {rate:>6.0} MB/s   ratio {:.2}",
            rate / rates[0]
        );
    }
}

fn rate(time: Duration) -> f64 {
    let megabytes = u32::try_from(BUFFER * BUFFERS / 1_000_000).unwrap();
    f64::from(megabytes) / time.as_secs_f64()
}
