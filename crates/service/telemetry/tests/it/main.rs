//! The way of a span from the queue to a collector, whatever that does.
#![forbid(unsafe_code)]

#[cfg(test)]
mod collectors;
#[cfg(test)]
mod parents;
