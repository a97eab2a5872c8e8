//! How a service is reached: where it is, whom to trust, and as whom.

use std::path::Path;
use std::sync::Arc;

use keywright_clock::Clock;
use keywright_measure::TargetError;
use keywright_secret::SecretBytes;
use keywright_tls::{ClientConfig, ClientIdentity, Protocol, client_config};

use crate::http::{Endpoint, Process};

/// How a service is reached.
#[derive(Clone, Debug)]
pub struct Access {
    url: String,
    ca: Vec<u8>,
    tenants: Vec<Tenant>,
    process: Option<Process>,
}

/// A client of the service, and the context in which it works.
#[derive(Clone, Debug)]
pub struct Tenant {
    name: String,
    context: String,
    certificate: Vec<u8>,
    key: Arc<SecretBytes>,
}

impl Tenant {
    /// A client with its certificate chain and key, in PEM, working in `context`.
    #[must_use]
    pub fn new(name: &str, context: &str, certificate: &[u8], key: SecretBytes) -> Self {
        Self {
            name: name.to_owned(),
            context: context.to_owned(),
            certificate: certificate.to_owned(),
            key: Arc::new(key),
        }
    }

    /// The same from files.
    ///
    /// # Errors
    /// [`TargetError::System`] for a file that cannot be read.
    pub fn read(
        name: &str,
        context: &str,
        certificate: &Path,
        key: &Path,
    ) -> Result<Self, TargetError> {
        let key = SecretBytes::from_vec(read(key)?);
        Ok(Self::new(name, context, &read(certificate)?, key))
    }

    /// Its name, for people.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its context.
    #[must_use]
    pub fn context(&self) -> &str {
        &self.context
    }

    fn tls(&self, ca: &[u8], protocol: Protocol) -> Result<Arc<ClientConfig>, TargetError> {
        let refused = |error: keywright_tls::Error| TargetError::Authentication {
            target: NAME.to_owned(),
            reason: format!("{}: {error}", self.name),
        };
        let identity = ClientIdentity::from_pem(&self.certificate, self.key.expose());
        let identity = identity.map_err(refused)?;
        client_config(ca, Some(identity), &[protocol], &Clock::system()).map_err(refused)
    }
}

/// What the target is called in errors.
pub(super) const NAME: &str = "service";

impl Access {
    /// A service at `https://host[:port]` whose certificate an authority of `ca` (PEM) has issued.
    #[must_use]
    pub fn new(url: &str, ca: &[u8], tenants: Vec<Tenant>) -> Self {
        Self {
            url: url.to_owned(),
            ca: ca.to_owned(),
            tenants,
            process: None,
        }
    }

    /// The same, with the authority's certificate from a file.
    ///
    /// # Errors
    /// [`TargetError::System`] for a file that cannot be read.
    pub fn read(url: &str, ca: &Path, tenants: Vec<Tenant>) -> Result<Self, TargetError> {
        Ok(Self::new(url, &read(ca)?, tenants))
    }

    /// A service over a home that [`super::home`] has made, as its two clients.
    ///
    /// # Errors
    /// [`TargetError::System`] for a file that cannot be read.
    pub fn of_demonstration(url: &str, home: &Path) -> Result<Self, TargetError> {
        let file = |name: &str| home.join("clients").join(name);
        let tenants = [("trading-1", "exchange-key"), ("web-2fa-1", "2fa")]
            .into_iter()
            .map(|(name, context)| {
                let certificate = file(&format!("{name}.pem"));
                Tenant::read(name, context, &certificate, &file(&format!("{name}.key")))
            })
            .collect::<Result<_, _>>()?;
        Self::read(url, &home.join("ca.pem"), tenants)
    }

    /// The service is this process of this machine.
    #[must_use]
    pub const fn with_process(mut self, process: Process) -> Self {
        self.process = Some(process);
        self
    }

    /// The service's process, where it is local.
    #[must_use]
    pub const fn process(&self) -> Option<Process> {
        self.process
    }

    /// The first clients.
    pub(super) fn tenants(&self, count: usize) -> Result<&[Tenant], TargetError> {
        self.tenants
            .get(..count)
            .ok_or_else(|| TargetError::Unsupported {
                target: NAME.to_owned(),
                operation: "an operation of several clients".to_owned(),
                reason: format!("it takes {count} client certificates"),
            })
    }

    /// The service as these clients see it.
    pub(super) fn endpoint(
        &self,
        protocol: Protocol,
        tenants: &[Tenant],
    ) -> Result<Endpoint, TargetError> {
        let identities = tenants
            .iter()
            .map(|tenant| tenant.tls(&self.ca, protocol))
            .collect::<Result<_, _>>()?;
        let endpoint = Endpoint::new(NAME, &self.url, identities, protocol)?;
        Ok(endpoint.with_hello("/v1/health"))
    }
}

fn read(path: &Path) -> Result<Vec<u8>, TargetError> {
    std::fs::read(path)
        .map_err(|error| TargetError::System(format!("cannot read {}: {error}", path.display())))
}
