//! What each route does with a request.

use http::{HeaderValue, Response, StatusCode};
use keywright_api::answer::ContextsAnswer;
use keywright_api::error::Refusal;
use keywright_api::openapi;
use keywright_api::route::Endpoint;
use keywright_clock::WallTime;
use keywright_service::{DataOperation, Need, Performed};
use keywright_types::Operation;

use super::contexts::entry;
use super::{Application, Asked, to_json};
use crate::exchange::{Form, Understood, answer, good, good_in, refuse, understand};
use crate::orders;
use crate::seed::SeedDoor;
use crate::transport::{Body, BodyError, Reply, Reserved, Room, reply};

impl Application {
    pub(super) async fn route(
        &self,
        asked: Asked<'_>,
        context: Option<&str>,
        body: &mut Body,
    ) -> Response<Reply> {
        let result = match data_operation(asked.route.endpoint) {
            Some(operation) => {
                self.data(asked, operation, context.unwrap_or_default(), body)
                    .await
            }
            // Boxed, so that the future of the hot routes, which is moved a few times on its way into
            // its task, does not carry room for the rare ones.
            None => Box::pin(self.other(asked, context.unwrap_or_default(), body)).await,
        };
        result.unwrap_or_else(|refusal| {
            refuse(
                asked.codecs.answer,
                &refusal,
                &self.limits,
                asked.call.request,
            )
        })
    }

    async fn data(
        &self,
        mut asked: Asked<'_>,
        operation: DataOperation,
        context: &str,
        body: &mut Body,
    ) -> Result<Response<Reply>, Refusal> {
        let room = body.room();
        let body = self.body_of(&mut asked, body).await?;
        let begun = match self.begin(asked, (operation, context), &body, &room) {
            Ok(begun) => begun,
            Err(Stopped::Counted(refusal)) => return Err(refusal),
            Err(Stopped::Unrecorded(refusal)) => {
                return Err(Box::pin(self.refused(asked, refusal)).await);
            }
        };
        let done = self.release(begun.performed.await).await?;
        let not_after = if operation.hands_out_keys() {
            self.data_keys_end()
        } else {
            NEVER
        };
        let codec = asked.codecs.answer;
        let room = (done.byte_len(), not_after);
        let written = answer(codec, (operation, &begun.form), done.iter(), room)?;
        let mut response = good_in(codec, written);
        self.timing.note(&mut response, done.spent());
        Ok(response)
    }

    /// Understands a request and has its work begun. Nothing is waited for here, so what is made on the way has no place
    /// in what is kept of each request while others have their turn.
    fn begin<'a>(
        &'a self,
        asked: Asked<'a>,
        (operation, context): (DataOperation, &str),
        body: &[u8],
        room: &Room,
    ) -> Result<Begun<'a>, Stopped> {
        let understood = understand(operation, (asked.codecs.request, body), &self.limits);
        let Understood { items, form } = understood.map_err(Stopped::Unrecorded)?;
        self.charge(asked, items.len()).map_err(Stopped::Counted)?;
        let made = 2 * body.len() + items.len() * ROOM_OF_AN_ITEM;
        let no_room = |full: BodyError| Stopped::Unrecorded(Refusal::new(full.code()));
        let reserved = room.reserve(made).map_err(no_room)?;
        Ok(Begun {
            performed: self.worker.perform(asked.call, context, operation, items),
            form,
            _reserved: reserved,
        })
    }

    /// When a data key that is handed out now should be exchanged for another.
    fn data_keys_end(&self) -> WallTime {
        let shared = self.worker.shared();
        shared
            .clock()
            .wall()
            .plus(shared.settings().data_key_validity)
    }

    async fn other(
        &self,
        asked: Asked<'_>,
        context: &str,
        body: &mut Body,
    ) -> Result<Response<Reply>, Refusal> {
        match asked.route.endpoint {
            _ if asked.route.is_order() => self.order(asked, context, body).await,
            Endpoint::KeyVersions => {
                let recorded = self.worker.describe(asked.call, context);
                let key = self.release(recorded).await?;
                let uses = self.worker.shared().uses();
                Ok(good(to_json(&orders::versions(&key, uses))))
            }
            Endpoint::Random => self.random(asked, body).await,
            Endpoint::Contexts => {
                let keys = self.release(self.worker.contexts(asked.call)).await?;
                let contexts = keys.iter().map(entry).collect();
                Ok(good(to_json(&ContextsAnswer { contexts })))
            }
            Endpoint::Metrics => {
                let recorded =
                    self.worker
                        .plain(asked.call, Operation::MetricsRead, Need::Grant, |_| ());
                self.release(recorded).await?;
                let text = self.worker.shared().metrics_page();
                Ok(reply(
                    StatusCode::OK,
                    HeaderValue::from_static(PROMETHEUS),
                    text,
                ))
            }
            Endpoint::Openapi => {
                let recorded =
                    self.worker
                        .plain(asked.call, Operation::ApiRead, Need::Identity, |_| ());
                self.release(recorded).await?;
                let mut document = openapi::document_on(self.plane, &self.limits);
                if self.vault.is_some() {
                    keywright_api::vault::add_to_on(self.plane, &mut document, &self.limits);
                }
                if self.seed == SeedDoor::Open {
                    keywright_api::seed::add_to(&mut document, &self.limits);
                }
                Ok(good(to_json(&document)))
            }
            _ => self.health(asked).await,
        }
    }

    async fn order(
        &self,
        mut asked: Asked<'_>,
        context: &str,
        body: &mut Body,
    ) -> Result<Response<Reply>, Refusal> {
        let body = self.body_of(&mut asked, body).await?;
        let what = match orders::understand(asked.route.endpoint, &body, &self.limits) {
            Ok(what) => what,
            Err(refusal) => return Err(self.refused(asked, refusal).await),
        };
        let order = (asked.route.operation, what);
        let desk = &self.probes.desk;
        let recorded = self.worker.order(asked.call, context, order, desk).await;
        let done = self.release(recorded).await?;
        Ok(good(orders::answer(done)))
    }
}

/// A request whose work is begun, and what its answer needs.
struct Begun<'a> {
    performed: Performed<'a>,
    form: Form,
    _reserved: Reserved,
}

/// Why the work of a request was not begun.
enum Stopped {
    /// Its caller does too much, which is counted already.
    Counted(Refusal),
    /// It is wrong, or too large, and has no record yet.
    Unrecorded(Refusal),
}

pub(super) const fn data_operation(endpoint: Endpoint) -> Option<DataOperation> {
    match endpoint {
        Endpoint::Datakey => Some(DataOperation::Datakey),
        Endpoint::DatakeyOpen => Some(DataOperation::DatakeyOpen),
        Endpoint::Decrypt => Some(DataOperation::Decrypt),
        Endpoint::DeterministicDecrypt => Some(DataOperation::DeterministicDecrypt),
        Endpoint::DeterministicEncrypt => Some(DataOperation::DeterministicEncrypt),
        Endpoint::Detokenize => Some(DataOperation::Detokenize),
        Endpoint::Encrypt => Some(DataOperation::Encrypt),
        Endpoint::Mask => Some(DataOperation::Mask),
        Endpoint::Rewrap => Some(DataOperation::Rewrap),
        Endpoint::Tokenize => Some(DataOperation::Tokenize),
        Endpoint::Agree => Some(DataOperation::Agree),
        Endpoint::KeyExport => Some(DataOperation::KeyExport),
        Endpoint::Mac => Some(DataOperation::Mac),
        Endpoint::MacVerify => Some(DataOperation::VerifyMac),
        Endpoint::PublicKey => Some(DataOperation::PublicKey),
        Endpoint::Sign => Some(DataOperation::Sign),
        Endpoint::Verify => Some(DataOperation::Verify),
        Endpoint::Xpub => Some(DataOperation::Xpub),
        Endpoint::Contexts
        | Endpoint::DecryptStream
        | Endpoint::EncryptStream
        | Endpoint::KeyApprove
        | Endpoint::KeyCancelDestroy
        | Endpoint::KeyDestroy
        | Endpoint::KeyResume
        | Endpoint::KeyRetire
        | Endpoint::KeyRotate
        | Endpoint::KeyScheduleDestroy
        | Endpoint::KeySuspend
        | Endpoint::KeyVersions
        | Endpoint::Health
        | Endpoint::Metrics
        | Endpoint::Openapi
        | Endpoint::Random => None,
    }
}

/// What the result of an item takes beside its text, an envelope's front and its place in the answer.
const ROOM_OF_AN_ITEM: usize = 512;
/// Stands where no data key is handed out and no answer names a time.
const NEVER: WallTime = WallTime::from_unix_nanos(0);
const PROMETHEUS: &str = "text/plain; version=0.0.4; charset=utf-8";
