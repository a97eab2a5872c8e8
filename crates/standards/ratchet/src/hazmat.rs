//! What tests need and nobody else may have: chosen keys and nonces, the state in clear, counts of work.

use keywright_clock::WallTime;
use keywright_primitives::agreement::X25519PrivateKey;
use keywright_secret::{Secret, SecretBytes};

use crate::key::Key;
use crate::session::Sending;
use crate::{Error, Limits, Message, Opened, Packet, Session, StateKey, codec};

pub use crate::receive::Work;

/// Seals with this private key as the next ratchet key, if a turn is due.
///
/// # Errors
/// As [`Session::seal`].
pub fn seal_with_key(
    session: &mut Session,
    message: &Message<'_>,
    now: WallTime,
    key: &Secret<32>,
    out: &mut [u8],
) -> Result<usize, Error> {
    let mut draw = || Ok(X25519PrivateKey::from_bytes(key)?);
    session.seal_drawing(message, now, &mut draw, out)
}

/// Takes a turn that is due, with this private key.
///
/// # Errors
/// [`Error::PeerKey`], [`Error::Backend`].
pub fn take_turn_with_key(session: &mut Session, key: &Secret<32>) -> Result<(), Error> {
    session.take_due_turn(&mut || Ok(X25519PrivateKey::from_bytes(key)?))
}

/// Opens, and adds up what it cost.
///
/// # Errors
/// As [`Session::open`].
pub fn open_counting(
    session: &mut Session,
    packet: &Packet<'_>,
    now: WallTime,
    out: &mut [u8],
    work: &mut Work,
) -> Result<Opened, Error> {
    session.open_counting(packet, now, out, work)
}

/// Stored keys that were moved since the session began.
#[must_use]
pub const fn moves(session: &Session) -> u64 {
    session.stored.moves
}

/// Everything that a session keeps, in clear.
///
/// # Errors
/// [`Error::Backend`].
pub fn state(session: &Session) -> Result<SecretBytes, Error> {
    let mut bytes = Vec::with_capacity(codec::encoded_len(session) + 29);
    codec::encode(session, 0, &mut bytes)?;
    bytes.extend_from_slice(session.id.as_bytes());
    bytes.extend_from_slice(&session.standing.epoch.to_be_bytes());
    bytes.extend_from_slice(&session.standing.set_aside.to_be_bytes());
    bytes.push(u8::from(session.standing.rolled_back));
    Ok(SecretBytes::from_vec(bytes))
}

/// The incarnation of a hedged session, instead of the drawn one.
pub const fn set_incarnation(session: &mut Session, incarnation: [u8; 8]) {
    session.incarnation = incarnation;
}

/// Lets a fenced session send without a counter, up to this number.
pub const fn set_aside(session: &mut Session, number: u32) {
    session.standing.set_aside = number;
}

/// Limits beyond the standard ones.
#[must_use]
pub fn limits(jump: u32, stored: u16) -> Limits {
    Limits::standard().with_counts(jump, stored)
}

/// The number of the next message of the chain that is sent on, as if those before had been sent.
pub fn set_number(session: &mut Session, number: u32) {
    if let Sending::Open(chain) = &mut session.sending {
        chain.number = number;
    }
}

/// The state at rest under a chosen nonce, the sending chain taken on to `number`.
///
/// # Errors
/// [`Error::Backend`].
pub fn sealed_state(
    session: &Session,
    key: &StateKey,
    number: u32,
    nonce: &[u8; 24],
) -> Result<Vec<u8>, Error> {
    session.sealed_under(key, number, |_, _| *nonce)
}

/// Where the chains of a session stand, to come back to.
#[derive(Debug)]
pub struct Mark {
    sending: Option<(Secret<32>, u32)>,
    receiving: Option<(Secret<32>, u32)>,
}

/// Notes where the chains stand.
#[must_use]
pub fn mark(session: &Session) -> Mark {
    let copy = |key: &Key| Secret::from_fill(|out: &mut [u8; 32]| *out = *key.expose());
    let sending = match &session.sending {
        Sending::Open(chain) => Some((copy(&chain.chain), chain.number)),
        Sending::Waiting { .. } | Sending::Due { .. } => None,
    };
    let receiving = session.receiving.as_ref();
    let receiving = receiving.map(|chain| (copy(&chain.chain), chain.number));
    Mark { sending, receiving }
}

/// Puts the chains back, so that a measurement can do the same work again. Keys and nonces repeat.
pub fn return_to(session: &mut Session, mark: &Mark) {
    if let (Sending::Open(chain), Some((key, number))) = (&mut session.sending, &mark.sending) {
        chain.chain.set(key.expose());
        chain.number = *number;
    }
    if let (Some(chain), Some((key, number))) = (&mut session.receiving, &mark.receiving) {
        chain.chain.set(key.expose());
        chain.number = *number;
    }
}
