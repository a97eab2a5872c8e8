//! What a handshake hands over.

use keywright_encoding::put_lp;
use keywright_primitives::hash::sha256;
use keywright_primitives::kdf::{HkdfSha256, expand_sha256};
use keywright_secret::Secret;

use crate::Error;
use crate::key::Transcript;

const TRANSCRIPT_LABEL: &[u8] = b"keywright/ratchet/transcript/v1";
const ID_LABEL: &[u8] = b"keywright/ratchet/session/v1";

/// The 96 bytes that both sides of a handshake derive: root key, header key of the initiator's first chain,
/// header key of the responder's first chain.
pub struct SessionSecret(pub(crate) Secret<96>);

impl SessionSecret {
    /// What a handshake exports 96 bytes under (RFC 9180, section 5.3), or expands its secret with.
    pub const LABEL: &[u8] = b"keywright/ratchet/v1";

    /// Takes 96 uniform bytes that were exported under [`SessionSecret::LABEL`].
    #[must_use]
    pub const fn new(exported: Secret<96>) -> Self {
        Self(exported)
    }

    /// Expands 32 uniform bytes with HKDF-SHA-256 and [`SessionSecret::LABEL`], for a handshake without an
    /// exporter.
    ///
    /// # Errors
    /// [`Error::Backend`] if the backend refuses.
    pub fn expand(shared: &Secret<32>) -> Result<Self, Error> {
        let key = HkdfSha256::from_prk(shared.expose());
        let expanded = Secret::try_from_fill(|out| key.expand(&[Self::LABEL], out))?;
        Ok(Self(expanded))
    }
}

impl std::fmt::Debug for SessionSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SessionSecret")
    }
}

/// Who speaks, and what was agreed. All of it goes into the associated data of every message.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "named fields are what keeps the two identities apart"
)]
pub struct Context<'a> {
    /// Name and key of the side that sends first, in the handshake's encoding.
    pub initiator: &'a [u8],
    /// Name and key of the other side.
    pub responder: &'a [u8],
    /// The handshake's transcript, or its digest.
    pub transcript: &'a [u8],
}

/// What protects a session from copies of its own state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a third way would be another format; every match must face it"
)]
pub enum Mode {
    /// A counter that lets each state be loaded once.
    Fenced,
    /// Eight random bytes a load in every nonce, for where there is no counter: 8 bytes more on the wire.
    Hedged,
}

impl Mode {
    pub(crate) const fn number(self) -> u8 {
        match self {
            Self::Fenced => 1,
            Self::Hedged => 2,
        }
    }

    pub(crate) const fn of_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Fenced),
            2 => Some(Self::Hedged),
            _ => None,
        }
    }
}

/// The beginning of a session, the same on both sides.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "what a handshake must hand over; a fourth part would be another protocol"
)]
pub struct Start<'a> {
    /// The shared secret.
    pub secret: SessionSecret,
    /// Who speaks, and what was agreed.
    pub context: Context<'a>,
    /// How the session is protected from copies. The two sides must choose alike.
    pub mode: Mode,
}

/// Which end of the session this is.
#[derive(Clone, Copy)]
pub(crate) enum Role {
    Initiator = 1,
    Responder = 2,
}

impl Start<'_> {
    /// T = SHA-256(lp(label) + lp(mode) + lp(initiator) + lp(responder) + lp(transcript)).
    pub(crate) fn transcript(&self) -> Result<Transcript, Error> {
        let mut bytes = Vec::new();
        for part in [
            TRANSCRIPT_LABEL,
            &[self.mode.number()],
            self.context.initiator,
            self.context.responder,
            self.context.transcript,
        ] {
            put_lp(&mut bytes, part).map_err(|_| Error::TooLong)?;
        }
        Ok(sha256(&bytes))
    }

    /// 16 bytes of HKDF-Expand-SHA-256(RK, label + T + role). The same handshake gives the same id, so a
    /// counter also sees one that is repeated.
    pub(crate) fn id(
        root: &[u8; 32],
        transcript: &Transcript,
        role: Role,
    ) -> Result<SessionId, Error> {
        let mut id = [0; 16];
        expand_sha256(root, &[ID_LABEL, transcript, &[role as u8]], &mut id)?;
        Ok(SessionId(id))
    }
}

/// A session's name in counters and stores. The two ends of a session have different ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(pub(crate) [u8; 16]);

impl SessionId {
    /// Takes the bytes of an id, as whoever keeps states under it has written them down.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The 16 bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }
}
