//! custody
#![forbid(unsafe_code)]
