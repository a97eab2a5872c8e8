//! The one table of routes, and the matcher made from it.
//!
//! Paths are compared byte for byte: no trailing slash, no percent-decoding, no folding of `//` or
//! `..`. A context's name cannot hold anything that would need it.

use std::fmt;

use http::Method;
use keywright_types::{Code, Name, Operation, Plane};

/// What a route leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever serves routes must face each of them"
)]
pub enum Endpoint {
    /// `POST /v1/contexts/{context}/agree`.
    Agree,
    /// `GET /v1/contexts`.
    Contexts,
    /// `POST /v1/contexts/{context}/datakey`.
    Datakey,
    /// `POST /v1/contexts/{context}/datakey/open`.
    DatakeyOpen,
    /// `POST /v1/contexts/{context}/decrypt`.
    Decrypt,
    /// `POST /v1/contexts/{context}/decrypt/stream`.
    DecryptStream,
    /// `POST /v1/contexts/{context}/deterministic/decrypt`.
    DeterministicDecrypt,
    /// `POST /v1/contexts/{context}/deterministic/encrypt`.
    DeterministicEncrypt,
    /// `POST /v1/contexts/{context}/detokenize`.
    Detokenize,
    /// `POST /v1/contexts/{context}/encrypt`.
    Encrypt,
    /// `POST /v1/contexts/{context}/encrypt/stream`.
    EncryptStream,
    /// `GET /v1/health`.
    Health,
    /// `POST /v1/contexts/{context}/key/approve`.
    KeyApprove,
    /// `POST /v1/contexts/{context}/key/cancel-destroy`.
    KeyCancelDestroy,
    /// `POST /v1/contexts/{context}/key/destroy`.
    KeyDestroy,
    /// `POST /v1/contexts/{context}/key/export`.
    KeyExport,
    /// `POST /v1/contexts/{context}/key/resume`.
    KeyResume,
    /// `POST /v1/contexts/{context}/key/retire`.
    KeyRetire,
    /// `POST /v1/contexts/{context}/key/rotate`.
    KeyRotate,
    /// `POST /v1/contexts/{context}/key/schedule-destroy`.
    KeyScheduleDestroy,
    /// `POST /v1/contexts/{context}/key/suspend`.
    KeySuspend,
    /// `GET /v1/contexts/{context}/key/versions`.
    KeyVersions,
    /// `POST /v1/contexts/{context}/mac`.
    Mac,
    /// `POST /v1/contexts/{context}/mac/verify`.
    MacVerify,
    /// `POST /v1/contexts/{context}/mask`.
    Mask,
    /// `GET /metrics`.
    Metrics,
    /// `GET /v1/openapi.json`.
    Openapi,
    /// `POST /v1/contexts/{context}/public-key`.
    PublicKey,
    /// `POST /v1/random`.
    Random,
    /// `POST /v1/contexts/{context}/rewrap`.
    Rewrap,
    /// `POST /v1/contexts/{context}/sign`.
    Sign,
    /// `POST /v1/contexts/{context}/tokenize`.
    Tokenize,
    /// `POST /v1/contexts/{context}/verify`.
    Verify,
    /// `POST /v1/contexts/{context}/xpub`.
    Xpub,
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
    /// The name of the type of its request's items, if it has a body; `bytes` for a stream.
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
        self.request.is_some() && !self.is_order() && !self.is_stream()
    }

    /// Whether body and answer are bytes of any length, which are worked on as they come.
    #[must_use]
    pub const fn is_stream(&self) -> bool {
        matches!(
            self.endpoint,
            Endpoint::DecryptStream | Endpoint::EncryptStream
        )
    }

    /// Whether a listener of `plane` has the route: orders are for the one, work with keys is for the other, and what
    /// is only read is for both.
    #[must_use]
    pub const fn is_on(&self, plane: Plane) -> bool {
        match plane {
            Plane::Admin => self.request.is_none() || self.is_order(),
            Plane::Data => !self.is_order(),
        }
    }

    /// Whether the route takes one order, which changes the state of a key.
    #[must_use]
    pub const fn is_order(&self) -> bool {
        matches!(
            self.endpoint,
            Endpoint::KeyApprove
                | Endpoint::KeyCancelDestroy
                | Endpoint::KeyDestroy
                | Endpoint::KeyResume
                | Endpoint::KeyRetire
                | Endpoint::KeyRotate
                | Endpoint::KeyScheduleDestroy
                | Endpoint::KeySuspend
        )
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
    Code::RateLimited,
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
// A name that no context can have leads to no route, so that these answer `route_not_found` as well.
const IN_CONTEXT: &[Code] = &[
    Code::RequestMalformed,
    Code::BodyTooLarge,
    Code::TooManyItems,
    Code::RequestTimeout,
    Code::HolderUnavailable,
    Code::StoreUnavailable,
    Code::ContextNotFound,
    Code::RouteNotFound,
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
    Code::RouteNotFound,
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

const SEALED_STREAM: &[Code] = &[
    Code::RequestMalformed,
    Code::Base64Invalid,
    Code::AadTooLarge,
    Code::HolderUnavailable,
    Code::StoreUnavailable,
    Code::ContextNotFound,
    Code::RouteNotFound,
    Code::Unsupported,
    Code::NoActiveVersion,
];
const OPENED_STREAM: &[Code] = &[
    Code::RequestMalformed,
    Code::RequestTimeout,
    Code::Base64Invalid,
    Code::AadTooLarge,
    Code::HolderUnavailable,
    Code::StoreUnavailable,
    Code::ContextNotFound,
    Code::RouteNotFound,
    Code::Unsupported,
    Code::CiphertextMalformed,
    Code::KeyVersionUnavailable,
    Code::DecryptionFailed,
];

const VALUE_ITEM: &[Code] = &[Code::ValueUnfit, Code::TweakInvalid];
const TOKEN_ITEM: &[Code] = &[
    Code::ValueUnfit,
    Code::TweakInvalid,
    Code::VersionNotFound,
    Code::KeyVersionUnavailable,
];

const SIGN_ITEM: &[Code] = &[Code::Base64Invalid, Code::PathInvalid, Code::DigestInvalid];
const VERIFY_ITEM: &[Code] = &[
    Code::Base64Invalid,
    Code::PathInvalid,
    Code::DigestInvalid,
    Code::VersionNotFound,
    Code::KeyVersionUnavailable,
];
const AGREE_ITEM: &[Code] = &[
    Code::Base64Invalid,
    Code::PathInvalid,
    Code::PeerKeyInvalid,
    Code::VersionNotFound,
    Code::KeyVersionUnavailable,
];
const PUBLIC_KEY_ITEM: &[Code] = &[
    Code::PathInvalid,
    Code::VersionNotFound,
    Code::KeyVersionUnavailable,
];
const PATH_ITEM: &[Code] = &[Code::PathInvalid];
const MAC_ITEM: &[Code] = &[Code::Base64Invalid];
const MAC_VERIFY_ITEM: &[Code] = &[
    Code::Base64Invalid,
    Code::VersionNotFound,
    Code::KeyVersionUnavailable,
];

const ORDER: &[Code] = &[
    Code::RequestMalformed,
    Code::BodyTooLarge,
    Code::RequestTimeout,
    Code::HolderUnavailable,
    Code::StoreUnavailable,
    Code::ContextNotFound,
    Code::RouteNotFound,
    Code::Unsupported,
    Code::ValueInvalid,
    Code::VersionNotFound,
    Code::StateConflict,
];
const GRAVE_ORDER: &[Code] = &[
    Code::RequestMalformed,
    Code::BodyTooLarge,
    Code::RequestTimeout,
    Code::HolderUnavailable,
    Code::StoreUnavailable,
    Code::ContextNotFound,
    Code::RouteNotFound,
    Code::Unsupported,
    Code::ValueInvalid,
    Code::VersionNotFound,
    Code::StateConflict,
    Code::ApprovalMissing,
    Code::KeyInUse,
    Code::NotYetDue,
    Code::ClockUncertain,
];

/// A route that gives an order about versions of a key.
const fn order(
    (endpoint, action): (Endpoint, &'static str),
    operation: Operation,
    refusals: &'static [Code],
) -> Route {
    let types = ("KeyOrder", "KeyOrderAnswer");
    context((endpoint, action), operation, types, (refusals, &[]))
}

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
pub static ROUTES: [Route; 34] = [
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
        (Endpoint::EncryptStream, "encrypt/stream"),
        Operation::Encrypt,
        ("bytes", "bytes"),
        (SEALED_STREAM, &[]),
    ),
    context(
        (Endpoint::DecryptStream, "decrypt/stream"),
        Operation::Decrypt,
        ("bytes", "bytes"),
        (OPENED_STREAM, &[]),
    ),
    context(
        (Endpoint::Rewrap, "rewrap"),
        Operation::Rewrap,
        ("RewrapItem", "SealAnswer"),
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
    context(
        (Endpoint::DeterministicEncrypt, "deterministic/encrypt"),
        Operation::DeterministicEncrypt,
        ("SealItem", "SealAnswer"),
        (SEALING, SEALED_ITEM),
    ),
    context(
        (Endpoint::DeterministicDecrypt, "deterministic/decrypt"),
        Operation::DeterministicDecrypt,
        ("OpenItem", "OpenAnswer"),
        (IN_CONTEXT, OPENED_ITEM),
    ),
    context(
        (Endpoint::Tokenize, "tokenize"),
        Operation::Tokenize,
        ("ValueItem", "TokenAnswer"),
        (SEALING, VALUE_ITEM),
    ),
    context(
        (Endpoint::Detokenize, "detokenize"),
        Operation::Detokenize,
        ("TokenItem", "ValueAnswer"),
        (IN_CONTEXT, TOKEN_ITEM),
    ),
    context(
        (Endpoint::Mask, "mask"),
        Operation::Mask,
        ("TokenItem", "MaskAnswer"),
        (IN_CONTEXT, TOKEN_ITEM),
    ),
    context(
        (Endpoint::Sign, "sign"),
        Operation::Sign,
        ("SignItem", "SignAnswer"),
        (SEALING, SIGN_ITEM),
    ),
    context(
        (Endpoint::Verify, "verify"),
        Operation::Verify,
        ("VerifyItem", "VerifyAnswer"),
        (IN_CONTEXT, VERIFY_ITEM),
    ),
    context(
        (Endpoint::Agree, "agree"),
        Operation::Agree,
        ("AgreeItem", "AgreeAnswer"),
        (SEALING, AGREE_ITEM),
    ),
    context(
        (Endpoint::PublicKey, "public-key"),
        Operation::PublicKey,
        ("PublicKeyItem", "PublicKeyAnswer"),
        (SEALING, PUBLIC_KEY_ITEM),
    ),
    context(
        (Endpoint::Xpub, "xpub"),
        Operation::Xpub,
        ("PathItem", "XpubAnswer"),
        (SEALING, PATH_ITEM),
    ),
    context(
        (Endpoint::KeyExport, "key/export"),
        Operation::KeyExport,
        ("PathItem", "KeyExportAnswer"),
        (SEALING, PATH_ITEM),
    ),
    context(
        (Endpoint::Mac, "mac"),
        Operation::Mac,
        ("MacItem", "MacAnswer"),
        (SEALING, MAC_ITEM),
    ),
    context(
        (Endpoint::MacVerify, "mac/verify"),
        Operation::MacVerify,
        ("MacVerifyItem", "VerifyAnswer"),
        (IN_CONTEXT, MAC_VERIFY_ITEM),
    ),
    order(
        (Endpoint::KeySuspend, "key/suspend"),
        Operation::KeySuspend,
        ORDER,
    ),
    order(
        (Endpoint::KeyResume, "key/resume"),
        Operation::KeyResume,
        ORDER,
    ),
    order(
        (Endpoint::KeyRetire, "key/retire"),
        Operation::KeyRetire,
        ORDER,
    ),
    order(
        (Endpoint::KeyScheduleDestroy, "key/schedule-destroy"),
        Operation::KeyScheduleDestroy,
        GRAVE_ORDER,
    ),
    order(
        (Endpoint::KeyCancelDestroy, "key/cancel-destroy"),
        Operation::KeyCancelDestroy,
        ORDER,
    ),
    order(
        (Endpoint::KeyDestroy, "key/destroy"),
        Operation::KeyDestroy,
        GRAVE_ORDER,
    ),
    context(
        (Endpoint::KeyApprove, "key/approve"),
        Operation::KeyApprove,
        ("ApproveOrder", "ApproveAnswer"),
        (ORDER, &[]),
    ),
    context(
        (Endpoint::KeyRotate, "key/rotate"),
        Operation::KeyRotate,
        ("RotateOrder", "RotateAnswer"),
        (ORDER, &[]),
    ),
    Route {
        endpoint: Endpoint::KeyVersions,
        verb: Verb::Get,
        path: Path::Context("key/versions"),
        operation: Operation::KeyList,
        request: None,
        answer: "KeyVersionsAnswer",
        refusals: &[Code::ContextNotFound, Code::RouteNotFound],
        item_codes: &[],
    },
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
    match_route_on(None, method, path)
}

/// The same for a listener of one plane: what it does not have is nowhere.
#[must_use]
pub fn match_route_on<'p>(plane: Option<Plane>, method: &Method, path: &'p str) -> RouteMatch<'p> {
    let in_context = path
        .strip_prefix(CONTEXTS)
        .and_then(|rest| rest.split_once('/'))
        .filter(|(context, _)| Name::is_valid(context));
    let here = |route: &&Route| plane.is_none_or(|plane| route.is_on(plane));
    let mut routes = ROUTES.iter().filter(here);
    let found = routes.find(|route| match (route.path, in_context) {
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
