//! Takes events and puts them where the writer finds them; never waits for it.
//!
//! The ring is bounded: what finds it full is counted and gone, and the count stands in the next record that is
//! written. The writer's thread looks by itself, so that no call wakes anybody, and nothing is allocated for a
//! usual call.
//!
//! A forked child has nothing of its parent's: its first call makes a recorder of its own. Which one is current
//! depends on the number of forks alone, so no lock that the parent held can be met again.
//!
//! What runs on the calling thread is two readings of a counter and some stores. `inline(always)` is there so that the
//! compiler sees, for each function, which fields its calls have, and leaves out the rest.

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError};
use std::thread::Thread;
use std::time::Duration;

use keywright_clock::Clock;

use crate::boundary;
use crate::event::Event;
use crate::ring::Ring;
use crate::settings::{Pace, Process, Settings, Unfit};
use crate::ticks::{Scale, Ticks};
use crate::words;
use crate::writer::Writer;

/// The recorder of a process.
pub(crate) struct Recorder {
    clock: Clock,
    ticks: Ticks,
    way: Way,
    dropped: Arc<AtomicU64>,
    /// Whether the process has begun to end, so that what is not written soon is not written.
    ending: AtomicBool,
}

/// How events reach the file.
enum Way {
    Later(Arc<Waiting>, Thread),
    Direct(Box<Mutex<Writer>>),
}

/// What waits for the writer's thread.
pub(crate) struct Waiting {
    pub(crate) ring: Ring,
    /// How often it was asked to write all that is there, and which of these it has done.
    pub(crate) asked: AtomicU64,
    pub(crate) done: AtomicU64,
}

/// By the number of forks. A child of more generations than these records nothing.
static RECORDERS: [OnceLock<Option<Recorder>>; 32] = [const { OnceLock::new() }; 32];

/// How long the end of the process may wait for the writer, and a call after that.
const AT_THE_END: Duration = Duration::from_millis(1000);
const AFTER_THE_END: Duration = Duration::from_millis(50);

/// The recorder of this process, unless nothing is to be recorded.
#[inline(always)]
pub(crate) fn current() -> Option<&'static Recorder> {
    let slot = RECORDERS.get(boundary::fork_count())?;
    match slot.get() {
        Some(known) => known.as_ref(),
        None => first(slot),
    }
}

#[cold]
fn first(slot: &'static OnceLock<Option<Recorder>>) -> Option<&'static Recorder> {
    let started = || slot.get_or_init(|| catch_unwind(start).ok().flatten());
    catch_unwind(AssertUnwindSafe(started)).ok()?.as_ref()
}

fn start() -> Option<Recorder> {
    let process = match boundary::fork_count() {
        0 => Process::First,
        _ => Process::Forked,
    };
    let settings = Settings::read(boundary::environment, process, std::process::id());
    if let Err(Unfit) = settings {
        let said = "keywright recorder: KEYWRIGHT_P11_LOG names no collector; nothing is recorded";
        drop(writeln!(std::io::stderr(), "{said}"));
    }
    let settings = settings.ok().flatten()?;
    let recorder = Recorder::start(settings)?;
    static AT_EXIT: Once = Once::new();
    AT_EXIT.call_once(|| {
        boundary::at_exit(process_ends);
        if matches!(recorder.way, Way::Later(..)) {
            boundary::at_crash(process_crashes);
        }
    });
    Some(recorder)
}

/// On the thread that crashed, while the writer's goes on: nothing in here takes a lock.
fn process_crashes() {
    let started = RECORDERS.get(boundary::fork_count());
    if let Some(Some(recorder)) = started.and_then(OnceLock::get) {
        recorder.flush(AT_THE_END);
    }
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
        let ticks = match pace {
            Pace::Now => Ticks::Nanoseconds,
            Pace::Later => Ticks::best(),
        };
        let scale = Scale::new(ticks, &clock);
        let writer = Writer::new(settings, (clock.clone(), scale), Arc::clone(&dropped));
        let way = match pace {
            Pace::Now => Way::Direct(Box::new(Mutex::new(writer))),
            Pace::Later => {
                let waiting = Arc::new(Waiting::new(room));
                let theirs = Arc::clone(&waiting);
                let thread = std::thread::Builder::new().name("keywright-record".to_owned());
                let thread =
                    boundary::without_signals(|| thread.spawn(move || writer.run(&theirs))).ok()?;
                Way::Later(waiting, thread.thread().clone())
            }
        };
        Some(Self {
            clock,
            ticks,
            way,
            dropped,
            ending: AtomicBool::new(false),
        })
    }

    /// A moment, for the time of a record.
    #[inline(always)]
    pub(crate) fn now(&self) -> u64 {
        self.ticks.now(&self.clock)
    }

    /// Takes a call; it is written, or counted as dropped.
    #[inline(always)]
    pub(crate) fn record(&self, event: &Event) {
        match &self.way {
            Way::Later(waiting, _) => {
                if words::send(event, &waiting.ring).is_err() {
                    self.lost();
                }
                if self.ending.load(Ordering::Relaxed) {
                    self.flush(AFTER_THE_END);
                }
            }
            Way::Direct(writer) => direct(writer, event),
        }
    }

    /// Counts a call of which there is no record.
    #[cold]
    pub(crate) fn lost(&self) {
        self.dropped.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits at most so long until what was recorded is written.
    #[cold]
    fn flush(&self, most: Duration) {
        let _errno = boundary::Errno::kept();
        let Way::Later(waiting, thread) = &self.way else {
            return;
        };
        let end = self.clock.monotonic().plus(most);
        let mine = waiting.asked.fetch_add(1, Ordering::AcqRel) + 1;
        thread.unpark();
        while waiting.done.load(Ordering::Acquire) < mine && self.clock.monotonic() < end {
            std::thread::sleep(Duration::from_micros(200));
        }
    }
}

/// Writes a call before it comes back.
#[cold]
fn direct(writer: &Mutex<Writer>, event: &Event) {
    let _errno = boundary::Errno::kept();
    let mut writer = writer.lock().unwrap_or_else(PoisonError::into_inner);
    writer.look();
    writer.call(event);
    writer.rest();
}

impl Waiting {
    fn new(room: usize) -> Self {
        Self {
            ring: Ring::new(room),
            asked: AtomicU64::new(0),
            done: AtomicU64::new(0),
        }
    }
}
