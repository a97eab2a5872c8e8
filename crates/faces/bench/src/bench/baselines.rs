//! Results with a name, to compare with.

use keywright_report::history::{HistoryError, RunId};
use keywright_report::json;
use serde::Serialize;

use super::flags::PastFlags;
use super::past::{find, open, unusable};
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

/// Keep results to compare with.
#[derive(Debug, clap::Args)]
pub(crate) struct BaselineArguments {
    #[command(subcommand)]
    command: BaselineCommand,
    #[command(flatten)]
    past: PastFlags,
}

#[derive(Debug, clap::Subcommand)]
enum BaselineCommand {
    /// Give a run of the history a name.
    Save {
        /// The name.
        name: String,
        /// The run.
        run: String,
    },
    /// List the names.
    List,
    /// Show what a name stands for.
    Show {
        /// The name.
        name: String,
    },
    /// Take a name away; the run stays.
    Rm {
        /// The name.
        name: String,
    },
}

#[derive(Serialize)]
struct Baselines {
    baselines: Vec<BaselineLine>,
}

#[derive(Serialize)]
struct BaselineLine {
    name: String,
    run: String,
}

pub(super) fn baselines(arguments: &BaselineArguments, format: Format) -> Result<Exit, Failure> {
    let mut history = open(&arguments.past)?;
    match &arguments.command {
        BaselineCommand::Save { name, run } => {
            let document = find(&arguments.past, run)?;
            let run = match history.record(&document) {
                Ok(run) => run,
                Err(HistoryError::RecordedTwice { .. }) => {
                    RunId::parse(&document.run.id).map_err(unusable)?
                }
                Err(error) => return Err(unusable(error)),
            };
            let before = history.baseline_save(name, &run).map_err(unusable)?;
            let note = before.map_or_else(String::new, |before| {
                format!(", before {}", before.as_str())
            });
            let line = format!("{name} is {}{note}\n", run.as_str());
            output::data(line.as_bytes())?;
        }
        BaselineCommand::List => {
            let listed = Baselines {
                baselines: history
                    .baseline_list()
                    .map_err(unusable)?
                    .iter()
                    .map(|one| BaselineLine {
                        name: one.name.clone(),
                        run: one.run.as_str().to_owned(),
                    })
                    .collect(),
            };
            output::document(format, &listed, || {
                let lines = listed.baselines.iter();
                lines
                    .map(|one| format!("{}  {}\n", one.name, one.run))
                    .collect()
            })?;
        }
        BaselineCommand::Show { name } => {
            let document = history.baseline_show(name).map_err(unusable)?;
            let text = keywright_report::text::summary_table(&document);
            let shown = match format {
                Format::Json => json::render(&document, json::Layout::Pretty).unwrap_or_default(),
                _ => text,
            };
            output::data(shown.as_bytes())?;
        }
        BaselineCommand::Rm { name } => history.baseline_remove(name).map_err(unusable)?,
    }
    Ok(Exit::Ok)
}
