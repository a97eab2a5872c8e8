//! What published vectors and the tests of limits need, and nobody else: randomness from the caller, and
//! counters that begin elsewhere.
//!
//! **Two contexts made with one `ikm_e` for one recipient have the same keys and nonces, and whoever sees a
//! message of each has lost both.** A counter set back does the same.

use crate::kem::Randomness;
use crate::{Enc, Error, Exporter, Initiator, Recipient, Sender};

/// [`Initiator::initiate`] with the vectors' `ikmE`: of a DHKEM what `DeriveKeyPair` takes, of ML-KEM the 32
/// bytes m, of X-Wing m and the scalar of X25519.
///
/// # Errors
/// As [`Initiator::initiate`], and [`Error::IkmLength`].
pub fn initiate_with(initiator: &Initiator<'_>, ikm_e: &[u8]) -> Result<(Enc, Sender), Error> {
    initiator.initiate_from(Randomness::Given(ikm_e))
}

/// [`Initiator::initiate_exporter`], otherwise as [`initiate_with`].
///
/// # Errors
/// As [`Initiator::initiate_exporter`], and [`Error::IkmLength`].
pub fn initiate_exporter_with(
    initiator: &Initiator<'_>,
    ikm_e: &[u8],
) -> Result<(Enc, Exporter), Error> {
    initiator.initiate_exporter_from(Randomness::Given(ikm_e))
}

/// The next message is the one of this number.
pub const fn set_sender_sequence(sender: &mut Sender, sequence: u64) {
    sender.set_sequence(sequence);
}

/// The next message is the one of this number.
pub const fn set_recipient_sequence(recipient: &mut Recipient, sequence: u64) {
    recipient.set_sequence(sequence);
}
