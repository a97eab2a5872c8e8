//! Who may do what (design 7.7, 7.25, 7.26, 7.28).
//!
//! A [`PolicyDocument`] is what a person writes and the store keeps: groups, principals with the rules
//! that recognise their certificates, and grants. [`Policy::compile`] checks it and turns it into an
//! immutable [`Policy`] that answers three questions without a lock or a store: who is this
//! certificate ([`Policy::identify`]), may they do this ([`Policy::authorize`]), may they open what is
//! bound to that ([`Policy::may_open`]).
//!
//! * Default deny; a `deny` wins over every `allow`; the order of entries means nothing.
//! * No operation implies another. Contexts are named exactly, or `*` stands for all of one tenant; keys of trees by
//!   patterns of paths ([`PathPattern`]).
//! * A [`Permit`] is the only way to reach an operation of a key holder, and only this crate makes one.
//!
//! Not here: revocation and validity of certificates (`keywright-tls` and the server), which names
//! were ever in use (the store), roles, or conditions: there are none.
//!
//! ```
//! use keywright_policy::{ContextRef, Policy, PolicyDocument};
//! use keywright_types::{Credential, KeyId, Operation, TenantId};
//!
//! # fn main() -> Result<(), keywright_policy::Error> {
//! let anchor = "ab".repeat(32);
//! let mut document = PolicyDocument::parse(&format!(r#"
//!     version = 1
//!     [[principal]]
//!     name = "trading-1"
//!     [[principal.rule]]
//!     anchors = ["{anchor}"]
//!     san_dns = "trading-1.example"
//!     [[grant]]
//!     principals = ["trading-1"]
//!     operations = ["encrypt"]
//!     contexts = ["exchange-key"]
//! "#))?;
//! let mut next = 0;
//! document.complete(|| { next += 1; [next; 16] });
//! let tenant = TenantId::from_bytes([9; 16]);
//! let policy = Policy::compile(&document, |name| (name.as_str() == "default").then_some(tenant), 1)?;
//!
//! # let credential = Credential {
//! #     anchor: [0xAB; 32], leaf_key: [0; 32], leaf: [0; 32], serial: vec![], subject: String::new(),
//! #     common_name: None, organizational_unit: None, san_uris: vec![],
//! #     san_dns: vec!["trading-1.example".into()], not_after: 0,
//! # };
//! let who = policy.identify(&credential).expect("one rule matches");
//! let context = ContextRef::new(tenant, "exchange-key", KeyId::from_bytes([7; 16]));
//! assert!(policy.authorize(who, context, Operation::Encrypt).is_ok());
//! assert!(policy.authorize(who, context, Operation::Decrypt).is_err());
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod check;
mod compile;
mod document;
mod error;
#[doc(hidden)]
pub mod fuzzing;
mod limit;
mod path;
mod permit;
mod place;
mod policy;
mod principal;
mod rule;
mod scope;

pub use document::{
    ContextPattern, DocumentVersion, Effect, Grant, GroupEntry, Legacy, PolicyDocument,
    PrincipalEntry,
};
pub use error::{Entry, Error, Problem};
pub use limit::{LimitEntry, RateLimit};
pub use path::{MalformedPath, PathPattern, PathRights};
pub use permit::{Denied, Owner, Permit};
pub use policy::{ContextRef, Policy, Unidentified};
pub use principal::Principal;
pub use rule::{Fact, Fingerprint, Rule};
pub use scope::{Scope, takes_paths};

/// Most bytes a policy document may have.
pub const MAX_DOCUMENT: usize = 16 << 20;
/// Most former names a principal may carry: with the current one they are eight (design 7.37).
pub const MAX_LEGACY_NAMES: usize = 7;
/// Longest text of a fact in a rule, in bytes.
pub const MAX_FACT: usize = 1024;
/// Most units a second that a limit may give.
pub const MAX_RATE: u32 = 1_000_000;
/// Most units that a bucket may hold.
pub const MAX_BURST: u32 = 10_000_000;
/// Most units that an item may cost.
pub const MAX_COST: u32 = 10_000;
/// Most pairs of principal and context that the grants of one policy may come to.
pub const MAX_RIGHTS: usize = 1_000_000;
