//! Which service to call, and as whom.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use keywright_client::Codec;
use keywright_client::blocking::Client;
use keywright_tls::Protocol;
use keywright_types::Name;

use crate::exit::{Exit, Failure};
use crate::place;

/// Which service to call, and as whom: files, or a home that has them.
#[derive(Debug, clap::Args)]
pub(crate) struct Connection {
    /// The service [default: the address in the home's configuration, else https://127.0.0.1:8443].
    #[arg(long, value_name = "https://HOST:PORT")]
    url: Option<String>,
    /// Roots under which the service's certificate is trusted [default: ca.pem of the home].
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// The client's certificate.
    #[arg(long, value_name = "FILE", requires = "key", conflicts_with = "client")]
    cert: Option<PathBuf>,
    /// The client's private key.
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
    /// A home from which the roots and the address are taken.
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
    /// The client of the home whose certificate and key are used.
    #[arg(long, value_name = "NAME", requires = "home")]
    client: Option<Name>,
    /// Speak HTTP/1.1 instead of HTTP/2.
    #[arg(long)]
    http1: bool,
    /// Send items, and take what comes of them, as CBOR instead of JSON: bytes as they are, without base64.
    #[arg(long)]
    cbor: bool,
}

impl Connection {
    /// Connects. What the command itself gets wrong is found before anything is sent.
    pub(crate) fn open(&self) -> Result<Client, Failure> {
        let url = self.url()?;
        let ca = self.ca()?;
        let (certificate, key) = self.identity()?;
        let protocol = if self.http1 {
            Protocol::Http1
        } else {
            Protocol::Http2
        };
        let tls = place::tls(&ca, Some((&certificate, &key)), protocol)?;
        let codec = if self.cbor { Codec::Cbor } else { Codec::Json };
        let settings = place::settings(&url, tls)?.with_codec(codec);
        Client::connect(settings).map_err(|error| {
            let failure = Failure::from(error);
            Failure {
                happened: format!("{url}: {}", failure.happened),
                ..failure
            }
        })
    }

    /// The home and its client, if the service is named by nothing else.
    pub(crate) fn of_home(&self) -> Option<(&Path, &Name)> {
        match (&self.url, &self.home, &self.client) {
            (None, Some(home), Some(client)) => Some((home, client)),
            _ => None,
        }
    }

    fn url(&self) -> Result<String, Failure> {
        match (&self.url, &self.home) {
            (Some(url), _) => Ok(url.clone()),
            (None, Some(home)) => Ok(format!("https://{}", reachable(address(home)?))),
            (None, None) => Ok("https://127.0.0.1:8443".to_owned()),
        }
    }

    fn ca(&self) -> Result<PathBuf, Failure> {
        let of_home = || {
            self.home
                .as_ref()
                .map(|home| home.join(keywright_home::pki::AUTHORITY))
        };
        self.ca.clone().or_else(of_home).ok_or_else(|| {
            Failure::new(
                Exit::Usage,
                "no roots are named under which the service's certificate is trusted",
                "give --ca FILE, or --home DIR",
            )
        })
    }

    fn identity(&self) -> Result<(PathBuf, PathBuf), Failure> {
        match (&self.cert, &self.key, &self.home, &self.client) {
            (Some(certificate), Some(key), ..) => Ok((certificate.clone(), key.clone())),
            (_, _, Some(home), Some(client)) => {
                let clients = home.join("clients");
                Ok((
                    clients.join(format!("{client}.pem")),
                    clients.join(format!("{client}.key")),
                ))
            }
            _ => Err(Failure::new(
                Exit::Usage,
                "no client certificate is named",
                "give --cert FILE --key FILE, or --home DIR --client NAME",
            )),
        }
    }
}

fn address(home: &Path) -> Result<SocketAddr, Failure> {
    let config = keywright_home::Config::read(&place::existing_home(home)?);
    Ok(config
        .map_err(keywright_home::HomeError::from)?
        .server
        .listen)
}

/// A server that listens everywhere is called on this machine.
fn reachable(listen: SocketAddr) -> SocketAddr {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listen.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_for_listening_everywhere_becomes_one_that_can_be_called() {
        for (listen, called) in [
            ("0.0.0.0:8443", "127.0.0.1:8443"),
            ("[::]:1", "[::1]:1"),
            ("192.0.2.7:8443", "192.0.2.7:8443"),
        ] {
            assert_eq!(reachable(listen.parse().unwrap()).to_string(), called);
        }
    }
}
