//! `docs/operations.md` says what the code does: every key of the configuration, and a policy that works.

use std::collections::BTreeMap;

use keywright_clock::Clock;
use keywright_home::{Config, Contents, create};
use keywright_password::Profile;
use keywright_policy::{Policy, PolicyDocument};
use keywright_types::TenantId;

const PAGE: &str = include_str!("../../../../../docs/operations.md");

/// The configuration of a new home, as `section.key` to its text in TOML.
fn keys_of_a_new_home() -> BTreeMap<String, String> {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    create(&home, Contents::Empty, Profile::Fast, &Clock::system()).unwrap();
    let config = home.join("keywright.toml");
    Config::read(&config).unwrap();
    let text = std::fs::read_to_string(config).unwrap();
    let table: toml::Table = text.parse().unwrap();
    let mut keys = BTreeMap::new();
    for (section, value) in table {
        match value {
            toml::Value::Table(section_keys) => {
                for (key, value) in section_keys {
                    keys.insert(format!("{section}.{key}"), value.to_string());
                }
            }
            value => drop(keys.insert(section, value.to_string())),
        }
    }
    keys
}

/// The rows of the page's table of keys: key to the value that a new home has.
fn documented_keys() -> BTreeMap<&'static str, &'static str> {
    let rows = section("## Configuration").lines().filter_map(|line| {
        let mut cells = line.strip_prefix("| `")?.split('|');
        let key = cells.next()?.trim().strip_suffix('`')?;
        Some((key, cells.next()?.trim().trim_matches('`')))
    });
    rows.collect()
}

/// The text under a heading, up to the next heading of its level.
fn section(heading: &str) -> &'static str {
    let (_, rest) = PAGE.split_once(&format!("\n{heading}\n")).unwrap();
    rest.split_once("\n## ")
        .map_or(rest, |(section, _)| section)
}

/// The first fenced block of a language under a heading.
fn block(heading: &str, language: &str) -> &'static str {
    let (_, rest) = section(heading)
        .split_once(&format!("```{language}\n"))
        .unwrap();
    rest.split_once("```").unwrap().0
}

#[test]
fn every_key_of_a_new_home_is_documented_with_its_value_and_no_other_is() {
    let (written, documented) = (keys_of_a_new_home(), documented_keys());
    assert!(written.len() > 20, "{written:?}");
    for (key, value) in &written {
        assert_eq!(documented.get(key.as_str()), Some(&value.as_str()), "{key}");
    }
    for key in documented.keys() {
        assert!(
            written.contains_key(*key),
            "{key} is documented and does not exist"
        );
    }
}

#[test]
fn every_key_of_a_token_is_documented_with_its_default_and_no_other_is() {
    let token = keywright_home::Token {
        serial: Some("1".to_owned()),
        uri: Some("pkcs11:".to_owned()),
        ..keywright_home::Token::new("m".into(), Some("l".to_owned()), "p".into())
    };
    let written: toml::Table = toml::to_string(&token).unwrap().parse().unwrap();
    let rows: BTreeMap<_, _> = section("## Token")
        .lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| `token.")?.split('|');
            let key = cells.next()?.trim().strip_suffix('`')?;
            Some((key, cells.next()?.trim().trim_matches('`')))
        })
        .collect();
    assert_eq!(rows.len(), written.len(), "{rows:?}");
    for (key, value) in &written {
        let default = rows
            .get(key.as_str())
            .copied()
            .unwrap_or_else(|| panic!("{key}"));
        let none = ["module", "label", "serial", "uri", "pin_file"].contains(&key.as_str());
        let expected = if none {
            String::new()
        } else {
            value.to_string()
        };
        assert_eq!(default, expected, "{key}");
    }
}

#[test]
fn the_example_of_a_token_is_a_section_that_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    create(&home, Contents::Empty, Profile::Fast, &Clock::system()).unwrap();
    let config = home.join("keywright.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    let example = block("## Token", "toml");
    std::fs::write(&config, format!("{text}\n{example}")).unwrap();
    let read = Config::read(&config).unwrap().token.unwrap();
    assert!(read.label.is_some() && read.pin_file.starts_with(&home));
}

/// A new home's configuration with more behind it.
fn read_with(more: &str) -> Config {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    create(&home, Contents::Empty, Profile::Fast, &Clock::system()).unwrap();
    let config = home.join("keywright.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, format!("{text}\n{more}")).unwrap();
    Config::read(&config).unwrap()
}

#[test]
fn every_key_of_traces_is_documented_with_its_default_and_the_example_is_read() {
    let (_, after) = section("## Watching").split_once("### Traces").unwrap();
    let rows: BTreeMap<_, _> = after
        .lines()
        .filter_map(|line| {
            let mut cells = line.strip_prefix("| `telemetry.")?.split('|');
            let key = cells.next()?.trim().strip_suffix('`')?;
            Some((key, cells.next()?.trim().trim_matches('`')))
        })
        .collect();
    let (_, example) = after.split_once("```toml\n").unwrap();
    let (example, _) = example.split_once("```").unwrap();
    let mut telemetry = read_with(example).telemetry.unwrap();
    telemetry.resource.insert("a".to_owned(), "b".to_owned());
    let written: toml::Table = toml::to_string(&telemetry).unwrap().parse().unwrap();
    assert_eq!(rows.len(), written.len(), "{rows:?}");
    for (key, value) in &written {
        let none = ["endpoint", "authorities", "resource"].contains(&key.as_str());
        let expected = match none {
            true => String::new(),
            false => value.to_string(),
        };
        assert_eq!(rows.get(key.as_str()), Some(&expected.as_str()), "{key}");
    }
}

#[test]
fn the_example_of_a_policy_compiles_and_breaks_with_a_key_that_does_not_exist() {
    let example = block("## Policy", "toml");
    let tenant = TenantId::from_bytes([7; 16]);
    let compile = |text: &str| {
        let mut document = PolicyDocument::parse(text)?;
        let mut next = 0;
        document.complete(|| {
            next += 1;
            [next; 16]
        });
        Policy::compile(
            &document,
            |name| (name.as_str() == "default").then_some(tenant),
            1,
        )
    };
    compile(example).unwrap();
    for (from, to) in [
        ("contexts", "context"),
        ("\"encrypt\"", "\"*\""),
        ("version = 1", "version = 2"),
    ] {
        assert!(example.contains(from), "{from}");
        assert!(compile(&example.replace(from, to)).is_err(), "{to}");
    }
}

#[test]
fn the_example_of_limits_goes_with_that_of_a_policy() {
    let (policy, rates) = section("## Policy").split_once("\n### Rates\n").unwrap();
    assert!(policy.contains("```toml"));
    let (_, rates) = rates.split_once("```toml\n").unwrap();
    let rates = rates.split_once("```").unwrap().0;
    let text = format!("{}\n{rates}", block("## Policy", "toml"));
    let document = PolicyDocument::parse(&text).unwrap();
    assert_eq!(document.limits.len(), 3);
}

#[test]
fn every_file_of_a_new_home_is_documented() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path().join("home");
    create(&home, Contents::Demo, Profile::Fast, &Clock::system()).unwrap();
    let table = section("## The home folder");
    let mut names = 0;
    for entry in std::fs::read_dir(&home).unwrap().map(Result::unwrap) {
        let name = entry.file_name().into_string().unwrap();
        let slash = if entry.file_type().unwrap().is_dir() {
            "/"
        } else {
            ""
        };
        assert!(table.contains(&format!("`{name}{slash}`")), "{name}");
        names += 1;
    }
    assert!(names > 10, "{names} files");
    for client in ["trading-1", "web-2fa-1"] {
        assert!(home.join(format!("clients/{client}.pem")).exists() && PAGE.contains(client));
    }
}
