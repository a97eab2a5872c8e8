//! Suite 6 piece by piece: what is released, and which arrangements of true chunks are refused.

use std::io::{Read, Write};

use keywright_envelope::stream::{
    CHUNK_LEN, Prefix, SEALED_CHUNK_LEN, StreamOpener, StreamSealer, TransferError,
};
use keywright_envelope::{Aad, Binding, Error, Rejected, hazmat};
use keywright_primitives::random::RandomStream;
use keywright_types::Suite;

use crate::scene::{group, keys, open, principal, sealed};

fn stream(salt: u8, text: &[u8]) -> Vec<u8> {
    let (sealing, _) = keys(Suite::Chunked);
    hazmat::seal_with_nonce(&sealing, Binding::None, &Aad::EMPTY, text, &[salt; 24]).unwrap()
}

fn text() -> Vec<u8> {
    (0..=255_u8).cycle().take(3 * CHUNK_LEN + 100).collect()
}

/// Prefix, three full chunks, the last one.
fn parts(stream: &[u8]) -> (Vec<u8>, Vec<Vec<u8>>) {
    let (prefix, chunks) = stream.split_at(26 + 56);
    (
        prefix.to_vec(),
        chunks
            .chunks(SEALED_CHUNK_LEN)
            .map(<[u8]>::to_vec)
            .collect(),
    )
}

fn opens(bytes: &[u8]) -> bool {
    let (_, opening) = keys(Suite::Chunked);
    let whole = open(&opening, bytes, &Aad::EMPTY);
    let pieces = in_pieces(bytes, 4096);
    assert_eq!(whole, pieces.ok(), "one piece and many do not agree");
    whole.is_some()
}

fn in_pieces(bytes: &[u8], size: usize) -> Result<Vec<u8>, Rejected> {
    let (_, opening) = keys(Suite::Chunked);
    let (prefix, chunks) = bytes.split_at(82);
    let mut opener = StreamOpener::new(&opening, &Prefix::parse(prefix).unwrap(), &Aad::EMPTY)?;
    let mut out = Vec::new();
    for piece in chunks.chunks(size) {
        opener.update(piece, &mut out)?;
    }
    opener.finish(&mut out)?;
    Ok(out)
}

#[test]
fn chunks_in_another_order_dropped_doubled_or_joined_are_refused() {
    let (prefix, chunks) = parts(&stream(1, &text()));
    let arranged = |order: &[usize]| {
        let chosen = order.iter().flat_map(|index| chunks[*index].clone());
        prefix.iter().copied().chain(chosen).collect::<Vec<u8>>()
    };
    assert!(opens(&arranged(&[0, 1, 2, 3])));
    let wrong: [&[usize]; 14] = [
        &[1, 0, 2, 3],
        &[0, 2, 1, 3],
        &[3, 0, 1, 2],
        &[3, 2, 1, 0],
        &[1, 2, 3],
        &[0, 2, 3],
        &[0, 1, 3],
        &[0, 1, 2],
        &[0],
        &[3],
        &[0, 0, 1, 2, 3],
        &[0, 1, 1, 2, 3],
        &[0, 1, 2, 3, 3],
        &[0, 1, 2, 3, 0, 1, 2, 3],
    ];
    for order in wrong {
        assert!(!opens(&arranged(order)), "{order:?}");
    }
}

#[test]
fn chunks_of_another_stream_under_the_same_key_are_refused() {
    let (prefix, chunks) = parts(&stream(1, &text()));
    let (other_prefix, others) = parts(&stream(2, &text()));
    for index in 0..4 {
        let mut mixed = chunks.clone();
        mixed[index].clone_from(&others[index]);
        assert!(
            !opens(&[prefix.clone(), mixed.concat()].concat()),
            "{index}"
        );
    }
    assert!(!opens(&[other_prefix, chunks.concat()].concat()));
    let mut salt = prefix;
    salt[26..50].fill(2);
    assert!(
        !opens(&[salt, others.concat()].concat()),
        "commitment of the first"
    );
}

#[test]
fn a_cut_at_any_place_is_refused() {
    let whole = stream(1, &text()[..CHUNK_LEN + 20]);
    let ends = [82, 82 + SEALED_CHUNK_LEN, whole.len()];
    for length in
        (82..whole.len()).filter(|length| ends.iter().any(|end| end.abs_diff(*length) < 70))
    {
        if length >= 82 + 16 {
            assert!(!opens(&whole[..length]), "{length}");
        }
        assert!(in_pieces(&whole[..length], 1000).is_err(), "{length}");
    }
}

#[test]
fn a_stream_without_its_short_last_chunk_is_refused_after_its_text_was_handed_out() {
    let (_, opening) = keys(Suite::Chunked);
    let whole = stream(1, &text()[..2 * CHUNK_LEN]);
    assert_eq!(
        whole.len(),
        82 + 2 * SEALED_CHUNK_LEN + 16,
        "an empty chunk ends it"
    );
    let prefix = Prefix::parse(&whole[..82]).unwrap();
    let mut opener = StreamOpener::new(&opening, &prefix, &Aad::EMPTY).unwrap();
    let mut out = Vec::new();
    opener
        .update(&whole[82..82 + 2 * SEALED_CHUNK_LEN], &mut out)
        .unwrap();
    assert_eq!(out, text()[..2 * CHUNK_LEN]);
    assert!(opener.finish(&mut out).is_err());
    assert_eq!(out.len(), 2 * CHUNK_LEN);
}

#[test]
fn only_verified_chunks_are_released_and_a_broken_stream_stays_broken() {
    let (_, opening) = keys(Suite::Chunked);
    let mut bytes = stream(1, &text());
    bytes[82 + SEALED_CHUNK_LEN + 5] ^= 1;
    let prefix = Prefix::parse(&bytes[..82]).unwrap();
    let mut opener = StreamOpener::new(&opening, &prefix, &Aad::EMPTY).unwrap();
    let mut out = Vec::new();
    assert!(opener.update(&bytes[82..], &mut out).is_err());
    assert_eq!(
        out,
        text()[..CHUNK_LEN],
        "the first chunk and nothing of the second"
    );
    let good = stream(1, &text());
    assert!(
        opener
            .update(&good[82 + SEALED_CHUNK_LEN..], &mut out)
            .is_err()
    );
    assert_eq!(out.len(), CHUNK_LEN);
    assert!(opener.finish(&mut out).is_err());
}

#[test]
fn the_size_of_the_pieces_makes_no_difference() {
    let (sealing, opening) = keys(Suite::Chunked);
    for length in [
        0,
        1,
        CHUNK_LEN - 1,
        CHUNK_LEN,
        CHUNK_LEN + 1,
        2 * CHUNK_LEN,
        50_001,
    ] {
        let text: Vec<u8> = (0..=255_u8).cycle().take(length).collect();
        let whole = stream(9, &text);
        for size in [1000, CHUNK_LEN - 1, CHUNK_LEN, CHUNK_LEN + 1, 40_000] {
            let mut out = Vec::new();
            let mut sealer =
                hazmat::stream_with_salt(&sealing, Binding::None, &Aad::EMPTY, &[9; 24], &mut out)
                    .unwrap();
            for piece in text.chunks(size) {
                sealer.update(piece, &mut out).unwrap();
            }
            sealer.finish(&mut out).unwrap();
            assert_eq!(out, whole, "length {length}, pieces of {size}");
            assert_eq!(in_pieces(&whole, size).unwrap(), text);
        }
        assert_eq!(open(&opening, &whole, &Aad::EMPTY).unwrap(), text);
    }
}

#[test]
fn a_prefix_says_its_length_and_is_read_back() {
    let mut random = RandomStream::new().unwrap();
    let (sealing, _) = keys(Suite::Chunked);
    for binding in [Binding::None, principal(1), group(2)] {
        let mut out = Vec::new();
        let sealer =
            StreamSealer::new(&sealing, binding, &Aad::EMPTY, &mut random, &mut out).unwrap();
        let length = Prefix::length(out.first_chunk().unwrap()).unwrap();
        assert_eq!(length, out.len());
        let prefix = Prefix::parse(&out).unwrap();
        assert_eq!(prefix.header().binding, binding);
        assert_eq!(prefix.message_id(), sealer.message_id());
        let mut again = Vec::new();
        prefix.encode_into(&mut again);
        assert_eq!(again, out);
        assert!(Prefix::parse(&out[..out.len() - 1]).is_err());
        assert!(Prefix::parse(&[&out[..], &[0]].concat()).is_err());
    }
    let other = sealed(Suite::Xaes256Gcm, Binding::None, &Aad::EMPTY, b"");
    assert!(Prefix::parse(&other[..82]).is_err());
    let mut unknown = [0; Prefix::PEEK_LEN];
    unknown[5] = 3;
    assert!(Prefix::length(&unknown).is_err());
}

#[test]
fn keys_of_other_suites_do_not_stream() {
    let (sealing, opening) = keys(Suite::Xaes256Gcm);
    let mut random = RandomStream::new().unwrap();
    let mut out = Vec::new();
    let started = StreamSealer::new(&sealing, Binding::None, &Aad::EMPTY, &mut random, &mut out);
    assert_eq!(
        started.err(),
        Some(Error::SuiteUnsupported(Suite::Xaes256Gcm))
    );
    assert!(out.is_empty());
    let prefix = Prefix::parse(&stream(1, b"")[..82]).unwrap();
    assert!(StreamOpener::new(&opening, &prefix, &Aad::EMPTY).is_err());
}

/// Gives and takes a few bytes at a time, so that every boundary is met, and is interrupted in between.
struct Trickle<T> {
    inner: T,
    step: usize,
    calls: usize,
}

impl<T> Trickle<T> {
    fn of(inner: T, step: usize) -> Self {
        Self {
            inner,
            step,
            calls: 0,
        }
    }

    fn interrupted(&mut self) -> std::io::Result<()> {
        self.calls += 1;
        match self.calls % 5 {
            0 => Err(std::io::ErrorKind::Interrupted.into()),
            _ => Ok(()),
        }
    }
}

impl Read for Trickle<&[u8]> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        self.interrupted()?;
        let length = out.len().min(self.step);
        self.inner.read(&mut out[..length])
    }
}

impl Write for Trickle<Vec<u8>> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.interrupted()?;
        self.inner.write(&bytes[..bytes.len().min(self.step)])
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn from_reader_to_writer_gives_the_same_stream_and_the_same_text() {
    let (sealing, opening) = keys(Suite::Chunked);
    let mib = 1 << 20;
    for length in [
        0,
        1,
        CHUNK_LEN,
        mib - 1,
        mib,
        mib + 1,
        2 * mib,
        2 * mib + CHUNK_LEN + 5,
    ] {
        let text: Vec<u8> = (0..=250_u8).cycle().take(length).collect();
        let whole = stream(9, &text);
        for step in [5003, usize::MAX] {
            let mut out = Vec::new();
            let salt = [9; 24];
            let mut sealer =
                hazmat::stream_with_salt(&sealing, Binding::None, &Aad::EMPTY, &salt, &mut out)
                    .unwrap();
            // What was pushed before is taken along.
            let (pushed, pulled) = text.split_at(text.len().min(20_000));
            sealer.update(pushed, &mut out).unwrap();
            let mut writer = Trickle::of(Vec::new(), step);
            let mut last = 0;
            let total = sealer
                .transfer(&mut Trickle::of(pulled, step), &mut writer, &mut |done| {
                    last = done
                })
                .unwrap();
            assert_eq!((total, last), (u64::try_from(pulled.len()).unwrap(), total));
            assert!(
                [out, writer.inner].concat() == whole,
                "length {length}, step {step}"
            );

            let prefix = Prefix::parse(&whole[..82]).unwrap();
            let mut opener = StreamOpener::new(&opening, &prefix, &Aad::EMPTY).unwrap();
            let (pushed, pulled) = whole[82..].split_at((whole.len() - 82).min(20_000));
            let mut opened = Vec::new();
            opener.update(pushed, &mut opened).unwrap();
            let mut writer = Trickle::of(opened, step);
            opener
                .transfer(&mut Trickle::of(pulled, step), &mut writer, &mut |_| ())
                .unwrap();
            assert!(writer.inner == text, "length {length}, step {step}");
        }
    }
}

#[test]
fn a_transfer_refuses_what_is_cut_changed_or_too_short_and_reports_a_full_disk() {
    let (sealing, opening) = keys(Suite::Chunked);
    let whole = stream(1, &text());
    let prefix = Prefix::parse(&whole[..82]).unwrap();
    let transfer = |chunks: &[u8]| {
        let opener = StreamOpener::new(&opening, &prefix, &Aad::EMPTY).unwrap();
        opener.transfer(&mut &chunks[..], &mut Vec::new(), &mut |_| ())
    };
    assert!(transfer(&whole[82..]).is_ok());
    for cut in [1, 16, 100, 116, 117, SEALED_CHUNK_LEN + 116] {
        let refused = transfer(&whole[82..whole.len() - cut]);
        assert!(matches!(refused, Err(TransferError::Rejected(_))), "{cut}");
    }
    let mut changed = whole[82..].to_vec();
    changed[2 * SEALED_CHUNK_LEN] ^= 1;
    assert!(matches!(
        transfer(&changed),
        Err(TransferError::Rejected(_))
    ));
    for length in 0..16 {
        let refused = transfer(&whole[82..82 + length]);
        assert!(matches!(refused, Err(TransferError::Malformed)), "{length}");
    }
    let mut out = Vec::new();
    let sealer =
        hazmat::stream_with_salt(&sealing, Binding::None, &Aad::EMPTY, &[1; 24], &mut out).unwrap();
    let refused = sealer.transfer(&mut &text()[..], &mut &mut [0_u8; 10][..], &mut |_| ());
    assert!(matches!(refused, Err(TransferError::Write(_))));
}
