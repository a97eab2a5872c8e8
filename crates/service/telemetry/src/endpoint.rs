//! Where a collector listens.

use std::net::IpAddr;

use http::Uri;
use http::uri::Scheme;

/// `https://HOST[:PORT][/PATH]`, or `http://` with the same behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    pub(crate) secure: bool,
    /// Without the brackets of an address of IPv6.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Host and port, as a request says them.
    pub(crate) authority: String,
    pub(crate) path: String,
}

/// What is wrong with a URL; never the URL, in which somebody may have put a password.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EndpointError {
    /// No `http` or `https` URL.
    #[error("it is not https://HOST[:PORT][/PATH] or http://HOST[:PORT][/PATH]")]
    Malformed,
    /// A query, a name or a password.
    #[error("a collector is named by host, port and path alone")]
    TooMuch,
}

/// Where traces may go without TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is nothing between")]
pub enum Plain {
    /// Anywhere: somebody has said so.
    Anywhere,
    /// To this machine.
    Loopback,
}

/// The port and the path that OTLP over HTTP has by default.
const PORT: u16 = 4318;
const PATH: &str = "/v1/traces";

impl Endpoint {
    /// Reads a URL.
    ///
    /// # Errors
    /// [`EndpointError`].
    pub fn parse(url: &str) -> Result<Self, EndpointError> {
        let uri: Uri = url.parse().map_err(|_| EndpointError::Malformed)?;
        let secure = match uri.scheme() {
            Some(scheme) if *scheme == Scheme::HTTPS => true,
            Some(scheme) if *scheme == Scheme::HTTP => false,
            _ => return Err(EndpointError::Malformed),
        };
        let authority = uri.authority().ok_or(EndpointError::Malformed)?;
        if authority.as_str().contains('@') || uri.query().is_some() || url.contains('#') {
            return Err(EndpointError::TooMuch);
        }
        let in_brackets = authority.host();
        let rest = authority.as_str().strip_prefix(in_brackets);
        let port = match rest.ok_or(EndpointError::Malformed)? {
            "" => PORT,
            port => match port.strip_prefix(':').map(str::parse) {
                Some(Ok(port)) if port != 0 => port,
                _ => return Err(EndpointError::Malformed),
            },
        };
        let host = in_brackets.strip_prefix('[');
        let host = host.and_then(|host| host.strip_suffix(']'));
        let host = host.unwrap_or(in_brackets).to_owned();
        if host.is_empty() {
            return Err(EndpointError::Malformed);
        }
        Ok(Self {
            secure,
            authority: format!("{in_brackets}:{port}"),
            host,
            port,
            path: match uri.path() {
                "" | "/" => PATH.to_owned(),
                path => path.to_owned(),
            },
        })
    }

    /// Whether it is asked over TLS.
    #[must_use]
    pub const fn is_secure(&self) -> bool {
        self.secure
    }

    /// Host and port.
    #[must_use]
    pub fn address(&self) -> (&str, u16) {
        (&self.host, self.port)
    }

    /// Whether its host is this machine as it is written: an address of loopback, or `localhost`, which is held to its
    /// word when it is looked up.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        let address: Result<IpAddr, _> = self.host.parse();
        address.map_or(self.host == "localhost", |address| address.is_loopback())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_has_a_host_and_the_rest_has_defaults() {
        for (url, secure, authority, path) in [
            ("https://otel", true, "otel:4318", "/v1/traces"),
            ("https://otel/", true, "otel:4318", "/v1/traces"),
            ("https://otel:443/a/b", true, "otel:443", "/a/b"),
            ("http://127.0.0.1:9", false, "127.0.0.1:9", "/v1/traces"),
            ("http://[::1]", false, "[::1]:4318", "/v1/traces"),
        ] {
            let endpoint = Endpoint::parse(url).unwrap();
            let told = (endpoint.secure, &*endpoint.authority, &*endpoint.path);
            assert_eq!(told, (secure, authority, path), "{url}");
        }
        assert_eq!(
            Endpoint::parse("http://[::1]:5").unwrap().address(),
            ("::1", 5)
        );
    }

    #[test]
    fn what_is_no_endpoint_is_refused_and_not_repeated() {
        for wrong in [
            "",
            "otel",
            "otel:4318",
            "/v1/traces",
            "grpc://otel",
            "unix:///run/otel",
            "https://",
            "https:///v1/traces",
            "https://otel:port",
            "https://otel:99999",
            "https://otel:0",
            "https://otel:",
            "https://:443",
            "https://otel/a b",
            "https://otel\r\nx",
            "https://name:hunter2@otel",
            "https://name@otel",
            "https://otel/v1/traces?key=hunter2",
            "https://otel/#hunter2",
        ] {
            let error = Endpoint::parse(wrong).unwrap_err();
            assert!(!error.to_string().contains("hunter2"), "{wrong}");
        }
    }

    #[test]
    fn this_machine_is_told_from_others() {
        for (host, this) in [
            ("127.0.0.1", true),
            ("127.8.9.1", true),
            ("[::1]", true),
            ("localhost", true),
            ("localhost.example", false),
            ("127.0.0.1.example", false),
            ("0.0.0.0", false),
            ("[::]", false),
            ("192.0.2.1", false),
            ("[::ffff:127.0.0.1]", false),
            ("otel", false),
        ] {
            let endpoint = Endpoint::parse(&format!("http://{host}:4318")).unwrap();
            assert_eq!(endpoint.is_loopback(), this, "{host}");
        }
    }
}
