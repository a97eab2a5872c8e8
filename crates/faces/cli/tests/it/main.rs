//! The binary as its users meet it: real homes, real servers on loopback, real files.
#![forbid(unsafe_code)]

#[cfg(test)]
mod admin;
#[cfg(test)]
mod audit;
#[cfg(test)]
mod client;
#[cfg(test)]
mod curl;
#[cfg(test)]
mod demo;
#[cfg(test)]
mod program;
#[cfg(test)]
mod usage;
