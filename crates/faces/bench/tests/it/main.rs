//! The binary as it is started by itself. What `keywright` hands on to it is tested with that program.
#![forbid(unsafe_code)]

#[cfg(test)]
mod alone;
