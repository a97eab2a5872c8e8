//! The footer as it is in the file, read for the fields that the library does not know: it drops them, and copies the
//! columns that cannot be read without them.
//!
//! Thrift compact protocol; field numbers are those of parquet.thrift. What is malformed is left to the library, which
//! reads the same bytes afterwards, but for the type of the items of empty lists: fastparquet gives them none, and the
//! library wants one.

use std::io::Read;

use bytes::Bytes;
use parquet::errors::Result as ParquetResult;
use parquet::file::reader::{ChunkReader, Length};

use crate::error::Trouble;
use crate::positional::Positional;

/// `FileMetaData`: `schema`, `row_groups`, `key_value_metadata`, `column_orders`, `encryption_algorithm`,
/// `footer_signing_key_metadata`.
const SCHEMA: i16 = 2;
const ROW_GROUPS: i16 = 4;
const KEY_VALUE_METADATA: i16 = 5;
const COLUMN_ORDERS: i16 = 7;
const ENCRYPTION_ALGORITHM: i16 = 8;
const FOOTER_SIGNING_KEY_METADATA: i16 = 9;
/// `RowGroup`: `columns`.
const COLUMNS: i16 = 1;
/// `ColumnChunk`: `meta_data`, `crypto_metadata`, `encrypted_column_metadata`.
const META_DATA: i16 = 3;
const CRYPTO_METADATA: i16 = 8;
const ENCRYPTED_COLUMN_METADATA: i16 = 9;
/// `ColumnMetaData`: `path_in_schema`.
const PATH_IN_SCHEMA: i16 = 3;

/// Structures and lists within each other at most.
const DEEPEST: usize = 32;

/// Bytes of the longest footer that is read.
const LONGEST: u64 = 1 << 30;

/// A file as the library reads it.
pub(super) struct Readable<'b> {
    bytes: &'b Positional,
    /// The heads of empty lists, whose items are structures.
    empty: Vec<u64>,
}

/// What a footer says that the library does not read.
#[derive(Debug, Default, PartialEq, Eq)]
struct Footer {
    /// Where empty lists begin whose items have another type than those of others.
    empty: Vec<usize>,
    is_signed: bool,
    /// The first encrypted column: its path, else its number.
    column: Option<String>,
}

/// Refuses encrypted files, also those whose footer is in plain text and whose columns are not, all or some of them.
pub(super) fn readable(bytes: &Positional) -> Result<Readable<'_>, Trouble> {
    let mut readable = Readable {
        bytes,
        empty: Vec::new(),
    };
    let Some(end) = bytes.size().checked_sub(8) else {
        return Ok(readable);
    };
    let tail = bytes.bytes(end, 8)?;
    let Some((length, magic)) = tail.split_first_chunk::<4>() else {
        return Ok(readable);
    };
    if magic == b"PARE" {
        return Err(Trouble::encrypted("the footer is encrypted"));
    }
    let length = u64::from(u32::from_le_bytes(*length));
    let start = end.checked_sub(length).filter(|_| length <= LONGEST);
    let (Some(start), Ok(length)) = (start, usize::try_from(length)) else {
        return Ok(readable);
    };
    let Some(footer) = Footer::read(&bytes.bytes(start, length)?) else {
        return Ok(readable);
    };
    if let Some(column) = footer.column {
        return Err(Trouble::encrypted(format!("column {column} is encrypted")));
    }
    if footer.is_signed {
        return Err(Trouble::encrypted("the footer is signed"));
    }
    let empty = footer.empty.iter().map(|at| start + *at as u64);
    readable.empty = empty.collect();
    Ok(readable)
}

impl Length for Readable<'_> {
    fn len(&self) -> u64 {
        self.bytes.size()
    }
}

impl ChunkReader for Readable<'_> {
    type T = Box<dyn Read>;

    fn get_read(&self, start: u64) -> ParquetResult<Self::T> {
        Ok(Box::new(self.bytes.get_read(start)?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> ParquetResult<Bytes> {
        let bytes = self.bytes.get_bytes(start, length)?;
        if self.empty.is_empty() {
            return Ok(bytes);
        }
        let mut bytes = bytes.to_vec();
        for at in &self.empty {
            let place = at
                .checked_sub(start)
                .and_then(|at| usize::try_from(at).ok());
            if let Some(head) = place.and_then(|place| bytes.get_mut(place)) {
                *head = STRUCT;
            }
        }
        Ok(bytes.into())
    }
}

impl Footer {
    /// Nothing where it is malformed.
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut footer = Self::default();
        let mut thrift = Thrift(bytes);
        thrift.fields(0, &mut |thrift, field, kind| {
            let is_list = matches!(
                field,
                SCHEMA | ROW_GROUPS | KEY_VALUE_METADATA | COLUMN_ORDERS
            );
            let head = thrift.0.first().filter(|_| is_list && kind == LIST);
            if head.is_some_and(|head| head >> 4 == 0 && *head != STRUCT) {
                footer.empty.push(bytes.len() - thrift.0.len());
            }
            match field {
                ROW_GROUPS => thrift.items(kind, 1, &mut |thrift| footer.row_group(thrift)),
                ENCRYPTION_ALGORITHM | FOOTER_SIGNING_KEY_METADATA => {
                    footer.is_signed = true;
                    thrift.skip(kind, 1)
                }
                _ => thrift.skip(kind, 1),
            }
        })?;
        Some(footer)
    }

    fn row_group(&mut self, thrift: &mut Thrift<'_>) -> Option<()> {
        thrift.fields(2, &mut |thrift, field, kind| match field {
            COLUMNS => {
                let mut number = 0;
                thrift.items(kind, 3, &mut |thrift| {
                    number += 1;
                    self.chunk(thrift, number)
                })
            }
            _ => thrift.skip(kind, 3),
        })
    }

    fn chunk(&mut self, thrift: &mut Thrift<'_>, number: usize) -> Option<()> {
        let (mut path, mut is_encrypted) = (Vec::new(), false);
        thrift.fields(4, &mut |thrift, field, kind| match (field, kind) {
            (META_DATA, STRUCT) => thrift.fields(5, &mut |thrift, field, kind| match field {
                PATH_IN_SCHEMA => thrift.items(kind, 6, &mut |thrift| {
                    let part = thrift.binary()?;
                    path.push(String::from_utf8_lossy(part).into_owned());
                    Some(())
                }),
                _ => thrift.skip(kind, 6),
            }),
            (CRYPTO_METADATA | ENCRYPTED_COLUMN_METADATA, _) => {
                is_encrypted = true;
                thrift.skip(kind, 5)
            }
            _ => thrift.skip(kind, 5),
        })?;
        if is_encrypted && self.column.is_none() {
            self.column = Some(match path.is_empty() {
                true => format!("number {number}"),
                false => format!("{:?}", path.join(".")),
            });
        }
        Some(())
    }
}

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const DOUBLE: u8 = 7;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
const STRUCT: u8 = 12;

/// Bytes in the compact protocol that are left.
struct Thrift<'b>(&'b [u8]);

impl<'b> Thrift<'b> {
    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for place in 0..10 {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7F) << (7 * place);
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn binary(&mut self) -> Option<&'b [u8]> {
        let length = usize::try_from(self.varint()?).ok()?;
        let (own, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(own)
    }

    /// The fields of a structure: their numbers and types. `take` reads each of them to its end.
    fn fields(
        &mut self,
        depth: usize,
        take: &mut dyn FnMut(&mut Self, i16, u8) -> Option<()>,
    ) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        let mut field = 0_i16;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            field = match head >> 4 {
                0 => {
                    let number = self.varint()?;
                    let sign = i16::try_from(number & 1).ok()?;
                    i16::try_from(number >> 1).ok()? ^ -sign
                }
                more => field.checked_add(i16::from(more))?,
            };
            take(self, field, head & 0x0F)?;
        }
    }

    /// The items of a list of structures or texts.
    fn items(
        &mut self,
        kind: u8,
        depth: usize,
        take: &mut dyn FnMut(&mut Self) -> Option<()>,
    ) -> Option<()> {
        let (LIST | SET) = kind else {
            return self.skip(kind, depth);
        };
        let (count, own) = self.list()?;
        for _ in 0..count {
            match own {
                STRUCT | BINARY => take(self)?,
                _ => self.skip(own, depth)?,
            }
        }
        Some(())
    }

    /// The length and type of a list.
    fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            15 => self.varint()?,
            few => u64::from(few),
        };
        // An item has at least one byte.
        (count <= self.0.len() as u64).then_some((count, head & 0x0F))
    }

    fn skip(&mut self, kind: u8, depth: usize) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        match kind {
            TRUE | FALSE => Some(()),
            BYTE => self.byte().map(drop),
            4..=6 => self.varint().map(drop),
            DOUBLE => {
                let (_, rest) = self.0.split_at_checked(8)?;
                self.0 = rest;
                Some(())
            }
            BINARY => self.binary().map(drop),
            LIST | SET => {
                let (count, own) = self.list()?;
                (0..count).try_for_each(|_| self.skip_item(own, depth + 1))
            }
            MAP => {
                let count = self.varint()?;
                if count == 0 {
                    return Some(());
                }
                let kinds = self.byte()?;
                (0..count).try_for_each(|_| {
                    self.skip_item(kinds >> 4, depth + 1)?;
                    self.skip_item(kinds & 0x0F, depth + 1)
                })
            }
            STRUCT => self.fields(depth, &mut |thrift, _, kind| thrift.skip(kind, depth + 1)),
            _ => None,
        }
    }

    /// Within a list a truth value has a byte of its own.
    fn skip_item(&mut self, kind: u8, depth: usize) -> Option<()> {
        match kind {
            TRUE | FALSE => self.byte().map(drop),
            kind => self.skip(kind, depth),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A footer of one row group with one column, with more fields in the chunk and in the file.
    fn footer(chunk: &[u8], file: &[u8]) -> Vec<u8> {
        // version = 1, row_groups (4), of one: columns (1), of one: file_offset (2), meta_data (3) { path (3) }.
        let mut footer = vec![0x15, 2, 0x39, 0x1C, 0x19, 0x1C, 0x26, 8, 0x1C];
        footer.extend_from_slice(&[0x39, 0x28, 1, b'a', 2, b'b', b'c', 0]);
        footer.extend_from_slice(chunk);
        footer.extend_from_slice(&[0, 0]);
        footer.extend_from_slice(file);
        footer.push(0);
        footer
    }

    fn found(chunk: &[u8], file: &[u8]) -> Footer {
        Footer::read(&footer(chunk, file)).unwrap()
    }

    #[test]
    fn plain_footers_have_no_encryption() {
        // offset_index_offset (4), key_value_metadata (5) of none, created_by (6).
        assert_eq!(
            found(&[0x16, 8], &[0x19, 0x0C, 0x18, 1, b'x']),
            Footer::default()
        );
    }

    #[test]
    fn encrypted_columns_are_named_by_their_path() {
        // crypto_metadata (8) { ENCRYPTION_WITH_FOOTER_KEY (1) {} }, encrypted_column_metadata (9).
        for chunk in [&[0x5C, 0x1C, 0, 0][..], &[0x68, 2, 7, 7]] {
            let found = found(chunk, &[]);
            assert_eq!(found.column.as_deref(), Some("\"a.bc\""), "{chunk:?}");
        }
    }

    #[test]
    fn signed_footers_are_told() {
        // encryption_algorithm (8) { AES_GCM_V1 (1) {} }, and footer_signing_key_metadata (9).
        for file in [&[0x4C, 0x1C, 0, 0][..], &[0x58, 1, 7]] {
            assert!(found(&[], file).is_signed, "{file:?}");
        }
    }

    #[test]
    fn empty_lists_without_a_type_are_told() {
        let whole = footer(&[], &[0x19, 0]);
        let found = Footer::read(&whole).unwrap();
        assert_eq!(found.empty, [whole.len() - 2]);
        let typed = footer(&[], &[0x19, STRUCT]);
        assert_eq!(Footer::read(&typed).unwrap().empty, [0; 0]);
    }

    #[test]
    fn malformed_footers_are_left_to_the_library() {
        let whole = footer(&[0x5C, 0x1C, 0, 0], &[0x4C, 0x1C, 0, 0]);
        for end in 0..whole.len() {
            assert_eq!(Footer::read(&whole[..end]), None);
        }
        let deep = [0x1C; 100_000];
        assert_eq!(Footer::read(&deep), None);
        assert_eq!(Footer::read(&[0x19, 0xF1, 0xFF, 0xFF, 0x7F]), None);
    }
}
