//! Routes for programs that speak the HTTP API of Vault's transit engine.
//!
//! A second spelling of the same operations: every route here leads to an operation that a native route has, under
//! the same right, and to nothing else. What a parameter would change and this service does not do is refused, never
//! passed over.
//!
//! * [`route`]: the table of these routes, and its matcher.
//! * [`request`]: bodies, and the texts `vault:v1:...`.
//! * [`answer`]: answers, and the form of errors.
//!
//! Written from the documented behaviour of the API. Not here: tokens and what they are bound to (the server's).

pub mod answer;
pub(crate) mod describe;
pub mod request;
pub mod route;
mod token;

pub use describe::{add_to, add_to_on};
pub use token::LoginToken;
