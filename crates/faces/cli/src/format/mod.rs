//! `keywright format`: what formats there are, what one describes, and which values of a file fit.
//!
//! No key is needed here, and no value is printed: misfits are rows and reasons.

mod check;
mod list;
mod rows;

use keywright_format::{Error, FLOOR, Format as Described, HARD_FLOOR, Misfit, SmallSet};
use serde::Serialize;

use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

/// Descriptions of formats, and files held against them.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Say which values of a file fit the rules, or which formats its columns fit.
    Check(check::Arguments),
    /// Describe a format: its canonical text, its domain, and how FF1 serves it.
    Describe(DescribeArguments),
    /// List what is built in.
    List,
}

#[derive(Debug, clap::Args)]
struct DescribeArguments {
    /// The format, for instance `card(keep=last4)`.
    #[arg(value_name = "FORMAT")]
    description: String,
}

pub(crate) fn run(arguments: &Arguments, format: Format) -> Result<Exit, Failure> {
    match &arguments.command {
        Command::Check(arguments) => check::run(arguments, format),
        Command::Describe(arguments) => describe(arguments, format),
        Command::List => list::run(format),
    }
}

/// A format as it is printed.
#[derive(Serialize)]
struct Told {
    format: String,
    example: String,
    /// Values of the example's set.
    domain: String,
    bits: f64,
    /// Of the smallest and the largest set.
    least_bits: f64,
    most_bits: f64,
    radix: u32,
    digits: usize,
    walks: bool,
    keeps: bool,
    floor: &'static str,
    /// Values that are refused one by one, by beginning and length.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    below_floor: Vec<BelowFloor>,
    /// Published data that decide which values fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    data_source: Option<&'static str>,
}

/// Values in sets below the floor.
#[derive(Serialize)]
struct BelowFloor {
    beginning: String,
    digits: Vec<usize>,
    all: bool,
}

impl From<SmallSet> for BelowFloor {
    fn from(set: SmallSet) -> Self {
        Self {
            beginning: set.beginning,
            digits: set.lengths,
            all: set.is_all,
        }
    }
}

impl Told {
    /// The values below the floor in two rows: whole beginnings, and lengths of others.
    fn small_rows(&self) -> impl Iterator<Item = (&'static str, String)> {
        let of = |is_all: bool| self.below_floor.iter().filter(move |set| set.all == is_all);
        let whole: Vec<&str> = of(true).map(|set| &*set.beginning).collect();
        let parts = of(false).map(|set| {
            let digits: Vec<String> = set.digits.iter().map(usize::to_string).collect();
            format!("{} with {}", set.beginning, digits.join(" "))
        });
        let parts: Vec<String> = parts.collect();
        let whole = (
            "below floor",
            format!("all of {}", whole.join(" ")),
            whole.is_empty(),
        );
        let parts = (
            "in part",
            format!("by the number of digits behind it: {}", parts.join(", ")),
            parts.is_empty(),
        );
        let rows = [whole, parts]
            .into_iter()
            .filter(|(.., is_empty)| !is_empty);
        rows.map(|(name, text, _)| (name, text))
    }
}

fn describe(arguments: &DescribeArguments, format: Format) -> Result<Exit, Failure> {
    let told = tell(&parse(&arguments.description)?)?;
    output::document(format, &told, || {
        let walks = if told.walks {
            "; what is no value is encrypted again"
        } else {
            ""
        };
        let mut rows = vec![
            ("format", told.format.clone()),
            ("example", told.example.clone()),
            (
                "domain",
                format!(
                    "{} values like the example, {:.1} bits",
                    told.domain, told.bits
                ),
            ),
            (
                "sets",
                format!("{:.1} to {:.1} bits", told.least_bits, told.most_bits),
            ),
            (
                "FF1",
                format!("radix {}, {} digits{walks}", told.radix, told.digits),
            ),
            (
                "tweak",
                if told.keeps { "column kept" } else { "column" }.to_owned(),
            ),
            ("floor", told.floor.to_owned()),
        ];
        rows.extend(told.small_rows());
        rows.extend(told.data_source.map(|data| ("data", data.to_owned())));
        output::fields(&rows)
    })?;
    Ok(Exit::Ok)
}

/// Reads the one-line form.
fn parse(text: &str) -> Result<Described, Failure> {
    Described::parse(text).map_err(|error| wrong("the format", error))
}

/// An error of the library about a text.
fn wrong(what: &str, error: Error) -> Failure {
    Failure::new(
        Exit::Usage,
        format!("{what}: {error}"),
        "docs/format.md has the language; keywright format list what is built in",
    )
}

fn tell(described: &Described) -> Result<Told, Failure> {
    let example = described.example();
    let mut checker = described.checker();
    let count = checker.check(example.as_bytes()).map_err(broken)?;
    let embedding = checker.embedding(example.as_bytes()).map_err(broken)?;
    let most = described.most();
    let floor = if most.is_below(HARD_FLOOR.into()) {
        "refused: fewer than 100 values are never accepted"
    } else if most.is_below(FLOOR.into()) {
        "refused, unless small_domain = \"accept(REASON)\""
    } else if described.least().is_below(FLOOR.into()) {
        "accepted; values of its small sets are refused one by one, unless small_domain = \"accept(REASON)\""
    } else if described.least().is_below(1 << 32) {
        "accepted; below 2^32, so keep the values under one key and tweak few"
    } else {
        "accepted"
    };
    Ok(Told {
        format: described.canonical().to_owned(),
        domain: count
            .exact()
            .map_or_else(|| "more than 2^256".to_owned(), |size| size.to_string()),
        bits: count.bits(),
        least_bits: described.least().bits(),
        most_bits: most.bits(),
        radix: embedding.radix,
        digits: embedding.digits,
        walks: embedding.walks,
        keeps: described.keeps(),
        floor,
        below_floor: described
            .small_sets(FLOOR)
            .into_iter()
            .map(BelowFloor::from)
            .collect(),
        data_source: described.data_source(),
        example,
    })
}

fn broken(misfit: Misfit) -> Failure {
    Failure::new(
        Exit::Unsupported,
        format!("the example of the format cannot be encrypted: {misfit}"),
        "split the format, or use symbols of one kind",
    )
}
