//! The writer: events become lines, lines go to the sink in blocks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use keywright_clock::{Clock, MonotonicTime, WallTime};
use keywright_pkcs11_names::{CallRecord, Function, SCHEMA_VERSION};

use crate::context::{Context, Role};
use crate::event::Event;
use crate::form::Form;
use crate::recorder::Waiting;
use crate::render::{self, Surroundings, Tags};
use crate::ring::MOST_WORDS;
use crate::settings::Settings;
use crate::sink::{Lost, Sink};
use crate::stamp::Stamp;
use crate::ticks::Scale;
use crate::words;

/// Makes lines of events.
pub(crate) struct Writer {
    functions: Vec<(Function, Role)>,
    clock: Clock,
    scale: Scale,
    sink: Sink,
    tags: Tags,
    /// Made with the first line, on the thread that makes lines.
    form: Option<Form>,
    stamp: Stamp,
    /// Nanoseconds by which the wall clock is ahead of the monotonic one.
    ahead: u64,
    context: Context,
    module: String,
    pid: u64,
    misread: Option<&'static str>,
    seq: u64,
    dropped: Arc<AtomicU64>,
    /// Lines that wait for the sink, and when the last ones went to it.
    lines: Vec<u8>,
    last: Option<MonotonicTime>,
}

/// Lines are written at the latest when so many bytes wait.
const BLOCK: usize = 64 * 1024;
/// While calls come, the ring is looked at so often; after so many looks that found nothing, less often. Callers
/// wake nobody.
const LOOK: Duration = Duration::from_millis(4);
const LOOKS: u32 = 8;
const GLANCE: Duration = Duration::from_millis(50);
/// Records of one look.
const AT_ONCE: usize = 4096;
/// What stands for the function in the line that counts what was dropped at the end.
const END: &str = "recorder:end";

impl Writer {
    pub(crate) fn new(
        settings: Settings,
        (clock, scale): (Clock, Scale),
        dropped: Arc<AtomicU64>,
    ) -> Self {
        Self {
            functions: Function::all().map(|one| (one, Role::of(one))).collect(),
            clock,
            scale,
            form: None,
            stamp: Stamp::default(),
            ahead: 0,
            tags: Tags::new(settings.labels),
            sink: Sink::new(settings.log, &settings.module),
            context: Context::default(),
            module: settings.module,
            pid: u64::from(std::process::id()),
            last: None,
            misread: settings.misread,
            seq: 0,
            dropped,
            lines: Vec::new(),
        }
    }

    /// Writes what waits in the ring, for as long as the process runs.
    pub(crate) fn run(mut self, waiting: &Waiting) {
        let mut words = Vec::with_capacity(MOST_WORDS);
        let mut empty = 0_u32;
        loop {
            let asked = waiting.asked.load(Ordering::Acquire);
            let found = self.drain(waiting, &mut words);
            if found == AT_ONCE {
                // What was asked for before this look is among what comes next.
                continue;
            }
            if asked > waiting.done.load(Ordering::Relaxed) {
                self.rest();
                self.end();
                waiting.done.store(asked, Ordering::Release);
            }
            self.soon();
            empty = if found == 0 {
                empty.saturating_add(1)
            } else {
                0
            };
            std::thread::park_timeout(if empty < LOOKS { LOOK } else { GLANCE });
        }
    }

    /// Sees how far the wall clock is ahead of the monotonic one, for the times of the records that come next.
    pub(crate) fn look(&mut self) {
        self.scale.look(&self.clock);
        let monotonic = self.clock.monotonic().nanos();
        self.ahead = self.clock.wall().unix_nanos().saturating_sub(monotonic);
    }

    /// Makes lines of what is there, and says of how many records.
    fn drain(&mut self, waiting: &Waiting, words: &mut Vec<u64>) -> usize {
        let mut found = 0;
        self.look();
        while found < AT_ONCE && waiting.ring.pop(words) {
            found += 1;
            let handled = catch_unwind(AssertUnwindSafe(|| {
                let event = words::read(words)?;
                self.call(&event);
                Some(())
            }));
            if !matches!(handled, Ok(Some(()))) {
                self.dropped.fetch_add(1, Ordering::Relaxed);
            }
        }
        found
    }

    /// Makes the line of a call.
    pub(crate) fn call(&mut self, event: &Event) {
        let Some(&(function, role)) = self.functions.get(usize::from(event.place as u8)) else {
            return;
        };
        let dropped = self.dropped.swap(0, Ordering::Relaxed);
        if dropped > 0 {
            self.context.forget();
        }
        let known = self.context.note(&role, event);
        let misread = self
            .misread
            .take()
            .map(|name| format!("the value of {name} is not understood"));
        let (start, took) = self.scale.nanos(event.thread, event.began, event.took);
        let began = WallTime::from_unix_nanos(self.ahead.saturating_add(start));
        self.stamp.set(began);
        let around = Surroundings {
            seq: self.seq,
            pid: self.pid,
            module: &self.module,
            ts: self.stamp.text(),
            dropped,
            began: start,
            took,
        };
        let mut record = render::record(function, event, known, &self.tags, &around);
        if let Some(hint) = misread {
            record.hint = Some(hint.into());
        }
        let handle = event.key.or(event.made);
        record.key = handle.map(|handle| self.context.shown(known.slot, handle));
        let learned = learned(event, &self.context, known.slot, &self.tags);
        if let Some(learned) = &learned
            && record
                .key
                .as_ref()
                .is_some_and(|key| key.handle == learned.handle)
        {
            record.key = Some(learned.clone());
        }
        let form = self.form.get_or_insert_with(|| self.sink.form());
        let details = event.details.as_ref().map(|details| (details, &self.tags));
        form.append(&mut self.lines, &mut record, (began, details));
        drop(record);
        if let Some(learned) = learned {
            self.context.learn(known.slot, learned);
        }
        self.seq += 1;
        if self.lines.len() >= BLOCK {
            self.rest();
        }
    }

    /// Writes the lines that wait, if it is time.
    fn soon(&mut self) {
        let pause = self.sink.pause();
        let early = |last: MonotonicTime| self.clock.monotonic() < last.plus(pause);
        if pause.is_zero() || !self.last.is_some_and(early) {
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
        self.last = Some(self.clock.monotonic());
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
        let now = self.clock.wall();
        self.stamp.set(now);
        record.ts = self.stamp.text().into();
        record.pid = Some(self.pid);
        record.func = END.into();
        record.dropped = Some(dropped);
        let form = self.form.get_or_insert_with(|| self.sink.form());
        form.append(&mut self.lines, &mut record, (now, None));
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
    details.attributes().first()?;
    Some(render::learned(context.key(slot, handle), details, tags))
}
