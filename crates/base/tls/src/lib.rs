//! tls
#![forbid(unsafe_code)]
