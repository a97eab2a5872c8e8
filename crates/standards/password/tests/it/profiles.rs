//! The named profiles against values of another implementation (the Python package `cryptography`, whose
//! Argon2id is OpenSSL's): salt `sixteen bytes...`, password `correct horse`, 32 bytes.

use keywright_encoding::hex;
use keywright_password::{Cost, Profile, hazmat};

/// Profile, MiB, lanes, and what comes out.
const PROFILES: [(Profile, u32, u32, &str); 3] = [
    (
        Profile::Fast,
        64,
        2,
        "9d6489a154b7b4a6426c519ed9cb106248e6b5a5712089562e9c2b19082243ae",
    ),
    (
        Profile::Balanced,
        256,
        4,
        "cffbc7c1ac0b5b04f5722fe80d40df7fbbdcac4cb1dd7df83b2e48054c592d72",
    ),
    (
        Profile::Strong,
        1024,
        8,
        "b88e47ea3aaf9c497e68c173b1bec858aa0139622a61176be9b04d4e8c981211",
    ),
];

/// The first profile's memory and passes in one lane.
const ONE_LANE: &str = "bd1c1cbcdcc51ef8ec7ec8fe4c59e79615452d2155390f75c9894b204a621584";

fn stretched(cost: Cost) -> String {
    let key = hazmat::stretch(b"correct horse", b"sixteen bytes...", cost).unwrap();
    hex::encode(key.expose())
}

#[test]
fn t29_each_profile_runs_the_lanes_that_it_names() {
    for (profile, mib, lanes, expected) in PROFILES {
        let cost = profile.cost();
        let named = (cost.memory_kib >> 10, cost.passes, cost.lanes);
        assert_eq!(named, (mib, 3, lanes), "{profile:?}");
        // The values differ in the lanes alone, so one lane under the name of several would show here.
        assert_eq!(stretched(cost), expected, "{profile:?}");
        if profile == Profile::Fast {
            assert_eq!(stretched(Cost { lanes: 1, ..cost }), ONE_LANE);
        }
    }
}
