//! What one end holds when it has started: a context, judged by what it exports when it is looked at, which
//! is not timed; or a secret.

use keywright_hpke::{Recipient, Sender};
use keywright_secret::Secret;

use super::EXPORT;
use crate::local::output::Output;

/// Something that exports a secret.
pub(super) trait Exports: Send + 'static {
    fn secret(&self) -> Option<Secret<32>>;
}

impl Exports for Sender {
    fn secret(&self) -> Option<Secret<32>> {
        self.exporter().export(EXPORT).ok()
    }
}

impl Exports for Recipient {
    fn secret(&self) -> Option<Secret<32>> {
        self.exporter().export(EXPORT).ok()
    }
}

/// What one end holds.
pub(super) enum Held<C> {
    Context(C),
    Secret(Secret<32>),
}

impl<C: Exports> Held<C> {
    /// Before anything has been started.
    pub(super) fn nothing() -> Self {
        Self::Secret(Secret::from_fill(|_| ()))
    }

    pub(super) fn secret(&self) -> Option<Secret<32>> {
        match self {
            Self::Context(context) => context.secret(),
            Self::Secret(secret) => Secret::copy_from(secret.expose()),
        }
    }
}

impl<C: Exports> Output for Held<C> {
    fn equals(&self, other: &Self) -> bool {
        match (self.secret(), other.secret()) {
            (Some(one), Some(other)) => one.ct_eq(&other),
            _ => false,
        }
    }

    #[cfg(test)]
    fn spoil(&mut self) {
        *self = Self::nothing();
    }
}
