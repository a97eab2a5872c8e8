//! What making a context costs beside the agreements in it, in nanoseconds:
//! `cargo run --release -p keywright-hpke --example context_cost`.
//!
//! With a number as argument it only makes that many contexts of each kind, for a profiler: `base.initiate`,
//! `base.accept`, or `floor.initiate` and `floor.accept`, which are the agreements alone.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "a measuring program"
)]

use std::hint::black_box;
use std::time::Instant;

use keywright_hpke::{Admitted, Info, Kem, Policy, PrivateKey, RecipientMode, SenderMode, Suite};
use keywright_primitives::agreement::{X25519PrivateKey, X25519PublicKey};

const INFO: Info<'static> = Info(b"keywright/measure");

/// The smallest of several means: other work on the machine only adds.
fn measure(work: &mut dyn FnMut()) -> u128 {
    let best = (0..200).map(|_| {
        let start = Instant::now();
        (0..50).for_each(|_| work());
        start.elapsed().as_nanos() / 50
    });
    best.min().unwrap()
}

struct Scene {
    suite: Admitted,
    key: PrivateKey,
    enc: Vec<u8>,
    own: X25519PrivateKey,
    peer: X25519PublicKey,
}

impl Scene {
    fn new() -> Self {
        let suite = Policy::default().admit(Suite::X25519).unwrap();
        let key = PrivateKey::generate(Kem::X25519HkdfSha256).unwrap();
        let to = suite.initiator(key.public_key(), SenderMode::Base, INFO);
        let (enc, _) = to.unwrap().initiate().unwrap();
        let peer = X25519PrivateKey::generate().unwrap().public_key().unwrap();
        Self {
            suite,
            enc: enc.as_bytes().to_vec(),
            key,
            own: X25519PrivateKey::generate().unwrap(),
            peer,
        }
    }

    fn run(&self, name: &str) {
        match name {
            "base.initiate" => {
                let to = self.key.public_key();
                let to = self.suite.initiator(to, SenderMode::Base, INFO).unwrap();
                black_box(to.initiate().unwrap());
            }
            "base.accept" => {
                let from = self.suite.acceptor(&self.key, RecipientMode::Base, INFO);
                black_box(from.unwrap().accept(&self.enc).unwrap());
            }
            "floor.initiate" => {
                let new = X25519PrivateKey::generate().unwrap();
                black_box(new.public_bytes().unwrap());
                black_box(new.agree(&self.peer).unwrap());
            }
            "floor.accept" => drop(black_box(self.own.agree(&self.peer).unwrap())),
            "read.peer" => {
                let bytes = self.peer.as_bytes().try_into().unwrap();
                black_box(X25519PublicKey::from_bytes(bytes).unwrap());
            }
            _ => (),
        }
    }
}

fn main() {
    let scene = Scene::new();
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [name, count] = &words[..] {
        let count: u32 = count.parse().unwrap();
        (0..count).for_each(|_| scene.run(name));
        return;
    }
    for name in [
        "floor.initiate",
        "base.initiate",
        "floor.accept",
        "base.accept",
        "read.peer",
    ] {
        println!("{name:<16} {:>8} ns", measure(&mut || scene.run(name)));
    }
}
