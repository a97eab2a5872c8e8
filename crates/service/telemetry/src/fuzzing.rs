//! The promises of the reader of `traceparent` over arbitrary bytes, as one function that the fuzz target and a plain
//! test both call.

use crate::Parent;

/// Reads `data` as the header's value, and checks that what is accepted stands in it digit by digit.
///
/// # Panics
/// If it does not, which is what a fuzzer looks for.
pub fn traceparent(data: &[u8]) {
    if let Some(parent) = Parent::parse(data) {
        let written = format!("-{}-{}-", parent.trace.text(), parent.span.text());
        assert_eq!(data.get(2..53), Some(written.as_bytes()), "other digits");
        assert!(
            !data.starts_with(b"00") || data.len() == 55,
            "more than it has"
        );
        assert!(!data.starts_with(b"ff"), "a version that is none");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn promises_hold_for_good_damaged_and_short_values() {
        let good = b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        for end in 0..=good.len() {
            traceparent(&good[..end]);
        }
        for later in [&b"01"[..], b"fe", b"ff", b"0g"] {
            traceparent(&[later, &good[2..], b"-more"].concat());
        }
    }
}
