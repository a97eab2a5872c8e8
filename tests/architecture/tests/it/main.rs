//! The checks on this tree.
#![forbid(unsafe_code)]

#[cfg(test)]
mod promises;
#[cfg(test)]
mod this_tree;
