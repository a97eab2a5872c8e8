//! How what is written falls into records of TLS.
//!
//! TLS copies what it seals to a place of its own, five bytes behind the start of a page where the record is a large
//! one; large answers begin at the start of a page as well. Between places that are so alike processors of AMD's third
//! and fourth generation copy far more slowly than elsewhere, under a C library before glibc 2.40 (sourceware bug
//! 30994). So the head of a frame and the first bytes behind it get a record of their own: a frame of the usual size
//! takes two records anyway, and the large one begins elsewhere in its page then.

use std::io::{self, IoSlice, Write};

/// Bytes of the largest record (RFC 8446 section 5.1).
const RECORD: usize = 1 << 14;
/// Bytes of a frame's payload that go with its head.
const APART: usize = 64;
const PAGE: usize = 1 << 12;
/// Copies go slowly to a place that is fewer bytes than this behind the one they come from, counted within a page.
const ALIKE: usize = 32;
/// Where the content of a record begins in its place.
const CONTENT: usize = 5;

/// Writes parts of which the last may be a large one; how many bytes were taken.
pub(super) fn write(tls: &mut impl Write, parts: &[IoSlice<'_>]) -> io::Result<usize> {
    let [head, payload] = parts else {
        return tls.write_vectored(parts);
    };
    let divided = payload.split_at_checked(apart(payload.as_ptr().addr()));
    let divided = divided.filter(|_| head.len() + payload.len() > RECORD);
    // A long head may stand before a short payload.
    let Some((first, rest)) = divided.filter(|(_, rest)| !rest.is_empty()) else {
        return tls.write_vectored(parts);
    };
    let taken = tls.write_vectored(&[IoSlice::new(head), IoSlice::new(first)])?;
    match taken == head.len() + first.len() {
        true => Ok(taken + tls.write(rest)?),
        false => Ok(taken),
    }
}

/// How many bytes of a payload at this address go with the head, so that what is left is not alike to a place of TLS.
const fn apart(address: usize) -> usize {
    let rest = (address + APART) % PAGE;
    let ahead = (PAGE + CONTENT - rest) % PAGE;
    if ahead < ALIKE { 2 * APART } else { APART }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes so many bytes altogether, and notes what each record would hold.
    struct Records(Vec<Vec<u8>>, usize);

    impl Write for Records {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.write_vectored(&[IoSlice::new(bytes)])
        }

        fn write_vectored(&mut self, parts: &[IoSlice<'_>]) -> io::Result<usize> {
            let mut bytes: Vec<u8> = parts.iter().flat_map(|part| part.to_vec()).collect();
            bytes.truncate(self.1);
            self.1 -= bytes.len();
            self.0.extend(bytes.chunks(RECORD).map(<[u8]>::to_vec));
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn written(head: usize, payload: usize, room: usize) -> (usize, Vec<usize>) {
        let (head, payload) = (vec![1; head], vec![2; payload]);
        let mut records = Records(Vec::new(), room);
        let parts = [IoSlice::new(&head), IoSlice::new(&payload)];
        let taken = write(&mut records, &parts).unwrap();
        let whole = [head, payload].concat();
        assert_eq!(records.0.concat(), whole[..taken]);
        (taken, records.0.iter().map(Vec::len).collect())
    }

    #[test]
    fn a_large_frame_takes_no_more_records_than_before() {
        let (taken, lengths) = written(9, RECORD, 1 << 20);
        assert_eq!((taken, lengths.len()), (RECORD + 9, 2));
        assert!(lengths[0] < 9 + 3 * APART && lengths[1] < RECORD);
        let (_, lengths) = written(9, 10 * RECORD, 1 << 20);
        assert_eq!(lengths.len(), 11);
    }

    #[test]
    fn small_frames_stay_whole_and_a_full_buffer_takes_a_beginning() {
        assert_eq!(written(9, 100, 1 << 20), (109, vec![109]));
        assert_eq!(written(9, RECORD - 9, 1 << 20), (RECORD, vec![RECORD]));
        for room in 0..300 {
            assert_eq!(written(9, RECORD, room).0, room);
        }
        let mut records = Records(Vec::new(), 1 << 20);
        let single = [7; 3 * RECORD];
        assert_eq!(
            write(&mut records, &[IoSlice::new(&single)]).unwrap(),
            3 * RECORD
        );
        assert_eq!(write(&mut records, &[]).unwrap(), 0);
    }

    #[test]
    fn a_payload_may_be_shorter_than_what_goes_with_the_head() {
        for payload in (0..=3 * APART).chain([RECORD]) {
            let (taken, _) = written(RECORD, payload, 1 << 20);
            assert_eq!(taken, RECORD + payload);
        }
    }

    #[test]
    fn no_rest_is_alike_to_the_place_it_is_copied_to() {
        for address in 0..3 * PAGE {
            let rest = (address + apart(address)) % PAGE;
            let ahead = (PAGE + CONTENT - rest) % PAGE;
            assert!(ahead >= ALIKE, "{address}");
        }
    }
}
