//! A PKCS#11 module that forwards every call to a real one, and fails, stalls, hangs or crashes where it is told to.
//!
//! Whoever tests copies the built module somewhere and puts two files beside the copy: `COPY.target` holds the path of
//! the real module, `COPY.fault`, as long as it is there, one fault in words:
//!
//! ```text
//! FUNCTION PASSES TIMES WHAT [ARGUMENT]
//! FUNCTION  C_Encrypt, or * for all
//! PASSES    so many calls of it go through first, counted from the file's last change
//! TIMES     once: the file is removed first; always: for as long as it is there
//! WHAT      fail CODE | flip | stall MILLISECONDS | hang | crash | wild
//! ```
//!
//! `fail` answers the code and calls nothing; `flip` calls, and flips a bit of what the function gives out; `stall` waits and then calls; `hang` never comes back; `crash` aborts
//! the process; `wild` writes where nothing is. The table is of version 2.40, of the symbols that the real module has.
#![deny(unsafe_code)]

use std::ffi::{CStr, CString, OsStr};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

#[macro_use]
#[path = "../../../crates/custody/pkcs11-proxy/src/boundary/table.rs"]
mod table;
#[expect(unsafe_code, reason = "a module of PKCS#11 is functions of C")]
mod boundary;

/// The names of all functions that a fault can be planted in; a module has those of its version.
pub const FUNCTIONS: &[&str] = boundary::NAMES;

/// What a fault comes to.
enum Fault {
    Answer(u64),
    Crash,
    Flip,
    Wild,
}

/// How often a fault's function was called since its file last changed.
static SEEN: Mutex<(String, u64)> = Mutex::new((String::new(), 0));

/// What is to become of a call of `name`; `None` if nothing.
fn fault_of(name: &str) -> Option<Fault> {
    let file = beside("fault")?;
    let text = std::fs::read_to_string(&file).ok()?;
    let mut words = text.split_whitespace();
    let function = words.next()?;
    if function != "*" && function != name {
        return None;
    }
    let passes: u64 = words.next()?.parse().ok()?;
    if counted(&text) <= passes {
        return None;
    }
    // Of threads that come at once, one takes it.
    if words.next()? == "once" && std::fs::remove_file(&file).is_err() {
        return None;
    }
    let what = words.next()?;
    let argument = words.next().and_then(|word| word.parse().ok());
    match what {
        "fail" => argument.map(Fault::Answer),
        "flip" => Some(Fault::Flip),
        "stall" => {
            std::thread::sleep(Duration::from_millis(argument?));
            None
        }
        "hang" => loop {
            std::thread::sleep(Duration::from_secs(1));
        },
        "crash" => Some(Fault::Crash),
        "wild" => Some(Fault::Wild),
        _ => None,
    }
}

fn counted(text: &str) -> u64 {
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    if seen.0 != text {
        *seen = (text.to_owned(), 0);
    }
    seen.1 += 1;
    seen.1
}

/// The file of this name beside the module's own.
fn beside(suffix: &str) -> Option<PathBuf> {
    static OWN: OnceLock<Option<PathBuf>> = OnceLock::new();
    let own = OWN.get_or_init(|| boundary::own_file().map(|name| path(&name)));
    let mut file = own.as_ref()?.clone().into_os_string();
    file.push(".");
    file.push(suffix);
    Some(file.into())
}

fn path(name: &CStr) -> PathBuf {
    OsStr::from_bytes(name.to_bytes()).into()
}

/// The real module.
fn target() -> Option<CString> {
    let text = std::fs::read_to_string(beside("target")?).ok()?;
    CString::new(text.trim()).ok()
}
