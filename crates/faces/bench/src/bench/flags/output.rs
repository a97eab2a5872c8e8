//! Flags that say where results go.

use std::path::PathBuf;

use keywright_report::exports::Profile;
use keywright_report::live::terminal::FrameRate;

/// Where results go.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Output")]
pub(in crate::bench) struct OutputFlags {
    /// Write the result to a file; its ending says how: .json, .csv, .html, .txt, .md.
    #[arg(long, short = 'o', value_name = "FILE")]
    pub(in crate::bench) output: Vec<PathBuf>,
    /// Print the result in another tool's form instead.
    #[arg(id = "form", long = "as", value_name = "FORM")]
    pub(in crate::bench) profile: Option<Profile>,
    /// Write what happens while measuring to a file, one JSON object a line.
    #[arg(long, value_name = "FILE")]
    pub(in crate::bench) events: Option<PathBuf>,
    /// Write exit code and name to a file as well.
    #[arg(long, value_name = "FILE")]
    pub(in crate::bench) status_file: Option<PathBuf>,
    /// Every histogram, quantile and run in the text.
    #[arg(long, short = 'v')]
    pub(in crate::bench) verbose: bool,
    /// Nothing but the result.
    #[arg(long, short = 'q')]
    pub(in crate::bench) quiet: bool,
    /// Colour in the text.
    #[arg(long, value_enum, default_value_t = Colour::Auto)]
    pub(in crate::bench) color: Colour,
    /// The same as --color never.
    #[arg(long, conflicts_with = "color")]
    pub(in crate::bench) no_color: bool,
    /// Draw nothing on the terminal while measuring: neither progress nor a dashboard.
    #[arg(long, conflicts_with = "watch")]
    pub(in crate::bench) no_tui: bool,
    /// Show a dashboard on the terminal while measuring: q stops, ? lists keys.
    #[arg(long)]
    pub(in crate::bench) watch: bool,
    /// Pictures of the dashboard a second, 1 to 60; 12.5 by default.
    #[arg(long, value_name = "N", value_parser = frames)]
    pub(in crate::bench) fps: Option<FrameRate>,
    /// Serve a web dashboard on this loopback address while measuring.
    #[arg(long, value_name = "ADDR:PORT")]
    pub(in crate::bench) serve: Option<std::net::SocketAddr>,
    /// A note that stays with the result.
    #[arg(long, value_name = "TEXT")]
    pub(in crate::bench) note: Option<String>,
    /// Keep the result under this name, to compare with later.
    #[arg(long, value_name = "NAME")]
    pub(in crate::bench) save_baseline: Option<String>,
    #[command(flatten)]
    pub(in crate::bench) past: PastFlags,
}

/// Where earlier results are kept.
#[derive(Clone, Debug, clap::Args)]
pub(in crate::bench) struct PastFlags {
    /// The history of results; by default bench.sqlite in the user's state folder.
    #[arg(long, value_name = "FILE", env = "KEYWRIGHT_BENCH_HISTORY")]
    pub(in crate::bench) history: Option<PathBuf>,
    /// Do not write this result into the history.
    #[arg(long)]
    pub(in crate::bench) no_history: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(in crate::bench) enum Colour {
    /// On a terminal that wants it.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

fn frames(text: &str) -> Result<FrameRate, String> {
    let number = text.parse().ok();
    number
        .and_then(FrameRate::per_second)
        .ok_or_else(|| "a whole number from 1 to 60".to_owned())
}

impl OutputFlags {
    /// The same for a program that nobody sits before, if nobody does: a log gets no colour and no line that
    /// is drawn over the one before.
    pub(in crate::bench) fn attended(&self, judging: &super::JudgeFlags) -> Self {
        let mut flags = self.clone();
        if judging.ci || flags.no_color {
            flags.color = Colour::Never;
        }
        flags.no_tui |= judging.ci;
        flags
    }
}
