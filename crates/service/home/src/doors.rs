//! The listeners of a node as TLS sees them: whose certificates each of them believes.
//!
//! There is one for everybody, and where the configuration has a section `[admin]`, one for administration besides.
//! That one may have anchors of its own; then a certificate that the one believes is a stranger's to the other. Who a
//! connection belongs to is looked up under the anchors of both, because rules name the anchor that they are about.

use std::sync::Arc;

use arc_swap::ArcSwap;
use keywright_clock::Clock;
use keywright_tls::{
    ClientTrust, Error as TlsError, Protocol, Roster, ServerConfig, ServerIdentity, server_config,
};

use crate::section::AdminSection;
use crate::{Config, HomeError, files};

/// The anchors and revocation lists that the configuration names, with its list of certificates, which holds at every
/// listener: who is kept out is kept out everywhere.
pub(crate) struct Trust {
    /// All of them.
    pub(crate) all: Arc<ClientTrust>,
    /// Their files as they were read, one after the other: the files may be others a moment later. They are kept
    /// together, because a list can only be compared under the anchors that it was in force with: otherwise one
    /// exchanged anchor would make every remembered list unreadable.
    pub(crate) text: Vec<u8>,
    data: Arc<ClientTrust>,
    admin: Arc<ClientTrust>,
}

impl Trust {
    /// Reads the files.
    pub(crate) fn read(config: &Config, clock: &Clock) -> Result<Self, HomeError> {
        let roster = config.clients.roster.as_deref().map(files::read);
        let roster = roster.transpose()?;
        let judge = roster.as_deref().map(Roster::parse).transpose()?;
        let new = |anchors: &[u8], lists: &[u8]| {
            let trust = ClientTrust::new(anchors, lists, clock.clone())?;
            Ok::<_, HomeError>(Arc::new(match &judge {
                Some(roster) => trust.with_roster(roster.clone()),
                None => trust,
            }))
        };
        let anchors = files::read(&config.clients.authorities)?;
        let lists = files::read(&config.clients.revocation_lists)?;
        let data = new(&anchors, &lists)?;
        let mut text = Files {
            anchors: &anchors,
            lists: &lists,
            admin: None,
            roster: roster.as_deref(),
        };
        let Some(own) = config.admin.as_ref().and_then(AdminSection::own) else {
            return Ok(Self {
                all: Arc::clone(&data),
                text: text.join(),
                admin: Arc::clone(&data),
                data,
            });
        };
        let (own_anchors, own_lists) = (files::read(own.0)?, files::read(own.1)?);
        text.admin = Some((&own_anchors, &own_lists));
        let all_anchors = [&anchors[..], &own_anchors].join(&b'\n');
        let all_lists = [&lists[..], &own_lists].join(&b'\n');
        let admin = new(&own_anchors, &own_lists)?;
        let all = new(&all_anchors, &all_lists).map_err(|error| match error {
            // Neither has two lists of one issuer, so the two have an issuer in common.
            HomeError::Tls(TlsError::RevocationListDuplicate { .. }) => HomeError::SharedAuthority,
            other => other,
        });
        Ok(Self {
            all: all?,
            admin,
            text: text.join(),
            data,
        })
    }
}

/// The files that a trust is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Files<'a> {
    pub(crate) anchors: &'a [u8],
    pub(crate) lists: &'a [u8],
    /// Anchors and lists of the listener of administration, if it has its own.
    pub(crate) admin: Option<(&'a [u8], &'a [u8])>,
    pub(crate) roster: Option<&'a [u8]>,
}

impl<'a> Files<'a> {
    /// One text, which [`ClientTrust::from_text`] reads whole.
    fn join(&self) -> Vec<u8> {
        let mut files = vec![self.anchors, self.lists];
        if let Some((anchors, lists)) = self.admin {
            files.extend([OF_ADMINISTRATION, anchors, lists]);
        }
        ClientTrust::text(&files, self.roster)
    }

    /// What was joined; none if there are no lists in it.
    pub(crate) fn split(text: &'a [u8]) -> Option<Self> {
        let (rest, roster) = Roster::split(text);
        let line = [b"\n", OF_ADMINISTRATION, b"\n"].concat();
        let (everybodys, own) = match find(rest, &line) {
            Some(at) => (rest.get(..at)?, Some(rest.get(at + line.len()..)?)),
            None => (rest, None),
        };
        let (anchors, lists) = anchors_and_lists(everybodys)?;
        Some(Self {
            anchors,
            lists,
            admin: match own {
                Some(own) => Some(anchors_and_lists(own)?),
                None => None,
            },
            roster,
        })
    }
}

fn anchors_and_lists(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (anchors, lists) = text.split_at(find(text, b"-----BEGIN X509 CRL-----")?);
    Some((anchors.strip_suffix(b"\n").unwrap_or(anchors), lists))
}

fn find(text: &[u8], mark: &[u8]) -> Option<usize> {
    text.windows(mark.len()).position(|window| window == mark)
}

/// The line between everybody's files and those of the listener of administration. Readers of PEM pass over it.
const OF_ADMINISTRATION: &[u8] = b"keywright-administration 1";

/// What handshakes are done with, at each listener.
pub(crate) struct Handshakes {
    identity: ServerIdentity,
    data: Arc<ServerConfig>,
    admin: Arc<ServerConfig>,
}

impl Handshakes {
    /// With the certificate and key that the configuration names.
    pub(crate) fn new(config: &Config, trust: &Trust) -> Result<Self, HomeError> {
        Self::with(identity(config)?, trust)
    }

    pub(crate) fn with(identity: ServerIdentity, trust: &Trust) -> Result<Self, HomeError> {
        let with = |trust: &Arc<ClientTrust>| {
            let protocols = [Protocol::Http2, Protocol::Http1];
            server_config(identity.clone(), Arc::clone(trust), &protocols)
        };
        Ok(Self {
            data: with(&trust.data)?,
            admin: with(&trust.admin)?,
            identity,
        })
    }
}

/// The certificate that the configuration names, with the key that belongs to it.
pub(crate) fn identity(config: &Config) -> Result<ServerIdentity, HomeError> {
    let chain = files::read(&config.server.certificate)?;
    let key = keywright_secret::SecretBytes::from_vec(files::read(&config.server.key)?);
    Ok(ServerIdentity::from_pem(&chain, key.expose())?)
}

/// What handshakes are done with, where listeners take it from.
pub(crate) struct Doors {
    pub(crate) data: Arc<ArcSwap<ServerConfig>>,
    pub(crate) admin: Arc<ArcSwap<ServerConfig>>,
    identity: ArcSwap<ServerIdentity>,
}

impl Doors {
    pub(crate) fn new(handshakes: Handshakes) -> Self {
        Self {
            data: Arc::new(ArcSwap::new(handshakes.data)),
            admin: Arc::new(ArcSwap::new(handshakes.admin)),
            identity: ArcSwap::from_pointee(handshakes.identity),
        }
    }

    /// Another trust with the certificate in force: a new certificate that is half in place must hold up no revocation.
    pub(crate) fn trusting(&self, trust: &Trust) -> Result<Handshakes, HomeError> {
        let identity = ServerIdentity::clone(&self.identity.load());
        Handshakes::with(identity, trust)
    }

    /// What the next handshakes are done with.
    pub(crate) fn replace(&self, handshakes: Handshakes) {
        self.data.store(handshakes.data);
        self.admin.store(handshakes.admin);
        self.identity.store(Arc::new(handshakes.identity));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &[u8] = b"-----BEGIN X509 CRL-----\nAA==\n-----END X509 CRL-----\n";
    const OTHER: &[u8] = b"-----BEGIN X509 CRL-----\nAB==\n-----END X509 CRL-----\n";

    #[test]
    fn what_was_joined_is_split_into_the_same_files() {
        let anchors = &b"-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n"[..];
        for admin in [None, Some((&b"own\n"[..], OTHER))] {
            for roster in [None, Some(&b"keywright-clients 1\nnumber 1\n"[..])] {
                let files = Files {
                    anchors,
                    lists: LIST,
                    admin,
                    roster,
                };
                let text = files.join();
                let read = Files::split(&text).unwrap();
                assert_eq!((read.anchors, read.roster), (anchors, roster));
                // A line end more or less says nothing in a file of sections.
                assert_eq!(read.lists.trim_ascii_end(), LIST.trim_ascii_end());
                let own = read.admin.map(|(own, lists)| (own, lists.trim_ascii_end()));
                assert_eq!(own, admin.map(|(own, lists)| (own, lists.trim_ascii_end())));
            }
        }
    }

    #[test]
    fn a_text_without_lists_is_none_of_ours() {
        for text in [
            &b""[..],
            b"-----BEGIN CERTIFICATE-----\n",
            b"keywright-clients 1\nnumber 1\n",
        ] {
            assert_eq!(Files::split(text), None);
        }
        let half = [LIST, OF_ADMINISTRATION, b"\nown\n"].concat();
        assert_eq!(Files::split(&half), None, "its own anchors have no list");
    }
}
