//! Answers in JSON.

use keywright_encoding::base64;
use keywright_types::KeyVersion;

use super::{FIELDS, Members};
use crate::cbor::Truth;

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

impl Members for Buffer {
    fn reserve(&mut self, more: usize) {
        Self::reserve(self, more);
    }

    fn open(&mut self, _: usize) {
        self.text("{");
    }

    fn close(&mut self) {
        self.text("}");
    }

    fn name(&mut self, name: &'static str) {
        self.text(match self.0.as_bytes().last() == Some(&b'{') {
            true => "\"",
            false => ",\"",
        });
        self.text(name);
        self.text("\":");
    }

    fn bytes(&mut self, name: &'static str, bytes: &[u8]) {
        self.name(name);
        self.binary("\"", bytes);
    }

    fn text(&mut self, name: &'static str, text: &str) {
        self.name(name);
        self.quoted("\"", text);
    }

    fn number(&mut self, name: &'static str, number: u32) {
        self.name(name);
        Self::number(self, number);
    }

    fn truth(&mut self, name: &'static str, truth: Truth) {
        self.name(name);
        Self::text(
            self,
            match truth {
                Truth::False => "false",
                Truth::True => "true",
            },
        );
    }

    fn texts(&mut self, name: &'static str, json: &str) {
        self.name(name);
        Self::text(self, json);
    }
}

/// Bytes of the longest escape, that of a control character.
const LONGEST_ESCAPE: usize = 6;

fn wipe(text: String) {
    keywright_secret::wipe(&mut text.into_bytes());
}
