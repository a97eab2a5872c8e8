//! The promises of the home crate, one module each.
#![forbid(unsafe_code)]

#[cfg(test)]
mod backups;
#[cfg(test)]
mod control;
#[cfg(test)]
mod creation;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod operations;
