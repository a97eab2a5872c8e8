//! Gates of the FPE engine that need more than its interface: what the compiler made of it, and what others
//! compute.
//!
//! * [`memcheck`]: talks to valgrind, so that secrets can be marked as undefined; [`cases`] lists the calls.
//! * [`disassembly`]: finds divisions and table look-ups in the text that objdump writes; [`places`] says
//!   where there may be none.
//! * [`timing`]: whether two sets of measurements have the same mean; [`kernels`] lists what is measured, and
//!   [`codecs`] what keys and tags are written, read and compared with elsewhere, which goes by the same rule.
//! * [`backends`]: all backends of the machine against the portable one.
//! * [`agreement`]: compares with the `fpe` crate (FF1) and with [`second`] (FF3-1), for fuzzing.
//! * [`planted`]: code that breaks the rules on purpose. A gate that does not find it proves nothing.
//!
//! `scripts/fpe-gates` builds the programs with the release profile and runs them.
#![deny(unsafe_code)]

pub mod agreement;
pub mod backends;
pub mod cases;
pub mod codecs;
pub mod disassembly;
pub mod kernels;
pub mod memcheck;
pub mod places;
pub mod planted;
pub mod second;
pub mod sequence;
pub mod timing;
