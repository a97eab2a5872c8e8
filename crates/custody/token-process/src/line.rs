//! The channels to the child: one for each request at a time, opened as they are needed.
//!
//! A channel belongs to one life of the child. When anything is wrong with one, that life is over: every other
//! channel ends too, whoever waits on one is told, and nobody else waits for anything until the next life.

use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use keywright_clock::{Clock, MonotonicTime};
use keywright_custody::HolderError;

use crate::channel::{Asker, Seen, Unopened};
use crate::frame::{Buffer, Lost};
use crate::keeper::Cause;

/// Every life of every child of this process has a number of its own: what a key's cell says of another life means
/// nothing.
static LIVES: AtomicU64 = AtomicU64::new(1);

/// What threads that ask the child share with the one that keeps it.
pub(crate) struct Line {
    state: Mutex<State>,
    changed: Condvar,
    most: usize,
    patience: Duration,
    /// Whether this life has answered anything.
    useful: AtomicBool,
    /// Not the caller's, which tests may hold still: a child hangs in real time.
    clock: Clock,
}

#[derive(Default)]
struct State {
    life: u64,
    up: Option<Up>,
    idle: Vec<Channel>,
    lent: usize,
    /// Whoever asked gave up, and the child has until then.
    abandoned: Vec<(Asker, MonotonicTime)>,
    doomed: Option<Cause>,
    stop: bool,
}

struct Up {
    id: u32,
    control: Arc<UnixStream>,
}

/// A channel with its two buffers.
struct Channel {
    stream: Asker,
    out: Buffer,
    answer: Buffer,
}

/// How long an order may take.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wait {
    /// From now; beyond it the asker has no use for the answer. `None` if it has always.
    pub(crate) use_within: Option<Duration>,
    /// So many times the usual patience.
    pub(crate) times: Times,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Times {
    #[default]
    Once,
    /// Making a key takes a device its time.
    Long,
}

impl Line {
    pub(crate) fn new(most: usize, patience: Duration) -> Self {
        Self {
            state: Mutex::default(),
            changed: Condvar::new(),
            most,
            patience,
            useful: AtomicBool::new(false),
            clock: Clock::system(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn id(&self) -> Option<u32> {
        self.lock().up.as_ref().map(|up| up.id)
    }

    /// A channel of the child that is there now.
    pub(crate) fn take(self: &Arc<Self>) -> Result<Lent, HolderError> {
        let mut state = self.lock();
        let Some(up) = &state.up else {
            return Err(HolderError::Unavailable);
        };
        let control = Arc::clone(&up.control);
        let life = state.life;
        if let Some(channel) = state.idle.pop() {
            state.lent += 1;
            return Ok(self.lend(life, channel));
        }
        if state.lent >= self.most {
            return Err(HolderError::Full);
        }
        state.lent += 1;
        drop(state);
        match Channel::open(&control) {
            Ok(channel) => Ok(self.lend(life, channel)),
            Err(Unopened::Here) => {
                self.not_lent(life);
                Err(HolderError::Full)
            }
            Err(Unopened::There) => {
                self.fail(life, Cause::Ended);
                Err(HolderError::Unavailable)
            }
        }
    }

    fn not_lent(&self, life: u64) {
        let mut state = self.lock();
        if state.life == life {
            state.lent = state.lent.saturating_sub(1);
        }
    }

    /// One that is idle, waiting for nothing.
    pub(crate) fn take_idle(self: &Arc<Self>) -> Option<Lent> {
        let mut state = self.state.try_lock().ok()?;
        state.up.as_ref()?;
        let channel = state.idle.pop()?;
        state.lent += 1;
        Some(self.lend(state.life, channel))
    }

    fn lend(self: &Arc<Self>, life: u64, channel: Channel) -> Lent {
        Lent {
            line: Arc::clone(self),
            life,
            channel: Some(channel),
        }
    }

    /// A new life.
    pub(crate) fn up(&self, id: u32, control: UnixStream) {
        let mut state = self.lock();
        self.useful.store(false, Ordering::Relaxed);
        state.life = LIVES.fetch_add(1, Ordering::Relaxed);
        state.lent = 0;
        state.doomed = None;
        state.up = Some(Up {
            id,
            control: Arc::new(control),
        });
    }

    /// Whether the last life has answered anything.
    pub(crate) fn was_useful(&self) -> bool {
        self.useful.load(Ordering::Relaxed)
    }

    /// This life is over; the keeper is told to end it.
    fn fail(&self, life: u64, cause: Cause) {
        let mut state = self.lock();
        if state.life != life || state.up.is_none() {
            return;
        }
        state.doomed = Some(cause);
        let old = state.close();
        drop(state);
        self.changed.notify_all();
        drop(old);
    }

    /// This life is over, and the keeper knows.
    pub(crate) fn down(&self) {
        let mut state = self.lock();
        let old = state.close();
        drop(state);
        drop(old);
    }

    /// Whether the child has to go, looking at those of its answers that nobody waits for any more.
    pub(crate) fn doomed(&self) -> Option<Cause> {
        let now = self.clock.monotonic();
        let mut state = self.lock();
        let mut cause = state.doomed.take();
        let mut answered = 0;
        state.abandoned.retain(|(stream, until)| {
            match stream.look() {
                Seen::Begun => {
                    answered += 1;
                    return false;
                }
                Seen::Ended => cause = cause.or(Some(Cause::Ended)),
                Seen::Nothing if now < *until => {}
                Seen::Nothing => cause = cause.or(Some(Cause::Hung)),
            }
            true
        });
        state.lent = state.lent.saturating_sub(answered);
        if cause.is_some() {
            let old = state.close();
            drop(state);
            drop(old);
        }
        cause
    }

    pub(crate) fn stop(&self) {
        self.lock().stop = true;
        self.changed.notify_all();
    }

    pub(crate) fn stopping(&self) -> bool {
        self.lock().stop
    }

    /// Sleeps so long, or until something is wrong with the child that is up. Whether to go on.
    pub(crate) fn sleep(&self, time: Duration) -> bool {
        let until = self.clock.monotonic().plus(time);
        let mut state = self.lock();
        loop {
            let now = self.clock.monotonic();
            let left = until.since(now);
            if state.stop {
                return false;
            }
            if now >= until || state.doomed.is_some() {
                return true;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn abandon(&self, life: u64, stream: Asker, until: MonotonicTime) {
        let mut state = self.lock();
        if state.life == life && state.up.is_some() {
            state.abandoned.push((stream, until));
        }
    }

    fn give_back(&self, life: u64, channel: Channel) {
        let mut state = self.lock();
        if state.life == life && state.up.is_some() {
            state.lent = state.lent.saturating_sub(1);
            state.idle.push(channel);
        }
    }
}

/// What a life had.
type Old = (Option<Up>, Vec<Channel>, Vec<(Asker, MonotonicTime)>);

impl State {
    fn close(&mut self) -> Old {
        (
            self.up.take(),
            std::mem::take(&mut self.idle),
            std::mem::take(&mut self.abandoned),
        )
    }
}

impl Channel {
    fn open(control: &UnixStream) -> Result<Self, Unopened> {
        Ok(Self {
            stream: Asker::open(control)?,
            out: Buffer::new(),
            answer: Buffer::new(),
        })
    }
}

/// A channel that was taken. It is given back when this is dropped.
pub(crate) struct Lent {
    line: Arc<Line>,
    life: u64,
    /// There until it is dropped, or given up.
    channel: Option<Channel>,
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// The asker has no use for it any more.
    Late,
    /// The child is gone.
    Gone,
}

impl Lent {
    /// In which life of the child.
    pub(crate) const fn life(&self) -> u64 {
        self.life
    }

    /// Writes an order and waits for its answer, which has at most so many bytes.
    pub(crate) fn ask(
        &mut self,
        write: impl FnOnce(&mut Buffer),
        most: usize,
        wait: Wait,
    ) -> Result<(), NoAnswer> {
        let Some(channel) = &mut self.channel else {
            return Err(NoAnswer::Gone);
        };
        let clock = &self.line.clock;
        let begun = clock.monotonic();
        let patience = match wait.times {
            Times::Once => self.line.patience,
            Times::Long => self.line.patience.saturating_mul(LONG),
        };
        let kill_at = begun.plus(patience);
        let use_until = wait.use_within.map(|time| begun.plus(time));
        let waited = || {
            let now = clock.monotonic();
            if now >= kill_at {
                return Some(Lost::Hung);
            }
            use_until
                .is_some_and(|until| now >= until)
                .then_some(Lost::Late)
        };
        channel.out.begin();
        write(&mut channel.out);
        let asked = channel.out.send(&channel.stream, waited);
        channel.out.wipe();
        let answered = asked.and_then(|()| channel.answer.receive(&channel.stream, most, waited));
        match answered {
            Ok(()) => {
                if !self.line.useful.load(Ordering::Relaxed) {
                    self.line.useful.store(true, Ordering::Relaxed);
                }
                Ok(())
            }
            Err(Lost::Late) => {
                if let Some(channel) = self.channel.take() {
                    self.line.abandon(self.life, channel.stream, kill_at);
                }
                Err(NoAnswer::Late)
            }
            Err(lost) => {
                self.channel = None;
                self.line.fail(self.life, cause(lost));
                Err(NoAnswer::Gone)
            }
        }
    }

    /// The answer to what was asked last.
    pub(crate) fn answer(&self) -> &[u8] {
        self.channel
            .as_ref()
            .map_or(&[], |channel| channel.answer.body())
    }

    /// Takes the answer out, to keep it beside the next one.
    pub(crate) fn take_answer(&mut self) -> Buffer {
        self.channel.as_mut().map_or_else(Buffer::new, |channel| {
            std::mem::replace(&mut channel.answer, Buffer::new())
        })
    }

    /// What came is no answer to what was asked: this life is over.
    pub(crate) fn nonsense(&mut self) -> HolderError {
        self.channel = None;
        self.line.fail(self.life, Cause::Nonsense);
        HolderError::Unavailable
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(mut channel) = self.channel.take() {
            channel.answer.wipe();
            self.line.give_back(self.life, channel);
        }
    }
}

const fn cause(lost: Lost) -> Cause {
    match lost {
        Lost::Hung => Cause::Hung,
        Lost::Broken => Cause::Nonsense,
        Lost::Ended | Lost::Late => Cause::Ended,
    }
}

/// How long a thread waits for the child before it looks at the time.
pub(crate) const TICK: Duration = Duration::from_millis(5);
/// So many times longer a key may take that is made.
const LONG: u32 = 6;
