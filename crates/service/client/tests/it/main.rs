//! The client against the real transport with a make-believe service behind it.
#![forbid(unsafe_code)]

#[cfg(test)]
mod blocking;
#[cfg(test)]
mod calls;
#[cfg(test)]
mod failures;
#[cfg(test)]
mod fixture;
