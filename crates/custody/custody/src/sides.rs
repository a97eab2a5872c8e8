//! Two holders as one: wrapped keys here, keys that never leave a token there.

use std::fmt;
use std::sync::Arc;

use keywright_clock::MonotonicTime;
use keywright_envelope::stream::{Prefix, StreamOpener, StreamSealer};
use keywright_policy::Permit;
use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;
use keywright_types::{Custody, KeySpec};

use crate::{
    AtOnce, HolderError, HolderOperation, Items, KeyHolder, KeyMaterial, NewKey, Particulars,
    Placement, Reply, Request, StreamStart,
};

/// Asks one of two holders, by the custody of the key.
pub struct ByCustody {
    wrapped: Arc<dyn KeyHolder>,
    token: Arc<dyn KeyHolder>,
}

impl ByCustody {
    /// `wrapped` for keys that are used in this process, `token` for keys that stay in a token.
    #[must_use]
    pub fn new(wrapped: Arc<dyn KeyHolder>, token: Arc<dyn KeyHolder>) -> Self {
        Self { wrapped, token }
    }

    fn side(&self, custody: Custody) -> Result<&dyn KeyHolder, HolderError> {
        match custody {
            Custody::Wrapped => Ok(self.wrapped.as_ref()),
            Custody::Token => Ok(self.token.as_ref()),
            other => Err(HolderError::Unsupported(other)),
        }
    }
}

impl KeyHolder for ByCustody {
    fn name(&self) -> &'static str {
        self.token.name()
    }

    fn supports(&self, spec: &KeySpec, operation: HolderOperation) -> bool {
        self.side(spec.custody)
            .is_ok_and(|side| side.supports(spec, operation))
    }

    /// On the pool if one of the two waits for a device.
    fn placement(&self) -> Placement {
        match (self.wrapped.placement(), self.token.placement()) {
            (Placement::Inline, Placement::Inline) => Placement::Inline,
            _ => Placement::Pool,
        }
    }

    fn placement_of(&self, versions: &[Arc<KeyMaterial>]) -> Placement {
        let first = versions.first();
        let custody = first.map_or(Custody::Wrapped, |material| material.spec().custody);
        self.side(custody)
            .map_or(Placement::Inline, |side| side.placement_of(versions))
    }

    fn discard(&self, permit: &Permit, material: &KeyMaterial) {
        if let Ok(side) = self.side(material.spec().custody) {
            side.discard(permit, material);
        }
    }

    fn reveal(
        &self,
        permit: &Permit,
        material: &Arc<KeyMaterial>,
    ) -> Result<SecretBytes, HolderError> {
        self.side(material.spec().custody)?.reveal(permit, material)
    }

    fn destroy(&self, permit: &Permit, material: &KeyMaterial) -> Result<(), HolderError> {
        self.side(material.spec().custody)?
            .destroy(permit, material)
    }

    fn generate(&self, permit: &Permit, new: NewKey) -> Result<KeyMaterial, HolderError> {
        self.side(new.identity.spec.custody)?.generate(permit, new)
    }

    fn generate_with(
        &self,
        permit: &Permit,
        new: NewKey,
        particulars: Particulars<'_>,
    ) -> Result<KeyMaterial, HolderError> {
        self.side(new.identity.spec.custody)?
            .generate_with(permit, new, particulars)
    }

    fn perform(
        &self,
        permit: &Permit,
        request: &Request,
        items: Items,
        random: &mut RandomStream,
    ) -> Result<Reply, HolderError> {
        // A key has one custody for ever (design 7.13), so its versions are on one side.
        let custody = |material: &Arc<KeyMaterial>| material.spec().custody;
        let first = request.versions.first().map_or(Custody::Wrapped, custody);
        if request.versions.iter().any(|one| custody(one) != first) {
            return Err(HolderError::KeyRejected);
        }
        self.side(first)?.perform(permit, request, items, random)
    }

    fn perform_now(
        &self,
        permit: &Permit,
        (request, now): (&Request, MonotonicTime),
        items: Items,
        random: &mut RandomStream,
    ) -> Result<AtOnce, Items> {
        let tokens = |material: &Arc<KeyMaterial>| material.spec().custody == Custody::Token;
        if !request.versions.iter().all(tokens) {
            return Err(items);
        }
        self.token
            .perform_now(permit, (request, now), items, random)
    }

    fn seal_stream(
        &self,
        permit: &Permit,
        start: StreamStart<'_>,
        random: &mut RandomStream,
        out: &mut Vec<u8>,
    ) -> Result<StreamSealer, HolderError> {
        self.side(start.material.spec().custody)?
            .seal_stream(permit, start, random, out)
    }

    fn open_stream(
        &self,
        permit: &Permit,
        start: StreamStart<'_>,
        prefix: &Prefix,
    ) -> Result<Option<StreamOpener>, HolderError> {
        self.side(start.material.spec().custody)?
            .open_stream(permit, start, prefix)
    }

    fn check_key(&self, material: &Arc<KeyMaterial>) -> Result<(), HolderError> {
        self.side(material.spec().custody)?.check_key(material)
    }

    fn probe(&self) -> Result<(), HolderError> {
        self.wrapped.probe()?;
        self.token.probe()
    }
}

impl fmt::Debug for ByCustody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "ByCustody({} and {})",
            self.wrapped.name(),
            self.token.name()
        )
    }
}
