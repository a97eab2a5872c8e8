//! The forwarders: for each function of the standard and each table one that calls the same function of the real
//! module's table with the same arguments and gives back its answer.
//!
//! The table is a constant of the forwarder, because an application that holds the functions of one table must
//! reach that table of the module and no other.

use std::ffi::c_void;

use cryptoki_sys::*;

use super::call::{self, Began, Place};
use super::interface;
use super::tables;

macro_rules! forwarders {
    ($($name:ident($($argument:ident: $type:ty),*) [$($verb:ident($($what:ident),*))*])*) => {
        $(
            #[expect(non_snake_case, reason = "the names of the standard")]
            #[allow(clippy::too_many_arguments, reason = "as many as the standard has")]
            unsafe extern "C" fn $name<const TABLE: usize>($($argument: $type),*) -> CK_RV {
                let Some(function) = tables::real(TABLE).and_then(|list| list.$name) else {
                    return CKR_FUNCTION_NOT_SUPPORTED;
                };
                let began = call::begin();
                // SAFETY: the pointer is from the module's own table; the arguments are the application's.
                let rv = unsafe { function($($argument),*) };
                // SAFETY: the arguments of the call that has just come back with this code.
                unsafe { told::$name(began, rv, $($argument),*) };
                rv
            }
        )*

        /// What of the arguments is told to the recorder; once for all tables.
        mod told {
            use super::*;

            $(
                #[expect(non_snake_case, reason = "the names of the standard")]
                #[allow(
                    unused_variables,
                    clippy::too_many_arguments,
                    reason = "the arguments of the standard, of which few are told"
                )]
                pub(super) unsafe fn $name(began: Option<Began>, rv: CK_RV, $($argument: $type),*) {
                    call::end(began, Place::$name, rv, |capture| {
                        $(
                            // SAFETY: the caller's word that these are the arguments of the call with this code.
                            unsafe { capture.$verb($($what),*) };
                        )*
                    });
                }
            )*
        }

        /// A table with a forwarder wherever the module's table `real` has a function.
        pub(super) fn table<const TABLE: usize>(real: &CK_FUNCTION_LIST_3_2) -> CK_FUNCTION_LIST_3_2 {
            let mut ours = CK_FUNCTION_LIST_3_2 {
                version: real.version,
                $($name: real.$name.and(Some($name::<TABLE>)),)*
            };
            interface::answer_itself::<TABLE>(&mut ours);
            ours
        }

        /// The table of the functions that the module exports by name.
        pub(super) fn by_name(find: impl Fn(&'static std::ffi::CStr) -> *mut c_void) -> CK_FUNCTION_LIST_3_2 {
            CK_FUNCTION_LIST_3_2 {
                $(
                    // SAFETY: a symbol of this name in a PKCS#11 module is this function, and null is `None`.
                    $name: unsafe { std::mem::transmute::<*mut c_void, Option<unsafe extern "C" fn($($type),*) -> CK_RV>>(find(tables::c_name(concat!(stringify!($name), "\0")))) },
                )*
                ..Default::default()
            }
        }
    };
}

pkcs11_functions!(forwarders);
