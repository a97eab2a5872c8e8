//! Message keys of messages that have not come yet.
//!
//! One run of slots in the order in which they were stored, which is the order of (chain, number): what is
//! oldest stands in front, and what is looked for is found by halving. A key that was used leaves an empty
//! slot; empty slots are swept together when they outnumber a quarter of the kept ones, so that removing
//! costs a constant number of moves on average, in whatever order the messages come.

use keywright_clock::WallTime;

use crate::Limits;
use crate::key::Key;
use crate::limits::CHAIN_LEN;

/// Empty slots that are always tolerated.
const SLACK: usize = 32;

/// One stored key, or an empty slot.
pub(crate) struct Slot {
    pub(crate) key: Key,
    /// Seconds since 1970.
    pub(crate) stored_at: u64,
    pub(crate) chain: u32,
    pub(crate) number: u32,
    kept: bool,
}

impl Slot {
    /// A slot whose key is still to be filled in.
    pub(crate) const fn new(chain: u32, number: u32, stored_at: u64) -> Self {
        Self {
            key: Key::empty(),
            stored_at,
            chain,
            number,
            kept: true,
        }
    }

    fn copy_from(&mut self, other: &Self) {
        self.key.copy_from(&other.key);
        self.stored_at = other.stored_at;
        self.chain = other.chain;
        self.number = other.number;
        self.kept = other.kept;
    }
}

/// All stored keys of a session.
pub(crate) struct StoredKeys {
    slots: Vec<Slot>,
    /// Slots in front of this one are empty.
    front: usize,
    kept: usize,
    /// Slots that were copied since the session began, for a test of how cost grows.
    pub(crate) moves: u64,
}

impl StoredKeys {
    pub(crate) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            front: 0,
            kept: 0,
            moves: 0,
        }
    }

    pub(crate) const fn len(&self) -> usize {
        self.kept
    }

    /// The kept slots, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.slots[self.front..].iter().filter(|slot| slot.kept)
    }

    /// Where the key of this message is, if it is kept.
    pub(crate) fn find(&self, chain: u32, number: u32) -> Option<Place> {
        let order = |slot: &Slot| (slot.chain, slot.number).cmp(&(chain, number));
        let place = self.front + self.slots[self.front..].binary_search_by(order).ok()?;
        self.slots[place].kept.then_some(Place(place))
    }

    pub(crate) fn at(&self, place: Place) -> &Slot {
        &self.slots[place.0]
    }

    /// Makes room for `more`; nothing else here allocates.
    pub(crate) fn make_room(&mut self, more: usize) {
        if self.slots.capacity() - self.slots.len() >= more {
            return;
        }
        let needed = self.kept + more;
        // Growing in place would leave keys in the memory that is given back.
        let mut slots = Vec::with_capacity(needed + needed / 4 + SLACK);
        for old in self.slots[self.front..].iter().filter(|slot| slot.kept) {
            push_copy(&mut slots, old);
        }
        self.moves += count(slots.len());
        self.slots = slots;
        self.front = 0;
    }

    /// Moves all of `fresh` behind what is stored. There is room, and they are later in the order.
    pub(crate) fn append(&mut self, fresh: &[Slot]) {
        for slot in fresh {
            push_copy(&mut self.slots, slot);
        }
        self.kept += fresh.len();
        self.moves += count(fresh.len());
    }

    /// Wipes a key that was used and says which chain it was of.
    pub(crate) fn remove(&mut self, place: Place) -> u32 {
        let slot = &mut self.slots[place.0];
        slot.key.wipe();
        slot.kept = false;
        let chain = slot.chain;
        self.kept -= 1;
        self.tidy();
        chain
    }

    /// The oldest key.
    pub(crate) fn oldest(&self) -> Option<&Slot> {
        self.slots.get(self.front)
    }

    /// Wipes the oldest key and says which chain it was of.
    pub(crate) fn remove_oldest(&mut self) -> Option<u32> {
        self.oldest()?;
        Some(self.remove(Place(self.front)))
    }

    /// Wipes the oldest key if it is past its age.
    pub(crate) fn remove_expired(&mut self, limits: &Limits, now: WallTime) -> Option<u32> {
        let oldest = self.oldest()?;
        limits
            .is_expired(oldest.stored_at, now)
            .then(|| self.remove(Place(self.front)))
    }

    /// Keeps the front on a kept slot, and the empty ones few.
    fn tidy(&mut self) {
        while self.slots.get(self.front).is_some_and(|slot| !slot.kept) {
            self.front += 1;
        }
        if self.slots.len() - self.kept <= SLACK + self.kept / 4 {
            return;
        }
        let mut end = 0;
        for from in self.front..self.slots.len() {
            if self.slots[from].kept {
                if let Ok([to, from]) = self.slots.get_disjoint_mut([end, from]) {
                    to.copy_from(from);
                    self.moves += 1;
                }
                end += 1;
            }
        }
        self.slots.truncate(end);
        self.front = 0;
    }
}

/// Where a stored key is, until the next change.
#[derive(Clone, Copy)]
pub(crate) struct Place(usize);

/// Fills the new slot where it stays.
fn push_copy(slots: &mut Vec<Slot>, from: &Slot) {
    slots.push(Slot::new(0, CHAIN_LEN, 0));
    if let Some(slot) = slots.last_mut() {
        slot.copy_from(from);
    }
}

fn count(slots: usize) -> u64 {
    u64::try_from(slots).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(numbers: std::ops::Range<u32>) -> StoredKeys {
        let mut stored = StoredKeys::new();
        let fresh: Vec<_> = numbers.map(|number| Slot::new(1, number, 9)).collect();
        stored.make_room(fresh.len());
        stored.append(&fresh);
        stored
    }

    #[test]
    fn what_is_removed_in_any_order_is_gone_and_the_rest_stays_in_order() {
        for stride in [1, 3, 7, 11, 999] {
            let mut stored = filled(0..1000);
            for i in 0..1000 {
                let number = i * stride % 1000;
                let place = stored.find(1, number).unwrap();
                assert_eq!(stored.at(place).number, number);
                assert_eq!(stored.remove(place), 1);
                assert!(stored.find(1, number).is_none());
                assert_eq!(stored.iter().count(), stored.len());
                assert!(stored.iter().is_sorted_by_key(|slot| slot.number));
            }
            assert_eq!(stored.len(), 0);
            assert!(stored.remove_oldest().is_none());
        }
    }

    #[test]
    fn empty_slots_stay_few() {
        let mut stored = filled(0..2048);
        for round in 0..10_000 {
            let number = 2048 + round;
            stored.make_room(1);
            stored.append(&[Slot::new(1, number, 9)]);
            stored.remove_oldest().unwrap();
            assert_eq!(stored.len(), 2048);
            assert!(
                stored.slots.capacity() <= 2700,
                "{}",
                stored.slots.capacity()
            );
        }
    }

    #[test]
    fn an_absent_chain_or_number_is_not_found() {
        let stored = filled(5..10);
        for (chain, number) in [(0, 5), (1, 4), (1, 10), (2, 5)] {
            assert!(stored.find(chain, number).is_none());
        }
    }
}
