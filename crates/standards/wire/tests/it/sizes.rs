//! What can be seen of a frame's content: its length, one of few.

use std::collections::BTreeSet;

use keywright_mutate::SplitMix;
use keywright_wire::{Error, HeaderForm, MESSAGE_OVERHEAD, MessageFrame, padding};

#[test]
fn t31_frame_sizes_come_from_the_allowed_set_only() {
    let sizes: BTreeSet<usize> = (0..=70_000)
        .map(|content| MessageFrame::len_for(HeaderForm::Fenced, content).unwrap())
        .collect();
    let bodies: Vec<usize> = sizes.iter().map(|size| size - MESSAGE_OVERHEAD).collect();
    assert_eq!(bodies[..6], [64, 128, 192, 256, 272, 288]);
    // Sixteen steps in each power of two up to 2^16, where the logarithm of the exponent grows.
    let count = |from: usize, to: usize| {
        bodies
            .iter()
            .filter(|body| (from + 1..=to).contains(body))
            .count()
    };
    assert_eq!(
        (count(256, 512), count(512, 1024), count(1024, 2048)),
        (16, 16, 16)
    );
    assert_eq!(count(32_768, 65_536), 16);
    assert_eq!(MESSAGE_OVERHEAD, 73);
}

#[test]
fn t31_a_changed_byte_of_the_padding_is_found() {
    let mut dice = SplitMix::new(31);
    for content in [0, 1, 62, 63, 64, 100, 255, 256, 300, 1000, 4000] {
        let text: Vec<u8> = (0..content).map(|_| dice.byte()).collect();
        let mut padded = Vec::new();
        padding::pad_into(&text, &mut padded).unwrap();
        assert_eq!(padding::unpad(&padded).unwrap(), text);
        for at in content..padded.len() {
            for change in 1..=255 {
                let mut changed = padded.clone();
                changed[at] ^= change;
                // Only a marker further back, with the first become content, is another padding.
                let other = padding::unpad(&changed);
                let moved = at > content && changed[at] == 0x80;
                assert_eq!(other.is_ok(), moved, "{content} {at} {change}");
            }
        }
    }
}

#[test]
fn content_of_any_bytes_comes_back() {
    let mut dice = SplitMix::new(32);
    for _ in 0..3000 {
        let scale = dice.below(14);
        let length = dice.below(1 << scale);
        let kind = dice.below(3);
        let text: Vec<u8> = (0..length)
            .map(|_| match kind {
                0 => dice.byte(),
                1 => 0x80,
                _ => [0, 0x80][dice.below(2)],
            })
            .collect();
        let mut padded = b"before".to_vec();
        padding::pad_into(&text, &mut padded).unwrap();
        assert_eq!(padded.len() - 6, padding::padded_len(length).unwrap());
        assert_eq!(padding::unpad(&padded[6..]).unwrap(), text);
    }
}

#[test]
fn sixteen_mebibytes_are_the_most() {
    let most = vec![1; padding::MAX_CONTENT];
    let mut padded = Vec::new();
    padding::pad_into(&most, &mut padded).unwrap();
    assert_eq!(padding::unpad(&padded).unwrap().len(), most.len());
    // One byte more would have the same length when padded, and is refused on both ends.
    let length = padded.len();
    padded[padding::MAX_CONTENT] = 1;
    padded[padding::MAX_CONTENT + 1] = 0x80;
    assert_eq!(padding::unpad(&padded), Err(Error::Padding));
    assert!(padding::is_padded_len(length) && !padding::is_padded_len(length + 1));
    for content in [padding::MAX_CONTENT + 1, usize::MAX] {
        let too_long = Err(Error::ContentTooLong(content));
        assert_eq!(padding::padded_len(content), too_long);
        assert_eq!(MessageFrame::len_for(HeaderForm::Hedged, content), too_long);
    }
    let mut out = vec![7];
    assert!(padding::pad_into(&vec![0; padding::MAX_CONTENT + 1], &mut out).is_err());
    assert_eq!(out, [7]);
}
