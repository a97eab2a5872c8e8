//! What a process that uses a seed leaves in its memory and lets others see, looked at from outside.
//!
//! Standard output is a pipe that is full, so the process stands still where it hands out its answer: all its
//! work is done, and nothing of the seed may be left. Its memory is then read through `/proc`, as whoever
//! takes a core file or the swap space would read it. That the search finds things at all is shown by the
//! public key, which has to be there. Other commands with keys are looked at in `leftovers`.

use std::fs::File;
use std::io::{PipeReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use keywright_encoding::hex;
use keywright_hdkey::{PrivateNode, Scheme, Seed};

use crate::hd::{Place, text};
use crate::program::program;

/// A seed that stands nowhere else: this program holds it too, the one that is searched has it from a file.
const SEED: &str = "c4a1f00d5eed5eed0123456789abcdef5ca1ab1e0ddba11ec0ffee00deadbea7";

/// A process that stands still before it prints, and is ended when this is dropped.
pub(crate) struct Halted {
    pub(crate) child: Child,
    /// The other end of its standard output, from which nobody reads.
    reader: Option<PipeReader>,
    /// Keeps the pipe full, and ends when nobody can read from it any more.
    filling: Option<JoinHandle<()>>,
}

/// How long nothing has to happen until it is believed to stand still.
const STILL: u32 = 25;
const STEP: Duration = Duration::from_millis(20);
const STEPS: u32 = 3_000;

impl Halted {
    pub(crate) fn start(words: &[&str]) -> Self {
        Self::run(program().args(words))
    }

    /// A command whose standard streams are not set yet.
    pub(crate) fn run(command: &mut Command) -> Self {
        let (reader, writer) = std::io::pipe().unwrap();
        let mut full = writer.try_clone().unwrap();
        let filled = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&filled);
        let filling = std::thread::spawn(move || {
            while full.write_all(&[b'.'; 512]).is_ok() {
                counter.fetch_add(1, Ordering::Relaxed);
            }
        });
        until_still(|| filled.load(Ordering::Relaxed).to_string());
        let child = command
            .stdout(Stdio::from(writer))
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let halted = Self {
            child,
            reader: Some(reader),
            filling: Some(filling),
        };
        // It sleeps, and takes no more processor time.
        until_still(|| {
            let stat = std::fs::read_to_string(halted.file("stat")).unwrap();
            let (_, fields) = stat.rsplit_once(')').unwrap();
            let fields: Vec<&str> = fields.split_whitespace().collect();
            match fields[0] {
                "S" => format!("{} {}", fields[11], fields[12]),
                _ => String::new(),
            }
        });
        halted
    }

    fn file(&self, name: &str) -> String {
        format!("/proc/{}/{name}", self.child.id())
    }

    /// What the kernel says about it, by name.
    fn status(&self, name: &str) -> String {
        let status = std::fs::read_to_string(self.file("status")).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default()
            .trim_start_matches(':')
            .trim()
            .to_owned()
    }

    /// All memory that it may write to; none where another process of the same user may not look.
    pub(crate) fn memory(&self) -> Option<Vec<u8>> {
        let maps = std::fs::read_to_string(self.file("maps")).ok()?;
        let mut memory = File::open(self.file("mem")).ok()?;
        let mut all = Vec::new();
        for line in maps.lines() {
            let mut words = line.split_whitespace();
            let (range, rights) = (words.next()?, words.next()?);
            if !rights.starts_with("rw") {
                continue;
            }
            let (start, end) = range.split_once('-')?;
            let number = |text: &str| u64::from_str_radix(text, 16).unwrap();
            all.extend(touched(&mut memory, number(start), number(end)));
        }
        Some(all)
    }
}

impl Drop for Halted {
    fn drop(&mut self) {
        // It is not needed any more, and would stand there for ever.
        let _ended_already = self.child.kill();
        let _reaped = self.child.wait();
        drop(self.reader.take());
        if let Some(filling) = self.filling.take() {
            let _ended = filling.join();
        }
    }
}

/// Until what is looked at is not empty and has not changed for half a second.
fn until_still(look: impl Fn() -> String) {
    let (mut last, mut same) = (String::new(), 0);
    for _ in 0..STEPS {
        let now = look();
        same = if !now.is_empty() && now == last {
            same + 1
        } else {
            0
        };
        if same >= STILL {
            return;
        }
        last = now;
        std::thread::sleep(STEP);
    }
    panic!("it did not come to stand still");
}

/// What can be read of a range: pages that were never touched are left out in whole pieces.
fn touched(memory: &mut File, start: u64, end: u64) -> Vec<u8> {
    const PIECE: u64 = 1 << 20;
    let mut all = Vec::new();
    let mut at = start;
    while at < end {
        let mut piece = vec![0; usize::try_from(PIECE.min(end - at)).unwrap()];
        let read = memory
            .seek(SeekFrom::Start(at))
            .and_then(|_| memory.read_exact(&mut piece));
        if read.is_ok() && piece.iter().any(|byte| *byte != 0) {
            all.extend(piece);
        }
        at += PIECE;
    }
    all
}

/// Those of the canaries whose first 16 bytes are in the memory, by one pass over it.
pub(crate) fn found(memory: &[u8], canaries: &[(&'static str, Vec<u8>)]) -> Vec<&'static str> {
    let mut ends = [false; 256];
    for (_, canary) in canaries {
        ends[usize::from(canary[15])] = true;
    }
    let mut names = Vec::new();
    for (place, byte) in memory.iter().enumerate().skip(15) {
        if !ends[usize::from(*byte)] {
            continue;
        }
        let window = &memory[place - 15..=place];
        let same = canaries
            .iter()
            .filter(|(_, canary)| canary[..16] == *window);
        names.extend(same.map(|(name, _)| *name));
    }
    names.dedup();
    names
}

/// The seed, and the private keys on the way to the path.
fn canaries(path: &str) -> Vec<(&'static str, Vec<u8>)> {
    let raw = hex::decode(SEED).unwrap();
    let seed = Seed::raw(&raw).unwrap();
    let root = PrivateNode::root(&seed, Scheme::Bip32Secp256k1).unwrap();
    let mut canaries = vec![
        ("seed", raw),
        ("digits of the seed", SEED.as_bytes().to_vec()),
    ];
    for levels in 0..=5 {
        let at = path
            .split('/')
            .take(levels + 1)
            .collect::<Vec<_>>()
            .join("/");
        let node = root.derive(&at.parse().unwrap()).unwrap();
        let key = node.export().unwrap().key.expose().to_vec();
        canaries.push(("digits of a private key", hex::encode(&key).into_bytes()));
        canaries.push(("private key", key));
    }
    canaries
}

#[test]
fn after_its_work_no_seed_and_no_private_key_is_in_the_memory_of_the_process() {
    let place = Place::empty();
    let words = ["--seed-scheme", "raw", "--export", "plain"];
    place.import(&words, SEED).bytes();
    let message = place.folder.write("message", "a message");
    let path = "m/29'/29'/0'/1'/0'";
    let sign = place.words(
        "sign",
        &[
            "--path",
            path,
            "--algorithm",
            "ecdsa",
            "--input",
            &message,
            "--format",
            "json",
        ],
    );
    let signed = place.json(
        "sign",
        &["--path", path, "--algorithm", "ecdsa", "--input", &message],
    );
    let halted = Halted::start(&sign);
    assert_eq!(halted.status("VmSwap"), "0 kB");
    let limits = std::fs::read_to_string(halted.file("limits"));
    if let Ok(limits) = limits {
        let core = limits
            .lines()
            .find(|line| line.starts_with("Max core file size"))
            .unwrap();
        assert_eq!(core.split_whitespace().nth(4), Some("0"), "{core}");
    }
    let Some(memory) = halted.memory() else {
        // Whoever is not the system's administrator may not look at all, which is more than was promised.
        return;
    };
    assert!(memory.len() > 64 << 10, "nothing was read");
    let public = text(&signed, "public");
    let there = found(&memory, &[("public key", public.as_bytes().to_vec())]);
    assert_eq!(
        there.first(),
        Some(&"public key"),
        "the search finds nothing"
    );
    let mut canaries = canaries(path);
    let password = crate::hd::PASSWORD.as_bytes().to_vec();
    canaries.push(("password", password));
    assert_eq!(found(&memory, &canaries), [""; 0], "is still there");
}

#[test]
fn while_it_works_its_memory_is_locked_where_the_user_may_lock_it() {
    let place = Place::raw("never");
    let halted = Halted::start(&place.words("public", &["--path", "m/1'"]));
    let locked = halted.status("VmLck");
    let locked: u64 = locked.trim_end_matches(" kB").parse().unwrap();
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    let limit = limits
        .lines()
        .find(|line| line.starts_with("Max locked memory"))
        .unwrap();
    let unlimited = limit.split_whitespace().nth(3) == Some("unlimited");
    assert!(locked > 1_000 || !unlimited, "{locked} kB are locked");
}
