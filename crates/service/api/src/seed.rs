//! Routes for programs that speak the API of the seed service (hsm-service 1.0).
//!
//! The same operations as on native routes, under the same rights. What that service let pass in a body passes here,
//! because its clients rely on it, and nowhere else: unknown fields, names of fields in any case, bytes behind the
//! object, fields that are missing, line ends inside base64. Of its answers the shapes, the statuses and the sentences
//! of a client's mistakes are kept, with a stable `code` beside the sentence.
//!
//! Different from there on purpose: a body that is too large is 413, what is not there at the moment is 503 with
//! `Retry-After`, every answer is JSON, and health is true.

mod describe;
mod request;

use std::borrow::Cow;

use http::{Method, StatusCode};
use keywright_encoding::base64;
use keywright_types::{Code, Operation, VersionLabel};
use serde::Serialize;

use crate::Limits;
use crate::error::entry;

pub use describe::add_to;
pub use request::{DecryptBody, EncryptBody, decode_into};

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever serves routes must face each of them"
)]
pub enum Endpoint {
    /// Open what the label beside it says.
    Decrypt,
    /// Seal under the active version of a context.
    Encrypt,
    /// How the service is.
    Health,
}

impl Endpoint {
    /// Every route that is not there natively: `GET /metrics` is.
    pub const ALL: [Self; 3] = [Self::Decrypt, Self::Encrypt, Self::Health];

    /// The route of a path, compared byte for byte.
    #[must_use]
    pub fn of(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|route| route.path() == path)
    }

    /// The path.
    #[must_use]
    pub const fn path(self) -> &'static str {
        match self {
            Self::Decrypt => "/decrypt",
            Self::Encrypt => "/encrypt",
            Self::Health => "/health",
        }
    }

    /// What policy is asked for and audit records.
    #[must_use]
    pub const fn operation(self) -> Operation {
        match self {
            Self::Decrypt => Operation::Decrypt,
            Self::Encrypt => Operation::Encrypt,
            Self::Health => Operation::HealthRead,
        }
    }

    /// Whether it is asked like this: health in any way.
    #[must_use]
    pub fn takes(self, method: &Method) -> bool {
        match self {
            Self::Decrypt | Self::Encrypt => method == Method::POST,
            Self::Health => true,
        }
    }
}

/// Status and sentence of a refusal, as clients of that service know them.
#[must_use]
pub fn refusal(endpoint: Endpoint, code: Code, limits: &Limits) -> (StatusCode, Cow<'static, str>) {
    let (status, sentence) = match (code, endpoint) {
        (Code::RequestMalformed, _) => (StatusCode::BAD_REQUEST, "invalid JSON"),
        (Code::Base64Invalid, Endpoint::Encrypt) => {
            (StatusCode::BAD_REQUEST, "invalid base64 plaintext")
        }
        (Code::Base64Invalid, _) => (StatusCode::BAD_REQUEST, "invalid base64 ciphertext"),
        // Which of the two it is says the code.
        (Code::ContextNotFound | Code::OperationDenied, _) => (
            StatusCode::FORBIDDEN,
            "access denied: insufficient permissions",
        ),
        (Code::PrincipalUnknown | Code::PrincipalAmbiguous, _) => (
            StatusCode::FORBIDDEN,
            "access denied: unknown organizational unit",
        ),
        (Code::CertificateRevoked, _) => (StatusCode::FORBIDDEN, "certificate revoked"),
        (
            Code::CiphertextMalformed
            | Code::DecryptionFailed
            | Code::KeyVersionUnavailable
            | Code::Unsupported,
            Endpoint::Decrypt,
        ) => (StatusCode::BAD_REQUEST, "decryption failed"),
        (Code::NoActiveVersion | Code::Unsupported, Endpoint::Encrypt) => {
            (StatusCode::INTERNAL_SERVER_ERROR, "encryption failed")
        }
        (Code::MethodNotAllowed, _) => (StatusCode::METHOD_NOT_ALLOWED, "only POST allowed"),
        (Code::RateLimited, _) => (StatusCode::TOO_MANY_REQUESTS, "rate limit exceeded"),
        (Code::BodyTooLarge, _) => (StatusCode::PAYLOAD_TOO_LARGE, "request body too large"),
        (other, _) => {
            let entry = entry(other);
            return (entry.status(), entry.message(limits));
        }
    };
    (status, Cow::Borrowed(sentence))
}

/// The body of a refusal.
#[must_use]
pub fn refused(code: Code, sentence: &str) -> Vec<u8> {
    #[derive(Serialize)]
    struct Refused<'a> {
        error: &'a str,
        code: &'a str,
    }
    line(&Refused {
        error: sentence,
        code: code.name(),
    })
}

/// The answer of `/encrypt`: an envelope, and the label of the version that sealed it.
#[must_use]
pub fn sealed(envelope: &[u8], label: VersionLabel) -> Vec<u8> {
    let mut out = String::with_capacity(envelope.len() / 3 * 4 + 96);
    out.push_str("{\"ciphertext\":\"");
    base64::encode_into(envelope, &mut out);
    out.push_str("\",\"key_id\":\"");
    // Digits and points: nothing that JSON escapes.
    out.push_str(&label.to_string());
    out.push_str("\"}\n");
    out.into_bytes()
}

/// The answer of `/decrypt`. The buffer is as large as it gets, so that it leaves no copy behind.
#[must_use]
pub fn opened(plaintext: &[u8]) -> Vec<u8> {
    let mut out = String::with_capacity(plaintext.len().div_ceil(3) * 4 + 32);
    out.push_str("{\"plaintext\":\"");
    base64::encode_into(plaintext, &mut out);
    out.push_str("\"}\n");
    out.into_bytes()
}

/// The answer of `/health`: whether the service works, whether its keys can be reached, and each label that the caller
/// may know of with whether its version may open.
#[must_use]
#[expect(
    clippy::fn_params_excessive_bools,
    reason = "the two facts that the answer names"
)]
pub fn health(ready: bool, holder: bool, labels: &[(String, bool)]) -> Vec<u8> {
    #[derive(Serialize)]
    struct Health<'a> {
        status: &'a str,
        hsm_available: bool,
        kek_status: serde_json::Map<String, serde_json::Value>,
    }
    let word = |opens: bool| match holder && opens {
        true => "available",
        false => "unavailable",
    };
    let labels = labels.iter();
    line(&Health {
        status: if ready { "healthy" } else { "degraded" },
        hsm_available: holder,
        kek_status: labels
            .map(|(label, opens)| (label.clone(), word(*opens).into()))
            .collect(),
    })
}

/// JSON, and the line end that stands behind it there.
fn line<T: Serialize>(value: &T) -> Vec<u8> {
    // Texts in a map always have a JSON form.
    let mut out = serde_json::to_vec(value).unwrap_or_default();
    out.push(b'\n');
    out
}
