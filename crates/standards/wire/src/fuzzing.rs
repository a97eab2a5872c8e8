//! The promises of the decoders over arbitrary bytes, as one function that the fuzz target and a plain
//! test of this crate both call.

use crate::compat::{decode_init_v2, encode_init_v2};
use crate::{HeaderForm, InitFrame, InitHead, MessageFrame, PrekeyHead, padding};

/// Reads `data` as every frame there is and takes its padding off, and checks that
///
/// * what is read is written again as the same bytes: there is no second spelling;
/// * no message frame is read with both headers, and no first frame in both of its forms;
/// * content that was padded is padded to the same bytes.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn frames(data: &[u8]) {
    let mut out = Vec::new();
    let mut message_forms = 0;
    for form in [HeaderForm::Fenced, HeaderForm::Hedged] {
        if let Ok(frame) = MessageFrame::parse(data, form) {
            message_forms += 1;
            out.clear();
            frame.encode_into(&mut out);
            assert_eq!(out, data, "a message frame with two spellings");
        }
        if let Ok(frame) = InitFrame::parse(data, form) {
            out.clear();
            frame.encode_into(&mut out);
            assert_eq!(out, data, "a first frame with two spellings");
            assert_eq!(out.len(), frame.encoded_len(), "another length than stated");
        }
    }
    assert!(message_forms < 2, "a message frame with two headers");
    if let Ok((head, rest)) = InitHead::parse_prefix(data) {
        out.clear();
        head.encode_into(&mut out);
        out.extend_from_slice(rest);
        assert_eq!(out, data, "a head with two spellings");
        assert_eq!(
            InitHead::new(*head.parts()),
            Ok(head),
            "parts that do not fit"
        );
    }
    if let Ok((head, rest)) = PrekeyHead::parse_prefix(data) {
        out.clear();
        head.encode_into(&mut out);
        assert_eq!(out.len(), head.encoded_len(), "another length than stated");
        out.extend_from_slice(rest);
        assert_eq!(out, data, "a head with two spellings");
        assert!(PrekeyHead::is_ahead(data), "a head that is not seen");
        assert!(
            InitHead::parse_prefix(data).is_err(),
            "a head that is read as another"
        );
    }
    if let Ok(frame) = decode_init_v2(data) {
        out.clear();
        assert_eq!(encode_init_v2(&frame, &mut out), Ok(()));
        assert_eq!(out, data, "an old frame with two spellings");
    }
    if let Ok(content) = padding::unpad(data) {
        out.clear();
        assert_eq!(padding::pad_into(content, &mut out), Ok(()));
        assert_eq!(out, data, "a padding with two spellings");
    }
}
