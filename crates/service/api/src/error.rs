//! The one table from code to status, sentence and retry.
//!
//! A sentence says what is wrong, which limit there is, and what to do; never anything of the request
//! itself. Numbers of configurable limits stand as `{items}` and `{body}` in the sentences of whole
//! requests and are filled in when the answer is written.

use std::borrow::Cow;

use http::StatusCode;
use keywright_types::{Code, RequestId};

use crate::answer::{ErrorAnswer, ErrorBody};
use crate::{Codec, Limits};

/// What is answered for one code.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    code: Code,
    status: StatusCode,
    sentence: &'static str,
    retry_after: Option<u16>,
}

impl Entry {
    /// The code.
    #[must_use]
    pub const fn code(&self) -> Code {
        self.code
    }

    /// The status of a request that ends so.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        self.status
    }

    /// The sentence, with `{items}` and `{body}` where a configurable limit belongs.
    #[must_use]
    pub const fn sentence(&self) -> &'static str {
        self.sentence
    }

    /// Seconds for `Retry-After`: exactly with 429 and 503.
    #[must_use]
    pub const fn retry_after(&self) -> Option<u16> {
        self.retry_after
    }

    /// The sentence with its limits.
    #[must_use]
    pub fn message(&self, limits: &Limits) -> Cow<'static, str> {
        if !self.sentence.contains('{') {
            return Cow::Borrowed(self.sentence);
        }
        let items = limits.items.to_string();
        let body = limits.body_bytes.to_string();
        let filled = self
            .sentence
            .replace("{items}", &items)
            .replace("{body}", &body);
        Cow::Owned(filled)
    }
}

/// The entry of a code; that of `internal` for a code this table does not know.
#[must_use]
pub fn entry(code: Code) -> &'static Entry {
    TABLE
        .get(usize::from(code.number()))
        .filter(|entry| entry.code == code)
        .unwrap_or(&INTERNAL)
}

/// Why a request is refused as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    code: Code,
    expects: Option<&'static str>,
    at: Option<At>,
    /// When to come back, where that is known better than the table knows it.
    seconds: Option<u32>,
}

/// Where it shows that a body is not what the route takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// In CBOR: the bytes before the item.
    Offset(usize),
    /// In JSON: line and column, from 1.
    Text(usize, usize),
}

impl Refusal {
    /// A refusal with the sentence of the table.
    #[must_use]
    pub const fn new(code: Code) -> Self {
        Self {
            code,
            expects: None,
            at: None,
            seconds: None,
        }
    }

    /// The same, for a caller who is to come back after this many seconds. For a code whose status
    /// carries no `Retry-After` they are not told.
    #[must_use]
    pub const fn after(mut self, seconds: u32) -> Self {
        self.seconds = Some(seconds);
        self
    }

    /// A body of JSON that is not what the route takes, and where that showed.
    pub(crate) fn malformed(expects: &'static str, at: Option<(usize, usize)>) -> Self {
        Self {
            expects: Some(expects),
            at: at.map(|(line, column)| At::Text(line, column)),
            ..Self::new(Code::RequestMalformed)
        }
    }

    /// The same of CBOR.
    pub(crate) const fn malformed_cbor(expects: &'static str, offset: usize) -> Self {
        Self {
            expects: Some(expects),
            at: Some(At::Offset(offset)),
            ..Self::new(Code::RequestMalformed)
        }
    }

    /// The code.
    #[must_use]
    pub const fn code(&self) -> Code {
        self.code
    }

    /// The status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        entry(self.code).status
    }

    /// Seconds for `Retry-After`.
    #[must_use]
    pub fn retry_after(&self) -> Option<u32> {
        let usual = entry(self.code).retry_after?;
        Some(self.seconds.unwrap_or(usual.into()))
    }

    /// What the caller is told.
    #[must_use]
    pub fn message(&self, limits: &Limits) -> String {
        let mut message = entry(self.code).message(limits).into_owned();
        if let Some(expects) = self.expects {
            message = format!("{message}; it takes {expects}, and nothing else");
        }
        match self.at {
            Some(At::Offset(offset)) => format!("{message} (offset {offset} of the CBOR)"),
            Some(At::Text(line, column)) => format!("{message} (line {line}, column {column})"),
            None => message,
        }
    }

    /// The body of the answer.
    #[must_use]
    pub fn body(&self, codec: Codec, limits: &Limits, request: RequestId) -> Vec<u8> {
        let answer = ErrorAnswer {
            error: ErrorBody {
                code: self.code.name().to_owned(),
                message: self.message(limits),
                // A refusal that is only counted has no record that an id would lead to.
                request: (!request.is_none()).then_some(request),
            },
        };
        // Three texts in a map have both forms; an empty body would still carry the status.
        codec.encode(&answer).unwrap_or_default()
    }
}

impl From<Code> for Refusal {
    fn from(code: Code) -> Self {
        Self::new(code)
    }
}

const fn row(code: Code, status: StatusCode, sentence: &'static str) -> Entry {
    Entry {
        code,
        status,
        sentence,
        retry_after: None,
    }
}

/// 503, and when to come back.
const fn later(code: Code, seconds: u16, sentence: &'static str) -> Entry {
    again(code, StatusCode::SERVICE_UNAVAILABLE, seconds, sentence)
}

/// A refusal that time cures, and when to come back.
const fn again(code: Code, status: StatusCode, seconds: u16, sentence: &'static str) -> Entry {
    Entry {
        code,
        status,
        sentence,
        retry_after: Some(seconds),
    }
}

const INTERNAL: Entry = row(
    Code::Internal,
    StatusCode::INTERNAL_SERVER_ERROR,
    "a fault of the service; report it with the request id",
);

/// In the order of the codes' numbers, which is how [`entry`] finds them.
static TABLE: [Entry; 48] = [
    row(Code::Ok, StatusCode::OK, "done"),
    row(
        Code::RequestMalformed,
        StatusCode::BAD_REQUEST,
        "the body is not what this route takes",
    ),
    row(
        Code::Base64Invalid,
        StatusCode::BAD_REQUEST,
        "a binary field is not standard base64 with padding (RFC 4648 section 4)",
    ),
    row(
        Code::BodyTooLarge,
        StatusCode::PAYLOAD_TOO_LARGE,
        "the body has more than {body} bytes; send several requests, or take a data key and encrypt locally",
    ),
    row(
        Code::TooManyItems,
        StatusCode::PAYLOAD_TOO_LARGE,
        "more than {items} items, or random items of more than 12 MiB together; send several requests",
    ),
    row(
        Code::AadTooLarge,
        StatusCode::BAD_REQUEST,
        "the aad has more than 16384 bytes; give a hash of it instead",
    ),
    row(
        Code::ContextNotFound,
        StatusCode::NOT_FOUND,
        "there is no context of this name on which you have a right; GET /v1/contexts lists them",
    ),
    row(
        Code::OperationDenied,
        StatusCode::FORBIDDEN,
        "the policy does not allow you this operation; ask for a grant that names it",
    ),
    row(
        Code::CiphertextMalformed,
        StatusCode::BAD_REQUEST,
        "the ciphertext is not one that this service wrote, or it was cut or changed",
    ),
    row(
        Code::KeyVersionUnavailable,
        StatusCode::CONFLICT,
        "the key version of this ciphertext may not open any more; ask the owner of the context",
    ),
    row(
        Code::DecryptionFailed,
        StatusCode::BAD_REQUEST,
        "the ciphertext does not open here; check context, aad and certificate",
    ),
    row(
        Code::RouteNotFound,
        StatusCode::NOT_FOUND,
        "there is no such route; /v1/openapi.json lists them, paths are compared byte for byte",
    ),
    row(
        Code::MethodNotAllowed,
        StatusCode::METHOD_NOT_ALLOWED,
        "this route takes another method; see the Allow header",
    ),
    row(
        Code::PrincipalUnknown,
        StatusCode::FORBIDDEN,
        "the policy knows no principal with this certificate; ask for a rule that matches it",
    ),
    row(
        Code::PrincipalAmbiguous,
        StatusCode::FORBIDDEN,
        "the certificate matches more than one principal; the policy has to tell them apart",
    ),
    row(
        Code::CertificateRevoked,
        StatusCode::FORBIDDEN,
        "the certificate is revoked; ask for a new one",
    ),
    row(
        Code::CertificateExpired,
        StatusCode::FORBIDDEN,
        "the certificate is not valid at this time; renew it, or check the clock",
    ),
    later(
        Code::HolderUnavailable,
        5,
        "the key holder does not answer; try again, nothing was done",
    ),
    later(
        Code::AuditUnavailable,
        5,
        "the audit log cannot be written, so nothing is handed out; try again",
    ),
    later(
        Code::Overloaded,
        1,
        "too many requests are waiting; try again after a pause",
    ),
    later(
        Code::DeadlineExceeded,
        1,
        "the request took longer than it may; try again, or send fewer items",
    ),
    later(
        Code::StoreUnavailable,
        5,
        "the store does not answer; try again",
    ),
    INTERNAL,
    row(
        Code::Unsupported,
        StatusCode::BAD_REQUEST,
        "the key of this context cannot do this; use a context of another kind",
    ),
    row(
        Code::NameInvalid,
        StatusCode::BAD_REQUEST,
        "a name has 1 to 63 letters, digits, '.', '_' or '-', and starts with a letter or digit",
    ),
    row(
        Code::NameTaken,
        StatusCode::CONFLICT,
        "the name is in use, or once was, or differs from one in case only; choose another",
    ),
    later(
        Code::ShuttingDown,
        1,
        "this node is stopping; connect again",
    ),
    row(
        Code::VersionNotFound,
        StatusCode::NOT_FOUND,
        "the key has no version of this number; list its versions",
    ),
    row(
        Code::StateConflict,
        StatusCode::CONFLICT,
        "the state of the key version does not allow this; look at its state first",
    ),
    row(
        Code::Interrupted,
        StatusCode::INTERNAL_SERVER_ERROR,
        "a stop cut this order short; look at the state before you repeat it",
    ),
    row(
        Code::CertificateMissing,
        StatusCode::FORBIDDEN,
        "a client certificate is required",
    ),
    row(
        Code::CertificateUntrusted,
        StatusCode::FORBIDDEN,
        "the issuer of the certificate is not trusted here",
    ),
    row(
        Code::HandshakeFailed,
        StatusCode::BAD_REQUEST,
        "the TLS handshake failed; TLS 1.3 with a client certificate is required",
    ),
    row(
        Code::ValueInvalid,
        StatusCode::BAD_REQUEST,
        "a number or length is outside its limits; random takes 1 to 65536 bytes",
    ),
    row(
        Code::NoActiveVersion,
        StatusCode::CONFLICT,
        "the context has no active key version to seal with; its owner has to rotate it",
    ),
    row(
        Code::RequestTimeout,
        StatusCode::REQUEST_TIMEOUT,
        "the request did not arrive in time; send it faster or in parts",
    ),
    row(
        Code::CertificateMalformed,
        StatusCode::FORBIDDEN,
        "the certificate cannot be read, or a name in it has control characters",
    ),
    row(
        Code::ValueUnfit,
        StatusCode::BAD_REQUEST,
        "the value or token is not in the format of the context; GET /v1/contexts shows the format",
    ),
    row(
        Code::TweakInvalid,
        StatusCode::BAD_REQUEST,
        "the tweak has other columns than the context needs, or more than 16384 bytes; GET /v1/contexts shows them",
    ),
    row(
        Code::PathInvalid,
        StatusCode::BAD_REQUEST,
        "the path leads to no key here; a tree takes one such as m/44'/0'/7' with children that its scheme has, other contexts take none",
    ),
    row(
        Code::DigestInvalid,
        StatusCode::BAD_REQUEST,
        "an item has either a message or a digest of 32 bytes (48 for P-384, 64 for P-521), and Ed25519 and ML-DSA sign messages alone",
    ),
    row(
        Code::PeerKeyInvalid,
        StatusCode::BAD_REQUEST,
        "the public key is none of the curve of this context, or makes no secret",
    ),
    row(
        Code::ApprovalMissing,
        StatusCode::FORBIDDEN,
        "this order needs the approval of two other principals, given within a day to exactly this order",
    ),
    row(
        Code::KeyInUse,
        StatusCode::CONFLICT,
        "the key version was used or asked for too lately, or its campaign is open; wait, or order it despite use",
    ),
    row(
        Code::NotYetDue,
        StatusCode::CONFLICT,
        "the day of the destruction has not come; the list of versions shows it",
    ),
    row(
        Code::ClockUncertain,
        StatusCode::CONFLICT,
        "the clock of the node jumped; its operator has to confirm that it is right",
    ),
    again(
        Code::RateLimited,
        StatusCode::TOO_MANY_REQUESTS,
        1,
        "you ask for more than the policy allows you in this time; wait as long as Retry-After says",
    ),
    row(
        Code::TokenRefused,
        StatusCode::FORBIDDEN,
        "the token is none of this certificate and node, or is over; log in again, or send none",
    ),
];
