//! What can be wrong with configuration and issuing. What is wrong with a peer is a
//! [`Refusal`](crate::Refusal).

use std::fmt;

/// Why a file could not be used or a certificate could not be made.
///
/// No variant holds text from a file: a private key may have been given where a certificate was due.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is not PEM.
    #[error("{0}: not PEM")]
    Pem(Role),
    /// PEM, but without a section of the kind that is needed.
    #[error("{0}: nothing of this kind in the file")]
    Empty(Role),
    /// A section whose content is not what its label says.
    #[error("{0}: cannot be read")]
    Malformed(Role),
    /// More than one private key.
    #[error("{0}: more than one key in the file")]
    Several(Role),
    /// A key that the backend does not support: only P-256, P-384, P-521, Ed25519 and RSA from 2048 bits.
    #[error("{0}: kind of key not supported")]
    Unsupported(Role),
    /// The private key belongs to another certificate.
    #[error("the private key does not belong to the certificate")]
    KeyMismatch,
    /// A trust anchor is not a certificate authority, or must not sign certificates and lists.
    #[error("client trust anchor {position} in the file is not a certificate authority")]
    AnchorNotAuthority {
        /// Counted from 1.
        position: usize,
    },
    /// Nobody could be revoked under this anchor, so nobody is let in.
    #[error("client trust anchor {position} in the file has no revocation list")]
    AnchorWithoutRevocationList {
        /// Counted from 1.
        position: usize,
    },
    /// A list in the name of an anchor that did not sign it.
    #[error("revocation list {position} in the file is not signed by the anchor it names")]
    RevocationListSignature {
        /// Counted from 1.
        position: usize,
    },
    /// Two lists of one issuer; which of them is the newer must not be a guess.
    #[error("revocation list {position} in the file is the second of its issuer")]
    RevocationListDuplicate {
        /// Counted from 1.
        position: usize,
    },
    /// A line of a list of certificates that is not understood; nothing of it is used.
    #[error("line {line} of the list of certificates is not understood")]
    Roster {
        /// Counted from 1.
        line: usize,
    },
    /// No protocol for ALPN.
    #[error("no application protocol was given")]
    NoProtocol,
    /// A subject text that is empty, over 64 characters, or holds control characters.
    #[error("a name in a certificate has 1 to 64 characters and no control characters")]
    SubjectText,
    /// A server certificate needs at least one DNS name or address, and DNS names must be valid.
    #[error("a server certificate needs valid DNS names or addresses")]
    ServerNames,
    /// A time that a certificate cannot hold, or an end before the start.
    #[error("the validity is empty or out of range")]
    Validity,
    /// The signing library refused.
    #[error("the certificate or list could not be made")]
    Issue(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The TLS library refused a configuration.
    #[error("the tls configuration was refused")]
    Configuration(#[source] rustls::Error),
    /// No randomness.
    #[error(transparent)]
    Randomness(#[from] keywright_primitives::Error),
}

/// What must not take the place of what is in force, because it would undo a revocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Older {
    /// A revocation list of an issuer whose newer one is in force.
    #[error("the revocation list is older than the one in force")]
    RevocationList,
    /// A list of certificates with a lower number.
    #[error("the list of certificates has number {given}, and number {in_force} is in force")]
    Roster {
        /// The number of the file.
        given: u64,
        /// The number in force.
        in_force: u64,
    },
    /// Another list of certificates with the number of the one in force.
    #[error(
        "the list of certificates has number {0}, as the one in force has, and says something else"
    )]
    SameNumber(u64),
}

/// What a file was read for; errors name this, never its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// The certificate of a certificate authority.
    Authority,
    /// A certificate chain.
    Certificate,
    /// The anchors of client certificates.
    ClientAnchors,
    /// A private key.
    PrivateKey,
    /// Revocation lists.
    RevocationLists,
    /// The roots under which a client trusts servers.
    ServerRoots,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Authority => "authority certificate",
            Self::Certificate => "certificate",
            Self::ClientAnchors => "client trust anchors",
            Self::PrivateKey => "private key",
            Self::RevocationLists => "revocation list",
            Self::ServerRoots => "server roots",
        })
    }
}
