//! The promises of the crate, one module each.
#![forbid(unsafe_code)]

#[cfg(test)]
mod byte_exact;
#[cfg(test)]
mod example;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod sensitive;
