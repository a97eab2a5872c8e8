//! Rotation by the node itself: versions that have sealed as often as they should (design 7.19).

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Weak};
use std::time::Duration;

use keywright_custody::budget::Spent;
use keywright_service::AdminError;

use crate::{HomeError, Node};

/// Rotates for `node` until it is gone. A rotation that fails is tried again: between the limit at which it is
/// due and the one at which sealing ends lie a thousand million seals, or as many uses as the owner has said. Each try
/// is in the audit log.
pub(crate) fn start(node: &Arc<Node>, due: Receiver<Spent>) -> Result<(), HomeError> {
    let node = Arc::downgrade(node);
    std::thread::Builder::new()
        .name("rotation".to_owned())
        .spawn(move || rotate(&node, &due))
        .map(drop)
        .map_err(HomeError::Thread)
}

fn rotate(node: &Weak<Node>, due: &Receiver<Spent>) {
    let mut waiting: Vec<Spent> = Vec::new();
    loop {
        // With nothing to try again, this waits for the next one alone.
        let next = if waiting.is_empty() {
            due.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            due.recv_timeout(RETRY_AFTER)
        };
        match next {
            Ok(spent) if !waiting.contains(&spent) => waiting.push(spent),
            Ok(_) | Err(RecvTimeoutError::Timeout) => (),
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let Some(node) = node.upgrade() else {
            return;
        };
        waiting.retain(|spent| {
            let done = node.admin().rotate_spent(*spent);
            // A context that is gone needs nothing any more.
            !matches!(done, Ok(_) | Err(AdminError::ContextUnknown))
        });
    }
}

const RETRY_AFTER: Duration = Duration::from_secs(5);
