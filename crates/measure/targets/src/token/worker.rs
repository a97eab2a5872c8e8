//! Workers: one session each, an act that is timed, and a look at what came of it that is not.
//!
//! A token that is started again takes sessions, log-in and keys along. The worker's operations fail until it is back,
//! and go on in a new connection then, with new keys: how long that takes stands in what was measured, second by second.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use keywright_measure::carry::Check;
use keywright_measure::{Fault, FaultPhase, TargetError, Worker};
use keywright_pkcs11::{Error, Remedy, Session};

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
    opened: Arc<Opened>,
    place: Place,
    /// None while the connection is lost.
    line: Option<Line>,
    /// The connection that the line is of.
    connection: u64,
    turn: usize,
    output: Vec<u8>,
    /// After the line, so that nobody logs out under it.
    _stay: Stay,
}

/// What a worker needs of its connection.
struct Line {
    deed: Deed,
    inputs: Vec<Input>,
    session: Session,
}

/// What a line is made from, each time.
#[derive(Clone, Copy)]
struct Place {
    shape: Shape,
    seed: u64,
    index: u32,
    bytes: usize,
}

impl Place {
    fn line(self, opened: &Arc<Opened>) -> Result<Line, Error> {
        let session = if self.shape.task.is_alone() {
            opened.token().open()
        } else {
            opened.session()
        };
        let session = session?;
        let mut inputs = messages(self.seed, self.index, self.bytes);
        let deed = super::deeds::make(Making {
            opened,
            session: &session,
            inputs: &mut inputs,
            worker: self.index,
            shape: self.shape,
        })?;
        Ok(Line {
            deed,
            inputs,
            session,
        })
    }
}

/// A worker that has done its operation once, rightly.
pub(crate) fn worker(
    opened: &Arc<Opened>,
    (name, shape): (&'static str, Shape),
    setting: &Setting<'_>,
) -> Result<Box<dyn Worker>, TargetError> {
    let stay = opened.enter(shape.task)?;
    if shape.task.is_alone() && opened.login().is_none() {
        return Err(TargetError::Unsupported {
            target: super::TARGET.to_owned(),
            operation: name.to_owned(),
            reason: "the token is used without a log-in".to_owned(),
        });
    }
    let failed = |error| opened.refuse(name, shape.task, error);
    let place = Place {
        shape,
        seed: setting.seed,
        index: setting.index,
        bytes: setting.bytes.unwrap_or(0),
    };
    let connection = opened.connection();
    let mut worker = TokenWorker {
        opened: Arc::clone(opened),
        place,
        line: Some(place.line(opened).map_err(failed)?),
        connection,
        turn: 0,
        output: Vec::new(),
        _stay: stay,
    };
    worker.act().map_err(failed)?;
    if worker.check() == Check::Wrong {
        return Err(TargetError::WrongOutput {
            target: super::TARGET.to_owned(),
            operation: name.to_owned(),
            reason: "its first result is not as it must be".to_owned(),
        });
    }
    Ok(Box::new(worker))
}

impl TokenWorker {
    fn act(&mut self) -> Result<(), Error> {
        let Some(Line {
            deed,
            inputs,
            session,
        }) = &mut self.line
        else {
            return Err(Error::Gone);
        };
        let place = self.turn & (inputs.len() - 1);
        self.turn = self.turn.wrapping_add(1);
        self.output.clear();
        (deed.act)(session, black_box(&inputs[place]), &mut self.output)
    }

    /// Once, and then whatever is the matter with the connection is seen to.
    fn act_connected(&mut self) -> Result<(), Error> {
        // A worker that logs in and out has no connection to lose.
        if self.place.shape.task.is_alone() {
            return self.act();
        }
        if self.line.is_none() || self.connection != self.opened.connection() {
            self.connect()?;
        }
        self.act().inspect_err(|error| {
            if error.remedy() == Remedy::Reopen {
                self.line = None;
            }
        })
    }

    /// Opens the line again, which was lost, or whose keys went with another worker's connection.
    fn connect(&mut self) -> Result<(), Error> {
        if self.line.take().is_none() {
            // A token that is gone is not asked for as often as it can say no.
            std::thread::sleep(PAUSE);
            self.opened.renew(self.connection)?;
        }
        self.connection = self.opened.connection();
        self.line = Some(self.place.line(&self.opened)?);
        Ok(())
    }
}

impl Worker for TokenWorker {
    fn operate(&mut self) -> Result<(), Fault> {
        self.act_connected().map_err(|error| fault(&error))?;
        black_box(&mut self.output);
        Ok(())
    }

    fn check(&mut self) -> Check {
        #[cfg(test)]
        if super::tests::spoil() {
            super::tests::spoiled(&mut self.output);
        }
        let Some(Line {
            deed,
            inputs,
            session,
        }) = &mut self.line
        else {
            return Check::Unknown;
        };
        let place = self.turn.wrapping_sub(1) & (inputs.len() - 1);
        match (deed.judge)(session, &inputs[place], &self.output) {
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

/// Between two tries to find a token that is gone.
const PAUSE: Duration = Duration::from_millis(20);
