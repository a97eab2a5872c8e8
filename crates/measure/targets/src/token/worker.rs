//! Workers: one session each, an act that is timed, and a look at what came of it that is not.

use std::hint::black_box;
use std::sync::Arc;

use keywright_measure::carry::Check;
use keywright_measure::{Fault, FaultPhase, TargetError, Worker};
use keywright_pkcs11::{Error, Session};

use super::inputs::{Input, messages};
use super::place::{Opened, Stay};
use super::task::Shape;
use crate::operation::Setting;

/// What is timed. The result is appended to an empty buffer.
pub(super) type Act = Box<dyn FnMut(&Session, &Input, &mut Vec<u8>) -> Result<(), Error> + Send>;
/// Whether this is the right result.
pub(super) type Judge = Box<dyn FnMut(&Session, &Input, &[u8]) -> bool + Send>;

/// An act with its judge.
pub(super) struct Deed {
    pub(super) act: Act,
    pub(super) judge: Judge,
}

/// What a deed is made from.
pub(super) struct Making<'a> {
    pub(super) opened: &'a Arc<Opened>,
    pub(super) session: &'a Session,
    pub(super) inputs: &'a mut Vec<Input>,
    pub(super) worker: u32,
    pub(super) shape: Shape,
}

struct TokenWorker {
    session: Session,
    deed: Deed,
    inputs: Vec<Input>,
    turn: usize,
    output: Vec<u8>,
    /// After the session, so that nobody logs out under it.
    _stay: Stay,
}

/// A worker that has done its operation once, rightly.
pub(crate) fn worker(
    opened: &Arc<Opened>,
    (name, shape): (&'static str, Shape),
    setting: &Setting<'_>,
) -> Result<Box<dyn Worker>, TargetError> {
    let stay = opened.enter(shape.task)?;
    let failed = |error| opened.refuse(name, error);
    let session = if shape.task.is_alone() {
        opened.token().open()
    } else {
        opened.session()
    };
    let session = session.map_err(failed)?;
    let mut inputs = messages(setting.seed, setting.index, setting.bytes.unwrap_or(0));
    let deed = super::deeds::make(Making {
        opened,
        session: &session,
        inputs: &mut inputs,
        worker: setting.index,
        shape,
    })
    .map_err(failed)?;
    let mut worker = TokenWorker {
        session,
        deed,
        inputs,
        turn: 0,
        output: Vec::new(),
        _stay: stay,
    };
    worker.act().map_err(failed)?;
    if worker.check() == Check::Wrong {
        return Err(TargetError::Unsupported {
            target: super::TARGET.to_owned(),
            operation: name.to_owned(),
            reason: "its first result is not as it must be".to_owned(),
        });
    }
    Ok(Box::new(worker))
}

impl TokenWorker {
    fn act(&mut self) -> Result<(), Error> {
        let place = self.turn & (self.inputs.len() - 1);
        self.turn = self.turn.wrapping_add(1);
        self.output.clear();
        (self.deed.act)(
            &self.session,
            black_box(&self.inputs[place]),
            &mut self.output,
        )
    }
}

impl Worker for TokenWorker {
    fn operate(&mut self) -> Result<(), Fault> {
        self.act().map_err(|error| fault(&error))?;
        black_box(&mut self.output);
        Ok(())
    }

    fn check(&mut self) -> Check {
        #[cfg(test)]
        if super::tests::spoil() {
            super::tests::spoiled(&mut self.output);
        }
        let place = self.turn.wrapping_sub(1) & (self.inputs.len() - 1);
        match (self.deed.judge)(&self.session, &self.inputs[place], &self.output) {
            true => Check::Right,
            false => Check::Wrong,
        }
    }
}

/// A failure under the name of its return code.
fn fault(error: &Error) -> Fault {
    let code = match error.failure() {
        Some(failure) => failure.code().to_string(),
        None => error.to_string(),
    };
    Fault::new(FaultPhase::Operation, code)
}
