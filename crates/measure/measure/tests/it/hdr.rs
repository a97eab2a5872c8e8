//! Histograms as text: another implementation reads them, and no text can do harm.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use keywright_encoding::base64;
use keywright_measure::document::Latency;
use keywright_measure::hdr::{HdrError, LIMIT, Packed, Precision, decode, encode};
use keywright_measure::histogram::Histogram;
use proptest::prelude::*;

fn of(values: &[u64]) -> Histogram {
    let mut histogram = Histogram::new();
    values.iter().for_each(|value| histogram.record(*value));
    histogram
}

/// What the library that the engine counts with reads.
fn theirs(text: &str) -> hdrhistogram::Histogram<u64> {
    let bytes = base64::decode(text).unwrap();
    Deserializer::new()
        .deserialize(&mut bytes.as_slice())
        .unwrap()
}

fn alike(one: &hdrhistogram::Histogram<u64>, two: &hdrhistogram::Histogram<u64>) {
    let slots = |of: &hdrhistogram::Histogram<u64>| -> Vec<(u64, u64)> {
        of.iter_recorded()
            .map(|bin| {
                (
                    of.highest_equivalent(bin.value_iterated_to()),
                    bin.count_at_value(),
                )
            })
            .collect()
    };
    assert_eq!(slots(one), slots(two));
}

const SAMPLES: [&[u64]; 7] = [
    &[0],
    &[1, 2, 3, 3, 3],
    &[2047, 2048, 2049, 4095, 4096],
    &[412_000, 398_000, 9_020_000, 1_830_000],
    &[u64::MAX],
    &[7, 3_600_000_000_000_000],
    &[1 << 40, (1 << 40) + 1, 12],
];

#[test]
fn another_implementation_reads_the_same_slots() {
    for values in SAMPLES {
        let histogram = of(values);
        let read = theirs(&encode(&histogram).unwrap());
        assert_eq!(read.len(), histogram.count());
        alike(&read, histogram.bins());
    }
}

#[test]
fn what_another_implementation_writes_is_read() {
    for values in SAMPLES {
        let histogram = of(values);
        let mut bytes = Vec::new();
        V2DeflateSerializer::new()
            .serialize(histogram.bins(), &mut bytes)
            .unwrap();
        let read = decode(&base64::encode(&bytes)).unwrap();
        alike(read.bins(), histogram.bins());
    }
}

#[test]
fn a_coarse_text_keeps_every_value_within_a_hundredth() {
    let values: Vec<u64> = (1..5000).map(|n| n * n * 31).collect();
    let text = Packed::of(&of(&values), Precision::Coarse).text();
    assert!(text.len() < encode(&of(&values)).unwrap().len());
    let read = decode(&text).unwrap();
    assert_eq!(read.count(), 4999);
    for (rank, value) in (1..).zip(&values) {
        let found = read.at_rank(rank).unwrap();
        assert!(found.abs_diff(*value) as f64 <= *value as f64 * 0.01 + 1.0);
    }
    assert_eq!(theirs(&text).len(), 4999);
}

#[test]
fn nothing_measured_is_no_text() {
    assert_eq!(encode(&Histogram::new()), None);
    let empty = Packed::of(&Histogram::new(), Precision::Fine).text();
    assert_eq!(decode(&empty).unwrap().count(), 0);
    assert_eq!(theirs(&empty).len(), 0);
}

#[test]
fn the_worst_distribution_fits_the_limit() {
    let mut histogram = Histogram::new();
    let mut state = 1_u64;
    for bit in 0..52 {
        for place in 0..2048_u64 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            histogram.record_n((place << bit) + 1, 1 + (state >> 20));
        }
    }
    let text = encode(&histogram).unwrap();
    assert!(text.len() <= LIMIT, "{}", text.len());
    assert_eq!(decode(&text).unwrap().count(), histogram.count());
}

#[test]
fn the_ends_are_the_exact_ones_of_the_document_where_they_fit() {
    let histogram = of(&[100_001, 5_000_001]);
    let latency = Latency {
        n: 2,
        min_ns: Some(100_001),
        max_ns: Some(5_000_001),
        hdr: encode(&histogram),
        ..Latency::default()
    };
    let read = latency.histogram().unwrap().unwrap();
    assert_eq!((read.min(), read.max()), (Some(100_001), Some(5_000_001)));
    let lying = Latency {
        min_ns: Some(3),
        max_ns: Some(1),
        ..latency.clone()
    };
    let read = lying.histogram().unwrap().unwrap();
    assert!(read.min().unwrap() > 99_000 && read.max().unwrap() >= 5_000_001);
    let none = Latency {
        hdr: None,
        ..latency
    };
    assert!(none.histogram().unwrap().is_none());
}

/// A text of these plain bytes, well packed.
fn packed(plain: &[u8]) -> String {
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
    zlib.write_all(plain).unwrap();
    let zlib = zlib.finish().unwrap();
    let mut out = 0x1c84_9314_u32.to_be_bytes().to_vec();
    out.extend(u32::try_from(zlib.len()).unwrap().to_be_bytes());
    out.extend(zlib);
    base64::encode(&out)
}

fn plain(digits: u32, lowest: u64, counts: &[u8]) -> Vec<u8> {
    let mut out = 0x1c84_9313_u32.to_be_bytes().to_vec();
    out.extend(u32::try_from(counts.len()).unwrap().to_be_bytes());
    out.extend(0_u32.to_be_bytes());
    out.extend(digits.to_be_bytes());
    out.extend(lowest.to_be_bytes());
    out.extend(u64::MAX.to_be_bytes());
    out.extend(1.0_f64.to_be_bytes());
    out.extend(counts);
    out
}

#[test]
fn what_is_no_histogram_is_refused_by_what_is_wrong_with_it() {
    let good = encode(&of(&[1, 2, 3])).unwrap();
    let bytes = base64::decode(&good).unwrap();
    let cut = |n: usize| base64::encode(&bytes[..n]);
    let mut spoiled = bytes.clone();
    *spoiled.last_mut().unwrap() ^= 1;
    let mut longer = bytes.clone();
    longer.push(0);
    let most = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
    let far = [0xff; 9];
    for (text, error) in [
        (String::new(), HdrError::Shape),
        ("HIST!".to_owned(), HdrError::Base64),
        (cut(3), HdrError::Shape),
        (cut(8), HdrError::Shape),
        (cut(bytes.len() - 1), HdrError::Shape),
        (base64::encode(&longer), HdrError::Shape),
        (base64::encode(&spoiled), HdrError::Zlib),
        ("A".repeat(LIMIT + 4), HdrError::TooLarge),
        (packed(&[]), HdrError::Shape),
        (packed(&plain(3, 1, &[])[..39]), HdrError::Shape),
        (packed(&vec![0; 8 << 20]), HdrError::TooLarge),
        (packed(&plain(0, 1, &[2])), HdrError::Shape),
        (packed(&plain(6, 1, &[2])), HdrError::Shape),
        (packed(&plain(u32::MAX, 1, &[2])), HdrError::Shape),
        (packed(&plain(3, 0, &[2])), HdrError::Shape),
        (packed(&plain(3, 1 << 60, &[2])), HdrError::Shape),
        (packed(&plain(3, 1, &[0x80])), HdrError::Shape),
        (packed(&plain(3, 1, &[0xff; 8])), HdrError::Shape),
        (
            packed(&plain(3, 1, &[most, most, most].concat())),
            HdrError::Overflow,
        ),
        (
            packed(&plain(3, 1, &[&far[..], &[2]].concat())),
            HdrError::Overflow,
        ),
        (
            packed(&plain(3, 1, &[&far[..], &far, &far].concat())),
            HdrError::Overflow,
        ),
    ] {
        let shown = text.get(..40).unwrap_or(&text).to_owned();
        assert_eq!(
            decode(&text).map(|read| read.count()),
            Err(error),
            "{shown}"
        );
    }
}

#[test]
fn a_stored_text_that_is_damaged_is_an_error_and_not_an_empty_distribution() {
    let latency = Latency {
        hdr: Some("HISTFAAAAA".to_owned()),
        ..Latency::default()
    };
    assert!(latency.histogram().is_err());
}

proptest! {
    #[test]
    fn whatever_is_counted_comes_back(values in prop::collection::vec((any::<u64>(), 1_u64..1 << 40), 1..60)) {
        let mut histogram = Histogram::new();
        for (value, count) in values {
            histogram.record_n(value >> (value % 60), count);
        }
        let text = encode(&histogram).unwrap();
        let read = decode(&text).unwrap();
        prop_assert_eq!(read.count(), histogram.count());
        for share in [0.0, 0.1, 0.5, 0.9, 0.99, 1.0] {
            let (one, two) = (read.quantile(share).unwrap(), histogram.quantile(share).unwrap());
            prop_assert!(one.abs_diff(two) as f64 <= two as f64 * 0.001 + 1.0);
        }
    }

    #[test]
    fn no_plain_bytes_panic(counts in prop::collection::vec(any::<u8>(), 0..200), digits in 0_u32..8, lowest in any::<u64>()) {
        let _ = decode(&packed(&plain(digits, lowest, &counts)));
        let _ = decode(&packed(&counts));
        let _ = decode(&base64::encode(&counts));
    }
}
