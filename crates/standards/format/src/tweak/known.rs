//! Tweaks that were derived before, by the parts that are a value's own: a column has few different kept parts,
//! and HMAC costs many times FF1.
//!
//! Where nothing but what a value keeps is its own, a key's columns leave them to the next one, so that a service
//! derives each once and not with every request. They tell nothing that tokens do not: what is kept stands in
//! each. All that are left by all keys take up to [`BUDGET`]; what is beyond is derived again.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use keywright_secret::wipe;

use super::DERIVED;

/// Tweaks by what they were derived from. One place for each hash; what is too long for it is derived each time.
///
/// It starts with few places and has more as they fill, so that a call for one value makes and wipes next to
/// nothing; and only while messages come again, so that a column in which none does pays for few.
#[derive(Default)]
pub(super) struct Known {
    entries: Vec<Entry>,
    /// Messages that came since it has so many places, or was full last.
    kept: usize,
    /// Those that were found since.
    found: usize,
}

/// Without its content, which is of values.
impl fmt::Debug for Known {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Known")
            .field("places", &self.entries.len())
            .finish_non_exhaustive()
    }
}

#[derive(Clone)]
struct Entry {
    length: u8,
    message: [u8; Self::ROOM],
    tweak: [u8; DERIVED],
}

impl Entry {
    const EMPTY: Self = Self {
        length: 0,
        message: [0; Self::ROOM],
        tweak: [0; DERIVED],
    };
    /// More than the kept parts of a card take, and most domains.
    const ROOM: usize = 39;

    fn message(&self) -> &[u8] {
        self.message
            .get(..usize::from(self.length))
            .unwrap_or_default()
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if self.length > 0 {
            wipe(&mut self.message);
            wipe(&mut self.tweak);
        }
    }
}

impl Known {
    /// Powers of two, as is the quotient.
    const FEWEST: usize = 8;
    const GROWTH: usize = 8;
    /// Enough for most of the last four digits that there are.
    const MOST: usize = 16_384;
    /// From so many places on there are more only if one message in [`Self::USEFUL`] was found.
    const DOUBTFUL: usize = 64;
    const USEFUL: usize = 64;

    /// The place of a message among so many, a power of two up to [`Self::MOST`].
    fn place(message: &[u8], places: usize) -> usize {
        // Multiply and rotate, eight bytes at a time: it spreads, nobody relies on more.
        let (words, rest) = message.as_chunks::<8>();
        let mix = |hash: u64, word: u64| {
            (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        };
        let hash = words
            .iter()
            .fold(1, |hash, word| mix(hash, u64::from_le_bytes(*word)));
        let hash = rest
            .iter()
            .fold(hash, |hash, byte| mix(hash, (*byte).into()));
        usize::try_from(hash >> 50).unwrap_or_default() & places.saturating_sub(1)
    }

    #[inline]
    pub(super) fn find(&mut self, message: &[u8]) -> Option<[u8; DERIVED]> {
        let entry = self.entries.get(Self::place(message, self.entries.len()))?;
        let found = (entry.message() == message).then_some(entry.tweak);
        self.found += usize::from(found.is_some());
        found
    }

    pub(super) fn keep(&mut self, message: &[u8], tweak: [u8; DERIVED]) {
        if message.len() > Entry::ROOM || message.is_empty() {
            return;
        }
        let places = self.entries.len();
        if self.kept >= places && places < Self::MOST {
            if places < Self::DOUBTFUL || self.found * Self::USEFUL >= self.kept {
                self.grow((places * Self::GROWTH).clamp(Self::FEWEST, Self::MOST));
            }
            (self.kept, self.found) = (0, 0);
        }
        self.kept += 1;
        self.put(message, tweak);
    }

    fn put(&mut self, message: &[u8], tweak: [u8; DERIVED]) {
        let place = Self::place(message, self.entries.len());
        if let Some(entry) = self.entries.get_mut(place) {
            entry.length = u8::try_from(message.len()).unwrap_or_default();
            entry.tweak = tweak;
            for (to, from) in entry.message.iter_mut().zip(message) {
                *to = *from;
            }
        }
    }

    fn grow(&mut self, places: usize) {
        let before = std::mem::replace(&mut self.entries, vec![Entry::EMPTY; places]);
        for entry in before.iter().filter(|entry| entry.length > 0) {
            self.put(entry.message(), entry.tweak);
        }
    }
}

/// The memory that all keys together leave to their next columns.
static BUDGET: Budget = Budget::new(64 << 20);

/// Bytes of which parts are given out, and come back.
struct Budget {
    bytes: usize,
    taken: AtomicUsize,
}

impl Budget {
    const fn new(bytes: usize) -> Self {
        let taken = AtomicUsize::new(0);
        Self { bytes, taken }
    }

    fn share(&'static self, bytes: usize) -> Option<Share> {
        let more = |taken: usize| Some(taken + bytes).filter(|taken| *taken <= self.bytes);
        let given = self.taken.fetch_update(Relaxed, Relaxed, more);
        given.is_ok().then(|| Share { of: self, bytes })
    }
}

/// A part of a budget, given back when dropped.
struct Share {
    of: &'static Budget,
    bytes: usize,
}

impl Drop for Share {
    fn drop(&mut self) {
        self.of.taken.fetch_sub(self.bytes, Relaxed);
    }
}

/// What the columns of a key leave to the next one.
pub(super) struct Shared {
    left: Mutex<Option<Left>>,
    budget: &'static Budget,
}

impl Default for Shared {
    fn default() -> Self {
        Self::within(&BUDGET)
    }
}

struct Left {
    /// What all messages have in common: another column's tweaks are others.
    same: Vec<u8>,
    known: Known,
    _share: Share,
}

impl Shared {
    fn within(budget: &'static Budget) -> Self {
        let left = Mutex::default();
        Self { left, budget }
    }

    /// What was left for such a column; nothing while another one has it.
    pub(super) fn take(&self, same: &[u8]) -> Known {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.take_if(|left| left.same == same)
            .map(|left| left.known)
            .unwrap_or_default()
    }

    /// Of two that come back the one with more places stays.
    pub(super) fn leave(&self, same: Vec<u8>, known: Known) {
        let places = known.entries.len();
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        let beaten = |left: &Left| left.same != same || left.known.entries.len() < places;
        if places == 0 || !left.as_ref().is_none_or(beaten) {
            return;
        }
        // First what stood there gives its share back.
        *left = None;
        let share = self.budget.share(places * size_of::<Entry>());
        *left = share.map(|share| Left {
            same,
            known,
            _share: share,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(number: u32) -> Vec<u8> {
        format!("message {number}").into_bytes()
    }

    fn tweak(number: u32) -> [u8; DERIVED] {
        u64::from(number).to_be_bytes()
    }

    #[test]
    fn what_is_found_is_what_was_kept_while_the_cache_grows() {
        let mut cache = Known::default();
        assert_eq!(cache.find(&message(0)), None);
        for number in 0..20_000 {
            cache.keep(&message(number), tweak(number));
            assert_eq!(cache.find(&message(number)), Some(tweak(number)));
            for before in [0, number / 2] {
                let found = cache.find(&message(before));
                assert!(found.is_none_or(|found| found == tweak(before)), "{before}");
            }
        }
        assert_eq!(cache.entries.len(), Known::MOST);
    }

    #[test]
    fn a_cache_in_which_nothing_is_found_stays_small() {
        let mut cache = Known::default();
        for number in 0..20_000 {
            assert_eq!(cache.find(&message(number)), None);
            cache.keep(&message(number), tweak(number));
        }
        assert_eq!(cache.entries.len(), Known::DOUBTFUL);
        // Once messages come again, it grows.
        let mut draw = 1_u32;
        for _ in 0..20_000 {
            draw = draw.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let number = (draw >> 8) % 5_000;
            if cache.find(&message(number)).is_none() {
                cache.keep(&message(number), tweak(number));
            }
        }
        assert_eq!(cache.entries.len(), Known::MOST);
    }

    #[test]
    fn one_value_has_few_places_and_no_use_of_long_or_empty_messages() {
        let mut cache = Known::default();
        cache.keep(&[], tweak(1));
        cache.keep(&[7; Entry::ROOM + 1], tweak(1));
        assert!(cache.entries.is_empty());
        cache.keep(&message(1), tweak(1));
        assert_eq!(cache.entries.len(), Known::FEWEST);
        let told = format!("{cache:?}");
        assert_eq!(told, "Known { places: 8, .. }");
    }

    fn known(numbers: std::ops::Range<u32>) -> Known {
        let mut known = Known::default();
        numbers.for_each(|number| known.keep(&message(number), tweak(number)));
        known
    }

    #[test]
    fn what_a_column_leaves_is_there_for_the_next_of_its_kind_alone() {
        let shared = Shared::default();
        assert_eq!(shared.take(b"a").find(&message(1)), None);
        shared.leave(b"a".to_vec(), known(0..8));
        // Another column has other tweaks for the same parts.
        assert_eq!(shared.take(b"b").find(&message(7)), None);
        let mut taken = shared.take(b"a");
        assert_eq!(taken.find(&message(7)), Some(tweak(7)));
        // While one has it, the next one begins anew; the richer of them stays.
        assert_eq!(shared.take(b"a").find(&message(7)), None);
        shared.leave(b"a".to_vec(), known(100..170));
        shared.leave(b"a".to_vec(), taken);
        assert_eq!(shared.take(b"a").find(&message(169)), Some(tweak(169)));
        shared.leave(b"a".to_vec(), known(0..8));
        shared.leave(b"a".to_vec(), Known::default());
        assert_eq!(shared.take(b"a").find(&message(7)), Some(tweak(7)));
        // The last column to end has its way.
        shared.leave(b"a".to_vec(), known(0..100));
        shared.leave(b"b".to_vec(), known(0..8));
        assert_eq!(shared.take(b"a").find(&message(7)), None);
        assert_eq!(shared.take(b"b").find(&message(7)), Some(tweak(7)));
    }

    #[test]
    fn what_is_left_has_a_share_of_the_budget_and_none_is_left_beyond_it() {
        static FEW: Budget = Budget::new(1_000);
        let shared = Shared::within(&FEW);
        shared.leave(b"a".to_vec(), known(0..8));
        let taken = FEW.taken.load(Relaxed);
        assert_eq!(taken, Known::FEWEST * size_of::<Entry>());
        assert!(FEW.share(1_001 - taken).is_none());
        let rest = FEW.share(1_000 - taken).unwrap();
        // What stood there makes room for its successor, but for no larger one.
        shared.leave(b"b".to_vec(), known(0..8));
        assert_eq!(shared.take(b"b").find(&message(7)), Some(tweak(7)));
        shared.leave(b"a".to_vec(), known(0..9));
        assert_eq!(shared.take(b"a").find(&message(7)), None);
        drop(rest);
        assert_eq!(FEW.taken.load(Relaxed), 0);
        assert!(FEW.share(1_000).is_some());
    }
}
