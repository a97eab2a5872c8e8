//! Answers of the hot routes, written in one pass into one buffer.
//!
//! Every item of every batch goes through here, so no tree of values is built. The buffer may
//! hold plaintext and keys: what it leaves behind when it grows, or when it is dropped unfinished, is
//! wiped. `tests/it/answers.rs` reads everything back through [`crate::answer`].

use keywright_clock::WallTime;
use keywright_encoding::base64;
use keywright_types::{Code, DataKeyId, KeyVersion};

use crate::error;

/// What became of an item.
#[derive(Clone, Copy)]
#[expect(
    clippy::exhaustive_enums,
    reason = "the answers of the routes of items"
)]
pub enum Done<'a> {
    /// A shared secret: `agree`.
    Agreed {
        /// The secret.
        secret: &'a [u8],
        /// The version that was used.
        version: KeyVersion,
    },
    /// A data key: `datakey`.
    Datakey {
        /// Its id.
        id: DataKeyId,
        /// The key, unless only the wrapped one was asked for.
        plaintext: Option<&'a [u8]>,
        /// The wrapped key.
        ciphertext: &'a [u8],
        /// The version that wrapped it.
        version: KeyVersion,
        /// When to take a new one.
        not_after: WallTime,
    },
    /// An opened data key: `datakey/open`.
    DatakeyOpened {
        /// Its id.
        id: DataKeyId,
        /// The key.
        plaintext: &'a [u8],
        /// The version that had wrapped it.
        version: KeyVersion,
        /// When to ask again.
        not_after: WallTime,
    },
    /// An opened message: `decrypt`.
    Opened {
        /// The message.
        plaintext: &'a [u8],
        /// The version that opened it.
        version: KeyVersion,
    },
    /// A public key: `public-key`.
    PublicKey {
        /// As its curve writes it.
        public_key: &'a [u8],
        /// As a JSON Web Key: an object of texts that needs no escapes.
        jwk: &'a str,
        /// As PEM.
        pem: &'a str,
        /// Its version.
        version: KeyVersion,
    },
    /// Random bytes: `random`.
    Random(&'a [u8]),
    /// A value that was made of a token: `detokenize`.
    Detokenized {
        /// The value, UTF-8.
        value: &'a str,
        /// The version that was named.
        version: KeyVersion,
    },
    /// A private key: `key/export`.
    Exported {
        /// The key.
        private_key: &'a [u8],
        /// The scheme of its tree.
        scheme: &'a str,
        /// How the seed came to be.
        seed: &'a str,
        /// Its version.
        version: KeyVersion,
    },
    /// A message authentication code: `mac`.
    Mac {
        /// The code.
        mac: &'a [u8],
        /// The version that made it.
        version: KeyVersion,
    },
    /// What a mask left of one: `mask`.
    Masked {
        /// What is left, UTF-8.
        masked: &'a str,
        /// The version that was named.
        version: KeyVersion,
    },
    /// A sealed message: `encrypt`, `rewrap`.
    Sealed {
        /// The envelope.
        ciphertext: &'a [u8],
        /// The version that sealed it.
        version: KeyVersion,
    },
    /// A signature: `sign`.
    Signed {
        /// The signature.
        signature: &'a [u8],
        /// The version that made it.
        version: KeyVersion,
    },
    /// A token: `tokenize`.
    Tokenized {
        /// The token, UTF-8.
        token: &'a str,
        /// The version that made it.
        version: KeyVersion,
    },
    /// Whether a signature or code fits: `verify`, `mac/verify`.
    Verified {
        /// Whether it fits.
        valid: bool,
        /// The version that was named.
        version: KeyVersion,
    },
    /// An extended public key: `xpub`.
    Xpub {
        /// The key.
        xpub: &'a str,
        /// Its version.
        version: KeyVersion,
    },
}

impl std::fmt::Debug for Done<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Agreed { .. } => "Agreed",
            Self::Datakey { .. } => "Datakey",
            Self::DatakeyOpened { .. } => "DatakeyOpened",
            Self::Detokenized { .. } => "Detokenized",
            Self::Exported { .. } => "Exported",
            Self::Mac { .. } => "Mac",
            Self::Masked { .. } => "Masked",
            Self::Opened { .. } => "Opened",
            Self::PublicKey { .. } => "PublicKey",
            Self::Random(_) => "Random",
            Self::Sealed { .. } => "Sealed",
            Self::Signed { .. } => "Signed",
            Self::Tokenized { .. } => "Tokenized",
            Self::Verified { .. } => "Verified",
            Self::Xpub { .. } => "Xpub",
        })
    }
}

impl Done<'_> {
    /// At least as many bytes as the item takes in JSON; texts that need escapes find more room themselves.
    const fn room(&self) -> usize {
        let binary = match self {
            Self::Datakey {
                plaintext,
                ciphertext,
                ..
            } => {
                let plain = match plaintext {
                    Some(plaintext) => plaintext.len(),
                    None => 0,
                };
                plain + ciphertext.len()
            }
            Self::DatakeyOpened { plaintext, .. } | Self::Opened { plaintext, .. } => {
                plaintext.len()
            }
            Self::Random(bytes) => bytes.len(),
            Self::Sealed { ciphertext, .. } => ciphertext.len(),
            Self::Tokenized { token: text, .. }
            | Self::Detokenized { value: text, .. }
            | Self::Masked { masked: text, .. }
            | Self::Xpub { xpub: text, .. } => text.len(),
            Self::Agreed { secret: bytes, .. }
            | Self::Exported {
                private_key: bytes, ..
            }
            | Self::Mac { mac: bytes, .. }
            | Self::Signed {
                signature: bytes, ..
            } => bytes.len(),
            Self::PublicKey { jwk, pem, .. } => jwk.len() + pem.len() * 2,
            Self::Verified { .. } => 0,
        };
        binary / 3 * 4 + FIELDS
    }
}

/// More than the names, the id, the version and the time of any item take: 132 bytes, and up to eight
/// for the ends of two base64 texts.
const FIELDS: usize = 224;

/// The answer to a request of one item.
#[must_use]
pub fn one(done: &Done<'_>) -> Vec<u8> {
    let mut out = Buffer::with_capacity(done.room());
    out.item(done);
    out.finish()
}

/// The answer to a batch, item by item.
#[derive(Debug)]
pub struct Batch {
    out: Buffer,
    count: u32,
    failed: u32,
}

impl Batch {
    /// An answer that will be about `bytes` long; it grows if that was too little.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        let mut out = Buffer::with_capacity(bytes.max(FIELDS));
        out.text("{\"items\":[");
        Self {
            out,
            count: 0,
            failed: 0,
        }
    }

    /// Adds the result of the next item.
    pub fn push(&mut self, result: Result<Done<'_>, Code>) {
        if self.count > 0 {
            self.out.reserve(1);
            self.out.text(",");
        }
        self.count += 1;
        match result {
            Ok(done) => {
                self.out.reserve(done.room());
                self.out.item(&done);
            }
            Err(code) => {
                self.failed += 1;
                self.out.error(code);
            }
        }
    }

    /// How many items were added.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// How many of them are errors.
    #[must_use]
    pub const fn failed(&self) -> u32 {
        self.failed
    }

    /// The whole answer.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        self.out.reserve(FIELDS);
        self.out.text("],\"failed\":");
        self.out.number(self.failed);
        self.out.text("}");
        self.out.finish()
    }
}

/// JSON under construction.
pub(crate) struct Buffer(String);

impl Buffer {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self(String::with_capacity(bytes))
    }

    /// Makes room. A buffer that moves wipes the place it leaves.
    pub(crate) fn reserve(&mut self, more: usize) {
        if self.0.capacity() - self.0.len() < more {
            let mut wider = String::with_capacity((self.0.len() + more).max(self.0.capacity() * 2));
            wider.push_str(&self.0);
            wipe(std::mem::replace(&mut self.0, wider));
        }
    }

    fn item(&mut self, done: &Done<'_>) {
        match *done {
            Done::Datakey {
                id,
                plaintext,
                ciphertext,
                version,
                not_after,
            } => {
                self.text("{\"id\":\"");
                self.text(&id.to_string());
                self.text("\"");
                if let Some(plaintext) = plaintext {
                    self.binary(",\"plaintext\":\"", plaintext);
                }
                self.binary(",\"ciphertext\":\"", ciphertext);
                self.version(version);
                self.not_after(not_after);
            }
            Done::DatakeyOpened {
                id,
                plaintext,
                version,
                not_after,
            } => {
                self.text("{\"id\":\"");
                self.text(&id.to_string());
                self.binary("\",\"plaintext\":\"", plaintext);
                self.version(version);
                self.not_after(not_after);
            }
            Done::Opened { plaintext, version } => {
                self.binary("{\"plaintext\":\"", plaintext);
                self.version(version);
            }
            Done::Random(bytes) => self.binary("{\"random\":\"", bytes),
            Done::Sealed {
                ciphertext,
                version,
            } => {
                self.binary("{\"ciphertext\":\"", ciphertext);
                self.version(version);
            }
            Done::Tokenized { token, version } => self.named("{\"token\":\"", token, version),
            Done::Detokenized { value, version } => self.named("{\"value\":\"", value, version),
            Done::Masked { masked, version } => self.named("{\"masked\":\"", masked, version),
            _ => self.used(done),
        }
        self.text("}");
    }

    /// A text and its version; the brace at the end is the caller's.
    fn named(&mut self, before: &str, text: &str, version: KeyVersion) {
        self.quoted(before, text);
        self.version(version);
    }

    /// What was done with a key; the brace at the end is the caller's.
    fn used(&mut self, done: &Done<'_>) {
        match *done {
            Done::Agreed { secret, version } => {
                self.binary("{\"secret\":\"", secret);
                self.version(version);
            }
            Done::Exported {
                private_key,
                scheme,
                seed,
                version,
            } => {
                self.binary("{\"private_key\":\"", private_key);
                self.quoted(",\"scheme\":\"", scheme);
                self.quoted(",\"seed\":\"", seed);
                self.version(version);
            }
            Done::Mac { mac, version } => {
                self.binary("{\"mac\":\"", mac);
                self.version(version);
            }
            Done::PublicKey {
                public_key,
                jwk,
                pem,
                version,
            } => {
                self.binary("{\"public_key\":\"", public_key);
                self.text(",\"jwk\":");
                self.text(jwk);
                self.quoted(",\"pem\":\"", pem);
                self.version(version);
            }
            Done::Signed { signature, version } => {
                self.binary("{\"signature\":\"", signature);
                self.version(version);
            }
            Done::Verified { valid, version } => {
                self.text(if valid {
                    "{\"valid\":true"
                } else {
                    "{\"valid\":false"
                });
                self.version(version);
            }
            Done::Xpub { xpub, version } => self.named("{\"xpub\":\"", xpub, version),
            _ => {}
        }
    }

    /// Codes and sentences hold nothing that JSON escapes; a test of the table looks at each.
    fn error(&mut self, code: Code) {
        let sentence = error::entry(code).sentence();
        self.reserve(sentence.len() + FIELDS);
        self.text("{\"error\":{\"code\":\"");
        self.text(code.name());
        self.text("\",\"message\":\"");
        self.text(sentence);
        self.text("\"}}");
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.0.push_str(text);
    }

    pub(crate) fn binary(&mut self, before: &str, bytes: &[u8]) {
        self.0.push_str(before);
        base64::encode_into(bytes, &mut self.0);
        self.0.push('"');
    }

    /// A byte in two digits.
    pub(crate) fn hex(&mut self, byte: u8) {
        let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
        self.0.push(digit(byte >> 4));
        self.0.push(digit(byte & 15));
    }

    /// A text, with the escapes that JSON demands.
    pub(crate) fn quoted(&mut self, before: &str, text: &str) {
        self.0.push_str(before);
        let plain = |byte: u8| byte >= 0x20 && byte != b'"' && byte != b'\\';
        if text.bytes().all(plain) {
            self.0.push_str(text);
        } else {
            self.reserve(text.len() * LONGEST_ESCAPE + FIELDS);
            text.chars().for_each(|character| self.escaped(character));
        }
        self.0.push('"');
    }

    fn escaped(&mut self, character: char) {
        match character {
            '"' => self.text("\\\""),
            '\\' => self.text("\\\\"),
            '\u{0}'..='\u{1f}' => {
                let digit = |value: u32| char::from_digit(value, 16).unwrap_or('0');
                self.text("\\u00");
                self.0.push(digit(u32::from(character) >> 4));
                self.0.push(digit(u32::from(character) & 15));
            }
            other => self.0.push(other),
        }
    }

    pub(crate) fn version(&mut self, version: KeyVersion) {
        self.text(",\"key_version\":");
        self.number(version.number());
    }

    fn not_after(&mut self, time: WallTime) {
        self.text(",\"not_after\":\"");
        self.text(&time.rfc3339());
        self.text("\"");
    }

    /// Decimal, without the machinery of `format!`.
    pub(crate) fn number(&mut self, number: u32) {
        if number >= 10 {
            self.number(number / 10);
        }
        self.0.push(char::from(b'0' + (number % 10) as u8));
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        std::mem::take(&mut self.0).into_bytes()
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        wipe(std::mem::take(&mut self.0));
    }
}

impl std::fmt::Debug for Buffer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Buffer({} bytes)", self.0.len())
    }
}

/// Bytes of the longest escape, that of a control character.
const LONGEST_ESCAPE: usize = 6;

fn wipe(text: String) {
    keywright_secret::wipe(&mut text.into_bytes());
}
