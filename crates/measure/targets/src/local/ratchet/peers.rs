//! Another implementation in the same run: Olm sessions of the `vodozemac` crate. They have no header
//! encryption, AES-256-CBC with a truncated HMAC in place of an AEAD, and curve25519-dalek.

use keywright_measure::{TargetError, Worker};
use vodozemac::olm::{Account, OlmMessage, Session, SessionConfig};

use super::super::row::{Row, refused, rejected};
use super::super::worker::answered;
use super::texts;

/// Why a step failed does not matter to a measurement.
struct Failed;

impl std::fmt::Display for Failed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the peer refuses")
    }
}

struct Pair {
    one: Session,
    other: Session,
}

impl Pair {
    /// A handshake and its first message.
    fn make(one: &Account, other: &mut Account, text: &[u8]) -> Result<(Self, Vec<u8>), Failed> {
        other.generate_one_time_keys(1);
        let prekey = other.one_time_keys().values().next().copied();
        other.mark_keys_as_published();
        let mut outbound = one
            .create_outbound_session(
                SessionConfig::version_1(),
                other.curve25519_key(),
                prekey.ok_or(Failed)?,
            )
            .map_err(|_| Failed)?;
        let OlmMessage::PreKey(first) = outbound.encrypt(text).map_err(|_| Failed)? else {
            return Err(Failed);
        };
        let made = other
            .create_inbound_session(SessionConfig::version_1(), one.curve25519_key(), &first)
            .map_err(|_| Failed)?;
        let pair = Self {
            one: outbound,
            other: made.session,
        };
        Ok((pair, made.plaintext))
    }

    fn acquainted(row: &Row<'_>) -> Result<Self, TargetError> {
        let made = || {
            let (one, mut other) = (Account::new(), Account::new());
            let (mut pair, _) = Self::make(&one, &mut other, b"first")?;
            pair.turn_round();
            pair.carry(b"second")?;
            pair.turn_round();
            pair.carry(b"third")?;
            Ok(pair)
        };
        made().map_err(|error: Failed| row.fails(error))
    }

    fn turn_round(&mut self) {
        std::mem::swap(&mut self.one, &mut self.other);
    }

    #[inline]
    fn carry(&mut self, text: &[u8]) -> Result<Vec<u8>, Failed> {
        let packet = self.one.encrypt(text).map_err(|_| Failed)?;
        self.other.decrypt(&packet).map_err(|_| Failed)
    }
}

/// One-time key, handshake, and a message. Accounts are there.
pub(in super::super) fn first(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let (one, mut other) = (Account::new(), Account::new());
    let act = move |text: &Vec<u8>, out: &mut Vec<u8>| {
        let made = Pair::make(&one, &mut other, text);
        *out = made.map_err(refused)?.1;
        Ok(())
    };
    Ok(answered(texts(row, row.bytes)?, Vec::new(), act))
}

/// Sealed and opened in a chain.
pub(in super::super) fn message(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let mut pair = Pair::acquainted(row)?;
    let act = move |text: &Vec<u8>, out: &mut Vec<u8>| {
        *out = pair.carry(text).map_err(rejected)?;
        Ok(())
    };
    Ok(answered(texts(row, row.bytes)?, Vec::new(), act))
}

/// A message and its answer.
pub(in super::super) fn pingpong(row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let mut pair = Pair::acquainted(row)?;
    let act = move |text: &Vec<u8>, out: &mut Vec<u8>| {
        pair.turn_round();
        let between = pair.carry(text).map_err(rejected)?;
        pair.turn_round();
        *out = pair.carry(&between).map_err(rejected)?;
        Ok(())
    };
    Ok(answered(texts(row, row.bytes)?, Vec::new(), act))
}
