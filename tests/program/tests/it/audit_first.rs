//! A log that cannot be written: requests are refused with 503, nothing acknowledged is unlogged, and
//! when the disk is back the node is, without a restart (W8).
//!
//! A full disk is a small file system over the audit folder, in memory or in a file behind a loop device, which only
//! root may mount; where that is not allowed the test says so and is counted as skipped. A failing disk is a limit on the size of files,
//! which everybody may set on their own process.

use std::collections::BTreeSet;
use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use http::Method;
use keywright_clock::{Clock, MonotonicTime};
use keywright_encoding::hex;
use keywright_envelope::Envelope;
use keywright_home::control::send;
use keywright_home::{Answer, HomeError, Order};
use keywright_tls::Protocol;
use keywright_tls::issue::Reason;
use keywright_types::Code;
use serde_json::Value;

use crate::fixture::*;

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Refused,
    Served,
}

/// A client that notes what was acknowledged and what was refused.
struct Caller {
    wire: Wire,
    acknowledged: BTreeSet<String>,
    refused: usize,
    /// The longest a refusal took.
    slowest: Duration,
}

impl Caller {
    fn new(wire: Wire) -> Self {
        Self {
            wire,
            acknowledged: BTreeSet::new(),
            refused: 0,
            slowest: Duration::ZERO,
        }
    }

    /// Whether a request was acknowledged; a refusal must be the right one.
    fn ask(&mut self) -> bool {
        let clock = Clock::system();
        let started = clock.monotonic();
        let got = self
            .wire
            .post(&path(EXCHANGE, "encrypt"), item(&[("plaintext", b"x")]));
        if got.status == 200 {
            let sealed = got.binary("ciphertext");
            let id = Envelope::parse(&sealed).unwrap().message_id();
            return self.acknowledged.insert(hex::encode(id.as_bytes()));
        }
        assert_eq!(
            (got.status, got.code().as_str()),
            (503, "audit_unavailable")
        );
        assert!(got.header("retry-after").is_some());
        self.slowest = self.slowest.max(clock.monotonic().since(started));
        self.refused += 1;
        false
    }

    /// Asks until the service is like this.
    fn until(&mut self, state: State) {
        let clock = Clock::system();
        let end = clock.monotonic().plus(Duration::from_secs(30));
        while self.ask() != (state == State::Served) {
            assert!(clock.monotonic() < end, "not {state:?} yet");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// For a while, every answer is a refusal.
    fn is_refused_for(&mut self, time: Duration) {
        let clock = Clock::system();
        let end: MonotonicTime = clock.monotonic().plus(time);
        while clock.monotonic() < end {
            assert!(!self.ask(), "a request was acknowledged without a log");
        }
    }
}

/// Everything that was acknowledged is in the log, and the log is whole.
fn check(home: &Home, acknowledged: &BTreeSet<String>) {
    let logged: BTreeSet<String> = home
        .requests()
        .iter()
        .filter_map(|record| {
            field(record, "message-id")
                .and_then(Value::as_str)
                .map(str::to_owned)
        })
        .collect();
    let lost: Vec<_> = acknowledged.difference(&logged).collect();
    assert!(lost.is_empty(), "acknowledged and not logged: {lost:?}");
    home.verify();
}

/// Gives an order until it is carried out: like requests, orders are taken again soon after the disk is
/// back, each writer of the log in its own time.
pub(crate) fn until_carried_out<T>(order: impl Fn() -> Result<T, HomeError>) -> T {
    let clock = Clock::system();
    let started = clock.monotonic();
    loop {
        match order() {
            Ok(answer) => {
                println!("orders again after {:?}", clock.monotonic().since(started));
                return answer;
            }
            Err(error) => {
                let waited = clock.monotonic().since(started);
                assert!(waited < Duration::from_secs(10), "still refused: {error}");
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}

/// Says past the capture of the test runner, which hides what a passing test prints, that a test could not
/// run here, and adds it to the counts of `scripts/run-tests`, if that is who runs it.
#[expect(
    clippy::disallowed_methods,
    reason = "where the counts go is told by the environment"
)]
pub(crate) fn skipped(test: &str, why: &str) {
    writeln!(std::io::stderr(), "skipped: {why}").unwrap();
    if let Some(folder) = std::env::var_os("KEYWRIGHT_TEST_COUNTS") {
        let file = Path::new(&folder).join(format!("program-{test}"));
        fs::write(file, "0 0 1\n").unwrap();
    }
}

// === A full disk ===

/// What a small file system is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Disk {
    /// A file with ext4 in it behind a loop device: space is allotted late and given back late, as on a disk.
    Loop,
    /// A tmpfs of this many bytes.
    Memory(u32),
}

impl Disk {
    /// Over `folder`; `image` is a place for the file.
    fn mount(self, folder: &Path, image: &Path) -> Option<()> {
        let run = |command: &mut Command| {
            let output = command.output();
            output
                .is_ok_and(|output| output.status.success())
                .then_some(())
        };
        match self {
            Self::Memory(size) => {
                let options = format!("size={size},mode=0700");
                let mut mount = Command::new("mount");
                run(mount
                    .args(["-t", "tmpfs", "-o", &options, "tmpfs"])
                    .arg(folder))
            }
            Self::Loop => {
                File::create(image).unwrap().set_len(LOOP_BYTES).unwrap();
                // Nothing is kept back for root, who runs this.
                run(Command::new("mkfs.ext4")
                    .args(["-q", "-F", "-m", "0"])
                    .arg(image))?;
                run(Command::new("mount")
                    .args(["-o", "loop"])
                    .args([image, folder]))?;
                fs::remove_dir(folder.join("lost+found")).unwrap();
                fs::set_permissions(folder, Permissions::from_mode(0o700)).unwrap();
                Some(())
            }
        }
    }
}

/// Room for what a log lays out beforehand, and for the journal of the file system.
const LOOP_BYTES: u64 = 64 << 20;

/// A small file system over a folder, with what was in it; gone when dropped.
pub(crate) struct SmallDisk(PathBuf);

impl SmallDisk {
    /// `None` where mounting is not allowed. `kept` is a place for what is in the folder meanwhile.
    pub(crate) fn over(folder: PathBuf, kept: &Path, disk: Disk) -> Option<Self> {
        copy_folder(&folder, kept);
        disk.mount(&folder, &kept.with_extension("image"))?;
        // What was there lies under the mount now.
        for entry in fs::read_dir(kept).unwrap().map(Result::unwrap) {
            fs::copy(entry.path(), folder.join(entry.file_name())).unwrap();
        }
        Some(Self(folder))
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }

    /// Writes until nothing more fits.
    pub(crate) fn fill(&self) {
        let mut file = File::options()
            .create(true)
            .append(true)
            .open(self.filler())
            .unwrap();
        for size in [1 << 20, 4096, 1] {
            while file.write_all(&vec![b'x'; size]).is_ok() {}
        }
    }

    pub(crate) fn empty(&self) {
        fs::remove_file(self.filler()).unwrap();
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("--lazy").arg(&self.0).output());
    }
}

#[test]
fn a_full_disk_refuses_everything_but_a_revocation_until_there_is_space() {
    on_a_full_disk("full-disk", Disk::Memory(24 << 20));
}

#[test]
fn a_full_file_system_behind_a_loop_device_refuses_no_less_and_heals_no_later() {
    on_a_full_disk("full-loop", Disk::Loop);
}

fn on_a_full_disk(test: &str, disk: Disk) {
    let home = Home::demo();
    let (audit, kept) = (home.path().join("audit"), home.beside("kept"));
    let Some(disk) = SmallDisk::over(audit, &kept, disk) else {
        return skipped(test, "mounting is not allowed here");
    };
    let site = Site::over(home);
    let mut callers = BOTH.map(|protocol| Caller::new(site.wire(TRADING, protocol)));
    for caller in &mut callers {
        (0..20).for_each(|_| assert!(caller.ask()));
    }
    let mut rotations = 1;
    for round in 0..3 {
        // Before the disk is full: a connection has a record too, which is written once one of its requests
        // is answered.
        let revoked = (round == 1).then(|| {
            let mut wire = site.wire(WEB, Protocol::Http2);
            let answer = wire.post(&path(EXCHANGE, "encrypt"), item(&[("plaintext", b"x")]));
            assert_eq!(answer.status, 404);
            wire
        });
        disk.fill();
        for caller in &mut callers {
            caller.until(State::Refused);
            caller.is_refused_for(Duration::from_millis(300));
        }
        rotations += rotate_until_refused(&site);
        if let Some(revoked) = revoked {
            revoke_on_a_full_disk(&site, revoked);
        }
        disk.empty();
        for caller in &mut callers {
            caller.until(State::Served);
            (0..20).for_each(|_| assert!(caller.ask()));
        }
    }
    until_carried_out(|| {
        let rotated = site
            .node()
            .admin()
            .rotate(&name("default"), &name(EXCHANGE));
        rotated.map_err(HomeError::from)
    });
    let mut acknowledged = BTreeSet::new();
    for caller in callers {
        let slowest = caller.slowest;
        println!(
            "{} refused, the slowest after {slowest:.1?}",
            caller.refused
        );
        // 100 ms are promised; beside other tests a machine may hold a thread back for longer.
        assert!(slowest < Duration::from_secs(1), "{slowest:?}");
        acknowledged.extend(caller.acknowledged);
    }
    let home = site.stop();
    check(&home, &acknowledged);
    let records = home.records();
    let ends = records
        .iter()
        .filter(|one| one["type"] == "order-after" && one["outcome"] == "ok");
    let recorded = ends.filter(|one| one["operation"] == "key-rotate").count();
    assert_eq!(recorded, rotations, "acknowledged and recorded rotations");
}

/// The last page of a file has room for a few records; how many orders were acknowledged until it had not.
fn rotate_until_refused(site: &Site) -> usize {
    for done in 0..20 {
        if let Err(error) = site
            .node()
            .admin()
            .rotate(&name("default"), &name(EXCHANGE))
        {
            assert_eq!(error.code(), Code::AuditUnavailable);
            return done;
        }
    }
    panic!("orders go on without a log")
}

/// Design 7.36: the reserve lets it be recorded.
fn revoke_on_a_full_disk(site: &Site, mut revoked: Wire) {
    assert!(!revoked.ends_within(Duration::from_millis(300)));
    let certificate = site.home.path().join("clients/web-2fa-1.pem");
    let now = Clock::system().wall();
    site.home
        .pki()
        .revoke(&certificate, Reason::KeyCompromise, now)
        .unwrap();
    site.node().reload_trust().unwrap();
    assert!(revoked.ends_within(Duration::from_secs(10)));
}

// === A failing disk ===

/// From now on a process may, or may not, write files.
pub(crate) fn limit_files(process: u32, limit: &str) {
    let output = Command::new("prlimit")
        .args(["--pid", &process.to_string(), &format!("--fsize={limit}")])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_disk_that_fails_refuses_everything_until_it_is_whole() {
    if Command::new("prlimit").arg("--version").output().is_err() {
        return skipped("failing-disk", "there is no prlimit here");
    }
    let home = Home::demo();
    // Writing beyond the limit is an error for who ignores the signal, and death for who does not.
    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' XFSZ; exec \"$0\" \"$1\""])
        .arg(env!("CARGO_BIN_EXE_keywright-served-home"))
        .arg(home.path());
    let served = Served::run(&mut command);
    let tls = |protocol| home.tls(Some(home.identity(TRADING)), protocol);
    let mut callers =
        BOTH.map(|protocol| Caller::new(Wire::connect(served.address, tls(protocol)).unwrap()));
    let order = Order::KeyRotate {
        tenant: name("default"),
        name: name(EXCHANGE),
    };
    for _ in 0..3 {
        for caller in &mut callers {
            (0..20).for_each(|_| assert!(caller.ask()));
        }
        limit_files(served.id(), "0:unlimited");
        for caller in &mut callers {
            caller.until(State::Refused);
            caller.is_refused_for(Duration::from_millis(300));
        }
        let health = callers[0].wire.send(Method::GET, "/v1/health", "").unwrap();
        assert_eq!(
            (health.status, health.code().as_str()),
            (503, "audit_unavailable")
        );
        match send(&home.path(), &order) {
            Err(HomeError::Refused { code, .. }) => assert_eq!(code, Some(Code::AuditUnavailable)),
            other => panic!("{other:?}"),
        }
        limit_files(served.id(), "unlimited:unlimited");
        callers
            .iter_mut()
            .for_each(|caller| caller.until(State::Served));
    }
    let rotated = until_carried_out(|| send(&home.path(), &order));
    match rotated {
        Some(Answer::KeyRotated { version }) => assert_eq!(version.number(), 2),
        other => panic!("{other:?}"),
    }
    let acknowledged = callers
        .into_iter()
        .flat_map(|caller| caller.acknowledged)
        .collect();
    served.stop();
    check(&home, &acknowledged);
}
