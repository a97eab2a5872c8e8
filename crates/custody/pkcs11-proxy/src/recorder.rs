//! Takes events and hands them to the writer; never waits for it.
//!
//! The queue is bounded: what finds it full is counted and gone, and the count stands in the next record that is
//! written. The writer's thread polls while calls come and sleeps when they stop, so that a call in a stream of
//! calls wakes nobody.
//!
//! A forked child has nothing of its parent's: its first call makes a recorder of its own. Which one is current
//! depends on the number of forks alone, so no lock that the parent held can be met again.

use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError};
use std::time::Duration;

use keywright_clock::Clock;

use crate::boundary;
use crate::event::Event;
use crate::settings::{Pace, Process, Settings};
use crate::writer::Writer;

/// The recorder of a process.
pub(crate) struct Recorder {
    clock: Clock,
    way: Way,
    dropped: Arc<AtomicU64>,
    /// Whether the process has begun to end, so that what is not written soon is not written.
    ending: AtomicBool,
}

/// How events reach the file.
enum Way {
    Queue(SyncSender<Message>),
    Direct(Box<Mutex<Writer>>),
}

/// What the writer's thread is told.
#[expect(
    clippy::large_enum_variant,
    reason = "calls are what the queue is full of, and a box would be an allocation for each"
)]
pub(crate) enum Message {
    Call(Event),
    /// Write what is there and say so.
    Flush(SyncSender<()>),
}

/// By the number of forks. A child of more generations than these records nothing.
static RECORDERS: [OnceLock<Option<Recorder>>; 32] = [const { OnceLock::new() }; 32];

/// How long the end of the process may wait for the writer, and a call after that.
const AT_THE_END: Duration = Duration::from_millis(1000);
const AFTER_THE_END: Duration = Duration::from_millis(50);

/// The recorder of this process, unless nothing is to be recorded.
pub(crate) fn current() -> Option<&'static Recorder> {
    let slot = RECORDERS.get(boundary::fork_count())?;
    slot.get_or_init(|| catch_unwind(start).ok().flatten())
        .as_ref()
}

fn start() -> Option<Recorder> {
    let process = match boundary::fork_count() {
        0 => Process::First,
        _ => Process::Forked,
    };
    let settings = Settings::read(boundary::environment, process, std::process::id())?;
    let recorder = Recorder::start(settings)?;
    static AT_EXIT: Once = Once::new();
    AT_EXIT.call_once(|| boundary::at_exit(process_ends));
    Some(recorder)
}

extern "C" fn process_ends() {
    drop(catch_unwind(|| {
        let started = RECORDERS.get(boundary::fork_count());
        if let Some(Some(recorder)) = started.and_then(OnceLock::get) {
            recorder.ending.store(true, Ordering::Release);
            recorder.flush(AT_THE_END);
        }
    }));
}

impl Recorder {
    /// With a thread that writes, unless the settings say otherwise. Nothing if no thread can be had.
    fn start(settings: Settings) -> Option<Self> {
        let clock = Clock::system();
        let dropped = Arc::new(AtomicU64::new(0));
        let (pace, room) = (settings.pace, settings.queue);
        let writer = Writer::new(settings, clock.clone(), Arc::clone(&dropped));
        let way = match pace {
            Pace::Now => Way::Direct(Box::new(Mutex::new(writer))),
            Pace::Later => {
                let (sender, receiver) = sync_channel(room);
                let thread = std::thread::Builder::new().name("keywright-record".to_owned());
                boundary::without_signals(|| thread.spawn(move || writer.run(&receiver))).ok()?;
                Way::Queue(sender)
            }
        };
        Some(Self {
            clock,
            way,
            dropped,
            ending: AtomicBool::new(false),
        })
    }

    /// Nanoseconds on the clock of the records.
    pub(crate) fn now(&self) -> u64 {
        self.clock.monotonic().nanos()
    }

    /// Takes a call; it is written, or counted as dropped.
    pub(crate) fn record(&self, event: Event) {
        match &self.way {
            Way::Queue(queue) => {
                if queue.try_send(Message::Call(event)).is_err() {
                    self.lost();
                }
                if self.ending.load(Ordering::Relaxed) {
                    self.flush(AFTER_THE_END);
                }
            }
            Way::Direct(writer) => {
                let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
                writer.call(event);
                writer.rest();
            }
        }
    }

    /// Counts a call of which there is no record.
    pub(crate) fn lost(&self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits at most so long until what was recorded is written.
    fn flush(&self, most: Duration) {
        let Way::Queue(queue) = &self.way else {
            return;
        };
        let end = self.clock.monotonic().plus(most);
        let (done, written) = sync_channel(1);
        let mut message = Message::Flush(done);
        loop {
            match queue.try_send(message) {
                Ok(()) => break,
                Err(TrySendError::Full(back)) if self.clock.monotonic() < end => message = back,
                Err(_) => return,
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        // Whether it was written in time changes nothing any more.
        let _ = written.recv_timeout(most);
    }
}
