//! The same against a real server, where one is installed.

use std::io::Write;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use keywright_clock::Clock;
use keywright_measure::carry::Verify;
use keywright_measure::{Assignment, Carrier, Load, Stop, TargetError, Window, Word};
use keywright_targets::operation::Make;
use keywright_targets::store::development::{Development, find};
use keywright_targets::store::{OPERATIONS, open};

/// The server's program. Without one `test` is skipped, and so counted where `scripts/run-tests` runs it.
#[expect(
    clippy::disallowed_methods,
    reason = "where programs are and where the counts go is told by the environment"
)]
fn program(test: &str) -> Option<PathBuf> {
    let found = std::env::var_os("PATH").and_then(|path| find(&path));
    if found.is_none() {
        // Past the capture of the test runner, which hides what a passing test prints.
        let told = format!("skipped: neither bao nor vault is installed: {test}\n");
        std::io::stderr().write_all(told.as_bytes()).unwrap();
        if let Some(folder) = std::env::var_os("KEYWRIGHT_TEST_COUNTS") {
            let file = Path::new(&folder).join(format!("targets-store-{test}"));
            std::fs::write(file, "0 0 1\n").unwrap();
        }
    }
    found
}

#[test]
fn every_output_of_a_real_server_is_right_and_it_is_no_stand_in() {
    let Some(program) = program("every_output_of_a_real_server_is_right") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let clock = Clock::system();
    let server = Development::start(&program, folder.path(), &clock).unwrap();
    for row in OPERATIONS {
        let Make::Store(shape) = row.make else {
            panic!("{} is no operation of a store", row.name);
        };
        let mut carrier = open(shape, server.settings(), 5).unwrap();
        assert_eq!(carrier.facts().words(), [Word::CoLocated]);
        let assignment = Assignment {
            load: &Load::Closed {
                workers: NonZeroU32::MIN,
            },
            window: Window::Operations(50),
            seed: 5,
            verify: Verify::All,
            timeout: Duration::from_secs(60),
            drain: Duration::from_secs(60),
            block: Duration::from_secs(1),
            clock: &clock,
            stop: &Stop::new(),
        };
        let ledger = carrier.carry(&assignment, &mut |_, _| ()).unwrap().ledger;
        assert!(ledger.counts.balance());
        assert_eq!(
            ledger.counts.verified, 50,
            "{}: {:?}",
            row.name, ledger.faults
        );
        carrier.close().unwrap();
    }
}

#[test]
fn a_program_that_is_no_such_server_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let clock = Clock::system();
    let ends = Development::start(Path::new("/bin/false"), folder.path(), &clock).unwrap_err();
    assert!(matches!(ends, TargetError::Unreachable { .. }), "{ends}");
    let missing = folder.path().join("vault");
    let missing = Development::start(&missing, folder.path(), &clock).unwrap_err();
    assert!(matches!(missing, TargetError::System(_)), "{missing}");
}

#[cfg(unix)]
#[test]
fn only_a_file_that_can_be_run_is_found() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let mode = |file: &Path, mode| {
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    assert_eq!(find(path.as_os_str()), None);
    std::fs::create_dir(path.join("bao")).unwrap();
    let vault = path.join("vault");
    std::fs::write(&vault, "").unwrap();
    mode(&vault, 0o644);
    assert_eq!(find(path.as_os_str()), None);
    mode(&vault, 0o755);
    assert_eq!(find(path.as_os_str()), Some(vault));
    assert_eq!(find(std::ffi::OsStr::new("relative:")), None);
}
