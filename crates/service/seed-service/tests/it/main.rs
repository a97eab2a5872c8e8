//! What the files of the seed service say, and what follows from them.
#![forbid(unsafe_code)]

#[cfg(test)]
mod files;
#[cfg(test)]
mod hostile_bytes;
#[cfg(test)]
mod plans;
