//! Files that are no CSV, by their first bytes, so that a message can say what they are.

use std::fmt;

/// What a file is instead of CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ForeignFile {
    /// Avro, an object container file.
    Avro,
    /// Compressed by bzip2.
    Bzip2,
    /// Feather version 1, which is older than Arrow IPC.
    Feather,
    /// Compressed by gzip.
    Gzip,
    /// JSON, or lines of JSON.
    Json,
    /// A document of Microsoft Office before 2007.
    Office,
    /// ORC.
    Orc,
    /// A database of SQLite.
    Sqlite,
    /// Text in UTF-16.
    Utf16,
    /// Text in UTF-32.
    Utf32,
    /// A ZIP archive with a workbook in it.
    Workbook,
    /// Compressed by xz.
    Xz,
    /// A ZIP archive.
    Zip,
    /// Compressed by zstd.
    Zstd,
}

/// Bytes at the beginning by which binary files are known.
const MAGIC: [(&[u8], ForeignFile); 14] = [
    (b"Obj\x01", ForeignFile::Avro),
    (b"BZh", ForeignFile::Bzip2),
    (b"FEA1", ForeignFile::Feather),
    (b"\x1f\x8b", ForeignFile::Gzip),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", ForeignFile::Office),
    (b"ORC", ForeignFile::Orc),
    (b"SQLite format 3\0", ForeignFile::Sqlite),
    // Before UTF-16, whose byte order mark is the beginning of this one.
    (b"\xff\xfe\0\0", ForeignFile::Utf32),
    (b"\0\0\xfe\xff", ForeignFile::Utf32),
    (b"\xff\xfe", ForeignFile::Utf16),
    (b"\xfe\xff", ForeignFile::Utf16),
    (b"\xfd7zXZ\0", ForeignFile::Xz),
    (b"PK\x03\x04", ForeignFile::Zip),
    (b"\x28\xb5\x2f\xfd", ForeignFile::Zstd),
];

/// The first line of an ORC file whose first message begins with the byte of a line end, as most do.
const ORC_LINE: &[u8] = b"ORC\n";

/// Names at the beginning of the archives that spreadsheets are.
const WORKBOOK: [&[u8]; 3] = [b"[Content_Types].xml", b"xl/", b"opendocument.spreadsheet"];

impl ForeignFile {
    /// How many bytes at the beginning decide.
    pub(crate) const LOOKED_AT: usize = 512;

    /// What a file is that begins with these bytes, if it is known and no text in UTF-8.
    #[must_use]
    pub fn of_start(first: &[u8]) -> Option<Self> {
        let known = MAGIC.iter().find(|(magic, _)| first.starts_with(magic));
        let found = known.map(|(_, file)| *file);
        match found {
            // Their letters may be the beginning of a name.
            Some(Self::Orc | Self::Bzip2 | Self::Feather)
                if is_text(first) && first != ORC_LINE =>
            {
                None
            }
            Some(Self::Zip) if WORKBOOK.iter().any(|name| has(first, name)) => Some(Self::Workbook),
            Some(found) => Some(found),
            None => is_utf16(first).then_some(Self::Utf16),
        }
    }

    /// JSON, if it begins like an object or an array of objects or arrays, or has nothing else in its first line.
    #[must_use]
    pub fn json(first: &[u8]) -> Option<Self> {
        let first = first.strip_prefix("\u{feff}".as_bytes()).unwrap_or(first);
        let mut signs = first.iter().filter(|byte| !byte.is_ascii_whitespace());
        match (signs.next(), signs.next()) {
            (Some(b'{'), Some(b'"' | b'}') | None) | (Some(b'['), Some(b'{' | b'[') | None) => {
                Some(Self::Json)
            }
            _ => None,
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn advice(self) -> &'static str {
        match self {
            Self::Gzip | Self::Bzip2 | Self::Xz | Self::Zstd | Self::Zip => {
                "unpack it first, and give the file that was in it"
            }
            Self::Workbook | Self::Office => "save the sheet as CSV in UTF-8, and give that file",
            Self::Utf16 | Self::Utf32 => {
                "convert it to UTF-8 first, for instance with iconv -f UTF-16 -t UTF-8"
            }
            Self::Avro | Self::Feather | Self::Json | Self::Orc | Self::Sqlite => {
                "write it as CSV with a header, Parquet or Arrow IPC first"
            }
        }
    }
}

impl fmt::Display for ForeignFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Avro => "an Avro file",
            Self::Bzip2 => "a bzip2 file",
            Self::Feather => "a Feather file of version 1",
            Self::Gzip => "a gzip file",
            Self::Json => "a JSON file",
            Self::Office => "an Office document of the old kind",
            Self::Orc => "an ORC file",
            Self::Sqlite => "an SQLite database",
            Self::Utf16 => "a text in UTF-16",
            Self::Utf32 => "a text in UTF-32",
            Self::Workbook => "a workbook (xlsx or ods)",
            Self::Xz => "an xz file",
            Self::Zip => "a ZIP archive",
            Self::Zstd => "a zstd file",
        })
    }
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Whether there is nothing but printable characters, spaces and line ends; the last character may be cut.
fn is_text(bytes: &[u8]) -> bool {
    let is_control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    let text = std::str::from_utf8(bytes);
    let is_utf8 = text.map_or_else(|error| error.error_len().is_none(), |_| true);
    is_utf8 && !bytes.iter().any(is_control)
}

/// Whether every second byte is NUL, as in ASCII text written in UTF-16 without a byte order mark.
fn is_utf16(first: &[u8]) -> bool {
    let start = first.get(..8).unwrap_or_default();
    let nul_at = |odd: usize| {
        let mut places = start.iter().enumerate();
        places.all(|(place, byte)| (*byte == 0) == (place % 2 == odd))
    };
    !start.is_empty() && (nul_at(0) || nul_at(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_known_by_their_first_bytes() {
        for (first, file) in [
            (&b"\x1f\x8b\x08\0"[..], ForeignFile::Gzip),
            (
                b"PK\x03\x04\x14\0[Content_Types].xml",
                ForeignFile::Workbook,
            ),
            (b"PK\x03\x04\x14\0\0\0people.csv", ForeignFile::Zip),
            (b"\xff\xfei\0d\0", ForeignFile::Utf16),
            (b"i\0d\0,\0n\0", ForeignFile::Utf16),
            (b"\0i\0d\0,\0n", ForeignFile::Utf16),
            (b"\xff\xfe\0\0i\0\0\0", ForeignFile::Utf32),
            (b"ORC\x0a\x03\0\0", ForeignFile::Orc),
            (b"Obj\x01\x04\x14", ForeignFile::Avro),
            (b"BZh91AY&SY\0", ForeignFile::Bzip2),
        ] {
            assert_eq!(ForeignFile::of_start(first), Some(file));
        }
        for text in [
            "ORCHID,id\n",
            "BZh,id\n",
            "FEA1,x\n",
            "id,name\n",
            "",
            "\u{feff}id\n",
            "PK,id\n",
        ] {
            assert_eq!(ForeignFile::of_start(text.as_bytes()), None, "{text}");
            assert_eq!(ForeignFile::json(text.as_bytes()), None, "{text}");
        }
        for text in [
            "{\"id\": 1}",
            "[\n {\"a\"",
            "{\n \"a\"",
            "[[1, 2]]",
            "\u{feff}{}",
        ] {
            assert_eq!(ForeignFile::json(text.as_bytes()), Some(ForeignFile::Json));
        }
        for text in ["[id],[name]\n", "{id},name\n", "{,\n"] {
            assert_eq!(ForeignFile::json(text.as_bytes()), None, "{text}");
        }
    }
}
