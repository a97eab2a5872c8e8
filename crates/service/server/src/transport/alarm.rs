//! Deadlines without timers: a table that the sweep of a thread looks at.
//!
//! A timer per request costs an entry in the runtime's wheel and two passes through its lock. Here
//! a deadline costs nothing until its future has to wait, and then one slot of a vector.

use std::cell::{Cell, RefCell};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::SWEEP;

/// The deadlines of one thread, and its coarse idea of the time.
#[derive(Debug, Default)]
pub(super) struct Alarms {
    /// Milliseconds since the thread started, as of its last sweep.
    now: Cell<u64>,
    slots: RefCell<Slots>,
}

#[derive(Debug, Default)]
struct Slots {
    entries: Vec<Option<Entry>>,
    free: Vec<usize>,
}

#[derive(Debug)]
struct Entry {
    due: u64,
    waker: Waker,
}

/// One deadline; entered when first polled, taken out when dropped.
#[derive(Debug)]
pub(super) struct Alarm<'a> {
    alarms: &'a Alarms,
    after: Duration,
    entered: Option<(usize, u64)>,
}

impl Alarms {
    /// The time of the last sweep in milliseconds.
    pub(super) fn now(&self) -> u64 {
        self.now.get()
    }

    /// A deadline that begins to run when it is first polled.
    pub(super) fn after(&self, after: Duration) -> Alarm<'_> {
        Alarm {
            alarms: self,
            after,
            entered: None,
        }
    }

    /// Sets the time and wakes whoever is due.
    pub(super) fn ring(&self, now: u64) {
        self.now.set(now);
        // A waker may run foreign code, so none is called while the table is borrowed.
        let due: Vec<Waker> = self
            .slots
            .borrow()
            .entries
            .iter()
            .flatten()
            .filter(|entry| entry.due <= now)
            .map(|entry| entry.waker.clone())
            .collect();
        due.into_iter().for_each(Waker::wake);
    }

    #[cfg(test)]
    fn entered(&self) -> usize {
        self.slots.borrow().entries.iter().flatten().count()
    }
}

impl Alarm<'_> {
    /// Ready when the deadline is over; else the task is woken when it is.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let slots = &mut *self.alarms.slots.borrow_mut();
        match self.entered {
            Some((_, due)) if self.alarms.now.get() >= due => return Poll::Ready(()),
            Some((slot, _)) => {
                if let Some(Some(entry)) = slots.entries.get_mut(slot) {
                    entry.waker.clone_from(cx.waker());
                }
            }
            None => {
                // The clock was last set up to a sweep ago: without that sweep on top a deadline
                // could come early.
                let due = self.alarms.now.get() + millis(self.after.saturating_add(SWEEP));
                self.entered = Some((slots.enter(due, cx.waker().clone()), due));
            }
        }
        Poll::Pending
    }
}

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if let Some((slot, _)) = self.entered {
            self.alarms.slots.borrow_mut().leave(slot);
        }
    }
}

impl Slots {
    fn enter(&mut self, due: u64, waker: Waker) -> usize {
        let entry = Some(Entry { due, waker });
        if let Some(slot) = self.free.pop() {
            if let Some(place) = self.entries.get_mut(slot) {
                *place = entry;
            }
            return slot;
        }
        self.entries.push(entry);
        self.entries.len() - 1
    }

    fn leave(&mut self, slot: usize) {
        if let Some(place) = self.entries.get_mut(slot) {
            *place = None;
            self.free.push(slot);
        }
    }
}

/// Whole milliseconds; what does not fit is for ever.
pub(super) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX >> 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn an_alarm_is_never_early_and_wakes_when_due() {
        let (alarms, count) = (Alarms::default(), Arc::new(Count::default()));
        let waker = Waker::from(Arc::clone(&count));
        let mut cx = Context::from_waker(&waker);
        let mut alarm = alarms.after(Duration::from_millis(1000));
        assert!(alarm.poll(&mut cx).is_pending());
        alarms.ring(1249);
        assert!(alarm.poll(&mut cx).is_pending());
        assert_eq!(count.0.load(Ordering::Relaxed), 0);
        alarms.ring(1250);
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
        assert!(alarm.poll(&mut cx).is_ready());
    }

    #[test]
    fn slots_are_used_again_and_dropped_alarms_wake_nobody() {
        let (alarms, count) = (Alarms::default(), Arc::new(Count::default()));
        let waker = Waker::from(Arc::clone(&count));
        let mut cx = Context::from_waker(&waker);
        for _ in 0..1000 {
            let mut alarm = alarms.after(Duration::ZERO);
            assert!(alarm.poll(&mut cx).is_pending());
            assert_eq!(alarms.entered(), 1);
        }
        assert_eq!(alarms.slots.borrow().entries.len(), 1);
        alarms.ring(u64::MAX);
        assert_eq!(count.0.load(Ordering::Relaxed), 0);
    }
}
