//! The promises of the crate, one module each.
#![forbid(unsafe_code)]

#[cfg(test)]
mod claims_files;
#[cfg(test)]
mod clean;
#[cfg(test)]
mod formats;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod results;
#[cfg(test)]
mod seeds;
#[cfg(test)]
mod tables;
