//! Answers in CBOR.

use std::collections::BTreeMap;

use super::Members;
use crate::cbor::{Buffer, Truth};

impl Members for Buffer {
    fn reserve(&mut self, more: usize) {
        Self::reserve(self, more);
    }

    fn open(&mut self, members: usize) {
        self.map(members);
    }

    fn close(&mut self) {}

    #[inline]
    fn name(&mut self, name: &'static str) {
        Self::text(self, name);
    }

    #[inline]
    fn bytes(&mut self, name: &'static str, bytes: &[u8]) {
        self.name(name);
        Self::bytes(self, bytes);
    }

    #[inline]
    fn text(&mut self, name: &'static str, text: &str) {
        self.name(name);
        Self::text(self, text);
    }

    #[inline]
    fn number(&mut self, name: &'static str, number: u32) {
        self.name(name);
        Self::number(self, number.into());
    }

    fn truth(&mut self, name: &'static str, truth: Truth) {
        self.name(name);
        Self::truth(self, truth);
    }

    fn texts(&mut self, name: &'static str, json: &str) {
        self.name(name);
        // Our own custody made it; what cannot be read would be none of a key's texts.
        let texts: BTreeMap<&str, &str> = serde_json::from_str(json).unwrap_or_default();
        self.map(texts.len());
        for (name, text) in texts {
            Self::text(self, name);
            Self::text(self, text);
        }
    }
}
