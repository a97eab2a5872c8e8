//! Who holds keys, what a holder can be asked, and how long a key version lives.
//!
//! * [`KeyHolder`] is the one trait behind which keys work: the embedded keystore, a token, later a
//!   child process. [`Request`], [`Items`] and [`Reply`] are owned, serialisable values with a deadline,
//!   so that the holder may sit in another thread or process.
//! * [`RootKey`] is the key on top of wrapped keys, in a file or in a token. [`ByCustody`] makes one holder of
//!   two: keys used here, and keys that stay in a token.
//! * [`Detail`] is what some keys have besides their specification: the format of a key that makes tokens, how the
//!   seed of a tree came to be. [`Usage`] is what an item says of the use of a key.
//! * [`reader`] is how the seed service sealed, for versions that were brought in from it: they open that, and
//!   nothing else is done with them.
//! * [`fit`] says what can be kept where; [`budget`] counts the seals of keys in a token.
//! * [`effort`] says how much a request asks of the processor, before it is begun.
//! * [`Paced`] is a holder of known capacity, to measure by.
//! * [`lifecycle`] is the table of design 7.16: which state allows what, and which order leads where.
//!   [`Rules`] are what the owner of a context may change about that, [`tally`] counts what is used.
//! * [`Keyring`] is the part of the service's snapshot that knows contexts and versions; it shares
//!   everything that a change does not touch.
//! * [`rows`] says how contexts, versions and tenants stand in the store, and which transaction makes
//!   each change.
//! * [`conformance`] is the suite that every holder must pass.
//!
//! Not here: who may ask (`keywright-policy`), and what happened (`keywright-audit`).
#![forbid(unsafe_code)]

pub mod budget;
pub mod conformance;
mod detail;
pub mod effort;
pub mod fit;
mod holder;
mod items;
mod keyring;
pub mod lifecycle;
mod material;
mod paced;
pub mod reader;
mod root;
pub mod rows;
mod rules;
mod sides;
pub mod tally;
mod usage;

pub use detail::{Detail, FormatDetail, TreeDetail};
pub use holder::{
    AtOnce, HolderError, HolderOperation, KeyHolder, NO_DEADLINE, NewKey, Particulars, Placement,
    Request, StreamStart, Versions,
};
pub use items::{Item, Items, Reply, ReplyItem, TooMuch};
pub use keyring::{Description, Key, Keyring, Life, Version};
pub use material::{HolderCell, Identity, KeyMaterial};
pub use paced::{Pace, Paced};
pub use reader::ReaderDetail;
pub use root::RootKey;
pub use rules::{BadRule, Campaign, Rules};
pub use sides::ByCustody;
pub use usage::{Form, Input, Usage};
