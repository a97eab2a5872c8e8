//! The operation layer without a command line.
#![forbid(unsafe_code)]

#[cfg(test)]
mod audit;
#[cfg(test)]
mod container;
#[cfg(test)]
mod diff;
#[cfg(test)]
mod edwards;
#[cfg(test)]
mod kem;
#[cfg(test)]
mod session;
#[cfg(test)]
mod uri;
#[cfg(test)]
mod values;
