//! The writer: events become lines, lines go to the sink in blocks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use keywright_clock::{Clock, WallTime};
use keywright_pkcs11_names::{CallRecord, Function, SCHEMA_VERSION};

use crate::context::Context;
use crate::event::Event;
use crate::recorder::Message;
use crate::render::{self, Surroundings, Tags};
use crate::settings::Settings;
use crate::sink::{Lost, Sink};

/// Makes lines of events.
pub(crate) struct Writer {
    functions: Vec<Function>,
    clock: Clock,
    sink: Sink,
    tags: Tags,
    context: Context,
    module: String,
    misread: Option<&'static str>,
    seq: u64,
    dropped: Arc<AtomicU64>,
    /// Lines that wait for the sink.
    lines: Vec<u8>,
}

/// Lines are written at the latest when so many bytes wait.
const BLOCK: usize = 64 * 1024;
/// While calls come, the queue is looked at so often; after so many empty looks the thread sleeps.
const LOOK: Duration = Duration::from_millis(1);
const LOOKS: u32 = 20;
/// What stands for the function in the line that counts what was dropped at the end.
const END: &str = "recorder:end";

impl Writer {
    pub(crate) fn new(settings: Settings, clock: Clock, dropped: Arc<AtomicU64>) -> Self {
        Self {
            functions: Function::all().collect(),
            clock,
            sink: Sink::new(settings.log),
            tags: Tags::new(settings.labels),
            context: Context::default(),
            module: settings.module,
            misread: settings.misread,
            seq: 0,
            dropped,
            lines: Vec::new(),
        }
    }

    /// Writes what comes through the queue, until nobody can send any more.
    pub(crate) fn run(mut self, queue: &Receiver<Message>) {
        while let Some(message) = self.next(queue) {
            let handled = catch_unwind(AssertUnwindSafe(|| self.handle(message)));
            if handled.is_err() {
                self.dropped.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.rest();
    }

    fn next(&mut self, queue: &Receiver<Message>) -> Option<Message> {
        for look in 0..=LOOKS {
            match queue.try_recv() {
                Ok(message) => return Some(message),
                Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) if look == 0 => self.rest(),
                Err(TryRecvError::Empty) => std::thread::sleep(LOOK),
            }
        }
        queue.recv().ok()
    }

    fn handle(&mut self, message: Message) {
        match message {
            Message::Call(event) => self.call(event),
            Message::Flush(done) => {
                self.rest();
                self.end();
                // Whoever asked may have stopped waiting.
                let _ = done.try_send(());
            }
        }
    }

    /// Makes the line of a call.
    pub(crate) fn call(&mut self, mut event: Event) {
        let Some(&function) = self.functions.get(usize::from(event.place as u8)) else {
            return;
        };
        if let Some(name) = self.misread.take() {
            event.hint = Some(format!("the value of {name} is not understood").into());
        }
        let dropped = self.dropped.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            self.context.forget();
        }
        let known = self.context.note(function, &event);
        let around = Surroundings {
            seq: self.seq,
            pid: u64::from(std::process::id()),
            module: &self.module,
            wall: wall(&self.clock, event.began),
            dropped,
        };
        let mut record = render::record(function, &event, known, &self.tags, &around);
        let handle = event.key.or(event.made);
        record.key = handle.map(|handle| self.context.key(known.slot, handle));
        if let Some(learned) = learned(&event, &self.context, known.slot, &self.tags) {
            if record
                .key
                .as_ref()
                .is_some_and(|key| key.handle == learned.handle)
            {
                record.key = Some(learned.clone());
            }
            self.context.learn(known.slot, learned);
        }
        append(&mut self.lines, &record);
        drop(record);
        self.seq += 1;
        if self.lines.len() >= BLOCK {
            self.rest();
        }
    }

    /// Writes the lines that wait.
    pub(crate) fn rest(&mut self) {
        if self.lines.is_empty() {
            return;
        }
        let Lost(lost) = self.sink.write(&self.lines, &self.clock);
        self.lines.clear();
        self.dropped.fetch_add(lost, Ordering::Relaxed);
    }

    /// Counts what was dropped since the last record, if anything was.
    fn end(&mut self) {
        let dropped = self.dropped.swap(0, Ordering::Relaxed);
        if dropped == 0 {
            return;
        }
        let mut record = CallRecord::default();
        record.v = SCHEMA_VERSION.into();
        record.seq = Some(self.seq);
        record.ts = render::timestamp(self.clock.wall()).into();
        record.pid = Some(u64::from(std::process::id()));
        record.func = END.into();
        record.dropped = Some(dropped);
        append(&mut self.lines, &record);
        self.seq += 1;
        self.rest();
    }
}

/// What a call tells about the object that it made or asked about.
fn learned(
    event: &Event,
    context: &Context,
    slot: Option<u64>,
    tags: &Tags,
) -> Option<keywright_pkcs11_names::KeySummary<'static>> {
    let details = event.details.as_ref()?;
    let handle = match event.made {
        Some(made) => made,
        None => event.key.filter(|_| details.mechanism.is_none())?,
    };
    details.attributes.first()?;
    Some(render::learned(context.key(slot, handle), details, tags))
}

/// The wall time of a moment on the monotonic clock, by how long ago it was.
fn wall(clock: &Clock, moment: u64) -> WallTime {
    let ago = clock.monotonic().nanos().saturating_sub(moment);
    WallTime::from_unix_nanos(clock.wall().unix_nanos().saturating_sub(ago))
}

/// A record that cannot be written as JSON leaves no line.
fn append(lines: &mut Vec<u8>, record: &CallRecord<'_>) {
    let before = lines.len();
    match serde_json::to_writer(&mut *lines, record) {
        Ok(()) => lines.push(b'\n'),
        Err(_) => lines.truncate(before),
    }
}
