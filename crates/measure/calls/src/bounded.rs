//! Maps that do not grow with the log.

use std::collections::HashMap;
use std::hash::Hash;

/// A map with room for so many keys; what comes later is counted.
#[derive(Debug)]
pub(crate) struct Bounded<K, V> {
    map: HashMap<K, V>,
    limit: usize,
    beyond: u64,
}

impl<K: Eq + Hash, V> Bounded<K, V> {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            map: HashMap::new(),
            limit,
            beyond: 0,
        }
    }

    /// The value of a key, made if there is room for it.
    pub(crate) fn entry(&mut self, key: K, make: impl FnOnce() -> V) -> Option<&mut V> {
        if self.map.len() >= self.limit && !self.map.contains_key(&key) {
            self.beyond += 1;
            return None;
        }
        Some(self.map.entry(key).or_insert_with(make))
    }

    /// Puts a value; false if there is no room.
    pub(crate) fn put(&mut self, key: K, value: V) -> bool {
        if self.map.len() >= self.limit && !self.map.contains_key(&key) {
            self.beyond += 1;
            return false;
        }
        self.map.insert(key, value);
        true
    }

    pub(crate) fn of(&mut self, key: &K) -> Option<&mut V> {
        self.map.get_mut(key)
    }

    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        self.map.remove(key)
    }

    /// Takes out what `fits`, and says how many.
    pub(crate) fn drain(&mut self, fits: impl Fn(&K, &V) -> bool) -> u64 {
        let before = self.map.len();
        self.map.retain(|key, value| !fits(key, value));
        (before - self.map.len()) as u64
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.map.iter()
    }

    pub(crate) fn len(&self) -> usize {
        self.map.len()
    }

    pub(crate) const fn limit(&self) -> usize {
        self.limit
    }

    /// How often something did not fit.
    pub(crate) const fn beyond(&self) -> u64 {
        self.beyond
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_counted_and_what_is_there_stays_within_reach() {
        let mut map = Bounded::new(2);
        for key in [1, 2, 3, 1, 4] {
            if let Some(count) = map.entry(key, || 0) {
                *count += 1;
            }
        }
        assert_eq!((map.len(), map.beyond()), (2, 2));
        assert_eq!(map.of(&1), Some(&mut 2));
        assert!(!map.put(9, 0) && map.put(2, 5));
        assert_eq!(map.remove(&2), Some(5));
        assert_eq!(map.drain(|key, _| *key == 1), 1);
        assert_eq!(map.len(), 0);
    }
}
