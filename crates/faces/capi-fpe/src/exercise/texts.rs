//! Texts as arbitrary bytes describe them.
#![expect(unsafe_code, reason = "calls of the entries of a C library")]

use std::ffi::{CString, c_char};
use std::ptr;

use super::{Scene, Source, UNTOUCHED, judged};
use crate::boundary::OK;
use crate::text;

/// Bytes up to a zero as a C string.
fn string(bytes: &[u8]) -> CString {
    let end = bytes.iter().position(|byte| *byte == 0);
    CString::new(&bytes[..end.unwrap_or(bytes.len())]).unwrap_or_default()
}

/// An alphabet that fits the radix mostly, and a text that is over it mostly.
pub(super) fn strings(scene: &Scene, source: &mut Source<'_>) -> [CString; 2] {
    const SYMBOLS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let radix = usize::try_from(scene.radix).unwrap_or(usize::MAX);
    let own = source.byte() < 64;
    let count = usize::from(source.byte());
    let alphabet = if own {
        source.bytes(count)
    } else {
        SYMBOLS.get(..radix).unwrap_or(SYMBOLS)
    };
    let alphabet = string(alphabet);
    let wild = source.byte() < 16;
    let count = usize::from(source.byte());
    let symbols = alphabet.as_bytes();
    let symbol = |byte: &u8| match symbols.get(usize::from(*byte) % symbols.len().max(1)) {
        Some(symbol) if !wild => *symbol,
        _ => *byte,
    };
    let text: Vec<u8> = source.bytes(count).iter().map(symbol).collect();
    let text = string(&text);
    [alphabet, text]
}

pub(super) fn of_strings(scene: &Scene, source: &mut Source<'_>) {
    let [alphabet, input] = strings(scene, source);
    let at_once = source.byte().is_multiple_of(2);
    let (tweak, bytes) = scene.tweak();
    let mut output = vec![UNTOUCHED; input.as_bytes().len() + 1];
    let before = output.clone();
    let start: *mut c_char = scene
        .or_null(3, output.as_mut_ptr().cast_const())
        .cast_mut()
        .cast();
    let symbols = scene.or_null(4, alphabet.as_ptr());
    let from = scene.or_null(5, input.as_ptr());
    let ([mode, algorithm], key, bits) = (scene.kind, scene.key(), scene.bits);
    // SAFETY: pointers are NULL, strings, or have their lengths, and lie apart.
    let made = unsafe {
        if at_once {
            text::encrypt_str_oneshot(
                mode, algorithm, key, bits, symbols, from, start, tweak, bytes,
            )
        } else {
            text::encrypt_str(scene.ctx(), symbols, from, start, tweak, bytes)
        }
    };
    if judged(made, &output, &before) {
        // SAFETY: as above, in place; the first call has ended the string.
        let back = unsafe {
            if at_once {
                text::decrypt_str_oneshot(
                    mode, algorithm, key, bits, symbols, start, start, tweak, bytes,
                )
            } else {
                text::decrypt_str(scene.ctx(), symbols, start, start, tweak, bytes)
            }
        };
        assert!(back == OK, "a text does not come back");
        assert_eq!(output, input.as_bytes_with_nul());
    }
}

pub(super) fn of_strings_with_room(scene: &Scene, source: &mut Source<'_>) {
    let [alphabet, input] = strings(scene, source);
    let capacity = usize::from(source.byte()) + 4 * usize::from(source.byte());
    let (tweak, _) = scene.tweak();
    let mut output = vec![UNTOUCHED; capacity];
    let before = output.clone();
    let start: *mut c_char = scene
        .or_null(3, output.as_mut_ptr().cast_const())
        .cast_mut()
        .cast();
    let symbols = scene.or_null(4, alphabet.as_ptr());
    let from = scene.or_null(5, input.as_ptr());
    let (ctx, length, tweak_len) = (scene.ctx(), input.as_bytes().len(), scene.tweak.len());
    let mut written = usize::MAX;
    // SAFETY: pointers are NULL, strings, or have their lengths, and lie apart.
    let made = unsafe {
        text::encrypt_str_ex(
            ctx,
            symbols,
            from,
            length,
            start,
            capacity,
            &raw mut written,
            tweak,
            tweak_len,
        )
    };
    if judged(made, &output, &before) {
        assert!(output.get(written) == Some(&0), "a text without an end");
        let made = output.clone();
        let mut back = vec![UNTOUCHED; length + 1];
        let into = back.as_mut_ptr().cast();
        // SAFETY: as above; `written` bytes are there.
        let returned = unsafe {
            text::decrypt_str_ex(
                ctx,
                symbols,
                made.as_ptr().cast(),
                written,
                into,
                length + 1,
                ptr::null_mut(),
                tweak,
                tweak_len,
            )
        };
        assert!(returned == OK, "a text does not come back");
        assert_eq!(back, input.as_bytes_with_nul());
    }
}
