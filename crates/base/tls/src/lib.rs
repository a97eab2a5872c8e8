//! The one TLS and X.509 module (design 7.25 to 7.27): TLS 1.3 (RFC 8446) configurations, what a
//! verified client certificate says about its holder, and a small certificate authority (RFC 5280).
//!
//! * [`ClientTrust`] decides about client certificates: path, dates, revocation, purpose, identity, and what a
//!   [`Roster`] says besides.
//! * [`server_config`] and [`client_config`] build every TLS configuration of the workspace.
//! * [`refusal_of`] turns a failed handshake into the reason that is counted (design 7.36).
//! * [`issue`] makes the certificates and revocation lists of demo and development installations.
//!
//! **Fail closed.** A trust anchor without a revocation list is refused when it is loaded; an expired
//! list refuses every client of that anchor; a certificate without the clientAuth purpose is refused.
//!
//! **Twice per connection.** The handshake verifies the client's chain, and the server calls
//! [`ClientTrust::verify`] again afterwards to obtain the [`keywright_types::Credential`]. The second
//! look costs a few signature checks once per connection. It needs no state shared with the TLS
//! library, it uses the trust that is in force *after* the handshake, and it covers resumed sessions,
//! which the library does not verify again, should a later version allow them.
//!
//! **No resumption.** There are no tickets, no stored sessions and no early data. Connections live
//! long and carry many requests, so a full handshake is cheap per request; and a ticket would be one
//! more thing that outlives a revocation.
//!
//! **Key exchange.** X25519, then P-256, P-384 and the hybrid X25519MLKEM768. The client's order
//! decides: our own client sends an X25519 share, because the hybrid adds 2.3 kB to the two hellos
//! and a second key exchange to each handshake; a peer that puts the hybrid first gets it.
//!
//! Not here: sockets, mapping a credential to a principal (`keywright-policy`), writing files,
//! revocation of server certificates (a client trusts the roots it was given), OCSP, delta lists.
#![forbid(unsafe_code)]

mod config;
mod der;
mod describe;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod identity;
pub mod issue;
mod pem;
mod refusal;
mod roster;
mod trust;

pub use config::{ClientIdentity, Protocol, ServerIdentity, client_config, server_config};
pub use describe::{Summary, describe_certificate};
pub use error::{Error, Older, Role};
pub use pem::{PrivateKey, certificates, private_key, revocation_lists};
pub use refusal::{Refusal, refusal_of};
pub use roster::Roster;
pub use rustls::pki_types::CertificateDer;
pub use rustls::{ClientConfig, ServerConfig};
pub use trust::ClientTrust;
