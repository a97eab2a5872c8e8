//! The layer and the holder on real tokens, one module per promise. Each test runs on every kind of token that
//! is installed, in a process and on a store of its own.

#[cfg(test)]
mod holder;
#[cfg(test)]
mod judge;
#[cfg(test)]
mod keys;
#[cfg(test)]
mod login;
#[cfg(test)]
mod loss;
mod now;
#[cfg(test)]
mod objects;
#[cfg(test)]
mod operations;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod scene;
#[cfg(test)]
mod streams;
#[cfg(test)]
mod tokens;
#[cfg(test)]
mod uses;
