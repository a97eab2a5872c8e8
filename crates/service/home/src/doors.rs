//! The listeners of a node as TLS sees them: whose certificates each of them believes.
//!
//! There is one for everybody, and where the configuration has a section `[admin]`, one for administration besides.
//! That one may have anchors of its own; then a certificate that the one believes is a stranger's to the other. Who a
//! connection belongs to is looked up under the anchors of both, because rules name the anchor that they are about.

use std::sync::Arc;

use arc_swap::ArcSwap;
use keywright_clock::Clock;
use keywright_tls::{ClientTrust, Protocol, ServerConfig, ServerIdentity, server_config};

use crate::section::AdminSection;
use crate::{Config, HomeError, files};

/// The anchors and revocation lists that the configuration names.
pub(crate) struct Trust {
    /// All of them.
    pub(crate) all: Arc<ClientTrust>,
    /// Their files, one after the other.
    pub(crate) text: Vec<u8>,
    data: Arc<ClientTrust>,
    admin: Arc<ClientTrust>,
}

impl Trust {
    /// Reads the files.
    pub(crate) fn read(config: &Config, clock: &Clock) -> Result<Self, HomeError> {
        let new = |anchors: &[u8], lists: &[u8]| {
            ClientTrust::new(anchors, lists, clock.clone()).map(Arc::new)
        };
        let anchors = files::read(&config.clients.authorities)?;
        let lists = files::read(&config.clients.revocation_lists)?;
        let data = new(&anchors, &lists)?;
        let Some(own) = config.admin.as_ref().and_then(AdminSection::own) else {
            return Ok(Self {
                all: Arc::clone(&data),
                text: [anchors, lists].join(&b'\n'),
                admin: Arc::clone(&data),
                data,
            });
        };
        let (own_anchors, own_lists) = (files::read(own.0)?, files::read(own.1)?);
        let admin = new(&own_anchors, &own_lists)?;
        let anchors = [anchors, own_anchors].join(&b'\n');
        let lists = [lists, own_lists].join(&b'\n');
        Ok(Self {
            all: new(&anchors, &lists)?,
            text: [anchors, lists].join(&b'\n'),
            data,
            admin,
        })
    }
}

/// What handshakes are done with, at each listener.
pub(crate) struct Handshakes {
    data: Arc<ServerConfig>,
    admin: Arc<ServerConfig>,
}

impl Handshakes {
    /// With the certificate and key that the configuration names.
    pub(crate) fn new(config: &Config, trust: &Trust) -> Result<Self, HomeError> {
        let chain = files::read(&config.server.certificate)?;
        let key = keywright_secret::SecretBytes::from_vec(files::read(&config.server.key)?);
        let with = |trust: &Arc<ClientTrust>| {
            let identity = ServerIdentity::from_pem(&chain, key.expose())?;
            let protocols = [Protocol::Http2, Protocol::Http1];
            server_config(identity, Arc::clone(trust), &protocols)
        };
        Ok(Self {
            data: with(&trust.data)?,
            admin: with(&trust.admin)?,
        })
    }
}

/// The same, where listeners take them from.
pub(crate) struct Doors {
    pub(crate) data: Arc<ArcSwap<ServerConfig>>,
    pub(crate) admin: Arc<ArcSwap<ServerConfig>>,
}

impl Doors {
    pub(crate) fn new(handshakes: Handshakes) -> Self {
        Self {
            data: Arc::new(ArcSwap::new(handshakes.data)),
            admin: Arc::new(ArcSwap::new(handshakes.admin)),
        }
    }

    /// What the next handshakes are done with.
    pub(crate) fn replace(&self, handshakes: Handshakes) {
        self.data.store(handshakes.data);
        self.admin.store(handshakes.admin);
    }
}
