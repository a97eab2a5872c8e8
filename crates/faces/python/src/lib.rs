//! The Python module `keywright._native`: format-preserving encryption and the format language, over single
//! values, lists, NumPy arrays and Arrow arrays.
//!
//! What Python sees is typed in `python/keywright/_native.pyi` and described in `docs/python.md`. Here stands
//! what lies between: arguments are read, a library is called while other Python threads run, and the answer
//! becomes an object of the kind that came in.
//!
//! Arrays are read where they are. Arrow arrays come and go through the Arrow C data interface; the crates
//! that do it hold the unsafe code, so this one has none.
//!
//! Not here: keys. They come from the caller as bytes.
#![forbid(unsafe_code)]

mod arrow;
mod batch;
mod cells;
mod column;
mod failure;
mod format;
mod fpe;
mod kinds;
mod lists;
mod measure;
mod numerals;
mod numpy;
mod options;
mod secrets;

use pyo3::prelude::*;

/// The native half of the package `keywright`.
#[pymodule(name = "_native")]
mod native {
    #[pymodule_export]
    use crate::format::Format;
    #[pymodule_export]
    use crate::format::suggest;
    #[pymodule_export]
    use crate::fpe::Fpe;
    #[pymodule_export]
    use crate::measure::rust_nanoseconds;
    #[pymodule_export]
    use crate::secrets::wipe;
}
