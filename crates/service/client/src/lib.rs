//! The other end of `keywright-api`: a client of the service over HTTP/2 or HTTP/1.1 and mutual TLS.
//!
//! * [`Client`]: asynchronous, cheap to clone, one HTTP/2 connection for all calls or a few HTTP/1.1
//!   connections; connects again when the server has ended one.
//! * [`blocking::Client`]: the same calls for programs without a runtime.
//! * [`Error`]: who is at fault, typed; a refusal carries the server's code and request id.
//! * [`secret_store`]: the secrets of another store, to be taken over.
//! * [`watched`]: a TLS stream that remembers why it was ended, for whoever drives HTTP by themselves.
//!
//! Streams of any length are sent in [`Pieces`] and [`Received`] in pieces, both at once. One that is not said
//! to be whole on either side is none: the call fails.
//!
//! The protocol is what the TLS handshake agrees on (ALPN), so it is chosen where the TLS
//! configuration is made, in `keywright-tls`.
//!
//! A call is sent again, once and on a new connection, only if it is certain that the server has not
//! begun to work on it. Not here: retries of refusals, DNS policy, proxies, and what a caller does
//! with a data key.
#![forbid(unsafe_code)]

pub mod blocking;
mod call;
mod connection;
mod error;
mod items;
mod orders;
mod payload;
mod pipeline;
pub mod secret_store;
mod settings;
mod streams;
mod tokens;
mod uses;
pub mod watched;

pub use call::{Answer, Client};
pub use error::{Error, Refused, TlsFailure};
pub use items::{DataKey, Open, Opened, OpenedDataKey, Seal, Sealed};
pub use keywright_api::Codec;
pub use keywright_api::answer::ErrorBody;
pub use keywright_api::orders::{
    Approvable, ApproveAnswer, ApproveOrder, KeyOrder, KeyVersionsAnswer, VersionUses,
};
pub use orders::KeyAction;
pub use payload::{Feed, Gone, Pieces};
pub use pipeline::Batching;
pub use settings::Settings;
pub use streams::{Received, Streamed};
pub use tokens::{Cells, Detokenized, Masked, Token, Tokenized, Value};
pub use uses::{
    Agreed, ExportedKey, Mac, PublicKey, Sign, SignatureForm, Signed, Signing, Verified, Verify,
    Which, Xpub,
};
