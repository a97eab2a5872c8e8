//! The page of commands is what the commands say of themselves, and its examples are commands.

use std::path::PathBuf;

use crate::program::keywright;

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../docs/hsm/commands.md")
}

/// The names in the list that `keywright hsm --help` prints.
pub(crate) fn commands() -> Vec<String> {
    let help = keywright(&["hsm", "--help"]).text();
    let list = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    list.take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .map(str::to_owned)
        .collect()
}

fn written() -> String {
    let mut text = "# The `hsm` commands\n\nWritten from the commands themselves; `keywright hsm NAME --help` shows the same. How they end, and where\nmodule, token and PIN come from: [troubleshooting](troubleshooting.md).\n".to_owned();
    for name in commands() {
        let help = keywright(&["hsm", &name, "--help"]).text();
        let help: Vec<_> = help.lines().map(str::trim_end).collect();
        let help = help.join("\n");
        text.push_str(&format!(
            "\n## {name}\n\n```text\n{}\n```\n",
            help.trim_end()
        ));
    }
    text
}

#[test]
fn the_page_of_commands_is_what_they_say_of_themselves() {
    let page = std::fs::read_to_string(page()).unwrap();
    assert!(
        page == written(),
        "write it anew: cargo test -p keywright-cli --test it write_the_page -- --ignored"
    );
}

#[test]
#[ignore = "writes docs/hsm/commands.md"]
fn write_the_page() {
    std::fs::write(page(), written()).unwrap();
}

#[test]
fn every_command_has_both_forms_of_output_and_a_way_to_a_token() {
    let commands = commands();
    assert_eq!(commands.len(), 40, "{commands:?}");
    for name in &commands {
        let help = keywright(&["hsm", name, "--help"]).text();
        assert!(
            help.contains("--json") && help.contains("--format"),
            "{name}"
        );
        let named = matches!(name.as_str(), "explain-error" | "analyze" | "schema")
            || help.contains("--module");
        assert!(named, "{name}");
    }
}

#[test]
fn no_command_succeeds_without_a_module() {
    let needless = ["explain-error", "analyze", "config", "schema"];
    for name in commands()
        .iter()
        .filter(|name| !needless.contains(&name.as_str()))
    {
        let ended = keywright(&["hsm", name, "--json", "--module", "/nonexistent/module.so"]);
        assert!(ended.code == 2 || ended.code == 9, "{name}: {ended:?}");
        let document = crate::hsm::document(&ended);
        assert_eq!(document["error"]["exit"], ended.code, "{name}");
    }
}

/// The page of audits, with the table of the rules that are built in.
fn audit_page() -> PathBuf {
    page().with_file_name("audit.md")
}

fn with_rules(page: &str) -> String {
    let (head, rest) = page.split_once("<!-- rules -->").unwrap();
    let (_, tail) = rest.split_once("<!-- /rules -->").unwrap();
    let mut table = "| rule | severity | what is wrong | when |\n|---|---|---|---|\n".to_owned();
    for rule in keywright_hsm::audit::RuleSet::builtin().rules() {
        let when = rule.when.replace('|', "\\|");
        table.push_str(&format!(
            "| `{}` | {} | {} | `{when}` |\n",
            rule.id, rule.severity, rule.says
        ));
    }
    format!("{head}<!-- rules -->\n{table}<!-- /rules -->{tail}")
}

#[test]
fn the_page_of_audits_has_the_rules_that_are_built_in() {
    let page = std::fs::read_to_string(audit_page()).unwrap();
    assert!(
        page == with_rules(&page),
        "write it anew: cargo test -p keywright-cli --test it write_the_rules -- --ignored"
    );
}

#[test]
#[ignore = "writes the table of docs/hsm/audit.md"]
fn write_the_rules() {
    let page = std::fs::read_to_string(audit_page()).unwrap();
    std::fs::write(audit_page(), with_rules(&page)).unwrap();
}
