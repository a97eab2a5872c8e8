//! What stands below the blocks: warnings with their remedies, gates, and how to repeat the run.

use keywright_measure::document::{Document, Remark};

use crate::describe;
use crate::plain::shown;
use crate::style::{Style, Tone, tone};

pub(super) fn lines(document: &Document, style: Style) -> String {
    let mut out = String::new();
    for (remark, cases) in describe::remarks(document) {
        out += &warning(remark, &cases, style);
    }
    for gate in &document.gates {
        let tone = if gate.holds { Tone::Good } else { Tone::Bad };
        out += &format!(
            "gate {}\n",
            style.paint(tone, &shown(&describe::gate(gate)))
        );
    }
    out + &last(document)
}

/// A remark that only states a fact is a note.
fn warning(remark: &Remark, cases: &[&str], style: Style) -> String {
    let (kind, word) = match remark.word {
        Some(word) if word.is_fact() => ("note", style.paint(tone(word), word.text())),
        Some(word) => ("warning", style.paint(tone(word), word.text())),
        None => ("note", String::new()),
    };
    let place = match cases {
        [] => String::new(),
        cases => format!("({})", shown(&describe::listed(cases))),
    };
    let head: Vec<&str> = [kind, &word, &place]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect();
    let mut out = format!("{}: {}\n", head.join(" "), shown(&remark.text));
    if let Some(remedy) = &remark.remedy {
        out += &format!("  remedy: {}\n", shown(remedy));
    }
    out
}

/// `run 0123456789abcdef   seed 42   keywright 0.1.0 release   repeat: keywright bench run ...`.
fn last(document: &Document) -> String {
    let (run, tool) = (&document.run, &document.tool);
    let mut parts = Vec::new();
    if !run.id.is_empty() {
        parts.push(format!("run {}", run.id));
    }
    parts.push(format!("seed {}", run.seed));
    let tool = [tool.name.as_str(), &tool.version, &tool.profile];
    let tool: Vec<&str> = tool.into_iter().filter(|part| !part.is_empty()).collect();
    parts.extend((!tool.is_empty()).then(|| tool.join(" ")));
    if let Some(command) = repeat(document) {
        parts.push(format!("repeat: {command}"));
    }
    shown(&parts.join("   ")) + "\n"
}

/// The command with the seed, without which it would draw another one.
pub(crate) fn repeat(document: &Document) -> Option<String> {
    let command = document.run.command.trim();
    match command {
        "" => None,
        _ if command.contains("--seed") => Some(command.to_owned()),
        _ => Some(format!("{command} --seed {}", document.run.seed)),
    }
}
