//! Answers of the hot routes, written in one pass into one buffer, in JSON or CBOR.
//!
//! Every item of every batch goes through here, so no tree of values is built. The buffer may
//! hold plaintext and keys: what it leaves behind when it grows, or when it is dropped unfinished, is
//! wiped. `tests/it/answers.rs` reads everything back through [`crate::answer`].

mod in_cbor;
mod json;

use keywright_clock::WallTime;
use keywright_types::{Code, DataKeyId, KeyVersion};

use crate::cbor::{self, Truth};
use crate::{Codec, error};

pub(crate) use json::Buffer;

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
    /// At least as many bytes as the item takes; texts that need escapes find more room themselves.
    const fn room(&self, codec: Codec) -> usize {
        let bytes = match self {
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
        codec.length_of(bytes) + FIELDS
    }
}

/// More than the names, the id, the version and the time of any item take: 132 bytes in JSON, and up to eight
/// for the ends of two base64 texts.
const FIELDS: usize = 224;

/// The answer to a request of one item.
#[must_use]
pub fn one(codec: Codec, done: &Done<'_>) -> Vec<u8> {
    let room = done.room(codec);
    match codec {
        Codec::Cbor => {
            let mut out = cbor::Buffer::with_capacity(room);
            write(&mut out, done);
            out.finish()
        }
        Codec::Json => {
            let mut out = Buffer::with_capacity(room);
            write(&mut out, done);
            out.finish()
        }
    }
}

/// The answer to a batch, item by item.
#[derive(Debug)]
pub struct Batch {
    out: Out,
    count: usize,
    failed: u32,
}

#[derive(Debug)]
enum Out {
    /// What is written, and how many items it says that there will be.
    Cbor(cbor::Buffer, usize),
    Json(Buffer),
}

impl Batch {
    /// An answer of so many items that will be about `bytes` long. If either was wrong, it costs a copy.
    #[must_use]
    pub fn new(codec: Codec, items: usize, bytes: usize) -> Self {
        let bytes = bytes.max(FIELDS);
        Self {
            out: match codec {
                Codec::Cbor => Out::Cbor(beginning(items, bytes), items),
                Codec::Json => {
                    let mut out = Buffer::with_capacity(bytes);
                    out.text("{\"items\":[");
                    Out::Json(out)
                }
            },
            count: 0,
            failed: 0,
        }
    }

    /// Adds the result of the next item.
    pub fn push(&mut self, result: Result<Done<'_>, Code>) {
        self.failed += u32::from(result.is_err());
        let result = &result;
        match &mut self.out {
            Out::Cbor(out, _) => push(out, Codec::Cbor, result),
            Out::Json(out) => {
                if self.count > 0 {
                    out.reserve(1);
                    out.text(",");
                }
                push(out, Codec::Json, result);
            }
        }
        self.count += 1;
    }

    /// How many items were added.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.count
    }

    /// How many of them are errors.
    #[must_use]
    pub const fn failed(&self) -> u32 {
        self.failed
    }

    /// The whole answer.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        match self.out {
            Out::Cbor(out, announced) => {
                let mut out = match self.count == announced {
                    true => out,
                    false => announce_anew(&out, announced, self.count),
                };
                out.reserve(FIELDS);
                Members::number(&mut out, "failed", self.failed);
                out.finish()
            }
            Out::Json(mut out) => {
                out.reserve(FIELDS);
                out.text("],\"failed\":");
                out.number(self.failed);
                out.text("}");
                out.finish()
            }
        }
    }
}

/// The beginning of a batch in CBOR, up to its first item.
fn beginning(items: usize, bytes: usize) -> cbor::Buffer {
    let mut out = cbor::Buffer::with_capacity(bytes);
    out.map(2);
    out.text("items");
    out.array(items);
    out
}

/// The same items behind a beginning that says how many they are.
fn announce_anew(out: &cbor::Buffer, announced: usize, count: usize) -> cbor::Buffer {
    let mut right = beginning(count, out.len() + FIELDS);
    right.written(out.since(beginning(announced, FIELDS).len()));
    right
}

/// The result stays where it is: what was just written in parts is slow to be moved as a whole.
fn push(out: &mut impl Members, codec: Codec, result: &Result<Done<'_>, Code>) {
    match result {
        Ok(done) => {
            out.reserve(done.room(codec));
            write(out, done);
        }
        Err(code) => write_error(out, *code),
    }
}

/// An object of members, in either form. Names have fewer than 24 bytes and need no escapes.
trait Members {
    /// Makes room; a buffer that moves wipes the place it leaves.
    fn reserve(&mut self, more: usize);
    /// Begins an object of so many members.
    fn open(&mut self, members: usize);
    fn close(&mut self);
    /// A name alone; its value follows.
    fn name(&mut self, name: &'static str);
    fn bytes(&mut self, name: &'static str, bytes: &[u8]);
    fn text(&mut self, name: &'static str, text: &str);
    fn number(&mut self, name: &'static str, number: u32);
    fn truth(&mut self, name: &'static str, truth: Truth);
    /// An object of texts, given as JSON without escapes.
    fn texts(&mut self, name: &'static str, json: &str);

    #[inline]
    fn version(&mut self, version: KeyVersion) {
        self.number("key_version", version.number());
    }

    fn not_after(&mut self, time: WallTime) {
        self.text("not_after", &time.rfc3339());
    }

    /// An object of bytes and their version.
    #[inline]
    fn bytes_of(&mut self, name: &'static str, bytes: &[u8], version: KeyVersion) {
        self.open(2);
        self.bytes(name, bytes);
        self.version(version);
    }

    /// An object of a text and its version.
    #[inline]
    fn text_of(&mut self, name: &'static str, text: &str, version: KeyVersion) {
        self.open(2);
        self.text(name, text);
        self.version(version);
    }
}

/// Which members an answer has: the one place that says so for both forms.
fn write(out: &mut impl Members, done: &Done<'_>) {
    match *done {
        Done::Datakey {
            id,
            plaintext,
            ciphertext,
            version,
            not_after,
        } => {
            out.open(4 + usize::from(plaintext.is_some()));
            out.text("id", &id.to_string());
            if let Some(plaintext) = plaintext {
                out.bytes("plaintext", plaintext);
            }
            out.bytes("ciphertext", ciphertext);
            out.version(version);
            out.not_after(not_after);
        }
        Done::DatakeyOpened {
            id,
            plaintext,
            version,
            not_after,
        } => {
            out.open(4);
            out.text("id", &id.to_string());
            out.bytes("plaintext", plaintext);
            out.version(version);
            out.not_after(not_after);
        }
        Done::Opened { plaintext, version } => out.bytes_of("plaintext", plaintext, version),
        Done::Random(bytes) => {
            out.open(1);
            out.bytes("random", bytes);
        }
        Done::Sealed {
            ciphertext,
            version,
        } => out.bytes_of("ciphertext", ciphertext, version),
        Done::Tokenized { token, version } => out.text_of("token", token, version),
        Done::Detokenized { value, version } => out.text_of("value", value, version),
        Done::Masked { masked, version } => out.text_of("masked", masked, version),
        _ => write_use(out, done),
    }
    out.close();
}

/// What was done with a key; the end of the object is the caller's.
fn write_use(out: &mut impl Members, done: &Done<'_>) {
    match *done {
        Done::Agreed { secret, version } => out.bytes_of("secret", secret, version),
        Done::Exported {
            private_key,
            scheme,
            seed,
            version,
        } => {
            out.open(4);
            out.bytes("private_key", private_key);
            out.text("scheme", scheme);
            out.text("seed", seed);
            out.version(version);
        }
        Done::Mac { mac, version } => out.bytes_of("mac", mac, version),
        Done::PublicKey {
            public_key,
            jwk,
            pem,
            version,
        } => {
            out.open(4);
            out.bytes("public_key", public_key);
            out.texts("jwk", jwk);
            out.text("pem", pem);
            out.version(version);
        }
        Done::Signed { signature, version } => out.bytes_of("signature", signature, version),
        Done::Verified { valid, version } => {
            out.open(2);
            out.truth("valid", valid.into());
            out.version(version);
        }
        Done::Xpub { xpub, version } => out.text_of("xpub", xpub, version),
        _ => out.open(0),
    }
}

/// An item that failed.
fn write_error(out: &mut impl Members, code: Code) {
    let sentence = error::entry(code).sentence();
    out.reserve(sentence.len() + FIELDS);
    out.open(1);
    out.name("error");
    out.open(2);
    out.text("code", code.name());
    out.text("message", sentence);
    out.close();
    out.close();
}
