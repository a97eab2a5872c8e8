//! Targets.
#![forbid(unsafe_code)]

pub mod http;
pub mod local;
pub mod operation;
pub mod pinning;
pub mod processes;
mod script;
pub mod service;
pub mod store;
pub mod suite;
pub mod token;
mod url;
pub mod workshop;
