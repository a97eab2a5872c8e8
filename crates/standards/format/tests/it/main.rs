//! The promises of the format language.
#![forbid(unsafe_code)]

#[cfg(test)]
mod builtins;
#[cfg(test)]
mod canonical;
#[cfg(test)]
mod columns;
#[cfg(test)]
mod derivation;
#[cfg(test)]
mod domains;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod masks;
#[cfg(test)]
mod permutation;
mod phone;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod statistics;
#[cfg(test)]
mod suggestions;
#[cfg(test)]
mod validators;
