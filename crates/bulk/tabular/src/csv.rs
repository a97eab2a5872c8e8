//! CSV as bytes: where each field stands, and how to replace one without touching the rest.
//!
//! RFC 4180 section 2, by its numbers: records end with CRLF or LF (1), the last line end may be
//! missing (2), the first record is the header (3), every record has as many fields as the header
//! (4), a field that begins with a quote ends at the closing quote (5), so separators and line ends
//! may stand inside (6), and a doubled quote inside is one quote (7). A quote inside an unquoted field, and
//! bytes between a closing quote and the separator, are errors in every column: a quote that quotes nothing
//! would hide the rows up to the next one.
//!
//! Beyond the RFC, because real files are like this: a UTF-8 byte order mark before the header; `;`,
//! tab and `|` as separators; any byte in a field; a lone CR is an ordinary byte behind the header. An empty
//! line in a file of two or more columns is a record without fields. In a file of one column it is an empty
//! field. With [`Quoting::None`] a quote is an ordinary byte too, as in `text/tab-separated-values`.
//!
//! Not here: trimming, comment lines, escapes by backslash, other encodings than the bytes as they are.

mod index;
mod marks;
mod reader;
mod rewrite;
mod scan;

pub use index::{Broken, Index, has_lone_return, last_record_end, newlines};
pub use marks::{Marks, Quoting};
pub use reader::{Fields, Layout, Options, OwnedRecord, Reader, Record, Separator};
pub use rewrite::rewrite;
