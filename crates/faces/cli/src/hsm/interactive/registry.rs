//! The menu and its forms, out of the definitions of the commands.

use clap::Subcommand as _;

use super::super::Command;

/// A command in the menu.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    pub(super) about: String,
    pub(super) group: &'static str,
    pub(super) fields: Vec<Definition>,
}

/// A word of a command.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    pub(super) id: String,
    /// Without the hyphens; none for a word that stands by itself.
    pub(super) long: Option<String>,
    pub(super) help: String,
    pub(super) kind: Kind,
    pub(super) required: bool,
    /// Whether it may begin with a hyphen, as flags of another program do.
    pub(super) hyphens: bool,
    pub(super) default: String,
}

/// How it is filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Toggle,
    Choice(Vec<String>),
    /// One value.
    Text,
    /// Several values with blanks between.
    Texts,
}

/// Never in a form: PINs in plain, and what would read the keys that are typed here.
const LEFT_OUT: [&str; 14] = [
    "json",
    "format",
    "help",
    "version",
    "user_pin",
    "so_pin",
    "insecure_pin_argv",
    "pin_stdin",
    "so_pin_stdin",
    "new_pin_stdin",
    "pin_fd",
    "so_pin_fd",
    "new_pin_fd",
    "pin_prompt_",
];

/// Where the words of commands stand in a form; all others stand between.
const LAST: [&str; 20] = [
    "pin_prompt",
    "final_try",
    "so_pin_prompt",
    "pin_file",
    "pin_env",
    "pin_cred",
    "so_pin_file",
    "so_pin_env",
    "so_pin_cred",
    "new_pin_file",
    "new_pin_env",
    "new_pin_cred",
    "label",
    "serial",
    "slot_id",
    "uri",
    "module",
    "config",
    "profile",
    "force",
];

/// The groups of the menu, each with its commands. What is not named here is in the last.
const GROUPS: [(&str, &[&str]); 6] = [
    (
        "Information",
        &[
            "info",
            "list-slots",
            "list-mechanisms",
            "list-objects",
            "capabilities",
        ],
    ),
    (
        "Token",
        &["init-token", "init-pin", "change-pin", "delete-token"],
    ),
    (
        "Key",
        &[
            "gen-keypair",
            "export-pubkey",
            "inspect-key",
            "delete-key",
            "gen-csr",
        ],
    ),
    (
        "Crypto",
        &["sign", "verify", "encrypt", "decrypt", "hash", "gen-random"],
    ),
    (
        "Symmetric",
        &[
            "gen-symmetric-key",
            "encrypt-symmetric",
            "decrypt-symmetric",
            "wrap-key",
            "unwrap-key",
            "gen-hmac-key",
            "hmac-sign",
            "hmac-verify",
            "gen-cmac-key",
            "cmac-sign",
            "cmac-verify",
        ],
    ),
    (
        "Troubleshooting",
        &[
            "explain-error",
            "find-key",
            "diff-keys",
            "audit-keys",
            "analyze",
            "config",
            "schema",
        ],
    ),
];
const REST: &str = "More";

/// The definitions of the commands, as the program has them.
fn registry() -> clap::Command {
    Command::augment_subcommands(clap::Command::new("hsm"))
}

/// Every command but the menu itself, by group.
pub(super) fn entries() -> Vec<Entry> {
    let registry = registry();
    let commands = registry.get_subcommands();
    let mut entries: Vec<_> = commands
        .filter(|command| !command.is_hide_set() && command.get_name() != "interactive")
        .map(entry)
        .collect();
    let place = |entry: &Entry| {
        let group = GROUPS.iter().position(|(name, _)| *name == entry.group);
        let within = GROUPS.iter().find(|(name, _)| *name == entry.group);
        let within =
            within.and_then(|(_, names)| names.iter().position(|name| *name == entry.name));
        (group.unwrap_or(GROUPS.len()), within.unwrap_or(usize::MAX))
    };
    entries.sort_by_key(place);
    entries
}

fn entry(command: &clap::Command) -> Entry {
    let name = command.get_name().to_owned();
    let group = GROUPS
        .iter()
        .find(|(_, names)| names.contains(&name.as_str()));
    let mut fields: Vec<_> = command
        .get_arguments()
        .filter(|arg| wanted(arg))
        .map(definition)
        .collect();
    let place = |field: &Definition| {
        let last = LAST.iter().position(|id| *id == field.id);
        last.map_or((u8::from(!field.required), 0), |place| (2, place))
    };
    fields.sort_by_key(place);
    Entry {
        group: group.map_or(REST, |(name, _)| name),
        about: command
            .get_about()
            .map(ToString::to_string)
            .unwrap_or_default(),
        name,
        fields,
    }
}

fn wanted(arg: &clap::Arg) -> bool {
    !arg.is_hide_set() && !arg.is_global_set() && !LEFT_OUT.contains(&arg.get_id().as_str())
}

fn definition(arg: &clap::Arg) -> Definition {
    let id = arg.get_id().to_string();
    let values: Vec<_> = arg
        .get_possible_values()
        .iter()
        .map(|value| value.get_name().to_owned())
        .collect();
    let default = arg.get_default_values().first();
    let default = default
        .map(|value| value.to_string_lossy().into_owned())
        .unwrap_or_default();
    let many = arg
        .get_num_args()
        .is_some_and(|range| range.max_values() > 1);
    let several = many || matches!(arg.get_action(), clap::ArgAction::Append);
    let takes = arg.get_action().takes_values();
    // Standard input is the keyboard here, so that a file must be named.
    let from_keyboard = default == "-" && id != "output";
    Definition {
        long: arg.get_long().map(str::to_owned),
        help: arg.get_help().map(ToString::to_string).unwrap_or_default(),
        kind: match (takes, values.is_empty()) {
            (false, _) => Kind::Toggle,
            (true, false) => Kind::Choice(values),
            (true, true) if several => Kind::Texts,
            (true, true) => Kind::Text,
        },
        required: arg.is_required_set() || from_keyboard,
        hyphens: arg.is_allow_hyphen_values_set(),
        default: if from_keyboard {
            String::new()
        } else {
            default
        },
        id,
    }
}
