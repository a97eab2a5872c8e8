//! What custody promises to those above it.

#[cfg(test)]
mod budget;
#[cfg(test)]
mod messages;
#[cfg(test)]
mod rows;
