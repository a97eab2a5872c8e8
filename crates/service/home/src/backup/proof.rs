//! What the root says of a backup, before anything of it is written: its service keys, and its rows under their MACs.

use std::path::Path;
use std::sync::Arc;

use keywright_clock::Clock;
use keywright_keystore::Keystore;
use keywright_store::Proven;

use super::place::Plan;
use super::{Backup, BackupError, Restoration};
use crate::holders::open_keystore_under;
use crate::node::Meta;
use crate::token::Opened;
use crate::{MemoryPlan, RootPlace};

/// A backup that is of the root that was given.
pub(super) struct Proof {
    pub(super) keystore: Arc<Keystore>,
    pub(super) meta: Meta,
    pub(super) rows: Proven,
}

impl Proof {
    /// Opens the root with the operator's secrets, which are read where they are, and checks signer and rows.
    pub(super) fn new(
        backup: &Backup,
        plan: &Plan,
        (home, order): (&Path, &Restoration<'_>),
        clock: &Clock,
    ) -> Result<Self, BackupError> {
        let config = plan.before_home(home, order);
        let (image, root) = (&backup.content.image, &backup.content.files.root);
        let open_token = || Opened::open(&config, clock, MemoryPlan::LeaveAlone);
        // A token without the root gets its PIN when the rows are proven.
        let token = match config.keystore.root_key {
            RootPlace::Token => open_token()?,
            RootPlace::File => None,
        };
        let keystore = open_keystore_under(root, &config, token.as_ref(), clock)?;
        let meta = Meta::read(image, &keystore)?;
        let head = backup.content.head.head();
        let own = head.installation == meta.installation && head.node == meta.node;
        if meta.signer.verifying_key() != backup.signer.key || !own {
            return Err(BackupError::Signer);
        }
        // The proof takes the row key; the order that follows needs the other ones.
        let row_key = Meta::read(image, &keystore)?.row_key;
        let rows = image.clone().prove(row_key).map_err(BackupError::Rows)?;
        if token.is_none() {
            drop(open_token()?);
        }
        Ok(Self {
            keystore,
            meta,
            rows,
        })
    }
}
