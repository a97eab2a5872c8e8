//! The promises of the vocabularies, one module each.
#![forbid(unsafe_code)]

#[cfg(test)]
mod registry;
