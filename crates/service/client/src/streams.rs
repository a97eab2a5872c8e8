//! Streams: sealed or opened by the service while they are sent.

use std::fmt;
use std::io::{Read, Write};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Method, Request, Response, header};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use keywright_api::route::Endpoint;
use keywright_api::{AAD_HEADER, KEY_VERSION_HEADER};
use keywright_encoding::base64;
use keywright_tls::Protocol;
use keywright_types::{KeyVersion, Name};

use crate::connection::{Connection, read};
use crate::items::path;
use crate::payload::Payload;
use crate::{Answer, Client, Error, Feed, Pieces, Settings};

/// The answer to a stream, piece by piece.
#[must_use = "what is not read to its end is not known to be whole"]
pub struct Received {
    body: Incoming,
    key_version: KeyVersion,
    /// Lives as long as the answer.
    _connection: Connection,
    timeout: Duration,
}

/// What a stream came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Streamed {
    /// Under which version it is.
    pub key_version: KeyVersion,
    /// Bytes that were sent.
    pub bytes_in: u64,
    /// Bytes that came back.
    pub bytes_out: u64,
}

impl Received {
    /// Under which version the stream is.
    #[must_use]
    pub const fn key_version(&self) -> KeyVersion {
        self.key_version
    }

    /// The next piece; `None` at the end, and then what came is whole.
    ///
    /// # Errors
    /// [`Error::BrokenOff`], [`Error::Closed`], [`Error::Protocol`] or [`Error::Timeout`]: what came before is a beginning
    /// without an end, and is nothing.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            let frame = tokio::time::timeout(self.timeout, self.body.frame()).await;
            match frame.map_err(|_| Error::Timeout)? {
                None => return Ok(None),
                Some(Err(error)) => return Err(Error::streaming(error)),
                Some(Ok(frame)) => {
                    if let Ok(piece) = frame.into_data() {
                        return Ok(Some(piece));
                    }
                }
            }
        }
    }
}

impl Client {
    /// Seals a stream while it is sent. Its pieces must be given in while the answer is read: neither side
    /// keeps more than a few of them.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn encrypt_stream(
        &self,
        context: &Name,
        aad: Option<&[u8]>,
        pieces: Pieces,
    ) -> Result<Received, Error> {
        self.stream((Endpoint::EncryptStream, context), aad, pieces)
            .await
    }

    /// Opens a stream while it is sent, like [`Client::encrypt_stream`].
    ///
    /// # Errors
    /// [`Error`].
    pub async fn decrypt_stream(
        &self,
        context: &Name,
        aad: Option<&[u8]>,
        pieces: Pieces,
    ) -> Result<Received, Error> {
        self.stream((Endpoint::DecryptStream, context), aad, pieces)
            .await
    }

    async fn stream(
        &self,
        (endpoint, context): (Endpoint, &Name),
        aad: Option<&[u8]>,
        pieces: Pieces,
    ) -> Result<Received, Error> {
        let (mut connection, settings) = self.connection().await?;
        let asked = (path(endpoint, Some(context)), aad);
        let request = request(settings, connection.protocol(), asked, pieces)?;
        let sent = tokio::time::timeout(settings.timeout, connection.send(request)).await;
        let response = sent
            .map_err(|_| Error::Timeout)?
            .map_err(|failure| failure.into_error().of_stream())?;
        if !response.status().is_success() {
            return Err(refusal(response, settings.answer_bytes).await);
        }
        let key_version = version_of(&response).ok_or(Error::Answer)?;
        Ok(Received {
            body: response.into_body(),
            key_version,
            _connection: connection,
            timeout: settings.timeout,
        })
    }

    /// [`Client::encrypt_stream`] from a reader into a writer. The reader is read on a thread of its own, which
    /// ends with the reader or with the call.
    pub(crate) async fn transfer(
        &self,
        (endpoint, context): (Endpoint, &Name),
        aad: Option<&[u8]>,
        (reader, writer): (impl Read + Send + 'static, &mut impl Write),
    ) -> Result<Streamed, Error> {
        let (feed, pieces) = Pieces::with_room(4);
        let reading = std::thread::Builder::new()
            .name("stream-reader".to_owned())
            .spawn(move || feed_from(reader, feed))
            .map_err(Error::Runtime)?;
        let received = self.stream((endpoint, context), aad, pieces).await;
        let written = match received {
            Ok(received) => write_to(received, writer).await,
            Err(error) => Err(error),
        };
        // An answer that has its end had a request that had one. One that failed may have done so because
        // the reader did, which says more.
        if written.is_err() && !reading.is_finished() {
            return written;
        }
        let read = reading.join().unwrap_or(Ok(0)).map_err(Error::Read)?;
        written.map(|streamed| Streamed {
            bytes_in: read,
            ..streamed
        })
    }
}

async fn write_to(mut received: Received, writer: &mut impl Write) -> Result<Streamed, Error> {
    let mut bytes_out = 0;
    while let Some(piece) = received.next().await? {
        writer.write_all(&piece).map_err(Error::Write)?;
        bytes_out += piece.len() as u64;
    }
    Ok(Streamed {
        key_version: received.key_version,
        bytes_in: 0,
        bytes_out,
    })
}

/// Reads to the end. A reader that fails leaves the request broken off.
fn feed_from(mut reader: impl Read, feed: Feed) -> std::io::Result<u64> {
    let mut count = 0;
    loop {
        let mut piece = vec![0; PIECE];
        let length = fill(&mut reader, &mut piece)?;
        piece.truncate(length);
        count += length as u64;
        if length > 0 && feed.give_blocking(piece).is_err() {
            return Ok(count);
        }
        if length < PIECE {
            // Who is gone has told why.
            let _ = feed.finish_blocking();
            return Ok(count);
        }
    }
}

/// As many bytes as there are, up to the whole buffer.
fn fill(reader: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match reader.read(rest) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

fn request(
    settings: &Settings,
    protocol: Protocol,
    (path, aad): (String, Option<&[u8]>),
    pieces: Pieces,
) -> Result<Request<Payload>, Error> {
    let authority = settings.authority.as_str();
    let mut request = Request::builder().method(Method::POST);
    request = match protocol {
        Protocol::Http2 => request.uri(format!("https://{authority}{path}")),
        _ => request.uri(path).header(header::HOST, authority),
    };
    let bytes = HeaderValue::from_static("application/octet-stream");
    request = request.header(header::CONTENT_TYPE, bytes);
    if let Some(aad) = aad {
        request = request.header(AAD_HEADER, base64::encode(aad));
    }
    request
        .body(Payload::Pieces(pieces))
        .map_err(|_| Error::Request)
}

fn version_of(response: &Response<Incoming>) -> Option<KeyVersion> {
    let text = response.headers().get(KEY_VERSION_HEADER)?.to_str().ok()?;
    text.parse().ok().map(KeyVersion::from_number)
}

async fn refusal(response: Response<Incoming>, limit: usize) -> Error {
    match read(response, limit).await.map(Answer::accepted) {
        Ok(Err(error)) => error,
        _ => Error::Closed,
    }
}

impl fmt::Debug for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Received(key version {})", self.key_version)
    }
}

/// Four chunks of a stream.
const PIECE: usize = 64 << 10;
