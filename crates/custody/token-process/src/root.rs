//! The root key in the token of a child.

use std::fmt;
use std::sync::Arc;

use keywright_custody::{HolderError, Placement, RootKey};
use keywright_envelope::{Aad, Envelope};
use keywright_pkcs11::TokenRoot;
use keywright_primitives::random::RandomStream;
use keywright_secret::{Secret, SecretBytes};
use keywright_types::{InstallationId, KeyId, Kind};

use crate::answer;
use crate::holder::asked;
use crate::keeper::TokenProcess;
use crate::line::Times;
use crate::order::{OfRoot, RootWork};

/// The root key of an installation, in the token of a child. Its description goes with every order, so that a child
/// that was started again knows it.
pub struct ChildRoot {
    process: Arc<TokenProcess>,
    description: Vec<u8>,
    installation: InstallationId,
    key: KeyId,
}

impl ChildRoot {
    /// The root of a description, which must be this token's.
    ///
    /// # Errors
    /// [`HolderError::KeyRejected`] for a description that is malformed or of another key, and if the token does not
    /// have the key; [`HolderError::Unavailable`] if it cannot be asked.
    pub fn open(process: Arc<TokenProcess>, description: &[u8]) -> Result<Self, HolderError> {
        let (installation, key) =
            TokenRoot::described(description).ok_or(HolderError::KeyRejected)?;
        let root = Self {
            process,
            description: description.to_vec(),
            installation,
            key,
        };
        root.probe()?;
        Ok(root)
    }

    fn ask(
        &self,
        what: RootWork,
        bytes: &[u8],
        fields: [&[u8]; 3],
    ) -> Result<SecretBytes, HolderError> {
        let mut lent = self.process.line().take()?;
        let order = OfRoot {
            description: &self.description,
            what,
            bytes,
            fields,
        };
        let done = asked(&mut lent, |out| order.put(out), Times::Once, LONGEST)?;
        match answer::bytes(done.expose()) {
            Some(bytes) => Ok(SecretBytes::from_vec(bytes.to_vec())),
            None => Err(lent.nonsense()),
        }
    }
}

impl RootKey for ChildRoot {
    fn key_id(&self) -> KeyId {
        self.key
    }

    fn installation(&self) -> InstallationId {
        self.installation
    }

    fn seal(
        &self,
        message: &Secret<48>,
        aad: &Aad<'_>,
        _: &mut RandomStream,
        out: &mut Vec<u8>,
    ) -> Result<(), HolderError> {
        let sealed = self.ask(RootWork::Seal, message.expose(), aad.fields())?;
        let envelope = Envelope::parse(sealed.expose()).map_err(|_| HolderError::Unavailable)?;
        let header = envelope.header();
        if header.key != self.key || header.kind != Kind::Key || envelope.plaintext_len() != 48 {
            return Err(HolderError::Unavailable);
        }
        out.extend_from_slice(sealed.expose());
        Ok(())
    }

    fn open(
        &self,
        envelope: &Envelope<'_>,
        aad: &Aad<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), HolderError> {
        let opened = self.ask(RootWork::Open, envelope.bytes(), aad.fields())?;
        if opened.len() != envelope.plaintext_len() {
            return Err(HolderError::Unavailable);
        }
        out.extend_from_slice(opened.expose());
        Ok(())
    }

    fn placement(&self) -> Placement {
        Placement::Pool
    }

    fn probe(&self) -> Result<(), HolderError> {
        let nothing = self.ask(RootWork::Probe, &[], [&[]; 3])?;
        if nothing.is_empty() {
            Ok(())
        } else {
            Err(HolderError::Unavailable)
        }
    }
}

impl fmt::Debug for ChildRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChildRoot({})", self.key)
    }
}

/// A sealed key, or an opened one.
const LONGEST: usize = 4096;
