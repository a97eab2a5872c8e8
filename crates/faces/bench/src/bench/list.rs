//! What can be measured, and the schema of what comes out.

use keywright_targets::suite::SHIPPED;
use keywright_targets::workshop::Workshop;
use serde::Serialize;

use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

/// Say what can be measured.
#[derive(Debug, clap::Args)]
pub(crate) struct ListArguments {
    /// Operations, kinds of targets, or built-in suites.
    #[arg(value_enum, default_value_t = What::Ops)]
    what: What,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum What {
    /// Operations by their names.
    Ops,
    /// Suites that come with the program.
    Suites,
    /// Kinds of targets.
    Targets,
}

#[derive(Serialize)]
struct Operations {
    operations: Vec<Line>,
}

#[derive(Serialize)]
struct Line {
    name: &'static str,
    target: &'static str,
    unit: &'static str,
}

#[derive(Serialize)]
struct Names {
    names: Vec<String>,
}

pub(super) fn list(arguments: &ListArguments, format: Format) -> Result<Exit, Failure> {
    let names = match arguments.what {
        What::Ops => return operations(format),
        What::Suites => {
            let other = SHIPPED.iter().flat_map(|suite| suite.aliases);
            let names = SHIPPED.iter().map(|suite| &suite.name).chain(other);
            names.map(|name| (*name).to_owned()).collect()
        }
        What::Targets => {
            let mut kinds: Vec<String> = Workshop::operations()
                .map(|operation| operation.target.to_owned())
                .collect();
            // These are declared in suites, and have one operation each.
            kinds.extend(["http", "null", "script"].map(str::to_owned));
            kinds.sort_unstable();
            kinds.dedup();
            kinds
        }
    };
    let names = Names { names };
    output::document(format, &names, || {
        names.names.iter().map(|name| format!("{name}\n")).collect()
    })?;
    Ok(Exit::Ok)
}

fn operations(format: Format) -> Result<Exit, Failure> {
    let lines = Workshop::operations().map(|operation| Line {
        name: operation.name,
        target: operation.target,
        unit: operation.unit,
    });
    let listed = Operations {
        operations: lines.collect(),
    };
    output::document(format, &listed, || {
        let lines = listed.operations.iter();
        lines
            .map(|line| format!("{:<36} {:<8} {}\n", line.name, line.target, line.unit))
            .collect()
    })?;
    Ok(Exit::Ok)
}

pub(super) fn schema() -> Result<Exit, Failure> {
    let text = keywright_report::schema::text()
        .map_err(|error| Failure::new(Exit::Internal, error.to_string(), "please report this"))?;
    output::data(text.as_bytes())?;
    Ok(Exit::Ok)
}
