//! What a measurement looks like: text, JSON, CSV, HTML and the forms of other tools.
//!
//! Everything starts from one [`Document`](keywright_measure::document::Document) and returns text or
//! bytes; nothing here prints, opens a file or asks what time it is. Three rules hold for every form:
//!
//! * The offered rate is never shown as a result, only as `target N/s` beside the achieved one.
//! * A figure that is missing, withheld or not a number is absent, null or `n/a`, never zero.
//! * Names from outside (operations, error codes, notes) are data: escaped in HTML and Markdown, guarded in
//!   spreadsheets, and without control characters on a terminal.
//!
//! Trackers that keep a number and no verdict ([`exports::Profile::Bencher`] and its like) are given only
//! figures that can be quoted, see [`quotable`].
#![forbid(unsafe_code)]

pub mod comparability;
pub mod csv;
mod describe;
mod error;
pub mod exports;
pub mod filter;
pub mod fuzzing;
pub mod history;
pub mod html;
pub mod json;
pub mod live;
pub mod number;
mod outcome;
mod plain;
mod quantile;
pub mod schema;
mod style;
pub mod svg;
pub mod text;
mod tree;

pub use error::Error;
pub use outcome::quotable;
pub use style::Style;
