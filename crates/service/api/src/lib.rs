//! What travels between a client and the service: routes, requests, answers, errors.
//!
//! * [`route`]: the one table of routes, and the strict matcher made from it.
//! * [`request`]: bodies of requests. The server reads them without copying; the client writes them.
//! * [`mod@write`]: answers, written by the server in one pass; [`answer`]: the same answers, as the client
//!   reads them. A test holds the two together.
//! * [`orders`]: bodies and answers of the routes by which keys live.
//! * [`Codec`]: the two forms of a body, JSON and CBOR, of the same types.
//! * [`error`]: the one table from code to status, sentence and retry.
//! * [`vault`]: the same operations once more, for programs that speak Vault's transit API.
//! * [`seed`]: some of them once more, for programs that speak the API of the seed service.
//! * [`openapi`]: the OpenAPI 3.1 document, generated from all of the above.
//!
//! Binary fields are standard base64 with padding (RFC 4648 section 4) in JSON and byte strings in CBOR; values, tokens
//! and paths are texts. Requests refuse unknown fields; answers may grow new ones, and a client passes over what it
//! does not know.
//!
//! Not here: connections, limits on time, and who may ask.
#![forbid(unsafe_code)]

pub mod answer;
mod binary;
mod cbor;
mod codec;
pub mod error;
#[doc(hidden)]
pub mod fuzzing;
mod keyed;
mod limits;
pub mod openapi;
pub mod orders;
pub mod request;
pub mod route;
pub mod seed;
mod text;
mod uses;
pub mod vault;
pub mod write;

pub use binary::Binary;
pub use codec::{Codec, Codecs, Unreadable};
pub use limits::{
    AAD_HEADER, KEY_VERSION_HEADER, Limits, MAX_AAD, MAX_RANDOM, MAX_RANDOM_TOTAL, MAX_TWEAK,
};
pub use text::{Text, Tweak};
