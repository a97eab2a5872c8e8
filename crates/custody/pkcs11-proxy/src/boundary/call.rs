//! Around one call: the time before, and what is told to the recorder after.

use std::panic::{AssertUnwindSafe, catch_unwind};

use cryptoki_sys::CK_RV;

use super::capture::Capture;
use super::system::thread_number;
use crate::event::Event;
use crate::recorder::{self, Recorder};

macro_rules! places {
    ($($name:ident($($argument:ident: $type:ty),*) [$($captures:tt)*])*) => {
        /// A function, by its place in the list of 3.2.
        #[expect(non_camel_case_types, reason = "the names of the standard")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum Place { $($name),* }

        /// All, each at its place.
        const PLACES: &[Place] = &[$(Place::$name),*];

        #[cfg(test)]
        const NAMES: &[(&str, Place)] = &[$((stringify!($name), Place::$name)),*];
    };
}

pkcs11_functions!(places);

impl Place {
    /// The function at this place of the list.
    pub(crate) fn at(index: usize) -> Option<Self> {
        PLACES.get(index).copied()
    }
}

/// A call that is about to be forwarded.
pub(super) struct Began {
    recorder: &'static Recorder,
    at: u64,
}

/// Before the call. Nothing, unless it is to be recorded.
#[inline(always)]
pub(super) fn begin() -> Option<Began> {
    let recorder = recorder::current()?;
    let at = recorder.now();
    Some(Began { recorder, at })
}

/// After the call. Whatever goes wrong in here stays here.
#[inline(always)]
pub(super) fn end(
    began: Option<Began>,
    place: Place,
    rv: CK_RV,
    describe: impl FnOnce(&mut Capture<'_>),
) {
    let Some(Began { recorder, at }) = began else {
        return;
    };
    let ended = recorder.now();
    let told = catch_unwind(AssertUnwindSafe(|| {
        let mut event = Event::new(place, rv);
        event.began = at;
        event.took = ended.saturating_sub(at);
        event.thread = thread_number();
        describe(&mut Capture::new(&mut event));
        recorder.record(&event);
    }));
    if told.is_err() {
        recorder.lost();
    }
}

#[cfg(test)]
mod tests {
    use keywright_pkcs11_names::Function;

    use super::*;

    #[test]
    fn the_rows_are_the_functions_of_the_standard_in_its_order() {
        let functions: Vec<_> = Function::all().collect();
        assert_eq!(NAMES.len(), functions.len());
        for (&(name, place), function) in NAMES.iter().zip(functions) {
            assert_eq!(name, function.name());
            assert_eq!(place as usize, function.index());
        }
    }
}
