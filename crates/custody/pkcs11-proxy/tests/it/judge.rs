//! Real tokens behind the recorder: OpenSC's own program sees the same with and without it.

use std::path::Path;
use std::process::{Command, Output};

use keywright_tokens::{Kind, Store, USER_PIN};

use crate::caller;

/// What `pkcs11-tool` says, without and with the recorder before the module.
fn both(store: &Store, log: &Path, arguments: &[&str]) -> [Output; 2] {
    let module = store.kind().module().unwrap();
    let plain = tool(store, &module, arguments).output().unwrap();
    let recorded = tool(store, &caller::recorder(), arguments)
        .env("KEYWRIGHT_P11_TARGET", &module)
        .env("KEYWRIGHT_P11_LOG", log)
        .output()
        .unwrap();
    [plain, recorded]
}

fn tool(store: &Store, module: &Path, arguments: &[&str]) -> Command {
    let mut command = store.command("pkcs11-tool");
    command.arg("--module").arg(module).args(arguments);
    command
}

fn on_each(work: impl Fn(&Store, &Path)) {
    for kind in Kind::ALL {
        match Store::new(kind, &["keywright"]) {
            Ok(store) => work(&store, &store.folder().join("calls.jsonl")),
            Err(missing) => drop(std::io::Write::write_all(
                &mut std::io::stderr(),
                format!("skipped: {missing}: the recorder on {}\n", kind.name()).as_bytes(),
            )),
        }
    }
}

/// What was said, in the order of its lines, because Kryoptic lists objects in another order each time; without
/// what this program says of a module that has no C_GetInterface behind the symbol of that name.
fn steady(bytes: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(bytes);
    let text = text.replace("C_GetInterface failed 54, retry 2.x way", "");
    let mut lines: Vec<_> = text.lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "a list of command lines, then what their log must hold"
)]
fn the_tools_own_tests_and_lists_say_the_same_with_and_without() {
    let login = ["--token-label", "keywright", "--login", "--pin", USER_PIN];
    let with = |more: &[&'static str]| [&login[..], more].concat();
    on_each(|store, log| {
        let key = with(&[
            "--keygen",
            "--key-type",
            "AES:32",
            "--label",
            "one",
            "--id",
            "01",
        ]);
        assert!(
            tool(store, &store.kind().module().unwrap(), &key)
                .output()
                .unwrap()
                .status
                .success()
        );
        let pair = with(&[
            "--keypairgen",
            "--key-type",
            "EC:secp256r1",
            "--label",
            "two",
            "--id",
            "02",
        ]);
        assert!(
            tool(store, &store.kind().module().unwrap(), &pair)
                .output()
                .unwrap()
                .status
                .success()
        );
        let wrong = [
            "--token-label",
            "keywright",
            "--login",
            "--pin",
            "not-the-pin",
            "-O",
        ];
        let nothing = ["--token-label", "no-such-token", "-O"];
        for arguments in [
            &["-I"][..],
            &["-L"],
            &["-T"],
            &["-M"],
            &["--token-label", "keywright", "-O"],
            &with(&["-O"]),
            &with(&["--test"]),
            &wrong,
            &nothing,
            &with(&["--delete-object", "--type", "secrkey", "--id", "77"]),
            &with(&["--read-object", "--type", "privkey", "--id", "02"]),
        ] {
            let [plain, recorded] = both(store, log, arguments);
            let name = store.kind().name();
            assert_eq!(
                steady(&plain.stdout),
                steady(&recorded.stdout),
                "{name}: {arguments:?}"
            );
            assert_eq!(
                steady(&plain.stderr),
                steady(&recorded.stderr),
                "{name}: {arguments:?}"
            );
            assert_eq!(
                plain.status.code(),
                recorded.status.code(),
                "{name}: {arguments:?}"
            );
        }
        let text = std::fs::read_to_string(log).unwrap();
        for secret in [USER_PIN, "not-the-pin"] {
            assert!(!text.contains(secret));
        }
        assert!(text.contains("CKR_PIN_INCORRECT"));
        let records = caller::records(log);
        assert!(
            records
                .iter()
                .all(|one| one.function().is_some() && one.rv.is_some())
        );
        let ours = records.iter().find(|one| one.func == "C_Login").unwrap();
        assert!(ours.slot_id.is_some() && ours.session.is_some() && ours.user_type == Some(1));
    });
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "command lines, then what their log must hold"
)]
fn keys_made_through_the_recorder_are_used_without_it_and_the_other_way_round() {
    on_each(|store, log| {
        let module = store.kind().module().unwrap();
        let folder = store.folder();
        let message = folder.join("message");
        std::fs::write(&message, [7; 32]).unwrap();
        let login = ["--token-label", "keywright", "--login", "--pin", USER_PIN];
        let run = |recorded: bool, more: &[&str]| {
            let library = if recorded {
                caller::recorder()
            } else {
                module.clone()
            };
            let output = tool(store, &library, &[&login[..], more].concat())
                .env("KEYWRIGHT_P11_TARGET", &module)
                .env("KEYWRIGHT_P11_LOG", log)
                .output()
                .unwrap();
            assert!(
                output.status.success(),
                "{more:?}: {}",
                caller::said(&output)
            );
        };
        let signature = folder.join("signature");
        let [message, signature] = [&message, &signature].map(|path| path.to_str().unwrap());
        for first in [true, false] {
            let id = if first { "11" } else { "12" };
            run(
                first,
                &[
                    "--keypairgen",
                    "--key-type",
                    "EC:secp256r1",
                    "--label",
                    id,
                    "--id",
                    id,
                ],
            );
            let sign = [
                "--sign",
                "--mechanism",
                "ECDSA",
                "--id",
                id,
                "-i",
                message,
                "-o",
                signature,
            ];
            run(!first, &sign);
            let verify = [
                "--verify",
                "--mechanism",
                "ECDSA",
                "--id",
                id,
                "-i",
                message,
                "--signature-file",
                signature,
            ];
            run(first, &verify);
        }
        let records = caller::records(log);
        let generated = records
            .iter()
            .find(|one| one.func == "C_GenerateKeyPair")
            .unwrap();
        assert_eq!(generated.mech.as_ref().unwrap().name, "CKM_EC_KEY_PAIR_GEN");
        assert!(generated.key.as_ref().unwrap().tag.is_some());
        let began = records.iter().find(|one| one.func == "C_SignInit").unwrap();
        let ended = records
            .iter()
            .find(|one| one.func == "C_Sign" && !one.size_query)
            .unwrap();
        assert_eq!(began.op_id, ended.op_id);
        assert!(began.op_id.is_some() && began.slot_id.is_some());
    });
}
