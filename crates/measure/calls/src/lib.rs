//! Reads logs of the calls that an application makes to a PKCS#11 token, and says what is in them.
//!
//! | form | where it comes from | durations |
//! |---|---|---|
//! | JSON Lines, schema `keywright.p11event` 1.x | the recorder (`keywright-pkcs11-proxy`) | measured, nanoseconds |
//! | JSON Lines without a version | other tools that write `dur_ms` | milliseconds, as they say |
//! | text of OpenSC's `pkcs11-spy` | the spy module, as OpenSC 0.23 writes it | unknown, and never made up |
//!
//! Bytes are pushed in any pieces; a report can be asked for at any time, so that a log is followed while it is
//! written. Memory does not grow with the log: every map has a limit, and [`Report::limits`] says what did not
//! fit. Lines that cannot be read are counted and hide nothing else. Of lines that can hold a secret (what the spy
//! prints of PINs and data) only their number is kept.
//!
//! ```
//! use keywright_calls::{Analyzer, Options};
//!
//! let mut analyzer = Analyzer::new(Options::default());
//! analyzer.push(br#"{"v":"1.0","func":"C_Initialize","rv":0,"dur_ns":1200}"#);
//! analyzer.finish();
//! let report = analyzer.report();
//! assert_eq!(report.total_ops, 1);
//! assert_eq!(report.by_function["C_Initialize"].success_count, 1);
//! ```
//!
//! Not here: files, time zones of the machine, and SARIF (the face writes it for several commands).
#![forbid(unsafe_code)]

mod analysis;
mod bounded;
mod compare;
mod finding;
pub mod fuzzing;
mod lines;
mod moment;
mod reader;
pub mod render;
mod report;
mod scrub;
mod series;
mod spy;

pub use analysis::{Analyzer, Options, RecentCall};
pub use compare::{Change, Comparison, Verdict, compare};
pub use finding::{Finding, Severity, SeverityError};
pub use lines::LONGEST_LINE;
pub use moment::{Zone, ZoneError};
pub use report::{
    Bin, Concurrency, Durations, ErrorRow, FunctionRow, KeyRow, LatencyRow, Limit, Logins, Nonces,
    OperationRow, QuantileRow, Ratios, Report, Sessions, SizeQueryRow, Source, Throughput, Times,
};
pub use scrub::{Scrubbed, Scrubber};
