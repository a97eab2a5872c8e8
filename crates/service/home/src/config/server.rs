//! `[server]` and `[clients]`: where a node listens, as whom, and whom it believes.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Where the node listens, and as whom.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "as `Config`")]
pub struct Server {
    /// Address and port.
    pub listen: SocketAddr,
    /// Server threads; 0 for one per core.
    #[serde(default)]
    pub threads: usize,
    /// The server's certificate chain.
    pub certificate: PathBuf,
    /// The server's private key.
    pub key: PathBuf,
    /// Whether answers say where their time went.
    #[serde(default)]
    pub timing: bool,
}

/// Which client certificates are believed.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::exhaustive_structs, reason = "as `Config`")]
pub struct Clients {
    /// The trust anchors.
    pub authorities: PathBuf,
    /// One revocation list per anchor; without it every client is refused.
    pub revocation_lists: PathBuf,
    /// Certificates that are let in or kept out besides, at every listener.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub roster: Option<PathBuf>,
    /// Whether these files, and those of the listener of administration, are read again as soon as they change.
    #[serde(default)]
    pub follow: bool,
}
