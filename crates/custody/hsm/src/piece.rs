//! Inputs read piece by piece, so that memory does not grow with them.

use std::io::{ErrorKind, Read};

use keywright_secret::SecretBytes;

use crate::error::Error;

/// Bytes of a piece.
pub const PIECE: usize = 64 << 10;

/// Most bytes of an input that must be in memory as a whole: what is signed by `EdDSA`, what is in a form
/// without pieces.
pub(crate) const WHOLE: usize = 64 << 20;

/// A buffer of one piece, wiped at the end.
pub(crate) struct Pieces<'r> {
    source: &'r mut dyn Read,
    buffer: SecretBytes,
}

impl<'r> Pieces<'r> {
    pub(crate) fn new(source: &'r mut dyn Read) -> Self {
        let buffer = SecretBytes::zeroed(PIECE);
        Self { source, buffer }
    }

    /// The next piece: full unless it is the last; `None` after the last. An empty input has no piece.
    pub(crate) fn next(&mut self) -> Result<Option<&[u8]>, Error> {
        let filled = fill(self.source, self.buffer.expose_mut())?;
        Ok((filled > 0).then(|| self.buffer.expose().get(..filled).unwrap_or_default()))
    }
}

/// Reads until `buffer` is full or the input ends.
pub(crate) fn fill(source: &mut dyn Read, buffer: &mut [u8]) -> Result<usize, Error> {
    let mut filled = 0;
    while let Some(room) = buffer.get_mut(filled..)
        && !room.is_empty()
    {
        match source.read(room) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::Input(error)),
        }
    }
    Ok(filled)
}

/// The whole input, if it has at most `limit` bytes.
pub(crate) fn whole(source: &mut dyn Read, limit: usize) -> Result<SecretBytes, Error> {
    let mut pieces = Pieces::new(source);
    let mut all: Vec<u8> = Vec::new();
    while let Some(piece) = pieces.next()? {
        if all.len() + piece.len() > limit {
            keywright_secret::wipe_vec(&mut all);
            return Err(Error::InputTooLong { limit });
        }
        if all.len() + piece.len() > all.capacity() {
            // Growing in place would leave the old copy behind.
            let mut larger = Vec::with_capacity((all.capacity() * 2).max(2 * PIECE));
            larger.extend_from_slice(&all);
            keywright_secret::wipe_vec(&mut all);
            all = larger;
        }
        all.extend_from_slice(piece);
    }
    Ok(SecretBytes::from_vec(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives a byte at a time, and is interrupted before each.
    struct Halting<'a>(&'a [u8], u8);

    impl Read for Halting<'_> {
        fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
            self.1 = !self.1;
            if self.1 != 0 {
                return Err(ErrorKind::Interrupted.into());
            }
            let length = self.0.len().min(out.len()).min(1);
            out[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    #[test]
    fn only_the_last_piece_is_short_and_an_interruption_loses_nothing() {
        let input: Vec<u8> = (0..=250).cycle().take(PIECE + 5).collect();
        let mut source = Halting(&input, 0);
        let mut pieces = Pieces::new(&mut source);
        let first = pieces.next().unwrap().unwrap().to_vec();
        let second = pieces.next().unwrap().unwrap().to_vec();
        assert_eq!((first.len(), second.len()), (PIECE, 5));
        assert_eq!([first, second].concat(), input);
        assert!(pieces.next().unwrap().is_none());
    }

    #[test]
    fn an_input_beyond_the_limit_is_refused_and_one_at_it_is_whole() {
        let input = vec![7; 3 * PIECE];
        let at = whole(&mut input.as_slice(), input.len()).unwrap();
        assert_eq!(at.expose(), input);
        let beyond = whole(&mut input.as_slice(), input.len() - 1).unwrap_err();
        assert!(matches!(beyond, Error::InputTooLong { limit } if limit == input.len() - 1));
    }
}
