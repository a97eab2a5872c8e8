//! What comes of the items of a request, at once or later.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use keywright_custody::{HolderError, Reply, ReplyItem};
use keywright_types::Code;

use crate::metrics::Spent;
use crate::plan::{Noted, Refused};
use crate::recorded::Recorded;

/// What came of the items of a request. It is locked up, waited for and let out before it is read, so it is a word that
/// moves and not two hundred bytes.
#[derive(Debug)]
pub struct Done(Box<Results>);

#[derive(Debug)]
struct Results {
    reply: Reply,
    kept: Kept,
    spent: Spent,
}

/// What does not go to the holder, and is needed when it is done.
#[derive(Debug)]
pub(super) struct Kept {
    /// Items that are refused whatever the holder says.
    pub(super) refused: Refused,
    /// What is counted besides.
    pub(super) noted: Noted,
}

/// What the answer is made of, or why there is none.
#[inline]
pub(super) fn outcome(
    reply: Result<Reply, HolderError>,
    kept: Kept,
    spent: Spent,
) -> Result<Done, Code> {
    let done = reply.map(|reply| Done::new(reply, kept, spent));
    done.map_err(HolderError::code)
}

impl Done {
    pub(super) fn new(reply: Reply, kept: Kept, spent: Spent) -> Self {
        Self(Box::new(Results { reply, kept, spent }))
    }

    /// The results in order.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = ReplyItem<'_>> {
        let Results { reply, kept, .. } = &*self.0;
        reply.iter().enumerate().map(|(index, mut item)| {
            item.code = kept.refused.code(index, item.code);
            if item.code != Code::Ok {
                item.payload = &[];
            }
            item
        })
    }

    /// Bytes of all payloads.
    #[must_use]
    pub const fn byte_len(&self) -> usize {
        self.0.reply.byte_len()
    }

    /// Where the time went.
    #[must_use]
    pub const fn spent(&self) -> Spent {
        self.0.spent
    }

    pub(super) const fn kept(&self) -> &Kept {
        &self.0.kept
    }
}

/// A request on its way. Holders in this process are done before this is returned; only those that wait for a device cost
/// a second look, and an allocation for the wait.
#[must_use = "a request that nobody waits for is recorded as interrupted"]
pub struct Performed<'a>(Progress<'a>);

enum Progress<'a> {
    Ready(Option<Answered>),
    Waiting(Pin<Box<dyn Future<Output = Answered> + 'a>>),
}

/// The results of the items, or why there are none.
pub(super) type Answered = Recorded<Result<Done, Code>>;

impl<'a> Performed<'a> {
    pub(super) const fn ready(recorded: Answered) -> Self {
        Self(Progress::Ready(Some(recorded)))
    }

    pub(super) fn waiting(work: impl Future<Output = Answered> + 'a) -> Self {
        Self(Progress::Waiting(Box::pin(work)))
    }
}

impl Future for Performed<'_> {
    type Output = Answered;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            // Polled again after it was ready, against the rules of futures: it never wakes again.
            Progress::Ready(recorded) => recorded.take().map_or(Poll::Pending, Poll::Ready),
            Progress::Waiting(work) => work.as_mut().poll(context),
        }
    }
}

impl fmt::Debug for Performed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Performed")
    }
}
