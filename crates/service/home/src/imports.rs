//! Keys that are brought in wrapped.

use keywright_encoding::{base64, der, hex};
use keywright_service::{AdminError, Author, NewContext, WrappedKey};
use keywright_types::Name;

use crate::order::Wrapped;
use crate::{Answer, HomeError, Node};

impl Node {
    pub(crate) fn begin_import(&self) -> Result<Answer, HomeError> {
        let made = self.admin().begin_import(&Author::owner())?;
        Ok(Answer::ImportBegun {
            public_key: der::pem("PUBLIC KEY", &made.info),
            not_after: made.not_after.rfc3339(),
            id: made.id,
        })
    }

    pub(crate) fn import(
        &self,
        (tenant, name): (&Name, &Name),
        new: NewContext<'_>,
        wrapped: &Wrapped,
    ) -> Result<Answer, HomeError> {
        // Before the import key is spent.
        let key = base64::decode(&wrapped.key).map_err(|_| AdminError::ImportRejected)?;
        let check = hex::decode(&wrapped.check).map_err(|_| AdminError::CheckValue)?;
        let new = NewContext {
            wrapped: Some(WrappedKey {
                import: &wrapped.import,
                wrapped: &key,
                check: &check,
            }),
            ..new
        };
        let made = self.admin().create_context_with(tenant, name, new)?;
        Ok(Answer::ContextCreated {
            id: made.id,
            version: made.version,
            words: None,
        })
    }
}
