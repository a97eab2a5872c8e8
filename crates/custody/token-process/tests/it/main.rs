//! A token in a child: as good a holder as one in this process, and what becomes of it when its module does not work.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test that cannot go on has failed"
)]

mod child;
mod each_call;
mod faults;
mod holder;
mod hostile;
mod life;
mod scene;
