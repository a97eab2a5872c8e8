//! The real module: found, loaded, and never unloaded.

use std::ffi::{CStr, CString, c_void};
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use cryptoki_sys::CK_FUNCTION_LIST_3_2;

use super::{forward, system};

/// Why there is no module to forward to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    #[error("no module is named: set KEYWRIGHT_P11_TARGET to the file of the real one")]
    Unnamed,
    #[error("the module that KEYWRIGHT_P11_TARGET names is the recorder itself")]
    Itself,
    #[error("the file that KEYWRIGHT_P11_TARGET names cannot be loaded")]
    Unloadable,
    #[error(
        "the file that KEYWRIGHT_P11_TARGET names has no C_GetFunctionList, so it is no PKCS#11 module"
    )]
    NotAModule,
    #[error("the recorder failed while it started")]
    Fault,
}

/// Loads the module and gives the table of what it exports by name.
pub(super) fn open(path: &Path) -> Result<CK_FUNCTION_LIST_3_2, Refusal> {
    if same_file(path, system::library_of(own()).as_deref()) {
        return Err(Refusal::Itself);
    }
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| Refusal::Unloadable)?;
    // SAFETY: a C string. Loading runs the constructors of the file, which whoever set the environment chose.
    let library = unsafe { libc::dlopen(name.as_ptr(), flags()) };
    if library.is_null() {
        return Err(Refusal::Unloadable);
    }
    let find = |name: &CStr| -> *mut c_void {
        // SAFETY: the library is loaded and the name is a C string.
        unsafe { libc::dlsym(library, name.as_ptr()) }
    };
    let table = forward::by_name(find);
    let Some(first) = table.C_GetFunctionList else {
        return Err(Refusal::NotAModule);
    };
    if is_own(first as *const c_void) {
        return Err(Refusal::Itself);
    }
    Ok(table)
}

/// An address in this library that no other library's symbol can stand in for.
fn own() -> *const c_void {
    flags as *const c_void
}

/// Whether an address is in this library.
fn is_own(address: *const c_void) -> bool {
    match (system::library_of(address), system::library_of(own())) {
        (Some(of), Some(own)) => of == own,
        _ => false,
    }
}

/// The module's names stay its own. Where ours are names of the whole program, because the program is linked to
/// the recorder, the module must look into itself first, or it would call us where it means itself.
fn flags() -> i32 {
    let local = libc::RTLD_NOW | libc::RTLD_LOCAL;
    // SAFETY: asks for a symbol by a C string.
    let global = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"C_GetFunctionList".as_ptr()) };
    if !global.is_null() && is_own(global) {
        local | libc::RTLD_DEEPBIND
    } else {
        local
    }
}

fn same_file(one: &Path, other: Option<&Path>) -> bool {
    let of = |path: &Path| fs::metadata(path).ok().map(|meta| (meta.dev(), meta.ino()));
    of(one).is_some_and(|one| other.and_then(of) == Some(one))
}
