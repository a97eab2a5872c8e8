//! The golden texts of backups, made by the second implementation, through the reader of the program.

use std::path::PathBuf;

use keywright_audit::head::Fingerprint;
use keywright_clock::WallTime;
use keywright_container::{DataKey, Slot};
use keywright_encoding::hex;
use keywright_envelope::Aad;
use keywright_home::backup::{Backup, BackupError, SealedBackup};
use keywright_home::fuzzing;
use keywright_hpke::{Kem, Policy, PrivateKey};
use keywright_primitives::random::RandomStream;
use serde_json::Value;

const GOLDEN: &str = include_str!("../../../../../vectors/golden/backup/backups.json");

/// A folder for files that are sealed to one public key.
struct Sealer {
    folder: tempfile::TempDir,
    recipient: PrivateKey,
}

impl Sealer {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            recipient: PrivateKey::generate(Kem::X25519HkdfSha256).unwrap(),
        }
    }

    fn seal(&self, text: &[u8]) -> (PathBuf, DataKey) {
        let key = DataKey::generate(&mut RandomStream::new().unwrap()).unwrap();
        let policy = Policy::default();
        let mut suites = policy.suites().iter();
        let suite = suites.find(|suite| suite.kem == self.recipient.kem());
        let suite = policy.admit(*suite.unwrap()).unwrap();
        let slot = Slot::hpke(&key, self.recipient.public_key(), suite).unwrap();
        let aad = Aad::EMPTY.caller(b"keywright/backup/v1").unwrap();
        let mut out = Vec::new();
        let mut text = text;
        keywright_container::seal(&mut text, &mut out, &key, &[slot], &aad, &mut |_| ()).unwrap();
        let path = self.folder.path().join("backup");
        std::fs::write(&path, out).unwrap();
        (path, key)
    }

    fn open(&self, text: &[u8], expected: Fingerprint) -> Result<Backup, BackupError> {
        let (path, key) = self.seal(text);
        SealedBackup::read(&path)?.open(&key, expected)
    }
}

fn check_valid(case: &Value, backup: &Backup) {
    let found = backup.verify().unwrap();
    let created = WallTime::from_unix_millis(case["created"].as_u64().unwrap());
    assert_eq!(found.created, created.rfc3339());
    assert_eq!(found.signer, case["signer"]);
    assert_eq!(
        (found.epoch, found.head),
        (number(case, "epoch"), number(case, "head"))
    );
    let counts = [
        ("tenants", found.tenants),
        ("contexts", found.contexts),
        ("versions", found.versions),
        ("rows", found.rows),
    ];
    for (name, count) in counts {
        assert_eq!(count as u64, number(case, name), "{name}");
    }
    assert!(found.outside.is_empty(), "{found:?}");
}

fn number(case: &Value, name: &str) -> u64 {
    case[name].as_u64().unwrap()
}

#[test]
fn golden_backups_open_or_are_refused_as_the_second_implementation_says() {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let (sealer, mut seen) = (Sealer::new(), [0; 2]);
    for case in golden["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let text = hex::decode(case["text"].as_str().unwrap()).unwrap();
        let expected = hex::decode_array(case["fingerprint"].as_str().unwrap()).unwrap();
        fuzzing::backup(&text);
        match (
            sealer.open(&text, Fingerprint::from_bytes(expected)),
            &case["error"],
        ) {
            (Ok(backup), Value::Null) => {
                check_valid(case, &backup);
                seen[0] += 1;
            }
            (Err(error), Value::String(word)) => {
                let as_stated = match word.as_str() {
                    "format" => matches!(error, BackupError::Format(_)),
                    "content" => matches!(error, BackupError::Content),
                    "signer" => matches!(error, BackupError::Signer),
                    _ => false,
                };
                assert!(as_stated && !error.advice().is_empty(), "{name}: {error}");
                seen[1] += 1;
            }
            (answer, _) => panic!("{name}: {answer:?}"),
        }
    }
    assert_eq!(seen, [number(&golden, "valid"), number(&golden, "invalid")]);
}

/// A backup of before signatures is told from a file that is none.
#[test]
fn a_backup_of_format_1_is_refused_with_what_to_do() {
    let sealer = Sealer::new();
    let refused = sealer
        .open(&[1; 200], Fingerprint::from_bytes([0; 32]))
        .unwrap_err();
    assert!(refused.to_string().contains("format 1"), "{refused}");
    assert!(refused.advice().contains("with the version that wrote it"));
}
