//! The primitives against foreign vectors.

#[cfg(test)]
mod wycheproof;
