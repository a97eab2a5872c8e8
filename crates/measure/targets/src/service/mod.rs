//! Our own service as a target: over HTTP/2 or HTTP/1.1 with client certificates, local or remote.
//!
//! [`OPERATIONS`] names what can be asked. [`carrier`] makes any of them ready: it connects, makes inputs
//! and what they need (a decryption needs ciphertexts) and hands back something that carries load.
//! [`Server`] is a server process of this machine, [`Access`] is how one reaches it or any other.
//!
//! **Outputs.** Plaintexts are random from the seed and rotate, and so do ciphertexts. What was decrypted
//! is compared with what was encrypted. What was encrypted, sealed anew or wrapped is decrypted again and
//! compared, outside of what is timed (see [`crate::http`]). What was signed is verified, and what was made a
//! token of is made a value of again, the same way. Random bytes must have their length and may
//! not repeat. The null mode and the bare server, which keep no keys, must answer as they did at first.
//!
//! Not here: other people's services, and keys that rotate under load.

mod access;
mod figures;
mod inputs;
mod judge;
mod limited;
mod order;
mod requests;
mod server;
mod table;
mod token_home;
mod uses;

use keywright_api::Codec;
use keywright_measure::TargetError;
use keywright_tls::Protocol;

pub use access::{Access, Tenant};
pub use limited::{LIMIT, limited_home};
pub use server::{Launch, Role, Server, home};
pub use table::OPERATIONS;
pub use token_home::token_home;
pub use uses::{add_contexts, uses_home};

use crate::http::{Carrier, Lines};
pub use requests::{Requests, Ticket};

/// A request to our own service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a row of a table")]
pub struct Shape {
    /// Connections.
    pub connections: u32,
    /// Requests in flight on each.
    pub streams: u32,
    /// Bytes of each plaintext, or of random output.
    pub bytes: u32,
    /// Items of a request; 1 is no batch.
    pub items: u32,
    /// HTTP/1.1, which has one request in flight on each connection.
    pub http1: bool,
    /// The form in which messages are sent and answered.
    pub codec: Codec,
    /// What is asked.
    pub kind: Kind,
}

/// What is asked of the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A data key, plain and wrapped.
    DataKey,
    /// Decryption of rotating ciphertexts.
    Decrypt,
    /// Encryption.
    Encrypt,
    /// Encryption by a key that stays in a token.
    EncryptInToken,
    /// Encryption by two clients in two contexts, of whom the second asks twice as often as the first.
    Flood,
    /// Encryption by a bare server that is only a yardstick.
    Floor,
    /// Whether it is well.
    Health,
    /// Encryptions and decryptions together, half and half.
    Mixed,
    /// Encryption in the mode of constant answers.
    Null,
    /// Constant answers to requests for signatures.
    NullSign,
    /// Constant answers to batches of values.
    NullTokenize,
    /// A stream opened.
    OpenStream,
    /// Random bytes.
    Random,
    /// A ciphertext sealed anew.
    Rewrap,
    /// Encryption and then decryption of what came out, as one operation of two legs.
    RoundTrip,
    /// A body sealed as a stream.
    SealStream,
    /// A signature under a key derived by its path, in a context of [`uses_home`].
    SignHd,
    /// An ML-DSA-65 signature, in a context of [`uses_home`].
    SignMlDsa65,
    /// An ECDSA signature over P-256, in a context of [`uses_home`].
    SignP256,
    /// An ECDSA signature over P-384, in a context of [`uses_home`].
    SignP384,
    /// An RSA PSS signature of 2048 bits, in a context of [`uses_home`].
    SignRsa2048Pss,
    /// An Ed25519 signature, in a context of [`uses_home`].
    SignEd25519,
    /// Tokens of card numbers, in a context of [`uses_home`].
    Tokenize,
    /// Encryption by two clients in two contexts, half and half.
    TwoTenants,
}

impl Shape {
    /// Four connections of sixteen streams, 12 bytes.
    pub const MANY: Self = Self {
        connections: 4,
        streams: 16,
        bytes: 12,
        items: 1,
        http1: false,
        codec: Codec::Json,
        kind: Kind::Encrypt,
    };

    /// Most operations in flight at once.
    #[must_use]
    pub const fn places(&self) -> u32 {
        self.connections * if self.http1 { 1 } else { self.streams }
    }

    /// The same request with this many in flight: over as many of its connections as that takes.
    #[must_use]
    pub fn with_places(self, places: std::num::NonZeroU32) -> Self {
        if places.get() == self.places() {
            return self;
        }
        if self.http1 {
            return Self {
                connections: places.get(),
                ..self
            };
        }
        let connections = self.connections.min(places.get()).max(1);
        Self {
            connections,
            streams: places.get().div_ceil(connections),
            ..self
        }
    }

    /// What the server must be running as.
    #[must_use]
    pub const fn role(&self) -> Role {
        match self.kind {
            Kind::Floor => Role::Floor,
            Kind::Null | Kind::NullSign | Kind::NullTokenize => Role::Null,
            Kind::SignEd25519
            | Kind::SignHd
            | Kind::SignMlDsa65
            | Kind::SignP256
            | Kind::SignP384
            | Kind::SignRsa2048Pss
            | Kind::Tokenize => Role::Uses,
            Kind::EncryptInToken => Role::Token,
            _ => Role::Keys,
        }
    }

    const fn protocol(&self) -> Protocol {
        if self.http1 {
            Protocol::Http1
        } else {
            Protocol::Http2
        }
    }
}

/// Connects and makes the inputs of one operation; the same seed makes the same plaintexts.
///
/// # Errors
/// [`TargetError`] as for [`Lines::connect`]; [`TargetError::Authentication`] if the service does not know
/// the caller, [`TargetError::Failed`] if it refuses what the inputs need.
pub fn carrier(shape: Shape, access: &Access, seed: u64) -> Result<Carrier<Requests>, TargetError> {
    let two = matches!(shape.kind, Kind::Flood | Kind::TwoTenants);
    let wanted = if two { 2 } else { 1 };
    let tenants = access.tenants(wanted)?;
    let endpoint = access.endpoint(shape.protocol(), tenants)?;
    let mut lines = Lines::connect(endpoint, shape.connections, shape.streams)?;
    let requests = Requests::prepare(&mut lines, shape, tenants, seed)?;
    let carrier = Carrier::new(lines, requests);
    Ok(match access.process() {
        Some(process) => carrier.with_process(process),
        None => carrier,
    })
}
