//! The table of docs/tokens.md is what the tokens do; the files of deploy/ are what a builder takes.

use std::path::PathBuf;

use keywright_tokens::{Kind, Store, together};
use serde_json::Value;

use crate::hsm::{Scene, document};

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../docs/tokens.md")
}

const BEGIN: &str = "<!-- capabilities -->\n";
const END: &str = "<!-- /capabilities -->\n";

const fn title(kind: Kind) -> &'static str {
    match kind {
        Kind::Kryoptic => "Kryoptic",
        Kind::SoftHsm => "SoftHSM 2",
    }
}

/// What the command says of each token, as a table.
fn table(stores: &[Store]) -> String {
    let told: Vec<Value> = stores
        .iter()
        .map(|store| {
            // Some tokens fail where they should say that they lack a thing, which is no success.
            document(&Scene::new(store).user(&["capabilities", "--json"]))["data"].clone()
        })
        .collect();
    let mut text = "|".to_owned();
    for store in stores {
        text += &format!(" | {}", title(store.kind()));
    }
    text += " |\n|---";
    text += &"|---".repeat(stores.len());
    text += "|\n| library";
    for one in &told {
        text += &format!(" | {}", one["library"].as_str().unwrap());
    }
    text += " |\n";
    let first = told[0]["capabilities"].as_array().unwrap();
    for (place, row) in first.iter().enumerate() {
        text += &format!("| {}", row["name"].as_str().unwrap());
        for one in &told {
            let cell = &one["capabilities"][place];
            assert_eq!(cell["name"], row["name"]);
            text += &match cell["reason"].as_str() {
                None => " | yes".to_owned(),
                Some(reason) if cell["failed"] == true => format!(" | failed: `{reason}`"),
                Some(reason) => format!(" | no: `{reason}`"),
            };
        }
        text += " |\n";
    }
    for (place, row) in told[0]["quirks"].as_array().unwrap().iter().enumerate() {
        text += &format!("| {}", row["name"].as_str().unwrap());
        for one in &told {
            text += &format!(" | {}", one["quirks"][place]["value"].as_str().unwrap());
        }
        text += " |\n";
    }
    text
}

/// The page up to the table, the table, and the rest.
fn parts(text: &str) -> (&str, &str, &str) {
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (table, after) = rest.split_once(END).unwrap();
    (before, table, after)
}

/// The line with the versions.
fn library(table: &str) -> Option<&str> {
    table.lines().find(|line| line.starts_with("| library"))
}

#[test]
fn the_page_of_tokens_is_what_they_do() {
    together(|stores| {
        let text = std::fs::read_to_string(page()).unwrap();
        let (_, written, _) = parts(&text);
        let found = table(stores);
        if library(written) != library(&found) {
            // Of another version the page says nothing.
            eprintln!(
                "skipped: the page is of {:?}, here are {:?}",
                library(written),
                library(&found)
            );
            return;
        }
        assert!(
            written == found,
            "write it anew: cargo test -p keywright-cli --test it write_the_table -- --ignored\n{found}"
        );
    });
}

#[test]
#[ignore = "writes docs/tokens.md"]
fn write_the_table() {
    together(|stores| {
        let text = std::fs::read_to_string(page()).unwrap();
        let (before, _, after) = parts(&text);
        let text = format!("{before}{BEGIN}{}{END}{after}", table(stores));
        std::fs::write(page(), text).unwrap();
    });
}

fn deploy(name: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../deploy");
    std::fs::read_to_string(folder.join(name)).unwrap()
}

/// Instructions of a container file with their words, lines that go on put together.
fn instructions(text: &str) -> Vec<(String, String)> {
    let lines = text
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'));
    let joined = lines.collect::<Vec<_>>().join("\n").replace("\\\n", " ");
    let lines = joined.lines().filter(|line| !line.trim().is_empty());
    lines
        .map(|line| {
            let (name, words) = line.split_once(' ').unwrap();
            (name.to_owned(), words.trim().to_owned())
        })
        .collect()
}

#[test]
fn the_container_file_has_known_instructions_and_runs_as_nobody_special() {
    let all = instructions(&deploy("Containerfile"));
    let known = [
        "FROM",
        "RUN",
        "WORKDIR",
        "COPY",
        "ENV",
        "USER",
        "VOLUME",
        "EXPOSE",
        "HEALTHCHECK",
        "ENTRYPOINT",
        "CMD",
    ];
    let mut stages = Vec::new();
    for (name, words) in &all {
        assert!(known.contains(&name.as_str()), "{name} {words}");
        if name == "FROM" {
            stages.extend(words.split_once(" AS ").map(|(_, stage)| stage.to_owned()));
        }
        if let Some(from) = words.strip_prefix("--from=") {
            let stage = from.split_whitespace().next().unwrap();
            assert!(stages.iter().any(|known| known == stage), "{words}");
        }
        if ["VOLUME", "ENTRYPOINT", "CMD"].contains(&name.as_str()) {
            let list: Vec<String> = serde_json::from_str(words).unwrap();
            assert!(!list.is_empty(), "{name}");
        }
    }
    let last = |wanted: &str| all.iter().rev().find(|(name, _)| name == wanted).unwrap();
    assert_eq!(last("USER").1, "keywright");
    assert_eq!(last("ENTRYPOINT").1, r#"["keywright"]"#);
    // The volume of the one file is that of the other.
    let volume: Vec<String> = serde_json::from_str(&last("VOLUME").1).unwrap();
    assert!(deploy("compose.yaml").contains(&format!("tokens:{}", volume[0])));
    assert!(deploy("compose.yaml").contains("dockerfile: deploy/Containerfile"));
}

/// The paths of the keys of a YAML file of mappings and lists, each a key below keys; refuses what else YAML has.
fn keys(text: &str) -> Vec<String> {
    let mut path: Vec<(usize, String)> = Vec::new();
    let mut found = Vec::new();
    for line in text.lines() {
        let body = line.trim_start();
        if body.is_empty() || body.starts_with('#') {
            continue;
        }
        assert!(!line.contains('\t'), "{line}");
        let depth = line.len() - body.len();
        assert_eq!(depth % 2, 0, "{line}");
        if body.starts_with("- ") {
            let above = path.last().expect("a list below a key");
            assert!(depth > above.0, "{line}");
            continue;
        }
        let (key, value) = body.split_once(':').expect("a key");
        assert!(value.is_empty() || value.starts_with(' '), "{line}");
        while path.last().is_some_and(|(other, _)| *other >= depth) {
            path.pop();
        }
        path.push((depth, key.to_owned()));
        let names: Vec<&str> = path.iter().map(|(_, key)| key.as_str()).collect();
        let whole = names.join(".");
        assert!(!found.contains(&whole), "twice: {whole}");
        found.push(whole);
    }
    found
}

#[test]
fn the_compose_file_limits_what_a_token_may_use() {
    let keys = keys(&deploy("compose.yaml"));
    for key in ["cpus", "mem_limit", "read_only", "cap_drop", "network_mode"] {
        let wanted = format!("x-hsm.{key}");
        assert!(keys.contains(&wanted), "{wanted}: {keys:?}");
    }
    for key in [
        "hsm.<<",
        "hsm.volumes",
        "hsm-in-memory.<<",
        "hsm-in-memory.tmpfs",
    ] {
        let wanted = format!("services.{key}");
        assert!(keys.contains(&wanted), "{wanted}: {keys:?}");
    }
    assert!(keys.contains(&"volumes.tokens".to_owned()));
}
