//! The holders of a node: the keystore, and the token beside it.

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use keywright_clock::Clock;
use keywright_custody::budget::{Budget, SealLimits, Spent};
use keywright_custody::{ByCustody, KeyHolder};
use keywright_keystore::{Keystore, Root};
use keywright_password::Limits;
use keywright_store::Store;

use crate::token::Opened;
use crate::{Config, HomeError, RootPlace, files};

/// The keystore under the root that the configuration names.
pub(crate) fn open_keystore(
    config: &Config,
    token: Option<&Opened>,
    clock: &Clock,
) -> Result<Arc<Keystore>, HomeError> {
    let root = files::read(&config.keystore.root)?;
    open_keystore_under(&root, config, token, clock)
}

/// The keystore under a root that may be in no file yet.
pub(crate) fn open_keystore_under(
    root: &[u8],
    config: &Config,
    token: Option<&Opened>,
    clock: &Clock,
) -> Result<Arc<Keystore>, HomeError> {
    let section = &config.keystore;
    let slots = section.unwrapped_keys;
    if let (RootPlace::Token, Some(token)) = (section.root_key, token) {
        let keystore = Keystore::with_root(token.root(root)?, slots, clock.clone())?;
        return Ok(Arc::new(keystore));
    }
    let password = section.password_file.as_deref();
    let password = files::read_password(password.unwrap_or_else(|| Path::new("")))?;
    let root = Root::from_sealed(root, &password, &Limits::standard())?;
    Ok(Arc::new(Keystore::new(&root, slots, clock.clone())?))
}

/// One holder of the keystore and, where there is one, the token, whose seals are counted.
pub(crate) fn join_holders(
    keystore: Arc<Keystore>,
    token: Option<Opened>,
    (store, limits, spent): (Store, SealLimits, Sender<Spent>),
    clock: &Clock,
) -> Arc<dyn KeyHolder> {
    let Some(token) = token else {
        return keystore;
    };
    // Nobody listens any more only where the node has ended.
    let tell = move |one| {
        let _ = spent.send(one);
    };
    let budget = Budget::new(store, limits, Box::new(tell));
    Arc::new(ByCustody::new(keystore, token.holder(budget, clock)))
}
