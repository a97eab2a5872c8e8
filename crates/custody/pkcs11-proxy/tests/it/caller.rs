//! Loading the recorder and the module behind it, and processes to do it in.

use std::ffi::{CStr, CString, c_void};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::ptr::null_mut;

use cryptoki_sys::*;

/// The folder that cargo builds into.
fn built() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    program.ancestors().nth(2).unwrap().to_path_buf()
}

/// The module under test: beside the program of the tests, where cargo builds it for them.
pub(crate) fn recorder() -> PathBuf {
    built().join("deps/libkeywright_pkcs11_recorder.so")
}

/// The module that does nothing.
pub(crate) fn fake() -> PathBuf {
    built().join("examples/libkeywright_fake_module.so")
}

/// Whether this is the process that is to run a test's body.
const BODY: &str = "RECORDER_TEST_BODY";

/// Runs `body` in another process with these variables, which must succeed; gives back what it said.
pub(crate) fn in_another(
    test: &str,
    environment: &[(&str, &Path)],
    body: impl Fn(),
) -> Option<Output> {
    if is_body() {
        body();
        return None;
    }
    let output = start(test, environment);
    assert!(output.status.success(), "{test}: {}", said(&output));
    Some(output)
}

/// Whether this process was started by [`start`].
#[expect(
    clippy::disallowed_methods,
    reason = "how the two processes of a test are told apart"
)]
pub(crate) fn is_body() -> bool {
    std::env::var_os(BODY).is_some()
}

/// Runs the test again in another process with these variables.
pub(crate) fn start(test: &str, environment: &[(&str, &Path)]) -> Output {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(BODY, "1")
        .env("KEYWRIGHT_P11_TARGET", fake())
        .envs(environment.iter().map(|(name, value)| (*name, *value)))
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

pub(crate) fn said(output: &Output) -> String {
    let text = [&output.stdout[..], &output.stderr].concat();
    String::from_utf8_lossy(&text).into_owned()
}

/// A loaded library.
#[derive(Clone, Copy)]
pub(crate) struct Library(*mut c_void);

#[expect(unsafe_code, reason = "a module is loaded and called as C programs do")]
impl Library {
    pub(crate) fn load(path: &Path) -> Self {
        let name = CString::new(path.as_os_str().as_bytes()).unwrap();
        // SAFETY: a C string; the file is one that this workspace built.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        assert!(!handle.is_null(), "{} cannot be loaded", path.display());
        Self(handle)
    }

    pub(crate) fn symbol(self, name: &CStr) -> *mut c_void {
        // SAFETY: a loaded library and a C string.
        unsafe { libc::dlsym(self.0, name.as_ptr()) }
    }

    pub(crate) fn close(self) {
        // SAFETY: a loaded library.
        unsafe { libc::dlclose(self.0) };
    }

    /// What `C_GetFunctionList` answers, and the table.
    pub(crate) fn function_list(self) -> (CK_RV, *mut CK_FUNCTION_LIST) {
        // SAFETY: the symbol is this function in every PKCS#11 module.
        let function: CK_C_GetFunctionList =
            unsafe { std::mem::transmute(self.symbol(c"C_GetFunctionList")) };
        let mut list = null_mut();
        // SAFETY: a place for a pointer.
        let rv = unsafe { function.unwrap()(&raw mut list) };
        (rv, list)
    }

    /// The interface that `flags` ask the fake module for.
    pub(crate) fn interface(self, flags: CK_FLAGS) -> CK_INTERFACE {
        // SAFETY: the symbol is this function.
        let function: CK_C_GetInterface =
            unsafe { std::mem::transmute(self.symbol(c"C_GetInterface")) };
        let mut interface = null_mut();
        // SAFETY: a place for a pointer; no name and no version are asked for.
        let rv = unsafe { function.unwrap()(null_mut(), null_mut(), &raw mut interface, flags) };
        assert_eq!(rv, CKR_OK);
        // SAFETY: the module has just written a pointer to an interface.
        unsafe { *interface }
    }

    /// The interfaces that `C_GetInterfaceList` gives.
    pub(crate) fn interfaces(self) -> Vec<CK_INTERFACE> {
        // SAFETY: the symbol is this function.
        let function: CK_C_GetInterfaceList =
            unsafe { std::mem::transmute(self.symbol(c"C_GetInterfaceList")) };
        let mut count = 0;
        // SAFETY: a place for a number.
        let asked = unsafe { function.unwrap()(null_mut(), &raw mut count) };
        assert_eq!(asked, CKR_OK);
        let length = usize::try_from(count).unwrap();
        let mut list = Vec::with_capacity(length);
        // SAFETY: room for so many, which is then written.
        unsafe {
            assert_eq!(function.unwrap()(list.as_mut_ptr(), &raw mut count), CKR_OK);
            list.set_len(length);
        }
        list
    }

    /// What the fake module shall answer.
    pub(crate) fn answer(self, code: CK_RV) {
        let place = self.symbol(c"fake_answer");
        // SAFETY: this function of the fake module.
        let function: extern "C" fn(u64) = unsafe { std::mem::transmute(place) };
        function(code);
    }

    /// The length of the name of the last function that arrived at the fake module, and its arguments.
    pub(crate) fn seen(self) -> Vec<usize> {
        let place = self.symbol(c"fake_seen");
        // SAFETY: this function of the fake module.
        let function: extern "C" fn(*mut usize, usize) -> usize =
            unsafe { std::mem::transmute(place) };
        let mut seen = vec![0; 16];
        let count = function(seen.as_mut_ptr(), seen.len());
        seen.truncate(count);
        seen
    }
}

/// A copy of the table at `list`, as long as its version says.
#[expect(unsafe_code, reason = "a table of C is read")]
pub(crate) fn table(list: *const c_void) -> CK_FUNCTION_LIST_3_2 {
    let mut table = CK_FUNCTION_LIST_3_2::default();
    // SAFETY: every table begins with its version.
    let version = unsafe { *list.cast::<CK_VERSION>() };
    let size = match (version.major, version.minor) {
        (2, _) => size_of::<CK_FUNCTION_LIST>(),
        (3, 0) => size_of::<CK_FUNCTION_LIST_3_0>(),
        _ => size_of::<CK_FUNCTION_LIST_3_2>(),
    };
    // SAFETY: a table of this version is so long, and ours is at least as long.
    unsafe { std::ptr::copy_nonoverlapping(list.cast::<u8>(), (&raw mut table).cast(), size) };
    table
}

/// The recorder, the module behind it as this process has it, and the recorder's 2.40 table.
pub(crate) fn loaded() -> (Library, Library, CK_FUNCTION_LIST_3_2) {
    let recorder = Library::load(&recorder());
    let (rv, list) = recorder.function_list();
    assert_eq!(rv, CKR_OK);
    (
        recorder,
        Library::load(&fake()),
        table(list.cast_const().cast()),
    )
}

/// The records of a log.
pub(crate) fn records(log: &Path) -> Vec<keywright_pkcs11_names::CallRecord<'static>> {
    let text = std::fs::read_to_string(log).unwrap();
    text.lines()
        .map(|line| {
            serde_json::from_str::<keywright_pkcs11_names::CallRecord<'_>>(line)
                .unwrap()
                .into_owned()
        })
        .collect()
}
