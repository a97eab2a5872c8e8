//! The same calls for programs without a runtime: the command line, the demo.
//!
//! The connection is looked after only while a call runs. What the server sent meanwhile, a GOAWAY
//! for example, is read first.

use bytes::Bytes;
use http::Method;
use keywright_api::answer::{ContextsAnswer, HealthAnswer};
use keywright_secret::SecretBytes;
use keywright_tls::Protocol;
use keywright_types::Name;
use tokio::runtime::{Builder, Runtime};

use crate::{
    Answer, Batching, DataKey, Error, ErrorBody, Open, Opened, OpenedDataKey, Seal, Sealed,
    Settings,
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
    call(method: Method, path: &str, body: Bytes) -> Answer;
    contexts() -> ContextsAnswer;
    datakey(context: &Name, aad: Option<&[u8]>) -> DataKey;
    datakey_open(context: &Name, item: Open<'_>) -> OpenedDataKey;
    datakey_wrapped(context: &Name, aad: Option<&[u8]>) -> DataKey;
    decrypt(context: &Name, item: Open<'_>) -> Opened;
    decrypt_items(context: &Name, items: &[Open<'_>], batching: Batching)
        -> Vec<Result<Opened, ErrorBody>>;
    encrypt(context: &Name, item: Seal<'_>) -> Sealed;
    encrypt_items(context: &Name, items: &[Seal<'_>], batching: Batching)
        -> Vec<Result<Sealed, ErrorBody>>;
    health() -> HealthAnswer;
    random(bytes: u64) -> SecretBytes;
    rewrap(context: &Name, item: Open<'_>) -> Sealed;
    rewrap_items(context: &Name, items: &[Open<'_>], batching: Batching)
        -> Vec<Result<Sealed, ErrorBody>>;
}
