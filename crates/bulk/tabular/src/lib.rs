//! Columns of tabular files, so that single cells can be protected and revealed.
//!
//! * [`csv`]: a scanner for CSV (RFC 4180, and what is found in the wild beside it) that knows where
//!   each field stands in the file, and a rewriter that replaces chosen fields and leaves every
//!   other byte as it was. Replacing a field and putting the old bytes back gives the old file, byte
//!   for byte, whatever its quoting and line ends.
//! * [`detect`]: which columns look as if they held personal or payment data.
//! * [`fuzzing`]: the promises of the scanner as one function over arbitrary bytes.
//!
//! Not here: keys and encryption (the caller takes a field's bytes and brings others), number and
//! date formats, columns of Parquet or Arrow files.
//!
//! ```
//! use keywright_tabular::csv::{Options, Reader, rewrite};
//!
//! # fn main() -> Result<(), keywright_tabular::Error> {
//! let file = b"id,name\r\n1,\"Lovelace, Ada\"\r\n";
//! let mut reader = Reader::new(&file[..], &Options::default())?;
//! let name = reader.layout().column("name")?;
//! let mut out = reader.header().to_vec();
//! while let Some(record) = reader.next_record()? {
//!     assert_eq!(record.field(name), Some(&b"\"Lovelace, Ada\""[..]));
//!     assert_eq!(record.text(name).as_deref(), Some(&b"Lovelace, Ada"[..]));
//!     rewrite(&record, &[(name, b"hidden")], &mut out)?;
//! }
//! assert_eq!(out, b"id,name\r\n1,hidden\r\n");
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

pub mod csv;
pub mod detect;
mod error;
mod foreign;
pub mod fuzzing;
mod header;

pub use error::Error;
pub use foreign::ForeignFile;
pub use header::{HeaderNames, is_known_name, looks_like_data};
