//! Who may ask: the `Host` that was meant, and the token.

use std::net::{IpAddr, Ipv6Addr};

use http::header::{AUTHORIZATION, COOKIE, HOST, HeaderMap};
use http::{HeaderValue, StatusCode, Uri};
use keywright_encoding::hex;
use keywright_primitives::hash::sha256;
use keywright_primitives::random::RandomStream;
use keywright_secret::{SecretBytes, ct_eq};

use super::WebError;

/// Fewest characters of a token: of random hex digits, 128 bits.
pub(super) const LEAST: usize = 32;
/// Most characters of a token.
pub(super) const MOST: usize = 256;

/// The cookie's name. The prefix makes browsers refuse it without TLS or for another host.
const COOKIE_NAME: &str = "__Host-keywright-bench";

/// What a client of an exposed dashboard has to know. Does not print itself.
#[derive(Debug)]
pub struct AccessToken(SecretBytes);

impl AccessToken {
    /// Takes a token of 32 to 256 visible ASCII characters; it should be random.
    ///
    /// # Errors
    /// [`WebError::WeakToken`].
    pub fn new(text: &str) -> Result<Self, WebError> {
        let fits = (LEAST..=MOST).contains(&text.len());
        if fits && text.bytes().all(|byte| byte.is_ascii_graphic()) {
            Ok(Self(SecretBytes::from_vec(text.as_bytes().to_vec())))
        } else {
            Err(WebError::WeakToken)
        }
    }

    /// A new one of 64 random hex digits.
    ///
    /// # Errors
    /// [`WebError::Randomness`].
    pub fn generate() -> Result<Self, WebError> {
        Ok(Self(SecretBytes::from_vec(random()?.into_bytes())))
    }

    /// Reads it, to hand it to the person who may look.
    #[must_use]
    pub fn expose(&self) -> &[u8] {
        self.0.expose()
    }
}

fn random() -> Result<String, WebError> {
    let bytes = RandomStream::new().and_then(|mut stream| stream.array::<32>());
    Ok(hex::encode(&bytes.map_err(WebError::Randomness)?))
}

/// The check before any answer.
#[derive(Debug)]
pub(super) struct Gate(Option<Guard>);

/// What stands before data on an exposed address.
struct Guard {
    /// Digests, so that a comparison has equal lengths and the process keeps no second copy of the token.
    token: [u8; 32],
    session: [u8; 32],
    cookie: HeaderValue,
    names: Vec<String>,
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard")
            .field("names", &self.names)
            .finish_non_exhaustive()
    }
}

impl Gate {
    /// For loopback: whoever is on the machine.
    pub(super) const fn open() -> Self {
        Self(None)
    }

    /// For other addresses: whoever has `token`, or the session that was given for it.
    pub(super) fn guarded(token: &AccessToken, names: Vec<String>) -> Result<Self, WebError> {
        let session = random()?;
        let cookie = format!("{COOKIE_NAME}={session}; Path=/; Secure; HttpOnly; SameSite=Strict");
        let mut cookie = HeaderValue::try_from(cookie).map_err(|_| WebError::WeakToken)?;
        cookie.set_sensitive(true);
        Ok(Self(Some(Guard {
            token: sha256(token.expose()),
            session: sha256(session.as_bytes()),
            cookie,
            names: names.iter().map(|name| name.to_ascii_lowercase()).collect(),
        })))
    }

    /// Whether the request was meant for this server.
    ///
    /// A foreign page can make a browser connect here under its own name, but the browser then sends that
    /// name. Names that cannot be somebody else's are let through, whatever the port: it may be forwarded.
    pub(super) fn host(&self, headers: &HeaderMap, uri: &Uri) -> Result<(), StatusCode> {
        let mut hosts = headers.get_all(HOST).iter();
        let (Some(host), None) = (hosts.next(), hosts.next()) else {
            return Err(StatusCode::BAD_REQUEST);
        };
        let host = host.to_str().map_err(|_| StatusCode::BAD_REQUEST)?;
        let meant = uri.host().is_none_or(|host| self.is_ours(host));
        match without_port(host) {
            Some(name) if meant && self.is_ours(name) => Ok(()),
            Some(_) => Err(StatusCode::MISDIRECTED_REQUEST),
            None => Err(StatusCode::BAD_REQUEST),
        }
    }

    fn is_ours(&self, name: &str) -> bool {
        let address = address(name);
        match &self.0 {
            None => address.is_some_and(|ip| ip.is_loopback()) || is_localhost(name),
            Some(guard) => {
                let name = name.to_ascii_lowercase();
                address.is_some() || is_localhost(&name) || guard.names.contains(&name)
            }
        }
    }

    /// Whether data may be given for these headers.
    pub(super) fn lets_in(&self, headers: &HeaderMap) -> bool {
        let Some(guard) = &self.0 else { return true };
        let session =
            cookies(headers).any(|value| ct_eq(&sha256(value.as_bytes()), &guard.session));
        session || guard.has_token(headers)
    }

    /// The cookie for a client that shows the token itself. `None` where there are no sessions.
    pub(super) fn session(&self, headers: &HeaderMap) -> Option<Result<HeaderValue, StatusCode>> {
        let guard = self.0.as_ref()?;
        Some(match guard.has_token(headers) {
            true => Ok(guard.cookie.clone()),
            false => Err(StatusCode::UNAUTHORIZED),
        })
    }

    /// Whether answers should say that this host is reached over TLS only.
    pub(super) const fn is_guarded(&self) -> bool {
        self.0.is_some()
    }
}

impl Guard {
    fn has_token(&self, headers: &HeaderMap) -> bool {
        let given = headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok());
        let token = given.and_then(|value| {
            let (scheme, token) = value.split_once(' ')?;
            scheme.eq_ignore_ascii_case("bearer").then_some(token)
        });
        token.is_some_and(|token| ct_eq(&sha256(token.as_bytes()), &self.token))
    }
}

fn cookies(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let lines = headers
        .get_all(COOKIE)
        .iter()
        .filter_map(|line| line.to_str().ok());
    lines
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter_map(|(name, value)| (name == COOKIE_NAME).then_some(value))
}

fn is_localhost(name: &str) -> bool {
    name.eq_ignore_ascii_case("localhost")
}

/// The address that a host is, brackets around the longer kind.
fn address(name: &str) -> Option<IpAddr> {
    match name.strip_prefix('[') {
        Some(rest) => rest
            .strip_suffix(']')?
            .parse::<Ipv6Addr>()
            .ok()
            .map(IpAddr::V6),
        None => name.parse().ok().filter(IpAddr::is_ipv4),
    }
}

/// The host of a `Host` header; `None` if what follows it is no port.
fn without_port(host: &str) -> Option<&str> {
    let after_bracket = host.rfind(']').map_or(0, |at| at + 1);
    match host.get(after_bracket..)?.rfind(':') {
        None => Some(host),
        Some(colon) => {
            let (name, port) = host.split_at_checked(after_bracket + colon)?;
            let digits = port.strip_prefix(':')?;
            let is_port = digits.len() <= 5 && digits.bytes().all(|byte| byte.is_ascii_digit());
            is_port.then_some(name)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(gate: &Gate, host: &str) -> Result<(), StatusCode> {
        let mut headers = HeaderMap::new();
        headers.insert(HOST, HeaderValue::from_bytes(host.as_bytes()).unwrap());
        gate.host(&headers, &Uri::from_static("/"))
    }

    #[test]
    fn on_loopback_only_names_that_nobody_else_can_own_are_ours() {
        let gate = Gate::open();
        for host in [
            "127.0.0.1",
            "127.0.0.1:8080",
            "localhost:1",
            "LOCALHOST",
            "[::1]:80",
            "[::1]",
            "127.1.2.3",
        ] {
            assert_eq!(asked(&gate, host), Ok(()), "{host}");
        }
        let foreign = [
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.nip.io:80",
            "192.0.2.1",
            "[2001:db8::1]",
            "notlocalhost",
            "localhost.",
            "0.0.0.0",
            "",
            "::1",
            "2130706433",
        ];
        for host in foreign {
            assert!(asked(&gate, host).is_err(), "{host}");
        }
        for broken in ["127.0.0.1:x", "localhost:123456", "[::1]x:80:y"] {
            assert!(asked(&gate, broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn a_request_without_one_host_is_refused() {
        let gate = Gate::open();
        let mut headers = HeaderMap::new();
        let uri = Uri::from_static("/");
        assert_eq!(gate.host(&headers, &uri), Err(StatusCode::BAD_REQUEST));
        headers.append(HOST, HeaderValue::from_static("localhost"));
        headers.append(HOST, HeaderValue::from_static("localhost"));
        assert_eq!(gate.host(&headers, &uri), Err(StatusCode::BAD_REQUEST));
        headers.remove(HOST);
        headers.append(HOST, HeaderValue::from_static("localhost"));
        let elsewhere = Uri::from_static("http://evil.example/");
        assert_eq!(
            gate.host(&headers, &elsewhere),
            Err(StatusCode::MISDIRECTED_REQUEST)
        );
    }

    #[test]
    fn an_exposed_server_answers_to_addresses_and_its_own_names_only() {
        let token = AccessToken::generate().unwrap();
        let gate = Gate::guarded(&token, vec!["Bench.Example".to_owned()]).unwrap();
        for host in [
            "192.0.2.1:8443",
            "[2001:db8::1]:8443",
            "bench.example",
            "BENCH.example:1",
        ] {
            assert_eq!(asked(&gate, host), Ok(()), "{host}");
        }
        for host in [
            "evil.example",
            "bench.example.evil.example",
            "xbench.example",
        ] {
            assert_eq!(
                asked(&gate, host),
                Err(StatusCode::MISDIRECTED_REQUEST),
                "{host}"
            );
        }
    }

    #[test]
    fn short_or_unprintable_tokens_are_refused_and_none_is_shown() {
        for bad in [
            "",
            "short",
            &"x".repeat(31),
            &"x".repeat(257),
            &"a b".repeat(20),
            &"\u{e9}".repeat(40),
        ] {
            assert!(
                matches!(AccessToken::new(bad), Err(WebError::WeakToken)),
                "{bad}"
            );
        }
        let text = "0123456789abcdef0123456789abcdef";
        let token = AccessToken::new(text).unwrap();
        let gate = Gate::guarded(&token, Vec::new()).unwrap();
        assert!(!format!("{token:?} {gate:?}").contains("0123"));
    }

    #[test]
    fn only_the_whole_token_or_the_session_given_for_it_opens() {
        let text = "0123456789abcdef0123456789abcdef";
        let gate = Gate::guarded(&AccessToken::new(text).unwrap(), Vec::new()).unwrap();
        let with = |name: http::HeaderName, value: &str| {
            HeaderMap::from_iter([(name, HeaderValue::try_from(value).unwrap())])
        };
        assert!(gate.lets_in(&with(AUTHORIZATION, &format!("Bearer {text}"))));
        for wrong in [
            format!("Bearer {text}0"),
            format!("Basic {text}"),
            "Bearer".into(),
            "Bearer ".into(),
            text.to_owned(),
        ] {
            assert!(!gate.lets_in(&with(AUTHORIZATION, &wrong)), "{wrong}");
        }
        assert!(!gate.lets_in(&HeaderMap::new()));
        let cookie = gate
            .session(&with(AUTHORIZATION, &format!("bearer {text}")))
            .unwrap()
            .unwrap();
        let pair = cookie
            .to_str()
            .unwrap()
            .split(';')
            .next()
            .unwrap()
            .to_owned();
        assert!(gate.lets_in(&with(COOKIE, &format!("a=b; {pair}"))));
        assert!(!gate.lets_in(&with(COOKIE, &format!("{pair}0"))));
        assert!(!gate.lets_in(&with(COOKIE, &format!("{COOKIE_NAME}={text}"))));
        assert_eq!(
            gate.session(&with(COOKIE, &pair)),
            Some(Err(StatusCode::UNAUTHORIZED))
        );
    }
}
