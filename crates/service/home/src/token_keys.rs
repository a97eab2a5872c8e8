//! Whether the token still has the keys that are to lie in it, looked at in turn.
//!
//! A key can be destroyed, replaced or loosened with the token's own tools while the node serves. Its operations are
//! refused then (design 7.21); that somebody hears of it is the affair of this look.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use keywright_custody::{HolderError, KeyMaterial, Version};
use keywright_service::{Shared, TokenKeys};
use keywright_types::{Custody, State, VersionLabel};

/// What was found so far.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    /// The last one that was looked at.
    last: Option<VersionLabel>,
    unfit: BTreeSet<VersionLabel>,
    all: u64,
}

/// What one look changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Changes {
    /// The token has another key now, none, or one that may do more than it was made for.
    pub(crate) unfit: Vec<VersionLabel>,
    /// It has the right one again.
    pub(crate) fit: Vec<VersionLabel>,
}

impl Rounds {
    /// Looks at all of them.
    pub(crate) fn look_at_all(&mut self, shared: &Shared) -> Changes {
        self.look(shared, Duration::MAX)
    }

    /// Looks at the next ones for [`PATIENCE`]. A token that is gone says nothing about any key.
    pub(crate) fn look_at_some(&mut self, shared: &Shared) -> Changes {
        self.look(shared, PATIENCE)
    }

    /// How many there are, and how many of them are unfit.
    pub(crate) fn counts(&self) -> TokenKeys {
        TokenKeys {
            all: self.all,
            unfit: u64::try_from(self.unfit.len()).unwrap_or(u64::MAX),
        }
    }

    /// Those that are unfit.
    pub(crate) fn unfit(&self) -> Vec<VersionLabel> {
        self.unfit.iter().copied().collect()
    }

    fn look(&mut self, shared: &Shared, patience: Duration) -> Changes {
        let materials = materials(shared);
        self.all = u64::try_from(materials.len()).unwrap_or(u64::MAX);
        let known: BTreeSet<_> = materials.iter().map(|material| label(material)).collect();
        self.unfit.retain(|label| known.contains(label));
        let next = self.next(&materials);
        let (earlier, later) = materials.split_at(next);
        let mut changes = Changes::default();
        let clock = shared.clock();
        let began = clock.monotonic();
        for material in later.iter().chain(earlier) {
            // Also where nothing can be told of it: the next one then is what the next look begins with, because two keys
            // that are gone can stand for each other as a token that is gone.
            self.last = Some(label(material));
            match shared.holder().check_key(material) {
                Ok(()) => changes.fit.extend(self.is_fit(label(material))),
                Err(HolderError::KeyRejected) => {
                    changes.unfit.extend(self.is_unfit(label(material)));
                }
                Err(_) => break,
            }
            if clock.monotonic().since(began) > patience {
                break;
            }
        }
        changes
    }

    /// The place of the first one after the last that was looked at.
    fn next(&self, materials: &[Arc<KeyMaterial>]) -> usize {
        let Some(last) = self.last else {
            return 0;
        };
        let next = materials.partition_point(|material| label(material) <= last);
        if next == materials.len() { 0 } else { next }
    }

    fn is_fit(&mut self, label: VersionLabel) -> Option<VersionLabel> {
        self.unfit.remove(&label).then_some(label)
    }

    fn is_unfit(&mut self, label: VersionLabel) -> Option<VersionLabel> {
        self.unfit.insert(label).then_some(label)
    }
}

/// What is to lie in the token, in the order of labels.
fn materials(shared: &Shared) -> Vec<Arc<KeyMaterial>> {
    let snapshot = shared.snapshot();
    let versions = snapshot.keyring.iter().flat_map(|key| key.versions());
    // What is about to be destroyed serves nobody, and is gone from the token before its row says so.
    let there =
        |version: &&Version| !matches!(version.state(), State::DestroyScheduled | State::Destroyed);
    let materials = versions.filter(there).map(Version::material);
    let mut materials: Vec<_> = materials
        .filter(|material| material.spec().custody == Custody::Token)
        .map(Arc::clone)
        .collect();
    materials.sort_unstable_by_key(|material| label(material));
    materials
}

fn label(material: &KeyMaterial) -> VersionLabel {
    VersionLabel {
        key: material.key(),
        version: material.version(),
    }
}

/// How long one look may take beside the work of the token. Keys that do not fit into it come next time.
const PATIENCE: Duration = Duration::from_millis(200);
