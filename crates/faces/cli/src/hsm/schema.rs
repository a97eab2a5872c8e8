//! schema: what the documents of these commands look like, as JSON Schema (2020-12).
//!
//! The files under docs/hsm/schemas are part of the program, so that what it prints and what it says of it come from
//! one place.

use serde_json::{Value, json};

use super::answer::{Answer, Refusal};
use crate::exit::{Exit, Failure};

/// A schema to show.
#[derive(Debug, clap::Args)]
pub(crate) struct SchemaWords {
    /// The command whose documents are meant, or `envelope` for what all have in common; without it all names are
    /// shown.
    #[arg(value_name = "COMMAND")]
    of: Option<String>,
}

macro_rules! files {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../../../docs/hsm/schemas/", $name, ".json")))),*]
    };
}

/// Every file, by the name of its command.
const FILES: &[(&str, &str)] = files![
    "analyze" "audit-keys" "benchmark" "capabilities" "change-pin" "cmac-sign" "cmac-verify" "config" "decrypt"
    "decrypt-symmetric" "delete-key" "delete-token" "diff-keys" "encrypt" "encrypt-symmetric" "envelope"
    "explain-error" "export-pubkey" "find-key" "gen-cmac-key" "gen-csr" "gen-hmac-key" "gen-keypair" "gen-random"
    "gen-symmetric-key" "hash" "hmac-sign" "hmac-verify" "info" "init-pin" "init-token" "inspect-key" "interactive"
    "list-mechanisms" "list-objects" "list-slots" "schema" "sign" "unwrap-key" "verify" "wrap-key"
];

pub(super) fn schema(words: &SchemaWords) -> Result<Answer, Refusal> {
    let Some(name) = words.of.as_deref() else {
        let names: Vec<&str> = FILES.iter().map(|(name, _)| *name).collect();
        let text = names.join("\n") + "\n";
        return Ok(Answer::of(&json!({ "schemas": names })).text(text));
    };
    let found = FILES.iter().find(|(known, _)| *known == name);
    let (name, text) = found.ok_or_else(|| {
        Failure::new(
            Exit::NotFound,
            format!("no command {name:?} has a schema"),
            "keywright hsm schema lists the names",
        )
    })?;
    let schema: Value = serde_json::from_str(text)
        .map_err(|error| Failure::broken(format!("the schema of {name} is no JSON: {error}")))?;
    Ok(Answer::of(&json!({ "name": name, "schema": schema })).text(*text))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::Subcommand as _;

    use super::*;

    /// The names of the commands, as the program has them.
    fn commands() -> BTreeSet<String> {
        let registry = super::super::Command::augment_subcommands(clap::Command::new("hsm"));
        let names = registry.get_subcommands().map(clap::Command::get_name);
        names.map(str::to_owned).collect()
    }

    #[test]
    fn every_command_has_a_schema_of_its_own_and_no_other_is_there() {
        let described: BTreeSet<String> =
            FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(described.len(), FILES.len(), "a name stands twice");
        let mut expected = commands();
        expected.insert("envelope".to_owned());
        assert_eq!(described, expected);
    }

    #[test]
    fn every_schema_names_its_command_and_shares_the_common_parts() {
        let read = |text: &str| -> Value { serde_json::from_str(text).unwrap() };
        let (_, envelope) = FILES.iter().find(|(name, _)| *name == "envelope").unwrap();
        let envelope = read(envelope);
        for (name, text) in FILES {
            let schema = read(text);
            for part in [
                "/$schema",
                "/$defs/error",
                "/$defs/token",
                "/properties/warnings",
                "/properties/schema_version",
            ] {
                assert!(schema.pointer(part).is_some(), "{name}: {part}");
                assert_eq!(
                    schema.pointer(part),
                    envelope.pointer(part),
                    "{name}: {part}"
                );
            }
            assert_eq!(
                schema["$id"],
                format!("https://keywright.dev/schema/hsm/1.0/{name}")
            );
            assert_eq!(schema["additionalProperties"], false, "{name}");
            if *name != "envelope" {
                assert_eq!(schema["properties"]["command"]["const"], *name);
                assert_eq!(
                    schema["properties"]["schema"]["const"],
                    format!("keywright.hsm.{name}")
                );
            }
        }
    }

    #[test]
    fn a_name_that_no_command_has_is_not_found() {
        for name in ["", "Sign", "sign.json", "../sign", "hsm"] {
            let words = SchemaWords {
                of: Some(name.to_owned()),
            };
            assert!(
                matches!(schema(&words), Err(Refusal::Face(failure)) if failure.exit == Exit::NotFound),
                "{name}"
            );
        }
    }
}
