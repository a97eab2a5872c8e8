//! Keys on their way in, and the wiping of what Python lets us write to.

use keywright_secret::{Secret, SecretBytes};
use pyo3::buffer::PyBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::failure::{Failure, wrong_type};

/// No key is longer.
const LONGEST: usize = 64;

/// The bytes of `bytes`, a `bytearray`, a `memoryview` or another buffer of bytes. They are copied once,
/// into memory that is wiped; the caller's stay the caller's.
pub(crate) fn key_bytes(given: &Bound<'_, PyAny>) -> PyResult<SecretBytes> {
    let Ok(buffer) = PyBuffer::<u8>::get(given) else {
        return Err(wrong_type("a key of bytes, or a buffer of bytes,", given));
    };
    if buffer.item_count() > LONGEST {
        let text = format!("a key of {} bytes: no key is so long", buffer.item_count());
        return Err(Failure::parameter("key_size", text).into());
    }
    let mut secret = SecretBytes::zeroed(buffer.item_count());
    buffer.copy_to_slice(given.py(), secret.expose_mut())?;
    Ok(secret)
}

/// A version key, from which the keys of formats are derived.
pub(crate) fn version_key(bytes: &SecretBytes) -> Result<Secret<32>, Failure> {
    Secret::copy_from(bytes.expose()).ok_or_else(|| {
        let text = format!("a key of {} bytes: a format needs 32", bytes.len());
        Failure::parameter("key_size", text)
    })
}

/// Overwrites a `bytearray`, or another buffer that can be written to, with zeros. A `bytes` object cannot be
/// overwritten, and is refused.
#[pyfunction]
pub(crate) fn wipe(buffer: &Bound<'_, PyAny>) -> PyResult<()> {
    let Ok(view) = PyBuffer::<u8>::get(buffer) else {
        return Err(wrong_type("a buffer of bytes", buffer));
    };
    if view.readonly() {
        return Err(PyTypeError::new_err(
            "this buffer cannot be overwritten: keep secrets in a bytearray",
        ));
    }
    view.copy_from_slice(buffer.py(), &vec![0; view.item_count()])
}
