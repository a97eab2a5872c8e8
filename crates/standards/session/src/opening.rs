//! How a session began, as far as it has to be remembered.

use keywright_primitives::hash::sha256;
use keywright_primitives::signature::{SIGNATURE_LEN, VerifyingKey};
use keywright_ratchet::{Context, Mode, SessionSecret, Start};
use keywright_secret::Secret;

use crate::x3dh::Agreed;
use crate::{Card, First, Record, Role};

const SIGNED_LABEL: &[u8] = b"keywright/session/first/v1";

/// What a session knows beside its keys.
pub(crate) struct About {
    pub(crate) role: Role,
    /// The card's bytes of the other end.
    pub(crate) peer: Vec<u8>,
    pub(crate) binder: Secret<32>,
    pub(crate) opening: Opening,
    /// Whether what stands behind a head begins with a signature.
    pub(crate) signed: First,
}

/// What first frames look like.
pub(crate) enum Opening {
    /// The initiator's frames begin with this, until an answer has come.
    Sent {
        head: Vec<u8>,
        signature: Option<[u8; SIGNATURE_LEN]>,
    },
    /// The initiator has an answer.
    Answered,
    /// The responder has seen frames that begin like this.
    Received { length: u32, digest: [u8; 32] },
}

/// What the initiator signed, and the key that says so.
pub(crate) struct Signed<'a> {
    pub(crate) bytes: Vec<u8>,
    pub(crate) key: &'a VerifyingKey,
}

/// The two ends as the handshake knows them, and what the record demands.
pub(crate) struct SessionEnds {
    role: Role,
    initiator: Vec<u8>,
    responder: Vec<u8>,
    mode: Mode,
    signed: First,
}

impl Role {
    /// `other` is the initiator's card.
    pub(crate) fn ends(self, initiator: &Card, record: &Record) -> SessionEnds {
        SessionEnds {
            role: self,
            initiator: initiator.to_bytes(),
            responder: record.card().to_bytes(),
            mode: record.mode(),
            signed: record.first(),
        }
    }
}

impl Opening {
    pub(crate) fn received(head: &[u8]) -> Self {
        Self::Received {
            // A head is shorter than 2 KiB.
            length: u32::try_from(head.len()).unwrap_or(u32::MAX),
            digest: sha256(head),
        }
    }

    /// label + T + SHA-256(head): what the initiator signs where the record demands it.
    pub(crate) fn signed(agreed: &Agreed, head: &[u8]) -> Vec<u8> {
        [SIGNED_LABEL, &agreed.transcript, &sha256(head)].concat()
    }
}

impl SessionEnds {
    pub(crate) fn start<'a>(
        &'a self,
        secret: SessionSecret,
        transcript: &'a [u8; 32],
    ) -> Start<'a> {
        Start {
            secret,
            context: Context {
                initiator: &self.initiator,
                responder: &self.responder,
                transcript,
            },
            mode: self.mode,
        }
    }

    pub(crate) fn about(&self, binder: Secret<32>, opening: Opening) -> About {
        let peer = match self.role {
            Role::Initiator => &self.responder,
            Role::Responder => &self.initiator,
        };
        About {
            role: self.role,
            peer: peer.clone(),
            binder,
            opening,
            signed: self.signed,
        }
    }
}
