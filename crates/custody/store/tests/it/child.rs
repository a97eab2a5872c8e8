//! The same test binary as another process: what a second process sees, and what a kill leaves.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use keywright_store::{Error, Store, Table, Transaction};
use keywright_types::KeyVersion;

use crate::{KEY, TENANT, open};

/// Numbers of a counter that the writer takes with each row.
const BLOCK: u64 = 16;

/// A process that plays a role on a store and acknowledges on its standard output.
pub(crate) struct Role {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Role {
    pub(crate) fn spawn(role: &str, path: &Path) -> Self {
        Self::run(Command::new(std::env::current_exe().unwrap()), role, path)
    }

    /// With an upper limit for the size of files, in the shell's blocks.
    pub(crate) fn spawn_limited(role: &str, path: &Path, blocks: u32) -> Self {
        let mut command = Command::new("sh");
        // Ignored, the signal of the limit becomes the error of the write.
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        command
            .args(["-c", &script])
            .arg(std::env::current_exe().unwrap());
        Self::run(command, role, path)
    }

    fn run(mut command: Command, role: &str, path: &Path) -> Self {
        let mut child = command
            .args(["--exact", "child::role", "--ignored", "--nocapture"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let order = format!("{role} {}\n", path.display());
        child
            .stdin
            .as_mut()
            .unwrap()
            .write_all(order.as_bytes())
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// The next acknowledgement; `None` at the end. A line cut by a kill acknowledges nothing.
    pub(crate) fn next(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            self.lines.read_line(&mut line).unwrap();
            let line = line.strip_suffix('\n')?;
            if let Some(acknowledged) = line.strip_prefix("ack ") {
                return Some(acknowledged.to_owned());
            }
        }
    }

    /// SIGKILL; what was acknowledged before is still in the pipe.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Closes the standard input, which ends the role of a holder.
    pub(crate) fn release(&mut self) {
        drop(self.child.stdin.take());
        assert!(self.child.wait().unwrap().success());
    }
}

impl Drop for Role {
    fn drop(&mut self) {
        // It has ended already in every test that succeeds.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
#[ignore = "a role for the other tests, which start it and name the store on its standard input"]
fn role() {
    let mut order = String::new();
    std::io::stdin().read_line(&mut order).unwrap();
    let Some((role, path)) = order.trim_end().split_once(' ') else {
        return;
    };
    let store = match open(Path::new(path)) {
        Err(Error::Busy) => return acknowledge("busy"),
        opened => opened.unwrap(),
    };
    acknowledge("open");
    match role {
        "fill" => fill(&store),
        "hold" => assert_eq!(std::io::stdin().read_line(&mut order).unwrap(), 0),
        "write" => loop {
            write(&store);
        },
        _ => panic!("there is no role {role}"),
    }
}

fn acknowledge(text: &str) {
    // The harness leaves its own line open.
    let mut out = std::io::stdout().lock();
    out.write_all(format!("\nack {text}\n").as_bytes()).unwrap();
    out.flush().unwrap();
}

/// One key row, one change of a row that all share, one block of numbers; then the acknowledgement.
fn write(store: &Store) {
    let number = store.get(Table::Policies, b"last").unwrap();
    let (next, revision) = number.map_or((0, 0), |row| (row.revision, row.revision));
    let transaction = Transaction::new().insert(Table::Keys, key(next), TENANT, body(next));
    let last = next.to_be_bytes();
    let transaction = match revision {
        0 => transaction.insert(Table::Policies, b"last", TENANT, last),
        _ => transaction.update(Table::Policies, b"last", revision, last),
    };
    store.transact(transaction).unwrap();
    let block = store.reserve(KEY, KeyVersion::FIRST, BLOCK).unwrap();
    acknowledge(&format!("{next} {} {}", block.start, block.end));
}

/// Writes large rows until the disk refuses, and shows that the store goes on.
fn fill(store: &Store) {
    let mut next = 0_u64;
    let error = loop {
        let body = vec![next as u8; 64 << 10];
        match store.transact(Transaction::new().insert(Table::Keys, key(next), TENANT, body)) {
            Ok(_) => acknowledge(&next.to_string()),
            Err(error) => break error,
        }
        next += 1;
        assert!(next < 1000, "the limit is never met");
    };
    assert!(matches!(error, Error::Io(_) | Error::Full), "{error:?}");
    assert_eq!(store.get(Table::Keys, &key(next)), Ok(None));
    assert_eq!(store.range(Table::Keys, b"").unwrap().len() as u64, next);
    assert_eq!(store.epoch(), next);
    let small = store.transact(Transaction::new().insert(Table::Heads, b"h", TENANT, b"small"));
    assert_eq!(small.map(|epoch| epoch.0), Ok(next + 1));
    acknowledge("usable");
}

pub(crate) fn key(number: u64) -> [u8; 8] {
    number.to_be_bytes()
}

/// Bodies of different lengths, some longer than a page.
pub(crate) fn body(number: u64) -> Vec<u8> {
    let length = [40, 300, 5000][number as usize % 3];
    vec![number as u8; length]
}
