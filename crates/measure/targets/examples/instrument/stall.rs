//! A server that stands still for a tenth of the time: callers feel all of it, and a client that waits
//! for its own answers before it asks again would hardly see it.
//!
//! At a constant rate a tenth of all operations fall due while nothing moves, with waits evenly between
//! nothing and the whole stall. Half of them, which is the top 5 %, wait half of it or longer, and a tenth
//! of them, the top 1 %, nine tenths. Working off the backlog adds to that, so the bars allow for 5 %.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use keywright_clock::{Clock, MonotonicTime};
use keywright_measure::carry::Check;
use keywright_measure::threads::Threads;
use keywright_measure::{Carrier, Fault, Window, Worker};

use crate::engine::constant;
use crate::remote::{self, Freeze};
use crate::sheet::{Line, Sheet, time};
use crate::{Bench, Failure, stub};

/// Operations a second.
const RATE: f64 = 1000.0;
/// Connections to the store stub; a blocking operation each.
const CONNECTIONS: u32 = 16;

pub(crate) fn check(bench: &Bench, sheet: &mut Sheet) -> Result<(), Failure> {
    let freeze = Freeze::after(bench.seconds * RATE * 0.4, bench.seconds_of_ten(1.0));
    let server = remote::Http::start(freeze, bench.server_cpu)?;
    let mut carrier = server.carrier()?;
    let http = format!("HTTP/2 over TLS, {} streams", remote::PLACES);
    stall(bench, sheet, (&http, remote::PLACES), &mut carrier)?;
    drop((carrier, server));

    let server = stub::Store::start(freeze, bench.server_cpu)?;
    let workers = (0..CONNECTIONS).map(|_| server.worker());
    let workers = workers.collect::<Result<_, _>>()?;
    let mut threads = Threads::new(workers, bench.engine.timer);
    let store = format!("store stub over TCP, {CONNECTIONS} connections");
    stall(bench, sheet, (&store, CONNECTIONS), &mut threads)?;
    drop((threads, server));

    for workers in [1, CONNECTIONS] {
        let mut threads = stalled_workers(bench, workers);
        let name = format!("blocking calls, {workers} at a time");
        stall(bench, sheet, (&name, workers), &mut threads)?;
    }
    Ok(())
}

fn stall(
    bench: &Bench,
    sheet: &mut Sheet,
    (name, cap): (&str, u32),
    carrier: &mut dyn Carrier,
) -> Result<(), Failure> {
    let length = bench.seconds_of_ten(10.0);
    let load = constant(RATE, length, cap)?;
    let carried = bench.engine.run(carrier, &load, Window::Time(length))?;
    let ledger = &carried.ledger;
    let stalled = length.as_nanos() as f64 / 10.0;
    let at = |share| ledger.response.quantile(share).unwrap_or(0) as f64;
    let (p50, p95, p99) = (at(0.5), at(0.95), at(0.99));
    let near = |value: f64, share: f64| (value / (stalled * share) - 1.0).abs() <= 0.05;
    let service = |share| time(ledger.service.quantile(share).unwrap_or(0) as f64);
    let expected = format!(
        "p95 {}, p99 {}, 5 %",
        time(stalled * 0.5),
        time(stalled * 0.9)
    );
    let answered = ledger.counts.answered();
    sheet.judge_quiet(&Line {
        name: &format!("stall, {name}"),
        value: format!(
            "response p50 {}, p95 {}, p99 {}, max {}; service p95 {}, p99 {}, max {}; {answered} of {}",
            time(p50),
            time(p95),
            time(p99),
            time(ledger.response.max().unwrap_or(0) as f64),
            service(0.95),
            service(0.99),
            time(ledger.service.max().unwrap_or(0) as f64),
            ledger.counts.planned,
        ),
        bar: &expected,
        holds: near(p95, 0.5) && near(p99, 0.9),
    });
    Ok(())
}

/// Workers of this process that all stand still at the same time.
struct Stalled {
    clock: Clock,
    /// When the first of them was called.
    start: Arc<OnceLock<MonotonicTime>>,
    from: Duration,
    length: Duration,
}

fn stalled_workers(bench: &Bench, count: u32) -> Threads {
    let start = Arc::new(OnceLock::new());
    let worker = |_| -> Box<dyn Worker> {
        Box::new(Stalled {
            clock: bench.engine.clock.clone(),
            start: Arc::clone(&start),
            from: bench.seconds_of_ten(4.0),
            length: bench.seconds_of_ten(1.0),
        })
    };
    Threads::new((0..count).map(worker).collect(), bench.engine.timer)
}

impl Worker for Stalled {
    fn operate(&mut self) -> Result<(), Fault> {
        let now = self.clock.monotonic();
        let so_far = now.since(*self.start.get_or_init(|| now));
        let end = self.from + self.length;
        if so_far >= self.from && so_far < end {
            std::thread::sleep(end - so_far);
        }
        Ok(())
    }

    fn check(&mut self) -> Check {
        Check::Unknown
    }
}
