//! Tokens: read, verified with a key of each suite, and narrowed.
#![no_main]

use std::sync::LazyLock;

use keywright_token::{VerifyingKeys, fuzzing};

static KEYS: LazyLock<VerifyingKeys> = LazyLock::new(|| {
    let mut keys = VerifyingKeys::new();
    for issuer in fuzzing::issuers().into_iter().flatten() {
        if let Ok(key) = issuer.verifying_key() {
            assert_eq!(keys.insert(key), Ok(()));
        }
    }
    keys
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| fuzzing::token(data, &KEYS));
