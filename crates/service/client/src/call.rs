//! The client: raw calls, and one typed call per route.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http::{HeaderValue, Method, Request, StatusCode, header, uri::PathAndQuery};
use keywright_api::Codec;
use keywright_api::answer::{ContextsAnswer, HealthAnswer};
use keywright_api::request::RandomItem;
use keywright_api::route::Endpoint;
use keywright_secret::SecretBytes;
use keywright_tls::Protocol;
use keywright_types::{Code, KeyVersion, Name};

use crate::connection::{Connection, Failure};
use crate::error::Refused;
use crate::items::{Fresh, Give, Plain, Random, one, path};
use crate::payload::Payload;
use crate::pipeline::{Batching, pipeline};
use crate::uses::{at, of_mac, to_mac};
use crate::{
    Agreed, DataKey, Detokenized, Error, ErrorBody, ExportedKey, Mac, Masked, Open, Opened,
    OpenedDataKey, PublicKey, Seal, Sealed, Settings, Sign, Signed, Token, Tokenized, Value,
    Verified, Verify, Which, Xpub,
};

/// A client of one service. Clones share their connections.
#[derive(Clone)]
pub struct Client(Arc<Inner>);

struct Inner {
    settings: Settings,
    /// HTTP/2: the one connection. HTTP/1.1: those that no call is using.
    pool: Mutex<Vec<Connection>>,
    /// Held while connecting, so that many calls that find no connection make one and not many.
    dialing: tokio::sync::Mutex<()>,
    protocol: Protocol,
}

/// Unused HTTP/1.1 connections that are kept.
const KEPT: usize = 8;

/// An answer as it came.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// The HTTP status.
    pub status: StatusCode,
    /// For a refusal, its code if this version knows it; `Ok` for a success.
    pub code: Option<Code>,
    /// The body.
    pub body: Bytes,
}

impl Answer {
    pub(crate) fn new(status: StatusCode, body: Bytes) -> Self {
        let code = match status.is_success() {
            true => Some(Code::Ok),
            false => Refused::read(status, &body).code,
        };
        Self { status, code, body }
    }

    /// The body of a success.
    ///
    /// # Errors
    /// [`Error::Refused`] for every other status.
    pub fn accepted(self) -> Result<Bytes, Error> {
        match self.status.is_success() {
            true => Ok(self.body),
            false => Err(Box::new(Refused::read(self.status, &self.body)).into()),
        }
    }
}

/// A request that can be sent more than once.
struct Outgoing {
    method: Method,
    path: PathAndQuery,
    body: Bytes,
    codec: Codec,
}

impl Client {
    /// Connects. In TLS 1.3 the server looks at our certificate after our handshake is done, so its
    /// refusal of the certificate is the error of the first call.
    ///
    /// # Errors
    /// [`Error::Connect`], [`Error::Tls`], [`Error::Timeout`].
    pub async fn connect(settings: Settings) -> Result<Self, Error> {
        let connection = tokio::time::timeout(settings.timeout, Connection::open(&settings))
            .await
            .map_err(|_| Error::Timeout)??;
        Ok(Self(Arc::new(Inner {
            protocol: connection.protocol(),
            pool: Mutex::new(vec![connection]),
            dialing: tokio::sync::Mutex::new(()),
            settings,
        })))
    }

    /// The protocol of the first connection.
    #[must_use]
    pub fn protocol(&self) -> Protocol {
        self.0.protocol
    }

    /// One request and its answer, whatever its status. A body makes it JSON.
    ///
    /// # Errors
    /// Everything but [`Error::Refused`].
    pub async fn call(
        &self,
        method: Method,
        path: &str,
        body: impl Into<Bytes>,
    ) -> Result<Answer, Error> {
        self.send(Outgoing {
            method,
            path: path.parse().map_err(|_| Error::Request)?,
            body: body.into(),
            codec: Codec::Json,
        })
        .await
    }

    /// The form in which items are sent.
    pub(crate) fn codec(&self) -> Codec {
        self.0.settings.codec
    }

    /// Sends items, which were written in the form of [`Self::codec`].
    pub(crate) async fn call_with_items(&self, path: &str, body: Vec<u8>) -> Result<Answer, Error> {
        self.send(Outgoing {
            method: Method::POST,
            path: path.parse().map_err(|_| Error::Request)?,
            body: body.into(),
            codec: self.codec(),
        })
        .await
    }

    async fn send(&self, outgoing: Outgoing) -> Result<Answer, Error> {
        tokio::time::timeout(self.0.settings.timeout, self.deliver(&outgoing))
            .await
            .map_err(|_| Error::Timeout)?
    }

    async fn deliver(&self, outgoing: &Outgoing) -> Result<Answer, Error> {
        match self.attempt(outgoing).await {
            // Not for an alert: who is refused once is refused twice.
            Err(Failure::NotBegun(error)) if !matches!(error, Error::Tls(_)) => {
                self.attempt(outgoing).await
            }
            first => first,
        }
        .map_err(Failure::into_error)
    }

    async fn attempt(&self, outgoing: &Outgoing) -> Result<Answer, Failure> {
        let mut connection = match self.idle() {
            Some(connection) => connection,
            None => self.dial().await.map_err(Failure::Other)?,
        };
        let request = outgoing
            .write(&self.0.settings, connection.protocol())
            .map_err(Failure::Other)?;
        let limit = self.0.settings.answer_bytes;
        let answer = connection.exchange(request, limit).await;
        match &answer {
            Ok(_) => self.keep(connection),
            Err(Failure::NotBegun(_)) => self.forget(&connection),
            Err(Failure::Other(_)) => {}
        }
        answer
    }

    /// A connection for one call, and how it is called there.
    pub(crate) async fn connection(&self) -> Result<(Connection, &Settings), Error> {
        let connection = match self.idle() {
            Some(connection) => connection,
            None => self.dial().await?,
        };
        Ok((connection, &self.0.settings))
    }

    /// A connection that a call can use now.
    fn idle(&self) -> Option<Connection> {
        let mut pool = self.pool();
        pool.retain(|connection| !connection.is_closed());
        pool.last()?.share().or_else(|| pool.pop())
    }

    async fn dial(&self) -> Result<Connection, Error> {
        let _one_at_a_time = self.0.dialing.lock().await;
        if let Some(connection) = self.idle() {
            return Ok(connection);
        }
        let connection = Connection::open(&self.0.settings).await?;
        if let Some(handle) = connection.share() {
            self.pool().push(handle);
        }
        Ok(connection)
    }

    fn keep(&self, connection: Connection) {
        let mut pool = self.pool();
        if connection.protocol() != Protocol::Http2 && pool.len() < KEPT {
            pool.push(connection);
        }
    }

    fn forget(&self, connection: &Connection) {
        self.pool().retain(|kept| !kept.is_same(connection));
    }

    fn pool(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        // The pool is a list of connections, each whole by itself, whoever panicked meanwhile.
        self.0.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outgoing {
    fn write(&self, settings: &Settings, protocol: Protocol) -> Result<Request<Payload>, Error> {
        let authority = settings.authority.as_str();
        let mut request = Request::builder().method(&self.method);
        request = match protocol {
            Protocol::Http2 => request.uri(format!("https://{authority}{}", self.path)),
            _ => request
                .uri(self.path.as_str())
                .header(header::HOST, authority),
        };
        if !self.body.is_empty() {
            let form = HeaderValue::from_static(self.codec.media_type());
            request = request.header(header::CONTENT_TYPE, form);
        }
        request
            .body(Payload::whole(self.body.clone()))
            .map_err(|_| Error::Request)
    }
}

/// The routes. Each names [`Error::Refused`] for a refusal of the whole request; a batch that is not
/// refused answers item by item.
impl Client {
    /// Seals one message.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn encrypt(&self, context: &Name, item: Seal<'_>) -> Result<Sealed, Error> {
        one(self, Endpoint::Encrypt, Some(context), item.wire()).await
    }

    /// Opens one message.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn decrypt(&self, context: &Name, item: Open<'_>) -> Result<Opened, Error> {
        one(self, Endpoint::Decrypt, Some(context), item.wire()).await
    }

    /// Seals one message so that equal ones look alike.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn deterministic_encrypt(
        &self,
        context: &Name,
        item: Seal<'_>,
    ) -> Result<Sealed, Error> {
        let endpoint = Endpoint::DeterministicEncrypt;
        one(self, endpoint, Some(context), item.wire()).await
    }

    /// Opens one message that was sealed so.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn deterministic_decrypt(
        &self,
        context: &Name,
        item: Open<'_>,
    ) -> Result<Opened, Error> {
        let endpoint = Endpoint::DeterministicDecrypt;
        one(self, endpoint, Some(context), item.wire()).await
    }

    /// Seals one ciphertext again under the newest version.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn rewrap(&self, context: &Name, item: Open<'_>) -> Result<Sealed, Error> {
        one(self, Endpoint::Rewrap, Some(context), item.wire()).await
    }

    /// Makes a data key: plain and wrapped.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn datakey(&self, context: &Name, aad: Option<&[u8]>) -> Result<DataKey, Error> {
        one(
            self,
            Endpoint::Datakey,
            Some(context),
            Fresh {
                aad,
                plain: Plain::Given,
            }
            .wire(),
        )
        .await
    }

    /// Makes a data key and gives it wrapped only.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn datakey_wrapped(
        &self,
        context: &Name,
        aad: Option<&[u8]>,
    ) -> Result<DataKey, Error> {
        one(
            self,
            Endpoint::Datakey,
            Some(context),
            Fresh {
                aad,
                plain: Plain::Withheld,
            }
            .wire(),
        )
        .await
    }

    /// Opens a wrapped data key.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn datakey_open(
        &self,
        context: &Name,
        item: Open<'_>,
    ) -> Result<OpenedDataKey, Error> {
        one(self, Endpoint::DatakeyOpen, Some(context), item.wire()).await
    }

    /// Makes a token of one value.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn tokenize(&self, context: &Name, item: Value<'_>) -> Result<Tokenized, Error> {
        one(self, Endpoint::Tokenize, Some(context), item.wire()).await
    }

    /// Makes a value of one token.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn detokenize(&self, context: &Name, item: Token<'_>) -> Result<Detokenized, Error> {
        one(self, Endpoint::Detokenize, Some(context), item.wire()).await
    }

    /// What the context's mask leaves of the value of one token.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn mask(&self, context: &Name, item: Token<'_>) -> Result<Masked, Error> {
        one(self, Endpoint::Mask, Some(context), item.wire()).await
    }

    /// Makes tokens of any number of values, like [`Client::encrypt_items`].
    ///
    /// # Errors
    /// [`Error`] of the first batch that failed as a whole.
    pub async fn tokenize_items(
        &self,
        context: &Name,
        items: &[Value<'_>],
        batching: Batching,
    ) -> Result<Vec<Result<Tokenized, ErrorBody>>, Error> {
        pipeline(self, (Endpoint::Tokenize, context), items, batching).await
    }

    /// Makes values of any number of tokens, like [`Client::encrypt_items`].
    ///
    /// # Errors
    /// [`Error`] of the first batch that failed as a whole.
    pub async fn detokenize_items(
        &self,
        context: &Name,
        items: &[Token<'_>],
        batching: Batching,
    ) -> Result<Vec<Result<Detokenized, ErrorBody>>, Error> {
        pipeline(self, (Endpoint::Detokenize, context), items, batching).await
    }

    /// What the context's mask leaves of the values of any number of tokens, like [`Client::encrypt_items`].
    ///
    /// # Errors
    /// [`Error`] of the first batch that failed as a whole.
    pub async fn mask_items(
        &self,
        context: &Name,
        items: &[Token<'_>],
        batching: Batching,
    ) -> Result<Vec<Result<Masked, ErrorBody>>, Error> {
        pipeline(self, (Endpoint::Mask, context), items, batching).await
    }

    /// Signs a message or a digest.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn sign(&self, context: &Name, item: Sign<'_>) -> Result<Signed, Error> {
        one(self, Endpoint::Sign, Some(context), item.wire()).await
    }

    /// Signs any number of messages or digests, like [`Client::encrypt_items`].
    ///
    /// # Errors
    /// [`Error`] of the first batch that failed as a whole.
    pub async fn sign_items(
        &self,
        context: &Name,
        items: &[Sign<'_>],
        batching: Batching,
    ) -> Result<Vec<Result<Signed, ErrorBody>>, Error> {
        pipeline(self, (Endpoint::Sign, context), items, batching).await
    }

    /// Looks whether a signature fits. One that does not is no error.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn verify(&self, context: &Name, item: Verify<'_>) -> Result<Verified, Error> {
        one(self, Endpoint::Verify, Some(context), item.wire()).await
    }

    /// Makes a secret with the owner of a public key.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn agree(
        &self,
        context: &Name,
        peer: &[u8],
        which: Which<'_>,
    ) -> Result<Agreed, Error> {
        one(self, Endpoint::Agree, Some(context), which.with_peer(peer)).await
    }

    /// Shows a public key.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn public_key(&self, context: &Name, which: Which<'_>) -> Result<PublicKey, Error> {
        one(self, Endpoint::PublicKey, Some(context), which.wire()).await
    }

    /// Shows an extended public key of a tree.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn xpub(&self, context: &Name, path: &str) -> Result<Xpub, Error> {
        one(self, Endpoint::Xpub, Some(context), at(path)).await
    }

    /// Lets a private key of a tree out, where its context and policy allow that.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn key_export(&self, context: &Name, path: &str) -> Result<ExportedKey, Error> {
        one(self, Endpoint::KeyExport, Some(context), at(path)).await
    }

    /// Makes a message authentication code.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn mac(&self, context: &Name, message: &[u8]) -> Result<Mac, Error> {
        one(self, Endpoint::Mac, Some(context), to_mac(message)).await
    }

    /// Looks whether a message authentication code fits. One that does not is no error.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn mac_verify(
        &self,
        context: &Name,
        message: &[u8],
        mac: &[u8],
        key_version: KeyVersion,
    ) -> Result<Verified, Error> {
        let item = of_mac(message, mac, key_version);
        one(self, Endpoint::MacVerify, Some(context), item).await
    }

    /// Random bytes from the service.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn random(&self, bytes: u64) -> Result<SecretBytes, Error> {
        let item = RandomItem { bytes };
        let Random(random) = one(self, Endpoint::Random, None, item).await?;
        Ok(random)
    }

    /// The contexts on which the caller has a right.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn contexts(&self) -> Result<ContextsAnswer, Error> {
        let route = path(Endpoint::Contexts, None);
        let body = self.call(Method::GET, &route, "").await?.accepted()?;
        serde_json::from_slice(&body).map_err(|_| Error::Answer)
    }

    /// How the service is. A service that is degraded says so in the answer, which is not an error.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn health(&self) -> Result<HealthAnswer, Error> {
        let route = path(Endpoint::Health, None);
        let answer = self.call(Method::GET, &route, "").await?;
        match serde_json::from_slice(&answer.body) {
            Ok(health) => Ok(health),
            Err(_) => answer.accepted().and(Err(Error::Answer)),
        }
    }

    /// Seals any number of messages, in batches of which several are under way at once. The results
    /// are in the order of the items.
    ///
    /// # Errors
    /// [`Error`] of the first batch that failed as a whole; batches before it were done.
    pub async fn encrypt_items(
        &self,
        context: &Name,
        items: &[Seal<'_>],
        batching: Batching,
    ) -> Result<Vec<Result<Sealed, ErrorBody>>, Error> {
        pipeline(self, (Endpoint::Encrypt, context), items, batching).await
    }

    /// Opens any number of messages, like [`Client::encrypt_items`].
    ///
    /// # Errors
    /// [`Error`] of the first batch that failed as a whole.
    pub async fn decrypt_items(
        &self,
        context: &Name,
        items: &[Open<'_>],
        batching: Batching,
    ) -> Result<Vec<Result<Opened, ErrorBody>>, Error> {
        pipeline(self, (Endpoint::Decrypt, context), items, batching).await
    }

    /// Seals any number of messages so that equal ones look alike, like [`Client::encrypt_items`].
    ///
    /// # Errors
    /// [`Error`] of the first batch that failed as a whole; batches before it were done.
    pub async fn deterministic_encrypt_items(
        &self,
        context: &Name,
        items: &[Seal<'_>],
        batching: Batching,
    ) -> Result<Vec<Result<Sealed, ErrorBody>>, Error> {
        let route = (Endpoint::DeterministicEncrypt, context);
        pipeline(self, route, items, batching).await
    }

    /// Opens any number of messages that were sealed so, like [`Client::encrypt_items`].
    ///
    /// # Errors
    /// [`Error`] of the first batch that failed as a whole.
    pub async fn deterministic_decrypt_items(
        &self,
        context: &Name,
        items: &[Open<'_>],
        batching: Batching,
    ) -> Result<Vec<Result<Opened, ErrorBody>>, Error> {
        let route = (Endpoint::DeterministicDecrypt, context);
        pipeline(self, route, items, batching).await
    }

    /// Seals any number of ciphertexts again, like [`Client::encrypt_items`].
    ///
    /// # Errors
    /// [`Error`] of the first batch that failed as a whole; batches before it were done.
    pub async fn rewrap_items(
        &self,
        context: &Name,
        items: &[Open<'_>],
        batching: Batching,
    ) -> Result<Vec<Result<Sealed, ErrorBody>>, Error> {
        pipeline(self, (Endpoint::Rewrap, context), items, batching).await
    }
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Client").field(&self.0.settings).finish()
    }
}
