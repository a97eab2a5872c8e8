//! The table of routes that Vault's clients ask, and the matcher made from it.
//!
//! As with native routes, paths are compared byte for byte. `PUT` is another word for `POST`, as it is there; `LIST`
//! is another for `GET` with `list=true`.

use http::Method;
use keywright_types::{Name, Operation, Plane};

/// What a route leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever serves routes must face each of them"
)]
pub enum Endpoint {
    /// A data key, with or without its plain form.
    Datakey,
    /// Open messages, or data keys.
    Decrypt,
    /// Seal messages.
    Encrypt,
    /// Make message authentication codes.
    Hmac,
    /// The names of keys.
    Keys,
    /// One key and its versions.
    Key,
    /// Make a new version active.
    Rotate,
    /// A token for the certificate of the connection.
    Login,
    /// What the token of the request is.
    LookupSelf,
    /// Random bytes.
    Random,
    /// Seal again under the active version.
    Rewrap,
    /// Sign.
    Sign,
    /// Look whether signatures or codes fit.
    Verify,
}

/// The ways to ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are no others")]
pub enum Ask {
    /// `LIST`, or `GET` with `list=true`.
    List,
    /// `GET`.
    Read,
    /// `POST` or `PUT`.
    Write,
}

impl Ask {
    /// The methods, as in an `Allow` header.
    #[must_use]
    pub const fn allow(self) -> &'static str {
        match self {
            Self::List => "GET, LIST",
            Self::Read => "GET",
            Self::Write => "POST, PUT",
        }
    }

    fn is(self, method: &Method, query: Option<&str>) -> bool {
        match self {
            Self::List => {
                let listed =
                    || query.is_some_and(|query| query.split('&').any(|one| one == "list=true"));
                method.as_str() == "LIST" || (*method == Method::GET && listed())
            }
            Self::Read => *method == Method::GET,
            Self::Write => *method == Method::POST || *method == Method::PUT,
        }
    }
}

/// One route.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Route {
    /// What it leads to.
    pub endpoint: Endpoint,
    /// How it is asked.
    pub ask: Ask,
    /// Its path; parts in braces stand for one component each.
    pub path: &'static str,
    /// The operation that policy is asked for and audit records.
    pub operation: Operation,
    /// The name of the type of its body, if it has one.
    pub request: Option<&'static str>,
    /// The name of the type of the answer's `data`, if it has any.
    pub answer: Option<&'static str>,
    /// What it does, in a sentence.
    pub summary: &'static str,
}

const fn write(
    (endpoint, path): (Endpoint, &'static str),
    operation: Operation,
    (request, answer): (&'static str, &'static str),
    summary: &'static str,
) -> Route {
    Route {
        endpoint,
        ask: Ask::Write,
        path,
        operation,
        request: Some(request),
        answer: Some(answer),
        summary,
    }
}

const SIGN: &str = "Sign. The answer is `vault:v`, the version, `:` and the signature.";
const VERIFY: &str = "Look whether a signature or a code fits under the version that it names.";
const HMAC: &str = "Make a message authentication code.";
const RANDOM: &str = "Random bytes.";

/// Every route.
pub static ROUTES: [Route; 17] = [
    write(
        (Endpoint::Encrypt, "/v1/transit/encrypt/{name}"),
        Operation::Encrypt,
        ("TransitEncrypt", "TransitCiphertext"),
        "Seal under the active version of the key.",
    ),
    write(
        (Endpoint::Decrypt, "/v1/transit/decrypt/{name}"),
        Operation::Decrypt,
        ("TransitDecrypt", "TransitPlaintext"),
        "Open ciphertexts, or wrapped data keys, which takes the right to open data keys.",
    ),
    write(
        (Endpoint::Rewrap, "/v1/transit/rewrap/{name}"),
        Operation::Rewrap,
        ("TransitRewrap", "TransitCiphertext"),
        "Seal again under the active version, without showing the plaintext.",
    ),
    write(
        (Endpoint::Datakey, "/v1/transit/datakey/{kind}/{name}"),
        Operation::Datakey,
        ("TransitDatakey", "TransitDatakeyAnswer"),
        "Make a data key: `plaintext` and wrapped, or `wrapped` alone.",
    ),
    write(
        (Endpoint::Sign, "/v1/transit/sign/{name}"),
        Operation::Sign,
        ("TransitSign", "TransitSignature"),
        SIGN,
    ),
    write(
        (Endpoint::Sign, "/v1/transit/sign/{name}/{hash}"),
        Operation::Sign,
        ("TransitSign", "TransitSignature"),
        SIGN,
    ),
    write(
        (Endpoint::Verify, "/v1/transit/verify/{name}"),
        Operation::Verify,
        ("TransitVerify", "TransitValid"),
        VERIFY,
    ),
    write(
        (Endpoint::Verify, "/v1/transit/verify/{name}/{hash}"),
        Operation::Verify,
        ("TransitVerify", "TransitValid"),
        VERIFY,
    ),
    write(
        (Endpoint::Hmac, "/v1/transit/hmac/{name}"),
        Operation::Mac,
        ("TransitHmac", "TransitCode"),
        HMAC,
    ),
    write(
        (Endpoint::Hmac, "/v1/transit/hmac/{name}/{hash}"),
        Operation::Mac,
        ("TransitHmac", "TransitCode"),
        HMAC,
    ),
    write(
        (Endpoint::Random, "/v1/transit/random"),
        Operation::Random,
        ("TransitRandom", "TransitRandomBytes"),
        RANDOM,
    ),
    write(
        (Endpoint::Random, "/v1/transit/random/{bytes}"),
        Operation::Random,
        ("TransitRandom", "TransitRandomBytes"),
        RANDOM,
    ),
    Route {
        endpoint: Endpoint::Keys,
        ask: Ask::List,
        path: "/v1/transit/keys",
        operation: Operation::ContextList,
        request: None,
        answer: Some("TransitKeys"),
        summary: "The names of the keys that these routes can use and on which the caller has a right.",
    },
    Route {
        endpoint: Endpoint::Key,
        ask: Ask::Read,
        path: "/v1/transit/keys/{name}",
        operation: Operation::KeyList,
        request: None,
        answer: Some("TransitKey"),
        summary: "A key and its versions; public keys where the caller may see them.",
    },
    Route {
        endpoint: Endpoint::Rotate,
        ask: Ask::Write,
        path: "/v1/transit/keys/{name}/rotate",
        operation: Operation::KeyRotate,
        request: Some("TransitNothing"),
        answer: None,
        summary: "Make a new version active and retire the one before.",
    },
    Route {
        endpoint: Endpoint::Login,
        ask: Ask::Write,
        path: "/v1/auth/cert/login",
        operation: Operation::Connect,
        request: Some("CertificateLogin"),
        answer: None,
        summary: "A token that works with the certificate of this connection and grants nothing.",
    },
    Route {
        endpoint: Endpoint::LookupSelf,
        ask: Ask::Read,
        path: "/v1/auth/token/lookup-self",
        operation: Operation::Connect,
        request: None,
        answer: Some("TokenFacts"),
        summary: "What the token of this request is.",
    },
];

/// What a request asks for.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the three answers of a router")]
pub enum RouteMatch<'p> {
    /// A route, and what its path says.
    Found(Found<'p>),
    /// No route has this path.
    NotFound,
    /// The path exists and is asked in another way.
    WrongMethod {
        /// What the `Allow` header says.
        allow: &'static str,
    },
}

/// A route, and what its path says.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Found<'p> {
    /// The route.
    pub route: &'static Route,
    /// The name of the key: a valid one, empty if the route takes none.
    pub name: &'p str,
    /// The other component that varies; empty if there is none.
    pub word: &'p str,
}

impl Route {
    /// Whether a listener of `plane` has the route. They are routes of clients: the one order among them is not on a
    /// listener of work, and the listener of orders has none of them.
    #[must_use]
    pub const fn is_on(&self, plane: Plane) -> bool {
        matches!(plane, Plane::Data) && !matches!(self.endpoint, Endpoint::Rotate)
    }
}

/// Finds the route.
#[must_use]
pub fn match_route<'p>(method: &Method, path: &'p str, query: Option<&str>) -> RouteMatch<'p> {
    match_route_on(None, method, path, query)
}

/// The same for a listener of one plane: what it does not have is nowhere.
#[must_use]
pub fn match_route_on<'p>(
    plane: Option<Plane>,
    method: &Method,
    path: &'p str,
    query: Option<&str>,
) -> RouteMatch<'p> {
    let mut allow = None;
    let here = |route: &&Route| plane.is_none_or(|plane| route.is_on(plane));
    for route in ROUTES.iter().filter(here) {
        let Some((name, word)) = fits(route.path, path) else {
            continue;
        };
        if route.ask.is(method, query) {
            return RouteMatch::Found(Found { route, name, word });
        }
        allow = Some(route.ask.allow());
    }
    allow.map_or(RouteMatch::NotFound, |allow| RouteMatch::WrongMethod {
        allow,
    })
}

/// The name and the other component of a path that has the form of `template`.
fn fits<'p>(template: &str, path: &'p str) -> Option<(&'p str, &'p str)> {
    let (mut name, mut word) = ("", "");
    let (mut wanted, mut given) = (template.split('/'), path.split('/'));
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return Some((name, word)),
            (Some("{name}"), Some(part)) if Name::is_valid(part) => name = part,
            (Some("{kind}"), Some(part)) if KINDS.contains(&part) => word = part,
            (Some("{hash}"), Some(part)) if HASHES.contains(&part) => word = part,
            (Some("{bytes}"), Some(part)) if is_count(part) => word = part,
            (Some(wanted), Some(part)) if wanted == part && !wanted.starts_with('{') => {}
            _ => return None,
        }
    }
}

fn is_count(text: &str) -> bool {
    (1..=10).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// What a data key is answered with.
pub(crate) const KINDS: [&str; 2] = ["plaintext", "wrapped"];

/// The hash functions that Vault's clients may name. Which of them a key takes is the key's.
pub const HASHES: [&str; 10] = [
    "none", "sha1", "sha2-224", "sha2-256", "sha2-384", "sha2-512", "sha3-224", "sha3-256",
    "sha3-384", "sha3-512",
];
