//! The first call: the real module is loaded, once, and what it exports by name is at hand.

use std::io::Write as _;
use std::panic::catch_unwind;
use std::sync::OnceLock;

use cryptoki_sys::{
    CK_FUNCTION_LIST_3_2, CK_RV, CKR_FUNCTION_NOT_SUPPORTED, CKR_LIBRARY_LOAD_FAILED,
};

use super::target::{self, Refusal};
use super::{system, tables};
use crate::event::Event;
use crate::{recorder, settings};

static LOADED: OnceLock<Result<(), Refusal>> = OnceLock::new();

/// Our table of the functions that the module exports.
pub(super) fn by_name() -> Option<&'static CK_FUNCTION_LIST_3_2> {
    loaded().ok()?;
    tables::ours(tables::BY_NAME)
}

/// What a function answers that the module does not export.
pub(super) fn absent() -> CK_RV {
    match loaded() {
        Ok(()) => CKR_FUNCTION_NOT_SUPPORTED,
        Err(_) => CKR_LIBRARY_LOAD_FAILED,
    }
}

fn loaded() -> Result<(), Refusal> {
    *LOADED.get_or_init(|| {
        system::stay_loaded();
        if !cfg!(test) {
            // A fault in here is no business of the application's standard error.
            std::panic::set_hook(Box::new(|_| {}));
        }
        let loaded = catch_unwind(load).unwrap_or(Err(Refusal::Fault));
        if let Err(refusal) = loaded {
            drop(catch_unwind(|| tell(refusal)));
        }
        loaded
    })
}

fn load() -> Result<(), Refusal> {
    let path = settings::target(system::environment).ok_or(Refusal::Unnamed)?;
    tables::keep_by_name(target::open(&path)?);
    Ok(())
}

/// Without a module no call can succeed, and a return code cannot say which variable to set.
fn tell(refusal: Refusal) {
    drop(writeln!(std::io::stderr(), "keywright recorder: {refusal}"));
    if let Some(recorder) = recorder::current() {
        let mut event = Event::new(super::Place::C_GetFunctionList, CKR_LIBRARY_LOAD_FAILED);
        event.began = recorder.now();
        event.thread = system::thread_number();
        event.hint = Some(refusal.to_string().into());
        recorder.record(&event);
    }
}
