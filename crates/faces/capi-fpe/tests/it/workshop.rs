//! Installs the libraries that cargo has built beside the tests, builds C programs on them and runs
//! them.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use tempfile::TempDir;

/// Where installed files think they are.
const PREFIX: &str = "/opt/fpe";

/// What every program is compiled with.
const STRICT: [&str; 5] = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-pthread"];

/// How a program gets the library.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Linkage {
    Shared,
    Static,
}

/// The folder of this crate.
pub(crate) fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The installed tree, without `DESTDIR`.
pub(crate) struct Workshop {
    scratch: TempDir,
    stage: &'static Path,
}

impl Workshop {
    /// `None` without a C compiler for Linux. Then `test` is skipped.
    pub(crate) fn open(test: &str) -> Option<Self> {
        if !cfg!(target_os = "linux") {
            skip(test, "the layout of shared libraries is that of Linux");
            return None;
        }
        if !has("cc") {
            skip(test, "no C compiler: cc");
            return None;
        }
        Some(Self {
            scratch: tempfile::tempdir().unwrap(),
            stage: staged(),
        })
    }

    /// A folder that is gone with the test.
    pub(crate) fn scratch(&self) -> &Path {
        self.scratch.path()
    }

    /// A folder or file of the installed tree.
    pub(crate) fn installed(&self, name: &str) -> PathBuf {
        self.stage.join(PREFIX.trim_start_matches('/')).join(name)
    }

    /// The folder that was given to the installation as `DESTDIR`.
    pub(crate) fn stage(&self) -> &Path {
        self.stage
    }

    /// Builds a program of this crate. Its name is that of the file without the ending.
    pub(crate) fn build(&self, source: &str, linkage: Linkage, flags: &[&str]) -> PathBuf {
        let (program, output) = self.compile(source, linkage, flags);
        assert!(output.status.success(), "{source}: {}", said(&output));
        program
    }

    /// The same where it may fail.
    pub(crate) fn compile(
        &self,
        source: &str,
        linkage: Linkage,
        flags: &[&str],
    ) -> (PathBuf, Output) {
        let source = home().join(source);
        let program = self.scratch.path().join(source.file_stem().unwrap());
        let mut command = Command::new("cc");
        command.args(STRICT).args(flags);
        for folder in [self.installed("include"), source.parent().unwrap().into()] {
            command.arg("-I").arg(folder);
        }
        command
            .arg("-I")
            .arg(self.scratch())
            .arg("-o")
            .arg(&program)
            .arg(&source);
        match linkage {
            Linkage::Shared => {
                let folder = self.installed("lib");
                command.arg("-L").arg(&folder).arg("-lfpe");
                command.arg(format!("-Wl,-rpath,{}", folder.display()));
            }
            Linkage::Static => {
                command
                    .arg(self.installed("lib/libfpe.a"))
                    .args(["-lm", "-ldl"]);
            }
        }
        (program, command.output().unwrap())
    }
}

/// Installed once for all tests of this program, where cargo keeps what tests leave.
fn staged() -> &'static Path {
    static STAGE: OnceLock<PathBuf> = OnceLock::new();
    STAGE.get_or_init(|| {
        let stage = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fpe-installed");
        if stage.exists() {
            fs::remove_dir_all(&stage).unwrap();
        }
        let built = std::env::current_exe().unwrap();
        let mut command = Command::new(home().join("install"));
        command.arg(built.parent().unwrap());
        for own in ["LIBDIR", "INCLUDEDIR"] {
            command.env_remove(own);
        }
        run(command.env("DESTDIR", &stage).env("PREFIX", PREFIX));
        stage
    })
}

/// Runs a command that must succeed; what it prints.
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", said(&output));
    said(&output)
}

/// Everything a program printed.
pub(crate) fn said(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    format!(
        "{}{}",
        String::from_utf8_lossy(out),
        String::from_utf8_lossy(err)
    )
}

/// Whether this machine has the command, and it works.
pub(crate) fn has(command: &str) -> bool {
    let answer = Command::new(command).arg("--version").output();
    answer.is_ok_and(|output| output.status.success())
}

/// Says that a test was skipped, past the capture of the test runner, and has it counted.
#[expect(
    clippy::disallowed_methods,
    reason = "where the counts go is told by the environment"
)]
pub(crate) fn skip(test: &str, reason: &str) {
    let line = format!("skipped: {reason}: {test}\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
    if let Some(folder) = std::env::var_os("KEYWRIGHT_TEST_COUNTS") {
        let file = Path::new(&folder).join(format!("capi-fpe-{test}"));
        fs::write(file, "0 0 1\n").unwrap();
    }
}
