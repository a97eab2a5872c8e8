//! Records on their way to the writer: words in a ring of fixed size, laid out before the first call is forwarded.
//!
//! A caller reserves as many words as its record has, fills them, and publishes the record by its first word, the
//! header, which is never zero. Nobody waits: a record for which there is no room is refused. The one reader takes
//! records in the order in which they were reserved, and leaves zeros behind, so that a word is only ever taken
//! for a header that was published. A caller that has reserved and not yet published holds up those behind it in
//! the ring, not their calls.

use std::slice::Iter;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::boundary;

/// A ring of words. Many threads push; one reads.
pub(crate) struct Ring {
    words: Box<[AtomicU64]>,
    callers: Callers,
    reader: Reader,
}

/// On a line of the cache of its own, so that callers and the reader do not take it from each other.
#[repr(align(128))]
struct Callers {
    /// Words reserved since the beginning.
    head: AtomicU64,
    /// How far words may be reserved, as far as a caller has last seen: the reader's line is left alone until then.
    limit: AtomicU64,
}

/// As above.
#[repr(align(128))]
struct Reader {
    /// Words read since the beginning.
    tail: AtomicU64,
}

/// A record has at most so many words.
pub(crate) const MOST_WORDS: usize = 1024;
/// Words of a record of a usual call; a ring for so many records has so many times their words.
const USUAL_WORDS: usize = 16;
/// In the header: how many words the record has, itself among them.
const COUNT_SHIFT: u32 = 48;

/// The words of a record that was reserved, behind its header.
#[must_use]
pub(crate) struct Slots<'a> {
    header: Option<&'a AtomicU64>,
    run: Iter<'a, AtomicU64>,
    /// What lies past the end of the ring, at its beginning.
    around: Iter<'a, AtomicU64>,
}

/// There was no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// A header that says how long its record is; `rest` has 48 bits of its owner's.
#[inline]
pub(crate) const fn header(count: u64, rest: u64) -> u64 {
    (count << COUNT_SHIFT) | (rest & ((1 << COUNT_SHIFT) - 1))
}

impl Ring {
    /// Room for about so many records, and for the longest in any case.
    pub(crate) fn new(records: usize) -> Self {
        let wanted = records.saturating_mul(USUAL_WORDS).max(2 * MOST_WORDS);
        let words = wanted.checked_next_power_of_two().unwrap_or(2 * MOST_WORDS);
        Self {
            words: (0..words).map(|_| AtomicU64::new(0)).collect(),
            callers: Callers {
                head: AtomicU64::new(0),
                limit: AtomicU64::new(words as u64),
            },
            reader: Reader {
                tail: AtomicU64::new(0),
            },
        }
    }

    /// Where in the ring a word is. The length is a power of two, and fits.
    #[inline]
    fn index(&self, place: u64) -> usize {
        let mask = self.words.len() as u64 - 1;
        usize::try_from(place & mask).unwrap_or_default()
    }

    /// Reserves a record of `count` words; all but the header are put in next, in their order, and then it is
    /// published.
    #[inline(always)]
    pub(crate) fn begin(&self, count: u64) -> Result<Slots<'_>, Full> {
        let start = self.reserve(count)?;
        let next = self.index(start + count);
        // The reader has left the words of the next record in the cache of its own processor.
        boundary::soon_written(self.words.get(next..next + USUAL_WORDS).unwrap_or_default());
        Ok(self.slots(start, count))
    }

    #[inline(always)]
    fn slots(&self, start: u64, count: u64) -> Slots<'_> {
        let from = self.index(start);
        let count = usize::try_from(count).unwrap_or_default();
        let (run, around) = match self.words.get(from..from + count) {
            Some(run) => (run, &[][..]),
            None => self.across(from, count),
        };
        let mut run = run.iter();
        Slots {
            header: run.next(),
            run,
            around: around.iter(),
        }
    }

    #[cold]
    fn across(&self, from: usize, count: usize) -> (&[AtomicU64], &[AtomicU64]) {
        let run = self.words.get(from..).unwrap_or_default();
        let around = self.words.get(..count.saturating_sub(run.len()));
        (run, around.unwrap_or_default())
    }

    #[inline(always)]
    fn reserve(&self, count: u64) -> Result<u64, Full> {
        let callers = &self.callers;
        let mut head = callers.head.load(Ordering::Relaxed);
        loop {
            if head + count > callers.limit.load(Ordering::Acquire) {
                self.look(head + count)?;
            }
            match callers.head.compare_exchange_weak(
                head,
                head + count,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(start) => return Ok(start),
                Err(now) => head = now,
            }
        }
    }

    /// Sees how far the reader has come. What another caller has seen in the meantime may be more; the next look
    /// finds it again.
    #[cold]
    fn look(&self, wanted: u64) -> Result<(), Full> {
        let tail = self.reader.tail.load(Ordering::Acquire);
        let limit = tail + self.words.len() as u64;
        self.callers.limit.store(limit, Ordering::Release);
        if wanted > limit { Err(Full) } else { Ok(()) }
    }

    /// Takes the next record into `out`, if one is published. One thread at a time calls this.
    pub(crate) fn pop(&self, out: &mut Vec<u64>) -> bool {
        let tail = self.reader.tail.load(Ordering::Relaxed);
        let at = |place: u64| self.words.get(self.index(place));
        let Some(header) = at(tail).map(|word| word.load(Ordering::Acquire)) else {
            return false;
        };
        if header == 0 {
            return false;
        }
        let end = tail + (header >> COUNT_SHIFT);
        out.clear();
        for place in tail..end {
            if let Some(word) = at(place) {
                out.push(word.load(Ordering::Relaxed));
                word.store(0, Ordering::Relaxed);
            }
        }
        // What was read may be written again from here on.
        self.reader.tail.store(end, Ordering::Release);
        true
    }
}

impl Slots<'_> {
    /// The next word. More than were announced would be another record's, and are left out.
    #[inline(always)]
    pub(crate) fn put(&mut self, word: u64) {
        if let Some(slot) = self.run.next().or_else(|| self.around.next()) {
            slot.store(word, Ordering::Relaxed);
        }
    }

    /// Lets the reader have it.
    #[inline(always)]
    pub(crate) fn publish(self, header: u64) {
        if let Some(first) = self.header {
            first.store(header, Ordering::Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn push(ring: &Ring, words: &[u64]) -> Result<(), Full> {
        let count = words.len() as u64 + 1;
        let mut slots = ring.begin(count)?;
        words.iter().for_each(|word| slots.put(*word));
        slots.publish(header(count, 7));
        Ok(())
    }

    fn pop(ring: &Ring) -> Option<Vec<u64>> {
        let mut out = Vec::new();
        ring.pop(&mut out).then(|| out.split_off(1))
    }

    #[test]
    fn what_goes_in_comes_out_in_its_order_across_the_end_of_the_ring() {
        let ring = Ring::new(1);
        for round in 0..2000_u64 {
            let long: Vec<u64> = (0..round % 700).collect();
            assert_eq!(push(&ring, &long), Ok(()));
            assert_eq!(push(&ring, &[0, round]), Ok(()));
            assert_eq!(pop(&ring), Some(long));
            assert_eq!(pop(&ring), Some(vec![0, round]));
            assert_eq!(pop(&ring), None);
        }
    }

    #[test]
    fn a_full_ring_refuses_and_has_room_again_for_what_was_read() {
        let ring = Ring::new(1);
        let record = [1; 255];
        let mut taken = 0;
        while push(&ring, &record).is_ok() {
            taken += 1;
        }
        assert_eq!(taken, ring.words.len() / 256);
        assert_eq!(push(&ring, &[]), Err(Full));
        assert_eq!(pop(&ring), Some(record.to_vec()));
        assert_eq!(push(&ring, &record), Ok(()));
        assert_eq!(push(&ring, &record), Err(Full));
    }

    #[test]
    fn a_record_that_is_longer_than_it_says_spoils_no_other() {
        let ring = Ring::new(1);
        let Ok(mut slots) = ring.begin(2) else {
            panic!("no room")
        };
        (0..9).for_each(|word| slots.put(word));
        slots.publish(header(2, 0));
        assert_eq!(push(&ring, &[5]), Ok(()));
        assert_eq!(pop(&ring), Some(vec![0]));
        assert_eq!(pop(&ring), Some(vec![5]));
    }

    #[test]
    fn of_many_threads_every_record_comes_out_once_whole_and_in_its_threads_order() {
        const THREADS: u64 = 4;
        const EACH: u64 = 20_000;
        let ring = Ring::new(64);
        let mut seen: BTreeMap<u64, u64> = BTreeMap::new();
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let ring = &ring;
                scope.spawn(move || {
                    for number in 0..EACH {
                        let body = vec![thread << 32 | number; 1 + (number % 13) as usize];
                        while push(ring, &body).is_err() {
                            std::thread::yield_now();
                        }
                    }
                });
            }
            let mut left = THREADS * EACH;
            while left > 0 {
                let Some(body) = pop(&ring) else {
                    std::thread::yield_now();
                    continue;
                };
                let (thread, number) = (body[0] >> 32, body[0] & 0xffff_ffff);
                assert!(body.iter().all(|word| *word == body[0]));
                assert_eq!(body.len() as u64, 1 + number % 13);
                assert_eq!(
                    seen.insert(thread, number).map_or(0, |last| last + 1),
                    number
                );
                left -= 1;
            }
        });
        assert_eq!(pop(&ring), None);
    }
}
