//! Everything that touches C: the only unsafe code of this crate.
//!
//! What every block relies on is what PKCS#11 asks of both sides. The application gives pointers that are null or
//! valid for the length that it says, for as long as the call runs. The module writes no more than it was told,
//! and its tables and functions stay where they are, because it is never unloaded here.
//!
//! Arguments are forwarded without a look. They are looked at after the call, and then only as far as the answer
//! shows that the module has looked at them as well: an application that passes nonsense and gets an error for it
//! gets the same error here.
#![expect(
    unsafe_code,
    reason = "the interface is C: pointers come in, functions of the real module are called"
)]
#![expect(
    unreachable_pub,
    reason = "exported symbols are pub for the linker, and nobody links to this crate"
)]

#[macro_use]
mod table;
mod call;
mod capture;
mod entry;
mod exported;
mod forward;
mod interface;
mod mechanism;
mod messages;
mod signals;
mod system;
mod tables;
mod target;

pub(crate) use call::Place;
pub(crate) use signals::at_crash;
pub(crate) use system::{
    Errno, at_exit, counter, counter_is_the_clock, environment, fork_count, soon_written,
    without_signals,
};
