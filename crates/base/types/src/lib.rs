//! The nouns every other crate speaks: parsed once, then trusted.
//!
//! Ids, versions and names (design 7.2, 7.3), and the numbered vocabularies of `docs/registry.md`
//! (7.1): suites, kinds, purposes, algorithms, states, operations, codes. A number is never reused
//! and never changes meaning; `registry::tests` compares this crate with the registry both ways.
#![forbid(unsafe_code)]

mod credential;
mod id;
mod key;
pub mod map;
mod name;
#[doc(hidden)]
pub mod numbered;
mod plane;
mod vocabulary;

pub use credential::Credential;
pub use id::{
    ApprovalId, BootId, DataKeyId, GroupId, InstallationId, KeyId, MalformedId, NodeId,
    PrincipalId, RequestId, TenantId,
};
pub use key::{KeySpec, KeyVersion, VersionLabel};
pub use name::{MalformedName, Name};
pub use numbered::UnknownNumber;
pub use plane::Plane;
pub use vocabulary::{
    Algorithm, BindingKind, Code, Custody, Export, Kind, Operation, Origin, Purpose, SlotType,
    State, Suite,
};

/// The context of a caller's request is exactly one key (design 7.2).
pub type ContextId = KeyId;
