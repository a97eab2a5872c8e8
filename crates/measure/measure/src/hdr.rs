//! Histograms as text that other tools read: HdrHistogram V2, deflated, in base64.
//!
//! Source: the V2 encoding of HdrHistogram (`AbstractHistogram.encodeIntoCompressedByteBuffer` of the Java
//! library, and the log format that is built on it). A cookie and a length, then a zlib stream of a header
//! and the counts of the slots from the lowest up: zigzag, seven bits a byte, a negative number for so many
//! empty slots.
//!
//! What is written has at most [`LIMIT`] characters: a distribution that needs more with three significant
//! digits is written with two. What is read is bounded before it is unpacked, so that a short text cannot
//! ask for much memory. Not here: the encodings before V2, and histograms of signed or fractional values.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use keywright_encoding::base64;

use crate::histogram::Histogram;

/// Most characters of a distribution that is written or read.
pub const LIMIT: usize = 64 * 1024;

/// How finely values are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Precision {
    /// Two significant digits: within 1 %.
    Coarse,
    /// Three significant digits: within 0.1 %, as values are counted here.
    Fine,
}

/// A text that is no histogram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HdrError {
    /// It is not base64.
    #[error("the histogram is not base64")]
    Base64,
    /// The slots hold more values than can be counted, or lie beyond what can be measured.
    #[error("the histogram counts beyond what can be counted")]
    Overflow,
    /// It is another encoding, or its parts do not fit each other.
    #[error("the histogram is not of the compressed second version")]
    Shape,
    /// It is longer than [`LIMIT`], or unpacks to more than a histogram can be.
    #[error("the histogram is too large")]
    TooLarge,
    /// The compressed part is damaged.
    #[error("the compressed part of the histogram is damaged")]
    Zlib,
}

const COMPRESSED: u32 = 0x1c84_9314;
const PLAIN: u32 = 0x1c84_9313;
/// Cookie and length.
const OUTER: usize = 8;
/// Cookie, length, offset, digits, lowest, highest, ratio.
const INNER: usize = 40;
/// Most bytes that are unpacked: every slot of the finest layout that is read, four bytes each.
const MOST_UNPACKED: u64 = 1 << 20;
/// The highest bit that a value may have; far above an hour in picoseconds.
const HIGHEST_BIT: u32 = 56;

impl Precision {
    const fn digits(self) -> u32 {
        match self {
            Self::Coarse => 2,
            Self::Fine => 3,
        }
    }
}

/// Where values lie among the slots.
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// The values of the lowest slots are multiples of two to this.
    unit: u32,
    /// Half of the slots of one doubling, as a power of two.
    half: u32,
}

impl Layout {
    /// The layout for so many digits, from one up.
    fn of(digits: u32, lowest: u64) -> Option<Self> {
        let single = 2 * 10_u64.pow((1..=5).contains(&digits).then_some(digits)?);
        let unit = lowest.checked_ilog2()?;
        (unit <= HIGHEST_BIT).then(|| Self {
            unit,
            half: single.next_power_of_two().ilog2() - 1,
        })
    }

    fn slot(self, value: u64) -> u64 {
        let mask = ((2_u64 << self.half) - 1) << self.unit;
        let doubling = 63 - (value | mask).leading_zeros() - self.unit - self.half;
        let place = value >> (doubling + self.unit);
        (u64::from(doubling) << self.half) + place
    }

    /// The lowest and the highest value of a slot; none beyond what can be measured.
    fn values(self, slot: u64) -> Option<(u64, u64)> {
        let half = 1_u64 << self.half;
        let (doubling, place) = match slot >> self.half {
            0 | 1 => (0, slot),
            n => (n - 1, (slot & (half - 1)) + half),
        };
        let shift = u32::try_from(doubling).ok()?.checked_add(self.unit)?;
        if shift + self.half + 1 > HIGHEST_BIT + 1 {
            return None;
        }
        let low = place << shift;
        Some((low, low + (1_u64 << shift) - 1))
    }
}

/// A distribution with its slots counted and not yet compressed: cheap to make while something is measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packed(Vec<u8>);

impl Packed {
    /// The slots of `histogram`.
    #[must_use]
    pub fn of(histogram: &Histogram, precision: Precision) -> Self {
        let Some(layout) = Layout::of(precision.digits(), 1) else {
            return Self(Vec::new());
        };
        let mut counts = Vec::new();
        let mut slots = Slots::default();
        for bin in histogram.bins().iter_recorded() {
            slots.add(
                layout.slot(bin.value_iterated_to()),
                bin.count_at_value(),
                &mut counts,
            );
        }
        slots.flush(&mut counts);
        let highest = histogram.max().unwrap_or(0).max(2);
        let length = u32::try_from(counts.len()).unwrap_or(u32::MAX);
        let mut out = Vec::with_capacity(INNER + counts.len());
        out.extend(PLAIN.to_be_bytes());
        out.extend(length.to_be_bytes());
        out.extend(0_u32.to_be_bytes());
        out.extend(precision.digits().to_be_bytes());
        out.extend(1_u64.to_be_bytes());
        out.extend(highest.to_be_bytes());
        out.extend(1.0_f64.to_be_bytes());
        out.extend(counts);
        Self(out)
    }

    /// The text. Compression takes longer than all before it.
    #[must_use]
    pub fn text(&self) -> String {
        let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
        // Writing to memory has nothing to fail.
        let packed = match zlib.write_all(&self.0) {
            Ok(()) => zlib.finish().unwrap_or_default(),
            Err(_) => Vec::new(),
        };
        let mut out = Vec::with_capacity(OUTER + packed.len());
        out.extend(COMPRESSED.to_be_bytes());
        out.extend(
            u32::try_from(packed.len())
                .unwrap_or(u32::MAX)
                .to_be_bytes(),
        );
        out.extend(packed);
        base64::encode(&out)
    }
}

/// Counts slot after slot; neighbours that are one slot of a coarser layout become one.
#[derive(Default)]
struct Slots {
    /// The first slot that nothing was written for.
    next: u64,
    open: Option<(u64, u64)>,
}

impl Slots {
    fn add(&mut self, slot: u64, count: u64, out: &mut Vec<u8>) {
        match &mut self.open {
            Some((open, sum)) if *open == slot => *sum = sum.saturating_add(count),
            _ => {
                self.flush(out);
                self.open = Some((slot, count));
            }
        }
    }

    fn flush(&mut self, out: &mut Vec<u8>) {
        let Some((slot, count)) = self.open.take() else {
            return;
        };
        match slot - self.next {
            0 => {}
            empty => number(-i64::try_from(empty).unwrap_or(i64::MAX), out),
        }
        number(i64::try_from(count).unwrap_or(i64::MAX), out);
        self.next = slot + 1;
    }
}

/// Zigzag, seven bits a byte, the ninth byte whole.
fn number(value: i64, out: &mut Vec<u8>) {
    let mut rest = (value << 1 ^ value >> 63).cast_unsigned();
    for _ in 0..8 {
        let [low, ..] = rest.to_le_bytes();
        rest >>= 7;
        if rest == 0 {
            out.push(low & 0x7f);
            return;
        }
        out.push(low | 0x80);
    }
    out.extend(rest.to_le_bytes().first());
}

/// The distribution as text; nothing of one without values.
#[must_use]
pub fn encode(histogram: &Histogram) -> Option<String> {
    if histogram.count() == 0 {
        return None;
    }
    let texts = [Precision::Fine, Precision::Coarse]
        .map(|precision| move || Packed::of(histogram, precision).text());
    texts
        .into_iter()
        .map(|text| text())
        .find(|text| text.len() <= LIMIT)
}

/// Reads a distribution. Each value comes back as the highest one of its slot.
///
/// # Errors
/// Whatever is no such text, and whatever is too large; see [`HdrError`].
pub fn decode(text: &str) -> Result<Histogram, HdrError> {
    if text.len() > LIMIT {
        return Err(HdrError::TooLarge);
    }
    let bytes = base64::decode(text).map_err(|_| HdrError::Base64)?;
    let mut outer = bytes.as_slice();
    if word(&mut outer)? != COMPRESSED {
        return Err(HdrError::Shape);
    }
    if usize::try_from(word(&mut outer)?).ok() != Some(outer.len()) {
        return Err(HdrError::Shape);
    }
    let mut plain = Vec::new();
    let mut bounded = ZlibDecoder::new(outer).take(MOST_UNPACKED + 1);
    bounded
        .read_to_end(&mut plain)
        .map_err(|_| HdrError::Zlib)?;
    if plain.len() as u64 > MOST_UNPACKED {
        return Err(HdrError::TooLarge);
    }
    slots(&plain)
}

fn slots(mut plain: &[u8]) -> Result<Histogram, HdrError> {
    let rest = &mut plain;
    let (cookie, length, offset) = (word(rest)?, word(rest)?, word(rest)?);
    let digits = word(rest)?;
    let (lowest, _highest, ratio) = (long(rest)?, long(rest)?, long(rest)?);
    let fits = cookie == PLAIN && offset == 0 && usize::try_from(length).ok() == Some(rest.len());
    let layout = Layout::of(digits, lowest).filter(|_| fits && f64::from_bits(ratio) == 1.0);
    let layout = layout.ok_or(HdrError::Shape)?;
    let mut read = Vec::new();
    let (mut slot, mut total) = (0_u64, 0_u64);
    while !rest.is_empty() {
        let value = zigzag(rest)?;
        let step = match u64::try_from(value) {
            Ok(count) => {
                if count > 0 {
                    total = total.checked_add(count).ok_or(HdrError::Overflow)?;
                    read.push((layout.values(slot).ok_or(HdrError::Overflow)?, count));
                }
                1
            }
            Err(_) => value.unsigned_abs(),
        };
        slot = slot.checked_add(step).ok_or(HdrError::Overflow)?;
    }
    if total > i64::MAX.cast_unsigned() {
        return Err(HdrError::Overflow);
    }
    let mut histogram = Histogram::new();
    for ((_, high), count) in &read {
        histogram.record_n(*high, *count);
    }
    if let Some(((low, _), _)) = read.first() {
        histogram.reaches(*low);
    }
    Ok(histogram)
}

fn word(rest: &mut &[u8]) -> Result<u32, HdrError> {
    let (head, tail) = rest.split_first_chunk().ok_or(HdrError::Shape)?;
    *rest = tail;
    Ok(u32::from_be_bytes(*head))
}

fn long(rest: &mut &[u8]) -> Result<u64, HdrError> {
    let (head, tail) = rest.split_first_chunk().ok_or(HdrError::Shape)?;
    *rest = tail;
    Ok(u64::from_be_bytes(*head))
}

fn zigzag(rest: &mut &[u8]) -> Result<i64, HdrError> {
    let mut value = 0_u64;
    for place in 0..9 {
        let (byte, tail) = rest.split_first().ok_or(HdrError::Shape)?;
        *rest = tail;
        let bits = if place == 8 { *byte } else { byte & 0x7f };
        value |= u64::from(bits) << (7 * place);
        if place == 8 || byte & 0x80 == 0 {
            break;
        }
    }
    let half = (value >> 1).cast_signed();
    Ok(if value & 1 == 1 { !half } else { half })
}
