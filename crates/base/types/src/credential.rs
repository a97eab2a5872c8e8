//! What a verified certificate says about its holder (design 7.25).

/// The facts of a client certificate whose chain, dates and revocation have been checked.
///
/// Only `keywright-tls` makes one from a connection, never from a header. Policy maps it to a
/// principal by exact byte equality of one of these facts.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "a plain record between the TLS crate and policy"
)]
pub struct Credential {
    /// SHA-256 of the SubjectPublicKeyInfo of the trust anchor that the chain ends in.
    pub anchor: [u8; 32],
    /// SHA-256 of the leaf's SubjectPublicKeyInfo.
    pub leaf_key: [u8; 32],
    /// SHA-256 of the leaf certificate.
    pub leaf: [u8; 32],
    /// The leaf's serial number, big-endian.
    pub serial: Vec<u8>,
    /// The leaf's subject, escaped and cut to 256 bytes, for logs only.
    pub subject: String,
    /// The subject's one common name.
    pub common_name: Option<String>,
    /// The subject's first organisational unit in DER order.
    pub organizational_unit: Option<String>,
    /// Subject alternative names that are URIs.
    pub san_uris: Vec<String>,
    /// Subject alternative names that are DNS names.
    pub san_dns: Vec<String>,
    /// The last second of the leaf's validity, seconds since 1970.
    pub not_after: u64,
}
