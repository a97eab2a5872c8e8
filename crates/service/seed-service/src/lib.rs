//! What the files of the seed service (hsm-service) say, as contexts, keys to read with, and a policy.
//!
//! * [`yaml`]: the part of YAML that those files are written in, within bounds.
//! * [`files`]: its configuration, its key metadata, its list of revoked clients.
//! * [`Manifest`]: what they do not say: the clients, and which names these had before.
//! * [`Plan`]: what follows from all of them. Nothing is carried out here.
#![forbid(unsafe_code)]

pub mod files;
#[doc(hidden)]
pub mod fuzzing;
mod manifest;
mod plan;
pub mod yaml;

pub use manifest::{Client, Manifest, Renamed};
pub use plan::{Given, Plan, PlannedContext, Warning, merged};

/// Why nothing can be planned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is no YAML, or none that is read here.
    #[error("the {0}: {1}")]
    Yaml(File, #[source] yaml::BadYaml),
    /// Something stands where something else must.
    #[error("the {file}: {place} must be {expects}")]
    Shape {
        /// In which file.
        file: File,
        /// Where: the keys that lead there, a point between two.
        place: String,
        /// What must stand there.
        expects: &'static str,
    },
    /// The list of clients cannot be read.
    #[error("the list of clients, line {line}: {}", error.message())]
    Manifest {
        /// Counted from one.
        line: usize,
        /// What is wrong there.
        error: Box<toml::de::Error>,
    },
    /// Two entries are for the same.
    #[error("the {file}: {place} stands there twice")]
    Twice {
        /// In which file.
        file: File,
        /// What.
        place: String,
    },
    /// A name there is none here.
    #[error("{0:?} can be no name here: give it one in the list of clients")]
    Name(String),
    /// Two names there would be one here.
    #[error("{0:?} differs from another name in case only: give it another in the list of clients")]
    SameName(String),
    /// The list of clients speaks of something that the other files do not have.
    #[error("the list of clients: {0:?} is in no other file")]
    Unknown(String),
    /// There are versions of a key of which the configuration says nothing.
    #[error("the key metadata: {0:?} is not under hsm.keys of the configuration")]
    KeyWithoutMode(String),
    /// The version that seals is none of those that there are.
    #[error("the key metadata: the current version of {0:?} is not among its versions")]
    CurrentMissing(String),
    /// A label cannot be kept.
    #[error("the key metadata: {0:?}: {1}")]
    Label(String, #[source] keywright_custody::reader::BadReader),
    /// What would be in the policy is there already, and is something else.
    #[error("the policy in force has another {kind} {name}")]
    Differs {
        /// A group or a principal.
        kind: &'static str,
        /// Its name.
        name: keywright_types::Name,
    },
    /// The policy would not fit together.
    #[error(transparent)]
    Policy(#[from] keywright_policy::Error),
}

/// One of the files that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are these four")]
pub enum File {
    /// The configuration.
    Config,
    /// The key metadata.
    Metadata,
    /// The list of revoked clients.
    Revoked,
    /// The list of clients that whoever moves wrote.
    Clients,
}

impl std::fmt::Display for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Config => "configuration",
            Self::Metadata => "key metadata",
            Self::Revoked => "revocation list",
            Self::Clients => "list of clients",
        })
    }
}
