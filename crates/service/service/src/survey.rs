//! How old keys are and what states they are in, without a name.
//!
//! Taken now and then by whoever keeps the node, because it looks at every key; who asks for the metrics gets the
//! last one.

use std::time::Duration;

use keywright_clock::{MonotonicTime, WallTime};
use keywright_custody::{Key, Version};
use keywright_types::State;

use crate::Snapshot;

/// What was found, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Survey {
    counts: [u64; State::ALL.len()],
    /// Contexts without an active version in which one is left that could open.
    pub(crate) without_active: u64,
    /// Contexts that their schedule should have rotated a day ago.
    pub(crate) overdue: u64,
    /// When the oldest active version became active.
    pub(crate) oldest: Option<WallTime>,
    epoch: u64,
    taken: MonotonicTime,
}

impl Survey {
    pub(crate) fn of(snapshot: &Snapshot, now: (WallTime, MonotonicTime)) -> Self {
        let mut survey = Self {
            counts: [0; State::ALL.len()],
            without_active: 0,
            overdue: 0,
            oldest: None,
            epoch: snapshot.epoch,
            taken: now.1,
        };
        for key in snapshot.keyring.iter() {
            survey.add(key, now.0);
        }
        survey
    }

    /// Whether it still says how keys are.
    pub(crate) fn holds(&self, snapshot: &Snapshot, now: MonotonicTime) -> bool {
        self.epoch == snapshot.epoch && now.since(self.taken) < EVERY
    }

    pub(crate) fn states(&self) -> impl Iterator<Item = (State, u64)> + '_ {
        State::ALL.iter().copied().zip(self.counts)
    }

    fn add(&mut self, key: &Key, now: WallTime) {
        for version in key.versions() {
            let place = State::ALL.iter().position(|one| *one == version.state());
            if let Some(count) = place.and_then(|place| self.counts.get_mut(place)) {
                *count += 1;
            }
        }
        let Some(active) = key.active() else {
            let mut left = key.versions().iter().map(Version::state);
            let gone = |state| matches!(state, State::DestroyScheduled | State::Destroyed);
            self.without_active += u64::from(left.any(|state| !gone(state)));
            return;
        };
        let Some(activated) = active.activated() else {
            return;
        };
        self.oldest = Some(
            self.oldest
                .map_or(activated, |oldest| oldest.min(activated)),
        );
        let after = key.rules().rotate_after();
        let late = after.is_some_and(|after| activated.plus(after).plus(GRACE) <= now);
        self.overdue += u64::from(late);
    }
}

/// How long a survey holds while nothing changes: keys grow old by themselves.
const EVERY: Duration = Duration::from_secs(60);
/// The node looks once a minute for what is due; a day later something is wrong.
const GRACE: Duration = Duration::from_secs(86_400);
