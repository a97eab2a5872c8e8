//! How often versions are used: counted by each server thread for itself, gathered once a second, put into the
//! store every few seconds by whoever keeps the node.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use keywright_clock::WallTime;
use keywright_custody::tally::{Counted, Tally};
use keywright_types::map::IdMap;
use keywright_types::{Code, KeyId, KeyVersion};

use crate::plan::{Noted, UseOfKey};
use crate::worker::Outcome;

/// What one server thread has counted since it last handed over.
#[derive(Debug, Default)]
pub(crate) struct Tallies(IdMap<KeyId, Vec<(KeyVersion, Tally)>>);

impl Tallies {
    /// Counts the items of one request.
    pub(crate) fn count(
        &mut self,
        (key, used, now): (KeyId, Option<UseOfKey>, WallTime),
        items: impl Iterator<Item = Outcome>,
        noted: &Noted,
    ) {
        let now_ms = now.unix_millis();
        for version in &noted.closed {
            let tally = self.of(key, *version);
            tally.refused += 1;
            tally.last_refused_ms = tally.last_refused_ms.max(now_ms);
        }
        let Some(used) = used else { return };
        let mut sources = noted.sources.iter();
        let mut run = (KeyVersion::NONE, 0_u64);
        for (version, code, _) in items {
            let source = sources.next().copied();
            if code != Code::Ok {
                continue;
            }
            if let Some(source) = source {
                let tally = self.of(key, source);
                tally.rewrapped += 1;
                tally.last_use_ms = tally.last_use_ms.max(now_ms);
            }
            // Nearly all items of a request are of one version.
            if run.0 != version {
                self.add((key, used, now_ms), run);
                run = (version, 0);
            }
            run.1 += 1;
        }
        self.add((key, used, now_ms), run);
    }

    fn add(
        &mut self,
        (key, used, now_ms): (KeyId, UseOfKey, u64),
        (version, count): (KeyVersion, u64),
    ) {
        if count == 0 {
            return;
        }
        let tally = self.of(key, version);
        tally.last_use_ms = tally.last_use_ms.max(now_ms);
        match used {
            UseOfKey::Open => {
                tally.opens += count;
                tally.last_open_ms = tally.last_open_ms.max(now_ms);
            }
            UseOfKey::Move | UseOfKey::Seal => tally.seals += count,
        }
    }

    fn of(&mut self, key: KeyId, version: KeyVersion) -> &mut Tally {
        let versions = self.0.entry(key).or_default();
        let place = match versions.iter().position(|(number, _)| *number == version) {
            Some(place) => place,
            None => {
                versions.push((version, Tally::default()));
                versions.len() - 1
            }
        };
        &mut versions[place].1
    }
}

/// The counters of all versions.
#[derive(Debug, Default)]
pub struct Uses {
    book: Mutex<Book>,
    /// Held while the store is written: two who write at once would find each other's revisions.
    pub(crate) saving: Mutex<()>,
}

#[derive(Debug, Default)]
struct Book {
    totals: HashMap<Counted, Tally>,
    /// Those that the store does not have yet.
    fresh: BTreeSet<Counted>,
}

impl Uses {
    /// Begins with what the store has.
    pub(crate) fn remember(&self, totals: HashMap<Counted, Tally>) {
        self.lock().totals = totals;
    }

    /// Adds what a thread has counted.
    pub(crate) fn gather(&self, tallies: &mut Tallies) {
        if tallies.0.is_empty() {
            return;
        }
        let mut book = self.lock();
        for (key, versions) in std::mem::take(&mut tallies.0) {
            for (version, tally) in versions {
                book.totals.entry((key, version)).or_default().add(&tally);
                book.fresh.insert((key, version));
            }
        }
    }

    /// What was counted of a version, up to about a second ago.
    #[must_use]
    pub fn of(&self, key: KeyId, version: KeyVersion) -> Tally {
        let book = self.lock();
        book.totals
            .get(&(key, version))
            .copied()
            .unwrap_or_default()
    }

    /// What the store does not have yet.
    pub(crate) fn take_fresh(&self) -> Vec<(Counted, Tally)> {
        let mut book = self.lock();
        let fresh = std::mem::take(&mut book.fresh);
        let total = |one: Counted| (one, book.totals.get(&one).copied().unwrap_or_default());
        fresh.into_iter().map(total).collect()
    }

    /// Takes back what could not be put into the store.
    pub(crate) fn keep_fresh(&self, kept: Vec<(Counted, Tally)>) {
        self.lock()
            .fresh
            .extend(kept.into_iter().map(|(one, _)| one));
    }

    fn lock(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
