//! Alphabets come with every call, as text. Each thread remembers the last one, so that the same
//! alphabet is judged once and compared afterwards. Alphabets are public: comparing them may take
//! as long as it takes.

use std::cell::Cell;

use keywright_fpe::Alphabet;

use crate::failure::Failure;

/// How the bytes of an alphabet are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Each byte is a symbol, as fpe-c has it. A byte stands in the engine as the code point with
    /// its number.
    Bytes,
    /// Each character of UTF-8 is a symbol.
    Utf8,
}

struct Remembered {
    written: Vec<u8>,
    reading: Reading,
    alphabet: Alphabet,
}

thread_local! {
    static LAST: Cell<Option<Box<Remembered>>> = const { Cell::new(None) };
}

/// Calls `body` with the alphabet that `written` is.
///
/// # Errors
/// Those of [`Alphabet::new`]; [`Failure::Encoding`]; those of `body`.
pub(crate) fn with<T>(
    written: &[u8],
    reading: Reading,
    body: impl FnOnce(&Alphabet) -> Result<T, Failure>,
) -> Result<T, Failure> {
    // Taken while it is used: a thread that is about to end has no memory any more, and then the
    // alphabet is made anew.
    let last = LAST.try_with(Cell::take).ok().flatten();
    let known = last.filter(|last| last.reading == reading && last.written == written);
    let used = match known {
        Some(known) => known,
        None => Box::new(Remembered {
            written: written.to_vec(),
            reading,
            alphabet: read(written, reading)?,
        }),
    };
    let result = body(&used.alphabet);
    // Without memory there is nothing to put it into, and it is dropped.
    let _ = LAST.try_with(|last| last.set(Some(used)));
    result
}

fn read(written: &[u8], reading: Reading) -> Result<Alphabet, Failure> {
    Ok(match reading {
        Reading::Bytes => {
            let symbols: String = written.iter().map(|byte| char::from(*byte)).collect();
            Alphabet::new(&symbols)?
        }
        Reading::Utf8 => Alphabet::new(utf8(written)?)?,
    })
}

/// # Errors
/// [`Failure::Encoding`].
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, Failure> {
    str::from_utf8(bytes).map_err(|error| Failure::Encoding {
        position: error.valid_up_to(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Code;

    fn symbols(written: &[u8], reading: Reading) -> Result<u32, Code> {
        with(written, reading, |alphabet| Ok(alphabet.symbols())).map_err(Failure::code)
    }

    #[test]
    fn the_same_bytes_are_other_symbols_in_another_reading() {
        let written = "aé".as_bytes();
        for _ in 0..2 {
            assert_eq!(symbols(written, Reading::Bytes), Ok(3));
            assert_eq!(symbols(written, Reading::Utf8), Ok(2));
        }
    }

    #[test]
    fn a_refused_alphabet_is_refused_again() {
        for _ in 0..2 {
            assert_eq!(
                symbols(b"abca", Reading::Bytes),
                Err(Code::AlphabetDuplicate)
            );
            assert_eq!(symbols(b"a", Reading::Utf8), Err(Code::AlphabetSize));
            assert_eq!(symbols(b"ab\xFF", Reading::Utf8), Err(Code::Encoding));
            assert_eq!(symbols(b"ab\xFF", Reading::Bytes), Ok(3));
        }
    }

    #[test]
    fn an_alphabet_is_known_again_also_after_an_error_of_the_call() {
        assert_eq!(symbols(b"01", Reading::Bytes), Ok(2));
        let failed = with(b"01", Reading::Bytes, |_| Err::<(), _>(Failure::Overlap));
        assert!(failed.is_err());
        let kept = LAST.take().unwrap();
        assert_eq!(kept.written, b"01");
    }
}
