//! `client tokenize`, `detokenize` and `mask`: values and tokens, one on each line.
//!
//! All lines or none: a line that fails ends the command without a result, and names its number and never its
//! text. With `--format json` each line has its result.

use keywright_client::{Batching, Cells, ErrorBody, Token, Value};
use keywright_secret::SecretBytes;
use keywright_types::{Code, KeyVersion, Name};
use serde::Serialize;

use super::connection::Connection;
use super::destination::{Destination, Output, Readers};
use super::input::Input;
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

#[derive(Debug, clap::Args)]
pub(super) struct Tokenize {
    /// The context.
    #[arg(value_name = "CONTEXT")]
    context: Name,
    #[command(flatten)]
    connection: Connection,
    #[command(flatten)]
    lines: Lines,
    #[command(flatten)]
    output: Output,
}

#[derive(Debug, clap::Args)]
pub(super) struct OfTokens {
    #[command(flatten)]
    words: Tokenize,
    /// The version that `tokenize` answered. Another one gives other values, and no error.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    key_version: u32,
}

/// Where the lines are, and the cells of other columns that are the same for all.
#[derive(Debug, clap::Args)]
struct Lines {
    #[command(flatten)]
    input: Input,
    /// A cell of another column that the context's tweak needs, the same for all lines.
    #[arg(long, value_name = "COLUMN=TEXT", value_parser = cell)]
    tweak: Vec<(String, String)>,
}

fn cell(given: &str) -> Result<(String, String), &'static str> {
    let (column, text) = given.split_once('=').ok_or("COLUMN=TEXT is expected")?;
    Ok((column.to_owned(), text.to_owned()))
}

/// A line's result.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    masked: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a ErrorBody>,
}

#[derive(Serialize)]
struct Document<'a> {
    /// The version that all lines have.
    key_version: Option<KeyVersion>,
    failed: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Vec<Line<'a>>>,
}

/// What came of all lines.
struct Results {
    key_version: Option<KeyVersion>,
    texts: Vec<Result<SecretBytes, ErrorBody>>,
}

/// Which text a line's result is.
#[derive(Clone, Copy)]
enum Kind {
    Masked,
    Token,
    Value,
}

pub(super) fn tokenize(arguments: &Tokenize, format: Format) -> Result<Exit, Failure> {
    let text = arguments.lines.input.read()?;
    let lines = split(&text)?;
    let cells = arguments.lines.cells();
    let tweak: Cells<'_> = &cells;
    let destination = arguments.output.prepare(Readers::AsUsual)?;
    let items: Vec<_> = lines.iter().map(|value| Value { value, tweak }).collect();
    let client = arguments.connection.open()?;
    let made = client.tokenize_items(&arguments.context, &items, Batching::default())?;
    let mut key_version = None;
    let mut texts = Vec::with_capacity(made.len());
    for one in made {
        texts.push(one.map(|one| {
            // A rotation between two batches would leave a file of two versions without a word of it.
            key_version = match key_version {
                None => Some(one.key_version),
                Some(same) if same == one.key_version => Some(same),
                Some(_) => Some(KeyVersion::NONE),
            };
            SecretBytes::from_vec(one.token.into_bytes())
        }));
    }
    if key_version == Some(KeyVersion::NONE) {
        return Err(Failure::new(
            Exit::Target,
            "the key was rotated while the lines were on their way, so that they have two versions",
            "run the command again: nothing was written",
        ));
    }
    let results = Results { key_version, texts };
    if let (Some(version), Format::Text) = (key_version, format)
        && results.texts.iter().all(Result::is_ok)
    {
        message!("key version {version}: detokenize must be told");
    }
    deliver(&results, Kind::Token, destination, format)
}

pub(super) fn detokenize(arguments: &OfTokens, format: Format) -> Result<Exit, Failure> {
    of_tokens(arguments, Kind::Value, format)
}

pub(super) fn mask(arguments: &OfTokens, format: Format) -> Result<Exit, Failure> {
    of_tokens(arguments, Kind::Masked, format)
}

fn of_tokens(arguments: &OfTokens, kind: Kind, format: Format) -> Result<Exit, Failure> {
    let OfTokens { words, key_version } = arguments;
    let text = words.lines.input.read()?;
    let lines = split(&text)?;
    let cells = words.lines.cells();
    let key_version = KeyVersion::from_number(*key_version);
    let tweak: Cells<'_> = &cells;
    let destination = words.output.prepare(Readers::Owner)?;
    let items: Vec<_> = lines
        .iter()
        .map(|token| Token {
            token,
            key_version,
            tweak,
        })
        .collect();
    let (client, batching) = (words.connection.open()?, Batching::default());
    let texts = match kind {
        Kind::Masked => {
            let made = client.mask_items(&words.context, &items, batching)?;
            let wipe = |text: String| SecretBytes::from_vec(text.into_bytes());
            let made = made.into_iter();
            made.map(|one| one.map(|one| wipe(one.masked))).collect()
        }
        _ => {
            let made = client.detokenize_items(&words.context, &items, batching)?;
            let made = made.into_iter();
            made.map(|one| one.map(|one| one.value)).collect()
        }
    };
    let key_version = Some(key_version);
    deliver(&Results { key_version, texts }, kind, destination, format)
}

impl Lines {
    fn cells(&self) -> Vec<(&str, &str)> {
        let cells = self.tweak.iter();
        cells
            .map(|(column, text)| (column.as_str(), text.as_str()))
            .collect()
    }
}

/// The lines of a text, without their ends. The last may lack one.
fn split(text: &SecretBytes) -> Result<Vec<&str>, Failure> {
    let text = std::str::from_utf8(text.expose()).map_err(|_| {
        Failure::new(
            Exit::Usage,
            "the input is not UTF-8",
            "give values or tokens as text, one on each line",
        )
    })?;
    let lines: Vec<_> = text.lines().collect();
    match lines.is_empty() {
        true => Err(Failure::new(
            Exit::Usage,
            "the input has no line",
            "give values or tokens as text, one on each line",
        )),
        false => Ok(lines),
    }
}

fn deliver(
    results: &Results,
    kind: Kind,
    destination: Destination,
    format: Format,
) -> Result<Exit, Failure> {
    let failed = results.texts.iter().filter(|one| one.is_err()).count();
    let document = |items| Document {
        key_version: results.key_version,
        failed,
        items,
    };
    if failed > 0 {
        if format != Format::Json {
            return Err(refused(results, failed));
        }
        output::document(format, &document(Some(lines(results, kind))), String::new)?;
        return Ok(Exit::Usage);
    }
    let mut out = SecretBytes::zeroed(room(results));
    let mut end = 0;
    for text in results.texts.iter().flatten() {
        let text = text.expose();
        out.expose_mut()[end..end + text.len()].copy_from_slice(text);
        out.expose_mut()[end + text.len()] = b'\n';
        end += text.len() + 1;
    }
    destination.deliver(out.expose(), format, |placed| {
        document(placed.in_document().then(|| lines(results, kind)))
    })
}

fn room(results: &Results) -> usize {
    results
        .texts
        .iter()
        .flatten()
        .map(|text| text.len() + 1)
        .sum()
}

fn lines(results: &Results, kind: Kind) -> Vec<Line<'_>> {
    results
        .texts
        .iter()
        .map(|one| {
            let mut line = Line {
                token: None,
                value: None,
                masked: None,
                error: None,
            };
            match one {
                Err(error) => line.error = Some(error),
                Ok(text) => {
                    let text = std::str::from_utf8(text.expose()).unwrap_or_default();
                    match kind {
                        Kind::Masked => line.masked = Some(text),
                        Kind::Token => line.token = Some(text),
                        Kind::Value => line.value = Some(text),
                    }
                }
            }
            line
        })
        .collect()
}

/// The first line that failed, by its number.
fn refused(results: &Results, failed: usize) -> Failure {
    let mut numbered = (1..).zip(&results.texts);
    let first = numbered.find_map(|(number, one)| Some((number, one.as_ref().err()?)));
    let (number, code, message) = first.map_or((0, None, ""), |(number, error)| {
        (number, error.code(), error.message.as_str())
    });
    let all = results.texts.len();
    Failure {
        code: code.map(Code::name),
        ..Failure::new(
            code.map_or(Exit::Target, Exit::of),
            format!("{failed} of {all} lines failed, the first of them line {number}: {message}"),
            "nothing was written; correct the lines, or see each with --format json",
        )
    }
}
