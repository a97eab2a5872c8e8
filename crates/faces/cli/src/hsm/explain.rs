//! explain-error.

use keywright_encoding::terminal::escaped;
use keywright_hsm::Context;
use keywright_hsm::explanation::{self, CodeReport};
use keywright_pkcs11_names::explain::Placeholders;
use keywright_pkcs11_names::{Named as _, ReturnCode, SpellingError};
use serde_json::json;

use super::answer::{Answer, Refusal};
use crate::exit::{Exit, Failure};
use crate::output::table;

/// A return code to explain.
#[derive(Debug, clap::Args)]
pub(crate) struct ExplainWords {
    /// The code: 0xA0, 160, CKR_PIN_INCORRECT, `pin incorrect`, or a whole message.
    #[arg(
        value_name = "CODE",
        required_unless_present = "list",
        allow_negative_numbers = true
    )]
    code: Vec<String>,
    /// What was being done, for the steps.
    #[arg(long, default_value = "general")]
    context: String,
    /// Show all codes.
    #[arg(long)]
    list: bool,
    /// The token's label, for the commands in the steps.
    #[arg(long, value_name = "LABEL")]
    label: Option<String>,
    /// The key's label, for the commands in the steps.
    #[arg(long, value_name = "LABEL")]
    key_label: Option<String>,
}

pub(super) fn explain(words: &ExplainWords) -> Result<Answer, Refusal> {
    if words.list {
        let list = explanation::list();
        let rows: Vec<_> = list
            .iter()
            .map(|line| {
                vec![
                    line.rv_hex.clone(),
                    line.code.to_owned(),
                    line.meaning.to_owned(),
                ]
            })
            .collect();
        let data = json!({ "code_count": list.len(), "codes": list });
        return Ok(Answer::of(&data).text(table(&rows)));
    }
    let context: Context = words.context.parse().map_err(|error: SpellingError| {
        let names = Context::ALL.map(Context::name).join(", ");
        Refusal::usage(
            format!("--context: {error}"),
            format!("choose one of {names}"),
        )
    })?;
    let names = Placeholders {
        token: words.label.as_deref(),
        key: words.key_label.as_deref(),
    };
    let report = explanation::explain(&words.code.join(" "), context, names);
    let report = report.map_err(|error| {
        let exit = match error {
            SpellingError::Unknown { .. } => Exit::NotFound,
            _ => Exit::Usage,
        };
        let count = ReturnCode::all().count();
        let advice = format!("keywright hsm explain-error --list shows all {count}");
        Failure::new(exit, error.to_string(), advice)
    })?;
    let text = in_words(&report);
    Ok(Answer::of(&report).text(text))
}

fn in_words(report: &CodeReport) -> String {
    let mut text = format!(
        "{} ({}, {})\n{}\n",
        report.code, report.rv_hex, report.rv, report.meaning
    );
    if let Some(other) = &report.other_reading {
        text.push_str(&format!("\nOr was it {other}?\n"));
    }
    let mut section = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            // The names in commands are the caller's.
            let lines = lines.iter().map(|line| format!("  {}\n", escaped(line)));
            text.push_str(&format!("\n{title}\n{}", lines.collect::<String>()));
        }
    };
    section(
        "Causes, the likeliest first",
        report
            .causes
            .iter()
            .map(|cause| (*cause).to_owned())
            .collect(),
    );
    section("What to do first", vec![report.hint.clone()]);
    let steps = report.steps.iter().map(|step| match &step.command {
        Some(command) => format!("{}: {command}", step.text),
        None => step.text.to_owned(),
    });
    section("Steps", steps.collect());
    let ways = report.differences.iter();
    let ways = ways.map(|way| format!("{} ({}): {}", way.provider, way.versions, way.text));
    section("Tokens with their own ways", ways.collect());
    section("Answered by", vec![report.functions.join(", ")]);
    text
}
