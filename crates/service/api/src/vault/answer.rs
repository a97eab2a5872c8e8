//! Answers in the form that Vault's clients read, and the form of errors.

use std::borrow::Cow;

use http::StatusCode;
use keywright_encoding::{base64, der, hex};
use keywright_types::{Code, KeyVersion, RequestId};
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::{Refusal, entry};
use crate::write::Buffer;
use crate::{Binary, Limits};

// === errors ===

/// Why a request is refused as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    code: Code,
    because: Option<&'static str>,
}

impl Refused {
    /// A refusal with the sentence of the table of errors.
    #[must_use]
    pub const fn new(code: Code) -> Self {
        Self {
            code,
            because: None,
        }
    }

    /// A refusal with a sentence of its own, which says nothing of the request.
    #[must_use]
    pub const fn because(code: Code, because: &'static str) -> Self {
        Self {
            code,
            because: Some(because),
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
        status(self.code)
    }

    /// Seconds for `Retry-After`.
    #[must_use]
    pub fn retry_after(&self) -> Option<u16> {
        entry(self.code).retry_after()
    }

    /// The body of the answer.
    #[must_use]
    pub fn body(&self, limits: &Limits, request: RequestId) -> Vec<u8> {
        let told = self
            .because
            .map_or_else(|| sentence(self.code, limits), Cow::Borrowed);
        let answer = Errors {
            errors: vec![told.into_owned()],
            code: self.code.name().to_owned(),
            request_id: uuid(request),
        };
        // Three texts in a map cannot fail to be JSON; an empty body would still carry the status.
        serde_json::to_vec(&answer).unwrap_or_default()
    }
}

impl From<Code> for Refused {
    fn from(code: Code) -> Self {
        Self::new(code)
    }
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Self {
        Self::new(refusal.code())
    }
}

/// The answer to a request that was refused.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "TransitErrors")]
pub(crate) struct Errors {
    /// What is wrong, in words.
    errors: Vec<String>,
    /// The stable code, as native routes answer it.
    code: String,
    /// The id under which the audit log has the request.
    request_id: String,
}

/// The status that Vault's clients expect. They know no 409; and what a policy forbids looks there like what does not
/// exist, because a policy is about paths.
#[must_use]
pub fn status(code: Code) -> StatusCode {
    match code {
        Code::ContextNotFound | Code::OperationDenied => StatusCode::FORBIDDEN,
        Code::VersionNotFound => StatusCode::BAD_REQUEST,
        _ => match entry(code).status() {
            StatusCode::CONFLICT => StatusCode::BAD_REQUEST,
            other => other,
        },
    }
}

/// The sentence of a code, for these routes.
fn sentence(code: Code, limits: &Limits) -> Cow<'static, str> {
    match code {
        Code::ContextNotFound | Code::OperationDenied => Cow::Borrowed("permission denied"),
        Code::RouteNotFound => {
            Cow::Borrowed("no handler for route; /v1/openapi.json lists those that are there")
        }
        Code::MethodNotAllowed => Cow::Borrowed("unsupported operation; see the Allow header"),
        Code::ValueInvalid => {
            Cow::Borrowed("a number, a version or a length is not one that this key or route takes")
        }
        _ => entry(code).message(limits),
    }
}

/// A request id in the spelling of a UUID.
fn uuid(request: RequestId) -> String {
    let text = hex::encode(request.as_bytes());
    let parts = [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)];
    let parts = parts.map(|(from, to)| text.get(from..to).unwrap_or_default());
    parts.join("-")
}

// === what was done ===

/// What became of an item.
#[derive(Clone, Copy)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the answers of the routes of items"
)]
pub enum Done<'a> {
    /// A message authentication code.
    Code {
        /// The code.
        code: &'a [u8],
        /// The version that made it.
        version: KeyVersion,
    },
    /// A data key.
    Datakey {
        /// The key, unless only the wrapped one was asked for.
        plaintext: Option<&'a [u8]>,
        /// The wrapped key.
        ciphertext: &'a [u8],
        /// The version that wrapped it.
        version: KeyVersion,
    },
    /// An opened message or data key.
    Opened(&'a [u8]),
    /// Random bytes, in base64.
    Random(&'a [u8]),
    /// Random bytes, in hexadecimal.
    RandomHex(&'a [u8]),
    /// A sealed message.
    Sealed {
        /// The envelope.
        ciphertext: &'a [u8],
        /// The version that sealed it.
        version: KeyVersion,
    },
    /// A signature.
    Signed {
        /// The signature.
        signature: &'a [u8],
        /// How its bytes are spelt.
        spelling: Spelling,
        /// The version that made it.
        version: KeyVersion,
    },
    /// Whether something fits.
    Verified(bool),
}

/// How bytes behind `vault:v1:` are spelt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are no others")]
pub enum Spelling {
    /// r and s as ASN.1 has them, in standard base64.
    Der,
    /// Standard base64 with padding.
    Standard,
    /// Base64 for URLs without padding, as JSON Web Signatures have it.
    Url,
}

impl std::fmt::Debug for Done<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Code { .. } => "Code",
            Self::Datakey { .. } => "Datakey",
            Self::Opened(_) => "Opened",
            Self::Random(_) | Self::RandomHex(_) => "Random",
            Self::Sealed { .. } => "Sealed",
            Self::Signed { .. } => "Signed",
            Self::Verified(_) => "Verified",
        })
    }
}

impl Done<'_> {
    /// At least as many bytes as the item takes in JSON.
    const fn room(&self) -> usize {
        FIELDS
            + 2 * match self {
                Self::Code { code: bytes, .. }
                | Self::Sealed {
                    ciphertext: bytes, ..
                }
                | Self::Signed {
                    signature: bytes, ..
                }
                | Self::Opened(bytes)
                | Self::Random(bytes)
                | Self::RandomHex(bytes) => bytes.len(),
                Self::Datakey {
                    plaintext,
                    ciphertext,
                    ..
                } => match plaintext {
                    Some(plaintext) => plaintext.len() + ciphertext.len(),
                    None => ciphertext.len(),
                },
                Self::Verified(_) => 0,
            }
    }
}

/// The answer to a request of one item.
#[must_use]
pub fn one(done: &Done<'_>, request: RequestId) -> Vec<u8> {
    let mut out = begin(request, done.room());
    out.text("{");
    item(&mut out, done);
    out.text("}");
    end(out)
}

/// The answer to a batch: a result for each item, and the reference that came with it.
#[must_use]
pub fn batch<'a>(
    results: impl Iterator<Item = (Result<Done<'a>, Code>, Option<&'a str>)>,
    (request, limits): (RequestId, &Limits),
    bytes: usize,
) -> Vec<u8> {
    let mut out = begin(request, bytes);
    out.text("{\"batch_results\":[");
    for (index, (result, reference)) in results.enumerate() {
        out.reserve(FIELDS);
        out.text(if index > 0 { ",{" } else { "{" });
        match &result {
            Ok(done) => {
                out.reserve(done.room());
                item(&mut out, done);
            }
            Err(code) => {
                let sentence = sentence(*code, limits);
                out.reserve(sentence.len() + FIELDS);
                out.quoted("\"error\":\"", &sentence);
            }
        }
        if let Some(reference) = reference {
            out.reserve(reference.len() + FIELDS);
            out.quoted(",\"reference\":\"", reference);
        }
        out.text("}");
    }
    out.reserve(FIELDS);
    out.text("]}");
    end(out)
}

/// The answer with `data` that holds nothing secret.
#[must_use]
pub fn data<T: Serialize>(data: &T, request: RequestId) -> Vec<u8> {
    // Plain structs of texts and numbers always have a JSON form.
    let text = serde_json::to_string(data).unwrap_or_default();
    let mut out = begin(request, text.len());
    out.reserve(text.len() + FIELDS);
    out.text(&text);
    end(out)
}

/// The answer to a login.
#[must_use]
pub fn login(token: &str, principal: &str, seconds: u64, request: RequestId) -> Vec<u8> {
    let answer = LoginAnswer {
        request_id: uuid(request),
        lease_id: String::new(),
        renewable: false,
        lease_duration: 0,
        data: None,
        warnings: None,
        auth: Some(Auth {
            client_token: token.to_owned(),
            accessor: String::new(),
            policies: Vec::new(),
            token_policies: Vec::new(),
            metadata: Metadata {
                cert_name: principal.to_owned(),
            },
            lease_duration: seconds,
            renewable: false,
            entity_id: String::new(),
            token_type: "batch".to_owned(),
            orphan: true,
            num_uses: 0,
        }),
    };
    serde_json::to_vec(&answer).unwrap_or_default()
}

fn begin(request: RequestId, bytes: usize) -> Buffer {
    let mut out = Buffer::with_capacity(bytes + 2 * FIELDS);
    out.text("{\"request_id\":\"");
    out.text(&uuid(request));
    out.text("\",\"lease_id\":\"\",\"renewable\":false,\"lease_duration\":0,\"data\":");
    out
}

fn end(mut out: Buffer) -> Vec<u8> {
    out.reserve(FIELDS);
    out.text(",\"wrap_info\":null,\"warnings\":null,\"auth\":null}");
    out.finish()
}

/// The fields of an item; the braces are the caller's.
fn item(out: &mut Buffer, done: &Done<'_>) {
    match *done {
        Done::Code { code, version } => {
            out.text("\"hmac\":\"");
            versioned(out, version, code);
        }
        Done::Datakey {
            plaintext,
            ciphertext,
            version,
        } => {
            if let Some(plaintext) = plaintext {
                out.binary("\"plaintext\":\"", plaintext);
                out.text(",");
            }
            out.text("\"ciphertext\":\"");
            versioned(out, version, ciphertext);
            out.version(version);
        }
        Done::Opened(plaintext) => out.binary("\"plaintext\":\"", plaintext),
        Done::Random(bytes) => out.binary("\"random_bytes\":\"", bytes),
        Done::RandomHex(bytes) => {
            out.text("\"random_bytes\":\"");
            bytes.iter().for_each(|byte| out.hex(*byte));
            out.text("\"");
        }
        Done::Sealed {
            ciphertext,
            version,
        } => {
            out.text("\"ciphertext\":\"");
            versioned(out, version, ciphertext);
            out.version(version);
        }
        Done::Signed {
            signature,
            spelling,
            version,
        } => {
            out.text("\"signature\":\"");
            put_signature(out, version, (signature, spelling));
            out.version(version);
        }
        Done::Verified(valid) => out.text(if valid {
            "\"valid\":true"
        } else {
            "\"valid\":false"
        }),
    }
}

/// A signature as it was asked for, behind version and prefix, and the quotation mark.
fn put_signature(out: &mut Buffer, version: KeyVersion, (signature, spelling): (&[u8], Spelling)) {
    match spelling {
        Spelling::Der => {
            let der = der::signature_to_der(signature).unwrap_or_default();
            versioned(out, version, &der);
        }
        Spelling::Standard => versioned(out, version, signature),
        Spelling::Url => {
            prefix(out, version);
            let text = base64::encode(signature)
                .replace('+', "-")
                .replace('/', "_");
            out.text(text.trim_end_matches('='));
            out.text("\"");
        }
    }
}

/// `vault:v`, the version, `:`, the bytes, and the quotation mark.
fn versioned(out: &mut Buffer, version: KeyVersion, bytes: &[u8]) {
    prefix(out, version);
    out.binary("", bytes);
}

fn prefix(out: &mut Buffer, version: KeyVersion) {
    out.text("vault:v");
    out.number(version.number());
    out.text(":");
}

/// More than names, version and prefix of any item take, and than what stands around the items.
const FIELDS: usize = 256;

// === what answers hold, for the description and for answers without secrets ===

/// What a login answers.
#[derive(Serialize, JsonSchema)]
pub(crate) struct LoginAnswer {
    /// The id under which the audit log has the request.
    request_id: String,
    /// Always empty.
    lease_id: String,
    /// Always false.
    renewable: bool,
    /// Always 0.
    lease_duration: u64,
    /// Always null.
    data: Option<()>,
    /// Always null.
    warnings: Option<()>,
    /// The token.
    auth: Option<Auth>,
}

/// A token and what it is.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Auth {
    /// The token.
    client_token: String,
    /// Always empty.
    accessor: String,
    /// Always empty: the token grants nothing.
    policies: Vec<String>,
    /// Always empty.
    token_policies: Vec<String>,
    /// Whose certificate it is.
    metadata: Metadata,
    /// Seconds for which it works.
    lease_duration: u64,
    /// Always false.
    renewable: bool,
    /// Always empty.
    entity_id: String,
    /// Always `batch`.
    token_type: String,
    /// Always true.
    orphan: bool,
    /// Always 0: any number of times.
    num_uses: u64,
}

/// Whose certificate a token is for.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Metadata {
    /// The name of the principal.
    cert_name: String,
}

/// What a token is.
#[derive(Debug, Serialize, JsonSchema)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct TokenFacts {
    /// Always empty.
    pub accessor: String,
    /// `cert-` and the name of the principal.
    pub display_name: String,
    /// When it ends (RFC 3339).
    #[schemars(extend("format" = "date-time"))]
    pub expire_time: String,
    /// Always 0.
    pub num_uses: u64,
    /// Always true.
    pub orphan: bool,
    /// Where it came from.
    pub path: String,
    /// Always empty: it grants nothing.
    pub policies: Vec<String>,
    /// Always false.
    pub renewable: bool,
    /// Seconds until then.
    pub ttl: u64,
    /// Always `batch`.
    #[serde(rename = "type")]
    pub kind: String,
}

/// The names of keys.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "TransitKeys")]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct KeyNames {
    /// In their order.
    pub keys: Vec<String>,
}

/// One key.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "TransitKey")]
#[expect(clippy::exhaustive_structs, reason = "the fields of the JSON")]
pub struct KeyFacts {
    /// Its name.
    pub name: String,
    /// Its algorithm: Vault's word where it has one for the same, else ours.
    #[serde(rename = "type")]
    pub kind: String,
    /// The version that seals, or the newest.
    pub latest_version: u32,
    /// The least version that opens.
    pub min_decryption_version: u32,
    /// Always 0.
    pub min_encryption_version: u32,
    /// Always 0.
    pub min_available_version: u32,
    /// Always false: destruction has rules of its own.
    pub deletion_allowed: bool,
    /// Always false.
    pub derived: bool,
    /// Always false.
    pub exportable: bool,
    /// Always false.
    pub allow_plaintext_backup: bool,
    /// Whether its first version was brought in.
    pub imported_key: bool,
    /// Whether it seals.
    pub supports_encryption: bool,
    /// Whether it opens.
    pub supports_decryption: bool,
    /// Always false.
    pub supports_derivation: bool,
    /// Whether it signs.
    pub supports_signing: bool,
    /// When each version was made: seconds since 1970, or an object that says more of a key that signs.
    pub keys: std::collections::BTreeMap<String, VersionFacts>,
}

/// One version of a key.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[expect(clippy::exhaustive_enums, reason = "the two forms of the JSON")]
pub enum VersionFacts {
    /// When it was made, in seconds since 1970.
    Created(u64),
    /// A version of a key that signs.
    Signs {
        /// When it was made (RFC 3339).
        creation_time: String,
        /// Its algorithm.
        name: String,
        /// Its public key: PEM, of Ed25519 base64; empty if the caller may not see it.
        public_key: String,
    },
}

macro_rules! described {
    ($($(#[$meta:meta])* $name:ident { $($(#[$about:meta])* $field:ident: $type:ty),* $(,)? })*) => { $(
        $(#[$meta])*
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "says what `item` writes, in the description only")]
        pub(crate) struct $name { $($(#[$about])* $field: $type),* }
    )* };
}

described! {
    /// The answer of `encrypt` and `rewrap`.
    TransitCiphertext {
        /// `vault:v`, the version, `:`, and the envelope in base64.
        ciphertext: String,
        /// The version that sealed it.
        key_version: u32,
    }
    /// The answer of `decrypt`.
    TransitPlaintext {
        /// The bytes that were sealed.
        plaintext: Binary<'static>,
    }
    /// The answer of `datakey`.
    TransitDatakeyAnswer {
        /// The key, 32 bytes, where it was asked for.
        plaintext: Option<Binary<'static>>,
        /// The wrapped key, as `encrypt` writes ciphertexts.
        ciphertext: String,
        /// The version that wrapped it.
        key_version: u32,
    }
    /// The answer of `sign`.
    TransitSignature {
        /// `vault:v`, the version, `:`, and the signature.
        signature: String,
        /// The version that made it.
        key_version: u32,
    }
    /// The answer of `verify`.
    TransitValid {
        /// Whether it fits. What does not fit is no error.
        valid: bool,
    }
    /// The answer of `hmac`.
    TransitCode {
        /// `vault:v`, the version, `:`, and the code in base64.
        hmac: String,
    }
    /// The answer of `random`.
    TransitRandomBytes {
        /// The bytes, in the format that was asked for.
        random_bytes: String,
    }
    /// What became of an item of a batch that failed.
    TransitItemError {
        /// What is wrong, in words.
        error: String,
        /// The reference that came with it.
        reference: Option<String>,
    }
}
