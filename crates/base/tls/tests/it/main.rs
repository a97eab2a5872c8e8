//! One module per promise of the crate.
#![forbid(unsafe_code)]

#[cfg(test)]
mod files;
#[cfg(test)]
mod handshake;
#[cfg(test)]
mod identity;
#[cfg(test)]
mod issuing;
#[cfg(test)]
mod openssl;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod revocation;
#[cfg(test)]
mod roster;
#[cfg(test)]
mod wire;
