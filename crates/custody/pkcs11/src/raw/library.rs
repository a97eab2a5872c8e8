//! Loading a module and finding its table of functions.

use std::ffi::OsStr;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::ptr::null_mut;

use cryptoki_sys::{
    CK_FUNCTION_LIST, CK_FUNCTION_LIST_3_0, CK_FUNCTION_LIST_3_2, CK_INTERFACE, CKR_OK,
};

use super::no_functions;

/// A loaded module: its table of functions, and the library that they live in.
pub(crate) struct Functions {
    list: CK_FUNCTION_LIST_3_2,
    /// Never unloaded. Modules and what they are linked with leave work for the end of each thread that called them; once
    /// their code is gone, that thread ends the process.
    _library: ManuallyDrop<cryptoki_sys::Pkcs11>,
}

/// Why a file is no module.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadFault {
    /// The file cannot be read.
    #[error("the file cannot be read: {0}")]
    Unreadable(#[source] std::io::Error),
    /// The loader refused it: not a shared library, for another machine, or a library that it needs is
    /// missing.
    #[error("the loader refused it: {0}")]
    Refused(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// It is a library, with neither `C_GetInterface` nor `C_GetFunctionList`.
    #[error("it is a library without C_GetFunctionList, so it is no PKCS#11 module")]
    NotAModule,
    /// It gave no table of functions.
    #[error("it gave no table of functions (return code 0x{0:08x})")]
    NoFunctions(u64),
}

impl Functions {
    /// Loads the module at `path`.
    pub(crate) fn load(path: &Path) -> Result<Self, LoadFault> {
        // The loader would search its own folders for a bare name, and tell less about a missing file.
        std::fs::File::open(path).map_err(LoadFault::Unreadable)?;
        let file: &OsStr = path.as_os_str();
        // SAFETY: loading runs the constructors of the file. Which file that is was chosen by whoever
        // configures this program, and that it is a PKCS#11 module is all that the choice means.
        let library = unsafe { cryptoki_sys::Pkcs11::new(file) };
        let library = library.map_err(|error| LoadFault::Refused(Box::new(error)))?;
        let list = match newest(&library) {
            Some(list) => list,
            None => oldest(&library)?,
        };
        Ok(Self {
            list,
            _library: ManuallyDrop::new(library),
        })
    }

    pub(super) const fn list(&self) -> &CK_FUNCTION_LIST_3_2 {
        &self.list
    }

    /// The version of the standard that the table follows.
    pub(crate) const fn version(&self) -> (u8, u8) {
        (self.list.version.major, self.list.version.minor)
    }
}

/// The default interface of version 3.0 and later.
fn newest(library: &cryptoki_sys::Pkcs11) -> Option<CK_FUNCTION_LIST_3_2> {
    library.C_GetInterface.as_ref().ok()?;
    let mut interface: *mut CK_INTERFACE = null_mut();
    // SAFETY: the symbol is there; null name and version ask for the default interface, and the module
    // writes one pointer to a structure of its own that it never changes.
    let code = unsafe { library.C_GetInterface(null_mut(), null_mut(), &raw mut interface, 0) };
    if code != CKR_OK || interface.is_null() {
        return None;
    }
    // SAFETY: the module said that it wrote a pointer to an interface, and it is not null.
    let list: *const CK_FUNCTION_LIST = unsafe { *interface }.pFunctionList.cast_const().cast();
    copy(list)
}

/// The table of version 2.
fn oldest(library: &cryptoki_sys::Pkcs11) -> Result<CK_FUNCTION_LIST_3_2, LoadFault> {
    if library.C_GetFunctionList.is_err() {
        return Err(LoadFault::NotAModule);
    }
    let mut list: *mut CK_FUNCTION_LIST = null_mut();
    // SAFETY: the symbol is there; the module writes one pointer to its table.
    let code = unsafe { library.C_GetFunctionList(&raw mut list) };
    if code != CKR_OK {
        return Err(LoadFault::NoFunctions(code));
    }
    copy(list).ok_or(LoadFault::NoFunctions(code))
}

/// Copies a table of any version into one of the newest, in which later functions are absent. Each version
/// only adds functions at the end.
fn copy(list: *const CK_FUNCTION_LIST) -> Option<CK_FUNCTION_LIST_3_2> {
    if list.is_null() {
        return None;
    }
    // SAFETY: the pointer is not null and came from the module as its table, which begins with the version
    // in each of them.
    let version = unsafe { (*list).version };
    let size = match (version.major, version.minor) {
        (0 | 1, _) => return None,
        (2, _) => size_of::<CK_FUNCTION_LIST>(),
        (3, 0 | 1) => size_of::<CK_FUNCTION_LIST_3_0>(),
        _ => size_of::<CK_FUNCTION_LIST_3_2>(),
    };
    let mut table = no_functions();
    // SAFETY: a table of this version has `size` bytes, which is at most the size of `table`; the three
    // structures have the same beginning, and absent functions are null in both.
    unsafe {
        std::ptr::copy_nonoverlapping(list.cast::<u8>(), (&raw mut table).cast::<u8>(), size);
    }
    Some(table)
}
