//! Arguments as plain numbers, so that what went in and what arrived can be compared.

use cryptoki_sys::CK_NOTIFY;

/// An argument of a function.
pub(crate) trait Word {
    /// Its bits.
    fn word(self) -> usize;
}

impl Word for u64 {
    fn word(self) -> usize {
        usize::try_from(self).unwrap_or(usize::MAX)
    }
}

impl Word for u8 {
    fn word(self) -> usize {
        usize::from(self)
    }
}

impl<T> Word for *mut T {
    fn word(self) -> usize {
        self.expose_provenance()
    }
}

impl Word for CK_NOTIFY {
    fn word(self) -> usize {
        self.map_or(0, |function| function as usize)
    }
}
