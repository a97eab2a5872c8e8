//! The files of the seed service. What is not needed here is passed over: addresses, limits, logging.

use keywright_custody::reader::FormerName;
use keywright_encoding::hex;

use crate::yaml::{self, Node};
use crate::{Error, File};

/// Its configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// `hsm.keys`: its contexts.
    pub keys: Vec<Key>,
    /// `acl.mappings`: organisational units, and the contexts that each may use.
    pub mappings: Vec<(String, Vec<String>)>,
}

/// A context of that service.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Key {
    /// Its name.
    pub context: String,
    /// What its mode puts into the associated data.
    pub name: FormerName,
    /// Whether its type is the one that was ever used; the other was accepted and skipped.
    pub is_aes: bool,
}

impl Config {
    /// Reads the file.
    ///
    /// # Errors
    /// [`Error::Yaml`], [`Error::Shape`].
    pub fn parse(text: &str) -> Result<Self, Error> {
        let file = File::Config;
        let root = yaml::read(text).map_err(|error| Error::Yaml(file, error))?;
        let root = Place::root(file, &root);
        let keys = root.at("hsm")?.at("keys")?.entries()?;
        let keys = keys.into_iter().map(|(name, place)| key(name, &place));
        let mappings = root.at("acl")?.at("mappings")?.entries()?;
        let mappings = mappings.into_iter().map(|(unit, place)| {
            let contexts = place.items()?;
            let contexts: Result<_, _> = contexts.iter().map(Place::text).collect();
            Ok((unit.to_owned(), contexts?))
        });
        Ok(Self {
            keys: keys.collect::<Result<_, Error>>()?,
            mappings: mappings.collect::<Result<_, Error>>()?,
        })
    }
}

fn key(context: &str, place: &Place<'_>) -> Result<Key, Error> {
    let name = match place.at("mode")?.text_or("private")?.as_str() {
        "private" => FormerName::CommonName,
        "shared" => FormerName::OrganizationalUnit,
        _ => return Err(place.at("mode")?.refuse("private or shared")),
    };
    let is_aes = match place.at("type")?.text_or("aes")?.as_str() {
        "aes" => true,
        "rsa" => false,
        _ => return Err(place.at("type")?.refuse("aes or rsa")),
    };
    Ok(Key {
        context: context.to_owned(),
        name,
        is_aes,
    })
}

/// Its key metadata: the versions of each context, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metadata {
    /// Contexts and their versions.
    pub contexts: Vec<Versions>,
}

/// The versions of a context.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Versions {
    /// The context.
    pub context: String,
    /// The labels of its keys.
    pub labels: Vec<String>,
    /// Whether any came with a checksum, which was of the label and says nothing of the key.
    pub has_checksums: bool,
}

impl Metadata {
    /// Reads the file.
    ///
    /// # Errors
    /// [`Error::Yaml`], [`Error::Shape`], [`Error::Twice`], [`Error::CurrentMissing`].
    pub fn parse(text: &str) -> Result<Self, Error> {
        let file = File::Metadata;
        let root = yaml::read(text).map_err(|error| Error::Yaml(file, error))?;
        let rotation = Place::root(file, &root).at("rotation")?.entries()?;
        let contexts = rotation
            .into_iter()
            .map(|(name, place)| versions(name, &place));
        let contexts: Vec<Versions> = contexts.collect::<Result<_, _>>()?;
        let mut labels: Vec<&String> = contexts.iter().flat_map(|one| &one.labels).collect();
        labels.sort();
        // A search in the token would return either.
        let twice = labels.windows(2).find(|pair| pair.first() == pair.last());
        if let Some(twice) = twice.and_then(<[_]>::first) {
            let place = format!("the label {twice}");
            return Err(Error::Twice { file, place });
        }
        Ok(Self { contexts })
    }
}

fn versions(context: &str, place: &Place<'_>) -> Result<Versions, Error> {
    let mut versions = Versions {
        context: context.to_owned(),
        labels: Vec::new(),
        has_checksums: false,
    };
    for version in place.at("versions")?.items()? {
        versions.labels.push(version.at("label")?.text()?);
        versions.has_checksums |= !version.at("checksum")?.is_empty();
    }
    let current = place.at("current")?;
    if !current.is_empty() && !versions.labels.contains(&current.text()?) {
        return Err(Error::CurrentMissing(context.to_owned()));
    }
    Ok(versions)
}

/// Its list of revoked clients.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Revocations {
    /// In the order of the file.
    pub revoked: Vec<RevokedClient>,
}

/// A client that was revoked. That service looked at the common name alone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RevokedClient {
    /// The common name.
    pub common_name: String,
    /// The serial number of its certificate, where it is one.
    pub serial: Option<Vec<u8>>,
    /// Whether something stands there that is no serial number.
    pub odd_serial: bool,
    /// Why, as it is written.
    pub reason: String,
}

impl Revocations {
    /// Reads the file.
    ///
    /// # Errors
    /// [`Error::Yaml`], [`Error::Shape`], [`Error::Twice`].
    pub fn parse(text: &str) -> Result<Self, Error> {
        let file = File::Revoked;
        let root = yaml::read(text).map_err(|error| Error::Yaml(file, error))?;
        let list = Place::root(file, &root).at("revoked")?;
        // An empty file would revoke nobody: it must say so itself.
        if list.is_missing() {
            return Err(list.refuse("a list, also if it is empty"));
        }
        let mut revoked: Vec<RevokedClient> = Vec::new();
        for place in list.items()? {
            let common_name = place.at("cn")?.text()?;
            if common_name.is_empty() {
                return Err(place.at("cn")?.refuse("a common name"));
            }
            if revoked.iter().any(|one| one.common_name == common_name) {
                let place = place.at("cn")?.path;
                return Err(Error::Twice { file, place });
            }
            let written = place.at("serial")?.text_or("")?;
            let serial = serial(&written);
            revoked.push(RevokedClient {
                common_name,
                odd_serial: serial.is_none() && !written.is_empty(),
                serial,
                reason: place.at("reason")?.text_or("")?,
            });
        }
        Ok(Self { revoked })
    }
}

/// A serial number as `openssl` writes it: hexadecimal digits of any case, colons between two or not.
fn serial(text: &str) -> Option<Vec<u8>> {
    let digits: String = text.chars().filter(|c| *c != ':').collect();
    let digits = digits.to_ascii_lowercase();
    let digits = digits.strip_prefix("0x").unwrap_or(&digits);
    let odd = if digits.len() % 2 == 1 { "0" } else { "" };
    let bytes = hex::decode(&format!("{odd}{digits}")).ok()?;
    let start = bytes.iter().position(|byte| *byte != 0)?;
    let bytes = bytes.get(start..)?.to_vec();
    // RFC 5280, 4.1.2.2.
    (bytes.len() <= 20).then_some(bytes)
}

/// A part of a file, and the keys that lead there.
struct Place<'n> {
    file: File,
    path: String,
    node: Option<&'n Node>,
}

impl<'n> Place<'n> {
    const fn root(file: File, node: &'n Node) -> Self {
        Self {
            file,
            path: String::new(),
            node: Some(node),
        }
    }

    fn under(&self, name: &str, node: Option<&'n Node>) -> Self {
        let path = match self.path.as_str() {
            "" => name.to_owned(),
            path => format!("{path}.{name}"),
        };
        Self {
            file: self.file,
            path,
            node,
        }
    }

    fn refuse(&self, expects: &'static str) -> Error {
        let place = match self.path.as_str() {
            "" => "the document",
            path => path,
        };
        Error::Shape {
            file: self.file,
            place: place.escape_debug().to_string(),
            expects,
        }
    }

    /// What stands under a key of a table; nothing of nothing.
    fn at(&self, key: &str) -> Result<Self, Error> {
        match self.node {
            None | Some(Node::Empty) => Ok(self.under(key, None)),
            Some(Node::Table(entries)) => {
                let found = entries.iter().find(|(name, _)| name == key);
                Ok(self.under(key, found.map(|(_, node)| node)))
            }
            Some(_) => Err(self.refuse("a table")),
        }
    }

    const fn is_missing(&self) -> bool {
        self.node.is_none()
    }

    const fn is_empty(&self) -> bool {
        matches!(self.node, None | Some(Node::Empty))
    }

    fn entries(&self) -> Result<Vec<(&'n str, Self)>, Error> {
        match self.node {
            None | Some(Node::Empty) => Ok(Vec::new()),
            Some(Node::Table(entries)) => {
                let entries = entries.iter();
                let entries =
                    entries.map(|(key, node)| (key.as_str(), self.under(key, Some(node))));
                Ok(entries.collect())
            }
            Some(_) => Err(self.refuse("a table")),
        }
    }

    fn items(&self) -> Result<Vec<Self>, Error> {
        match self.node {
            None | Some(Node::Empty) => Ok(Vec::new()),
            Some(Node::List(list)) => {
                let items = (1..).zip(list);
                let items =
                    items.map(|(number, node)| self.under(&format!("{number}"), Some(node)));
                Ok(items.collect())
            }
            Some(_) => Err(self.refuse("a list")),
        }
    }

    fn text(&self) -> Result<String, Error> {
        match self.node {
            Some(Node::Text(text)) => Ok(text.clone()),
            _ => Err(self.refuse("a text")),
        }
    }

    fn text_or(&self, usual: &str) -> Result<String, Error> {
        match self.is_empty() {
            true => Ok(usual.to_owned()),
            false => self.text(),
        }
    }
}
