//! The promises of base64 over arbitrary bytes, as one function that the fuzz target and a plain test both call.

use crate::base64::{decode, decode_secret, encode, encode_secret};

/// Writes `data`, and reads it as text. The decoder that takes many digits at once and the one that computes each agree
/// on everything; what they accept is what they would have written.
///
/// # Panics
/// If that does not hold.
pub fn base64(data: &[u8]) {
    let text = encode(data);
    assert!(text == encode_secret(data), "written in two ways");
    assert!(
        decode(&text).is_ok_and(|bytes| bytes == data),
        "something else came back"
    );
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let read = decode(text);
    assert!(read == decode_secret(text), "read in two ways");
    if let Ok(bytes) = read {
        assert!(encode(&bytes) == text, "two spellings");
    }
}
