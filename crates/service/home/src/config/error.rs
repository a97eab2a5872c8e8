//! Why a configuration cannot be used: the key, and what is wrong with it.

use std::path::PathBuf;

/// Why a configuration cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("the configuration {0} cannot be read")]
    Read(PathBuf, #[source] std::io::Error),
    /// A key is unknown, missing or of the wrong type; the message names key and line.
    #[error("the configuration {0} is not valid: {1}")]
    Parse(PathBuf, Box<toml::de::Error>),
    /// A version that this program does not know.
    #[error("the configuration {0} has version {1}; this program reads version 1")]
    Version(PathBuf, u32),
    /// A file that the configuration names is not there.
    #[error("{key} names {path}, which cannot be read")]
    Missing {
        /// The key, with its section.
        key: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A key that another one makes necessary is missing.
    #[error("{key} is missing: {because}")]
    Needs {
        /// The key, with its section.
        key: &'static str,
        /// What makes it necessary.
        because: &'static str,
    },
    /// A key that another one leaves no room for.
    #[error("{key} has no place here: {because}")]
    Excess {
        /// The key, with its section.
        key: &'static str,
        /// What stands against it.
        because: &'static str,
    },
    /// A text that is not what its key takes.
    #[error("{key} is not valid: {reason}")]
    Value {
        /// The key, with its section.
        key: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A number outside its range.
    #[error("{key} is {value}; it must be {range}")]
    Range {
        /// The key, with its section.
        key: &'static str,
        /// What it says.
        value: u64,
        /// What it may say.
        range: &'static str,
    },
}
