//! Go's `crypto/hpke` at the other end, in mode base, which is the one it has.
//!
//! The program under `tests/judge` is built once and fed all cases. Where there is no Go, or one without
//! that package, the cases are counted as skipped.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use keywright_encoding::hex;
use keywright_hpke::{Aad, Aead, Info, Kdf, Kem, RecipientMode, SenderMode, Suite};
use keywright_vectors::Tally;
use serde_json::{Value, json};

use crate::scene::{admitted, key};

const TEXT: &[u8; 5] = b"hello";
const INFO: &[u8] = b"both ways";

#[test]
fn go_agrees_in_both_directions() {
    let mut tally = Tally::new("hpke-go-judge");
    let suites: Vec<Suite> = Suite::all()
        .filter(|suite| suite.aead != Aead::ExportOnly)
        .collect();
    let cases = u64::try_from(suites.len() * 3).unwrap();
    let folder = tempfile::tempdir().unwrap();
    match build(folder.path()) {
        Err(reason) => tally.skip(reason, cases),
        Ok(program) => {
            judge(&mut tally, &program, &suites);
            assert_eq!(tally.total(), cases);
        }
    }
    tally.finish().unwrap();
}

/// Builds the program, without the network: it needs nothing but Go's own library.
fn build(folder: &Path) -> Result<std::path::PathBuf, &'static str> {
    let program = folder.join("hpke-judge");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/judge");
    let built = Command::new("go")
        .args(["build", "-o"])
        .arg(&program)
        .arg(".")
        .current_dir(source)
        .env("GOTOOLCHAIN", "local")
        .env("GOFLAGS", "-mod=mod")
        .env("GOPROXY", "off")
        // Go's library is compiled once for all runs of this test.
        .env(
            "GOCACHE",
            Path::new(env!("CARGO_TARGET_TMPDIR")).join("go-cache"),
        )
        .output()
        .map_err(|_| "there is no Go")?;
    if built.status.success() {
        return Ok(program);
    }
    let said = String::from_utf8_lossy(&built.stderr).into_owned();
    let old = ["is not in std", "requires go", "cannot find package"];
    assert!(old.iter().any(|why| said.contains(why)), "{said}");
    Err("this Go has no crypto/hpke")
}

fn judge(tally: &mut Tally, program: &Path, suites: &[Suite]) {
    let ours: Vec<_> = suites.iter().map(|suite| sealed_by_us(*suite)).collect();
    let mut orders = Vec::new();
    for (suite, (sealed, _)) in suites.iter().zip(&ours) {
        let recipient = key(suite.kem, 1);
        let public = recipient.public_key().as_bytes().to_vec();
        let private = recipient.to_bytes().unwrap();
        let mut changed = sealed.clone();
        *changed.last_mut().unwrap() ^= 1;
        orders.push(order("seal", *suite, &public, TEXT));
        orders.push(order("open", *suite, private.expose(), sealed));
        orders.push(order("open", *suite, private.expose(), &changed));
    }
    let answers = ask(program, &orders);
    assert_eq!(answers.len(), orders.len());
    for ((suite, (_, export)), answers) in suites.iter().zip(&ours).zip(answers.chunks(3)) {
        tally.check(
            format!("{suite}, sealed by Go"),
            opens_here(*suite, &answers[0]),
        );
        tally.check(
            format!("{suite}, opened by Go"),
            answers[1]["made"] == hex::encode(TEXT) && answers[1]["export"] == hex::encode(export),
        );
        tally.check(
            format!("{suite}, changed and refused by Go"),
            answers[2]["error"].is_string() && answers[2]["made"].is_null(),
        );
    }
}

fn order(what: &str, suite: Suite, key: &[u8], text: &[u8]) -> Value {
    json!({
        "do": what, "ids": suite.ids(), "key": hex::encode(key),
        "info": hex::encode(INFO), "text": hex::encode(text),
    })
}

fn ask(program: &Path, orders: &[Value]) -> Vec<Value> {
    let mut child = Command::new(program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines: String = orders.iter().map(|order| format!("{order}\n")).collect();
    let mut input = child.stdin.take().unwrap();
    // Beside reading, so that neither side waits for the other with a full pipe.
    let writing = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writing.join().unwrap().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// What we seal for the recipient, and what we export.
fn sealed_by_us(suite: Suite) -> (Vec<u8>, Vec<u8>) {
    let recipient = key(suite.kem, 1);
    let to = admitted(suite);
    let to = to.initiator(recipient.public_key(), SenderMode::Base, Info(INFO));
    let (enc, mut sender) = to.unwrap().initiate().unwrap();
    let sealed = sender.seal(Aad(b"aad"), TEXT).unwrap();
    let export = sender.exporter().export::<48>(b"context").unwrap();
    ([enc.as_bytes(), &sealed].concat(), export.expose().to_vec())
}

/// Whether what Go sealed opens here, with the same export.
fn opens_here(suite: Suite, answer: &Value) -> bool {
    let field = |name: &str| hex::decode(answer[name].as_str().unwrap_or_default()).unwrap();
    let made = field("made");
    let Some((enc, ciphertext)) = made.split_at_checked(suite.kem.enc_len()) else {
        return false;
    };
    let recipient = key(suite.kem, 1);
    let from = admitted(suite);
    let from = from
        .acceptor(&recipient, RecipientMode::Base, Info(INFO))
        .unwrap();
    let mut context = from.accept(enc).unwrap();
    let export = context.exporter().export::<48>(b"context").unwrap();
    context.open(Aad(b"aad"), ciphertext) == Ok(TEXT.to_vec())
        && export.expose()[..] == field("export")[..]
}

#[test]
fn every_algorithm_of_go_is_ours_too() {
    // What the judge knows by number; a draft whose number changed would show here first.
    for kem in [0x10, 0x11, 0x12, 0x20, 0x41, 0x42, 0x647A] {
        assert!(Kem::from_id(kem).is_ok());
    }
    for kdf in [1, 2, 3, 0x10, 0x11] {
        assert!(Kdf::from_id(kdf).is_ok());
    }
    for aead in [1, 2, 3, 0xFFFF] {
        assert!(Aead::from_id(aead).is_ok());
    }
}
