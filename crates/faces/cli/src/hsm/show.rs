//! The commands that look at modules and tokens: info, list-slots, list-mechanisms, capabilities.

use keywright_hsm::capabilities::{self, CapabilityReport};
use keywright_hsm::information::{self, MechanismReport, MechanismsReport};
use keywright_hsm::{Access, Error, Module, TokenChoice, Uri};
use serde_json::json;

use super::answer::{Answer, Beside, Refusal};
use super::pin::UserPin;
use super::place::{Entry, ModulePlace, Place};
use crate::exit::{Exit, Failure};
use crate::output::table;

/// A look at a module.
#[derive(Debug, clap::Args)]
pub(crate) struct ModuleWords {
    #[command(flatten)]
    place: ModulePlace,
}

impl ModuleWords {
    fn module(&self, beside: &mut Beside) -> Result<Module, Refusal> {
        self.place.resolve(&[], beside)?.load()
    }
}

pub(super) fn info(words: &ModuleWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let report = information::module(&words.module(beside)?)?;
    let version = |version: information::Version| format!("{}.{}", version.major, version.minor);
    let text = crate::output::fields(&[
        ("library", report.library_description.clone()),
        ("version", version(report.library_version)),
        ("manufacturer", report.manufacturer_id.clone()),
        ("cryptoki", version(report.cryptoki_version)),
        ("interface", version(report.interface_version)),
        ("module", report.module_path.clone()),
        ("sha256", report.module_sha256.clone().unwrap_or_default()),
        (
            "provider",
            report.provider.unwrap_or("not known").to_owned(),
        ),
    ]);
    Ok(Answer::of(&report).text(text))
}

pub(super) fn slots(words: &ModuleWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let report = information::slots(&words.module(beside)?)?;
    let head = ["slot", "label", "serial", "model", "flags"].map(str::to_owned);
    let mut rows = vec![head.to_vec()];
    for slot in &report.all_slots {
        let token = slot.token.as_ref();
        let text =
            |field: fn(&information::TokenReport) -> String| token.map(field).unwrap_or_default();
        let flags = slot
            .error
            .clone()
            .unwrap_or_else(|| text(|token| short(&token.flags)));
        rows.push(vec![
            slot.slot_id.to_string(),
            text(|token| token.label.clone()),
            text(|token| token.serial_number.clone()),
            text(|token| token.model.clone()),
            flags,
        ]);
    }
    Ok(Answer::of(&report).text(table(&rows)))
}

fn short(flags: &[&str]) -> String {
    let words = flags.iter().map(|flag| flag.trim_start_matches("CKF_"));
    words
        .map(|flag| flag.to_ascii_lowercase().replace('_', "-"))
        .collect::<Vec<_>>()
        .join(",")
}

/// A token's mechanisms.
#[derive(Debug, clap::Args)]
pub(crate) struct MechanismWords {
    #[command(flatten)]
    place: Place,
    /// Show also what each is for and its key sizes.
    #[arg(long)]
    detailed: bool,
    /// Compare with the token of this URI, which may name another module.
    #[arg(long, value_name = "URI", conflicts_with = "detailed")]
    diff: Option<String>,
    /// With --diff: end with 3 if they differ.
    #[arg(long, requires = "diff")]
    fail_on_difference: bool,
}

pub(super) fn mechanisms(words: &MechanismWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let (token, _) = words.place.token(&[], beside)?;
    let report = information::mechanisms(&token)?;
    if let Some(other) = &words.diff {
        return compared(words, &report, (token.module(), other));
    }
    let mut rows = Vec::new();
    for mechanism in &report.mechanisms {
        let mut row = vec![mechanism.value_hex.clone(), mechanism.name.clone()];
        if words.detailed {
            let capabilities = mechanism.capabilities.map(|all| all.words().join(" "));
            row.extend([
                mechanism.category.to_owned(),
                sizes(mechanism),
                capabilities.unwrap_or_default(),
            ]);
        }
        rows.push(row);
    }
    Ok(Answer::of(&report).text(table(&rows)))
}

/// The mechanisms of a token beside those of another.
fn compared(
    words: &MechanismWords,
    report: &MechanismsReport,
    (module, other): (&Module, &str),
) -> Result<Answer, Refusal> {
    let uri: Uri = other.parse().map_err(Error::from)?;
    let module = match &uri.module_path {
        Some(path) => super::place::load(&super::place::path(path))?,
        None => module.clone(),
    };
    let choice = TokenChoice {
        uri: Some(&uri),
        ..TokenChoice::default()
    };
    let second = information::mechanisms(&choice.find(&module)?)?;
    let diff = information::diff(report, &second);
    let row =
        |sign: &str, one: &MechanismReport| vec![sign.to_owned(), one.name.clone(), sizes(one)];
    let mut rows: Vec<_> = diff.only_first.iter().map(|one| row("-", one)).collect();
    rows.extend(diff.only_second.iter().map(|one| row("+", one)));
    for changed in &diff.different {
        rows.push(row("<", &changed.first));
        rows.push(row(">", &changed.second));
    }
    let text = if diff.identical {
        "identical\n".to_owned()
    } else {
        table(&rows)
    };
    let exit = match words.fail_on_difference && !diff.identical {
        true => Exit::Gate,
        false => Exit::Ok,
    };
    Ok(Answer::of(&diff).text(text).exit(exit))
}

fn sizes(mechanism: &MechanismReport) -> String {
    match (mechanism.min_key_size, mechanism.max_key_size) {
        (Some(min), Some(max)) if max > 0 => format!("{min}-{max}"),
        _ => String::new(),
    }
}

/// A token to try.
#[derive(Debug, clap::Args)]
pub(crate) struct CapabilityWords {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    pin: UserPin,
}

pub(super) fn capabilities(
    words: &CapabilityWords,
    beside: &mut Beside,
) -> Result<Answer, Refusal> {
    let how = (Access::Read, Entry::Needed);
    let desk = words.place.desk(beside, &words.pin, how, &[])?;
    let report = capabilities::probe(&desk)?;
    let answer = Answer::of(&json!(report)).text(capability_table(&report));
    let failed: Vec<&str> = report.failures().map(|one| one.name).collect();
    if failed.is_empty() {
        return Ok(answer);
    }
    let failure = Failure::new(
        Exit::Target,
        format!(
            "the token {} failed at {}",
            report.token_label,
            failed.join(", ")
        ),
        "a failure is no lack: do not use the token for these before the cause is found",
    );
    Ok(answer.but(failure.into()))
}

fn capability_table(report: &CapabilityReport) -> String {
    let tried = report.capabilities.iter().map(|one| {
        let able = match (one.able, one.failed) {
            (true, _) => "yes",
            (false, true) => "failed",
            (false, false) => "no",
        };
        let reason = one.reason.clone().unwrap_or_default();
        vec![one.name.to_owned(), able.to_owned(), reason]
    });
    let quirks = report.quirks.iter();
    let quirks = quirks.map(|one| vec![one.name.to_owned(), one.value.clone()]);
    let rows: Vec<_> = tried.chain(quirks).collect();
    table(&rows)
}
