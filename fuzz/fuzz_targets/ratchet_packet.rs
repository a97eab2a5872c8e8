//! Packets of a ratchet session, against sessions in every stage. What opens is used up, as in a session.
#![no_main]

use std::cell::RefCell;

use keywright_ratchet::fuzzing::{self, Scene};

thread_local! {
    static SCENES: RefCell<Vec<Scene>> = RefCell::new(fuzzing::scenes().unwrap_or_default());
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    SCENES.with_borrow_mut(|scenes| fuzzing::packet(scenes, data));
});
