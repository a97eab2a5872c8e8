//! What is changed, cut, exchanged or malformed is refused.

mod agreement;
mod encryption;
mod keys;
mod signature;
