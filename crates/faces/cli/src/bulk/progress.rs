//! Progress of a run: a line on a terminal, nothing otherwise.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use keywright_clock::{Clock, MonotonicTime};
use keywright_protect::Progress;

/// A bar with rows a second and the time that is left.
pub(super) struct Bar {
    bar: ProgressBar,
    clock: Clock,
    start: MonotonicTime,
    /// Rows when the first block of this run was done.
    before: Option<u64>,
}

impl Bar {
    /// Towards so many bytes; nothing shows without a goal.
    pub(super) fn new(goal: Option<u64>) -> Self {
        let clock = Clock::system();
        let start = clock.monotonic();
        let bar = match goal.filter(|_| std::io::stderr().is_terminal()) {
            Some(size) => ProgressBar::new(size),
            None => ProgressBar::hidden(),
        };
        let template = "[{bar:32}] {bytes}/{total_bytes}  {msg}  {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        Self {
            bar,
            clock,
            start,
            before: None,
        }
    }

    pub(super) fn show(&mut self, progress: &Progress) {
        if self.bar.is_hidden() {
            return;
        }
        let before = *self.before.get_or_insert(progress.rows);
        let seconds = self.took().as_secs_f64().max(1e-3);
        let rate = progress.rows.saturating_sub(before) as f64 / seconds;
        self.bar.set_position(progress.bytes);
        self.bar.set_message(format!("{rate:.0} rows/s"));
    }

    fn took(&self) -> Duration {
        self.clock.monotonic().since(self.start)
    }

    /// Takes the line away, and says how long it all took.
    pub(super) fn finish(self) -> Duration {
        self.bar.finish_and_clear();
        self.took()
    }
}
