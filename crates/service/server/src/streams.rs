//! Streams of any length: what comes is sealed or opened as it comes, and given out as the client takes it.
//!
//! The right is decided before a byte of the body is read, and again with what the stream's beginning
//! says. Until the answer's head is out a failure is an answer like any other; from then on the only
//! honest one is a reset.

use std::rc::Rc;
use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Response};
use keywright_api::error::Refusal;
use keywright_api::route::Endpoint;
use keywright_api::{AAD_HEADER, KEY_VERSION_HEADER, MAX_AAD};
use keywright_encoding::base64;
use keywright_envelope::stream::Prefix;
use keywright_service::{Call, Stream, Wanted, Worker};
use keywright_types::Code;

use crate::application::{Application, Asked};
use crate::gate::LetIn;
use crate::transport::group::GroupFlush;
use crate::transport::{Aborted, Body, BodyError, Outlet, Reply};

/// What a stream needs once its answer has begun.
struct Pump {
    stream: Stream,
    body: Body,
    timeout: Duration,
    worker: Rc<Worker>,
    group: Rc<GroupFlush>,
    /// A stream is a request that runs until it ends.
    _let_in: LetIn,
}

/// A request for a stream, and what it came with.
pub(crate) struct Incoming<'a> {
    pub(crate) context: &'a str,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: Body,
    pub(crate) let_in: LetIn,
}

impl Application {
    pub(crate) async fn stream(
        &self,
        asked: Asked<'_>,
        incoming: Incoming<'_>,
    ) -> Result<Response<Reply>, Refusal> {
        let Incoming {
            context,
            headers,
            mut body,
            let_in,
        } = incoming;
        let aad = match aad_of(headers) {
            Ok(aad) => aad,
            Err(code) => return Err(self.refused(asked, Refusal::new(code)).await),
        };
        let wanted = Wanted {
            call: asked.call,
            context,
            aad: &aad,
        };
        let operation = asked.route.operation;
        if let Some(refused) = self.worker.refuse_stream(wanted, operation) {
            self.release(refused).await?;
        }
        let mut first = Vec::new();
        let recorded = match asked.route.endpoint {
            Endpoint::EncryptStream => self.worker.seal_stream(wanted).await,
            _ => {
                let (prefix, call) = self.beginning(asked, &mut body, &mut first).await?;
                let wanted = Wanted { call, ..wanted };
                self.worker.open_stream(wanted, prefix).await
            }
        };
        let stream = self.release(recorded).await?;
        let version = stream.version();
        let pump = Pump {
            stream,
            body,
            timeout: self.body_timeout,
            worker: Rc::clone(&self.worker),
            group: Rc::clone(&self.group),
            _let_in: let_in,
        };
        let mut response = Response::new(Reply::pieces(|outlet| pump.run(first, outlet)));
        let bytes = HeaderValue::from_static("application/octet-stream");
        response.headers_mut().insert(CONTENT_TYPE, bytes);
        let version = HeaderValue::from(version.number());
        response.headers_mut().insert(KEY_VERSION_HEADER, version);
        Ok(response)
    }

    /// Reads the beginning of a stream; what came behind it stays in `first`.
    async fn beginning<'c>(
        &self,
        mut asked: Asked<'c>,
        body: &mut Body,
        first: &mut Vec<u8>,
    ) -> Result<(Prefix, Call<'c>), Refusal> {
        let expected = self.worker.expect(asked.call, asked.route.operation);
        let read = read_beginning(body, self.body_timeout, first).await;
        expected.arrived();
        asked.call.bytes_in = first.len() as u64;
        match read {
            Ok(prefix) => {
                // What came behind it is counted as it is opened.
                asked.call.bytes_in = prefix_len(&prefix) as u64;
                Ok((prefix, asked.call))
            }
            Err(code) => Err(self.refused(asked, Refusal::new(code)).await),
        }
    }
}

/// The additional data of a stream.
pub(crate) fn aad_of(headers: &HeaderMap) -> Result<Vec<u8>, Code> {
    let mut values = headers.get_all(AAD_HEADER).iter();
    let (first, second) = (values.next(), values.next());
    let Some(value) = first else {
        return Ok(Vec::new());
    };
    if second.is_some() {
        return Err(Code::RequestMalformed);
    }
    let text = value.to_str().map_err(|_| Code::Base64Invalid)?;
    let aad = base64::decode(text).map_err(|_| Code::Base64Invalid)?;
    match aad.len() <= MAX_AAD {
        true => Ok(aad),
        false => Err(Code::AadTooLarge),
    }
}

/// Reads until the beginning is whole, and takes it out of what was read.
async fn read_beginning(
    body: &mut Body,
    timeout: Duration,
    read: &mut Vec<u8>,
) -> Result<Prefix, Code> {
    loop {
        if let Some(peek) = read.first_chunk() {
            let length = Prefix::length(peek).map_err(|_| Code::CiphertextMalformed)?;
            if let Some((beginning, rest)) = read.split_at_checked(length) {
                let prefix = Prefix::parse(beginning).map_err(|_| Code::CiphertextMalformed)?;
                *read = rest.to_vec();
                return Ok(prefix);
            }
        }
        match body.next(timeout).await.map_err(BodyError::code)? {
            Some(piece) => read.extend_from_slice(&piece),
            None => return Err(Code::CiphertextMalformed),
        }
    }
}

fn prefix_len(prefix: &Prefix) -> usize {
    let mut bytes = Vec::with_capacity(Prefix::MAX_LEN);
    prefix.encode_into(&mut bytes);
    bytes.len()
}

impl Pump {
    async fn run(mut self, first: Vec<u8>, outlet: Outlet) -> Result<(), Aborted> {
        let mut buffer = self.stream.take_beginning();
        self.take(&first, &mut buffer)?;
        drop(first);
        loop {
            if !buffer.is_empty() {
                outlet.give(std::mem::take(&mut buffer)).await;
            }
            match self.body.next(self.timeout).await {
                Ok(Some(piece)) => self.take(&piece, &mut buffer)?,
                Ok(None) => break,
                Err(error) => {
                    let code = match error {
                        BodyError::Broken => Code::Interrupted,
                        other => other.code(),
                    };
                    self.stream.fail(code);
                    drop(self.group.join());
                    return Err(Aborted::new());
                }
            }
        }
        let recorded = self.stream.finish(&mut buffer);
        // Whether its end was written is asked of the log, not of the flush.
        let _ = self.group.join().await;
        match recorded.release(&self.worker) {
            Ok(Ok(())) => {
                outlet.give(buffer).await;
                Ok(())
            }
            _ => Err(Aborted::new()),
        }
    }

    /// What fails is in the log when this returns; the log is written soon.
    fn take(&mut self, piece: &[u8], buffer: &mut Vec<u8>) -> Result<(), Aborted> {
        self.stream.update(piece, buffer).map_err(|_| {
            drop(self.group.join());
            Aborted::new()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(values: &[&[u8]]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            let value = HeaderValue::from_bytes(value).unwrap();
            headers.append(AAD_HEADER, value);
        }
        headers
    }

    #[test]
    fn additional_data_is_one_header_in_strict_base64() {
        assert_eq!(aad_of(&headers(&[])), Ok(Vec::new()));
        assert_eq!(aad_of(&headers(&[b""])), Ok(Vec::new()));
        assert_eq!(aad_of(&headers(&[b"cm93IDc="])), Ok(b"row 7".to_vec()));
        for wrong in [
            &b"cm93IDc"[..],
            b"cm93IDc= ",
            b"cm93_Dc=",
            b"\xFF",
            b"=",
            b"cm93IDc=,",
        ] {
            assert_eq!(aad_of(&headers(&[wrong])), Err(Code::Base64Invalid));
        }
        let twice = headers(&[b"cm93IDc=", b"cm93IDc="]);
        assert_eq!(aad_of(&twice), Err(Code::RequestMalformed));
        let longest = base64::encode(&vec![7; MAX_AAD]);
        assert_eq!(
            aad_of(&headers(&[longest.as_bytes()])).unwrap().len(),
            MAX_AAD
        );
        let longer = base64::encode(&vec![7; MAX_AAD + 1]);
        let refused = aad_of(&headers(&[longer.as_bytes()]));
        assert_eq!(refused, Err(Code::AadTooLarge));
    }
}
