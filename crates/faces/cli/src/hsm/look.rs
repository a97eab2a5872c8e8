//! The commands that look at objects: list-objects, inspect-key, find-key, diff-keys.

use std::path::{Path, PathBuf};

use keywright_hsm::expected::Expected;
use keywright_hsm::inspection::{self, KeyMaterial};
use keywright_hsm::objects::{self, Everywhere, FindReport, Near, ObjectReport, Seen};
use keywright_hsm::{Access, Desk, Error, KeyChoice, Kind, Login, Secrets, TokenChoice};
use keywright_pkcs11_names::ObjectClass;

use super::answer::{Answer, Beside, Refusal};
use super::files;
use super::pin::UserPin;
use super::place::{Entry, Key, KeyName, Place, login};
use crate::exit::Exit;
use crate::output::table;

/// A token, a PIN and a key to look at.
#[derive(Debug, clap::Args)]
struct WhichWords {
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

/// A key of which every attribute is shown.
#[derive(Debug, clap::Args)]
pub(crate) struct InspectWords {
    #[command(flatten)]
    which: WhichWords,
    #[command(flatten)]
    reveal: Reveal,
}

/// Whether secrets are shown.
#[derive(Debug, clap::Args)]
struct Reveal {
    /// Show also the secret or private value of a key that the token gives away.
    #[arg(long)]
    reveal: bool,
}

impl Reveal {
    const fn secrets(&self) -> Secrets {
        match self.reveal {
            true => Secrets::Reveal,
            false => Secrets::Hide,
        }
    }
}

/// Objects to list.
#[derive(Debug, clap::Args)]
pub(crate) struct ObjectWords {
    #[command(flatten)]
    which: WhichWords,
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
    let named = which.place.key(&which.key)?;
    let desk = which.place.desk(beside, &which.pin, how, &[&named])?;
    public_only(&desk, beside);
    let report = objects::list(&desk, &named.choice(), which.class)?;
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

fn public_only(desk: &Desk, beside: &mut Beside) {
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
    let secrets = words.reveal.secrets();
    let words = &words.which;
    let how = (Access::Read, Entry::IfNamed);
    let named = words.place.key(&words.key)?;
    let desk = words.place.desk(beside, &words.pin, how, &[&named])?;
    public_only(&desk, beside);
    let choice = named.choice();
    let report = inspection::inspect(&desk, &choice, (words.class, secrets))?;
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
    /// Look in every token of the module. The PIN is for the one that is named; of the others public objects are seen.
    #[arg(long)]
    all_tokens: bool,
}

pub(super) fn find(words: &FindWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    if words.all_tokens {
        return everywhere(words, beside);
    }
    let how = (Access::Read, Entry::IfNamed);
    let named = words.place.key(&words.key)?;
    let desk = words.place.desk(beside, &words.pin, how, &[&named])?;
    public_only(&desk, beside);
    let choice = named.choice();
    let report = words.search(&desk, &choice)?;
    Ok(words.answer(&report, &choice))
}

impl FindWords {
    fn search(&self, desk: &Desk, choice: &KeyChoice<'_>) -> Result<FindReport, Error> {
        let near = match self.show_similar {
            true => Near::Show,
            false => Near::Ignore,
        };
        match &self.fingerprint {
            Some(print) => objects::find_print(desk, choice, print),
            None => objects::find(desk, choice, near),
        }
    }

    /// Finding none is a failure that tells what was found instead.
    fn answer(&self, report: &FindReport, choice: &KeyChoice<'_>) -> Answer {
        let mut rows: Vec<_> = report
            .keys
            .iter()
            .map(|key| row(&key.object, Detail::Flags))
            .collect();
        for (row, label) in rows.iter_mut().zip(holders(report)) {
            row.insert(0, label.to_owned());
        }
        let similar = report.similar.iter();
        rows.extend(similar.map(|near| {
            vec![
                "similar".to_owned(),
                near.label.clone(),
                near.reason.to_owned(),
            ]
        }));
        let answer = Answer::of(report).text(table(&rows));
        if !report.keys.is_empty() {
            return answer;
        }
        let missing = match &self.fingerprint {
            Some(print) => objects::none_has(print),
            None => choice.none("key", &report.similar),
        };
        answer.but(missing.into())
    }
}

/// The label of the token of each key, where more than one token was searched.
fn holders(report: &FindReport) -> impl Iterator<Item = &str> {
    let tokens = report.tokens.iter();
    tokens.flat_map(|token| std::iter::repeat_n(token.label.as_str(), token.keys_found))
}

/// Looks in every token of the module, with the PIN in the one that is named.
fn everywhere(words: &FindWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    let named = words.place.key(&words.key)?;
    let at = words.place.resolve(&[&named], beside)?;
    let module = at.load()?;
    let choice = named.choice();
    if choice.is_empty() && words.fingerprint.is_none() {
        return Err(Error::Unnamed("key").into());
    }
    let token = words.place.choice(&at);
    let home = match token.is_empty() {
        true => None,
        false => Some(token.find(&module)?),
    };
    if home.is_none() && words.pin.source()?.is_some() {
        return Err(Refusal::usage(
            "a PIN is for one token, and none is named",
            "name it with --label, --serial, --slot-id or --uri; the others are searched as well",
        ));
    }
    let mut found = Everywhere::new(match &words.fingerprint {
        Some(print) => print.clone(),
        None => choice.name(),
    });
    for info in module.tokens().map_err(Error::from)? {
        if !info.flags.is_initialized() {
            continue;
        }
        let token = module.token(info.slot);
        let login = match home.as_ref().is_some_and(|home| home.slot() == info.slot) {
            true => login(&token, &at, &words.pin, Entry::IfNamed, beside)?,
            false => None,
        };
        let seen = match login {
            Some(_) => Seen::All,
            None => Seen::Public,
        };
        let searched = Desk::open(&token, Access::Read, login, words.pin.caution())
            .and_then(|desk| words.search(&desk, &choice));
        let searched = match searched {
            // A PIN that is wrong, or a print that is none, is no matter of one token among others.
            Err(error) if seen == Seen::All || error.kind() == Kind::Usage => {
                return Err(error.into());
            }
            Err(error) => {
                let label = &info.label;
                beside
                    .warnings
                    .push(format!("the token {label:?} was not searched: {error}"));
                Err(error)
            }
            found => found,
        };
        found.add(&info, seen, searched);
    }
    let report = found.report();
    if report.tokens.iter().any(|token| !token.logged_in) {
        let told = "of the tokens without a log-in only public objects are seen";
        beside.warnings.push(told.to_owned());
    }
    Ok(words.answer(&report, &choice))
}

/// Two keys to compare.
#[derive(Debug, clap::Args)]
pub(crate) struct DiffWords {
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    pin: UserPin,
    /// The first key's label, or its PKCS#11 URI, which also chooses the token.
    #[arg(long, value_name = "LABEL")]
    key1_label: String,
    /// The second key's label, or its PKCS#11 URI, which may name another token, and with module-path another module;
    /// its pin-source is for that token.
    #[arg(
        long,
        value_name = "LABEL",
        required_unless_present = "against",
        conflicts_with = "against"
    )]
    key2_label: Option<String>,
    /// In place of a second key: a file (TOML) that says what attributes are expected to be.
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// The class of both [default: private, else secret-key, else public].
    #[arg(long, value_name = "CLASS", value_parser = class)]
    class: Option<ObjectClass>,
    /// With --against: show also the secret or private value of a key that the token gives away.
    #[arg(long, requires = "against", conflicts_with = "key2_label")]
    reveal: bool,
    /// End with 3 if they differ, or if the token gives nothing by which the keys themselves can be compared.
    #[arg(long)]
    fail_on_difference: bool,
}

pub(super) fn diff(words: &DiffWords, beside: &mut Beside) -> Result<Answer, Refusal> {
    // Whatever is wrong with a file is said before the token is asked for anything.
    let expected = words.against.as_deref().map(expected).transpose()?;
    let first = words.place.narrow(KeyName::read(&words.key1_label)?)?;
    let second = words.key2_label.as_deref().map(KeyName::read).transpose()?;
    let how = (Access::Read, Entry::IfNamed);
    let desk = words.place.desk(beside, &words.pin, how, &[&first])?;
    public_only(&desk, beside);
    let key = first.choice();
    let report = match (&second, &expected) {
        (Some(second), _) => {
            let elsewhere = other_desk(second, (&desk, &words.pin), beside)?;
            let other = (elsewhere.as_ref().unwrap_or(&desk), &second.choice());
            inspection::diff((&desk, &key), other, words.class)?
        }
        (None, Some((expected, name))) => inspection::diff_expected(
            (&desk, &key),
            (expected, name),
            (
                words.class,
                Reveal {
                    reveal: words.reveal,
                }
                .secrets(),
            ),
        )?,
        (None, None) => return Err(Error::Unnamed("second key").into()),
    };
    let different = report.differences.iter().map(|one| {
        let words = [&one.attribute, &one.key1_value, &one.key2_value];
        let mut row = vec![one.severity.to_owned()];
        row.extend(words.into_iter().cloned());
        row
    });
    let rows: Vec<_> = different.collect();
    let text = match report.key_material {
        _ if report.identical => "identical\n".to_owned(),
        Some(KeyMaterial::Unknown) => format!(
            "{}unknown whether it is the same key: the token gives no value, check value or public key of both\n",
            table(&rows)
        ),
        _ => table(&rows),
    };
    let exit = match words.fail_on_difference && !report.identical {
        true => Exit::Gate,
        false => Exit::Ok,
    };
    Ok(Answer::of(&report).text(text).exit(exit))
}

/// What a file says of a key, and the file's name.
fn expected(path: &Path) -> Result<(Expected, String), Refusal> {
    let name = path.display().to_string();
    let text = String::from_utf8(files::read(path)?)
        .map_err(|_| Refusal::usage(format!("{name} is not text"), "name the right file"))?;
    let read = Expected::read(&text).map_err(|error| {
        Refusal::usage(
            format!("{name}, {error}"),
            "write attributes as inspect-key shows them, such as CKA_SIGN = true",
        )
    })?;
    Ok((read, name))
}

/// A session with the token that the URI of a key names, if that is another one.
fn other_desk(
    key: &KeyName<'_>,
    (desk, pin): (&Desk, &UserPin),
    beside: &mut Beside,
) -> Result<Option<Desk>, Refusal> {
    let Some(uri) = key.uri() else {
        return Ok(None);
    };
    let own = desk.session().token();
    let (module, foreign) = match &uri.module_path {
        Some(path) => (super::place::load(&super::place::path(path))?, true),
        None => (own.module().clone(), false),
    };
    let choice = TokenChoice {
        uri: Some(uri),
        ..TokenChoice::default()
    };
    if !foreign && choice.is_empty() {
        return Ok(None);
    }
    let token = choice.find(&module)?;
    if token.slot() == own.slot() && token.module().path() == own.module().path() {
        return Ok(None);
    }
    // The PIN of the words is for the first token, and is not tried on another one.
    let login = match super::place::of_uri(uri) {
        Some(source) => Some(Login::Pin(source.read(pin.words(), &mut beside.warnings)?)),
        None => None,
    };
    if login.is_none() {
        let told = "the second token has no PIN: only its public objects are seen; add pin-source to the URI";
        beside.warnings.push(told.to_owned());
    }
    let desk = Desk::open(&token, Access::Read, login, pin.caution())?;
    Ok(Some(desk))
}
