//! Argon2id with its memory locked and wiped, beside the function of the crate `argon2` that does neither, with lanes
//! on threads in both.
//!
//! This program has no allocator of its own, as most that use the crate. One that keeps pages, such as that of the
//! command, spares the crate the system's zeros too; there both take turns as rows of `keywright bench`.
//!
//! `beside_the_crate [ROUNDS]` prints a line of JSON for each profile: the median nanoseconds of both.
#![expect(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a program for whoever measures: what goes wrong ends it"
)]

use argon2::{Algorithm, Argon2, Params, Version};
use keywright_clock::Clock;
use keywright_password::{Cost, Profile, hazmat};

const PASSWORD: &[u8] = b"correct horse battery staple";
const PROFILES: [(&str, Profile); 3] = [
    ("fast", Profile::Fast),
    ("balanced", Profile::Balanced),
    ("strong", Profile::Strong),
];

fn main() {
    let rounds: u8 = std::env::args()
        .nth(1)
        .map_or(5, |rounds| rounds.parse().unwrap());
    for (name, profile) in PROFILES {
        let [ours, theirs] = beside(profile.cost(), rounds.max(1));
        println!("{{\"profile\":\"{name}\",\"ours_ns\":{ours},\"crate_ns\":{theirs}}}");
    }
}

/// The median nanoseconds of ours and of the crate's, over rounds in which each goes first in turn.
fn beside(cost: Cost, rounds: u8) -> [u128; 2] {
    let clock = Clock::system();
    let params = Params::new(cost.memory_kib, cost.passes, cost.lanes, Some(32)).unwrap();
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..rounds {
        let salt = [round; 16];
        let mut keys = [[0; 32]; 2];
        for turn in [round % 2, 1 - round % 2].map(usize::from) {
            let begin = clock.monotonic();
            if turn == 0 {
                let key = hazmat::stretch(PASSWORD, &salt, cost).unwrap();
                keys[turn].copy_from_slice(key.expose());
            } else {
                let key = &mut keys[turn];
                argon2.hash_password_into(PASSWORD, &salt, key).unwrap();
            }
            times[turn].push(clock.monotonic().since(begin).as_nanos());
        }
        assert_eq!(keys[0], keys[1], "both are Argon2id");
    }
    times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    })
}
