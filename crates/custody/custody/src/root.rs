//! The key on top of all wrapped keys, wherever it is kept.

use std::fmt;

use keywright_envelope::{Aad, Envelope};
use keywright_primitives::random::RandomStream;
use keywright_secret::Secret;
use keywright_types::{InstallationId, KeyId};

use crate::{HolderError, Placement};

/// Seals and opens the keys right under the root: tenants' keys and those of the service itself.
///
/// A holder of wrapped keys uses it when a key is first needed, and keeps the key after; so it may be a
/// device that takes its time.
pub trait RootKey: Send + Sync + fmt::Debug {
    /// The id under which envelopes name it.
    fn key_id(&self) -> KeyId;

    /// Which installation it is the root of.
    fn installation(&self) -> InstallationId;

    /// Seals id and secret of a key (design 7.9) as an envelope of kind 2, and appends it to `out`.
    ///
    /// # Errors
    /// [`HolderError::Unavailable`].
    fn seal(
        &self,
        message: &Secret<48>,
        aad: &Aad<'_>,
        random: &mut RandomStream,
        out: &mut Vec<u8>,
    ) -> Result<(), HolderError>;

    /// Opens such an envelope and appends id and secret to `out`.
    ///
    /// # Errors
    /// [`HolderError::KeyRejected`] if it does not open; [`HolderError::Unavailable`].
    fn open(
        &self,
        envelope: &Envelope<'_>,
        aad: &Aad<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), HolderError>;

    /// Whether it may keep a caller waiting.
    fn placement(&self) -> Placement {
        Placement::Inline
    }

    /// Proves that it works now. It must not wear the key out: it is called for as long as the service runs.
    ///
    /// # Errors
    /// [`HolderError::Unavailable`], or [`HolderError::KeyRejected`] if it is not the key that it was.
    fn probe(&self) -> Result<(), HolderError>;
}
