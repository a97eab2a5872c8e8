//! The file with the key.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use keywright_encoding::hex;
use keywright_secret::SecretBytes;

use crate::exit::{Exit, Failure};

/// More than any key in hexadecimal digits with ends of lines.
const LONGEST: usize = 128;

/// The bytes of a key. A file of 32, 48 or 64 hexadecimal digits, white space around them apart, is their
/// bytes; any other is the key itself.
pub(crate) fn read(path: &Path) -> Result<SecretBytes, Failure> {
    let mut bytes = SecretBytes::zeroed(LONGEST + 1);
    let mut length = 0;
    let failed = |error| Failure::file(path, "read", &error);
    let mut file = File::open(path).map_err(failed)?;
    while length < bytes.len() {
        match file.read(&mut bytes.expose_mut()[length..]) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
    if length > LONGEST {
        return Err(Failure::new(
            Exit::Usage,
            format!("{} is too long for a key", path.display()),
            "give a file of 16, 24 or 32 bytes, or of as many in hexadecimal digits",
        ));
    }
    let whole = &bytes.expose()[..length];
    Ok(digits(whole).unwrap_or_else(|| SecretBytes::from_vec(whole.to_vec())))
}

fn digits(file: &[u8]) -> Option<SecretBytes> {
    let text = std::str::from_utf8(file).ok()?.trim_ascii();
    if !matches!(text.len(), 32 | 48 | 64) {
        return None;
    }
    let lower = SecretBytes::from_vec(text.to_ascii_lowercase().into_bytes());
    let decoded = hex::decode(std::str::from_utf8(lower.expose()).ok()?).ok()?;
    Some(SecretBytes::from_vec(decoded))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> Result<Vec<u8>, Failure> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        read(file.path()).map(|secret| secret.expose().to_vec())
    }

    #[test]
    fn digits_are_decoded_and_bytes_are_taken_as_they_are() {
        assert_eq!(
            of(b"2B7e151628aed2a6abf7158809cf4f3c\r\n").unwrap()[..2],
            [0x2B, 0x7E]
        );
        assert_eq!(of("ab".repeat(24).as_bytes()).unwrap(), [0xAB; 24]);
        assert_eq!(of("cd".repeat(32).as_bytes()).unwrap(), [0xCD; 32]);
        for raw in [
            &[0x0A; 16][..],
            &[b'a'; 24],
            &[0xFF; 32],
            b"sixteen letters!",
        ] {
            assert_eq!(of(raw).unwrap(), raw);
        }
    }

    #[test]
    fn what_is_nearly_hexadecimal_is_no_shorter_key() {
        for (file, length) in [
            ("xb7e151628aed2a6abf7158809cf4f3c", 32),
            ("2b7e151628aed2a6abf7158809cf4f3", 31),
            ("2b 7e 15", 8),
            ("", 0),
        ] {
            assert_eq!(of(file.as_bytes()).unwrap().len(), length, "{file}");
        }
        assert!(of(&[b'0'; 129]).is_err());
        assert!(read(Path::new("/nonexistent/key")).is_err());
    }
}
