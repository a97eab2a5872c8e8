//! A process of this machine whose use of the processor and of memory is read.

use std::path::PathBuf;

/// A process, by its id. Reading it needs the files that Linux keeps about processes; elsewhere there is
/// nothing to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process(u32);

impl Process {
    /// The process with this id.
    #[must_use]
    pub const fn new(id: u32) -> Self {
        Self(id)
    }

    /// This process.
    #[must_use]
    pub fn own() -> Self {
        Self(std::process::id())
    }

    /// Processor time of all its threads so far, in nanoseconds. What threads spent that have ended is not
    /// in it: a server's threads live as long as the server.
    #[must_use]
    pub fn cpu_ns(self) -> Option<u64> {
        let mut total = 0;
        for task in std::fs::read_dir(self.file("task")).ok()? {
            let text = std::fs::read_to_string(task.ok()?.path().join("schedstat"));
            // A thread that ended between the listing and the reading.
            let Ok(text) = text else { continue };
            total += text.split(' ').next()?.parse::<u64>().ok()?;
        }
        Some(total)
    }

    /// Processor time of all threads so far, those that have ended included, in nanoseconds. The system
    /// counts it in hundredths of a second. None if the process is no more, or not on this machine.
    #[must_use]
    pub fn whole_cpu_ns(self) -> Option<u64> {
        const TICK_NS: u64 = 10_000_000;
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.0)).ok()?;
        // The name stands in parentheses and may hold anything; user and system time are the 12th and 13th
        // field behind it.
        let (_, fields) = text.rsplit_once(')')?;
        let mut fields = fields.split_ascii_whitespace().skip(11);
        let mut ticks = || fields.next()?.parse::<u64>().ok();
        Some((ticks()? + ticks()?) * TICK_NS)
    }

    /// Resident memory in bytes.
    #[must_use]
    pub fn resident_bytes(self) -> Option<u64> {
        let text = std::fs::read_to_string(self.file("status")).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
        Some(kib << 10)
    }

    fn file(self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{name}", self.0))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_running_process_has_spent_time_and_holds_memory_and_a_missing_one_says_nothing() {
        let own = Process::own();
        let before = own.cpu_ns().unwrap();
        let mut sum = 0_u64;
        while own.cpu_ns().unwrap() == before {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(own.resident_bytes().unwrap() > 1 << 16);
        // Ids of processes end far below this.
        let missing = Process::new(u32::MAX - 1);
        assert_eq!((missing.cpu_ns(), missing.resident_bytes()), (None, None));
    }
}
