//! What the engine leaves in memory, and whether it asks for any.
//!
//! A binary of its own, because its allocator looks at every block that is given back, and because calls run
//! on a stack that can be looked at afterwards.
//!
//! What this shows: with these calls, compiled as they are here, neither key nor digits stand in freed memory,
//! and the digits or symbols of the value do not stand on the part of the stack that a call used. What it does
//! not show: registers, and copies of them that the compiler spills to the stack, round keys and halves among
//! them; copies that a caller makes by moving a key; what the operating system writes to disk. The C library
//! clears the whole part of the stack that a call used.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod allocator;
mod leftovers;
#[cfg(target_arch = "x86_64")]
mod stack;
