//! Counters of what was answered.
//!
//! Labels come from closed sets: the operation and the code, never a path, a name or a client. Each
//! server thread counts for itself, so that counting is never a contended write.

// Writing into a `String` has no way to fail, so the results of `writeln!` are passed over.
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use keywright_types::{Code, Operation};

/// Upper bounds of the latency buckets, in microseconds.
const BUCKETS_US: [u64; 14] = [
    10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 25_000, 50_000, 250_000, 1_000_000,
];

/// The counters of one server thread.
#[derive(Debug)]
pub struct Counters {
    requests: Vec<AtomicU64>,
    items: Vec<AtomicU64>,
    buckets: [AtomicU64; BUCKETS_US.len() + 1],
    nanos: AtomicU64,
}

impl Counters {
    fn new() -> Self {
        let zeros = |count| (0..count).map(|_| AtomicU64::new(0)).collect();
        Self {
            requests: zeros(NUMBERS * NUMBERS),
            items: zeros(NUMBERS),
            buckets: std::array::from_fn(|_| AtomicU64::new(0)),
            nanos: AtomicU64::new(0),
        }
    }

    /// Counts one request that was refused before anything was done for it; its time would say nothing
    /// about those that are answered.
    pub fn count_refused(&self, operation: Operation, code: Code) {
        add(self.requests.get(index(operation, code)), 1);
    }

    /// Counts one answered request.
    pub fn count(&self, operation: Operation, code: Code, items: u64, took: Duration) {
        add(self.requests.get(index(operation, code)), 1);
        add(self.items.get(usize::from(operation.number())), items);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        add(
            self.buckets
                .get(BUCKETS_US.partition_point(|bound| *bound < micros)),
            1,
        );
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
    }
}

/// The counters of all threads.
#[derive(Debug, Default)]
pub struct Metrics {
    threads: Mutex<Vec<Arc<Counters>>>,
}

impl Metrics {
    /// Counters for one more thread.
    #[must_use]
    pub fn thread(&self) -> Arc<Counters> {
        let counters = Arc::new(Counters::new());
        self.all().push(Arc::clone(&counters));
        counters
    }

    /// The Prometheus text of everything counted, and of `epoch` and `keys`.
    #[must_use]
    pub fn render(&self, epoch: u64, keys: usize) -> String {
        let threads = self.all();
        let mut out = String::with_capacity(4096);
        render_requests(&mut out, &threads);
        render_items(&mut out, &threads);
        render_latency(&mut out, &threads);
        gauge(&mut out, "keywright_state_epoch", "the state epoch", epoch);
        gauge(
            &mut out,
            "keywright_contexts",
            "contexts of all tenants",
            keys as u64,
        );
        out
    }

    fn all(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Counters>>> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn render_requests(out: &mut String, threads: &[Arc<Counters>]) {
    head(
        out,
        "keywright_requests_total",
        "counter",
        "requests answered, by operation and code",
    );
    for operation in Operation::ALL {
        for code in Code::ALL {
            let index = index(*operation, *code);
            let count = sum(threads, |counters| counters.requests.get(index));
            if count > 0 {
                let labels = format!("operation=\"{operation}\",code=\"{code}\"");
                line(out, "keywright_requests_total", &labels, count);
            }
        }
    }
}

fn render_items(out: &mut String, threads: &[Arc<Counters>]) {
    head(
        out,
        "keywright_items_total",
        "counter",
        "items of answered requests, by operation",
    );
    for operation in Operation::ALL {
        let row = usize::from(operation.number());
        let count = sum(threads, |counters| counters.items.get(row));
        if count > 0 {
            line(
                out,
                "keywright_items_total",
                &format!("operation=\"{operation}\""),
                count,
            );
        }
    }
}

fn render_latency(out: &mut String, threads: &[Arc<Counters>]) {
    let name = "keywright_request_duration_seconds";
    head(
        out,
        name,
        "histogram",
        "from the whole request to its audited answer",
    );
    let mut total = 0;
    for (index, bound) in BUCKETS_US.iter().enumerate() {
        total += sum(threads, |counters| counters.buckets.get(index));
        let seconds = format!("{}.{:06}", bound / 1_000_000, bound % 1_000_000);
        line(
            out,
            &format!("{name}_bucket"),
            &format!("le=\"{seconds}\""),
            total,
        );
    }
    total += sum(threads, |counters| counters.buckets.last());
    line(out, &format!("{name}_bucket"), "le=\"+Inf\"", total);
    let nanos = sum(threads, |counters| Some(&counters.nanos));
    let _ = writeln!(
        out,
        "{name}_sum {}.{:09}",
        nanos / 1_000_000_000,
        nanos % 1_000_000_000
    );
    let _ = writeln!(out, "{name}_count {total}");
}

fn gauge(out: &mut String, name: &str, help: &str, value: u64) {
    head(out, name, "gauge", help);
    let _ = writeln!(out, "{name} {value}");
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn line(out: &mut String, name: &str, labels: &str, value: u64) {
    let _ = writeln!(out, "{name}{{{labels}}} {value}");
}

fn sum<'a>(
    threads: &'a [Arc<Counters>],
    counter: impl Fn(&'a Counters) -> Option<&'a AtomicU64>,
) -> u64 {
    let values = threads.iter().filter_map(|counters| counter(counters));
    values.map(|counter| counter.load(Ordering::Relaxed)).sum()
}

fn add(counter: Option<&AtomicU64>, value: u64) {
    if let Some(counter) = counter {
        counter.fetch_add(value, Ordering::Relaxed);
    }
}

/// The place of a counter: by the numbers of the registry, which are found without a search.
fn index(operation: Operation, code: Code) -> usize {
    usize::from(operation.number()) * NUMBERS + usize::from(code.number())
}

/// Above every number of an operation or code; a test says when it no longer is.
const NUMBERS: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_and_code_has_a_counter_of_its_own() {
        assert!(
            Operation::ALL
                .iter()
                .all(|operation| usize::from(operation.number()) < NUMBERS)
        );
        assert!(
            Code::ALL
                .iter()
                .all(|code| usize::from(code.number()) < NUMBERS)
        );
    }

    #[test]
    fn threads_add_up_and_nothing_else_is_shown() {
        let metrics = Metrics::default();
        let (a, b) = (metrics.thread(), metrics.thread());
        a.count(Operation::Encrypt, Code::Ok, 1, Duration::from_micros(7));
        b.count(Operation::Encrypt, Code::Ok, 1000, Duration::from_millis(3));
        b.count(
            Operation::Decrypt,
            Code::DecryptionFailed,
            1,
            Duration::from_secs(9),
        );
        let text = metrics.render(5, 2);
        assert!(text.contains("keywright_requests_total{operation=\"encrypt\",code=\"ok\"} 2\n"));
        assert!(text.contains("keywright_items_total{operation=\"encrypt\"} 1001\n"));
        assert!(text.contains("_bucket{le=\"0.000010\"} 1\n"));
        assert!(text.contains("_bucket{le=\"0.005000\"} 2\n"));
        assert!(text.contains("_bucket{le=\"1.000000\"} 2\n"));
        assert!(text.contains("_bucket{le=\"+Inf\"} 3\n"));
        assert!(text.contains("_sum 9.003007000\n"));
        assert!(text.contains("keywright_state_epoch 5\n"));
        assert_eq!(text.matches("keywright_requests_total{").count(), 2);
    }
}
