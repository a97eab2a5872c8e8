//! HTTP/2 by hand: frames as their bytes, right ones and wrong ones, and what a server answers with.
//!
//! RFC 9113, section 4.1 for the head of a frame and 6.1 to 6.10 for its kinds; RFC 7541, 6.2.2 for fields,
//! all of them literal and none of them indexed, so that a block means the same wherever it stands.
//!
//! Not here: any rule. A library that knows the rules does not let a test break them.

/// What every client says first.
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The kinds of frames.
pub mod kind {
    /// The body of a request.
    pub const DATA: u8 = 0;
    /// The head of a request.
    pub const HEADERS: u8 = 1;
    /// What goes before what; nobody heeds it any more.
    pub const PRIORITY: u8 = 2;
    /// The end of a stream before its end.
    pub const RST_STREAM: u8 = 3;
    /// What a side puts up with.
    pub const SETTINGS: u8 = 4;
    /// A question whether the other side is there.
    pub const PING: u8 = 6;
    /// The end of a connection.
    pub const GOAWAY: u8 = 7;
    /// Room for more.
    pub const WINDOW_UPDATE: u8 = 8;
    /// The rest of a head.
    pub const CONTINUATION: u8 = 9;
}

/// DATA and HEADERS: nothing follows on this stream.
pub const END_STREAM: u8 = 1;
/// SETTINGS and PING: an answer.
pub const ACK: u8 = 1;
/// HEADERS and CONTINUATION: the head is whole.
pub const END_HEADERS: u8 = 4;
/// DATA: the first byte says how many at the end mean nothing.
pub const PADDED: u8 = 8;

/// SETTINGS: the size of the table of fields.
pub const HEADER_TABLE_SIZE: u16 = 1;
/// SETTINGS: the window that a stream begins with.
pub const INITIAL_WINDOW_SIZE: u16 = 4;

/// A frame of any kind with any flags.
///
/// # Panics
/// For a payload whose length has no place in the head.
#[must_use]
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    assert!(length < 1 << 24, "a payload of {length} bytes");
    let [_, a, b, c] = length.to_be_bytes();
    let mut bytes = vec![a, b, c, kind, flags];
    bytes.extend_from_slice(&stream.to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}

/// SETTINGS of these values.
#[must_use]
pub fn settings(values: &[(u16, u32)]) -> Vec<u8> {
    let mut payload = Vec::with_capacity(values.len() * 6);
    for (name, value) in values {
        payload.extend_from_slice(&name.to_be_bytes());
        payload.extend_from_slice(&value.to_be_bytes());
    }
    frame(kind::SETTINGS, 0, 0, &payload)
}

/// WINDOW_UPDATE; stream 0 is the connection.
#[must_use]
pub fn window_update(stream: u32, more: u32) -> Vec<u8> {
    frame(kind::WINDOW_UPDATE, 0, stream, &more.to_be_bytes())
}

/// RST_STREAM with CANCEL.
#[must_use]
pub fn reset(stream: u32) -> Vec<u8> {
    frame(kind::RST_STREAM, 0, stream, &8_u32.to_be_bytes())
}

/// The whole head of a request in one frame, with more fields behind the four that every request has.
#[must_use]
pub fn request(stream: u32, (method, path): (&str, &str), flags: u8, more: &[u8]) -> Vec<u8> {
    let mut block = fields(&[
        (":method", method),
        (":scheme", "https"),
        (":authority", "localhost"),
        (":path", path),
    ]);
    block.extend_from_slice(more);
    frame(kind::HEADERS, END_HEADERS | flags, stream, &block)
}

/// Fields, each as a literal with its name that goes into no table.
#[must_use]
pub fn fields(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        put_text(&mut block, name);
        put_text(&mut block, value);
    }
    block
}

/// A field that goes into the table, and then stands for itself as one byte: [`FIRST_OF_TABLE`].
#[must_use]
pub fn table_field(name: &str, value: &str) -> Vec<u8> {
    let mut block = vec![0x40];
    put_text(&mut block, name);
    put_text(&mut block, value);
    block
}

/// The newest field of the table (RFC 7541, 2.3.3: the first index behind the static table).
pub const FIRST_OF_TABLE: u8 = 0x80 | 62;

/// RFC 7541, 5.2 without Huffman, and 5.1 with a prefix of seven bits.
fn put_text(block: &mut Vec<u8>, text: &str) {
    let mut length = text.len();
    if length < 127 {
        block.extend_from_slice(&length.to_le_bytes()[..1]);
    } else {
        block.push(127);
        length -= 127;
        while length >= 128 {
            block.push(0x80 | (length & 0x7f).to_le_bytes()[0]);
            length >>= 7;
        }
        block.extend_from_slice(&length.to_le_bytes()[..1]);
    }
    block.extend_from_slice(text.as_bytes());
}

/// A frame that has come.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "the parts of a frame")]
pub struct Frame {
    /// See [`kind`].
    pub kind: u8,
    /// Its flags.
    pub flags: u8,
    /// Its stream.
    pub stream: u32,
    /// What it carries.
    pub payload: Vec<u8>,
}

impl Frame {
    /// The code of a GOAWAY or RST_STREAM.
    #[must_use]
    pub fn error(&self) -> Option<u32> {
        let at = match self.kind {
            kind::GOAWAY => 4,
            kind::RST_STREAM => 0,
            _ => return None,
        };
        let code = self.payload.get(at..at + 4)?;
        Some(u32::from_be_bytes(code.try_into().ok()?))
    }
}

/// The whole frames at the front of what a server has sent.
#[must_use]
pub fn read(mut bytes: &[u8]) -> Vec<Frame> {
    let mut frames = Vec::new();
    while let [a, b, c, kind, flags, s0, s1, s2, s3, rest @ ..] = bytes {
        let length = u32::from_be_bytes([0, *a, *b, *c]);
        let Some((payload, more)) =
            rest.split_at_checked(usize::try_from(length).unwrap_or(usize::MAX))
        else {
            break;
        };
        frames.push(Frame {
            kind: *kind,
            flags: *flags,
            stream: u32::from_be_bytes([*s0, *s1, *s2, *s3]) & 0x7fff_ffff,
            payload: payload.to_vec(),
        });
        bytes = more;
    }
    frames
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_read_as_they_were_written_and_half_of_one_is_none() {
        let mut bytes = settings(&[(INITIAL_WINDOW_SIZE, 0)]);
        bytes.extend(reset(7));
        let whole = read(&bytes);
        assert_eq!(whole.len(), 2);
        assert_eq!(whole[0].payload, [0, 4, 0, 0, 0, 0]);
        assert_eq!((whole[1].stream, whole[1].error()), (7, Some(8)));
        for cut in 1..bytes.len() {
            assert!(read(&bytes[..cut]).len() < 2);
        }
    }

    #[test]
    fn texts_of_any_length_are_written_as_the_standard_says() {
        // RFC 7541, C.2.2 with its name spelled out.
        assert_eq!(fields(&[("a", "bc")]), b"\0\x01a\x02bc");
        let text = "x".repeat(1337 + 127 - 31);
        let block = fields(&[("a", &text)]);
        // 1433 - 127 = 1306 = 26 + 10 * 128.
        assert_eq!(block[3..6], [127, 0x80 | 26, 10]);
        assert_eq!(block.len(), 6 + text.len());
    }
}
