//! The promises of the crate, one module each.
#![forbid(unsafe_code)]

#[cfg(test)]
mod awkward;
#[cfg(test)]
mod bad_values;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod interrupted;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod migrate;
#[cfg(test)]
mod resident;
#[cfg(test)]
mod stray;
#[cfg(test)]
mod table;
#[cfg(test)]
mod wrong;
