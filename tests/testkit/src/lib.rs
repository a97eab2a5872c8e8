//! testkit
#![forbid(unsafe_code)]

pub mod ca;
pub mod mutate;
