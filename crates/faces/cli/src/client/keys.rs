//! `client key`: orders about the versions of a context's key, given as a principal and not as the home's owner.

use keywright_api::answer::VersionEntry;
use keywright_client::{Approvable, ApproveOrder, KeyAction, KeyOrder, KeyVersionsAnswer};
use keywright_types::{ApprovalId, KeyVersion, Name};
use serde::Serialize;

use super::connection::Connection;
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

#[derive(Debug, clap::Subcommand)]
pub(super) enum KeyCommand {
    /// Approve an order of somebody else, as the key is now; it counts for a day.
    Approve(Approve),
    /// Take the date of a destruction back.
    CancelDestroy(Versions),
    /// Destroy versions whose day has come.
    Destroy(Destroy),
    /// Take suspended versions up again.
    Resume(Versions),
    /// Let the active version seal no more; it still opens.
    Retire(Versions),
    /// Make a new version active and retire the one before.
    Rotate(Bare),
    /// Set the date of a destruction; nothing opens from now on.
    ScheduleDestroy(Versions),
    /// Forbid every use of versions, for now.
    Suspend(Versions),
    /// Show the versions, and how often they were used.
    Versions(Bare),
}

#[derive(Debug, clap::Args)]
pub(super) struct Bare {
    /// The context.
    #[arg(value_name = "CONTEXT")]
    context: Name,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Debug, clap::Args)]
pub(super) struct Versions {
    #[command(flatten)]
    bare: Bare,
    /// The version.
    // The name `version` is that of the flag which tells the program's.
    #[arg(
        id = "key_version",
        long = "key-version",
        value_name = "N",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    version: Option<u32>,
    /// Every version that the order concerns: the context as a whole.
    #[arg(long)]
    all: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct Destroy {
    #[command(flatten)]
    versions: Versions,
    /// Although it was used or asked for lately, or its campaign is open.
    #[arg(long)]
    despite_use: bool,
    /// Yes, for ever.
    #[arg(long, required = true)]
    yes: bool,
}

#[derive(Debug, clap::Args)]
pub(super) struct Approve {
    /// The order: `schedule-destroy`, or `destroy` despite use.
    #[arg(value_enum, value_name = "ORDER")]
    order: OrderName,
    #[command(flatten)]
    versions: Versions,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum OrderName {
    Destroy,
    ScheduleDestroy,
}

impl Versions {
    fn order(&self) -> KeyOrder {
        KeyOrder {
            version: self.version.map(KeyVersion::from_number),
            all: self.all,
            despite_use: false,
        }
    }
}

#[derive(Serialize)]
struct ChangedDocument<'a> {
    context: &'a Name,
    versions: &'a [VersionEntry],
}

#[derive(Serialize)]
struct RotatedDocument<'a> {
    context: &'a Name,
    key_version: KeyVersion,
}

#[derive(Serialize)]
struct ApprovedDocument<'a> {
    context: &'a Name,
    approval: ApprovalId,
    not_after: &'a str,
}

pub(super) fn run(command: KeyCommand, format: Format) -> Result<Exit, Failure> {
    match command {
        KeyCommand::Approve(words) => approve(&words, format),
        KeyCommand::CancelDestroy(words) => change(&words, KeyAction::CancelDestroy, format),
        KeyCommand::Destroy(words) => destroy(&words, format),
        KeyCommand::Resume(words) => change(&words, KeyAction::Resume, format),
        KeyCommand::Retire(words) => change(&words, KeyAction::Retire, format),
        KeyCommand::Rotate(words) => rotate(&words, format),
        KeyCommand::ScheduleDestroy(words) => change(&words, KeyAction::ScheduleDestroy, format),
        KeyCommand::Suspend(words) => change(&words, KeyAction::Suspend, format),
        KeyCommand::Versions(words) => versions(&words, format),
    }?;
    Ok(Exit::Ok)
}

fn change(words: &Versions, action: KeyAction, format: Format) -> Result<(), Failure> {
    give(&words.bare, (action, words.order()), format)
}

fn destroy(words: &Destroy, format: Format) -> Result<(), Failure> {
    let order = KeyOrder {
        despite_use: words.despite_use && words.yes,
        ..words.versions.order()
    };
    give(&words.versions.bare, (KeyAction::Destroy, order), format)
}

fn give(
    bare: &Bare,
    (action, order): (KeyAction, KeyOrder),
    format: Format,
) -> Result<(), Failure> {
    let client = bare.connection.open()?;
    let versions = client.key_order(&bare.context, action, order)?;
    let document = ChangedDocument {
        context: &bare.context,
        versions: &versions,
    };
    output::document(format, &document, || {
        let rows = versions
            .iter()
            .map(|entry| vec![entry.version.to_string(), entry.state.name().to_owned()]);
        table(["version", "state"], rows)
    })
}

fn rotate(bare: &Bare, format: Format) -> Result<(), Failure> {
    let key_version = bare.connection.open()?.key_rotate(&bare.context)?;
    let document = RotatedDocument {
        context: &bare.context,
        key_version,
    };
    output::document(format, &document, || {
        output::fields(&[("key version", key_version.to_string())])
    })
}

fn approve(words: &Approve, format: Format) -> Result<(), Failure> {
    let bare = &words.versions.bare;
    let KeyOrder { version, all, .. } = words.versions.order();
    let order = match words.order {
        OrderName::Destroy => Approvable::Destroy,
        OrderName::ScheduleDestroy => Approvable::ScheduleDestroy,
    };
    let order = ApproveOrder {
        order,
        version,
        all,
    };
    let approved = bare.connection.open()?.key_approve(&bare.context, order)?;
    let document = ApprovedDocument {
        context: &bare.context,
        approval: approved.approval,
        not_after: &approved.not_after,
    };
    output::document(format, &document, || {
        output::fields(&[
            ("approval", approved.approval.to_string()),
            ("until", approved.not_after.clone()),
        ])
    })
}

fn versions(bare: &Bare, format: Format) -> Result<(), Failure> {
    let answer: KeyVersionsAnswer = bare.connection.open()?.key_versions(&bare.context)?;
    output::document(format, &answer, || {
        let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
        let rows = answer.versions.iter().map(|version| {
            vec![
                version.version.to_string(),
                version.state.name().to_owned(),
                version.seals.to_string(),
                version.opens.to_string(),
                version.rewrapped.to_string(),
                version.refused.to_string(),
                or_none(&version.last_use),
                or_none(&version.last_open),
                or_none(&version.due),
            ]
        });
        let heading = [
            "version",
            "state",
            "seals",
            "opens",
            "moved",
            "refused",
            "last use",
            "last open",
            "due",
        ];
        table(heading, rows)
    })
}

fn table<const N: usize>(heading: [&str; N], rows: impl Iterator<Item = Vec<String>>) -> String {
    let heading = heading.map(str::to_owned).to_vec();
    output::table(&std::iter::once(heading).chain(rows).collect::<Vec<_>>())
}
