//! Which backend a key runs on: by name, by the environment, or the fastest.
#![expect(unsafe_code, reason = "an entry of a C library")]

use std::ffi::c_char;
use std::ptr;
use std::sync::OnceLock;

use keywright_fpe::Backend;

use crate::boundary;
use crate::context::{Context, of};
use crate::failure::Failure;

/// The backend that the environment names, read once. One that does not serve an algorithm says
/// nothing about it.
pub(crate) fn of_environment() -> Result<Option<Backend>, Failure> {
    static NAMED: OnceLock<Result<Option<Backend>, ()>> = OnceLock::new();
    let named = NAMED.get_or_init(|| match environment("KEYWRIGHT_FPE_BACKEND") {
        Some(word) => named(word.as_encoded_bytes()).map(Some).map_err(drop),
        None => Ok(None),
    });
    named.map_err(|()| Failure::BackendUnknown)
}

#[expect(clippy::disallowed_methods, reason = "the faces read the environment")]
fn environment(name: &str) -> Option<std::ffi::OsString> {
    std::env::var_os(name).filter(|word| !word.is_empty())
}

/// The backend of this name.
///
/// # Errors
/// [`Failure::BackendUnknown`].
pub(crate) fn named(word: &[u8]) -> Result<Backend, Failure> {
    let word = str::from_utf8(word).map_err(|_| Failure::BackendUnknown)?;
    word.parse().map_err(|_| Failure::BackendUnknown)
}

/// `FPE_CTX_backend`.
///
/// # Safety
/// `ctx` as for [`of`].
#[unsafe(export_name = "FPE_CTX_backend")]
pub(crate) unsafe extern "C" fn backend_name(ctx: *const Context) -> *const c_char {
    let name = boundary::value(|| {
        // SAFETY: the duty of this function is that of `of`.
        let backend = unsafe { of(ctx) }?.key()?.backend();
        Ok(match backend {
            Backend::Portable => c"portable",
            Backend::AesNi => c"aesni",
            Backend::Vaes256 => c"vaes256",
            Backend::Vaes512 => c"vaes512",
            Backend::Sm4AesNi => c"sm4-aesni",
            Backend::Sm4Gfni => c"sm4-gfni",
            Backend::ArmAes => c"arm-aes",
            Backend::ArmSm4 => c"arm-sm4",
            _ => c"other",
        })
    });
    name.map_or(ptr::null(), std::ffi::CStr::as_ptr)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::{free, init_ex, new};
    use keywright_fpe::Algorithm;
    use std::ffi::c_uint;

    #[test]
    fn every_backend_has_its_own_name_in_c() {
        for backend in Backend::ALL.into_iter().filter(|one| one.is_available()) {
            let algorithm = c_uint::from(!backend.serves(Algorithm::Aes));
            let word = std::ffi::CString::new(backend.name()).unwrap();
            let ctx = new();
            let secret = [7_u8; 16];
            // SAFETY: a fresh context, 16 bytes, a string; freed once.
            unsafe {
                let made = init_ex(ctx, 0, algorithm, secret.as_ptr(), 16, 10, word.as_ptr());
                assert_eq!(made, 0);
                let name = std::ffi::CStr::from_ptr(backend_name(ctx));
                assert_eq!(name, word.as_c_str());
                free(ctx);
            }
        }
    }
}
