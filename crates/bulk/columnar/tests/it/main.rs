//! The promises of the crate, one module each.
#![forbid(unsafe_code)]

#[cfg(test)]
mod beneath;
#[cfg(test)]
mod damaged;
#[cfg(test)]
mod interrupted;
#[cfg(test)]
mod leftovers;
#[cfg(test)]
mod metadata;
#[cfg(test)]
mod nulls;
#[cfg(test)]
mod processes;
#[cfg(test)]
mod refused;
#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod spliced;
#[cfg(test)]
mod unused;
#[cfg(test)]
mod writers;
