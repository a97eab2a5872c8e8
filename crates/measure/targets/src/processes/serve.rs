//! A process of a measurement: takes orders from one end, reports at the other, and ends with its orders.

use std::io::{BufRead, Write};
use std::sync::mpsc::{Receiver, channel};

use keywright_clock::Clock;
use keywright_measure::{Assignment, Carrier as _, Stop, TargetError};

use crate::local::fpe::Backend;

use super::wire::{Books, Order, Outcome, Refusal, Report, Run, Work};
use crate::operation::{AnyCarrier, Operation};
use crate::workshop::{Places, StorePlace, Workshop};

/// Takes orders until there are none. Whoever gives them may ask for the end of a run at any time, and does
/// so by going away as well. Format-preserving encryption runs on `fpe_backend`, or on the best of the machine.
///
/// # Errors
/// Reports cannot be written any more.
pub fn serve(
    orders: impl BufRead + Send + 'static,
    mut reports: impl Write,
    (clock, stop): (&Clock, &Stop),
    fpe_backend: Option<Backend>,
) -> std::io::Result<()> {
    let orders = listened(orders, stop)?;
    let mut carrier: Option<AnyCarrier> = None;
    while let Ok(order) = orders.recv() {
        let report = match (order, &mut carrier) {
            (Ok(Order::Make(work)), carrier) => match made(&work, clock, fpe_backend) {
                Ok(made) => {
                    *carrier = Some(made);
                    Report::Ready
                }
                Err(error) => Report::Refused(Refusal::from(&error)),
            },
            (Ok(Order::Carry(run)), Some(carrier)) => {
                carried(carrier, &run, (clock, stop), &mut reports)?
            }
            (Ok(Order::Carry(_)), None) => {
                Report::Refused(Refusal::System("nothing was made ready".to_owned()))
            }
            (Ok(Order::Stop), _) => continue,
            (Err(reason), _) => Report::Refused(Refusal::System(reason)),
        };
        say(&mut reports, &report)?;
    }
    Ok(())
}

fn say(reports: &mut impl Write, report: &Report) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(report)?;
    line.push(b'\n');
    reports.write_all(&line)?;
    reports.flush()
}

/// Orders as they come, on a thread of its own, so that a wish to end is heard while a run goes on.
fn listened(
    orders: impl BufRead + Send + 'static,
    stop: &Stop,
) -> std::io::Result<Receiver<Result<Order, String>>> {
    let (sender, receiver) = channel();
    let stop = stop.clone();
    std::thread::Builder::new().spawn(move || {
        for line in orders.lines() {
            let Ok(line) = line else { break };
            let order = serde_json::from_str(&line);
            if matches!(order, Ok(Order::Stop)) {
                stop.ask();
            }
            let order = order.map_err(|error| format!("an order cannot be read: {error}"));
            if sender.send(order).is_err() {
                break;
            }
        }
        stop.ask();
    })?;
    Ok(receiver)
}

fn made(
    work: &Work,
    clock: &Clock,
    fpe_backend: Option<Backend>,
) -> Result<AnyCarrier, TargetError> {
    let part = |(name, bytes, weight): &(String, u64, f64)| {
        let operation = Workshop::find(name).ok_or(TargetError::Load("no such operation"))?;
        let operation = Operation {
            bytes: *bytes,
            ..*operation
        };
        Ok((operation, *weight))
    };
    let parts: Vec<_> = work
        .parts
        .iter()
        .map(part)
        .collect::<Result<_, TargetError>>()?;
    std::fs::create_dir_all(&work.folder)
        .map_err(|error| TargetError::System(format!("no folder: {error}")))?;
    let workshop = Workshop::new(
        clock.clone(),
        Places {
            seed: work.seed,
            folder: work.folder.clone(),
            program: None,
            server_cpu: None,
            local_cpu: None,
            fpe_backend,
            floor: None,
            store: StorePlace::StandIn,
            lookup: |_| None,
        },
    );
    let load = keywright_measure::Load::Closed {
        workers: work.workers,
    };
    super::only_own(&parts)?;
    match parts.as_slice() {
        [(operation, _)] => workshop.carrier(operation, &load),
        parts => workshop.mix(parts, &load),
    }
}

fn carried(
    carrier: &mut AnyCarrier,
    run: &Run,
    (clock, stop): (&Clock, &Stop),
    reports: &mut impl Write,
) -> std::io::Result<Report> {
    let load = match run.load() {
        Ok(load) => load,
        Err(error) => return Ok(Report::Refused(Refusal::System(error.to_string()))),
    };
    let assignment = Assignment {
        load: &load,
        window: run.window(),
        seed: run.seed,
        verify: run.verify(),
        timeout: run.timeout(),
        drain: run.drain(),
        block: run.block(),
        clock,
        stop,
    };
    let mut unsaid = None;
    let result = carrier.carry(&assignment, &mut |block, ledger| {
        let report = Report::Block(block.clone(), Box::new(Books::of(ledger)));
        if let Err(error) = say(reports, &report) {
            // Nobody listens: the run is of use to nobody.
            stop.ask();
            unsaid.get_or_insert(error);
        }
    });
    match (unsaid, result) {
        (Some(error), _) => Err(error),
        (None, Ok(carried)) => Ok(Report::Carried(Box::new(Outcome::of(&carried)))),
        (None, Err(error)) => Ok(Report::Refused(Refusal::from(&error))),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::num::NonZeroU32;
    use std::time::Duration;

    use keywright_measure::carry::Verify;
    use keywright_measure::{Load, Window};

    use super::*;

    /// What a process answers to these orders.
    fn answers(orders: &[String]) -> Vec<Report> {
        let mut reports = Vec::new();
        let orders = Cursor::new(orders.join("\n").into_bytes());
        serve(orders, &mut reports, (&Clock::system(), &Stop::new()), None).unwrap();
        let text = String::from_utf8(reports).unwrap();
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    fn work(parts: &[(&str, u64, f64)], folder: &std::path::Path) -> String {
        let part = |(name, bytes, weight): &(&str, u64, f64)| ((*name).to_owned(), *bytes, *weight);
        serde_json::to_string(&Order::Make(Work {
            parts: parts.iter().map(part).collect(),
            seed: 3,
            workers: NonZeroU32::MIN,
            folder: folder.to_owned(),
        }))
        .unwrap()
    }

    #[test]
    fn orders_that_cannot_be_carried_out_are_refused_and_the_next_one_is_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let run = |operations| {
            let load = Load::Closed {
                workers: NonZeroU32::MIN,
            };
            let assignment = Assignment {
                load: &load,
                window: Window::Operations(operations),
                seed: 1,
                verify: Verify::All,
                timeout: Duration::from_secs(5),
                drain: Duration::from_secs(5),
                block: Duration::from_secs(1),
                clock: &Clock::system(),
                stop: &Stop::new(),
            };
            serde_json::to_string(&Order::Carry(Run::of(&assignment, &load, 1))).unwrap()
        };
        let told = answers(&[
            run(1),
            "nonsense".to_owned(),
            work(&[("no.such", 1, 1.0)], folder.path()),
            work(&[("service.encrypt", 12, 1.0)], folder.path()),
            work(&[], folder.path()),
            work(&[("kdf.hkdf-sha256.32", 1 << 20, 1.0)], folder.path()),
        ]);
        assert_eq!(told.len(), 6);
        for report in &told {
            assert!(matches!(report, Report::Refused(_)), "{report:?}");
        }
        assert!(matches!(
            &told[5],
            Report::Refused(Refusal::Unsupported(_, operation, _)) if operation == "kdf.hkdf-sha256.32"
        ));
    }

    #[test]
    fn operations_and_mixes_are_made_ready_in_the_size_that_was_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        for parts in [
            &[("hash.sha256.1k", 3000, 1.0)][..],
            &[("hash.sha256.1k", 1024, 80.0), ("random.32", 32, 20.0)],
        ] {
            let told = answers(&[work(parts, folder.path())]);
            assert!(matches!(told.as_slice(), [Report::Ready]), "{told:?}");
        }
    }
}
