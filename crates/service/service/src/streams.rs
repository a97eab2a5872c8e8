//! Streams of any length (design 7.6, suite 6): decided once, then sealed or opened as they come.
//!
//! A stream has two records: one before its first byte is handed out, and one when it has ended, however
//! that was. The first is of a type of its own; the second is the request's, with its outcome, and
//! nothing that would tell a reader that the stream is whole may leave before it.
//!
//! A right that is taken away while a stream runs ends with the next one. A certificate that is revoked,
//! or whose principal goes, ends its connection, and its streams with it.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use keywright_audit::RecordType;
use keywright_audit::field::Field;
use keywright_audit::record::Facts;
use keywright_clock::MonotonicTime;
use keywright_custody::{HolderError, KeyHolder, KeyMaterial, Request, StreamStart, Versions};
use keywright_envelope::Binding;
use keywright_envelope::stream::{Prefix, StreamOpener, StreamSealer};
use keywright_policy::Permit;
use keywright_primitives::random::RandomStream;
use keywright_types::{Code, KeyVersion, Operation};

use crate::allowance::Claim;
use crate::meter::Meter;
use crate::plan::{self, DataOperation, Noted};
use crate::recorded::Recorded;
use crate::worker::{Call, Entry, Queue, Refusal, Worker};

/// A stream that somebody asks for.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "plain facts of a request")]
pub struct Wanted<'a> {
    /// Who asks.
    pub call: Call<'a>,
    /// The context.
    pub context: &'a str,
    /// The caller's associated data, of a length that was looked at.
    pub aad: &'a [u8],
}

/// A stream that is under way.
pub struct Stream {
    worker: Rc<Worker>,
    /// Of the record at the end.
    facts: Facts,
    started: MonotonicTime,
    message: [u8; 16],
    engine: Engine,
    beginning: Vec<u8>,
    /// The limit of its caller, and what of it is paid for.
    meter: Option<Meter>,
    paid: u64,
}

enum Engine {
    Sealing(StreamSealer),
    Opening(StreamOpener),
    /// Its end is in the log.
    Ended,
}

/// What is handed to the holder.
pub(crate) struct Start {
    permit: Permit,
    material: Arc<KeyMaterial>,
    binding: Binding,
    aad: Vec<u8>,
    /// Of a stream that is opened.
    prefix: Option<Prefix>,
    /// What is to be taken of the version's uses first.
    claim: Option<Claim>,
}

/// What the holder makes of it.
pub(crate) enum Started {
    Opening(Option<StreamOpener>),
    Sealing(StreamSealer, Vec<u8>),
}

impl Start {
    pub(crate) fn run(
        &self,
        holder: &dyn KeyHolder,
        random: &mut RandomStream,
    ) -> Result<Started, HolderError> {
        let start = StreamStart {
            material: &self.material,
            binding: self.binding,
            aad: &self.aad,
        };
        self.claim.as_ref().map_or(Ok(()), Claim::take)?;
        if let Some(prefix) = &self.prefix {
            let opener = holder.open_stream(&self.permit, start, prefix)?;
            return Ok(Started::Opening(opener));
        }
        let mut beginning = Vec::with_capacity(Prefix::MAX_LEN);
        let sealer = holder.seal_stream(&self.permit, start, random, &mut beginning)?;
        Ok(Started::Sealing(sealer, beginning))
    }
}

impl Worker {
    /// Looks whether a caller may have a stream, before a byte of it is read: a refusal, with its record,
    /// if not.
    pub fn refuse_stream(
        &self,
        wanted: Wanted<'_>,
        operation: Operation,
    ) -> Option<Recorded<Result<(), Code>>> {
        let snapshot = self.snapshot();
        let mut entry = self.begin(&wanted.call, operation, &snapshot);
        match entry.decide(&snapshot, wanted.context).map(drop) {
            Ok(()) => {
                entry.leave();
                None
            }
            Err((code, reason)) => Some(entry.refuse(code, reason)),
        }
    }

    /// Begins to seal a stream under the active version of a context.
    pub async fn seal_stream(
        self: &Rc<Self>,
        wanted: Wanted<'_>,
    ) -> Recorded<Result<Stream, Code>> {
        let snapshot = self.shared().snapshot();
        let mut entry = self.begin(&wanted.call, Operation::Encrypt, &snapshot);
        let planned = entry
            .decide(&snapshot, wanted.context)
            .map(|decided| (decided.key, decided.permit));
        let planned = planned.and_then(|(key, permit)| {
            let refused = |code: Code| (code, None);
            if !DataOperation::Encrypt.is_of(key.spec().purpose) {
                return Err(refused(Code::Unsupported));
            }
            let Some(active) = key.active() else {
                let now = entry.facts.time;
                self.note_idle(key, Code::NoActiveVersion, now);
                return Err(refused(Code::NoActiveVersion));
            };
            let principal = entry.principal()?;
            let (material, one) = (active.material(), (DataOperation::Encrypt, 1));
            let claim = self.shared().claim(key, Some(material), one);
            Ok(Start {
                permit,
                claim: claim.map_err(|error| refused(error.code()))?,
                material: Arc::clone(material),
                binding: plan::binding_for(key.binding(), &principal).map_err(refused)?,
                aad: wanted.aad.to_vec(),
                prefix: None,
            })
        });
        self.start(wanted, entry, planned).await
    }

    /// Begins to open the stream of `prefix`, if it is one of the context that the caller may open.
    pub async fn open_stream(
        self: &Rc<Self>,
        wanted: Wanted<'_>,
        prefix: Prefix,
    ) -> Recorded<Result<Stream, Code>> {
        let snapshot = self.shared().snapshot();
        let mut entry = self.begin(&wanted.call, Operation::Decrypt, &snapshot);
        let planned = entry
            .decide(&snapshot, wanted.context)
            .map(|decided| (decided.key, decided.permit));
        let planned = planned.and_then(|(key, permit)| {
            if !DataOperation::Decrypt.is_of(key.spec().purpose) {
                return Err((Code::Unsupported, None));
            }
            let principal = entry.principal()?;
            let (who, header) = ((&*snapshot.policy, &*principal), prefix.header());
            let version = plan::check(DataOperation::Decrypt, key, who, header);
            if let Err((Code::KeyVersionUnavailable, _)) = version {
                let noted = Noted {
                    closed: vec![header.version],
                    sources: Vec::new(),
                };
                let none = (key.id(), None, entry.facts.time);
                self.count_uses(none, std::iter::empty(), &noted);
            }
            Ok(Start {
                permit,
                material: Arc::clone(version?.material()),
                binding: Binding::None,
                aad: wanted.aad.to_vec(),
                prefix: Some(prefix),
                claim: None,
            })
        });
        self.start(wanted, entry, planned).await
    }

    async fn start(
        self: &Rc<Self>,
        wanted: Wanted<'_>,
        mut entry: Entry<'_>,
        planned: Result<Start, Refusal>,
    ) -> Recorded<Result<Stream, Code>> {
        entry.facts.items = 1;
        let start = match planned {
            Ok(start) => start,
            Err((code, reason)) => return entry.refuse(code, reason),
        };
        entry.facts.version = start.material.version();
        let opened = start.prefix.map(|prefix| *prefix.message_id().as_bytes());
        let (engine, beginning, message) = match self.at_holder(start).await {
            Err(error) => return entry.refuse(error.code(), None),
            Ok(Started::Opening(None)) => return entry.refuse(Code::DecryptionFailed, None),
            Ok(Started::Opening(Some(opener))) => {
                let message = opened.unwrap_or_default();
                (Engine::Opening(opener), Vec::new(), message)
            }
            Ok(Started::Sealing(sealer, beginning)) => {
                let message = *sealer.message_id().as_bytes();
                (Engine::Sealing(sealer), beginning, message)
            }
        };
        let used = match &engine {
            Engine::Sealing(_) => DataOperation::Encrypt.use_of_key(),
            _ => DataOperation::Decrypt.use_of_key(),
        };
        let (facts, started) = entry.leave();
        let one = (facts.version, Code::Ok, message);
        let of = (facts.key, used, facts.time);
        self.count_uses(of, std::iter::once(one), &Noted::default());
        let first = Facts {
            kind: RecordType::StreamBegin,
            ..facts
        };
        let ticket = self.append(first, &[Field::MessageId(message)]);
        let meter = wanted.call.caller.metered(|meter, _| meter.clone());
        let stream = Stream {
            worker: Rc::clone(self),
            facts,
            started,
            message,
            engine,
            beginning,
            meter,
            paid: UNIT,
        };
        Recorded::new(Ok(stream), ticket)
    }

    /// On this thread, unless the holder waits for a device to get at the key.
    async fn at_holder(&self, start: Start) -> Result<Started, HolderError> {
        let shared = self.shared();
        let request = Request {
            operation: match start.prefix {
                Some(_) => keywright_custody::HolderOperation::Open,
                None => keywright_custody::HolderOperation::Seal,
            },
            versions: Versions::from_elem(Arc::clone(&start.material), 1),
            binding: start.binding,
            deadline_ns: keywright_custody::NO_DEADLINE,
        };
        let waits = start.claim.is_some();
        match self.pool_for(&request, (1, waits)) {
            Some(Queue::Device(pool) | Queue::Long(pool)) => {
                let waiting = pool.start_stream(start)?;
                waiting.await.unwrap_or(Err(HolderError::Unavailable))
            }
            None => self.with_random(|random| start.run(shared.holder(), random)),
        }
    }
}

impl Stream {
    /// The version that seals or opens it.
    #[must_use]
    pub const fn version(&self) -> KeyVersion {
        self.facts.version
    }

    /// What is handed out before anything is taken: the beginning of a stream that is sealed.
    pub fn take_beginning(&mut self) -> Vec<u8> {
        let beginning = std::mem::take(&mut self.beginning);
        self.facts.bytes_out += beginning.len() as u64;
        beginning
    }

    /// Takes more bytes, and appends what they come to.
    ///
    /// # Errors
    /// The reason for which the stream ends here; its record says so. What was handed out before is
    /// the beginning of something that has no end.
    pub fn update(&mut self, piece: &[u8], out: &mut Vec<u8>) -> Result<(), Code> {
        self.facts.bytes_in += piece.len() as u64;
        self.pay();
        let before = out.len();
        let done = match &mut self.engine {
            Engine::Opening(opener) => opener
                .update(piece, out)
                .map_err(|_| Code::DecryptionFailed),
            Engine::Sealing(sealer) => sealer.update(piece, out).map_err(|_| Code::Internal),
            Engine::Ended => Err(Code::Internal),
        };
        self.facts.bytes_out += (out.len() - before) as u64;
        done.inspect_err(|code| drop(self.end(*code)))
    }

    /// Ends the stream, and appends the last of it. It may leave only once this is recorded.
    pub fn finish(mut self, out: &mut Vec<u8>) -> Recorded<Result<(), Code>> {
        let before = out.len();
        let done = match std::mem::replace(&mut self.engine, Engine::Ended) {
            Engine::Opening(opener) => opener.finish(out).map_err(|_| Code::DecryptionFailed),
            Engine::Sealing(sealer) => sealer.finish(out).map_err(|_| Code::Internal),
            Engine::Ended => Err(Code::Internal),
        };
        self.facts.bytes_out += (out.len() - before) as u64;
        self.end(done.err().unwrap_or(Code::Ok))
    }

    /// Ends the stream because its bytes do not come any more.
    pub fn fail(mut self, code: Code) {
        drop(self.end(code));
    }

    fn end(&mut self, outcome: Code) -> Recorded<Result<(), Code>> {
        self.engine = Engine::Ended;
        let facts = &mut self.facts;
        facts.outcome = outcome;
        facts.failed = u32::from(outcome != Code::Ok);
        let clock = self.worker.shared().clock();
        (facts.time, facts.duration) = (clock.wall(), clock.monotonic().since(self.started));
        self.worker.count_request(facts, None);
        let ticket = self
            .worker
            .append(*facts, &[Field::MessageId(self.message)]);
        let result = match outcome {
            Code::Ok => Ok(()),
            code => Err(code),
        };
        Recorded::new(result, ticket)
    }

    /// A stream costs as much as one item for each [`UNIT`] that is begun.
    fn pay(&mut self) {
        let Some(meter) = &self.meter else { return };
        let owed = self.facts.bytes_in.saturating_sub(self.paid).div_ceil(UNIT);
        if owed > 0 {
            self.paid += owed * UNIT;
            let now = self.worker.shared().clock().monotonic();
            meter.owe((self.facts.operation, owed), now);
        }
    }
}

impl Drop for Stream {
    /// Whoever drops it before its end has lost its other end.
    fn drop(&mut self) {
        if !matches!(self.engine, Engine::Ended) {
            drop(self.end(Code::Interrupted));
            self.worker.leave_behind();
        }
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream(version {})", self.facts.version)
    }
}

/// Bytes that cost as much as one item.
const UNIT: u64 = 64 << 10;
