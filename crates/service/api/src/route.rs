//! The one table of routes, and the matcher made from it.
//!
//! Paths are compared byte for byte: no trailing slash, no percent-decoding, no folding of `//` or
//! `..`. A context's name cannot hold anything that would need it.

use std::fmt;

use http::Method;
use keywright_types::{Code, Name, Operation};

/// What a route leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever serves routes must face each of them"
)]
pub enum Endpoint {
    /// `GET /v1/contexts`.
    Contexts,
    /// `POST /v1/contexts/{context}/datakey`.
    Datakey,
    /// `POST /v1/contexts/{context}/datakey/open`.
    DatakeyOpen,
    /// `POST /v1/contexts/{context}/decrypt`.
    Decrypt,
    /// `POST /v1/contexts/{context}/encrypt`.
    Encrypt,
    /// `GET /v1/health`.
    Health,
    /// `GET /metrics`.
    Metrics,
    /// `GET /v1/openapi.json`.
    Openapi,
    /// `POST /v1/random`.
    Random,
    /// `POST /v1/contexts/{context}/rewrap`.
    Rewrap,
}

/// The two methods that routes take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are no others")]
pub enum Verb {
    /// GET.
    Get,
    /// POST.
    Post,
}

impl Verb {
    /// The method's name, as in an `Allow` header.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
        }
    }

    fn is(self, method: &Method) -> bool {
        match self {
            Self::Get => *method == Method::GET,
            Self::Post => *method == Method::POST,
        }
    }
}

/// The path of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the two shapes of a path")]
pub enum Path {
    /// Under a context: what follows its name.
    Context(&'static str),
    /// The whole path.
    Fixed(&'static str),
}

impl fmt::Display for Path {
    /// The template: `/v1/contexts/{context}/encrypt`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Context(action) => write!(f, "{CONTEXTS}{{context}}/{action}"),
            Self::Fixed(path) => f.write_str(path),
        }
    }
}

const CONTEXTS: &str = "/v1/contexts/";

/// One route.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Route {
    /// What it leads to.
    pub endpoint: Endpoint,
    /// Its method.
    pub verb: Verb,
    /// Its path.
    pub path: Path,
    /// The operation that policy is asked for and audit records.
    pub operation: Operation,
    /// The name of the type of its request's items, if it has a body.
    pub request: Option<&'static str>,
    /// The name of the type of its answer or of its answer's items.
    pub answer: &'static str,
    /// Codes that refuse the whole request, beside [`COMMON`].
    pub refusals: &'static [Code],
    /// Codes of single items: in a batch an item's error, else the request's.
    pub item_codes: &'static [Code],
}

impl Route {
    /// Whether the operation concerns a context.
    #[must_use]
    pub const fn takes_context(&self) -> bool {
        matches!(self.path, Path::Context(_))
    }

    /// Every code that an answer of this route can have, but `ok`.
    pub fn codes(&self) -> impl Iterator<Item = Code> {
        let own = self.refusals.iter().chain(self.item_codes);
        own.chain(COMMON).copied()
    }

    /// Whether the route takes items and can take a batch.
    #[must_use]
    pub const fn takes_items(&self) -> bool {
        self.request.is_some()
    }
}

/// Codes that every route can answer with.
pub const COMMON: &[Code] = &[
    Code::PrincipalUnknown,
    Code::PrincipalAmbiguous,
    Code::CertificateRevoked,
    Code::CertificateExpired,
    Code::CertificateMalformed,
    Code::OperationDenied,
    Code::MethodNotAllowed,
    Code::AuditUnavailable,
    Code::Overloaded,
    Code::DeadlineExceeded,
    Code::ShuttingDown,
    Code::Internal,
];

const BODY: &[Code] = &[
    Code::RequestMalformed,
    Code::BodyTooLarge,
    Code::TooManyItems,
    Code::RequestTimeout,
    Code::HolderUnavailable,
];
const IN_CONTEXT: &[Code] = &[
    Code::RequestMalformed,
    Code::BodyTooLarge,
    Code::TooManyItems,
    Code::RequestTimeout,
    Code::HolderUnavailable,
    Code::StoreUnavailable,
    Code::ContextNotFound,
    Code::Unsupported,
];
const SEALING: &[Code] = &[
    Code::RequestMalformed,
    Code::BodyTooLarge,
    Code::TooManyItems,
    Code::RequestTimeout,
    Code::HolderUnavailable,
    Code::StoreUnavailable,
    Code::ContextNotFound,
    Code::Unsupported,
    Code::NoActiveVersion,
];
const SEALED_ITEM: &[Code] = &[Code::Base64Invalid, Code::AadTooLarge];
const OPENED_ITEM: &[Code] = &[
    Code::Base64Invalid,
    Code::AadTooLarge,
    Code::CiphertextMalformed,
    Code::KeyVersionUnavailable,
    Code::DecryptionFailed,
];

/// A route under a context.
const fn context(
    (endpoint, action): (Endpoint, &'static str),
    operation: Operation,
    (request, answer): (&'static str, &'static str),
    (refusals, item_codes): (&'static [Code], &'static [Code]),
) -> Route {
    Route {
        endpoint,
        verb: Verb::Post,
        path: Path::Context(action),
        operation,
        request: Some(request),
        answer,
        refusals,
        item_codes,
    }
}

/// A route that is read.
const fn read(
    (endpoint, path): (Endpoint, &'static str),
    operation: Operation,
    answer: &'static str,
    refusals: &'static [Code],
) -> Route {
    Route {
        endpoint,
        verb: Verb::Get,
        path: Path::Fixed(path),
        operation,
        request: None,
        answer,
        refusals,
        item_codes: &[],
    }
}

/// Every route.
pub static ROUTES: [Route; 10] = [
    context(
        (Endpoint::Encrypt, "encrypt"),
        Operation::Encrypt,
        ("SealItem", "SealAnswer"),
        (SEALING, SEALED_ITEM),
    ),
    context(
        (Endpoint::Decrypt, "decrypt"),
        Operation::Decrypt,
        ("OpenItem", "OpenAnswer"),
        (IN_CONTEXT, OPENED_ITEM),
    ),
    context(
        (Endpoint::Rewrap, "rewrap"),
        Operation::Rewrap,
        ("OpenItem", "SealAnswer"),
        (SEALING, OPENED_ITEM),
    ),
    context(
        (Endpoint::Datakey, "datakey"),
        Operation::Datakey,
        ("DatakeyItem", "DatakeyAnswer"),
        (SEALING, SEALED_ITEM),
    ),
    context(
        (Endpoint::DatakeyOpen, "datakey/open"),
        Operation::DatakeyOpen,
        ("OpenItem", "DatakeyOpenAnswer"),
        (IN_CONTEXT, OPENED_ITEM),
    ),
    Route {
        endpoint: Endpoint::Random,
        verb: Verb::Post,
        path: Path::Fixed("/v1/random"),
        operation: Operation::Random,
        request: Some("RandomItem"),
        answer: "RandomAnswer",
        refusals: BODY,
        item_codes: &[Code::ValueInvalid],
    },
    read(
        (Endpoint::Health, "/v1/health"),
        Operation::HealthRead,
        "HealthAnswer",
        &[],
    ),
    read(
        (Endpoint::Contexts, "/v1/contexts"),
        Operation::ContextList,
        "ContextsAnswer",
        &[Code::StoreUnavailable],
    ),
    read(
        (Endpoint::Metrics, "/metrics"),
        Operation::MetricsRead,
        "text",
        &[],
    ),
    read(
        (Endpoint::Openapi, "/v1/openapi.json"),
        Operation::ApiRead,
        "document",
        &[],
    ),
];

/// What a method and a path lead to.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "the three answers of a router")]
pub enum RouteMatch<'p> {
    /// A route, and the valid name of its context if it takes one.
    Found {
        /// The route.
        route: &'static Route,
        /// The context's name.
        context: Option<&'p str>,
    },
    /// No route has this path.
    NotFound,
    /// The path exists with another method.
    WrongMethod {
        /// What the `Allow` header says.
        allow: &'static str,
    },
}

/// Finds the route, without allocating.
#[must_use]
pub fn match_route<'p>(method: &Method, path: &'p str) -> RouteMatch<'p> {
    let in_context = path
        .strip_prefix(CONTEXTS)
        .and_then(|rest| rest.split_once('/'))
        .filter(|(context, _)| Name::is_valid(context));
    let found = ROUTES.iter().find(|route| match (route.path, in_context) {
        (Path::Context(action), Some((_, rest))) => action == rest,
        (Path::Fixed(fixed), None) => fixed == path,
        _ => false,
    });
    match found {
        None => RouteMatch::NotFound,
        Some(route) if route.verb.is(method) => RouteMatch::Found {
            route,
            context: in_context.map(|(context, _)| context),
        },
        Some(route) => RouteMatch::WrongMethod {
            allow: route.verb.name(),
        },
    }
}
