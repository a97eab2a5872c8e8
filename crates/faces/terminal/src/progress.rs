//! Progress: a bar on a terminal, nothing otherwise.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar towards `total`, counted in bytes.
pub fn bytes(total: u64, text: &'static str) -> ProgressBar {
    bar(
        total,
        text,
        "      {msg:<12} [{bar:32}] {bytes}/{total_bytes}",
    )
}

/// A bar towards `total`, counted in whole things.
pub fn count(total: u64, text: &'static str) -> ProgressBar {
    bar(total, text, "      {msg:<12} [{bar:32}] {pos}/{len}")
}

fn bar(total: u64, text: &'static str, template: &str) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(total).with_message(text);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
