//! architecture
#![forbid(unsafe_code)]
