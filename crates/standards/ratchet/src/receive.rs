//! Receiving, in two phases.
//!
//! The first borrows the session and works on copies. Its result, [`Authentic`], is the only way into the
//! second.
//!
//! 1. Version and length are judged by sight.
//! 2. The header keys are tried: the current chain's, the next one's if this side has sent, those of at most
//!    five old chains. None fits: refused, after at most seven attempts and without a step of any chain.
//! 3. A number of an old chain, or below the current one's, has a stored key or is refused. One ahead walks a
//!    copy of the chain there. A new ratchet key makes a step of the root, after the check of the agreement for
//!    zeros, and walks the rest of the closed chain and the new one. A walk beyond the limit is refused before
//!    its first step.
//! 4. The body opens, or the copies and the output are wiped.
//! 5. The second phase moves keys into room that was made before, drops what is beyond the limits, and cannot
//!    fail.

use keywright_clock::WallTime;
use keywright_secret::wipe;

use crate::key::{Key, RootStep, step};
use crate::limits::CHAIN_LEN;
use crate::packet::{Bound, Header, IncarnationBytes, Packet, Parts};
use crate::session::{ReceivingChain, Sending, Session};
use crate::stored::{Place, Slot};
use crate::{Error, MAX_CONTEXT_LEN};

/// What came out of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Opened {
    /// Bytes of text, at the front of the output.
    pub length: usize,
    /// Whether the sender is still the one of the packet before.
    pub incarnation: Incarnation,
}

/// Whether the sender of a hedged session was loaded anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "it changed or it did not, and a caller must not overlook either"
)]
pub enum Incarnation {
    /// As before, or the first packet of a chain.
    Same,
    /// Inside of a chain another incarnation goes on: the sender loaded its state, or two copies of it are
    /// sending. If it happens again and again, it is the second.
    Changed,
}

/// What a packet cost, for tests of the bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Work {
    /// Header openings that were tried.
    pub header_opens: u32,
    /// Steps of chains, the packet's own one included.
    pub chain_steps: u32,
    /// Agreements.
    pub agreements: u32,
}

/// One packet against one session.
struct Attempt<'a> {
    session: &'a Session,
    parts: Parts<'a>,
    context: &'a [u8],
    now: WallTime,
}

/// What phase one works on. Filled in place, wiped on drop.
struct Draft {
    message: Key,
    chain: Key,
    skipped: Vec<Slot>,
    /// How many of the skipped ones are of the chain that a turn closes.
    skipped_before: usize,
}

/// How the state changes if the body opens.
enum Change {
    /// A stored key is used.
    Stored(Place),
    /// The current chain goes on.
    Ahead,
    /// The peer has turned the ratchet.
    Turn(Box<RootStep>, Box<ReceivingChain>),
}

/// A packet whose body opened; only [`Attempt::authenticate`] makes one.
struct Authentic {
    header: Header,
    change: Change,
}

/// The chain whose header key fits.
enum Fit<'a> {
    Current(&'a ReceivingChain),
    Next,
    Old(&'a ReceivingChain),
}

impl Session {
    /// Opens a packet into the front of `out`. Nothing changes unless the packet is authentic; on failure
    /// the part of `out` that the text would have taken is zeros.
    ///
    /// # Errors
    /// [`Error::Malformed`] by what everybody can see, [`Error::BufferTooSmall`] and [`Error::TooLong`]
    /// before anything is tried, [`Error::Rejected`] for everything else.
    pub fn open(
        &mut self,
        packet: &Packet<'_>,
        now: WallTime,
        out: &mut [u8],
    ) -> Result<Opened, Error> {
        self.open_counting(packet, now, out, &mut Work::default())
    }

    pub(crate) fn open_counting(
        &mut self,
        packet: &Packet<'_>,
        now: WallTime,
        out: &mut [u8],
        work: &mut Work,
    ) -> Result<Opened, Error> {
        self.require_standing()?;
        if packet.context.len() > MAX_CONTEXT_LEN {
            return Err(Error::TooLong);
        }
        let parts = Parts::parse(packet.bytes, self.mode)?;
        let length = parts.body.len();
        let text = out
            .get_mut(..length)
            .ok_or(Error::BufferTooSmall { needed: length })?;
        let attempt = Attempt {
            session: self,
            parts,
            context: packet.context,
            now,
        };
        let mut draft = Draft::empty();
        let authentic = attempt
            .authenticate(&mut draft, text, work)
            .inspect_err(|_| wipe(text))?;
        // Room for phase two, which must not fail.
        self.stored.make_room(draft.skipped.len());
        self.old.reserve(1);
        let incarnation = self.commit(authentic, &draft);
        self.expire(now);
        Ok(Opened {
            length,
            incarnation,
        })
    }

    /// Phase two.
    fn commit(&mut self, authentic: Authentic, draft: &Draft) -> Incarnation {
        let Authentic { header, change } = authentic;
        match change {
            Change::Stored(place) => {
                let order = self.stored.remove(place);
                self.forget_one(order);
                return Incarnation::Same;
            }
            Change::Ahead => {}
            Change::Turn(root, receiving) => {
                self.turn(&root, receiving, &header, draft.skipped_before);
            }
        }
        self.stored.append(&draft.skipped);
        let mut incarnation = Incarnation::Same;
        if let Some(current) = &mut self.receiving {
            let before = (current.number > 0).then_some(current.incarnation);
            incarnation = compare(before, header.incarnation);
            current.chain.copy_from(&draft.chain);
            current.number = header.number + 1;
            current.incarnation = header.incarnation;
            current.stored += draft.skipped.len() - draft.skipped_before;
        }
        self.keep_within_limits();
        incarnation
    }

    /// The receiving half of a step. The sending half waits for the next message.
    fn turn(
        &mut self,
        root: &RootStep,
        receiving: Box<ReceivingChain>,
        header: &Header,
        skipped_before: usize,
    ) {
        self.keys.root.copy_from(&root.root);
        self.keys.next_receiving.copy_from(&root.next_header);
        if let Some(mut closed) = self.receiving.replace(receiving) {
            closed.stored += skipped_before;
            closed.chain.wipe();
            if closed.stored > 0 {
                self.old.push_back(closed);
            }
        }
        self.sending = Sending::Due {
            remote: header.key,
            previous: self.sending.length(),
        };
        self.standing.set_aside = 0;
    }

    fn keep_within_limits(&mut self) {
        while self.stored.len() > self.limits.stored {
            self.forget_oldest();
        }
        while self.old.len() > self.limits.chains {
            self.forget_oldest();
        }
    }

    /// Old chains have at least one key each, and the oldest chain's stand in front.
    fn forget_oldest(&mut self) {
        if let Some(order) = self.stored.remove_oldest() {
            self.forget_one(order);
        }
    }
}

impl Attempt<'_> {
    /// Phase one.
    fn authenticate(
        &self,
        draft: &mut Draft,
        text: &mut [u8],
        work: &mut Work,
    ) -> Result<Authentic, Error> {
        let (fit, header) = self.open_header(work)?;
        if header.number >= CHAIN_LEN || header.previous > CHAIN_LEN {
            return Err(Error::Rejected);
        }
        let change = match fit {
            Fit::Current(chain) if header.key != chain.remote => return Err(Error::Rejected),
            Fit::Current(chain) if header.number >= chain.number => {
                self.go_ahead(chain, &header, draft, work)?
            }
            Fit::Current(chain) | Fit::Old(chain) => self.look_up(chain, &header, draft)?,
            Fit::Next => self.take_turn(&header, draft, work)?,
        };
        let bound = Bound {
            mode: self.session.mode,
            transcript: &self.session.transcript,
            context: self.context,
        };
        self.parts
            .open_body(&draft.message, &header, &bound, text)?;
        Ok(Authentic { header, change })
    }

    /// Tries the current chain, the next one if there can be one, and the old ones: at most seven.
    fn open_header(&self, work: &mut Work) -> Result<(Fit<'_>, Header), Error> {
        let session = self.session;
        let current = session.receiving.iter().map(|chain| {
            let chain: &ReceivingChain = chain;
            (&chain.header, Fit::Current(chain))
        });
        let next = session.sending.own();
        let next = next.map(|_| (&session.keys.next_receiving, Fit::Next));
        let old = session.old.iter().rev().map(|chain| {
            let chain: &ReceivingChain = chain;
            (&chain.header, Fit::Old(chain))
        });
        for (key, fit) in current.chain(next).chain(old) {
            work.header_opens += 1;
            if let Ok(header) = self.parts.open_header(key) {
                return Ok((fit, header));
            }
        }
        Err(Error::Rejected)
    }

    /// A message that was skipped, if its key is still stored and young enough.
    fn look_up(
        &self,
        chain: &ReceivingChain,
        header: &Header,
        draft: &mut Draft,
    ) -> Result<Change, Error> {
        let stored = &self.session.stored;
        let place = stored.find(chain.order, header.number);
        let place = place.ok_or(Error::Rejected)?;
        let slot = stored.at(place);
        if self.session.limits.is_expired(slot.stored_at, self.now) {
            return Err(Error::Rejected);
        }
        draft.message.copy_from(&slot.key);
        Ok(Change::Stored(place))
    }

    fn go_ahead(
        &self,
        chain: &ReceivingChain,
        header: &Header,
        draft: &mut Draft,
        work: &mut Work,
    ) -> Result<Change, Error> {
        self.require_jump(header.number - chain.number, 0)?;
        draft.chain.copy_from(&chain.chain);
        draft.reserve(header.number - chain.number);
        let skip = chain.number..header.number;
        draft.walk(chain.order, skip, self.now, work);
        draft.own_step(work);
        Ok(Change::Ahead)
    }

    fn take_turn(
        &self,
        header: &Header,
        draft: &mut Draft,
        work: &mut Work,
    ) -> Result<Change, Error> {
        let session = self.session;
        let own = session.sending.own().ok_or(Error::Rejected)?;
        let closed = session.receiving.as_deref();
        let before = closed.map_or(0, |chain| header.previous.saturating_sub(chain.number));
        self.require_jump(before, header.number)?;
        let order = closed.map_or(Some(0), |chain| chain.order.checked_add(1));
        let order = order.ok_or(Error::Rejected)?;
        work.agreements += 1;
        let shared = own.agree(&header.key).map_err(|_| Error::Rejected)?;
        let mut root = Box::new(RootStep::empty());
        root.derive(&session.keys.root, &shared, &session.transcript)?;
        let mut receiving = ReceivingChain::empty(order);
        receiving.header.copy_from(&session.keys.next_receiving);
        receiving.remote = header.key;
        draft.reserve(before + header.number);
        if let Some(chain) = closed.filter(|_| before > 0) {
            draft.chain.copy_from(&chain.chain);
            draft.walk(chain.order, chain.number..header.previous, self.now, work);
            draft.skipped_before = draft.skipped.len();
        }
        draft.chain.copy_from(&root.chain);
        draft.walk(order, 0..header.number, self.now, work);
        draft.own_step(work);
        Ok(Change::Turn(root, receiving))
    }

    /// Both counts are below 2^31.
    const fn require_jump(&self, before: u32, after: u32) -> Result<(), Error> {
        if before + after > self.session.limits.jump {
            return Err(Error::Rejected);
        }
        Ok(())
    }
}

impl Draft {
    const fn empty() -> Self {
        Self {
            message: Key::empty(),
            chain: Key::empty(),
            skipped: Vec::new(),
            skipped_before: 0,
        }
    }

    /// Exactly as much as is pushed, so that the vector never moves.
    fn reserve(&mut self, count: u32) {
        self.skipped = Vec::with_capacity(usize::try_from(count).unwrap_or_default());
    }

    /// Derives the keys of messages that have not come.
    fn walk(&mut self, order: u32, numbers: std::ops::Range<u32>, now: WallTime, work: &mut Work) {
        for number in numbers {
            self.skipped
                .push(Slot::new(order, number, now.unix_seconds()));
            if let Some(slot) = self.skipped.last_mut() {
                step(&mut self.chain, &mut slot.key);
            }
            work.chain_steps += 1;
        }
    }

    fn own_step(&mut self, work: &mut Work) {
        step(&mut self.chain, &mut self.message);
        work.chain_steps += 1;
    }
}

/// A new chain has nothing to compare with.
fn compare(before: Option<IncarnationBytes>, now: IncarnationBytes) -> Incarnation {
    match before {
        Some(before) if before != now => Incarnation::Changed,
        Some(_) | None => Incarnation::Same,
    }
}
