//! How much memory there is for an operation that needs much of it: what the system calls available, or
//! what the control group leaves if that is less.
//!
//! Where neither can be read the answer is unknown and nothing is refused; the allocation then says so.

use std::fmt;
use std::path::Path;

/// Memory that can be had without swapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Available {
    kib: Option<u64>,
}

/// Less memory than needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Short {
    needed_kib: u64,
    available_kib: u64,
}

/// What stays free for everything else, in KiB.
const REST_KIB: u64 = 64 << 10;

impl Available {
    /// Whether this many KiB fit.
    pub(super) fn require(self, kib: u32) -> Result<(), Short> {
        let needed_kib = u64::from(kib) + REST_KIB;
        match self.kib {
            Some(available_kib) if available_kib < needed_kib => Err(Short {
                needed_kib,
                available_kib,
            }),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Short {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (needed, available) = (self.needed_kib >> 10, self.available_kib >> 10);
        write!(
            out,
            "it needs {needed} MiB of memory and {available} MiB are available"
        )
    }
}

/// Asks the system.
pub(super) fn available() -> Available {
    let read = |path: &Path| std::fs::read_to_string(path).ok();
    let system = read(Path::new("/proc/meminfo")).and_then(|text| field(&text, "MemAvailable:"));
    let own = read(Path::new("/proc/self/cgroup"));
    let groups = own.as_deref().and_then(group_path).unwrap_or_default();
    // A limit of a group above holds as well. Inside of a container the path may name a folder that only
    // the outside sees; the root is looked at in any case.
    let root = Path::new("/sys/fs/cgroup");
    let folder = root.join(groups.trim_start_matches('/'));
    let limits = folder
        .ancestors()
        .take_while(|folder| folder.starts_with(root))
        .filter_map(|folder| {
            let file = |name: &str| read(&folder.join(name));
            left_of_group(
                &file("memory.max")?,
                &file("memory.current")?,
                &file("memory.stat")?,
            )
        });
    Available {
        kib: limits.chain(system).min(),
    }
}

/// The number after a label, at the beginning of a line.
fn field(text: &str, label: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(label))?;
    line.split_whitespace().next()?.parse().ok()
}

/// The folder of the process in the one hierarchy of version 2.
fn group_path(text: &str) -> Option<&str> {
    let path = text.lines().find_map(|line| line.strip_prefix("0::"))?;
    let leaves = path.split('/').any(|part| part == "..");
    (!leaves).then_some(path)
}

/// Limit less use in KiB, where cached files count as free because the system gives them back first. None
/// without a limit.
fn left_of_group(limit: &str, used: &str, stat: &str) -> Option<u64> {
    let limit: u64 = limit.trim().parse().ok()?;
    let used: u64 = used.trim().parse().ok()?;
    let cached = field(stat, "inactive_file ").unwrap_or(0);
    Some(limit.saturating_sub(used.saturating_sub(cached)) >> 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMINFO: &str =
        "MemTotal:       24683604 kB\nMemFree:  1 kB\nMemAvailable:   300000 kB\n";

    #[test]
    fn what_does_not_fit_is_refused_with_both_figures() {
        let kib = field(MEMINFO, "MemAvailable:");
        assert_eq!(kib, Some(300_000));
        let available = Available { kib };
        assert_eq!(available.require(300_000 - (64 << 10)), Ok(()));
        let short = available.require(256 << 10).unwrap_err();
        assert_eq!(
            short.to_string(),
            "it needs 320 MiB of memory and 292 MiB are available"
        );
        assert!(available.require(u32::MAX).is_err());
    }

    #[test]
    fn nothing_is_refused_where_nothing_is_known() {
        assert_eq!(Available { kib: None }.require(u32::MAX), Ok(()));
        for text in [
            "",
            "MemAvailable:",
            "MemAvailable: many kB",
            "XMemAvailable: 7 kB",
        ] {
            assert_eq!(field(text, "MemAvailable:"), None, "{text}");
        }
    }

    #[test]
    fn a_group_leaves_its_limit_less_what_is_used_and_not_cache() {
        let stat = "anon 1\ninactive_file 2048\nactive_file 9\n";
        assert_eq!(left_of_group("8192\n", "4096\n", stat), Some(6));
        assert_eq!(left_of_group("8192\n", "4096\n", ""), Some(4));
        assert_eq!(left_of_group("1024\n", "4096\n", ""), Some(0));
        assert_eq!(left_of_group("max\n", "4096\n", stat), None);
        assert_eq!(left_of_group("", "", ""), None);
    }

    #[test]
    fn the_path_of_a_group_stays_below_the_root() {
        assert_eq!(group_path("1:cpu:/a\n0::/user/b\n"), Some("/user/b"));
        assert_eq!(group_path("0::/../../etc\n"), None);
        assert_eq!(group_path("1:memory:/a\n"), None);
    }
}
