//! Tokens of any vendor through PKCS#11.
//!
//! | module | what |
//! |---|---|
//! | [`Module`] | a loaded module: initialised once, finalised when its last user is gone |
//! | [`Token`] | a slot's token: what it says, what it can, sessions |
//! | [`Session`] | reads unless asked otherwise, closes and logs out on drop; objects, keys, operations |
//! | [`Mechanism`] | what a token is asked to do, as a type with its parameters |
//! | [`KeyPlan`] | a key's purpose and the narrow template that follows from it |
//! | [`public_key`] | public keys as the standards write them |
//! | [`Failure`] | the true return code, the function, and what to do with the session |
//! | [`SessionPool`] | sessions for threads, and what happens when the token is lost |
//! | [`TokenHolder`] | the holder of keys that never leave the token |
//! | [`TokenRoot`] | a root key in the token for keys that are wrapped by it |
//! | [`Pace`] | whether a token is quick enough to be asked on the thread of a caller |
//!
//! The source is PKCS#11 3.2 (OASIS); modules of 2.40 and 3.0 are used as far as they go.
//!
//! Unsafe code stands in `raw` alone, which calls the module. A module is code of somebody else in this
//! process: what it does inside a call is outside every promise made here.
//!
//! Not here: commands and their words (the operation layer above), and names of codes (`keywright-pkcs11-names`).
#![deny(unsafe_code)]

mod device;
mod error;
mod holder;
mod keys;
mod kinds;
mod locate;
mod mechanism;
mod module;
mod names;
mod object;
mod operation;
mod pace;
mod pool;
pub mod public_key;
mod purpose;
#[expect(unsafe_code, reason = "the calls of a module are C functions")]
mod raw;
mod root;
mod search;
mod session;
mod slot;
mod stream;
mod template;
mod token;

pub use error::{Error, Failure, Remedy, Tries};
pub use holder::TokenHolder;
pub use keys::SHARED_SECRET_LEN;
pub use kinds::{Curve, MlDsa, MlKem, PairKind, SecretKind, SlhDsa};
pub use mechanism::{Hash, Mechanism, Over};
pub use module::Module;
pub use object::{Candidate, KeyPair, ObjectHandle, Reading};
pub use operation::KeyAccess;
pub use pace::{Pace, Running};
pub use pool::{Copies, LogIn, PoolOptions, PooledSession, SessionPool};
pub use purpose::{KeyPlan, Purpose, Storage};
pub use raw::LoadFault;
pub use root::TokenRoot;
#[doc(hidden)]
pub use root::fuzz_description;
pub use search::Search;
pub use session::{Access, Credential, Pin, Session, User};
pub use slot::{
    DeviceNames, Limit, ModuleInfo, SlotId, SlotInfo, TokenFlags, TokenInfo, TokenNames, Version,
    unpadded,
};
pub use stream::{Decryption, Digesting, Encryption, Signing, Verification};
pub use template::Template;
pub use token::{Ability, MechanismInfo, Token, TokenQuery};
