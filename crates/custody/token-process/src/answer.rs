//! What the child answers, as bytes. They are foreign: the module in the child may have written them.
//!
//! ```text
//! answer   status u8 | what follows by status
//! 0 done   by order: items, lp(bytes) for a generated key and the root's work, nothing
//! 1 failed number of the error u8 | custody u8
//! 2 untold nothing: a version's number is not known
//! items    count u32 | count x (code u16 | lp(payload))
//! ```

use keywright_custody::{HolderError, Reply};
use keywright_encoding::Reader;
use keywright_types::{Code, Custody};

use crate::frame::Buffer;

/// An answer, as the service reads it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer<'a> {
    Done(&'a [u8]),
    Failed(HolderError),
    Untold,
}

pub(crate) fn read(bytes: &[u8]) -> Option<Answer<'_>> {
    let mut reader = Reader::new(bytes);
    match reader.u8().ok()? {
        DONE => Some(Answer::Done(reader.rest())),
        FAILED => {
            let (number, custody) = (reader.u8().ok()?, reader.u8().ok()?);
            let error = error_of(number, custody)?;
            reader.is_empty().then_some(Answer::Failed(error))
        }
        UNTOLD => reader.is_empty().then_some(Answer::Untold),
        _ => None,
    }
}

/// The results of so many items.
pub(crate) fn items(done: &[u8], count: usize) -> Option<Results<'_>> {
    let mut reader = Reader::new(done);
    (reader.u32().ok()? as usize == count).then_some(Results {
        reader,
        left: count,
    })
}

/// Results in order. [`Results::end`] says whether they were whole.
pub(crate) struct Results<'a> {
    reader: Reader<'a>,
    left: usize,
}

impl<'a> Results<'a> {
    pub(crate) fn next(&mut self) -> Option<(Code, &'a [u8])> {
        self.left = self.left.checked_sub(1)?;
        let code = Code::from_number(self.reader.u16().ok()?).ok()?;
        let payload = self.reader.lp().ok()?;
        // What failed shows nothing.
        (code == Code::Ok || payload.is_empty()).then_some((code, payload))
    }

    pub(crate) fn end(self) -> Option<()> {
        (self.left == 0 && self.reader.is_empty()).then_some(())
    }
}

/// The one byte string of an answer.
pub(crate) fn bytes(done: &[u8]) -> Option<&[u8]> {
    let mut reader = Reader::new(done);
    let bytes = reader.lp().ok()?;
    reader.is_empty().then_some(bytes)
}

pub(crate) fn put_done(out: &mut Buffer) {
    out.put_u8(DONE);
}

pub(crate) fn put_bytes(out: &mut Buffer, bytes: &[u8]) {
    out.put_u8(DONE);
    out.put_lp(bytes);
}

pub(crate) fn put_reply(out: &mut Buffer, reply: &Reply) {
    out.put_u8(DONE);
    out.put_u32(u32::try_from(reply.len()).unwrap_or(u32::MAX));
    for item in reply.iter() {
        out.put_u16(item.code.number());
        out.put_lp(item.payload);
    }
}

pub(crate) fn put_untold(out: &mut Buffer) {
    out.put_u8(UNTOLD);
}

pub(crate) fn put_failed(out: &mut Buffer, error: HolderError) {
    out.put_u8(FAILED);
    let (number, custody) = match error {
        HolderError::PermitMismatch => (1, 0),
        HolderError::Unsupported(custody) => (2, custody.number()),
        HolderError::SecretLength => (3, 0),
        HolderError::KeyRejected => (5, 0),
        HolderError::Full => (6, 0),
        HolderError::DeadlineExceeded => (7, 0),
        HolderError::SealLimit => (8, 0),
        HolderError::Store => (9, 0),
        HolderError::Leftover => (10, 0),
        HolderError::NoSuchKey => (11, 0),
        HolderError::ManyKeys => (12, 0),
        HolderError::UnfitKey => (13, 0),
        _ => (4, 0),
    };
    out.put_u8(number);
    out.put_u8(custody);
}

fn error_of(number: u8, custody: u8) -> Option<HolderError> {
    let error = match number {
        1 => HolderError::PermitMismatch,
        2 => {
            return Custody::from_number(custody)
                .ok()
                .map(HolderError::Unsupported);
        }
        3 => HolderError::SecretLength,
        4 => HolderError::Unavailable,
        5 => HolderError::KeyRejected,
        6 => HolderError::Full,
        7 => HolderError::DeadlineExceeded,
        8 => HolderError::SealLimit,
        9 => HolderError::Store,
        10 => HolderError::Leftover,
        11 => HolderError::NoSuchKey,
        12 => HolderError::ManyKeys,
        13 => HolderError::UnfitKey,
        _ => return None,
    };
    (custody == 0).then_some(error)
}

const DONE: u8 = 0;
const FAILED: u8 = 1;
const UNTOLD: u8 = 2;

/// Takes an answer apart in every way that there is: the body of a fuzz target.
pub fn fuzz_answer(data: &[u8]) {
    let Some(Answer::Done(done)) = read(data) else {
        return;
    };
    let _ = bytes(done);
    let count = done
        .first_chunk::<4>()
        .map_or(0, |count| u32::from_be_bytes(*count));
    if let Some(mut results) = items(done, count as usize) {
        while results.next().is_some() {}
        let _ = results.end();
    }
    let _ = crate::hello::read_opened(data);
}

#[cfg(test)]
mod tests {
    use keywright_types::KeyVersion;

    use super::*;

    fn frame(write: impl FnOnce(&mut Buffer)) -> Buffer {
        let mut out = Buffer::new();
        out.begin();
        write(&mut out);
        out
    }

    fn sample() -> Reply {
        let mut reply = Reply::default();
        reply.push(KeyVersion::FIRST, |out| {
            out.extend_from_slice(b"one");
            Ok([1; 16])
        });
        reply.push(KeyVersion::FIRST, |_| Err(Code::DecryptionFailed));
        reply
    }

    #[test]
    fn a_reply_comes_back_as_it_was() {
        let out = frame(|out| put_reply(out, &sample()));
        let Some(Answer::Done(done)) = read(out.body()) else {
            panic!("an answer");
        };
        let mut results = items(done, 2).unwrap();
        assert_eq!(results.next(), Some((Code::Ok, &b"one"[..])));
        assert_eq!(results.next(), Some((Code::DecryptionFailed, &b""[..])));
        assert_eq!(results.next(), None);
    }

    #[test]
    fn a_reply_that_is_cut_or_of_another_count_is_not_whole() {
        let out = frame(|out| put_reply(out, &sample()));
        let body = out.body();
        for count in [0, 1, 3, usize::MAX] {
            assert!(items(&body[1..], count).is_none());
        }
        for end in 1..body.len() {
            let whole = items(&body[1..end], 2).and_then(|mut results| {
                results.next()?;
                results.next()?;
                results.end()
            });
            assert_eq!(whole, None, "{end}");
        }
        for at in 0..body.len() {
            let mut changed = body.to_vec();
            changed[at] ^= 0x55;
            fuzz_answer(&changed);
        }
    }

    #[test]
    fn a_failed_item_with_a_payload_is_refused() {
        let code = Code::DecryptionFailed.number().to_be_bytes();
        let bytes = [&[0, 0, 0, 1][..], &code, &[0, 0, 0, 1, 9]].concat();
        assert_eq!(items(&bytes, 1).unwrap().next(), None);
    }

    #[test]
    fn every_error_comes_back_and_no_other_number_is_one() {
        let all = [
            HolderError::PermitMismatch,
            HolderError::Unsupported(Custody::Token),
            HolderError::SecretLength,
            HolderError::Unavailable,
            HolderError::KeyRejected,
            HolderError::Full,
            HolderError::DeadlineExceeded,
            HolderError::SealLimit,
            HolderError::Store,
            HolderError::Leftover,
            HolderError::NoSuchKey,
            HolderError::ManyKeys,
            HolderError::UnfitKey,
        ];
        for error in all {
            let out = frame(|out| put_failed(out, error));
            assert!(matches!(read(out.body()), Some(Answer::Failed(got)) if got == error));
        }
        for number in (0..=255_u8).filter(|number| !(1..=13).contains(number)) {
            assert!(read(&[FAILED, number, 0]).is_none());
        }
        assert!(read(&[FAILED, 4, 1]).is_none() && read(&[FAILED, 2, 99]).is_none());
        assert!(read(&[]).is_none() && read(&[9]).is_none() && read(&[UNTOLD, 0]).is_none());
    }
}
