//! What is served besides data: the files in this crate, the list of runs, the policy of a report.

use keywright_encoding::base64;
use keywright_primitives::hash::sha256;
use maud::{DOCTYPE, html};

use super::RunEntry;
use crate::number::count;
use crate::plain::fitted;
use crate::style::{Tone, tone};

/// The files that need no access token: they hold no data.
pub(super) fn file(path: &str) -> Option<(&'static str, &'static str)> {
    match path {
        "/" => Some(("text/html; charset=utf-8", include_str!("page.html"))),
        "/app.js" => Some(("text/javascript; charset=utf-8", include_str!("app.js"))),
        "/app.css" => Some(("text/css; charset=utf-8", include_str!("app.css"))),
        "/icon.svg" => Some(("image/svg+xml", include_str!("icon.svg"))),
        _ => None,
    }
}

/// The list of runs, which works without script.
pub(super) fn runs(entries: &[RunEntry]) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width,initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { "Runs - Keywright" }
                link rel="icon" href="/icon.svg";
                link rel="stylesheet" href="/app.css";
            }
            body {
                main {
                    header { div { h1 { "Runs" } } nav { a href="/" { "Live" } a href="/trends" { "Trends" } } }
                    section .card {
                        @if entries.is_empty() {
                            p .soft { "No finished run is recorded yet." }
                        } @else {
                            div .scroll { table {
                                thead { tr {
                                    th { "run" } th { "started" } th .n { "cases" }
                                    th { "verdict" } th { "exit" } th { "note" }
                                } }
                                tbody { @for entry in entries { (row(entry)) } }
                            } }
                        }
                    }
                }
            }
        }
    };
    page.into_string()
}

fn row(entry: &RunEntry) -> maud::Markup {
    let class = entry.verdict.map_or("word", |word| match tone(word) {
        Tone::Bad => "word bad",
        Tone::Doubt => "word doubt",
        Tone::Good => "word good",
        Tone::Faint | Tone::Strong => "word",
    });
    html! {
        tr {
            td { a href={ "/runs/" (fitted(&entry.id, 64)) } { (fitted(&entry.id, 64)) } }
            td { (fitted(&entry.started, 40)) }
            td .n { (count(entry.cases)) }
            td { @if let Some(word) = entry.verdict { span class=(class) { (word.text()) } } }
            td { (fitted(&entry.exit, 40)) }
            td .wrap { (fitted(&entry.note, 200)) }
        }
    }
}

/// Lets the page's first style and first script run, by their hashes, and nothing else.
pub(super) fn report_policy(page: &str) -> String {
    let hash = |tag: &str| {
        let body = page.split_once(&format!("<{tag}>"))?.1;
        let text = body.split_once(&format!("</{tag}>"))?.0;
        Some(format!(
            "'sha256-{}'",
            base64::encode(&sha256(text.as_bytes()))
        ))
    };
    let or_none = |hash: Option<String>| hash.unwrap_or_else(|| "'none'".to_owned());
    format!(
        "sandbox allow-scripts; default-src 'none'; style-src {}; script-src {}; base-uri 'none'; \
         form-action 'none'; frame-ancestors 'none'",
        or_none(hash("style")),
        or_none(hash("script"))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_may_run_its_own_script_and_no_other() {
        let page = "<style>a{}</style><script>one()</script><script>two()</script>";
        let policy = report_policy(page);
        let hash = |text: &str| base64::encode(&sha256(text.as_bytes()));
        assert!(policy.contains(&hash("a{}")) && policy.contains(&hash("one()")));
        assert!(!policy.contains(&hash("two()")) && !policy.contains("unsafe"));
        assert!(report_policy("<p>").contains("script-src 'none'"));
    }

    #[test]
    fn the_files_ask_nothing_of_other_hosts_and_are_small() {
        for path in ["/", "/app.js", "/app.css", "/icon.svg"] {
            let (_, text) = file(path).unwrap();
            assert!(text.len() < 40_000, "{path}: {}", text.len());
            let foreign = text.replace("http://www.w3.org/2000/svg", "");
            assert!(
                !foreign.contains("http://") && !foreign.contains("https://"),
                "{path}"
            );
        }
        let (_, page) = file("/").unwrap();
        for inline in [" style=", "<style", " onclick", " onload", "<script>"] {
            assert!(!page.contains(inline), "{inline}");
        }
    }

    #[test]
    fn names_in_the_list_of_runs_are_escaped() {
        let hostile = "\"><script>alert(1)</script>\u{1b}[31m".to_owned();
        let entry = RunEntry {
            id: hostile.clone(),
            started: hostile.clone(),
            cases: 1,
            verdict: None,
            exit: hostile.clone(),
            note: hostile,
        };
        let page = runs(&[entry]);
        assert!(!page.contains("<script>alert") && !page.contains('\u{1b}'));
    }
}
