//! Which module and which token: flags, a URI, the environment, a configuration file, in this order.
//!
//! Each value is known with what it comes from, which `config show` shows.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use keywright_hsm::config::{Settings, pin_path};
use keywright_hsm::{Access, Desk, Error, KeyChoice, Login, Module, Token, TokenChoice, Uri};
use keywright_pkcs11_names::explain::Provider;
use serde_json::json;

use super::answer::{Beside, Refusal};
use super::pin::{Source, UserPin, Wanted};

/// Which module.
#[derive(Debug, Default, clap::Args)]
pub struct ModulePlace {
    /// The file of the PKCS#11 module [else: the URI, KEYWRIGHT_PKCS11_MODULE, PKCS11_MODULE, the configuration].
    #[arg(long, value_name = "FILE")]
    pub module: Option<PathBuf>,
    /// The configuration file [else: KEYWRIGHT_HSM_CONFIG, keywright/hsm.toml in the user's and the system's folder].
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// The profile in the configuration file.
    #[arg(long, value_name = "NAME")]
    profile: Option<String>,
    /// A PKCS#11 URI (RFC 7512), which may name the module, a token and an object. All that is named must fit.
    #[arg(long, value_name = "URI")]
    pub uri: Option<String>,
}

/// Which token.
#[derive(Debug, Default, clap::Args)]
pub struct Place {
    /// Which module.
    #[command(flatten)]
    pub module: ModulePlace,
    /// The token's label.
    #[arg(long, value_name = "LABEL", aliases = ["token", "token-label"])]
    pub label: Option<String>,
    /// The token's serial number.
    #[arg(long, value_name = "SERIAL")]
    pub serial: Option<String>,
    /// The number of the token's slot, which may change when the module is loaded again.
    #[arg(long, value_name = "N", aliases = ["slot"])]
    pub slot_id: Option<u64>,
}

/// Which key.
#[derive(Debug, Default, clap::Args)]
pub struct Key {
    /// The key's label, or its PKCS#11 URI, which also chooses the token.
    #[arg(long, value_name = "LABEL")]
    pub key_label: Option<String>,
    /// The key's id in hexadecimal digits.
    #[arg(long, value_name = "HEX")]
    pub id: Option<String>,
}

/// Hexadecimal digits of a flag.
pub fn digits(flag: &str, text: &str) -> Result<Vec<u8>, Refusal> {
    let plain = text.replace(':', "").to_ascii_lowercase();
    keywright_encoding::hex::decode(&plain).map_err(|_| {
        Refusal::usage(
            format!("{flag} is not an even number of hexadecimal digits"),
            "write two digits for each byte",
        )
    })
}

/// Everything that is known of where to work.
pub struct Where {
    /// What all URIs of the words say of the token.
    uri: Option<Uri>,
    settings: Settings,
    module: PathBuf,
    /// Whether the configuration named the module.
    configured: bool,
}

/// A value, and what it comes from.
pub type Traced<T> = (T, Origin);

/// What a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A flag of the command.
    Flag(&'static str),
    /// The URI of the command.
    Uri,
    /// A variable of the environment.
    Variable(&'static str),
    /// A file of configuration, and the profile in it.
    File(PathBuf, Option<String>),
    /// It was found in one of the usual places.
    Usual,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Flag(name) => write!(f, "--{name}"),
            Self::Uri => f.write_str("--uri"),
            Self::Variable(name) => f.write_str(name),
            Self::File(path, None) => write!(f, "{}", path.display()),
            Self::File(path, Some(profile)) => {
                write!(f, "{}, profile {profile}", path.display())
            }
            Self::Usual => f.write_str("usual place"),
        }
    }
}

impl ModulePlace {
    /// Puts together flags, URIs, environment and configuration. Nothing is loaded yet. A URI that names one of
    /// `keys` says of token, module and PIN what --uri says.
    pub fn resolve(&self, keys: &[&KeyName<'_>], beside: &mut Beside) -> Result<Where, Refusal> {
        let mut uri = self.read_uri(beside)?;
        for key in keys.iter().filter_map(|key| key.uri.as_ref()) {
            warn_of_unknown(key, beside);
            let place = key.without_object();
            uri = Some(match &uri {
                Some(own) => own.without_object().and(&place)?,
                None => place,
            });
        }
        let (settings, from) = self.settings()?;
        super::environment::refuse_other(&settings.env)?;
        let module = self.module_of(uri.as_ref(), &settings, from.as_ref());
        let (module, origin) = module.ok_or_else(|| {
            Refusal::usage(
                "no PKCS#11 module is named",
                "add --module FILE, set KEYWRIGHT_PKCS11_MODULE, or write it into the configuration",
            )
        })?;
        refuse_writable(&module, "the module")?;
        Ok(Where {
            uri,
            settings,
            module,
            configured: matches!(origin, Origin::File(..)),
        })
    }

    /// The URI that is named, with a warning for each query attribute that means nothing here.
    pub fn read_uri(&self, beside: &mut Beside) -> Result<Option<Uri>, Refusal> {
        let uri = self.parsed_uri()?;
        uri.iter().for_each(|uri| warn_of_unknown(uri, beside));
        Ok(uri)
    }

    fn parsed_uri(&self) -> Result<Option<Uri>, Refusal> {
        let uri = self.uri.as_deref().map(str::parse::<Uri>).transpose();
        Ok(uri.map_err(Error::from)?)
    }

    /// The module that is named first in the order of places.
    pub fn module_of(
        &self,
        uri: Option<&Uri>,
        settings: &Settings,
        from: Option<&Origin>,
    ) -> Option<Traced<PathBuf>> {
        let by_flag = self.module.clone();
        let by_uri = uri.and_then(|uri| uri.module_path.as_deref()).map(path);
        let by_variable =
            |name| variable(name).map(|value| (PathBuf::from(value), Origin::Variable(name)));
        by_flag
            .map(|module| (module, Origin::Flag("module")))
            .or_else(|| by_uri.map(|module| (module, Origin::Uri)))
            .or_else(|| by_variable("KEYWRIGHT_PKCS11_MODULE"))
            .or_else(|| by_variable("PKCS11_MODULE"))
            .or_else(|| settings.module.clone().zip(from.cloned()))
    }

    /// The configuration file and the profile that are named.
    pub const fn sources(&self) -> (&Option<PathBuf>, &Option<String>) {
        (&self.config, &self.profile)
    }

    /// The one configuration file, if there is any.
    pub fn file(&self) -> Option<Traced<PathBuf>> {
        let by_flag = self.config.clone();
        let by_variable = || variable("KEYWRIGHT_HSM_CONFIG").map(PathBuf::from);
        by_flag
            .map(|path| (path, Origin::Flag("config")))
            .or_else(|| by_variable().map(|path| (path, Origin::Variable("KEYWRIGHT_HSM_CONFIG"))))
            .or_else(|| {
                let mut usual = usual_places().into_iter();
                usual
                    .find(|path| path.exists())
                    .map(|path| (path, Origin::Usual))
            })
    }

    /// What the configuration says, and where that stands.
    pub fn settings(&self) -> Result<(Settings, Option<Origin>), Refusal> {
        let path = match self.file() {
            Some((path, _)) => path,
            None if self.profile.is_some() => {
                return Err(Refusal::usage(
                    "a profile is named, and there is no configuration file",
                    "add --config FILE",
                ));
            }
            None => return Ok((Settings::default(), None)),
        };
        refuse_writable(&path, "the configuration")?;
        let text = std::fs::read_to_string(&path).map_err(|error| {
            Refusal::usage(
                format!("{} cannot be read: {error}", path.display()),
                "correct --config or KEYWRIGHT_HSM_CONFIG; no other file is used instead",
            )
        })?;
        let read = Settings::read(&path, &text, self.profile.as_deref());
        let settings = read.map_err(Error::from)?;
        Ok((settings, Some(Origin::File(path, self.profile.clone()))))
    }
}

fn warn_of_unknown(uri: &Uri, beside: &mut Beside) {
    for name in &uri.unknown_query {
        let told = format!("the query attribute {name} of the URI is not known here");
        if !beside.warnings.contains(&told) {
            beside.warnings.push(told);
        }
    }
}

impl Place {
    /// See [`ModulePlace::resolve`].
    pub fn resolve(&self, keys: &[&KeyName<'_>], beside: &mut Beside) -> Result<Where, Refusal> {
        self.module.resolve(keys, beside)
    }

    /// The key that flags and --uri name together.
    pub fn key<'a>(&self, key: &'a Key) -> Result<KeyName<'a>, Refusal> {
        let mut name = match key.key_label.as_deref() {
            Some(word) => KeyName::read(word)?,
            None => KeyName::default(),
        };
        name.id = key.id.as_deref().map(|id| digits("--id", id)).transpose()?;
        self.narrow(name)
    }

    /// The same key, of which --uri says something too.
    pub fn narrow<'a>(&self, mut name: KeyName<'a>) -> Result<KeyName<'a>, Refusal> {
        if let Some(own) = self.module.parsed_uri()? {
            name.uri = Some(match &name.uri {
                Some(uri) => own.and(uri)?,
                None => own,
            });
        }
        Ok(name)
    }

    /// Which token, of the flags and the URIs, else of the configuration.
    pub fn choice<'a>(&'a self, at: &'a Where) -> TokenChoice<'a> {
        let named = TokenChoice {
            label: self.label.as_deref(),
            serial: self.serial.as_deref(),
            slot: self.slot_id,
            uri: at.uri.as_ref(),
        };
        if !named.is_empty() {
            return named;
        }
        TokenChoice {
            label: at.settings.token.as_deref(),
            serial: at.settings.serial.as_deref(),
            ..named
        }
    }

    /// The one token that is meant, where `keys` are named.
    pub fn token(
        &self,
        keys: &[&KeyName<'_>],
        beside: &mut Beside,
    ) -> Result<(Token, Where), Refusal> {
        if keys.is_empty() {
            self.refuse_object()?;
        }
        let at = self.resolve(keys, beside)?;
        let module = at.load()?;
        let token = self.choice(&at).find(&module)?;
        beside.token = Some(token_line(&token));
        Ok((token, at))
    }

    /// Refuses a URI of an object for a command that works on a whole token: it would not be limited to the object.
    fn refuse_object(&self) -> Result<(), Refusal> {
        match self.module.parsed_uri()? {
            Some(uri) if uri.names_object() => Err(Refusal::usage(
                "--uri names an object, and this command works on a whole token",
                "leave object, type and id out of the URI",
            )),
            _ => Ok(()),
        }
    }

    /// A session with the one token that is meant, where `keys` are named.
    pub fn desk(
        &self,
        beside: &mut Beside,
        pin: &UserPin,
        (access, entry): (Access, Entry),
        keys: &[&KeyName<'_>],
    ) -> Result<Desk, Refusal> {
        let (token, at) = self.token(keys, beside)?;
        let login = login(&token, &at, pin, entry, beside)?;
        Ok(Desk::open(&token, access, login, pin.caution())?)
    }
}

/// Whether somebody logs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// If a source of the PIN is named.
    IfNamed,
    /// In any case.
    Needed,
}

/// The user's log-in to a token, if one is wanted or needed.
pub fn login(
    token: &Token,
    at: &Where,
    pin: &UserPin,
    entry: Entry,
    beside: &mut Beside,
) -> Result<Option<Login>, Refusal> {
    let flags = token.info().map_err(Error::from)?.flags;
    let source = match pin.source()? {
        Some(source) => Some(source),
        None => at.pin_source(),
    };
    match source {
        Some(source) => {
            let read = source.read(pin.words(), &mut beside.warnings)?;
            Ok(Some(Login::Pin(read)))
        }
        None if entry == Entry::IfNamed || !flags.needs_login() => Ok(None),
        None if flags.has_own_keypad() => Ok(Some(Login::Keypad)),
        None => {
            let read = Source::Prompt(Wanted::User).read(pin.words(), &mut beside.warnings)?;
            Ok(Some(Login::Pin(read)))
        }
    }
}

/// Where the user's PIN would come from, in words that hold nothing of it; none if the terminal would be asked or
/// nobody logs in.
pub fn pin_origin(
    pin: &UserPin,
    uri: Option<&Uri>,
    (settings, from): (&Settings, Option<&Origin>),
) -> Result<Option<Traced<String>>, Refusal> {
    if let Some((source, flag)) = pin.source()?.zip(pin.flag()) {
        return Ok(Some((source.shown(), Origin::Flag(flag))));
    }
    if let Some(source) = uri.and_then(of_uri) {
        return Ok(Some((source.shown(), Origin::Uri)));
    }
    let file = settings.pin_file().map(|path| Source::File(path).shown());
    Ok(file.zip(from.cloned()))
}

/// The source of the PIN that a URI names.
pub fn of_uri(uri: &Uri) -> Option<Source> {
    if let Some(value) = &uri.pin_value {
        let copy = keywright_secret::SecretBytes::from_vec(value.expose().to_vec());
        return Some(Source::Uri(copy));
    }
    let source = uri.pin_source.as_deref();
    source.map(|source| Source::File(pin_path(&String::from_utf8_lossy(source))))
}

/// Loads a module that the words of a command name, unless every user may change it.
pub fn load(path: &Path) -> Result<Module, Refusal> {
    refuse_writable(path, "the module")?;
    Ok(Module::load(path).map_err(Error::from)?)
}

impl Where {
    /// Loads the module. One that the configuration names must be of the provider that it names beside it.
    pub fn load(&self) -> Result<Module, Refusal> {
        let module = Module::load(&self.module).map_err(Error::from)?;
        if let Some(wanted) = self.settings.known_provider().filter(|_| self.configured) {
            let maker = module.info().map_err(Error::from)?.manufacturer;
            if Provider::recognise(&maker) != Some(wanted) {
                return Err(Refusal::usage(
                    format!(
                        "{} is made by {maker:?}, and the configuration wants {wanted}",
                        self.module.display()
                    ),
                    "correct module or provider in the configuration; no PIN was sent",
                ));
            }
        }
        Ok(module)
    }

    /// The source that the URI names, else the configuration.
    fn pin_source(&self) -> Option<Source> {
        let configured = || self.settings.pin_file().map(Source::File);
        self.uri.as_ref().and_then(of_uri).or_else(configured)
    }
}

/// A key as the words of a command name it.
#[derive(Default)]
pub struct KeyName<'a> {
    label: Option<&'a str>,
    id: Option<Vec<u8>>,
    uri: Option<Uri>,
}

impl<'a> KeyName<'a> {
    /// Reads one word: a label, or a PKCS#11 URI.
    pub fn read(word: &'a str) -> Result<Self, Refusal> {
        let mut name = Self::default();
        match Uri::is_meant(word) {
            true => name.uri = Some(word.parse().map_err(Error::from)?),
            false => name.label = Some(word),
        }
        Ok(name)
    }

    /// The URI that the word is, if it is one.
    pub const fn uri(&self) -> Option<&Uri> {
        self.uri.as_ref()
    }

    /// What to search for.
    pub fn choice(&self) -> KeyChoice<'_> {
        KeyChoice {
            label: self.label,
            id: self.id.as_deref(),
            uri: self.uri.as_ref(),
        }
    }
}

/// The token as documents show it.
fn token_line(token: &Token) -> serde_json::Value {
    match token.info() {
        Ok(info) => json!({
            "label": info.label,
            "serial": info.serial,
            "slot_id": info.slot.number(),
            "manufacturer": info.manufacturer,
            "model": info.model,
            "uri": Uri::of_token(&info).to_string(),
        }),
        Err(_) => json!({ "slot_id": token.slot().number() }),
    }
}

/// Bytes as a path.
pub fn path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

/// A variable of the environment that is not empty.
pub fn variable(name: &str) -> Option<std::ffi::OsString> {
    #[expect(clippy::disallowed_methods, reason = "the faces read the environment")]
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn usual_places() -> Vec<PathBuf> {
    let own = variable("XDG_CONFIG_HOME").map(PathBuf::from);
    let own = own.or_else(|| variable("HOME").map(|home| Path::new(&home).join(".config")));
    let folders = own.into_iter().chain([PathBuf::from("/etc")]);
    folders
        .map(|folder| folder.join("keywright/hsm.toml"))
        .collect()
}

/// A file that anybody may change decides about nothing.
fn refuse_writable(path: &Path, what: &str) -> Result<(), Refusal> {
    let writable =
        std::fs::metadata(path).is_ok_and(|about| about.is_file() && about.mode() & 0o002 != 0);
    if writable {
        return Err(Refusal::usage(
            format!("{what} {} may be changed by every user", path.display()),
            format!("chmod o-w {}", path.display()),
        ));
    }
    Ok(())
}
