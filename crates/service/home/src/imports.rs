//! Keys that are brought in wrapped.

use keywright_custody::ReaderDetail;
use keywright_encoding::{base64, der, hex};
use keywright_service::{AdminError, Author, NewContext, NewReader, WrappedKey};
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
        let opened = Opened::of(wrapped)?;
        let new = NewContext {
            wrapped: Some(opened.wrapped()),
            ..new
        };
        let made = self.admin().create_context_with(tenant, name, new)?;
        Ok(Answer::ContextCreated {
            id: made.id,
            version: made.version,
            words: None,
        })
    }

    pub(crate) fn import_reader(
        &self,
        named: (&Name, &Name),
        detail: ReaderDetail,
        wrapped: Option<&Wrapped>,
    ) -> Result<Answer, HomeError> {
        let opened = wrapped.map(Opened::of).transpose()?;
        let new = NewReader {
            detail,
            wrapped: opened.as_ref().map(Opened::wrapped),
        };
        let version = self.admin().import_reader(&Author::owner(), named, &new)?;
        Ok(Answer::ReaderImported { version })
    }
}

/// A wrapped key in bytes, before the import key is spent.
struct Opened<'w> {
    import: &'w str,
    key: Vec<u8>,
    check: Vec<u8>,
}

impl<'w> Opened<'w> {
    fn of(wrapped: &'w Wrapped) -> Result<Self, HomeError> {
        Ok(Self {
            import: &wrapped.import,
            key: base64::decode(&wrapped.key).map_err(|_| AdminError::ImportRejected)?,
            check: hex::decode(&wrapped.check).map_err(|_| AdminError::CheckValue)?,
        })
    }

    fn wrapped(&self) -> WrappedKey<'_> {
        WrappedKey {
            import: self.import,
            wrapped: &self.key,
            check: &self.check,
        }
    }
}
