//! The promises of the API crate, one module each.
#![forbid(unsafe_code)]

#[cfg(test)]
mod answers;
#[cfg(test)]
mod both_forms;
#[cfg(test)]
mod cbor;
#[cfg(test)]
mod description;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod hostile_bytes;
#[cfg(test)]
mod protocol_page;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod routes;
#[cfg(test)]
mod seed;
#[cfg(test)]
mod transit;
