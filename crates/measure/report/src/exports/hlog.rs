//! Distributions second by second in the interval log form of HdrHistogram, version 1.3.
//!
//! One line per block: its tag, where it begins, how long it is, its largest value in milliseconds and its
//! histogram of nanoseconds, or of picoseconds where operations were timed in batches. Cases and runs follow
//! each other without the rests between them, because a document does not say how long those were. A case
//! whose blocks have no distributions, such as one from the history, is one line over all of it.
//!
//! What a document gives as a histogram and is none is left out, and a comment says so.

use keywright_measure::document::{BlockRecord, Case, Document, Latency};
use keywright_measure::hdr;
use keywright_measure::histogram::Histogram;

use super::moment::unix_seconds;
use crate::{number, plain};

/// What the columns are; readers know this line.
const LEGEND: &str =
    "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\"Interval_Compressed_Histogram\"";

/// The interval log of response times, and of service times in closed loops.
#[must_use]
pub fn hlog(document: &Document) -> String {
    let mut out = "#[Histogram log format version 1.3]\n".to_owned();
    if let Some(seconds) = unix_seconds(&document.run.started) {
        let started = plain::shown(&document.run.started);
        out += &format!("#[StartTime: {seconds:.3} (seconds since epoch), {started}]\n");
        out += &format!("#[BaseTime: {seconds:.3} (seconds since epoch)]\n");
    }
    out += LEGEND;
    out.push('\n');
    let mut from = 0;
    for case in &document.cases {
        from = told(case, from, &mut out);
    }
    out
}

/// What all intervals of a case have in common.
struct Line {
    tag: String,
    per_milli: f64,
}

/// The lines of a case that begins at `from`; gives where the next one does.
fn told(case: &Case, from: u64, out: &mut String) -> u64 {
    let (kind, times) = match (&case.response, &case.service) {
        (Some(times), _) => ("response", times),
        (None, Some(times)) => ("service", times),
        (None, None) => return from,
    };
    let batched = times.batch_k.is_some();
    let (unit, per_milli) = if batched { ("ps", 1e9) } else { ("ns", 1e6) };
    let line = Line {
        tag: tag(&case.id, kind),
        per_milli,
    };
    let id = plain::shown(&case.id);
    *out += &format!("#[Case = {id}, tag {}, {kind} time in {unit}]\n", line.tag);
    let (intervals, end) = intervals(case, from);
    let mut missing = 0_u64;
    let mut written = 0_u64;
    for (start, block) in &intervals {
        let length = block.duration_ns;
        match block.hdr.as_deref().map(|text| (text, hdr::decode(text))) {
            Some((text, Ok(read))) => {
                *out += &line.interval((*start, length), &read, text);
                written += 1;
            }
            _ => missing += 1,
        }
    }
    if written == 0 {
        *out += &line.whole((from, end.saturating_sub(from)), times);
    } else if missing > 0 {
        let missing = number::count(missing);
        *out += &format!("#[{missing} intervals of {} have no histogram]\n", line.tag);
    }
    end
}

/// Blocks with the time at which each begins, and when the last ends.
fn intervals(case: &Case, from: u64) -> (Vec<(u64, &BlockRecord)>, u64) {
    let mut all = Vec::new();
    let mut end = from;
    for run in case.blocks.chunk_by(|one, other| one.run == other.run) {
        let begin = end;
        for block in run {
            let start = begin.saturating_add(block.start_ns);
            all.push((start, block));
            end = end.max(start.saturating_add(block.duration_ns));
        }
    }
    if case.blocks.is_empty() {
        let runs = u64::try_from(case.runs.len().max(1)).unwrap_or(1);
        end = from.saturating_add(case.load.duration_ns.saturating_mul(runs));
    }
    (all, end)
}

impl Line {
    fn interval(&self, (start, length): (u64, u64), read: &Histogram, text: &str) -> String {
        let seconds = |ns: u64| number::float(ns) / 1e9;
        let max = number::float(read.max().unwrap_or(0)) / self.per_milli;
        let (start, length) = (seconds(start), seconds(length));
        format!("Tag={},{start:.3},{length:.3},{max:.6},{text}\n", self.tag)
    }

    /// All of a case in one interval.
    fn whole(&self, span: (u64, u64), times: &Latency) -> String {
        match (times.histogram(), &times.hdr) {
            (Ok(Some(read)), Some(text)) => self.interval(span, &read, text),
            _ => format!("#[{} has no histogram]\n", self.tag),
        }
    }
}

/// A tag holds neither commas nor blanks, and nothing that ends a line.
fn tag(id: &str, kind: &str) -> String {
    let name = plain::fitted(id, 96);
    let safe = name.chars().map(|c| match c {
        ',' | '=' | '"' | '#' => '_',
        c if c.is_whitespace() => '_',
        c => c,
    });
    safe.chain(":".chars()).chain(kind.chars()).collect()
}
