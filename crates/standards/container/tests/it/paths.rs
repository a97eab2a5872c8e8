//! Files under names: whole or not there at all.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use keywright_container::{Error, FileHeader, open_to_path, rewrite_slots_at, seal_to_path};
use keywright_envelope::Aad;

use crate::scene::{CHUNK, envelope_slot, key, opened_with_password, password_slot, sealed, text};

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_file_that_does_not_open_to_its_end_leaves_nothing_and_harms_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("plain.txt");
    let key = key(1);
    let file = sealed(&key, &[envelope_slot(&key, 1)], &text(3 << 20));
    let open = |file: &[u8]| {
        let mut rest = file;
        let header = FileHeader::read_from(&mut rest).unwrap();
        open_to_path(&mut rest, &target, &header, &key, &Aad::EMPTY, &mut |_| ())
    };
    let mut changed = file.clone();
    let last = changed.len() - 1;
    changed[last] ^= 1;
    for bad in [&changed[..], &file[..file.len() - 1], &file[..CHUNK * 100]] {
        assert!(matches!(open(bad), Err(Error::Rejected)));
        assert!(names(folder.path()).is_empty());
    }
    fs::write(&target, "before").unwrap();
    assert!(open(&changed).is_err());
    assert_eq!(fs::read(&target).unwrap(), b"before");
    assert_eq!(open(&file).unwrap(), 3 << 20);
    assert!(fs::read(&target).unwrap() == text(3 << 20));
    assert_eq!(names(folder.path()), ["plain.txt"]);
    assert_eq!(
        fs::metadata(&target).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn sealing_leaves_a_whole_file_or_none() {
    struct Broken(usize);
    impl std::io::Read for Broken {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            let length = out.len().min(self.0);
            self.0 -= length;
            if length == 0 {
                Err(std::io::ErrorKind::TimedOut.into())
            } else {
                Ok(length)
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("sealed");
    let key = key(1);
    let slots = [password_slot(&key, "pass")];
    let refused = seal_to_path(
        &mut Broken(5 << 20),
        &target,
        &key,
        &slots,
        &Aad::EMPTY,
        &mut |_| (),
    );
    assert!(matches!(refused, Err(Error::Read(_))));
    assert!(names(folder.path()).is_empty());
    seal_to_path(
        &mut &b"text"[..],
        &target,
        &key,
        &slots,
        &Aad::EMPTY,
        &mut |_| (),
    )
    .unwrap();
    assert_eq!(
        opened_with_password(&fs::read(&target).unwrap(), "pass").unwrap(),
        b"text"
    );
    let nowhere = folder.path().join("absent/sealed");
    let refused = seal_to_path(
        &mut &b"text"[..],
        &nowhere,
        &key,
        &slots,
        &Aad::EMPTY,
        &mut |_| (),
    );
    assert!(matches!(refused, Err(Error::Write(_))));
    assert_eq!(names(folder.path()), ["sealed"]);
}

#[test]
fn slots_are_rewritten_in_place_with_the_old_permissions_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("file");
    let key = key(1);
    let old = sealed(&key, &[password_slot(&key, "old")], b"text");
    fs::write(&target, &old).unwrap();
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    let foreign = [password_slot(&self::key(2), "new")];
    assert!(matches!(
        rewrite_slots_at(&target, &foreign),
        Err(Error::SlotOfAnotherKey)
    ));
    assert!(matches!(
        rewrite_slots_at(&target, &[]),
        Err(Error::SlotCount(0))
    ));
    assert_eq!(fs::read(&target).unwrap(), old);
    rewrite_slots_at(&target, &[password_slot(&key, "new")]).unwrap();
    let new = fs::read(&target).unwrap();
    assert_eq!(opened_with_password(&new, "new").unwrap(), b"text");
    assert!(opened_with_password(&new, "old").is_err());
    assert_eq!(
        fs::metadata(&target).unwrap().permissions().mode() & 0o777,
        0o640
    );
    assert_eq!(names(folder.path()), ["file"]);
    fs::write(&target, "no file").unwrap();
    assert!(matches!(
        rewrite_slots_at(&target, &[password_slot(&key, "new")]),
        Err(Error::Malformed)
    ));
    assert_eq!(fs::read(&target).unwrap(), b"no file");
    assert!(matches!(
        rewrite_slots_at(&folder.path().join("absent"), &[]),
        Err(Error::Read(_))
    ));
}
