//! The header `traceparent` of W3C Trace Context, level 2: `00-TRACE-PARENT-FLAGS`.

use keywright_encoding::hex;

/// Which trace a span belongs to; never all zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceId([u8; 16]);

/// Which span it is; never all zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanId([u8; 8]);

impl TraceId {
    /// Of these bytes, if they are not all zeros.
    #[must_use]
    pub fn new(bytes: [u8; 16]) -> Option<Self> {
        (bytes != [0; 16]).then_some(Self(bytes))
    }

    /// In lower-case hexadecimal.
    #[must_use]
    pub fn text(self) -> String {
        hex::encode(&self.0)
    }
}

impl SpanId {
    /// Of these bytes, if they are not all zeros.
    #[must_use]
    pub fn new(bytes: [u8; 8]) -> Option<Self> {
        (bytes != [0; 8]).then_some(Self(bytes))
    }

    /// In lower-case hexadecimal.
    #[must_use]
    pub fn text(self) -> String {
        hex::encode(&self.0)
    }
}

/// The span that a request came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "what the header says")]
pub struct Parent {
    /// The trace that both belong to.
    pub trace: TraceId,
    /// The caller's span.
    pub span: SpanId,
    /// Whether the caller records it.
    pub sampled: bool,
}

/// `00-` + 32 digits + `-` + 16 digits + `-` + 2 digits.
const LENGTH: usize = 55;

impl Parent {
    /// Reads the header's value. None of what is malformed; a later version is read as far as it is like this one, as
    /// the standard asks.
    #[must_use]
    pub fn parse(value: &[u8]) -> Option<Self> {
        let (known, more) = value.split_at_checked(LENGTH)?;
        let text = std::str::from_utf8(known).ok()?;
        let mut parts = text.split('-');
        let version = byte(parts.next()?)?;
        let trace = hex::decode_array(parts.next()?).ok()?;
        let span = hex::decode_array(parts.next()?).ok()?;
        let flags = byte(parts.next()?)?;
        let ended = match version {
            0 => more.is_empty(),
            0xFF => false,
            _ => matches!(more.first(), None | Some(b'-')),
        };
        if parts.next().is_some() || !ended {
            return None;
        }
        Some(Self {
            trace: TraceId::new(trace)?,
            span: SpanId::new(span)?,
            sampled: flags & SAMPLED != 0,
        })
    }
}

const SAMPLED: u8 = 1;

fn byte(text: &str) -> Option<u8> {
    let [byte] = hex::decode_array::<1>(text).ok()?;
    Some(byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    #[test]
    fn what_the_standard_shows_is_read() {
        let parent = Parent::parse(GOOD.as_bytes()).unwrap();
        assert_eq!(parent.trace.text(), "4bf92f3577b34da6a3ce929d0e0e4736");
        assert_eq!(parent.span.text(), "00f067aa0ba902b7");
        assert!(parent.sampled);
        for (flags, sampled) in [("00", false), ("02", false), ("03", true), ("ff", true)] {
            let text = GOOD.replace("-01", &format!("-{flags}"));
            assert_eq!(Parent::parse(text.as_bytes()).unwrap().sampled, sampled);
        }
        for later in ["01", "cc", "fe"] {
            for more in ["", "-", "-what-comes-later"] {
                let text = format!("{later}{}{more}", &GOOD[2..]);
                assert!(Parent::parse(text.as_bytes()).is_some(), "{text}");
            }
        }
    }

    #[test]
    fn what_is_malformed_is_none() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        let zeros = "0".repeat(32);
        for wrong in [
            String::new(),
            "00".to_owned(),
            "-".repeat(LENGTH),
            "0".repeat(LENGTH),
            GOOD[..LENGTH - 1].to_owned(),
            format!("{GOOD} "),
            format!(" {GOOD}"),
            format!("{GOOD}-"),
            format!("{GOOD}-00"),
            format!("{GOOD}0"),
            GOOD.to_uppercase(),
            GOOD.replace("4bf9", "4BF9"),
            GOOD.replace("4bf9", "4bg9"),
            GOOD.replace('-', "_"),
            GOOD.replace("00-", "ff-"),
            GOOD.replacen("00-", "FF-", 1),
            GOOD.replacen("00-", "0x-", 1),
            GOOD.replacen("00-", "1-0", 1),
            format!("01{}x", &GOOD[2..]),
            format!("fe{}0-", &GOOD[2..]),
            GOOD.replace(trace, &zeros),
            GOOD.replace("00f067aa0ba902b7", "0000000000000000"),
            GOOD.replace("-01", "-0g"),
            GOOD.replace("-01", "--1"),
            GOOD.replace(trace, &trace[1..]),
            GOOD.replace("-00f0", "0-0f0"),
            GOOD.replace(trace, &format!("{}\u{e9}", &trace[2..])),
            format!("{GOOD},{GOOD}"),
        ] {
            assert_eq!(Parent::parse(wrong.as_bytes()), None, "{wrong}");
        }
        let mut bytes = GOOD.as_bytes().to_vec();
        for at in 0..bytes.len() {
            for byte in [0, b'\n', b'/', b':', b'`', b'g', 0x80, 0xFF] {
                let kept = std::mem::replace(&mut bytes[at], byte);
                assert_eq!(Parent::parse(&bytes), None, "{byte} at {at}");
                bytes[at] = kept;
            }
        }
    }
}
