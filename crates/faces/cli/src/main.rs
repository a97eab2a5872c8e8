//! keywright
#![forbid(unsafe_code)]
fn main() {}
