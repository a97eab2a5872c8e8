//! Every row of the table is run here, and shown to notice a wrong output.

use std::collections::BTreeSet;
use std::path::Path;

use keywright_measure::carry::Check;
use keywright_measure::{TargetError, Worker};

use super::OPERATIONS;
use super::file;
use super::row::Row;
use super::spoil::spoilt;
use crate::operation::{Make, Operation, Setting};

/// Rows that take a gigabyte of memory or disk, and seconds. Files run below with a short one; all of them run
/// when ignored tests are asked for.
const LARGE: &[&str] = &[
    "file.copy",
    "file.copy-and-raw-seal",
    "file.seal",
    "file.seal.peak-memory",
    "kdf.argon2id.strong",
    #[cfg(feature = "peers")]
    "peer.argon2-crate.strong",
];

fn setting(folder: &Path) -> Setting<'_> {
    Setting {
        seed: 7,
        index: 0,
        bytes: None,
        folder,
        program: None,
        server_cpu: None,
        fpe_backend: None,
    }
}

fn worker(operation: &Operation, setting: &Setting<'_>) -> Box<dyn Worker> {
    match operation.make {
        Make::Worker(make) => make(setting).expect(operation.name),
        _ => panic!("{} is no worker", operation.name),
    }
}

/// Three operations of which each is right, and a fourth that is spoilt and found.
fn assert_runs_and_notices(name: &str, worker: &mut dyn Worker) {
    for _ in 0..3 {
        worker.operate().expect(name);
        assert_eq!(worker.check(), Check::Right, "{name}");
    }
    worker.repeat(2).expect(name);
    assert_eq!(worker.check(), Check::Right, "{name}");
    let seen = spoilt(|| worker.check());
    // The empty operation has no output that could be wrong.
    let wanted = match name {
        "null.call" => Check::Right,
        _ => Check::Wrong,
    };
    assert_eq!(seen, wanted, "{name}");
}

#[test]
fn every_row_but_the_large_ones_runs_right_and_a_wrong_byte_of_it_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let setting = setting(folder.path());
    let mut left_out = Vec::new();
    for operation in OPERATIONS {
        if LARGE.contains(&operation.name) {
            left_out.push(operation.name);
            continue;
        }
        if let Make::Figure(figure) = operation.make {
            assert!(figure(&setting).expect(operation.name) > 0.0);
            continue;
        }
        let mut worker = worker(operation, &setting);
        assert_runs_and_notices(operation.name, worker.as_mut());
    }
    assert_eq!(left_out, LARGE);
}

#[test]
#[ignore = "takes gigabytes of memory and disk"]
fn the_large_rows_run_right_and_a_wrong_byte_of_them_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let setting = setting(folder.path());
    for operation in OPERATIONS {
        match operation.make {
            Make::Worker(make) if LARGE.contains(&operation.name) => {
                let mut worker = make(&setting).expect(operation.name);
                assert_runs_and_notices(operation.name, worker.as_mut());
            }
            Make::Figure(figure) => assert!(figure(&setting).expect(operation.name) > 0.0),
            _ => {}
        }
    }
}

/// A part of a name that says a length, in bytes.
fn length(part: &str) -> Option<u64> {
    let (digits, scale) = match part.strip_suffix(['k', 'm']) {
        Some(digits) if part.ends_with('k') => (digits, 1 << 10),
        Some(digits) => (digits, 1 << 20),
        None => (part, 1),
    };
    digits.parse::<u64>().ok().map(|number| number * scale)
}

#[test]
fn the_payload_is_what_the_name_says_or_what_its_family_has() {
    for Operation { name, bytes, .. } in OPERATIONS {
        let last = name.rsplit('.').next().unwrap();
        let family = name.split('.').next().unwrap();
        let wanted = match (length(last), family) {
            // One operation is a mebibyte of such pieces.
            (Some(_), "aead") if *name == "aead.aes-256-gcm.seal.16k" => 1 << 20,
            (Some(length), _) => length,
            (None, "agreement" | "format" | "hd" | "hpke" | "kdf" | "kem" | "null" | "peer") => 0,
            (None, "aead") if name.ends_with(".set-up") => 0,
            (None, "encryption" | "signature") => 32,
            (None, "file") => 256 << 20,
            (None, "ratchet") => 128,
            (None, "session") => 64,
            (None, "stream") => 1 << 20,
            (None, "token") if name.contains(".ed25519.") => 112,
            (None, "token") => 64,
            (None, "wire") => 128,
            (None, _) => panic!("{name} says no length"),
        };
        assert_eq!(*bytes, wanted, "{name}");
    }
}

#[test]
fn what_is_counted_in_mebibytes_has_as_many_as_it_has_bytes() {
    for operation in OPERATIONS {
        let Operation {
            name, unit, units, ..
        } = operation;
        match (*unit, &operation.make) {
            ("MiB", Make::Worker(_)) => assert_eq!(units << 20, operation.bytes, "{name}"),
            ("keys", Make::Worker(_)) => assert_eq!(*units, 1000, "{name}"),
            ("records", Make::Worker(_)) => assert_eq!(*units, 1 << 16, "{name}"),
            ("messages" | "operations", Make::Worker(_))
            | ("MiB" | "times" | "us", Make::Figure(_)) => {
                assert_eq!(*units, 1, "{name}");
            }
            _ => panic!("{name} counts {unit}"),
        }
    }
}

fn is_name(text: &str) -> bool {
    let is_word = |word: &str| {
        let mut bytes = word.bytes();
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        !word.is_empty() && bytes.all(allowed)
    };
    text.split(['.', '-']).all(is_word)
}

#[test]
fn names_are_unique_well_formed_and_sorted_by_family() {
    for wrong in [
        "", "a.", ".a", "a..b", "a.-b", "A.b", "a_b", "a b", "\u{e9}.b",
    ] {
        assert!(!is_name(wrong), "{wrong}");
    }
    let names: Vec<_> = OPERATIONS.iter().map(|row| row.name).collect();
    assert!(names.iter().all(|name| is_name(name)), "{names:?}");
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    assert!(names.iter().map(|name| name.split('.').next()).is_sorted());
    assert!(OPERATIONS.iter().all(|row| row.target == "local"));
}

#[test]
fn inputs_follow_from_seed_name_and_worker_and_from_nothing_less() {
    let folder = Path::new("");
    let drawn = |seed, index, name| {
        let setting = Setting {
            seed,
            index,
            ..setting(folder)
        };
        let row = short(name, &setting);
        let mut seeded = row.seeded();
        (seeded.array::<16>(), seeded.array::<16>())
    };
    let first = drawn(1, 0, "a");
    assert_eq!(first, drawn(1, 0, "a"));
    assert_ne!(first.0, first.1, "draws differ");
    for other in [drawn(2, 0, "a"), drawn(1, 1, "a"), drawn(1, 0, "b")] {
        assert_ne!(first.0, other.0);
    }
}

#[test]
fn rows_run_right_in_sizes_that_the_table_does_not_list_and_a_wrong_byte_of_them_is_found() {
    let folder = tempfile::tempdir().unwrap();
    for (name, size) in [
        ("aead.aes-256-gcm.open.1k", 1),
        ("aead.xchacha20poly1305.seal.1k", 1001),
        ("cbc.aes-128.decrypt.1k", 17),
        ("cbc.aes-256.encrypt.64k", 15),
        ("envelope.open.64", 65),
        ("hash.blake3.32", 1),
        ("kdf.hkdf-sha256.32", 255 * 32),
        ("mac.aes-cmac.verify.32", 1),
        ("random.32", 16),
        ("signature.ecdsa-p256.sign", 5000),
        ("signature.ed25519.verify", 1),
    ] {
        let operation = OPERATIONS.iter().find(|row| row.name == name).unwrap();
        let setting = Setting {
            bytes: Some(size),
            ..setting(folder.path())
        };
        assert_runs_and_notices(name, worker(operation, &setting).as_mut());
    }
    for (name, size) in [("kdf.hkdf-sha256.32", 255 * 32 + 1), ("random.32", 15)] {
        let operation = OPERATIONS.iter().find(|row| row.name == name).unwrap();
        let setting = Setting {
            bytes: Some(size),
            ..setting(folder.path())
        };
        let Make::Worker(make) = operation.make else {
            panic!("{name} is no worker");
        };
        let refused = make(&setting).err().unwrap();
        assert!(
            matches!(refused, TargetError::Unsupported { .. }),
            "{refused}"
        );
    }
}

#[test]
fn a_worker_that_needs_more_memory_than_there_is_says_how_much() {
    let folder = tempfile::tempdir().unwrap();
    let crowd = Setting {
        index: 1_000_000,
        ..setting(folder.path())
    };
    for operation in OPERATIONS {
        let Make::Worker(make) = operation.make else {
            continue;
        };
        if operation.name.starts_with("kdf.argon2id.") {
            let refused = make(&crowd).err().unwrap();
            let TargetError::Unsupported {
                target,
                operation: named,
                reason,
            } = refused
            else {
                panic!("{refused}");
            };
            assert_eq!((target.as_str(), named.as_str()), ("local", operation.name));
            assert!(reason.contains("MiB of memory"), "{reason}");
        }
    }
}

#[test]
fn a_folder_that_is_not_there_is_an_error_and_no_panic() {
    let setting = setting(Path::new("/nonexistent"));
    for operation in OPERATIONS {
        if operation.name.starts_with("file.") {
            let refused = match operation.make {
                Make::Worker(make) => make(&setting).err(),
                Make::Figure(figure) => figure(&setting).err(),
                Make::Fpe(_) | Make::Service(_) | Make::Store(_) | Make::Token(_) => None,
            };
            let refused = refused.expect(operation.name);
            assert!(matches!(refused, TargetError::Failed { .. }), "{refused}");
        }
    }
}

const fn short<'a>(name: &'static str, setting: &'a Setting<'a>) -> Row<'a> {
    Row {
        name,
        bytes: 3 << 20,
        setting,
    }
}

#[test]
fn short_files_are_copied_and_sealed_right_and_a_wrong_byte_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let setting = setting(folder.path());
    type Maker = fn(&Row<'_>) -> Result<Box<dyn Worker>, TargetError>;
    let makers: [(&str, Maker); 3] = [
        ("file.copy", file::copy),
        ("file.copy-and-raw-seal", file::copy_and_raw_seal),
        ("file.seal", file::seal),
    ];
    for (name, make) in makers {
        let mut worker = make(&short(name, &setting)).expect(name);
        assert_runs_and_notices(name, worker.as_mut());
    }
    let figure = file::peak_memory(&short("file.seal.peak-memory", &setting)).unwrap();
    assert!(figure > 1.0 && figure.is_finite(), "{figure}");
}
