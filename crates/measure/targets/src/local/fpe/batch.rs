//! Many values at a time.

use keywright_fpe::{Alphabet, Batch, BatchError, Key, Layout, Tweaks};
use keywright_measure::{Fault, TargetError, Worker};

use super::super::row::Row;
use super::buffers::{Judge, Place, apart};
use super::subject::{Form, Subject, fault, judged};
use super::task::{Task, Way};

/// The worker of a task on many values.
pub(super) fn worker(task: Task, row: &Row<'_>) -> Result<Box<dyn Worker>, TargetError> {
    let subject = Subject::new(task, row)?;
    Ok(match task.symbols.text() {
        Some((alphabet, _)) if !task.way.wants_digits() => {
            let form = Form::of(task.symbols);
            put_through::<u8>(subject, form, Some(alphabet))
        }
        _ if task.symbols.radix() <= 256 => put_through::<u8>(subject, Form::Digits, None),
        _ => put_through::<u16>(subject, Form::Digits, None),
    })
}

fn put_through<T: Place>(
    mut subject: Subject,
    form: Form,
    alphabet: Option<&'static Alphabet>,
) -> Box<dyn Worker> {
    let first = subject.draw::<T>(form);
    let column = Column::of(&mut subject);
    let threads = usize::try_from(subject.task.threads()).unwrap_or(1);
    let mut batch = Batch::new(subject.key).with_threads(threads);
    if let Some(alphabet) = alphabet {
        batch = batch.over(alphabet);
    }
    let judge = judge_of(&subject, column.clone(), (batch, alphabet));
    let way = subject.task.way;
    let act = move |from: &[T], made: &mut [T]| {
        let (tweaks, layout) = (column.tweaks(), column.layout());
        let done = match way {
            Way::BatchDecrypt => batch.decrypt_into(tweaks, layout, from, made),
            _ => batch.encrypt_into(tweaks, layout, from, made),
        };
        done.map_err(refused)
    };
    apart(first, act, judge)
}

fn refused(error: BatchError) -> Fault {
    fault(error.error())
}

/// The tweaks of a column, and how long its values are.
#[derive(Clone)]
struct Column {
    bytes: Vec<u8>,
    width: usize,
    digits: usize,
    each: bool,
}

impl Column {
    fn of(subject: &mut Subject) -> Self {
        let each = subject.task.way == Way::BatchTweaks;
        let bytes = match each {
            true => subject.tweaks(),
            false => subject.tweak.clone(),
        };
        Self {
            bytes,
            width: subject.task.tweak_bytes(),
            digits: usize::try_from(subject.task.digits).unwrap_or(usize::MAX),
            each,
        }
    }

    fn tweaks(&self) -> Tweaks<'_> {
        match self.each {
            true => Tweaks::Each {
                bytes: &self.bytes,
                width: self.width,
            },
            false => Tweaks::Same(&self.bytes),
        }
    }

    fn layout(&self) -> Layout<'static> {
        Layout::Fixed(self.digits)
    }

    /// The tweak of one value.
    fn tweak(&self, record: usize) -> &[u8] {
        let start = if self.each { record * self.width } else { 0 };
        self.bytes
            .get(start..start + self.width)
            .unwrap_or_default()
    }
}

/// Values of a batch that are put through the portable code one by one: few, because each takes as long as
/// hundreds of the batch, and the time of the looks counts in the rate of the loop.
const SAMPLE: usize = 2;

/// The way back: of all values with the code that is measured, of a sample with the judge's key.
fn judge_of<T: Place>(
    subject: &Subject,
    column: Column,
    (batch, alphabet): (Batch<'static>, Option<&'static Alphabet>),
) -> Judge<T> {
    let (key, way) = (subject.judge, subject.task.way);
    let mut turn = 0_usize;
    Box::new(move |from, made| {
        let back = |values: &mut [T]| {
            let (tweaks, layout) = (column.tweaks(), column.layout());
            let done = match way {
                Way::BatchDecrypt => batch.encrypt(tweaks, layout, values),
                _ => batch.decrypt(tweaks, layout, values),
            };
            done.map_err(|error| error.error())
        };
        let all = judged(back, made).is_some_and(|back| back == from);
        let records = from.len() / column.digits.max(1);
        turn = turn.wrapping_add(1);
        all && (0..SAMPLE.min(records)).all(|place| {
            // Another place in every stretch at every look.
            let record = (records * place / SAMPLE + turn) % records;
            let range = record * column.digits..(record + 1) * column.digits;
            let one = One {
                key,
                alphabet,
                tweak: column.tweak(record),
                way,
            };
            matches!((from.get(range.clone()), made.get(range)), (Some(from), Some(made)) if one.holds(from, made))
        })
    })
}

/// One value of a sample.
struct One<'a> {
    key: &'static Key,
    alphabet: Option<&'static Alphabet>,
    tweak: &'a [u8],
    way: Way,
}

impl One<'_> {
    fn holds<T: Place>(&self, from: &[T], made: &[T]) -> bool {
        // A batch of one, because that takes text and digits alike; on the portable backend it is the walk
        // of a single value.
        let mut batch = Batch::new(self.key);
        if let Some(alphabet) = self.alphabet {
            batch = batch.over(alphabet);
        }
        let (tweaks, layout) = (Tweaks::Same(self.tweak), Layout::Fixed(made.len()));
        let back = |value: &mut [T]| {
            let done = match self.way {
                Way::BatchDecrypt => batch.encrypt(tweaks, layout, value),
                _ => batch.decrypt(tweaks, layout, value),
            };
            done.map_err(|error| error.error())
        };
        judged(back, made).is_some_and(|back| back == from)
    }
}
