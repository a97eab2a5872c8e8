//! Roots and holders over them.

use keywright_clock::Clock;
use keywright_keystore::{Keystore, Root};
use keywright_password::Profile;
use keywright_secret::SecretBytes;

pub(crate) fn password(text: &str) -> SecretBytes {
    SecretBytes::from_vec(text.as_bytes().to_vec())
}

/// A root of its own installation.
pub(crate) fn new_root() -> Root {
    let folder = tempfile::tempdir().unwrap();
    Root::create(
        &folder.path().join("root.kwf"),
        &password("p"),
        Profile::Fast,
    )
    .unwrap()
}

pub(crate) fn keystore(root: &Root, slots: usize) -> Keystore {
    Keystore::new(root, slots, Clock::system()).unwrap()
}
