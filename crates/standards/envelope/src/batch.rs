//! Many messages under one key.
//!
//! Suite 1 derives a key for each message from half of its nonce (design 7.6). For a batch that is done for several
//! messages at a time, whose blocks then go through the cipher side by side. The envelopes are those of single messages.

use keywright_primitives::aead::Ahead;
use keywright_primitives::random::RandomStream;

use crate::{Aad, Binding, Error, MessageId, Sealing, SealingKey};

/// Seals the messages of a batch. Nonces that are drawn and not used are never used.
#[derive(Debug)]
pub struct Batch<'k> {
    key: &'k SealingKey,
    /// Messages that are still to come.
    left: usize,
    ahead: Ahead,
}

impl SealingKey {
    /// For about so many messages: with more each costs what a single one does, with less some work was done in vain.
    #[must_use]
    pub const fn batch(&self, messages: usize) -> Batch<'_> {
        Batch {
            key: self,
            left: messages,
            ahead: Ahead::none(),
        }
    }
}

impl Batch<'_> {
    /// [`SealingKey::seal_into`] for the next message.
    ///
    /// # Errors
    /// As there; `out` is as it was then.
    #[expect(
        clippy::too_many_arguments,
        reason = "what an envelope is made of; no two have the same type"
    )]
    pub fn seal_into(
        &mut self,
        binding: Binding,
        aad: &Aad<'_>,
        plaintext: &[u8],
        random: &mut RandomStream,
        out: &mut Vec<u8>,
    ) -> Result<MessageId, Error> {
        match self.key.xaes() {
            Some(key) if self.ahead.is_empty() && self.left > 1 => {
                key.derive_ahead(self.left, random, &mut self.ahead)?;
            }
            _ => {}
        }
        self.left = self.left.saturating_sub(1);
        if self.ahead.is_empty() {
            return self.key.seal_into(binding, aad, plaintext, random, out);
        }
        let sealing = Sealing {
            binding,
            aad,
            plaintext,
        };
        self.key.seal_ahead(&sealing, &mut self.ahead, out)
    }
}
