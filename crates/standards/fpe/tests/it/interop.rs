//! Random cases against the reference in Python, which runs at the same time: the same values, both ways.

use std::io::Write;
use std::process::{Command, Stdio};

use keywright_fpe::{Algorithm, Key, Mode};
use serde_json::{Value, json};

use crate::scene::{self, Sequence};

const CASES: usize = 240;
/// Reads cases, a line each, and answers with the ciphertext of each.
const PROGRAM: &str = "
import json, sys
sys.path.insert(0, sys.argv[1])
import reference
for line in sys.stdin:
    print(json.dumps(reference.encrypt_value(json.loads(line))))
";

struct Case {
    mode: Mode,
    algorithm: Algorithm,
    radix: u32,
    secret: Vec<u8>,
    tweak: Vec<u8>,
    plain: Vec<u32>,
}

impl Case {
    fn new(seed: &mut Sequence) -> Self {
        let mode = [Mode::Ff1, Mode::Ff3, Mode::Ff31][seed.below(3)];
        let algorithm = [Algorithm::Aes, Algorithm::Sm4][seed.below(2)];
        let radix = match seed.below(3) {
            0 => 2 + u32::try_from(seed.below(94)).unwrap(),
            1 => 1 << (1 + seed.below(16)),
            _ => 2 + u32::try_from(seed.below(65_535)).unwrap(),
        };
        let key_bytes = match algorithm {
            Algorithm::Aes => 16 + 8 * seed.below(3),
            _ => 16,
        };
        let tweak_bytes = match mode {
            Mode::Ff1 => seed.below(34),
            Mode::Ff3 => 8,
            _ => 7,
        };
        let lengths = scene::key(mode, algorithm, radix).lengths();
        let least = usize::try_from(*lengths.start()).unwrap();
        let most = usize::try_from(*lengths.end()).unwrap().min(least + 70);
        let length = least + seed.below(most - least + 1);
        Self {
            mode,
            algorithm,
            radix,
            secret: seed.bytes(key_bytes),
            tweak: seed.bytes(tweak_bytes),
            plain: seed.digits(radix, length),
        }
    }

    fn line(&self) -> String {
        let hex = |bytes: &[u8]| {
            bytes
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>()
        };
        let algorithm = match self.algorithm {
            Algorithm::Aes => "aes",
            _ => "sm4",
        };
        let case = json!({
            "mode": self.mode.name(),
            "algorithm": algorithm,
            "radix": self.radix,
            "key": hex(&self.secret),
            "tweak": hex(&self.tweak),
            "plaintext": self.plain,
        });
        format!("{case}\n")
    }

    fn judge(&self, theirs: &[u32]) {
        for backend in scene::backends(self.algorithm) {
            let options = scene::options(self.mode, self.algorithm, self.radix);
            let key = Key::new(options.with_backend(backend), &self.secret).unwrap();
            let mut ours = self.plain.clone();
            key.encrypt_in_place(&self.tweak, &mut ours).unwrap();
            assert_eq!(ours, theirs, "{backend}: {}", self.line());
            key.decrypt_in_place(&self.tweak, &mut ours).unwrap();
            assert_eq!(ours, self.plain, "{backend}: {}", self.line());
        }
    }
}

/// What Python answers, or nothing if there is no Python.
fn answers(cases: &[Case]) -> Option<Vec<Vec<u32>>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../vectors/golden/fpe");
    let mut python = Command::new("python3")
        .args(["-B", "-c", PROGRAM, folder])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut input = python.stdin.take().unwrap();
    let lines: String = cases.iter().map(Case::line).collect();
    // Python answers while it reads, and its answers must be taken meanwhile.
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = python.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "the reference failed");
    let text = String::from_utf8(output.stdout).unwrap();
    let digits = |line: &str| -> Vec<u32> {
        let Value::Array(digits) = serde_json::from_str(line).unwrap() else {
            return Vec::new();
        };
        let number = |digit: &Value| u32::try_from(digit.as_u64().unwrap()).unwrap();
        digits.iter().map(number).collect()
    };
    Some(text.lines().map(digits).collect())
}

#[test]
fn random_values_agree_with_a_reference_in_python() {
    let mut tally = keywright_vectors::Tally::new("fpe-python");
    let mut seed = Sequence::new(41);
    let cases: Vec<Case> = (0..CASES).map(|_| Case::new(&mut seed)).collect();
    let Some(answers) = answers(&cases) else {
        tally.skip("no python3", CASES as u64);
        tally.finish().unwrap();
        return;
    };
    assert_eq!(answers.len(), CASES);
    for (number, (case, theirs)) in cases.iter().zip(&answers).enumerate() {
        case.judge(theirs);
        tally.check(number, true);
    }
    tally.finish().unwrap();
}
