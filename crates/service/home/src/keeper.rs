//! What a node does by itself, every few seconds: counters go into the store, the clock is looked at, keys that are
//! old enough are rotated, and those whose day has come are destroyed (design 7.17).

use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::{HomeError, Node};

/// What a look at the home came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Kept {
    /// Keys that were rotated because they were old enough.
    pub rotated: usize,
    /// Versions that were destroyed because their day had come.
    pub destroyed: usize,
    /// Orders of these two kinds that failed; each is in the audit log with its reason, and is given again.
    pub failed: usize,
}

impl Node {
    /// Looks after the home once; a running node does so by itself.
    ///
    /// # Errors
    /// [`HomeError::Admin`] if the store cannot be written: nothing is destroyed then.
    pub fn keep(&self) -> Result<Kept, HomeError> {
        let admin = self.admin();
        admin.save_uses()?;
        admin.watch_clock()?;
        let (rotated, destroyed) = (admin.rotate_due(), admin.destroy_due());
        let failed = rotated.iter().filter(|(_, done)| done.is_err()).count()
            + destroyed.iter().filter(|(_, done)| done.is_err()).count();
        Ok(Kept {
            rotated: rotated.iter().filter(|(_, done)| done.is_ok()).count(),
            destroyed: destroyed.iter().filter(|(_, done)| done.is_ok()).count(),
            failed,
        })
    }
}

/// Looks after `node` until it is gone.
pub(crate) fn start(node: &Arc<Node>) -> Result<(), HomeError> {
    let node = Arc::downgrade(node);
    std::thread::Builder::new()
        .name("keeper".to_owned())
        .spawn(move || look_after(&node))
        .map(drop)
        .map_err(HomeError::Thread)
}

fn look_after(node: &Weak<Node>) {
    let mut rounds = 0_u32;
    loop {
        std::thread::sleep(OFTEN);
        let Some(node) = node.upgrade() else {
            return;
        };
        rounds = rounds.wrapping_add(1);
        // What fails is tried again; an order that fails has its record, and a store that fails shows in health.
        if rounds.is_multiple_of(ROUNDS) {
            drop(node.keep());
        } else {
            drop(node.admin().save_uses());
        }
    }
}

/// How often counters go into the store.
const OFTEN: Duration = Duration::from_secs(5);
/// After so many of these times days are looked at.
const ROUNDS: u32 = 12;
