//! Another implementation in the same run: FF1 of the `fpe` crate over the `aes` crate, which itself uses
//! the processor's instructions where there are any. It takes digits, and a tweak with each call; the key is
//! prepared. Its outputs are judged by ours.

use aes::{Aes128, Aes192, Aes256};
use fpe::ff1::{FF1, FlexibleNumeralString};
use keywright_measure::{Fault, FaultPhase, TargetError, Worker};

use super::super::row::{Row, TARGET};
use super::buffers::{Judge, apart};
use super::subject::{Form, Subject};
use super::task::{Cipher, Symbols, Task, Way};
use crate::operation::{Make, Operation, Setting};

macro_rules! peer {
    ($name:literal: $cipher:ident, r $radix:literal, n $digits:literal) => {
        Operation {
            name: $name,
            target: TARGET,
            unit: "operations",
            units: 1,
            bytes: $digits,
            make: Make::Worker(|setting| {
                let task = Task {
                    mode: keywright_fpe::Mode::Ff1,
                    cipher: Cipher::$cipher,
                    symbols: Symbols::Radix($radix),
                    digits: $digits,
                    way: Way::SingleTweak,
                };
                worker::<FF1<$cipher>>($name, task, setting)
            }),
        }
    };
}

/// What is measured beside our own.
pub(super) const OPERATIONS: &[Operation] = &[
    peer!("peer.fpe-crate.ff1.aes128.r10.n16": Aes128, r 10, n 16),
    peer!("peer.fpe-crate.ff1.aes192.r10.n16": Aes192, r 10, n 16),
    peer!("peer.fpe-crate.ff1.aes256.r10.n16": Aes256, r 10, n 16),
    peer!("peer.fpe-crate.ff1.aes128.r36.n20": Aes128, r 36, n 20),
    peer!("peer.fpe-crate.ff1.aes128.r62.n24": Aes128, r 62, n 24),
];

fn worker<P: Peer + 'static>(
    name: &'static str,
    task: Task,
    setting: &Setting<'_>,
) -> Result<Box<dyn Worker>, TargetError> {
    let row = Row {
        name,
        bytes: 0,
        setting,
    };
    let mut subject = Subject::new(task, &row)?;
    let first = subject.draw::<u16>(Form::Digits);
    let theirs = P::of(subject.secret.expose(), task.symbols.radix());
    let theirs = theirs.ok_or_else(|| row.lacks("the peer refuses the key or the radix"))?;
    let (key, tweak) = (subject.judge, subject.tweak.clone());
    let judge: Judge<u16> = Box::new(move |from, made| {
        let mut back = vec![0; made.len()];
        key.decrypt(&tweak, made, &mut back).is_ok() && back == from
    });
    let tweak = subject.tweak;
    let act = move |from: &[u16], made: &mut [u16]| {
        let done = theirs.put(&tweak, from);
        let done = done.ok_or_else(|| Fault::new(FaultPhase::Operation, "refused"))?;
        made.copy_from_slice(&done);
        Ok(())
    };
    Ok(apart(first, act, judge))
}

/// What is asked of the peer, for each of its key sizes.
trait Peer: Sized + Send {
    fn of(secret: &[u8], radix: u32) -> Option<Self>;
    fn put(&self, tweak: &[u8], from: &[u16]) -> Option<Vec<u16>>;
}

macro_rules! peers {
    ($($cipher:ident)*) => {
        $(impl Peer for FF1<$cipher> {
            fn of(secret: &[u8], radix: u32) -> Option<Self> {
                Self::new(secret, radix).ok()
            }

            fn put(&self, tweak: &[u8], from: &[u16]) -> Option<Vec<u16>> {
                let value = FlexibleNumeralString::from(from.to_vec());
                self.encrypt(tweak, &value).ok().map(Vec::from)
            }
        })*
    };
}

peers!(Aes128 Aes192 Aes256);
