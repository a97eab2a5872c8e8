//! The commands that look at objects: list-objects, inspect-key, find-key, diff-keys.

use keywright_hsm::Access;
use keywright_hsm::inspection;
use keywright_hsm::objects::{self, Near, ObjectReport};
use keywright_pkcs11_names::ObjectClass;

use super::answer::{Answer, Beside, Refusal};
use super::pin::UserPin;
use super::place::{Entry, Key, Named, OneWord, Place};
use crate::exit::Exit;
use crate::output::table;

/// A token, a PIN and a key to look at.
#[derive(Debug, clap::Args)]
pub(crate) struct InspectWords {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    pin: UserPin,
    #[command(flatten)]
    key: Key,
    /// Only objects of this class: public, private, secret-key, cert, data.
    #[arg(long, value_name = "CLASS", value_parser = class)]
    class: Option<ObjectClass>,
}

/// The same, to look at many.
#[derive(Debug, clap::Args)]
pub(crate) struct ObjectWords {
    #[command(flatten)]
    which: InspectWords,
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
    let (which, how) = (&words.which, (Access::Read, Entry::IfNamed));
    let (desk, at) = which.place.desk(beside, &which.pin, how)?;
    public_only(&desk, beside);
    let mut named = Named::default();
    let choice = at.key(&which.key, &mut named)?;
    let report = objects::list(&desk, &choice, which.class)?;
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
pub(super) enum Detail {
    Flags,
    Name,
}

pub(super) fn row(object: &ObjectReport, detail: Detail) -> Vec<String> {
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

pub(super) fn inspect(words: &InspectWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let how = (Access::Read, Entry::IfNamed);
    let (desk, at) = words.place.desk(beside, &words.pin, how)?;
    public_only(&desk, beside);
    let mut named = Named::default();
    let choice = at.key(&words.key, &mut named)?;
    let report = inspection::inspect(&desk, &choice, words.class)?;
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
    /// SHA-256 of the public key's SubjectPublicKeyInfo: hexadecimal digits, or what SSH prints of a key.
    #[arg(long, value_name = "PRINT", conflicts_with_all = ["key_label", "id"])]
    fingerprint: Option<String>,
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
    let report = match &words.fingerprint {
        Some(print) => objects::find_print(&desk, print)?,
        None => objects::find(&desk, &choice, near)?,
    };
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
    let answer = Answer::of(&report).text(table(&rows));
    if !report.keys.is_empty() {
        return Ok(answer);
    }
    let missing = match &words.fingerprint {
        Some(print) => objects::none_has(print),
        None => choice.none("key", &report.similar),
    };
    Ok(answer.but(missing.into()))
}

/// Two keys to compare.
#[derive(Debug, clap::Args)]
pub(crate) struct DiffWords {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    pin: UserPin,
    /// The first key's label, or its PKCS#11 URI.
    #[arg(long, value_name = "LABEL")]
    key1_label: String,
    /// The second key's label, or its PKCS#11 URI.
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
    let first = OneWord::read(&words.key1_label)?;
    let second = OneWord::read(&words.key2_label)?;
    let report = inspection::diff(&desk, &first.key(), &second.key(), words.class)?;
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
