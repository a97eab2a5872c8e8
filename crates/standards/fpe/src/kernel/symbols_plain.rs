//! Where there are no wide look-ups: the same names, by the alphabet's own functions.

use crate::alphabet::Alphabet;
use crate::cipher::Backend;

/// An ASCII alphabet.
pub(crate) struct Symbols<'a>(&'a Alphabet);

impl<'a> Symbols<'a> {
    pub(crate) const fn new(alphabet: &'a Alphabet, _: Backend) -> Self {
        Self(alphabet)
    }

    pub(crate) const fn alphabet(&self) -> &'a Alphabet {
        self.0
    }

    pub(crate) fn known(&self, text: &[u8]) -> bool {
        self.0.has_bytes(text)
    }

    pub(crate) fn read(&self, text: &mut [u8]) {
        self.0.read_bytes(text);
    }

    pub(crate) fn write(&self, digits: &mut [u8]) {
        self.0.write_bytes(digits);
    }
}
