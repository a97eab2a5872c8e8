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
    /// Random bytes: `random`.
    Random(&'a [u8]),
    /// A sealed message: `encrypt`, `rewrap`.
    Sealed {
        /// The envelope.
        ciphertext: &'a [u8],
        /// The version that sealed it.
        version: KeyVersion,
    },
}

impl std::fmt::Debug for Done<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Datakey { .. } => "Datakey",
            Self::DatakeyOpened { .. } => "DatakeyOpened",
            Self::Opened { .. } => "Opened",
            Self::Random(_) => "Random",
            Self::Sealed { .. } => "Sealed",
        })
    }
}

impl Done<'_> {
    /// At least as many bytes as the item takes in JSON.
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
struct Buffer(String);

impl Buffer {
    fn with_capacity(bytes: usize) -> Self {
        Self(String::with_capacity(bytes))
    }

    /// Makes room. A buffer that moves wipes the place it leaves.
    fn reserve(&mut self, more: usize) {
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
        }
        self.text("}");
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

    fn text(&mut self, text: &str) {
        self.0.push_str(text);
    }

    fn binary(&mut self, before: &str, bytes: &[u8]) {
        self.0.push_str(before);
        base64::encode_into(bytes, &mut self.0);
        self.0.push('"');
    }

    fn version(&mut self, version: KeyVersion) {
        self.text(",\"key_version\":");
        self.number(version.number());
    }

    fn not_after(&mut self, time: WallTime) {
        self.text(",\"not_after\":\"");
        self.text(&time.rfc3339());
        self.text("\"");
    }

    /// Decimal, without the machinery of `format!`.
    fn number(&mut self, number: u32) {
        if number >= 10 {
            self.number(number / 10);
        }
        self.0.push(char::from(b'0' + (number % 10) as u8));
    }

    fn finish(mut self) -> Vec<u8> {
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

fn wipe(text: String) {
    keywright_secret::wipe(&mut text.into_bytes());
}
