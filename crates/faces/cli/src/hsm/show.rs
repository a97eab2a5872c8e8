//! The commands that look: info, list-slots, list-mechanisms, list-objects, inspect-key, find-key, diff-keys,
//! explain-error.

use keywright_hsm::explanation::{self, CodeReport};
use keywright_hsm::information;
use keywright_hsm::inspection;
use keywright_hsm::objects::{self, Near, ObjectReport};
use keywright_hsm::{Access, Context, KeyChoice, Module};
use keywright_pkcs11_names::explain::Placeholders;
use keywright_pkcs11_names::{Named as _, ObjectClass, ReturnCode, SpellingError};
use serde_json::json;

use super::answer::{Answer, Beside, Refusal};
use super::pin::UserPin;
use super::place::{Entry, Key, Named, Place};
use crate::exit::{Exit, Failure};
use crate::output::table;

/// A look at a module.
#[derive(Debug, clap::Args)]
pub(crate) struct ModuleWords {
    #[command(flatten)]
    place: Place,
}

impl ModuleWords {
    fn module(&self, beside: &mut Beside) -> Result<Module, Refusal> {
        self.place.resolve(beside)?.load()
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
}

pub(super) fn mechanisms(words: &MechanismWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let (token, _) = words.place.token(beside)?;
    let report = information::mechanisms(&token)?;
    let mut rows = Vec::new();
    for mechanism in &report.mechanisms {
        let mut row = vec![mechanism.value_hex.clone(), mechanism.name.clone()];
        if words.detailed {
            let sizes = (mechanism.min_key_size, mechanism.max_key_size);
            let sizes = match sizes {
                (Some(min), Some(max)) if max > 0 => format!("{min}-{max}"),
                _ => String::new(),
            };
            let capabilities = mechanism.capabilities.map(|all| all.words().join(" "));
            row.extend([
                mechanism.category.to_owned(),
                sizes,
                capabilities.unwrap_or_default(),
            ]);
        }
        rows.push(row);
    }
    Ok(Answer::of(&report).text(table(&rows)))
}

/// A token and a PIN, to look at objects.
#[derive(Debug, clap::Args)]
pub(crate) struct ObjectWords {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    pin: UserPin,
    #[command(flatten)]
    key: Key,
    /// Only objects of this class: public, private, secret-key, cert, data.
    #[arg(long, value_name = "CLASS", value_parser = class)]
    class: Option<ObjectClass>,
    /// Show also the flags of each. XTR is for a key that can be taken out under another key.
    #[arg(long)]
    detailed: bool,
}

pub(super) fn class(text: &str) -> Result<ObjectClass, String> {
    use keywright_hsm::uri::Type;
    let all = [
        Type::Certificate,
        Type::Data,
        Type::Private,
        Type::Public,
        Type::SecretKey,
    ];
    let known = all.into_iter().find(|known| known.name() == text);
    let named = known.map(Type::class).or_else(|| text.parse().ok());
    named.ok_or_else(|| "choose public, private, secret-key, cert or data".to_owned())
}

pub(super) fn objects(words: &ObjectWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let how = (Access::Read, Entry::IfNamed);
    let (desk, at) = words.place.desk(beside, &words.pin, how)?;
    public_only(&desk, beside);
    let mut named = Named::default();
    let choice = at.key(&words.key, &mut named)?;
    let report = objects::list(&desk, &choice, words.class)?;
    let detail = match words.detailed {
        true => Detail::Flags,
        false => Detail::Name,
    };
    let rows: Vec<_> = report
        .objects
        .iter()
        .map(|object| row(object, detail))
        .collect();
    Ok(Answer::of(&report).text(table(&rows)))
}

fn public_only(desk: &keywright_hsm::Desk, beside: &mut Beside) {
    if !desk.is_logged_in() {
        let told = "nobody is logged in: only public objects are seen; name a source of the PIN for the others";
        beside.warnings.push(told.to_owned());
    }
}

/// How much of an object a row shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Detail {
    Flags,
    Name,
}

fn row(object: &ObjectReport, detail: Detail) -> Vec<String> {
    let bare = |name: &Option<String>| {
        let name = name.clone().unwrap_or_default();
        name.trim_start_matches("CKO_")
            .trim_start_matches("CKK_")
            .to_ascii_lowercase()
    };
    let size = match (&object.curve, object.key_size_bits) {
        (Some(curve), _) => curve.clone(),
        (None, Some(bits)) => bits.to_string(),
        (None, None) => String::new(),
    };
    let mut row = vec![
        bare(&object.class),
        bare(&object.key_type),
        size,
        object.label.clone().unwrap_or_default(),
        object.id.clone(),
    ];
    if detail == Detail::Flags {
        row.push(object.flags.words().join(","));
    }
    row
}

pub(super) fn inspect(words: &ObjectWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let how = (Access::Read, Entry::IfNamed);
    let (desk, at) = words.place.desk(beside, &words.pin, how)?;
    public_only(&desk, beside);
    let mut named = Named::default();
    let choice = at.key(&words.key, &mut named)?;
    let report = inspection::inspect(&desk, &choice)?;
    let mut text = String::new();
    for object in &report.objects {
        let uri = ("uri", object.object.uri.clone());
        let prints = [
            ("fingerprint", &object.fingerprint),
            ("ssh", &object.ssh_fingerprint),
        ];
        let prints = prints
            .into_iter()
            .filter_map(|(name, value)| Some((name, value.clone()?)));
        let attributes = object.attributes.iter();
        let attributes = attributes.map(|one| (one.name.as_str(), one.value.clone()));
        let rows: Vec<_> = std::iter::once(uri)
            .chain(prints)
            .chain(attributes)
            .collect();
        text.push_str(&crate::output::fields(&rows));
        text.push('\n');
    }
    Ok(Answer::of(&report).text(text))
}

/// A key to look for.
#[derive(Debug, clap::Args)]
pub(crate) struct FindWords {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    pin: UserPin,
    #[command(flatten)]
    key: Key,
    /// If there is none, show labels that are spelt alike.
    #[arg(long)]
    show_similar: bool,
}

pub(super) fn find(words: &FindWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let how = (Access::Read, Entry::IfNamed);
    let (desk, at) = words.place.desk(beside, &words.pin, how)?;
    public_only(&desk, beside);
    let mut named = Named::default();
    let choice = at.key(&words.key, &mut named)?;
    let near = if words.show_similar {
        Near::Show
    } else {
        Near::Ignore
    };
    let report = objects::find(&desk, &choice, near)?;
    let mut rows: Vec<_> = report
        .keys
        .iter()
        .map(|key| row(&key.object, Detail::Flags))
        .collect();
    let similar = report.similar.iter();
    rows.extend(similar.map(|near| {
        vec![
            "similar".to_owned(),
            near.label.clone(),
            near.reason.to_owned(),
        ]
    }));
    let exit = if report.keys.is_empty() {
        Exit::NotFound
    } else {
        Exit::Ok
    };
    if report.keys.is_empty() {
        beside
            .warnings
            .push(format!("no key is {}", report.search_key));
    }
    Ok(Answer::of(&report).text(table(&rows)).exit(exit))
}

/// Two keys to compare.
#[derive(Debug, clap::Args)]
pub(crate) struct DiffWords {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    pin: UserPin,
    /// The first key's label.
    #[arg(long, value_name = "LABEL")]
    key1_label: String,
    /// The second key's label.
    #[arg(long, value_name = "LABEL")]
    key2_label: String,
    /// The class of both [default: private, else secret-key, else public].
    #[arg(long, value_name = "CLASS", value_parser = class)]
    class: Option<ObjectClass>,
    /// End with 3 if they differ.
    #[arg(long)]
    fail_on_difference: bool,
}

pub(super) fn diff(words: &DiffWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let how = (Access::Read, Entry::IfNamed);
    let (desk, _) = words.place.desk(beside, &words.pin, how)?;
    public_only(&desk, beside);
    let (first, second) = (
        KeyChoice::label(&words.key1_label),
        KeyChoice::label(&words.key2_label),
    );
    let report = inspection::diff(&desk, &first, &second, words.class)?;
    let different = report.differences.iter().map(|one| {
        let words = [&one.attribute, &one.key1_value, &one.key2_value];
        let mut row = vec![one.severity.to_owned()];
        row.extend(words.into_iter().cloned());
        row
    });
    let rows: Vec<_> = different.collect();
    let text = if report.identical {
        "identical\n".to_owned()
    } else {
        table(&rows)
    };
    let exit = match words.fail_on_difference && !report.identical {
        true => Exit::Gate,
        false => Exit::Ok,
    };
    Ok(Answer::of(&report).text(text).exit(exit))
}

/// A return code to explain.
#[derive(Debug, clap::Args)]
pub(crate) struct ExplainWords {
    /// The code: 0xA0, 160, CKR_PIN_INCORRECT, `pin incorrect`, or a whole message.
    #[arg(
        value_name = "CODE",
        required_unless_present = "list",
        allow_negative_numbers = true
    )]
    code: Vec<String>,
    /// What was being done, for the steps.
    #[arg(long, default_value = "general")]
    context: String,
    /// Show all codes.
    #[arg(long)]
    list: bool,
    /// The token's label, for the commands in the steps.
    #[arg(long, value_name = "LABEL")]
    label: Option<String>,
    /// The key's label, for the commands in the steps.
    #[arg(long, value_name = "LABEL")]
    key_label: Option<String>,
}

pub(super) fn explain(words: &ExplainWords) -> Result<Answer, Refusal> {
    if words.list {
        let list = explanation::list();
        let rows: Vec<_> = list
            .iter()
            .map(|line| {
                vec![
                    line.rv_hex.clone(),
                    line.code.to_owned(),
                    line.meaning.to_owned(),
                ]
            })
            .collect();
        let data = json!({ "code_count": list.len(), "codes": list });
        return Ok(Answer::of(&data).text(table(&rows)));
    }
    let context: Context = words.context.parse().map_err(|error: SpellingError| {
        let names = Context::ALL.map(Context::name).join(", ");
        Refusal::usage(
            format!("--context: {error}"),
            format!("choose one of {names}"),
        )
    })?;
    let names = Placeholders {
        token: words.label.as_deref(),
        key: words.key_label.as_deref(),
    };
    let report = explanation::explain(&words.code.join(" "), context, names);
    let report = report.map_err(|error| {
        let exit = match error {
            SpellingError::Unknown { .. } => Exit::NotFound,
            _ => Exit::Usage,
        };
        let count = ReturnCode::all().count();
        let advice = format!("keywright hsm explain-error --list shows all {count}");
        Failure::new(exit, error.to_string(), advice)
    })?;
    let text = in_words(&report);
    Ok(Answer::of(&report).text(text))
}

fn in_words(report: &CodeReport) -> String {
    let mut text = format!(
        "{} ({}, {})\n{}\n",
        report.code, report.rv_hex, report.rv, report.meaning
    );
    if let Some(other) = &report.other_reading {
        text.push_str(&format!("\nOr was it {other}?\n"));
    }
    let mut section = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            let lines = lines.iter().map(|line| format!("  {line}\n"));
            text.push_str(&format!("\n{title}\n{}", lines.collect::<String>()));
        }
    };
    section(
        "Causes, the likeliest first",
        report
            .causes
            .iter()
            .map(|cause| (*cause).to_owned())
            .collect(),
    );
    section("What to do first", vec![report.hint.clone()]);
    let steps = report.steps.iter().map(|step| match &step.command {
        Some(command) => format!("{}: {command}", step.text),
        None => step.text.to_owned(),
    });
    section("Steps", steps.collect());
    let ways = report.differences.iter();
    let ways = ways.map(|way| format!("{} ({}): {}", way.provider, way.versions, way.text));
    section("Tokens with their own ways", ways.collect());
    section("Answered by", vec![report.functions.join(", ")]);
    text
}
