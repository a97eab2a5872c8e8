//! Why something was not done.

/// An input that has a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// The context of an export.
    ExporterContext,
    /// The application's info.
    Info,
    /// A field of a negotiation.
    Negotiation,
    /// A message to seal.
    Plaintext,
    /// A pre-shared key.
    Psk,
    /// The id of a pre-shared key.
    PskId,
}

impl std::fmt::Display for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::ExporterContext => "exporter context",
            Self::Info => "info",
            Self::Negotiation => "negotiation field",
            Self::Plaintext => "plaintext",
            Self::Psk => "pre-shared key",
            Self::PskId => "id of the pre-shared key",
        })
    }
}

/// Why something was not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The caller's: the output buffer has fewer bytes than this. Nothing has happened.
    #[error("the output buffer is too small, {needed} bytes are needed")]
    BufferTooSmall {
        /// How many it must have.
        needed: usize,
    },
    /// The caller's: an export-only suite makes no context that seals or opens.
    #[error("the suite is export-only")]
    ExportOnly,
    /// The caller's: an export is longer than the key derivation allows.
    #[error("the export is longer than the key derivation allows")]
    ExportLength,
    /// The caller's: secret bytes to make a key of are too few, or not as many as are needed.
    #[error("the input keying material has another length than the key needs")]
    IkmLength,
    /// The caller's: a key belongs to another KEM than the suite, or than the other key.
    #[error("the key belongs to another KEM")]
    KeyMismatch,
    /// The caller's: a sender of this KEM cannot prove who he is.
    #[error("the KEM has no sender authentication")]
    ModeUnsupported,
    /// The caller's: a pre-shared key without id, an id without key, or either in a mode that has none.
    #[error("pre-shared key, its id and the mode do not fit together")]
    PskInconsistent,
    /// The caller's: a pre-shared key of fewer than 32 bytes.
    #[error("the pre-shared key is shorter than 32 bytes")]
    PskTooShort,
    /// The caller's, or the peer's: the suite is not on the list.
    #[error("the suite is not admitted")]
    SuiteRefused,
    /// The peer's: a number that stands for no suite here.
    #[error("the suite is not known")]
    SuiteUnknown,
    /// The caller's: an input is longer than its limit.
    #[error("the {0} is too long")]
    TooLong(Input),
    /// The caller's: a context has sealed or opened as many messages as it can count.
    #[error("the context has no sequence number left")]
    MessageLimit,
    /// The data's: bytes that are no key of this KEM.
    #[error("the key is malformed")]
    KeyRejected,
    /// The data's: with this public key there is no shared secret.
    #[error("the keys make no shared secret")]
    KeyAgreement,
    /// The data's: what came from the peer does not open. There is no further reason, by design.
    #[error("the message does not open")]
    Rejected,
    /// The environment's: no randomness, or the backend refused.
    #[error("the crypto backend failed")]
    Backend(#[from] keywright_primitives::Error),
}
