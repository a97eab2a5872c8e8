//! Text instead of digits: a symbol of an alphabet for each digit.
//!
//! Text over an ASCII alphabet is translated where it will stand, in the output. Other alphabets need the
//! heap for the digits, which are wiped.

use crate::alphabet::Alphabet;
use crate::error::Error;
use crate::feistel::Direction;
use crate::key::{Key, Tweaked};

impl Key {
    /// Encrypts a text over `alphabet` into `output` and says how many bytes it wrote: for an ASCII alphabet
    /// as many as there are symbols, else up to four times that.
    ///
    /// # Errors
    /// As [`Key::encrypt`], with [`Error::Symbol`] for [`Error::Digit`]; [`Error::AlphabetRadix`];
    /// [`Error::Capacity`] if `output` is too small. `output` is untouched then.
    pub fn encrypt_text(
        &self,
        tweak: &[u8],
        alphabet: &Alphabet,
        text: &str,
        output: &mut [u8],
    ) -> Result<usize, Error> {
        self.tweaked(symbols_in(alphabet, text), tweak)?
            .encrypt_text(alphabet, text, output)
    }

    /// Decrypts a text over `alphabet` into `output` and says how many bytes it wrote.
    ///
    /// # Errors
    /// As [`Key::encrypt_text`].
    pub fn decrypt_text(
        &self,
        tweak: &[u8],
        alphabet: &Alphabet,
        text: &str,
        output: &mut [u8],
    ) -> Result<usize, Error> {
        self.tweaked(symbols_in(alphabet, text), tweak)?
            .decrypt_text(alphabet, text, output)
    }

    /// Encrypts a text over `alphabet`.
    ///
    /// # Errors
    /// As [`Key::encrypt_text`].
    #[cfg(feature = "std")]
    pub fn encrypt_string(
        &self,
        tweak: &[u8],
        alphabet: &Alphabet,
        text: &str,
    ) -> Result<alloc::string::String, Error> {
        self.tweaked(symbols_in(alphabet, text), tweak)?
            .string(Direction::Encrypt, alphabet, text)
    }

    /// Decrypts a text over `alphabet`.
    ///
    /// # Errors
    /// As [`Key::encrypt_text`].
    #[cfg(feature = "std")]
    pub fn decrypt_string(
        &self,
        tweak: &[u8],
        alphabet: &Alphabet,
        text: &str,
    ) -> Result<alloc::string::String, Error> {
        self.tweaked(symbols_in(alphabet, text), tweak)?
            .string(Direction::Decrypt, alphabet, text)
    }
}

impl Tweaked<'_> {
    /// As [`Key::encrypt_text`].
    ///
    /// # Errors
    /// As there.
    pub fn encrypt_text(
        &self,
        alphabet: &Alphabet,
        text: &str,
        output: &mut [u8],
    ) -> Result<usize, Error> {
        self.text(Direction::Encrypt, alphabet, text, output)
    }

    /// As [`Key::decrypt_text`].
    ///
    /// # Errors
    /// As there.
    pub fn decrypt_text(
        &self,
        alphabet: &Alphabet,
        text: &str,
        output: &mut [u8],
    ) -> Result<usize, Error> {
        self.text(Direction::Decrypt, alphabet, text, output)
    }

    #[inline]
    fn text(
        &self,
        direction: Direction,
        alphabet: &Alphabet,
        text: &str,
        output: &mut [u8],
    ) -> Result<usize, Error> {
        let alphabet = alphabet.serving(self.key().radix().value())?;
        if alphabet.is_ascii() {
            return self.bytes(direction, alphabet, text, output);
        }
        #[cfg(feature = "std")]
        {
            let made = self.wide_string(direction, alphabet, text)?;
            let bytes = made.as_bytes();
            room(output, bytes.len())?.copy_from_slice(bytes);
            Ok(bytes.len())
        }
        #[cfg(not(feature = "std"))]
        Err(Error::AlphabetNotAscii)
    }

    /// Over an ASCII alphabet, in the output itself.
    #[inline]
    fn bytes(
        &self,
        direction: Direction,
        alphabet: &Alphabet,
        text: &str,
        output: &mut [u8],
    ) -> Result<usize, Error> {
        let bytes = text.as_bytes();
        if !alphabet.has_bytes(bytes) {
            return Err(first_unknown(alphabet, text));
        }
        self.permit(direction, bytes.len())?;
        let output = room(output, bytes.len())?;
        output.copy_from_slice(bytes);
        if !self.run_text(direction, alphabet, output) {
            alphabet.read_bytes(output);
            self.run(direction, output);
            alphabet.write_bytes(output);
        }
        Ok(bytes.len())
    }

    #[cfg(feature = "std")]
    fn string(
        &self,
        direction: Direction,
        alphabet: &Alphabet,
        text: &str,
    ) -> Result<alloc::string::String, Error> {
        let alphabet = alphabet.serving(self.key().radix().value())?;
        if !alphabet.is_ascii() {
            return self.wide_string(direction, alphabet, text);
        }
        let mut made = alloc::vec![0; text.len()];
        self.bytes(direction, alphabet, text, &mut made)?;
        // They have no eighth bit; said once more, so that looking for one depends on no symbol.
        made.iter_mut().for_each(|byte| *byte &= 0x7F);
        Ok(alloc::string::String::from_utf8(made).unwrap_or_default())
    }

    /// Over any alphabet.
    #[cfg(feature = "std")]
    fn wide_string(
        &self,
        direction: Direction,
        alphabet: &Alphabet,
        text: &str,
    ) -> Result<alloc::string::String, Error> {
        let count = text.chars().count();
        self.permit(direction, count)?;
        let mut digits = zeroize::Zeroizing::new(alloc::vec![0_u32; count]);
        let mut all_known = u32::MAX;
        for (place, symbol) in digits.iter_mut().zip(text.chars()) {
            let (digit, known) = alphabet.digit_of(symbol.into());
            *place = digit;
            all_known &= known;
        }
        if all_known != u32::MAX {
            return Err(first_unknown(alphabet, text));
        }
        self.run(direction, &mut digits);
        let points = digits.iter().map(|digit| alphabet.point_of(*digit));
        // Every point is a symbol of the alphabet, and so a character.
        Ok(points.filter_map(char::from_u32).collect())
    }
}

/// How many symbols a text has, if all are of the alphabet. Over an ASCII alphabet the bytes are counted and
/// not looked at; a text with other symbols is refused by what looks at them all.
fn symbols_in(alphabet: &Alphabet, text: &str) -> usize {
    if alphabet.is_ascii() {
        text.len()
    } else {
        text.chars().count()
    }
}

fn room(output: &mut [u8], needed: usize) -> Result<&mut [u8], Error> {
    let given = output.len();
    output
        .get_mut(..needed)
        .ok_or(Error::Capacity { needed, given })
}

/// Sought only after the text was found bad.
#[cold]
fn first_unknown(alphabet: &Alphabet, text: &str) -> Error {
    let position = text
        .chars()
        .position(|symbol| alphabet.digit_of(symbol.into()).1 == 0);
    Error::Symbol {
        position: position.unwrap_or_default(),
    }
}
