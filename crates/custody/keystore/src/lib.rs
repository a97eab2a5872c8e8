//! keystore
#![forbid(unsafe_code)]
