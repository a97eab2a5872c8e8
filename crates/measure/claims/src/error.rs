//! Why a file could not be read. What a file says wrongly is a finding, not an error.

/// Why a file of figures could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is not CSV.
    #[error("the file is not csv")]
    Csv(#[from] csv::Error),
    /// The file is not JSON.
    #[error("the file is not json")]
    Json(#[from] serde_json::Error),
    /// A claim has none or several of value, range and series, a figure that is no number, or a series of
    /// none or more than 1,000.
    #[error(
        "the claim {claim} needs exactly one value, range or series of 1 to 1,000 finite numbers"
    )]
    Figures {
        /// The claim's name.
        claim: String,
    },
    /// A relation has another number of operands than its kind takes, or a series where one figure is meant.
    #[error("the relation {relation} has operands that its kind does not take")]
    Operands {
        /// The relation's name.
        relation: String,
    },
    /// The bytes are not UTF-8.
    #[error("the file is not text")]
    Text,
    /// A tolerance is not a share from 0 to 1.
    #[error("the tolerance of the relation {relation} is not a share from 0 to 1")]
    Tolerance {
        /// The relation's name.
        relation: String,
    },
    /// The file is not TOML, or not a file of claims.
    #[error("the file is not a file of claims")]
    Toml(#[from] Box<toml::de::Error>),
    /// The file is larger than [`crate::MAX_BYTES`].
    #[error("the file is larger than {} bytes", crate::MAX_BYTES)]
    TooLarge,
    /// A relation adds or compares figures of different units.
    #[error("the relation {relation} compares figures of different units")]
    Units {
        /// The relation's name.
        relation: String,
    },
    /// A relation names a claim that is not there.
    #[error("the relation {relation} names the claim {claim}, which is not there")]
    UnknownClaim {
        /// The relation's name.
        relation: String,
        /// The missing claim.
        claim: String,
    },
    /// A file of claims of another version.
    #[error("claims of version {found} are not known, only version 1 is")]
    Version {
        /// The version that the file names.
        found: u32,
    },
}
