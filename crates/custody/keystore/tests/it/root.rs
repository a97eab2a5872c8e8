//! The root file: it opens with its password as it was written, and in no other way.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use keywright_keystore::{Error, Root};
use keywright_password::{Limits, Profile};
use tempfile::TempDir;

use crate::scene::password;

struct File {
    folder: TempDir,
    root: Root,
}

impl File {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("root.kwf");
        let root = Root::create(&path, &password("right"), Profile::Fast).unwrap();
        Self { folder, root }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("root.kwf")
    }

    fn bytes(&self) -> Vec<u8> {
        std::fs::read(self.path()).unwrap()
    }

    fn open_as(&self, bytes: &[u8]) -> Result<Root, Error> {
        let path = self.folder.path().join("changed");
        std::fs::write(&path, bytes).unwrap();
        Root::open(&path, &password("right"), &Limits::standard())
    }
}

#[test]
fn a_root_opens_to_what_was_made() {
    let file = File::new();
    let opened = Root::open(&file.path(), &password("right"), &Limits::standard()).unwrap();
    assert_eq!(opened.installation(), file.root.installation());
    assert_eq!(opened.key_id(), file.root.key_id());
}

#[test]
fn another_password_is_rejected() {
    let file = File::new();
    for wrong in ["", "Right", "right ", "righ", "wrong"] {
        let opened = Root::open(&file.path(), &password(wrong), &Limits::standard());
        assert!(opened.is_err(), "{wrong:?}");
    }
    let opened = Root::open(&file.path(), &password("wrong"), &Limits::standard());
    assert!(matches!(opened, Err(Error::Rejected)));
}

/// Where the slots end and the message begins; what is behind it is tried in `root::tests`, where the
/// password costs nothing.
fn message_of(bytes: &[u8]) -> usize {
    bytes
        .windows(3)
        .rposition(|window| window == b"\x29\x64\x75")
        .unwrap()
}

#[test]
fn a_flip_anywhere_in_the_slots_is_refused() {
    let file = File::new();
    let bytes = file.bytes();
    // Each costs a derivation where only the tag can tell: all of the head, and one in eight after it.
    for index in (0..32).chain((32..=message_of(&bytes)).step_by(8)) {
        let mut changed = bytes.clone();
        changed[index] ^= 1 << (index % 8);
        let opened = file.open_as(&changed);
        assert!(opened.is_err(), "byte {index} of {}", bytes.len());
    }
    file.open_as(&bytes).unwrap();
}

#[test]
fn a_file_of_any_other_length_is_refused() {
    let file = File::new();
    let bytes = file.bytes();
    let message = message_of(&bytes);
    for length in (0..=message).chain([message + 50, bytes.len() - 1]) {
        assert!(
            file.open_as(&bytes[..length]).is_err(),
            "{length} of {}",
            bytes.len()
        );
    }
    for more in [&b"\0"[..], b"more", &[0xA5; 70_000]] {
        assert!(file.open_as(&[&bytes[..], more].concat()).is_err());
    }
}

#[test]
fn what_is_there_is_never_overwritten() {
    let file = File::new();
    let before = file.bytes();
    let again = Root::create(&file.path(), &password("other"), Profile::Fast);
    assert!(matches!(again, Err(Error::Exists)));
    assert_eq!(file.bytes(), before);
}

#[test]
fn only_its_owner_may_read_it() {
    let file = File::new();
    let mode = std::fs::metadata(file.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_place_that_cannot_be_written_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing/root.kwf");
    let made = Root::create(&path, &password("p"), Profile::Fast);
    assert!(matches!(made, Err(Error::Io(_))));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert!(matches!(
        Root::open(&path, &password("p"), &Limits::standard()),
        Err(Error::Io(_))
    ));
}

#[test]
fn neither_the_key_nor_the_password_is_shown() {
    let file = File::new();
    let shown = format!("{:?}", file.root);
    assert!(shown.contains("Secret<32>"), "{shown}");
    let bytes = file.bytes();
    assert!(!bytes.windows(5).any(|window| window == b"right"));
}
