//! A module that does nothing: every function keeps the arguments it was called with and answers the code it was
//! told to. The tests put it behind the recorder.
//!
//! Its table is of version 2.40; its interfaces are 2.40, 3.0, 3.2 and one
//! of a vendor. Every ninth function of its tables is absent with `FAKE_HOLES`.
#![expect(unsafe_code, reason = "a module of PKCS#11 is functions of C")]
#![expect(
    clippy::disallowed_methods,
    reason = "the tests tell a module in the environment what it shall be"
)]
#![allow(
    missing_docs,
    clippy::missing_safety_doc,
    reason = "the functions of the standard, for tests only"
)]

#[macro_use]
#[path = "../../src/boundary/table.rs"]
mod table;
mod word;

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use cryptoki_sys::*;
use word::Word as _;

const WILD: u64 = u64::MAX - 1;
static ANSWER: AtomicU64 = AtomicU64::new(CKR_OK);
static SEEN: Mutex<Vec<usize>> = Mutex::new(Vec::new());

/// What every function answers from now on. The largest number ends the process at the next call, the one below
/// makes that call write where nothing is.
#[unsafe(no_mangle)]
pub extern "C" fn fake_answer(code: u64) {
    ANSWER.store(code, Ordering::Release);
}

/// Writes the length of the name of the last function that was called and its arguments to `out`; how many.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fake_seen(out: *mut usize, room: usize) -> usize {
    let seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    let count = seen.len().min(room);
    // SAFETY: the test's array, with room for so many.
    unsafe { std::ptr::copy_nonoverlapping(seen.as_ptr(), out, count) };
    count
}

fn called(name: &str, arguments: Vec<usize>) -> CK_RV {
    // Never waits: the child of a fork may find it locked by a thread that it does not have.
    if let Ok(mut seen) = SEEN.try_lock() {
        seen.clear();
        seen.push(name.len());
        seen.extend(arguments);
    }
    match ANSWER.load(Ordering::Acquire) {
        u64::MAX => std::process::abort(),
        WILD => {
            // SAFETY: there is nothing at this address, so that the process ends, which is what is asked for.
            unsafe { std::ptr::without_provenance_mut::<u8>(0x10).write_volatile(1) };
            CKR_GENERAL_ERROR
        }
        code => code,
    }
}

macro_rules! functions {
    ($($name:ident($($argument:ident: $type:ty),*) [$($captures:tt)*])*) => {
        $(
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, clippy::too_many_arguments, reason = "as the standard has it")]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> CK_RV {
                let code = called(stringify!($name), vec![$($argument.word()),*]);
                if code == CKR_OK {
                    // SAFETY: the arguments of this call.
                    unsafe { special(stringify!($name), &[$($argument.word()),*]) };
                }
                code
            }
        )*

        fn full() -> CK_FUNCTION_LIST_3_2 {
            let holes = std::env::var_os("FAKE_HOLES").is_some();
            let mut place = 0_usize;
            let mut there = || {
                place += 1;
                !(holes && place % 9 == 0)
            };
            CK_FUNCTION_LIST_3_2 {
                version: CK_VERSION { major: 3, minor: 2 },
                $($name: there().then_some($name),)*
            }
        }
    };
}

pkcs11_functions!(functions);

struct Tables {
    lists: [CK_FUNCTION_LIST_3_2; 4],
    interfaces: Vec<CK_INTERFACE>,
}

/// The pointers in the interfaces lead into what is never freed.
struct Shared(&'static Tables);
// SAFETY: written once, then only read.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Shared> = OnceLock::new();
    let shared = TABLES.get_or_init(|| {
        let version = |major, minor| CK_FUNCTION_LIST_3_2 {
            version: CK_VERSION { major, minor },
            ..full()
        };
        let lists = [version(2, 40), version(3, 0), version(3, 2), version(9, 9)];
        let tables = Box::leak(Box::new(Tables {
            lists,
            interfaces: Vec::new(),
        }));
        let names = [c"PKCS 11", c"PKCS 11", c"PKCS 11", c"Vendor fake"];
        tables.interfaces = names
            .iter()
            .zip(&tables.lists)
            .zip([0, 1, 0, 0])
            .map(|((name, list), flags)| CK_INTERFACE {
                pInterfaceName: name.as_ptr().cast_mut().cast(),
                pFunctionList: (&raw const *list).cast_mut().cast::<c_void>(),
                flags,
            })
            .collect();
        Shared(tables)
    });
    shared.0
}

/// What the functions do that give out tables.
unsafe fn special(name: &str, arguments: &[usize]) {
    let at = |index: usize| std::ptr::with_exposed_provenance_mut::<c_void>(arguments[index]);
    let tables = tables();
    match name {
        "C_GetFunctionList" if !at(0).is_null() => {
            let list = (&raw const tables.lists[0]).cast_mut();
            // SAFETY: the caller's place for a pointer.
            unsafe { *at(0).cast() = list };
        }
        "C_GetInterfaceList" if !at(1).is_null() => {
            let count = tables.interfaces.len();
            if !at(0).is_null() {
                // SAFETY: the tests have room for them.
                unsafe {
                    std::ptr::copy_nonoverlapping(tables.interfaces.as_ptr(), at(0).cast(), count);
                }
            }
            // SAFETY: the caller's place for the count.
            unsafe { *at(1).cast::<CK_ULONG>() = count as CK_ULONG };
        }
        "C_GetInterface" if !at(2).is_null() => {
            // The flags say which one.
            let index = arguments[3].min(tables.interfaces.len() - 1);
            let interface = (&raw const tables.interfaces[index]).cast_mut();
            // SAFETY: the caller's place for a pointer.
            unsafe { *at(2).cast() = interface };
        }
        _ => {}
    }
}
