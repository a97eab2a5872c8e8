//! Orders about the versions of a context's key.

use bytes::Bytes;
use http::Method;
use keywright_api::answer::VersionEntry;
use keywright_api::orders::{
    ApproveAnswer, ApproveOrder, KeyOrder, KeyOrderAnswer, KeyVersionsAnswer, RotateAnswer,
    RotateOrder,
};
use keywright_api::route::Endpoint;
use keywright_types::{KeyVersion, Name};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::items::path;
use crate::{Client, Error};

/// What is ordered of versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "one for each route")]
pub enum KeyAction {
    /// Take the date of a destruction back.
    CancelDestroy,
    /// Destroy versions whose day has come.
    Destroy,
    /// Take suspended versions up again.
    Resume,
    /// Let the active version seal no more.
    Retire,
    /// Set the date of a destruction.
    ScheduleDestroy,
    /// Forbid every use, for now.
    Suspend,
}

impl KeyAction {
    const fn endpoint(self) -> Endpoint {
        match self {
            Self::CancelDestroy => Endpoint::KeyCancelDestroy,
            Self::Destroy => Endpoint::KeyDestroy,
            Self::Resume => Endpoint::KeyResume,
            Self::Retire => Endpoint::KeyRetire,
            Self::ScheduleDestroy => Endpoint::KeyScheduleDestroy,
            Self::Suspend => Endpoint::KeySuspend,
        }
    }
}

impl Client {
    /// Gives an order about versions of a context's key: those whose state changed, and what they are now.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn key_order(
        &self,
        context: &Name,
        action: KeyAction,
        order: KeyOrder,
    ) -> Result<Vec<VersionEntry>, Error> {
        let path = path(action.endpoint(), Some(context));
        let answer: KeyOrderAnswer = self.give_order(&path, &order).await?;
        Ok(answer.versions)
    }

    /// Approves an order of somebody else, as the key is now.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn key_approve(
        &self,
        context: &Name,
        order: ApproveOrder,
    ) -> Result<ApproveAnswer, Error> {
        let path = path(Endpoint::KeyApprove, Some(context));
        self.give_order(&path, &order).await
    }

    /// Makes a new version active; its number.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn key_rotate(&self, context: &Name) -> Result<KeyVersion, Error> {
        let path = path(Endpoint::KeyRotate, Some(context));
        let answer: RotateAnswer = self.give_order(&path, &RotateOrder {}).await?;
        Ok(answer.key_version)
    }

    /// The versions of a context's key, and how often they were used.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn key_versions(&self, context: &Name) -> Result<KeyVersionsAnswer, Error> {
        let path = path(Endpoint::KeyVersions, Some(context));
        self.typed(Method::GET, &path, Bytes::new()).await
    }

    async fn give_order<T: DeserializeOwned>(
        &self,
        path: &str,
        order: &impl Serialize,
    ) -> Result<T, Error> {
        let body = serde_json::to_vec(order).map_err(|_| Error::Request)?;
        self.typed(Method::POST, path, body.into()).await
    }

    async fn typed<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<T, Error> {
        let answer = self.call(method, path, body).await?.accepted()?;
        serde_json::from_slice(&answer).map_err(|_| Error::Answer)
    }
}
