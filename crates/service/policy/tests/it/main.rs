//! The promises of the policy crate, one module each.

mod binding;
#[cfg(test)]
mod differential;
#[cfg(test)]
mod document;
mod hostile_bytes;
mod identity;
#[cfg(test)]
mod limits;
mod rights;
#[cfg(test)]
mod setting;
