//! The text form of Prometheus, version 0.0.4.

// Writing into a `String` has no way to fail, so the results of `write!` are passed over.
use std::fmt::{Display, Write as _};

use super::histogram::Summed;

/// What a metric is.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Counter,
    Gauge,
    Histogram,
}

/// A page in the making. Label values come from the closed sets of this program, which need no escaping; a test
/// looks at each.
#[derive(Default)]
pub(super) struct Page(String);

impl Page {
    pub(super) fn with_capacity(bytes: usize) -> Self {
        Self(String::with_capacity(bytes))
    }

    pub(super) fn head(&mut self, name: &str, kind: Kind, help: &str) {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    /// A sample; `labels` is empty or as in `a="1",b="2"`.
    pub(super) fn sample(&mut self, name: &str, labels: &str, value: impl Display) {
        let _ = match labels {
            "" => writeln!(self.0, "{name} {value}"),
            _ => writeln!(self.0, "{name}{{{labels}}} {value}"),
        };
    }

    /// A gauge or counter of one sample.
    pub(super) fn one(&mut self, name: &str, kind: Kind, help: &str, value: impl Display) {
        self.head(name, kind, help);
        self.sample(name, "", value);
    }

    /// The samples of a histogram, behind its head.
    pub(super) fn histogram(&mut self, name: &str, labels: &str, sum: &Summed) {
        let comma = if labels.is_empty() { "" } else { "," };
        for (bound, count) in sum.cumulative() {
            let _ = writeln!(
                self.0,
                "{name}_bucket{{{labels}{comma}le=\"{bound}\"}} {count}"
            );
        }
        self.sample(&format!("{name}_sum"), labels, seconds(sum.nanos()));
        self.sample(&format!("{name}_count"), labels, sum.count());
    }

    pub(super) fn finish(self) -> String {
        self.0
    }
}

/// Nanoseconds as seconds, exactly.
pub(super) fn seconds(nanos: u64) -> String {
    format!("{}.{:09}", nanos / 1_000_000_000, nanos % 1_000_000_000)
}
