//! The same calls for programs without a runtime: the command line, the demo.
//!
//! The connection is looked after only while a call runs. What the server sent meanwhile, a GOAWAY
//! for example, is read first.

use std::io::{Read, Write};

use bytes::Bytes;
use http::Method;
use keywright_api::answer::{ContextsAnswer, HealthAnswer, VersionEntry};
use keywright_api::route::Endpoint;
use keywright_secret::SecretBytes;
use keywright_tls::Protocol;
use keywright_types::{KeyVersion, Name};
use tokio::runtime::{Builder, Runtime};

use crate::{
    Agreed, Answer, ApproveAnswer, ApproveOrder, Batching, DataKey, Detokenized, Error, ErrorBody,
    ExportedKey, KeyAction, KeyOrder, KeyVersionsAnswer, Mac, Masked, Open, Opened, OpenedDataKey,
    PublicKey, Seal, Sealed, Settings, Sign, Signed, Streamed, Token, Tokenized, Value, Verified,
    Verify, Which, Xpub,
};

/// A blocking client of one service. Must not be used or dropped inside a runtime.
#[derive(Debug)]
pub struct Client {
    // Before the runtime, so that its connections are dropped while that still exists.
    client: crate::Client,
    runtime: Runtime,
}

impl Client {
    /// Connects; see [`crate::Client::connect`].
    ///
    /// # Errors
    /// [`Error::Runtime`], and those of the asynchronous client.
    pub fn connect(settings: Settings) -> Result<Self, Error> {
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(Error::Runtime)?;
        let client = runtime.block_on(crate::Client::connect(settings))?;
        Ok(Self { client, runtime })
    }

    fn wait<T>(&self, call: impl Future<Output = T>) -> T {
        self.runtime.block_on(async {
            // Lets the connection see what has come since the last call.
            tokio::task::yield_now().await;
            call.await
        })
    }

    /// Seals all that `reader` has into `writer`, in constant memory; see [`crate::Client::encrypt_stream`].
    ///
    /// # Errors
    /// [`Error`]; what was written then is not whole.
    pub fn encrypt_stream(
        &self,
        context: &Name,
        aad: Option<&[u8]>,
        ends: (impl Read + Send + 'static, &mut impl Write),
    ) -> Result<Streamed, Error> {
        let what = (Endpoint::EncryptStream, context);
        self.wait(self.client.transfer(what, aad, ends))
    }

    /// Opens all that `reader` has into `writer`, in constant memory; see [`crate::Client::decrypt_stream`].
    ///
    /// # Errors
    /// [`Error`]; what was written then is a beginning without an end, and must not be used.
    pub fn decrypt_stream(
        &self,
        context: &Name,
        aad: Option<&[u8]>,
        ends: (impl Read + Send + 'static, &mut impl Write),
    ) -> Result<Streamed, Error> {
        let what = (Endpoint::DecryptStream, context);
        self.wait(self.client.transfer(what, aad, ends))
    }

    /// The protocol of the first connection.
    #[must_use]
    pub fn protocol(&self) -> Protocol {
        self.client.protocol()
    }
}

/// One method per asynchronous one, with its arguments and its result.
macro_rules! delegate {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty;)*) => {
        impl Client {
            $(
                #[doc = concat!("See [`crate::Client::", stringify!($name), "`].")]
                ///
                /// # Errors
                /// Those of the asynchronous method.
                pub fn $name(&self, $($argument: $type),*) -> Result<$result, Error> {
                    self.wait(self.client.$name($($argument),*))
                }
            )*
        }
    };
}

delegate! {
    agree(context: &Name, peer: &[u8], which: Which<'_>) -> Agreed;
    call(method: Method, path: &str, body: Bytes) -> Answer;
    contexts() -> ContextsAnswer;
    datakey(context: &Name, aad: Option<&[u8]>) -> DataKey;
    datakey_open(context: &Name, item: Open<'_>) -> OpenedDataKey;
    datakey_wrapped(context: &Name, aad: Option<&[u8]>) -> DataKey;
    decrypt(context: &Name, item: Open<'_>) -> Opened;
    decrypt_items(context: &Name, items: &[Open<'_>], batching: Batching)
        -> Vec<Result<Opened, ErrorBody>>;
    deterministic_decrypt(context: &Name, item: Open<'_>) -> Opened;
    deterministic_decrypt_items(context: &Name, items: &[Open<'_>], batching: Batching)
        -> Vec<Result<Opened, ErrorBody>>;
    deterministic_encrypt(context: &Name, item: Seal<'_>) -> Sealed;
    deterministic_encrypt_items(context: &Name, items: &[Seal<'_>], batching: Batching)
        -> Vec<Result<Sealed, ErrorBody>>;
    detokenize(context: &Name, item: Token<'_>) -> Detokenized;
    detokenize_items(context: &Name, items: &[Token<'_>], batching: Batching)
        -> Vec<Result<Detokenized, ErrorBody>>;
    encrypt(context: &Name, item: Seal<'_>) -> Sealed;
    encrypt_items(context: &Name, items: &[Seal<'_>], batching: Batching)
        -> Vec<Result<Sealed, ErrorBody>>;
    health() -> HealthAnswer;
    key_approve(context: &Name, order: ApproveOrder) -> ApproveAnswer;
    key_order(context: &Name, action: KeyAction, order: KeyOrder) -> Vec<VersionEntry>;
    key_rotate(context: &Name) -> KeyVersion;
    key_versions(context: &Name) -> KeyVersionsAnswer;
    key_export(context: &Name, path: &str) -> ExportedKey;
    mac(context: &Name, message: &[u8]) -> Mac;
    mac_verify(context: &Name, message: &[u8], mac: &[u8], key_version: KeyVersion) -> Verified;
    mask(context: &Name, item: Token<'_>) -> Masked;
    mask_items(context: &Name, items: &[Token<'_>], batching: Batching)
        -> Vec<Result<Masked, ErrorBody>>;
    public_key(context: &Name, which: Which<'_>) -> PublicKey;
    random(bytes: u64) -> SecretBytes;
    rewrap(context: &Name, item: Open<'_>) -> Sealed;
    rewrap_items(context: &Name, items: &[Open<'_>], batching: Batching)
        -> Vec<Result<Sealed, ErrorBody>>;
    sign(context: &Name, item: Sign<'_>) -> Signed;
    sign_items(context: &Name, items: &[Sign<'_>], batching: Batching)
        -> Vec<Result<Signed, ErrorBody>>;
    tokenize(context: &Name, item: Value<'_>) -> Tokenized;
    tokenize_items(context: &Name, items: &[Value<'_>], batching: Batching)
        -> Vec<Result<Tokenized, ErrorBody>>;
    verify(context: &Name, item: Verify<'_>) -> Verified;
    xpub(context: &Name, path: &str) -> Xpub;
}
