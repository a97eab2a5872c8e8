//! config: what the commands would work with, and where each value comes from.
//!
//! Nothing is loaded, opened or read but the configuration: a PIN is named by its source alone.

use serde::Serialize;

use super::answer::{Answer, Beside, Refusal};
use super::pin::UserPin;
use super::place::{Origin, Place};
use crate::output::table;

/// A configuration to show.
#[derive(Debug, clap::Args)]
pub(crate) struct ConfigWords {
    /// What to do with it.
    #[arg(value_enum)]
    action: Action,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    pin: UserPin,
    /// Show also where each value comes from.
    #[arg(long)]
    origin: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Action {
    /// Show what other commands with the same words would work with.
    Show,
}

/// A value that is set.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    value: String,
    origin: String,
}

impl Row {
    fn new(name: impl Into<String>, value: impl Into<String>, origin: &Origin) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            origin: origin.to_string(),
        }
    }
}

pub(super) fn config(words: &ConfigWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let Action::Show = words.action;
    let rows = rows(words, beside)?;
    let shown: Vec<_> = rows
        .iter()
        .map(|row| {
            let mut shown = vec![row.name.clone(), row.value.clone()];
            shown.extend(words.origin.then(|| row.origin.clone()));
            shown
        })
        .collect();
    let data = serde_json::json!({ "values": rows });
    Ok(Answer::of(&data).text(table(&shown)))
}

fn rows(words: &ConfigWords, beside: &mut Beside) -> Result<Vec<Row>, Refusal> {
    let place = &words.place;
    let uri = place.module.read_uri(beside)?;
    let (settings, from) = place.module.settings()?;
    let mut rows = Vec::new();
    if let Some((path, origin)) = place.module.file() {
        rows.push(Row::new("config", path.display().to_string(), &origin));
    }
    if let Some(name) = place.module.sources().1 {
        rows.push(Row::new("profile", name, &Origin::Flag("profile")));
    }
    let module = place
        .module
        .module_of(uri.as_ref(), &settings, from.as_ref());
    if let Some((path, origin)) = module {
        rows.push(Row::new("module", path.display().to_string(), &origin));
        // It holds for the module that stands beside it.
        let wanted = settings
            .known_provider()
            .filter(|_| matches!(origin, Origin::File(..)));
        rows.extend(wanted.map(|provider| Row::new("provider", provider.name(), &origin)));
    }
    if let Some(uri) = &uri {
        // Written without a PIN that stands in it.
        rows.push(Row::new("uri", uri.to_string(), &Origin::Uri));
    }
    rows.extend(token(words, uri.as_ref(), (&settings, from.as_ref())));
    let pin = super::place::pin_origin(&words.pin, uri.as_ref(), (&settings, from.as_ref()))?;
    rows.extend(pin.map(|(value, origin)| Row::new("pin", value, &origin)));
    for (name, value) in &settings.env {
        rows.extend(
            from.as_ref()
                .map(|from| Row::new(format!("env.{name}"), value, from)),
        );
    }
    Ok(rows)
}

/// What names the token: flags, else the configuration, which does not count beside a URI of a token.
fn token(
    words: &ConfigWords,
    uri: Option<&keywright_hsm::Uri>,
    (settings, from): (&keywright_hsm::config::Settings, Option<&Origin>),
) -> Vec<Row> {
    let place = &words.place;
    let slot = place.slot_id.map(|slot| slot.to_string());
    let flags: [(&'static str, Option<&str>); 3] = [
        ("label", place.label.as_deref()),
        ("serial", place.serial.as_deref()),
        ("slot-id", slot.as_deref()),
    ];
    let named = |(name, value): (&'static str, Option<&str>)| {
        Some(Row::new(name, value?, &Origin::Flag(name)))
    };
    let by_flags: Vec<Row> = flags.into_iter().filter_map(named).collect();
    if !by_flags.is_empty() || uri.is_some_and(keywright_hsm::Uri::names_token) {
        return by_flags;
    }
    let Some(from) = from else { return Vec::new() };
    let all = [("label", &settings.token), ("serial", &settings.serial)];
    let set = all.into_iter();
    set.filter_map(|(name, value)| Some(Row::new(name, value.as_deref()?, from)))
        .collect()
}
