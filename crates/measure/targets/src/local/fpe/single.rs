//! One value at a time.

use keywright_fpe::{Alphabet, Error, Key, Tweaked};
use keywright_measure::{Fault, FaultPhase, TargetError, Worker};

use super::super::row::Row;
use super::buffers::{Judge, Place, apart, within};
use super::subject::{Form, Subject, fault, judged};
use super::task::{Task, Way};

type Made = Result<Box<dyn Worker>, TargetError>;

/// The worker of a task on one value.
pub(super) fn worker(task: Task, row: &Row<'_>) -> Made {
    let subject = Subject::new(task, row)?;
    match task.symbols.text() {
        Some((alphabet, _)) if !task.way.wants_digits() => texts(subject, alphabet, row),
        _ if task.symbols.radix() <= 256 => numerals::<u8>(subject, row),
        _ => numerals::<u16>(subject, row),
    }
}

// === Digits ===

fn numerals<T: Place>(mut subject: Subject, row: &Row<'_>) -> Made {
    let first = subject.draw::<T>(Form::Digits);
    let judge = judge_of::<T>(&subject);
    let (key, tweak) = (subject.key, subject.tweak.clone());
    let tweaked = |subject: &Subject| subject.tweaked(row);
    Ok(match subject.task.way {
        Way::Decrypt => {
            let tweaked = tweaked(&subject)?;
            let act = move |from: &[T], made: &mut [T]| tweaked.decrypt(from, made);
            apart(first, faulty(act), judge)
        }
        Way::Inplace => {
            let act = move |value: &mut [T]| key.encrypt_in_place(&tweak, value).map_err(fault);
            within(first, act, judge)
        }
        Way::Oneshot => {
            let Subject {
                options, secret, ..
            } = subject;
            let act = move |from: &[T], made: &mut [T]| {
                Key::new(options, secret.expose())?.encrypt(&tweak, from, made)
            };
            apart(first, faulty(act), judge)
        }
        Way::Separate | Way::SingleTweak => {
            let act = move |from: &[T], made: &mut [T]| key.encrypt(&tweak, from, made);
            apart(first, faulty(act), judge)
        }
        _ => {
            let tweaked = tweaked(&subject)?;
            let act = move |from: &[T], made: &mut [T]| tweaked.encrypt(from, made);
            apart(first, faulty(act), judge)
        }
    })
}

fn faulty<T>(
    act: impl Fn(&[T], &mut [T]) -> Result<(), Error>,
) -> impl Fn(&[T], &mut [T]) -> Result<(), Fault> {
    move |from, made| act(from, made).map_err(fault)
}

/// The way back, on the judge's key.
fn judge_of<T: Place>(subject: &Subject) -> Judge<T> {
    let (key, tweak, way) = (subject.judge, subject.tweak.clone(), subject.task.way);
    Box::new(move |from, made| {
        let back = |value: &mut [T]| match way {
            Way::Decrypt => key.encrypt_in_place(&tweak, value),
            _ => key.decrypt_in_place(&tweak, value),
        };
        judged(back, made).is_some_and(|back| back == from)
    })
}

// === Text ===

fn texts(mut subject: Subject, alphabet: &'static Alphabet, row: &Row<'_>) -> Made {
    let first = subject.draw::<u8>(Form::of(subject.task.symbols));
    let judge = judge_of_text(&subject, alphabet);
    let (key, tweak) = (subject.key, subject.tweak.clone());
    Ok(match subject.task.way {
        Way::Decrypt => {
            let tweaked = subject.tweaked(row)?;
            let act = move |from: &[u8], made: &mut [u8]| {
                wrote(tweaked.decrypt_text(alphabet, text(from)?, made))
            };
            apart(first, act, judge)
        }
        Way::Oneshot => {
            let Subject {
                options, secret, ..
            } = subject;
            let act = move |from: &[u8], made: &mut [u8]| {
                let key = Key::new(options, secret.expose()).map_err(fault)?;
                wrote(key.encrypt_text(&tweak, alphabet, text(from)?, made))
            };
            apart(first, act, judge)
        }
        Way::SingleTweak => {
            let act = move |from: &[u8], made: &mut [u8]| {
                wrote(key.encrypt_text(&tweak, alphabet, text(from)?, made))
            };
            apart(first, act, judge)
        }
        _ => {
            let tweaked: Tweaked<'static> = subject.tweaked(row)?;
            let act = move |from: &[u8], made: &mut [u8]| {
                wrote(tweaked.encrypt_text(alphabet, text(from)?, made))
            };
            apart(first, act, judge)
        }
    })
}

fn judge_of_text(subject: &Subject, alphabet: &'static Alphabet) -> Judge<u8> {
    let (key, tweak, way) = (subject.judge, subject.tweak.clone(), subject.task.way);
    Box::new(move |from, made| {
        let Ok(made) = std::str::from_utf8(made) else {
            return false;
        };
        let back = match way {
            Way::Decrypt => key.encrypt_string(&tweak, alphabet, made),
            _ => key.decrypt_string(&tweak, alphabet, made),
        };
        back.is_ok_and(|back| back.as_bytes() == from)
    })
}

/// What was written is text. Looking costs a few cycles beside those of the operation, and no output waits
/// for it.
#[inline]
fn text(bytes: &[u8]) -> Result<&str, Fault> {
    std::str::from_utf8(bytes).map_err(|_| Fault::new(FaultPhase::Operation, "no text"))
}

#[inline]
fn wrote(written: Result<usize, Error>) -> Result<(), Fault> {
    written.map(drop).map_err(fault)
}
