//! What the files of the seed service do not say, written by whoever moves: its clients by name, the names that they
//! had before, and names for what can have its own here no more.

use keywright_types::Name;
use serde::Deserialize;

use crate::Error;

/// The list of clients.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Manifest {
    /// The clients.
    #[serde(default, rename = "client")]
    pub clients: Vec<Client>,
    /// Contexts whose name there is none here.
    #[serde(default, rename = "context")]
    pub contexts: Vec<Renamed>,
    /// The same for organisational units, which become groups.
    #[serde(default, rename = "unit")]
    pub units: Vec<Renamed>,
    #[serde(rename = "version")]
    _version: Version,
}

/// A client of the seed service, which becomes a principal.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Client {
    /// What the principal is called.
    pub name: Name,
    /// The common name of its certificate.
    pub common_name: String,
    /// Its first organisational unit.
    pub organizational_unit: String,
    /// Common names under which it sealed before.
    #[serde(default)]
    pub former_common_names: Vec<String>,
    /// First organisational units under which it sealed before.
    #[serde(default)]
    pub former_organizational_units: Vec<String>,
}

/// A name there, and what it is here.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Renamed {
    /// There.
    pub former: String,
    /// Here.
    pub name: Name,
}

/// The version of the list's form: 1.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "i64")]
struct Version;

impl TryFrom<i64> for Version {
    type Error = &'static str;

    fn try_from(number: i64) -> Result<Self, &'static str> {
        match number {
            1 => Ok(Self),
            _ => Err("this program reads version 1"),
        }
    }
}

impl Manifest {
    /// Reads the list.
    ///
    /// # Errors
    /// [`Error::Manifest`], with the line.
    pub fn parse(text: &str) -> Result<Self, Error> {
        toml::from_str(text).map_err(|error: toml::de::Error| {
            let start = error.span().map_or(0, |span| span.start);
            let before = text.get(..start).unwrap_or_default();
            Error::Manifest {
                line: 1 + before.matches('\n').count(),
                error: Box::new(error),
            }
        })
    }
}
