//! The `openssl` command as a second implementation, in both directions.
//!
//! Where there is none of version 3 or later the tests say so in one line each and are counted as skipped:
//! the judge is not part of the toolchain, and older ones have no command for MACs.

mod public_key;
mod symmetric;

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A folder in which the judge works.
struct Judge(TempDir);

impl Judge {
    /// `None` without a judge. Then `test` is skipped, and so counted where `scripts/run-tests` runs it.
    #[expect(
        clippy::disallowed_methods,
        reason = "where the counts go is told by the environment"
    )]
    fn called(test: &str) -> Option<Self> {
        if is_present() {
            return Some(Self(tempfile::tempdir().unwrap()));
        }
        // Past the capture of the test runner, which hides what a passing test prints.
        writeln!(
            std::io::stderr(),
            "skipped: no openssl command of version 3: {test}"
        )
        .unwrap();
        if let Some(folder) = std::env::var_os("KEYWRIGHT_TEST_COUNTS") {
            let file = Path::new(&folder).join(format!("primitives-openssl-{test}"));
            std::fs::write(file, "0 0 1\n").unwrap();
        }
        None
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        std::fs::write(self.0.path().join(name), bytes).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.path().join(name)).unwrap()
    }

    /// Whether the command, with its arguments in one line, succeeds.
    fn accepts(&self, line: &str) -> bool {
        self.run(line).0
    }

    /// What a command that succeeds prints.
    fn says(&self, line: &str) -> Vec<u8> {
        let (success, said) = self.run(line);
        assert!(
            success,
            "openssl {line}: {}",
            String::from_utf8_lossy(&said)
        );
        said
    }

    fn run(&self, line: &str) -> (bool, Vec<u8>) {
        let output = Command::new("openssl")
            .current_dir(self.0.path())
            .args(line.split_whitespace())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let success = output.status.success();
        (
            success,
            if success {
                output.stdout
            } else {
                output.stderr
            },
        )
    }
}

/// `OpenSSL 3.0.19 27 Jan 2026`; LibreSSL names itself otherwise.
fn is_present() -> bool {
    let Ok(output) = Command::new("openssl").arg("version").output() else {
        return false;
    };
    let said = String::from_utf8_lossy(&output.stdout);
    let version = said.strip_prefix("OpenSSL ");
    let major = version.and_then(|version| version.split('.').next());
    major.is_some_and(|major| major.parse().is_ok_and(|major: u32| major >= 3))
}
