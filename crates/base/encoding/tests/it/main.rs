//! One module per promise of the crate.
#![forbid(unsafe_code)]

#[cfg(test)]
mod damaged;
