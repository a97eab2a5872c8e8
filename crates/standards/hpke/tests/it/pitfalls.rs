//! Mistakes that others made, each by the number under which it is kept.

mod contexts;
mod inputs;
