//! The functions that give out tables: they give ours instead of the module's.

use std::ffi::CStr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use cryptoki_sys::*;

use super::call::{self, Place};
use super::tables;

/// The interfaces whose tables are those of the standard. Tables under other names are a vendor's own, of which
/// not even the length is known; they are given out as they are.
const STANDARD: &CStr = c"PKCS 11";

/// Puts these functions where the forwarders of a table would be.
pub(super) fn answer_itself<const TABLE: usize>(ours: &mut CK_FUNCTION_LIST_3_2) {
    ours.C_GetFunctionList = ours.C_GetFunctionList.and(Some(function_list::<TABLE>));
    ours.C_GetInterfaceList = ours.C_GetInterfaceList.and(Some(interface_list::<TABLE>));
    ours.C_GetInterface = ours.C_GetInterface.and(Some(interface::<TABLE>));
}

unsafe extern "C" fn function_list<const TABLE: usize>(list: *mut *mut CK_FUNCTION_LIST) -> CK_RV {
    let Some(function) = tables::real(TABLE).and_then(|real| real.C_GetFunctionList) else {
        return CKR_FUNCTION_NOT_SUPPORTED;
    };
    let began = call::begin();
    // SAFETY: the module's function with the application's argument.
    let rv = unsafe { function(list) };
    if rv == CKR_OK && !list.is_null() {
        shielded(|| {
            // SAFETY: the module has just written its table there.
            unsafe { *list = tables::instead_of(*list) };
        });
    }
    call::end(began, Place::C_GetFunctionList, rv, |_| {});
    rv
}

unsafe extern "C" fn interface_list<const TABLE: usize>(
    list: *mut CK_INTERFACE,
    count: *mut CK_ULONG,
) -> CK_RV {
    let Some(function) = tables::real(TABLE).and_then(|real| real.C_GetInterfaceList) else {
        return CKR_FUNCTION_NOT_SUPPORTED;
    };
    let began = call::begin();
    // SAFETY: the module's function with the application's arguments.
    let rv = unsafe { function(list, count) };
    if rv == CKR_OK && !list.is_null() && !count.is_null() {
        shielded(|| {
            // SAFETY: the module has just written so many.
            let written = usize::try_from(unsafe { *count }).unwrap_or_default();
            // SAFETY: so many entries of the application's array were written by the module.
            for entry in unsafe { std::slice::from_raw_parts_mut(list, written) } {
                // SAFETY: an interface of the module.
                unsafe { replace(entry) };
            }
        });
    }
    call::end(began, Place::C_GetInterfaceList, rv, |capture| {
        // SAFETY: an argument of the call that has come back.
        unsafe { capture.listed(list) };
    });
    rv
}

unsafe extern "C" fn interface<const TABLE: usize>(
    name: *mut CK_UTF8CHAR,
    version: *mut CK_VERSION,
    found: *mut *mut CK_INTERFACE,
    flags: CK_FLAGS,
) -> CK_RV {
    let Some(function) = tables::real(TABLE).and_then(|real| real.C_GetInterface) else {
        return CKR_FUNCTION_NOT_SUPPORTED;
    };
    let began = call::begin();
    // SAFETY: the module's function with the application's arguments.
    let rv = unsafe { function(name, version, found, flags) };
    if rv == CKR_OK && !found.is_null() {
        shielded(|| {
            // SAFETY: the module has just written a pointer to an interface of its own there.
            unsafe { *found = instead_of(*found) };
        });
    }
    call::end(began, Place::C_GetInterface, rv, |_| {});
    rv
}

/// Puts our table into a copy of one of the module's interfaces.
unsafe fn replace(interface: &mut CK_INTERFACE) {
    if interface.pInterfaceName.is_null() {
        return;
    }
    // SAFETY: the name is a string of the module's that stays.
    let name = unsafe { CStr::from_ptr(interface.pInterfaceName.cast_const().cast()) };
    if name == STANDARD {
        // SAFETY: an interface of this name holds a table of the standard.
        let list = unsafe { tables::instead_of(interface.pFunctionList.cast()) };
        interface.pFunctionList = list.cast();
    }
}

struct Interface {
    /// Where the module has it.
    of: usize,
    ours: AtomicPtr<CK_INTERFACE>,
}

/// The module's interfaces that were given out, with ours for each. One beyond these is given out as it is.
static INTERFACES: [OnceLock<Interface>; 16] = [const { OnceLock::new() }; 16];

/// Our interface for one of the module's; it stays, as the module's would.
unsafe fn instead_of(real: *mut CK_INTERFACE) -> *mut CK_INTERFACE {
    if real.is_null() {
        return real;
    }
    for slot in &INTERFACES {
        let known = slot.get_or_init(|| {
            // SAFETY: the module gave this pointer as that of an interface.
            let mut copy = unsafe { *real };
            // SAFETY: a copy of an interface of the module.
            unsafe { replace(&mut copy) };
            Interface {
                of: real.addr(),
                ours: AtomicPtr::new(Box::into_raw(Box::new(copy))),
            }
        });
        if known.of == real.addr() {
            return known.ours.load(Ordering::Acquire);
        }
    }
    real
}

/// What fails in `work` stays in here; the application then has what the module wrote.
fn shielded(work: impl FnOnce()) {
    drop(catch_unwind(AssertUnwindSafe(work)));
}
