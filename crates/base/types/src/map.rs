//! Maps on the way of every request, keyed by our own ids and names.
//!
//! Keys of these maps are made here: ids are random, names are given by administrators. What a stranger
//! can choose is which key to look for, and that cannot make a map slow. So the hash need not resist
//! anybody, and the standard one, which must, would be the dearest part of a lookup.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::Name;

/// A map keyed by ids of 16 random bytes.
pub type IdMap<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;
/// A map keyed by names.
pub type NameMap<V> = HashMap<Name, V, BuildHasherDefault<NameHasher>>;

/// Takes the first eight bytes as they are: they are random. A version's number behind the id of its key is spread over
/// both ends of the hash.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        if let Some(first) = bytes.first_chunk() {
            self.0 = u64::from_le_bytes(*first);
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.0 ^= u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write_usize(&mut self, _: usize) {
        // The length of an id says nothing.
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Multiplies eight bytes at a time, and folds both halves of the product together.
#[derive(Clone, Copy, Debug, Default)]
pub struct NameHasher(u64);

impl Hasher for NameHasher {
    fn write(&mut self, bytes: &[u8]) {
        // The last word overlaps the one before, so that no piece is of a length known only at run time.
        for word in bytes.as_chunks::<8>().0 {
            self.0 = mix(self.0 ^ u64::from_le_bytes(*word));
        }
        let last = bytes.last_chunk().map_or_else(
            || {
                bytes
                    .iter()
                    .fold(0, |word, byte| word << 8 | u64::from(*byte))
            },
            |word| u64::from_le_bytes(*word),
        );
        self.0 = mix(self.0 ^ last ^ bytes.len() as u64);
    }

    fn write_u8(&mut self, byte: u8) {
        self.0 = mix(self.0 ^ u64::from(byte));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

fn mix(word: u64) -> u64 {
    let product = u128::from(word ^ 0x9E37_79B9_7F4A_7C15) * 0xD6E8_FEB8_6659_FD93_u128;
    let [low, high] = [product, product >> 64].map(|half| {
        let bytes = half.to_le_bytes();
        let mut first = [0; 8];
        first.copy_from_slice(&bytes[..8]);
        u64::from_le_bytes(first)
    });
    low ^ high
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::{BuildHasher, BuildHasherDefault};

    use super::*;
    use crate::{KeyId, KeyVersion};

    #[test]
    fn what_goes_in_is_found_and_nothing_else() {
        let (mut ids, mut names) = (IdMap::default(), NameMap::default());
        for number in 0..1000_u32 {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&number.wrapping_mul(0x9E37_79B9).to_le_bytes());
            ids.insert(KeyId::from_bytes(bytes), number);
            names.insert(format!("key-{number}").parse::<Name>().unwrap(), number);
        }
        assert_eq!((ids.len(), names.len()), (1000, 1000));
        assert_eq!(names.get("key-999"), Some(&999));
        assert_eq!(names.get("key-1000"), None);
        assert_eq!(ids.get(&KeyId::from_bytes([0xFF; 16])), None);
    }

    #[test]
    fn versions_of_one_key_spread_over_both_ends_of_the_hash() {
        let hasher = BuildHasherDefault::<IdHasher>::default();
        let key = KeyId::from_bytes([7; 16]);
        let versions = (1..=4096).map(KeyVersion::from_number);
        let hashes: Vec<u64> = versions.map(|one| hasher.hash_one((key, one))).collect();
        let low: HashSet<_> = hashes.iter().map(|hash| hash % 4096).collect();
        let high: HashSet<_> = hashes.iter().map(|hash| hash >> 57).collect();
        assert_eq!((low.len(), high.len()), (4096, 128));
    }

    #[test]
    fn names_that_differ_a_little_spread_over_both_ends_of_the_hash() {
        let hasher = BuildHasherDefault::<NameHasher>::default();
        let hashes: Vec<u64> = (0..4096)
            .map(|n| hasher.hash_one(format!("k{n}")))
            .collect();
        let low: HashSet<_> = hashes.iter().map(|hash| hash % 4096).collect();
        let high: HashSet<_> = hashes.iter().map(|hash| hash >> 52).collect();
        // 4,096 random values fall into about 2,589 of 4,096 places.
        assert!(
            low.len() > 2400 && high.len() > 2400,
            "{} {}",
            low.len(),
            high.len()
        );
    }
}
