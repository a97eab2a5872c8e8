//! Many items in one buffer: what goes to a holder, and what comes back.
//!
//! A batch of ten thousand items is two allocations, not twenty thousand, a single item is one, and both
//! travel to another process as they are. Both buffers may hold plaintext, so both are wiped.

use std::fmt;

use keywright_envelope::Envelope;
use keywright_secret::{wipe, wipe_vec};
use keywright_types::{Code, KeyVersion};
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

/// The items of one request: a payload and associated data for each.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Items {
    bytes: Vec<u8>,
    spans: SmallVec<[Span; 1]>,
    /// How many of the last bytes of each item's associated data are its derivation context; empty where no item
    /// has one.
    #[serde(default)]
    contexts: Vec<u32>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Span {
    payload_end: u32,
    aad_end: u32,
    version: u16,
}

/// One item of a request.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Item<'a> {
    /// What is sealed or opened.
    pub payload: &'a [u8],
    /// The caller's associated data; empty if there is none.
    pub aad: &'a [u8],
    /// The derivation context, field 2 of an envelope's associated data; empty if there is none.
    pub context: &'a [u8],
    /// Which of the request's versions the item is for.
    pub version: usize,
}

impl Items {
    /// Room for `items` items of `bytes` bytes together.
    #[must_use]
    pub fn with_capacity(items: usize, bytes: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(bytes),
            spans: SmallVec::with_capacity(items),
            contexts: Vec::new(),
        }
    }

    /// Gives the item that was added last a derivation context.
    ///
    /// # Errors
    /// [`TooMuch`] beyond 4 GiB in all; then the item has none.
    pub fn add_context(&mut self, context: &[u8]) -> Result<(), TooMuch> {
        let length = u32::try_from(context.len()).map_err(|_| TooMuch)?;
        let count = self.spans.len();
        let Some(last) = self.spans.last_mut().filter(|_| length > 0) else {
            return Ok(());
        };
        last.aad_end = last.aad_end.checked_add(length).ok_or(TooMuch)?;
        self.bytes.extend_from_slice(context);
        self.contexts.resize(count, 0);
        if let Some(known) = self.contexts.last_mut() {
            *known += length;
        }
        Ok(())
    }

    /// Adds an item. `fill` appends the payload to the buffer and says where it ends; then the
    /// associated data follows.
    ///
    /// # Errors
    /// Whatever `payload` or `aad` return, and then nothing is added.
    pub fn push<E: From<TooMuch>>(
        &mut self,
        version: u16,
        payload: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
        aad: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let start = self.bytes.len();
        let span = self.append(version, payload, aad);
        match span {
            Ok(span) => {
                self.spans.push(span);
                Ok(())
            }
            Err(error) => {
                wipe(&mut self.bytes[start..]);
                self.bytes.truncate(start);
                Err(error)
            }
        }
    }

    fn append<E: From<TooMuch>>(
        &mut self,
        version: u16,
        payload: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
        aad: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<Span, E> {
        payload(&mut self.bytes)?;
        let payload_end = u32::try_from(self.bytes.len()).map_err(|_| TooMuch)?;
        aad(&mut self.bytes)?;
        let aad_end = u32::try_from(self.bytes.len()).map_err(|_| TooMuch)?;
        Ok(Span {
            payload_end,
            aad_end,
            version,
        })
    }

    /// Adds an item from slices.
    ///
    /// # Errors
    /// [`TooMuch`] beyond 4 GiB in all.
    pub fn push_slices(&mut self, version: u16, payload: &[u8], aad: &[u8]) -> Result<(), TooMuch> {
        let append = |bytes: &[u8], out: &mut Vec<u8>| {
            out.extend_from_slice(bytes);
            Ok(())
        };
        self.push(version, |out| append(payload, out), |out| append(aad, out))
    }

    /// Says which version each item is for; `choose` sees the items in order.
    pub fn assign(&mut self, mut choose: impl FnMut(Item<'_>) -> u16) {
        for index in 0..self.spans.len() {
            if let Some(item) = self.item(index) {
                self.spans[index].version = choose(item);
            }
        }
    }

    /// Number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Bytes of all payloads and associated data.
    #[must_use]
    pub const fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// The item at `index`.
    #[must_use]
    pub fn item(&self, index: usize) -> Option<Item<'_>> {
        let start = index
            .checked_sub(1)
            .map_or(0, |before| self.spans[before].aad_end);
        self.cut(index, start, *self.spans.get(index)?)
    }

    fn cut(&self, index: usize, start: u32, span: Span) -> Option<Item<'_>> {
        let start = start as usize;
        // Spans that came from another process are checked here rather than trusted.
        let payload = self.bytes.get(start..span.payload_end as usize)?;
        let aad = self
            .bytes
            .get(span.payload_end as usize..span.aad_end as usize)?;
        let context = self
            .contexts
            .get(index)
            .map_or(0, |length| *length as usize);
        let (aad, context) = aad.split_at_checked(aad.len().checked_sub(context)?)?;
        Some(Item {
            payload,
            aad,
            context,
            version: usize::from(span.version),
        })
    }

    /// The items in order.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Item<'_>> {
        let mut start = 0;
        self.spans.iter().enumerate().map(move |(index, span)| {
            let before = std::mem::replace(&mut start, span.aad_end);
            self.cut(index, before, *span).unwrap_or(Item {
                payload: &[],
                aad: &[],
                context: &[],
                version: usize::MAX,
            })
        })
    }
}

impl Drop for Items {
    fn drop(&mut self) {
        wipe_vec(&mut self.bytes);
    }
}

impl fmt::Debug for Items {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Items({} of {} bytes)", self.len(), self.bytes.len())
    }
}

impl fmt::Debug for Item<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Item({} + {} bytes)", self.payload.len(), self.aad.len())
    }
}

/// More bytes than one request can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the items of a request are longer than 4 GiB")]
#[non_exhaustive]
pub struct TooMuch;

/// What a holder answers: one result per item, in order.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reply {
    bytes: Vec<u8>,
    results: SmallVec<[Outcome; 1]>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
struct Outcome {
    end: u32,
    code: Code,
    version: KeyVersion,
    message: [u8; 16],
}

/// The result of one item.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct ReplyItem<'a> {
    /// How it ended; anything but `Ok` has an empty payload.
    pub code: Code,
    /// Envelope, plaintext or data key, by the operation.
    pub payload: &'a [u8],
    /// The version that was used.
    pub version: KeyVersion,
    /// The message's id (design 7.31); zero where there is none.
    pub message: [u8; 16],
}

impl Reply {
    /// Room for `items` results of `bytes` bytes together.
    #[must_use]
    pub fn with_capacity(items: usize, bytes: usize) -> Self {
        Self {
            bytes: Vec::with_capacity(bytes),
            results: SmallVec::with_capacity(items),
        }
    }

    /// Adds a result. `work` appends the payload and names the message; what it appended is wiped
    /// if it fails. Room must have been asked for: growing would leave a copy behind.
    pub fn push(
        &mut self,
        version: KeyVersion,
        work: impl FnOnce(&mut Vec<u8>) -> Result<[u8; 16], Code>,
    ) {
        let start = self.bytes.len();
        let result = work(&mut self.bytes);
        let result = result.and_then(|message| {
            let end = u32::try_from(self.bytes.len()).map_err(|_| Code::Internal)?;
            Ok(Outcome {
                end,
                code: Code::Ok,
                version,
                message,
            })
        });
        let outcome = result.unwrap_or_else(|code| {
            wipe(&mut self.bytes[start..]);
            self.bytes.truncate(start);
            let end = u32::try_from(start).unwrap_or(u32::MAX);
            Outcome {
                end,
                code,
                version,
                message: [0; 16],
            }
        });
        self.results.push(outcome);
    }

    /// Adds the result of an item that does not open. The message it came with is named all the same
    /// if it can be read: who tried to open what is worth knowing (design 7.31).
    pub fn push_unopened(&mut self, version: KeyVersion, code: Code, envelope: &[u8]) {
        self.push(version, |_| Err(code));
        self.name_last(envelope);
    }

    /// Adds the result of opening `envelope`: as [`Reply::push`], and a failed one is named too.
    pub fn push_opened(
        &mut self,
        version: KeyVersion,
        envelope: &[u8],
        work: impl FnOnce(&mut Vec<u8>) -> Result<[u8; 16], Code>,
    ) {
        self.push(version, work);
        if self
            .results
            .last()
            .is_some_and(|last| last.code != Code::Ok)
        {
            self.name_last(envelope);
        }
    }

    fn name_last(&mut self, envelope: &[u8]) {
        if let (Some(last), Ok(envelope)) = (self.results.last_mut(), Envelope::parse(envelope)) {
            last.message = *envelope.message_id().as_bytes();
        }
    }

    /// Number of results.
    #[must_use]
    pub fn len(&self) -> usize {
        self.results.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// Bytes of all payloads.
    #[must_use]
    pub const fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    /// The results in order.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = ReplyItem<'_>> {
        let mut start = 0;
        self.results.iter().map(move |result| {
            let end = result.end as usize;
            let payload = self.bytes.get(start..end).unwrap_or_default();
            start = end;
            let Outcome {
                code,
                version,
                message,
                ..
            } = *result;
            ReplyItem {
                code,
                payload,
                version,
                message,
            }
        })
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        wipe_vec(&mut self.bytes);
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reply({} of {} bytes)", self.len(), self.bytes.len())
    }
}

impl fmt::Debug for ReplyItem<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReplyItem({}, {} bytes)", self.code, self.payload.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_come_back_as_they_went_in() {
        let mut items = Items::with_capacity(3, 16);
        items.push_slices(0, b"one", b"").unwrap();
        items.push_slices(1, b"", b"aad").unwrap();
        items.push_slices(0, b"three", b"x").unwrap();
        let seen: Vec<_> = items
            .iter()
            .map(|item| (item.payload, item.aad, item.version))
            .collect();
        let expected: [(&[u8], &[u8], usize); 3] =
            [(b"one", b"", 0), (b"", b"aad", 1), (b"three", b"x", 0)];
        assert_eq!(seen, expected);
    }

    #[test]
    fn contexts_stay_with_their_items() {
        let mut items = Items::default();
        items.add_context(b"of no item").unwrap();
        items.push_slices(0, b"one", b"aad").unwrap();
        items.push_slices(0, b"two", b"aad").unwrap();
        items.add_context(b"second").unwrap();
        items.push_slices(0, b"three", b"").unwrap();
        items.add_context(b"").unwrap();
        items.push_slices(0, b"four", b"").unwrap();
        items.add_context(b"fourth").unwrap();
        let seen: Vec<_> = items
            .iter()
            .map(|item| (item.payload, item.aad, item.context))
            .collect();
        let expected: [(&[u8], &[u8], &[u8]); 4] = [
            (b"one", b"aad", b""),
            (b"two", b"aad", b"second"),
            (b"three", b"", b""),
            (b"four", b"", b"fourth"),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn an_item_that_fails_half_way_leaves_no_trace() {
        let mut items = Items::default();
        items.push_slices(0, b"kept", b"").unwrap();
        let failed = items.push::<TooMuch>(
            0,
            |out| {
                out.extend_from_slice(b"half");
                Ok(())
            },
            |_| Err(TooMuch),
        );
        assert_eq!(failed, Err(TooMuch));
        assert_eq!((items.len(), items.byte_len()), (1, 4));
    }

    #[test]
    fn spans_from_elsewhere_cannot_reach_outside_the_buffer() {
        let json = r#"{"bytes":[1,2],"spans":[{"payload_end":9,"aad_end":9,"version":0}]}"#;
        let items: Items = serde_json::from_str(json).unwrap();
        assert!(items.item(0).is_none());
        assert!(
            items
                .iter()
                .all(|item| item.payload.is_empty() && item.version == usize::MAX)
        );
    }

    #[test]
    fn a_failed_result_shows_nothing_and_moves_nobody_elses_bytes() {
        let mut reply = Reply::default();
        reply.push(KeyVersion::FIRST, |out| {
            out.extend_from_slice(b"secret");
            Err(Code::DecryptionFailed)
        });
        reply.push(KeyVersion::FIRST, |out| {
            out.extend_from_slice(b"ok");
            Ok([1; 16])
        });
        let seen: Vec<_> = reply.iter().map(|item| (item.code, item.payload)).collect();
        let expected: [(Code, &[u8]); 2] = [(Code::DecryptionFailed, b""), (Code::Ok, b"ok")];
        assert_eq!(seen, expected);
    }
}
