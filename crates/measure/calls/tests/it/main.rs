//! The promises of the analyser, one module each.
#![forbid(unsafe_code)]

#[cfg(test)]
mod comparison;
#[cfg(test)]
mod endless;
#[cfg(test)]
mod figures;
#[cfg(test)]
mod findings;
#[cfg(test)]
mod forms;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod made;
#[cfg(test)]
mod memory;
#[cfg(test)]
mod recorded;
#[cfg(test)]
mod spied;
