//! A cursor over foreign bytes.

/// The bytes ended before the field did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes end inside a field")]
#[non_exhaustive]
pub struct Truncated;

/// Reads fields from the front of a slice; every read is bounds-checked and big-endian.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// A cursor at the start of `bytes`.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// What has not been read yet.
    #[must_use]
    pub const fn rest(self) -> &'a [u8] {
        self.0
    }

    /// Whether everything has been read.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The next `length` bytes.
    ///
    /// # Errors
    /// [`Truncated`] if fewer are left; the cursor does not move then.
    pub const fn take(&mut self, length: usize) -> Result<&'a [u8], Truncated> {
        match self.0.split_at_checked(length) {
            Some((head, tail)) => {
                self.0 = tail;
                Ok(head)
            }
            None => Err(Truncated),
        }
    }

    /// The next `N` bytes as an array.
    ///
    /// # Errors
    /// [`Truncated`] if fewer are left.
    pub const fn array<const N: usize>(&mut self) -> Result<&'a [u8; N], Truncated> {
        match self.0.split_first_chunk::<N>() {
            Some((head, tail)) => {
                self.0 = tail;
                Ok(head)
            }
            None => Err(Truncated),
        }
    }

    /// One byte.
    ///
    /// # Errors
    /// [`Truncated`] if none is left.
    pub const fn u8(&mut self) -> Result<u8, Truncated> {
        match self.array::<1>() {
            Ok([byte]) => Ok(*byte),
            Err(error) => Err(error),
        }
    }

    /// Two bytes, big-endian.
    ///
    /// # Errors
    /// [`Truncated`] if fewer are left.
    pub fn u16(&mut self) -> Result<u16, Truncated> {
        self.array().copied().map(u16::from_be_bytes)
    }

    /// Four bytes, big-endian.
    ///
    /// # Errors
    /// [`Truncated`] if fewer are left.
    pub fn u32(&mut self) -> Result<u32, Truncated> {
        self.array().copied().map(u32::from_be_bytes)
    }

    /// Eight bytes, big-endian.
    ///
    /// # Errors
    /// [`Truncated`] if fewer are left.
    pub fn u64(&mut self) -> Result<u64, Truncated> {
        self.array().copied().map(u64::from_be_bytes)
    }

    /// A length-prefixed field.
    ///
    /// # Errors
    /// [`Truncated`] if the length or the field is cut; the cursor does not move then.
    pub fn lp(&mut self) -> Result<&'a [u8], Truncated> {
        let mut ahead = *self;
        let length = usize::try_from(ahead.u32()?).map_err(|_| Truncated)?;
        let field = ahead.take(length)?;
        *self = ahead;
        Ok(field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_come_back_in_order_and_big_endian() {
        let mut reader = Reader::new(&[1, 0, 2, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 1, 9]);
        assert_eq!(reader.u8(), Ok(1));
        assert_eq!(reader.u16(), Ok(2));
        assert_eq!(reader.u32(), Ok(3));
        assert_eq!(reader.u64(), Ok(4));
        assert_eq!(reader.lp(), Ok(&[9_u8][..]));
        assert!(reader.is_empty());
    }

    #[test]
    fn a_cut_field_is_an_error_and_moves_nothing() {
        let mut reader = Reader::new(&[0, 0, 0, 2, 9]);
        assert_eq!(reader.lp(), Err(Truncated));
        assert_eq!(reader.rest().len(), 5);
        assert_eq!(reader.u64(), Err(Truncated));
        assert_eq!(reader.take(6), Err(Truncated));
        assert_eq!(reader.array::<6>(), Err(Truncated));
        assert_eq!(reader.rest().len(), 5);
        assert_eq!(Reader::new(&[]).u8(), Err(Truncated));
        assert_eq!(Reader::new(&[0xFF; 4]).lp(), Err(Truncated));
    }
}
