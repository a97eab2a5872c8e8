//! The public interface of the server, one module per promise.
#![forbid(unsafe_code)]

#[cfg(test)]
mod application;
#[cfg(test)]
mod transport;
