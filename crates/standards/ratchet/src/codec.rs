//! A session's state as bytes, one spelling for each state.
//!
//! ```text
//! T 32 | RK 32 | next sending header key 32 | next receiving header key 32
//! | sending: 0, private key 32 (nothing received yet)
//!            1, peer's key 32, previous u32 (a turn is due)
//!            2, private key 32, CK 32, HK 32, number u32, previous u32
//! | receiving: 0, or 1, CK 32, HK 32, peer's key 32, number u32, incarnation 8, stored keys
//! | old chains u8, each: HK 32, stored keys                                  (oldest first)
//! stored keys = count u16, each: number u32, stored at u64 (seconds), MK 32
//! ```
//!
//! The decoder refuses what no session reaches, so a state that was accepted is one that was written.
//! Limits, epoch and incarnation of the session's own are not in it.

use std::collections::VecDeque;

use keywright_encoding::Reader;
use keywright_primitives::agreement::X25519PrivateKey;
use keywright_secret::Secret;

use crate::key::{Key, PublicKey, RatchetKey, Transcript, step};
use crate::limits::CHAIN_LEN;
use crate::session::{ReceivingChain, RootKeys, Sending, SendingChain, Session};
use crate::stored::{Slot, StoredKeys};
use crate::{Error, Limits, Mode};

const STORED_LEN: usize = 4 + 8 + 32;
const CURRENT_LEN: usize = 32 + 32 + 32 + 4 + 8 + 2;
const OLD_LEN: usize = 32 + 2;

/// The parts of a session that are stored.
pub(crate) struct State {
    pub(crate) transcript: Transcript,
    pub(crate) keys: Box<RootKeys>,
    pub(crate) sending: Sending,
    pub(crate) receiving: Option<Box<ReceivingChain>>,
    pub(crate) old: VecDeque<Box<ReceivingChain>>,
    pub(crate) stored: StoredKeys,
}

/// Bytes in the longest state: what a reader of files can hold a length against.
pub(crate) const fn longest(limits: &Limits) -> usize {
    128 + 105 + 1 + CURRENT_LEN + 1 + limits.chains * OLD_LEN + limits.stored * STORED_LEN
}

/// Bytes in the state of this session.
pub(crate) fn encoded_len(session: &Session) -> usize {
    let sending = match &session.sending {
        Sending::Waiting { .. } => 32,
        Sending::Due { .. } => 32 + 4,
        Sending::Open(_) => 32 + 32 + 32 + 4 + 4,
    };
    let receiving = session.receiving.as_ref().map_or(0, |_| CURRENT_LEN);
    let stored = session.stored.len() * STORED_LEN;
    128 + 1 + sending + 1 + receiving + 1 + session.old.len() * OLD_LEN + stored
}

/// Appends the state, its sending chain taken on to `number`. `out` has the room already: growing would
/// leave keys behind.
pub(crate) fn encode(session: &Session, number: u32, out: &mut Vec<u8>) -> Result<(), Error> {
    out.extend_from_slice(&session.transcript);
    let keys = &session.keys;
    for key in [&keys.root, &keys.next_sending, &keys.next_receiving] {
        out.extend_from_slice(key.expose());
    }
    encode_sending(&session.sending, number, out)?;
    match &session.receiving {
        None => out.push(0),
        Some(chain) => {
            out.push(1);
            out.extend_from_slice(chain.chain.expose());
            out.extend_from_slice(chain.header.expose());
            out.extend_from_slice(&chain.remote);
            out.extend_from_slice(&chain.number.to_be_bytes());
            out.extend_from_slice(&chain.incarnation);
            encode_stored(session, chain, out);
        }
    }
    out.push(u8::try_from(session.old.len()).unwrap_or(u8::MAX));
    for chain in &session.old {
        out.extend_from_slice(chain.header.expose());
        encode_stored(session, chain, out);
    }
    Ok(())
}

fn encode_sending(sending: &Sending, number: u32, out: &mut Vec<u8>) -> Result<(), Error> {
    match sending {
        Sending::Waiting { own } => {
            out.push(0);
            out.extend_from_slice(own.to_bytes()?.expose());
        }
        Sending::Due { remote, previous } => {
            out.push(1);
            out.extend_from_slice(remote);
            out.extend_from_slice(&previous.to_be_bytes());
        }
        Sending::Open(sending) => {
            let (mut chain, mut unused) = (Key::empty(), Key::empty());
            chain.copy_from(&sending.chain);
            for _ in sending.number..number {
                step(&mut chain, &mut unused);
            }
            out.push(2);
            out.extend_from_slice(sending.own.to_bytes()?.expose());
            out.extend_from_slice(chain.expose());
            out.extend_from_slice(sending.header.expose());
            out.extend_from_slice(&number.max(sending.number).to_be_bytes());
            out.extend_from_slice(&sending.previous.to_be_bytes());
        }
    }
    Ok(())
}

fn encode_stored(session: &Session, chain: &ReceivingChain, out: &mut Vec<u8>) {
    // A session stores at most 65,535 keys (`Limits`).
    let count = u16::try_from(chain.stored).unwrap_or(u16::MAX);
    out.extend_from_slice(&count.to_be_bytes());
    let of_chain = |slot: &&Slot| slot.chain == chain.order;
    for slot in session.stored.iter().filter(of_chain) {
        out.extend_from_slice(&slot.number.to_be_bytes());
        out.extend_from_slice(&slot.stored_at.to_be_bytes());
        out.extend_from_slice(slot.key.expose());
    }
}

/// Reads all of `bytes`.
pub(crate) fn decode(bytes: &[u8], mode: Mode, limits: &Limits) -> Result<State, Error> {
    let mut reader = Reader::new(bytes);
    let transcript = *reader.array()?;
    let mut keys = RootKeys::empty();
    keys.root.set(reader.array()?);
    keys.next_sending.set(reader.array()?);
    keys.next_receiving.set(reader.array()?);
    let sending = decode_sending(&mut reader)?;
    let mut pending = Pending::default();
    let mut receiving = match reader.u8()? {
        0 => None,
        1 => Some(decode_current(&mut reader, mode, &mut pending)?),
        _ => return Err(Error::Malformed),
    };
    let (old, mut stored) = decode_old(&mut reader, limits)?;
    if let Some(current) = &mut receiving {
        current.order = u32::try_from(old.len()).map_err(|_| Error::Malformed)?;
        pending.store(current, &mut stored)?;
    }
    let state = State {
        transcript,
        keys,
        sending,
        receiving,
        old,
        stored,
    };
    if !reader.is_empty() || state.stored.len() > limits.stored || !state.is_reachable() {
        return Err(Error::Malformed);
    }
    Ok(state)
}

impl State {
    /// A responder who waits has received nothing; an initiator whose first turn is due has sent nothing;
    /// only a chain that was replaced is old.
    fn is_reachable(&self) -> bool {
        match (&self.sending, &self.receiving) {
            (Sending::Waiting { .. }, None) => self.old.is_empty(),
            (Sending::Waiting { .. }, Some(_)) => false,
            (Sending::Due { previous, .. }, None) => self.old.is_empty() && *previous == 0,
            (Sending::Due { remote, .. }, Some(current)) => current.remote == *remote,
            (Sending::Open(chain), None) => self.old.is_empty() && chain.previous == 0,
            (Sending::Open(_), Some(_)) => true,
        }
    }
}

fn decode_sending(reader: &mut Reader<'_>) -> Result<Sending, Error> {
    Ok(match reader.u8()? {
        0 => Sending::Waiting {
            own: own_key(reader)?,
        },
        1 => Sending::Due {
            remote: *reader.array::<32>()? as PublicKey,
            previous: count(reader)?,
        },
        2 => {
            let mut chain = Box::new(SendingChain {
                own: own_key(reader)?,
                chain: Key::empty(),
                header: Key::empty(),
                number: 0,
                previous: 0,
            });
            chain.chain.set(reader.array()?);
            chain.header.set(reader.array()?);
            chain.number = count(reader)?;
            chain.previous = count(reader)?;
            Sending::Open(chain)
        }
        _ => return Err(Error::Malformed),
    })
}

fn own_key(reader: &mut Reader<'_>) -> Result<RatchetKey, Error> {
    let bytes: &[u8; 32] = reader.array()?;
    let bytes = Secret::from_fill(|key: &mut [u8; 32]| key.copy_from_slice(bytes));
    let private = X25519PrivateKey::from_bytes(&bytes).map_err(|_| Error::Malformed)?;
    Ok(RatchetKey::new(private)?)
}

/// A length of a chain.
fn count(reader: &mut Reader<'_>) -> Result<u32, Error> {
    let count = reader.u32()?;
    if count > CHAIN_LEN {
        return Err(Error::Malformed);
    }
    Ok(count)
}

fn decode_current<'a>(
    reader: &mut Reader<'a>,
    mode: Mode,
    pending: &mut Pending<'a>,
) -> Result<Box<ReceivingChain>, Error> {
    let mut chain = ReceivingChain::empty(0);
    chain.chain.set(reader.array()?);
    chain.header.set(reader.array()?);
    chain.remote = *reader.array()?;
    chain.number = count(reader)?;
    chain.incarnation = *reader.array()?;
    let fenced = mode == Mode::Fenced && chain.incarnation != [0; 8];
    if chain.number == 0 || fenced {
        return Err(Error::Malformed);
    }
    *pending = Pending::read(reader)?;
    Ok(chain)
}

fn decode_old(
    reader: &mut Reader<'_>,
    limits: &Limits,
) -> Result<(VecDeque<Box<ReceivingChain>>, StoredKeys), Error> {
    let (mut old, mut stored) = (VecDeque::new(), StoredKeys::new());
    let chains = reader.u8()?;
    if usize::from(chains) > limits.chains {
        return Err(Error::Malformed);
    }
    for order in 0..u32::from(chains) {
        let mut chain = ReceivingChain::empty(order);
        chain.header.set(reader.array()?);
        chain.number = CHAIN_LEN;
        Pending::read(reader)?.store(&mut chain, &mut stored)?;
        if chain.stored == 0 {
            return Err(Error::Malformed);
        }
        old.push_back(chain);
    }
    Ok((old, stored))
}

/// Stored keys of one chain, not read yet. Those of the current chain stand before those of the old ones
/// and go behind them.
#[derive(Default)]
struct Pending<'a> {
    bytes: &'a [u8],
}

impl<'a> Pending<'a> {
    fn read(reader: &mut Reader<'a>) -> Result<Self, Error> {
        let count = usize::from(reader.u16()?);
        let bytes = reader.take(count * STORED_LEN)?;
        Ok(Self { bytes })
    }

    fn store(&self, chain: &mut ReceivingChain, stored: &mut StoredKeys) -> Result<(), Error> {
        let mut reader = Reader::new(self.bytes);
        let mut slots = Vec::with_capacity(self.bytes.len() / STORED_LEN);
        let mut least = 0;
        while !reader.is_empty() {
            let (number, stored_at) = (reader.u32()?, reader.u64()?);
            if number < least || number >= chain.number {
                return Err(Error::Malformed);
            }
            least = number + 1;
            slots.push(Slot::new(chain.order, number, stored_at));
            if let Some(slot) = slots.last_mut() {
                slot.key.set(reader.array()?);
            }
        }
        stored.make_room(slots.len());
        stored.append(&slots);
        chain.stored = slots.len();
        Ok(())
    }
}
