//! What reports promise, one module for each promise.
#![expect(
    clippy::unwrap_used,
    reason = "what fails here is a failed test, in the functions that tests share as well"
)]

mod comparison;
mod csv_forms;
#[expect(clippy::panic, reason = "what fails here is a failed test")]
mod derived;
mod documents;
mod exports;
mod hdr_logs;
mod history_comparable;
mod history_file;
mod history_record;
mod history_samples;
mod history_trend;
mod history_where;
mod hostile;
mod json_form;
mod live_browser;
mod live_canned;
mod live_client;
mod live_finished;
mod live_progress;
mod live_state;
mod live_terminal;
mod live_web;
mod live_web_limits;
mod live_web_remote;
mod page;
mod seed_form;
mod text_form;
mod trend_page;
