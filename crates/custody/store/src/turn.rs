//! Those who open a file at once do so one after another.
//!
//! SQLite's exclusive mode takes the shared lock first, and keeps it while it waits for the exclusive one. Two
//! that have the shared lock wait for each other until both give up, and nobody has the file. Whoever comes in
//! turn finds the file free or taken for good.
//!
//! The turn orders, it does not guard: SQLite's own lock does. So a folder that cannot be locked, and a stranger
//! who locks it and stays, cost some time and nothing else.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::thread;
use std::time::Duration;

/// How often one looks whether it is one's turn.
const PAUSE: Duration = Duration::from_millis(5);
/// How often at most: two seconds, some times what those before in the line need to learn that the file is taken.
const LOOKS: u32 = 400;

/// Waits until nobody else opens a file of the folder that `path` is in, two seconds at most. The turn lasts until
/// what is answered is dropped: the folder, locked. A descriptor of the file itself would take SQLite's lock with it
/// as it is closed.
pub(crate) fn wait(path: &Path) -> Option<File> {
    let folder = match path.parent()? {
        here if here.as_os_str().is_empty() => Path::new("."),
        folder => folder,
    };
    let folder = File::open(folder).ok()?;
    for _ in 0..LOOKS {
        match folder.try_lock() {
            Ok(()) => return Some(folder),
            Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            Err(TryLockError::Error(_)) => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_and_the_next_when_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let first = wait(&path);
        assert!(first.is_some());
        let behind = thread::scope(|scope| {
            let next = scope.spawn(|| wait(&path));
            thread::sleep(Duration::from_millis(50));
            assert!(!next.is_finished());
            drop(first);
            next.join().unwrap()
        });
        assert!(behind.is_some());
    }

    #[test]
    fn a_folder_that_is_not_there_or_stays_locked_holds_nobody_up_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        assert!(wait(&folder.path().join("missing/store.db")).is_none());
        assert!(wait(Path::new("")).is_none());
        let stranger = File::open(folder.path()).unwrap();
        stranger.lock().unwrap();
        assert!(wait(&folder.path().join("store.db")).is_none());
    }
}
