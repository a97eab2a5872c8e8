//! Texts in plain pages, read into one piece of memory: no value is a thing of its own, as it is where a library reads it.
//!
//! Levels are the hybrid of runs and packed bits that Parquet's encoding 3 is. Columns within lists are not read here.

use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader as _};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;

use super::ParquetTable;
use crate::error::Trouble;
use crate::positional::Positional;

/// Whether all pages of a column are plain.
pub(super) fn is_plain(chunk: &ColumnChunkMetaData) -> bool {
    let is_known = |encoding| matches!(encoding, Encoding::PLAIN | Encoding::RLE);
    chunk.dictionary_page_offset().is_none()
        && chunk.encodings().all(is_known)
        && chunk
            .encodings()
            .any(|encoding| encoding == Encoding::PLAIN)
}

/// A column that is read.
pub(super) struct Plain {
    pages: SerializedPageReader<Positional>,
    most: i16,
    /// The values of a page, how far they are read, and how many of its rows are left.
    page: Bytes,
    at: usize,
    left: usize,
    levels: Levels,
    bytes: Vec<u8>,
    offsets: Vec<usize>,
}

pub(super) fn cut() -> Trouble {
    Trouble::damaged("a page is cut short")
}

impl Plain {
    pub(super) fn open(
        table: &ParquetTable,
        (group, column): (usize, usize),
        most: i16,
    ) -> Result<Self, Trouble> {
        let group = table.metadata.row_group(group);
        let rows = usize::try_from(group.num_rows()).unwrap_or_default();
        let bytes = Arc::clone(&table.bytes);
        Ok(Self {
            pages: SerializedPageReader::new(bytes, group.column(column), rows, None)?,
            most,
            page: Bytes::new(),
            at: 0,
            left: 0,
            levels: Levels::new(Bytes::new(), most),
            bytes: Vec::new(),
            offsets: Vec::new(),
        })
    }

    /// Reads the next so many rows, all of them, and their levels if the column has any.
    pub(super) fn read(
        &mut self,
        rows: usize,
        mut levels: Option<&mut Vec<i16>>,
    ) -> Result<(), Trouble> {
        self.bytes.clear();
        self.offsets.clear();
        self.offsets.push(0);
        let mut wanted = rows;
        while wanted > 0 {
            if self.left == 0 {
                self.turn()?;
                continue;
            }
            let count = wanted.min(self.left);
            let mut values = count;
            if let Some(levels) = levels.as_deref_mut() {
                let before = levels.len();
                self.levels.take(count, levels)?;
                let own = levels.get(before..).unwrap_or_default();
                values = own.iter().filter(|level| **level == self.most).count();
            }
            self.values(values)?;
            self.left -= count;
            wanted -= count;
        }
        Ok(())
    }

    /// Goes to the next page.
    fn turn(&mut self) -> Result<(), Trouble> {
        let page = self.pages.get_next_page()?;
        let page = page.ok_or_else(|| Trouble::damaged("a column ends before its row group"))?;
        let other = || Trouble::damaged("a page has another encoding than its column");
        let (levels, values, count) = match page {
            Page::DataPage {
                buf,
                num_values,
                encoding: Encoding::PLAIN,
                def_level_encoding,
                ..
            } => {
                let (mut levels, mut values) = (0..0, 0);
                if self.most > 0 {
                    if def_level_encoding != Encoding::RLE {
                        return Err(other());
                    }
                    let length = buf.first_chunk::<4>().ok_or_else(cut)?;
                    values = 4 + u32::from_le_bytes(*length) as usize;
                    levels = 4..values;
                }
                (
                    part(&buf, levels)?,
                    part(&buf, values..buf.len())?,
                    num_values,
                )
            }
            Page::DataPageV2 {
                buf,
                num_values,
                encoding: Encoding::PLAIN,
                def_levels_byte_len,
                rep_levels_byte_len,
                ..
            } => {
                let levels = rep_levels_byte_len as usize;
                let values = levels + def_levels_byte_len as usize;
                let all = buf.len();
                (
                    part(&buf, levels..values)?,
                    part(&buf, values..all)?,
                    num_values,
                )
            }
            _ => return Err(other()),
        };
        self.levels = Levels::new(levels, self.most);
        self.page = values;
        self.at = 0;
        self.left = count as usize;
        Ok(())
    }

    /// Takes the next so many values of the page.
    fn values(&mut self, count: usize) -> Result<(), Trouble> {
        let mut rest = self.page.get(self.at..).unwrap_or_default();
        for _ in 0..count {
            let (length, after) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
            let length = u32::from_le_bytes(*length) as usize;
            let (text, after) = after.split_at_checked(length).ok_or_else(cut)?;
            self.bytes.extend_from_slice(text);
            self.offsets.push(self.bytes.len());
            rest = after;
        }
        self.at = self.page.len() - rest.len();
        Ok(())
    }

    /// How many values the batch has.
    pub(super) const fn count(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// The values of the batch, one behind the other, each between an offset and the next.
    pub(super) fn piece(&self) -> (&[u8], &[usize]) {
        (&self.bytes, &self.offsets)
    }

    pub(super) fn get(&self, place: usize) -> &[u8] {
        let own = match self.offsets.get(place..place.saturating_add(2)) {
            Some([start, end]) => self.bytes.get(*start..*end),
            _ => None,
        };
        own.unwrap_or_default()
    }
}

pub(super) fn part(bytes: &Bytes, range: std::ops::Range<usize>) -> Result<Bytes, Trouble> {
    match bytes.get(range) {
        Some(own) => Ok(bytes.slice_ref(own)),
        None => Err(cut()),
    }
}

/// Levels of a page that are left.
pub(super) struct Levels {
    bytes: Bytes,
    at: usize,
    most: i16,
    /// Bits of a level.
    width: usize,
    run: Run,
}

enum Run {
    /// One level, so many times.
    Same(i16, usize),
    /// Levels in bits: where the next begins, and how many are left.
    Packed(usize, usize),
}

impl Levels {
    pub(super) fn new(bytes: Bytes, most: i16) -> Self {
        Self {
            bytes,
            at: 0,
            most,
            width: (i16::BITS - most.leading_zeros()) as usize,
            run: Run::Same(0, 0),
        }
    }

    /// The next so many.
    pub(super) fn take(&mut self, count: usize, out: &mut Vec<i16>) -> Result<(), Trouble> {
        let before = out.len();
        let end = before + count;
        while out.len() < end {
            let wanted = end - out.len();
            match &mut self.run {
                Run::Same(_, 0) | Run::Packed(_, 0) => self.turn()?,
                Run::Same(level, left) => {
                    let count = wanted.min(*left);
                    out.resize(out.len() + count, *level);
                    *left -= count;
                }
                Run::Packed(bit, left) => {
                    let count = wanted.min(*left);
                    let places = (0..count).map(|place| *bit + place * self.width);
                    out.extend(places.map(|bit| bits(&self.bytes, bit, self.width)));
                    *bit += count * self.width;
                    *left -= count;
                }
            }
        }
        let own = out.get(before..).unwrap_or_default();
        if own.iter().any(|level| *level > self.most) {
            return Err(Trouble::damaged("a level is none of its column"));
        }
        Ok(())
    }

    /// Goes to the next run. Each has at least one byte, so that they end.
    fn turn(&mut self) -> Result<(), Trouble> {
        let header = self.number()?;
        let count = usize::try_from(header >> 1).map_err(|_far| cut())?;
        if header & 1 == 0 {
            let bytes = self.width.div_ceil(8);
            let end = self.at + bytes;
            if end > self.bytes.len() {
                return Err(cut());
            }
            self.run = Run::Same(bits(&self.bytes, self.at * 8, bytes * 8), count);
            self.at = end;
            return Ok(());
        }
        // The last of them may end where its levels do.
        let there = self.bytes.len() - self.at;
        let bytes = count.saturating_mul(self.width).min(there);
        let levels = count.saturating_mul(8).min(bytes * 8 / self.width.max(1));
        self.run = Run::Packed(self.at * 8, levels);
        self.at += bytes;
        Ok(())
    }

    /// A number of seven bits a byte, the lowest first.
    fn number(&mut self) -> Result<u64, Trouble> {
        let mut number = 0;
        for place in 0..5 {
            let byte = *self.bytes.get(self.at).ok_or_else(cut)?;
            self.at += 1;
            number |= u64::from(byte & 0x7F) << (7 * place);
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(cut())
    }
}

/// So many bits from a place on, at most sixteen; zeros behind the end.
fn bits(bytes: &[u8], at: usize, width: usize) -> i16 {
    let word = (0..3).fold(0_u32, |word, place| {
        let byte = bytes.get(at / 8 + place).copied().unwrap_or_default();
        word | u32::from(byte) << (8 * place)
    });
    let level = (word >> (at % 8)) & ((1 << width) - 1);
    i16::try_from(level).unwrap_or(i16::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(bytes: &'static [u8], most: i16, counts: &[usize]) -> Result<Vec<i16>, Trouble> {
        let mut levels = Levels::new(Bytes::from_static(bytes), most);
        let mut out = Vec::new();
        for count in counts {
            levels.take(*count, &mut out)?;
        }
        Ok(out)
    }

    /// The example of the specification: 0 to 7 in three bits each.
    #[test]
    fn packed_levels_are_those_of_the_specification() {
        let packed = &[0x03, 0b1000_1000, 0b1100_0110, 0b1111_1010];
        assert_eq!(levels(packed, 7, &[8]).unwrap(), [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(
            levels(packed, 7, &[3, 0, 5]).unwrap(),
            [0, 1, 2, 3, 4, 5, 6, 7]
        );
        assert!(matches!(levels(packed, 6, &[8]), Err(Trouble::Damaged(_))));
    }

    #[test]
    fn runs_follow_one_another() {
        // Five ones, eight packed bits, 200 zeros.
        let runs = &[10, 1, 0x03, 0b0101_0101, 0x90, 0x03, 0];
        let all = levels(runs, 1, &[4, 3, 6, 200]).unwrap();
        assert_eq!(all[..5], [1; 5]);
        assert_eq!(all[5..13], [1, 0, 1, 0, 1, 0, 1, 0]);
        assert_eq!(all[13..], [0; 200]);
    }

    #[test]
    fn levels_that_are_not_there_are_told() {
        let wrong: [&'static [u8]; 6] = [
            &[],
            &[10],
            &[10, 1],
            &[0, 1, 0, 1],
            &[0x03],
            &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        ];
        for bytes in wrong {
            assert!(levels(bytes, 1, &[6]).is_err(), "{bytes:?}");
        }
        // A run of four thousand million is no more than what is taken of it.
        let long = &[0xFE, 0xFF, 0xFF, 0xFF, 0x0F, 1];
        assert_eq!(levels(long, 1, &[3]).unwrap(), [1; 3]);
    }
}
