//! Dictionaries of columns that stay. A page of a dictionary may have entries that no row has: pandas keeps the
//! categories of rows that were taken out of a table, and pyarrow writes them. Such an entry may be a value of a column
//! that is protected, so a column with one is not copied but rewritten.
//!
//! Entries are told by the indices of the pages, which are numbers in runs and packed bits; the values are not read. Once
//! every entry was met, the rest of the column is not looked at.

use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader as _};
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::serialized_reader::SerializedPageReader;

use super::ParquetTable;
use super::output::is_dictionary;
use super::plain::{Levels, cut, part};
use crate::error::Trouble;

/// Whether a column may have a dictionary.
pub(super) fn has_dictionary(chunk: &ColumnChunkMetaData) -> bool {
    chunk.dictionary_page_offset().is_some() || chunk.encodings().any(is_dictionary)
}

/// Whether a column of a row group has a dictionary with entries that no row has, or one that cannot be told.
pub(super) fn has_unused(
    table: &ParquetTable,
    group: usize,
    column: usize,
) -> Result<bool, Trouble> {
    let own = table.metadata.row_group(group);
    if !has_dictionary(own.column(column)) {
        return Ok(false);
    }
    let descriptor = table.column(column);
    let rows = usize::try_from(own.num_rows()).unwrap_or_default();
    let bytes = Arc::clone(&table.bytes);
    let mut pages = SerializedPageReader::new(bytes, own.column(column), rows, None)?;
    let mut entries = Entries::default();
    while let Some(page) = pages.get_next_page()? {
        let is_known = match page {
            Page::DictionaryPage { num_values, .. } => {
                entries.begin(num_values as usize);
                true
            }
            page => {
                let most = (descriptor.max_def_level(), descriptor.max_rep_level());
                entries.page(&page, most)?
            }
        };
        if !is_known {
            return Ok(true);
        }
        if entries.left == 0 {
            return Ok(false);
        }
    }
    Ok(entries.left > 0)
}

/// The entries of a dictionary: which of them rows have, and how many are left.
#[derive(Default)]
struct Entries {
    used: Vec<bool>,
    left: usize,
    levels: Vec<i16>,
}

impl Entries {
    fn begin(&mut self, entries: usize) {
        self.used = vec![false; entries];
        self.left = entries;
    }

    /// Takes the indices of a page; false if it is of a kind that is not known here.
    fn page(&mut self, page: &Page, most: (i16, i16)) -> Result<bool, Trouble> {
        if !is_dictionary(page.encoding()) {
            return Ok(true);
        }
        let Some((levels, indices)) = parts(page, most)? else {
            return Ok(false);
        };
        let rows = page.num_values() as usize;
        let count = match most.0 {
            0 => rows,
            most => {
                self.levels.clear();
                Levels::new(levels, most).take(rows, &mut self.levels)?;
                self.levels.iter().filter(|level| **level == most).count()
            }
        };
        self.indices(&indices, count)?;
        Ok(true)
    }

    /// So many indices: first how many bits one has, then runs of one index, and of packed ones, as levels are.
    fn indices(&mut self, bytes: &[u8], count: usize) -> Result<(), Trouble> {
        let Some((width, mut rest)) = bytes.split_first() else {
            return if count == 0 { Ok(()) } else { Err(cut()) };
        };
        let width = usize::from(*width);
        if width > 32 {
            return Err(Trouble::damaged("an index of a dictionary is too long"));
        }
        let mut left = count;
        while left > 0 && self.left > 0 {
            let (header, after) = number(rest)?;
            let length = usize::try_from(header >> 1).map_err(|_far| cut())?;
            if header & 1 == 0 {
                let (own, after) = after.split_at_checked(width.div_ceil(8)).ok_or_else(cut)?;
                if length > 0 {
                    self.meet(packed(own, 0, own.len() * 8))?;
                }
                left = left.saturating_sub(length);
                rest = after;
                continue;
            }
            // The last of them may end where the page does.
            let bytes = length.saturating_mul(width).min(after.len());
            let there = match width {
                0 => length.saturating_mul(8),
                width => length.saturating_mul(8).min(bytes * 8 / width),
            };
            if there == 0 {
                return Err(cut());
            }
            let (own, after) = after.split_at_checked(bytes).ok_or_else(cut)?;
            // Without bits every index is the same.
            let met = if width == 0 { 1 } else { there.min(left) };
            for place in 0..met {
                self.meet(packed(own, place * width, width))?;
            }
            left = left.saturating_sub(there);
            rest = after;
        }
        Ok(())
    }

    fn meet(&mut self, entry: u64) -> Result<(), Trouble> {
        let own = usize::try_from(entry).ok();
        let own = own.and_then(|entry| self.used.get_mut(entry));
        let own = own.ok_or_else(|| Trouble::damaged("a row has no entry in its dictionary"))?;
        if !*own {
            *own = true;
            self.left -= 1;
        }
        Ok(())
    }
}

/// The definition levels of a page and what is behind them; nothing where they are of an old kind.
fn parts(page: &Page, most: (i16, i16)) -> Result<Option<(Bytes, Bytes)>, Trouble> {
    match page {
        Page::DataPage {
            buf,
            def_level_encoding,
            rep_level_encoding,
            ..
        } => {
            let (mut levels, mut at) = (Bytes::new(), 0);
            for (most, encoding) in [(most.1, rep_level_encoding), (most.0, def_level_encoding)] {
                if most == 0 {
                    continue;
                }
                if *encoding != Encoding::RLE {
                    return Ok(None);
                }
                let length = part(buf, at..at + 4)?;
                let length = length.first_chunk::<4>().ok_or_else(cut)?;
                let start = at + 4;
                at = start + u32::from_le_bytes(*length) as usize;
                levels = part(buf, start..at)?;
            }
            Ok(Some((levels, part(buf, at..buf.len())?)))
        }
        Page::DataPageV2 {
            buf,
            def_levels_byte_len,
            rep_levels_byte_len,
            ..
        } => {
            let levels = *rep_levels_byte_len as usize;
            let values = levels + *def_levels_byte_len as usize;
            Ok(Some((
                part(buf, levels..values)?,
                part(buf, values..buf.len())?,
            )))
        }
        Page::DictionaryPage { .. } => Ok(None),
    }
}

/// A number of seven bits a byte, the lowest first, and what is behind it.
fn number(bytes: &[u8]) -> Result<(u64, &[u8]), Trouble> {
    let mut number = 0;
    for (place, byte) in bytes.iter().enumerate().take(5) {
        number |= u64::from(byte & 0x7F) << (7 * place);
        if *byte < 0x80 {
            return Ok((number, bytes.get(place + 1..).unwrap_or_default()));
        }
    }
    Err(cut())
}

/// So many bits from a place on, at most 32; zeros behind the end.
fn packed(bytes: &[u8], at: usize, width: usize) -> u64 {
    let own = bytes.get(at / 8..).unwrap_or_default();
    let word = match own.first_chunk::<8>() {
        Some(own) => u64::from_le_bytes(*own),
        None => {
            let own = own.iter().enumerate();
            own.fold(0, |word, (place, byte)| {
                word | u64::from(*byte) << (8 * place)
            })
        }
    };
    (word >> (at % 8)) & ((1 << width) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unused(bytes: &[u8], count: usize, entries: usize) -> Result<usize, Trouble> {
        let mut own = Entries::default();
        own.begin(entries);
        own.indices(bytes, count)?;
        Ok(own.left)
    }

    /// 0 to 7 in three bits each, as the specification has them, then five times 9 in a run of four bits.
    #[test]
    fn entries_are_met_in_runs_and_packed_bits() {
        let packed = [3, 0x03, 0b1000_1000, 0b1100_0110, 0b1111_1010];
        assert_eq!(unused(&packed, 8, 8).unwrap(), 0);
        assert_eq!(unused(&packed, 8, 10).unwrap(), 2);
        // The bits that fill the last byte are not an index.
        assert_eq!(unused(&packed, 3, 8).unwrap(), 5);
        assert_eq!(unused(&[4, 10, 9], 5, 10).unwrap(), 9);
        assert_eq!(unused(&[9, 10, 1, 1], 5, 300).unwrap(), 299);
        assert_eq!(unused(&[0, 10], 5, 1).unwrap(), 0);
        assert_eq!(unused(&[0, 0x03], 5, 2).unwrap(), 1);
        assert_eq!(unused(&[], 0, 2).unwrap(), 2);
        assert_eq!(unused(&[32, 2, 1, 0, 0, 0], 1, 2).unwrap(), 1);
    }

    #[test]
    fn indices_that_cannot_be_are_told() {
        for bytes in [
            &[][..],
            &[3],
            &[3, 0x03],
            &[33, 2, 1, 0, 0, 0, 0],
            &[3, 10],
            &[3, 10, 7],
            &[8, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
            &[1, 0x01],
        ] {
            assert!(unused(bytes, 5, 7).is_err(), "{bytes:?}");
        }
        // Runs of nothing end where the page does.
        assert!(unused(&[8, 0, 1, 0, 1], 5, 7).is_err());
    }
}
