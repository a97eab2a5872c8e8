//! The symbols: every function of the standard by its name, for applications that link to the module or ask for
//! single symbols. They call what the real module exports under that name.

use std::ffi::c_void;

use cryptoki_sys::*;

use super::entry;

macro_rules! exported {
    ($($name:ident($($argument:ident: $type:ty),*) [$($captures:tt)*])*) => {
        $(
            #[allow(clippy::too_many_arguments, reason = "as many as the standard has")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C" fn $name($($argument: $type),*) -> CK_RV {
                let Some(function) = entry::by_name().and_then(|list| list.$name) else {
                    return entry::absent();
                };
                // SAFETY: a forwarder with the same arguments.
                unsafe { function($($argument),*) }
            }
        )*
    };
}

pkcs11_functions!(exported);
