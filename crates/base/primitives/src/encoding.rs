//! The outermost layer of the documents that keys come in. The backend reads everything inside, but it
//! overlooks what follows a document, and it knows curves by their numbers as well as by their names.

use crate::Error;

/// `der`, if it is one SEQUENCE with its length in the shortest form and nothing behind it.
pub(crate) fn one_sequence(der: &[u8]) -> Result<&[u8], Error> {
    let (length, contents) = match der {
        [0x30, length @ 0..=0x7F, rest @ ..] => (usize::from(*length), rest),
        [0x30, 0x81, length @ 0x80..=0xFF, rest @ ..] => (usize::from(*length), rest),
        [0x30, 0x82, high @ 1..=0xFF, low, rest @ ..] => {
            (usize::from(u16::from_be_bytes([*high, *low])), rest)
        }
        _ => return Err(Error::KeyRejected),
    };
    if contents.len() == length {
        Ok(der)
    } else {
        Err(Error::KeyRejected)
    }
}

/// A curve in the documents.
pub(crate) struct Curve {
    /// Bytes in an uncompressed point: one that says so, and both coordinates.
    point_len: usize,
    /// A `SubjectPublicKeyInfo` (RFC 5480) with the curve's name, up to the uncompressed point at its end.
    info: &'static [u8],
}

pub(crate) const P256: Curve = Curve {
    point_len: 65,
    info: &[
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08,
        0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
    ],
};

pub(crate) const P384: Curve = Curve {
    point_len: 97,
    info: &[
        0x30, 0x76, 0x30, 0x10, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x05,
        0x2B, 0x81, 0x04, 0x00, 0x22, 0x03, 0x62, 0x00,
    ],
};

pub(crate) const P521: Curve = Curve {
    point_len: 133,
    info: &[
        0x30, 0x81, 0x9B, 0x30, 0x10, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06,
        0x05, 0x2B, 0x81, 0x04, 0x00, 0x23, 0x03, 0x81, 0x86, 0x00,
    ],
};

impl Curve {
    /// `point`, if it has the form of a SEC 1 point, compressed or not. Whether it lies on the curve is for
    /// the backend to say.
    pub(crate) fn point<'a>(&self, point: &'a [u8]) -> Result<&'a [u8], Error> {
        let compressed_len = self.point_len / 2 + 1;
        match point.first() {
            Some(4) if point.len() == self.point_len => Ok(point),
            Some(2 | 3) if point.len() == compressed_len => Ok(point),
            _ => Err(Error::KeyRejected),
        }
    }

    /// The point in an info.
    pub(crate) fn point_of_info<'a>(&self, info: &'a [u8]) -> Result<&'a [u8], Error> {
        let point = info.strip_prefix(self.info).ok_or(Error::KeyRejected)?;
        match point.first() {
            Some(4) if point.len() == self.point_len => Ok(point),
            _ => Err(Error::KeyRejected),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_whole_sequence_in_its_shortest_form_is_one() {
        let long = [&[0x30, 0x81, 0x80][..], &[0; 128]].concat();
        let longer = [&[0x30, 0x82, 1, 0][..], &[0; 256]].concat();
        for good in [&[0x30, 0][..], &[0x30, 1, 7], &long, &longer] {
            assert_eq!(one_sequence(good), Ok(good));
            assert!(one_sequence(&[good, &[0]].concat()).is_err());
            assert!(one_sequence(&good[..good.len() - 1]).is_err());
        }
        let padded = [&[0x30, 0x82, 0, 0x80][..], &[0; 128]].concat();
        for wrong in [
            &[0x31, 0][..],
            &[0x30, 0x81, 1, 7],
            &[0x30, 0x80, 0, 0],
            &[0x30, 0x83, 0, 0, 1, 7],
            &padded,
            b"",
        ] {
            assert!(one_sequence(wrong).is_err(), "{wrong:02x?}");
        }
    }
}
