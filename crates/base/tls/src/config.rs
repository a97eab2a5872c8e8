//! Every TLS configuration of the workspace: TLS 1.3 only, an explicit provider, no resumption.

use std::fmt;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use keywright_clock::{Clock, WallTime};
use rustls::client::{Resumption, WebPkiServerVerifier, danger::HandshakeSignatureValid};
use rustls::crypto::{CryptoProvider, aws_lc_rs, verify_tls13_signature};
use rustls::server::NoServerSessionStorage;
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::time_provider::TimeProvider;
use rustls::version::TLS13;
use rustls::{
    ClientConfig, DigitallySignedStruct, DistinguishedName, PeerIncompatible, RootCertStore,
    ServerConfig, SignatureScheme,
};
use rustls_pki_types::{CertificateDer, UnixTime};

use crate::pem::sections;
use crate::{ClientTrust, Error, Role, private_key};

/// An application protocol, as ALPN (RFC 7301) names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Protocol {
    /// `http/1.1`
    Http1,
    /// `h2`
    Http2,
}

impl Protocol {
    /// Its registered name.
    #[must_use]
    pub const fn alpn(self) -> &'static [u8] {
        match self {
            Self::Http1 => b"http/1.1",
            Self::Http2 => b"h2",
        }
    }

    /// What a connection agreed on. A peer that names no protocol speaks HTTP/1.1; one that names
    /// only foreign protocols never gets through the handshake.
    #[must_use]
    pub fn negotiated(alpn: Option<&[u8]>) -> Option<Self> {
        match alpn {
            None => Some(Self::Http1),
            Some(name) => [Self::Http1, Self::Http2]
                .into_iter()
                .find(|protocol| protocol.alpn() == name),
        }
    }
}

/// A server's certificate chain and its private key.
#[derive(Clone, Debug)]
pub struct ServerIdentity(Arc<CertifiedKey>);

impl ServerIdentity {
    /// Reads a chain, the leaf first, and its key.
    ///
    /// # Errors
    /// A file that cannot be read, [`Error::Unsupported`], or [`Error::KeyMismatch`].
    pub fn from_pem(chain_pem: &[u8], key_pem: &[u8]) -> Result<Self, Error> {
        certified(chain_pem, key_pem).map(Self)
    }
}

/// A client's certificate chain and its private key.
#[derive(Clone, Debug)]
pub struct ClientIdentity(Arc<CertifiedKey>);

impl ClientIdentity {
    /// Reads a chain, the leaf first, and its key.
    ///
    /// # Errors
    /// A file that cannot be read, [`Error::Unsupported`], or [`Error::KeyMismatch`].
    pub fn from_pem(chain_pem: &[u8], key_pem: &[u8]) -> Result<Self, Error> {
        certified(chain_pem, key_pem).map(Self)
    }
}

/// The configuration of a server that lets in only clients whom `trust` believes. Dates are judged by
/// the clock of `trust`.
///
/// To change the trust while the server runs, build another configuration and use it for the next
/// connection; [`ClientTrust::verify`] covers those that are open.
///
/// # Errors
/// [`Error::NoProtocol`] or [`Error::Configuration`].
pub fn server_config(
    identity: ServerIdentity,
    trust: Arc<ClientTrust>,
    protocols: &[Protocol],
) -> Result<Arc<ServerConfig>, Error> {
    let time = Arc::new(ClockTime(trust.clock().clone()));
    let mut config = ServerConfig::builder_with_details(provider(), time)
        .with_protocol_versions(&[&TLS13])
        .map_err(Error::Configuration)?
        .with_client_cert_verifier(Arc::new(TrustVerifier(trust)))
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(identity.0)));
    config.alpn_protocols = alpn(protocols)?;
    // No resumption (see the crate's page) and no early data, which could be replayed.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    config.max_early_data_size = 0;
    Ok(Arc::new(config))
}

/// The configuration of a client that trusts servers under `roots_pem`, by the names in their
/// certificates and the dates on `clock`, and shows `identity` if it is asked for one.
///
/// # Errors
/// Roots that cannot be read, [`Error::NoProtocol`] or [`Error::Configuration`].
pub fn client_config(
    roots_pem: &[u8],
    identity: Option<ClientIdentity>,
    protocols: &[Protocol],
    clock: &Clock,
) -> Result<Arc<ClientConfig>, Error> {
    let mut roots = RootCertStore::empty();
    for root in sections::<CertificateDer<'static>>(roots_pem, Role::ServerRoots)? {
        roots
            .add(root)
            .map_err(|_| Error::Malformed(Role::ServerRoots))?;
    }
    // The one way for this to fail is an empty store, which `sections` has refused.
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider())
        .build()
        .map_err(|_| Error::Empty(Role::ServerRoots))?;
    let time = Arc::new(ClockTime(clock.clone()));
    let builder = ClientConfig::builder_with_details(provider(), time)
        .with_protocol_versions(&[&TLS13])
        .map_err(Error::Configuration)?
        .with_webpki_verifier(verifier);
    let mut config = match identity {
        Some(ClientIdentity(key)) => {
            builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(key)))
        }
        None => builder.with_no_client_auth(),
    };
    config.alpn_protocols = alpn(protocols)?;
    config.resumption = Resumption::disabled();
    config.enable_early_data = false;
    Ok(Arc::new(config))
}

/// The backend with the groups and suites spelled out, so that a feature another crate switches on
/// in the TLS library cannot reorder them.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    static PROVIDER: LazyLock<Arc<CryptoProvider>> = LazyLock::new(|| {
        Arc::new(CryptoProvider {
            cipher_suites: vec![
                aws_lc_rs::cipher_suite::TLS13_AES_256_GCM_SHA384,
                aws_lc_rs::cipher_suite::TLS13_AES_128_GCM_SHA256,
                aws_lc_rs::cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
            ],
            kx_groups: vec![
                aws_lc_rs::kx_group::X25519,
                aws_lc_rs::kx_group::SECP256R1,
                aws_lc_rs::kx_group::SECP384R1,
                aws_lc_rs::kx_group::X25519MLKEM768,
            ],
            ..aws_lc_rs::default_provider()
        })
    });
    Arc::clone(&PROVIDER)
}

fn certified(chain_pem: &[u8], key_pem: &[u8]) -> Result<Arc<CertifiedKey>, Error> {
    let chain = sections(chain_pem, Role::Certificate)?;
    let key = private_key(key_pem)?;
    let key = aws_lc_rs::sign::any_supported_type(key.expose())
        .map_err(|_| Error::Unsupported(Role::PrivateKey))?;
    let certified = CertifiedKey::new(chain, key);
    match certified.keys_match() {
        Ok(()) => Ok(Arc::new(certified)),
        Err(rustls::Error::InconsistentKeys(_)) => Err(Error::KeyMismatch),
        Err(_) => Err(Error::Malformed(Role::Certificate)),
    }
}

fn alpn(protocols: &[Protocol]) -> Result<Vec<Vec<u8>>, Error> {
    if protocols.is_empty() {
        return Err(Error::NoProtocol);
    }
    Ok(protocols
        .iter()
        .map(|protocol| protocol.alpn().to_vec())
        .collect())
}

/// The TLS library's view of our clock.
#[derive(Debug)]
struct ClockTime(Clock);

impl TimeProvider for ClockTime {
    fn current_time(&self) -> Option<UnixTime> {
        let seconds = self.0.wall().unix_seconds();
        Some(UnixTime::since_unix_epoch(Duration::from_secs(seconds)))
    }
}

/// Asks [`ClientTrust`]. The library would build the same path, but it would not say which anchor it
/// ended in, and it would let in names that [`ClientTrust::verify`] refuses.
struct TrustVerifier(Arc<ClientTrust>);

impl fmt::Debug for TrustVerifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl ClientCertVerifier for TrustVerifier {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.subjects()
    }

    fn verify_client_cert(
        &self,
        leaf: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, rustls::Error> {
        let mut chain = vec![leaf.clone()];
        chain.extend_from_slice(intermediates);
        self.0
            .verify(&chain, WallTime::from_unix_seconds(now.as_secs()))
            .map(|_| ClientCertVerified::assertion())
            .map_err(|refusal| refusal.into_certificate_error().into())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(PeerIncompatible::ServerDoesNotSupportTls12Or13.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        leaf: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = provider().signature_verification_algorithms;
        verify_tls13_signature(message, leaf, signature, &algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        provider()
            .signature_verification_algorithms
            .supported_schemes()
    }
}
