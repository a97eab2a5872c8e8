//! Custody in a token, on every kind of token that is installed: contexts whose keys never leave it, homes whose
//! root key never leaves it, and what happens when it goes and comes back.

pub(crate) mod apart;
mod backup;
mod budget;
mod contexts;
mod keys;
mod loss;
mod roots;
pub(crate) mod scene;
mod start;
mod uses;
