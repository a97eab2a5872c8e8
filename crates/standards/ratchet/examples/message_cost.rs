//! What messages cost beside what they are made of, in nanoseconds:
//! `cargo run --release -p keywright-ratchet --example message_cost`.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a measuring program"
)]

use std::hint::black_box;
use std::time::Instant;

use keywright_clock::WallTime;
use keywright_primitives::aead::XChaCha20Poly1305;
use keywright_primitives::agreement::{X25519PrivateKey, X25519PublicKey};
use keywright_primitives::mac::{MacKey, Sha256Pads};
use keywright_primitives::random::RandomStream;
use keywright_ratchet::{Context, Message, Mode, Packet, Session, SessionSecret, Start, hazmat};
use keywright_secret::Secret;

const NOW: WallTime = WallTime::from_unix_seconds(1_800_000_000);

/// The smallest of several means: other work on the machine only adds.
fn measure(name: &str, count: u32, mut work: impl FnMut()) {
    let best = (0..400)
        .map(|_| {
            let start = Instant::now();
            (0..count).for_each(|_| work());
            start.elapsed().as_nanos() / u128::from(count)
        })
        .min();
    println!("{name:<34} {:>7} ns", best.unwrap());
}

struct Pair {
    one: Session,
    other: Session,
    random: RandomStream,
    packet: Vec<u8>,
}

impl Pair {
    fn new() -> Self {
        let start = || Start {
            secret: SessionSecret::expand(&Secret::from_fill(|key| key.fill(7))).unwrap(),
            context: Context {
                initiator: b"alice",
                responder: b"bob",
                transcript: b"",
            },
            mode: Mode::Hedged,
        };
        let mut random = RandomStream::new().unwrap();
        let prekey = X25519PrivateKey::generate().unwrap();
        let one = Session::initiate(start(), &prekey.public_bytes().unwrap(), &mut random).unwrap();
        let other = Session::respond(start(), prekey, &mut random).unwrap();
        let packet = vec![0; one.packet_len(1024)];
        Self {
            one,
            other,
            random,
            packet,
        }
    }

    fn seal(&mut self, text: &[u8]) {
        let context = b"";
        let message = Message { text, context };
        self.one
            .seal(&message, NOW, &mut self.random, &mut self.packet)
            .unwrap();
    }

    fn open(&mut self, out: &mut [u8]) {
        let packet = Packet {
            bytes: &self.packet,
            context: b"",
        };
        self.other.open(&packet, NOW, out).unwrap();
    }
}

fn parts() {
    let cipher = XChaCha20Poly1305::new(&[1; 32]);
    let mut text = [0; 1024];
    measure("xchacha20-poly1305 seal 1 KiB", 200, || {
        black_box(cipher.seal(&[2; 24], b"aad", &mut text).unwrap());
    });
    let mut header = [0; 48];
    measure("xchacha20-poly1305 seal 48", 200, || {
        black_box(cipher.seal(&[2; 24], b"a", &mut header).unwrap());
    });
    measure("chain step by the backend", 200, || {
        let key = MacKey::new(black_box(&[1; 32]));
        black_box((key.mac(&[1]), key.mac(&[2])));
    });
    measure("chain step, pads at hand", 200, || {
        let key = Sha256Pads::new(black_box(&[1; 32]));
        black_box((key.mac_byte(1), key.mac_byte(2)));
    });
    let mut random = RandomStream::new().unwrap();
    measure("x25519 key", 5, || {
        let key = X25519PrivateKey::from_bytes(&random.secret().unwrap()).unwrap();
        black_box(key.public_bytes().unwrap());
    });
    let key = X25519PrivateKey::generate().unwrap();
    let peer = X25519PrivateKey::generate().unwrap();
    let peer = peer.public_bytes().unwrap();
    measure("x25519 agreement", 5, || {
        let peer = X25519PublicKey::from_bytes(&peer).unwrap();
        black_box(key.agree(&peer).unwrap());
    });
}

fn main() {
    parts();
    let (text, mut out) = ([5; 1024], [0; 1024]);
    let mut pair = Pair::new();
    pair.seal(&text);
    let start = hazmat::mark(&pair.one);
    measure("encrypt 1 KiB", 200, || {
        hazmat::return_to(&mut pair.one, &start);
        pair.seal(&text);
    });
    // The last of them was the first message again.
    pair.open(&mut out);
    pair.seal(&text);
    let start = hazmat::mark(&pair.other);
    measure("decrypt 1 KiB", 200, || {
        hazmat::return_to(&mut pair.other, &start);
        pair.open(&mut out);
    });
    measure("encrypt and decrypt 1 KiB", 200, || {
        pair.seal(&text);
        pair.open(&mut out);
    });
    measure("ping-pong, two messages of 1 KiB", 3, || {
        for _ in 0..2 {
            std::mem::swap(&mut pair.one, &mut pair.other);
            pair.seal(&text);
            pair.open(&mut out);
        }
    });
}
