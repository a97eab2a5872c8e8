//! Associated data (design 7.5): the header, then each field that is not empty.

use crate::Error;

/// Most bytes a caller may give as associated data.
pub const CALLER_AAD_LIMIT: usize = 16 * 1024;

/// Associated data up to this length is put together on the stack.
const INLINE: usize = 256;

/// What an envelope is sealed and opened with besides its text. An empty field is an absent one.
#[derive(Clone, Copy, Debug, Default)]
pub struct Aad<'a> {
    /// Fields 1, 2 and 3.
    fields: [&'a [u8]; 3],
}

/// The caller's associated data is longer than 16 KiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the additional data is longer than 16384 bytes")]
#[non_exhaustive]
pub struct AadTooLong;

impl<'a> Aad<'a> {
    /// No field.
    pub const EMPTY: Self = Self { fields: [&[]; 3] };

    /// With field 1: what the caller gives.
    ///
    /// # Errors
    /// [`AadTooLong`] beyond [`CALLER_AAD_LIMIT`].
    pub const fn caller(mut self, bytes: &'a [u8]) -> Result<Self, AadTooLong> {
        if bytes.len() > CALLER_AAD_LIMIT {
            return Err(AadTooLong);
        }
        self.fields[0] = bytes;
        Ok(self)
    }

    /// With field 2: a derivation context.
    #[must_use]
    pub const fn derivation(mut self, bytes: &'a [u8]) -> Self {
        self.fields[1] = bytes;
        self
    }

    /// With field 3: the attributes of a stored key (design 7.12).
    #[must_use]
    pub const fn attributes(mut self, bytes: &'a [u8]) -> Self {
        self.fields[2] = bytes;
        self
    }

    /// Fields 1, 2 and 3; an absent one is empty. For a holder in another process.
    #[must_use]
    pub const fn fields(&self) -> [&'a [u8]; 3] {
        self.fields
    }

    /// Hands the whole associated data to `work`, without the heap where it is short.
    pub(crate) fn composed<R>(
        &self,
        header: &[u8],
        work: impl FnOnce(&[u8]) -> R,
    ) -> Result<R, Error> {
        let given = self.fields.iter().filter(|field| !field.is_empty());
        let length = header.len() + given.map(|field| field.len() + 5).sum::<usize>();
        if length == header.len() {
            return Ok(work(header));
        }
        if length <= INLINE {
            let mut buffer = [0; INLINE];
            let mut end = 0;
            self.parts(header, |part| {
                buffer[end..end + part.len()].copy_from_slice(part);
                end += part.len();
            })?;
            return Ok(work(&buffer[..end]));
        }
        let mut buffer = Vec::with_capacity(length);
        self.parts(header, |part| buffer.extend_from_slice(part))?;
        Ok(work(&buffer))
    }

    fn parts(&self, header: &[u8], mut put: impl FnMut(&[u8])) -> Result<(), Error> {
        put(header);
        for (tag, field) in (1_u8..).zip(self.fields) {
            if field.is_empty() {
                continue;
            }
            let length = u32::try_from(field.len()).map_err(|_| Error::TooLong)?;
            put(&[tag]);
            put(&length.to_be_bytes());
            put(field);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(aad: Aad<'_>) -> Vec<u8> {
        aad.composed(b"H", <[u8]>::to_vec).unwrap()
    }

    #[test]
    fn fields_stand_in_ascending_order_with_tag_and_length() {
        let aad = Aad::EMPTY
            .attributes(b"c")
            .caller(b"a")
            .unwrap()
            .derivation(b"");
        assert_eq!(bytes(aad), b"H\x01\0\0\0\x01a\x03\0\0\0\x01c");
        assert_eq!(bytes(Aad::EMPTY), b"H");
    }

    #[test]
    fn the_form_does_not_depend_on_where_it_is_put_together() {
        for length in [1, 249, 250, 251, 252, CALLER_AAD_LIMIT] {
            let field = vec![7; length];
            let mut expected = b"H\x01".to_vec();
            keywright_encoding::put_lp(&mut expected, &field).unwrap();
            assert_eq!(bytes(Aad::EMPTY.caller(&field).unwrap()), expected);
        }
    }

    #[test]
    fn only_the_callers_field_has_the_limit() {
        let long = vec![0; CALLER_AAD_LIMIT + 1];
        assert_eq!(Aad::EMPTY.caller(&long).err(), Some(AadTooLong));
        assert_eq!(bytes(Aad::EMPTY.derivation(&long)).len(), long.len() + 6);
    }
}
