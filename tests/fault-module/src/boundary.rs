//! The C side: the table that applications are given, and the real module's functions behind it.

use std::ffi::{CStr, CString, c_void};
use std::sync::OnceLock;

use cryptoki_sys::*;

use crate::{Fault, fault_of, target};

/// Flips a bit of each buffer that a function gives out, as the table of functions names them.
macro_rules! flip_outputs {
    () => {};
    (given($out:ident, $len:ident) $($rest:tt)*) => {
        // SAFETY: the caller's buffer and its length, which the real module has just written.
        unsafe { flip($out, $len) };
        flip_outputs!($($rest)*);
    };
    ($other:ident $arguments:tt $($rest:tt)*) => { flip_outputs!($($rest)*); };
}

/// Flips the lowest bit of the first byte of an output.
///
/// # Safety
/// `out` is null, or `len` is a valid length and `out` has as many bytes.
unsafe fn flip(out: *mut CK_BYTE, len: *mut CK_ULONG) {
    if out.is_null() || len.is_null() {
        return;
    }
    // SAFETY: as the caller promises.
    unsafe {
        if *len > 0 {
            *out ^= 1;
        }
    }
}

macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*) [$($captures:tt)*])*) => {
        /// The names of all functions of the standard, in its order.
        pub(crate) const NAMES: &[&str] = &[$(stringify!($name)),*];

        /// The forwarders.
        mod forward {
            #![allow(non_snake_case, reason = "the names of the standard")]
            use super::*;
            $(
                #[allow(clippy::too_many_arguments, reason = "as many as the standard has")]
                pub(super) unsafe extern "C" fn $name($($argument: $type),*) -> CK_RV {
                    let fault = fault_of(stringify!($name));
                    match fault {
                        None | Some(Fault::Flip) => {}
                        Some(Fault::Answer(code)) => return code,
                        Some(Fault::Crash) => std::process::abort(),
                        Some(Fault::Wild) => {
                            // SAFETY: there is nothing at this address, so that the process ends, which is what is
                            // asked for.
                            unsafe { std::ptr::without_provenance_mut::<u8>(0x10).write_volatile(1) };
                        }
                    }
                    let Some(function) = real().and_then(|list| list.$name) else {
                        return CKR_FUNCTION_NOT_SUPPORTED;
                    };
                    // SAFETY: the function of that name in the real module, with the caller's arguments.
                    let code = unsafe { function($($argument),*) };
                    if code == CKR_OK && matches!(fault, Some(Fault::Flip)) {
                        flip_outputs!($($captures)*);
                    }
                    code
                }
            )*
        }

        fn by_name(library: *mut c_void) -> CK_FUNCTION_LIST_3_2 {
            CK_FUNCTION_LIST_3_2 {
                version: CK_VERSION { major: 2, minor: 40 },
                $($name: {
                    let place = symbol(library, concat!(stringify!($name), "\0"));
                    // SAFETY: a symbol of this name in a module is this function, and null is none.
                    unsafe { std::mem::transmute::<*mut c_void, Option<unsafe extern "C" fn($($type),*) -> CK_RV>>(place) }
                },)*
            }
        }

        fn own() -> CK_FUNCTION_LIST_3_2 {
            CK_FUNCTION_LIST_3_2 {
                version: CK_VERSION { major: 2, minor: 40 },
                $($name: real().and_then(|list| list.$name).and(Some(forward::$name)),)*
            }
        }
    };
}

pkcs11_functions!(functions);

/// What never changes once it is there.
struct Shared(CK_FUNCTION_LIST_3_2);
// SAFETY: functions and a version, written once and only read afterwards.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

/// The real module's functions.
fn real() -> Option<&'static CK_FUNCTION_LIST_3_2> {
    static REAL: OnceLock<Option<Shared>> = OnceLock::new();
    let shared = REAL.get_or_init(|| {
        let name = target()?;
        // SAFETY: a C string; the tests say which file that is, and it is a module.
        let library = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        (!library.is_null()).then(|| Shared(by_name(library)))
    });
    shared.as_ref().map(|shared| &shared.0)
}

fn symbol(library: *mut c_void, name: &str) -> *mut c_void {
    // SAFETY: the library is open and the name ends with a zero.
    unsafe { libc::dlsym(library, name.as_ptr().cast()) }
}

/// Gives out the table.
///
/// # Safety
/// As the standard has it: `list` is a place for a pointer, or null.
#[expect(unreachable_pub, reason = "applications reach it by its symbol")]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn C_GetFunctionList(list: *mut *mut CK_FUNCTION_LIST) -> CK_RV {
    static OWN: OnceLock<Shared> = OnceLock::new();
    if list.is_null() || real().is_none() {
        return CKR_ARGUMENTS_BAD;
    }
    let own = OWN.get_or_init(|| {
        let mut own = own();
        own.C_GetFunctionList = Some(C_GetFunctionList);
        Shared(own)
    });
    // SAFETY: the caller's place; a table of 2.40 is the beginning of the one here, and nobody writes to it.
    unsafe { *list = (&raw const own.0).cast_mut().cast() };
    CKR_OK
}

/// The file that this was loaded from.
pub(crate) fn own_file() -> Option<CString> {
    let mut about = libc::Dl_info {
        dli_fname: std::ptr::null(),
        dli_fbase: std::ptr::null_mut(),
        dli_sname: std::ptr::null(),
        dli_saddr: std::ptr::null_mut(),
    };
    let place = C_GetFunctionList as *const c_void;
    // SAFETY: an address of this library and a place for what is known of it.
    let found = unsafe { libc::dladdr(place, &raw mut about) };
    if found == 0 || about.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader's own name of the file, which stays for as long as the library does.
    Some(unsafe { CStr::from_ptr(about.dli_fname) }.to_owned())
}
