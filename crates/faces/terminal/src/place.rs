//! Where things are: a home folder, and a service with a client's certificate.

use std::fs::File;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use keywright_client::Settings;
use keywright_clock::Clock;
use keywright_tls::{ClientConfig, ClientIdentity, Protocol, client_config};

use crate::exit::{Exit, Failure};

/// The home folder of a single node.
#[derive(Debug, clap::Args)]
pub struct Home {
    /// The home folder.
    #[arg(long, value_name = "DIR", default_value = "keywright-home")]
    pub home: PathBuf,
}

impl Home {
    /// The configuration in it.
    pub fn config(&self) -> PathBuf {
        self.home.join(keywright_home::CONFIG_FILE)
    }
}

/// A TLS configuration for a client of a home or a service.
pub fn tls(
    ca: &Path,
    identity: Option<(&Path, &Path)>,
    protocol: Protocol,
) -> Result<Arc<ClientConfig>, Failure> {
    let roots = read(ca)?;
    let identity = match identity {
        Some((certificate, key)) => {
            let chain = read(certificate)?;
            let key = keywright_secret::SecretBytes::from_vec(read(key)?);
            let pair = ClientIdentity::from_pem(&chain, key.expose());
            Some(pair.map_err(|error| unusable(certificate, &error))?)
        }
        None => None,
    };
    client_config(&roots, identity, &[protocol], &Clock::system())
        .map_err(|error| unusable(ca, &error))
}

/// Settings for a service at `url`.
pub fn settings(url: &str, tls: Arc<ClientConfig>) -> Result<Settings, Failure> {
    Ok(Settings::new(url, tls)?)
}

/// Standard input without the library's buffer, in which what is read would stay.
pub fn standard_input() -> Result<File, Failure> {
    let input = std::io::stdin().as_fd().try_clone_to_owned();
    let failed = |error| Failure::file(Path::new("standard input"), "read", &error);
    input.map(File::from).map_err(failed)
}

/// The bytes of a file.
pub fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    std::fs::read(path).map_err(|error| Failure::file(path, "read", &error))
}

fn unusable(path: &Path, error: &keywright_tls::Error) -> Failure {
    let happened = format!("{}: {}", path.display(), crate::exit::sentence(error));
    let advice = match error {
        keywright_tls::Error::KeyMismatch => {
            "give the key that was made together with this certificate"
        }
        _ => "give certificates and keys in PEM form",
    };
    Failure::new(Exit::Usage, happened, advice)
}

/// The configuration of a home that must be there.
pub fn existing_home(home: &Path) -> Result<PathBuf, Failure> {
    let config = home.join(keywright_home::CONFIG_FILE);
    match config.try_exists() {
        Ok(false) => Err(Failure::new(
            Exit::Usage,
            format!("there is no home at {}", home.display()),
            "name one with --home DIR, or make one: keywright admin init --home DIR",
        )),
        _ => Ok(config),
    }
}
