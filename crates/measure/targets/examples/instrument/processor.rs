//! What single threads of this program use of a processor, as the kernel counts it.

use std::fs;
use std::time::Duration;

use crate::Failure;

/// A thread of this program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Thread(u32);

impl Thread {
    /// All that run now.
    pub(crate) fn all() -> Result<Vec<Self>, Failure> {
        let mut threads = Vec::new();
        for entry in fs::read_dir("/proc/self/task")? {
            let name = entry?.file_name();
            let number = name.to_str().ok_or("a thread without a number")?.parse()?;
            threads.push(Self(number));
        }
        Ok(threads)
    }

    /// How long it has been running on a processor.
    pub(crate) fn used(&self) -> Result<Duration, Failure> {
        // Nanoseconds on a processor, nanoseconds waiting for one, turns.
        let text = fs::read_to_string(format!("/proc/self/task/{}/schedstat", self.0))?;
        let nanos = text
            .split_whitespace()
            .next()
            .ok_or("the kernel counts no processor time of threads")?;
        Ok(Duration::from_nanos(nanos.parse()?))
    }
}
