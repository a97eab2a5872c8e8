//! home
#![forbid(unsafe_code)]
