//! How many requests a second the generator makes: a closed loop against any server that answers
//! `POST /encrypt`, to be compared with another generator on the same machine.
//!
//! `closed_loop ADDR CA CERT KEY [CONNECTIONS] [STREAMS] [SECONDS] [RATE]`; the server's certificate must be
//! for the address. Pin it and the server to a core each. With a rate it is an open loop at that rate, and
//! says how late requests were sent.
#![expect(clippy::print_stdout, reason = "a command")]

use std::num::NonZeroU32;
use std::time::Duration;

use http::Method;
use keywright_clock::Clock;
use keywright_measure::carry::Verify;
use keywright_measure::ledger::Outcome;
use keywright_measure::{Assignment, Carried, Carrier as _, Load, Open, Stop, Window};
use keywright_targets::http::{
    Call, Carrier, Draw, Endpoint, Exchange, Lines, Look, Prepared, Process, Reply, Step,
    service_fault,
};
use keywright_tls::{ClientIdentity, Protocol, client_config};

type Failure = Box<dyn std::error::Error>;

/// The same request over and over, of which success is enough.
struct Same(Prepared);

impl Exchange for Same {
    type Ticket = ();

    fn restart(&mut self, _: u64) {}

    fn draw(&mut self, _: Option<u32>) -> Draw {
        Draw::default()
    }

    fn call(&mut self, _: Draw) -> Call<()> {
        Call {
            request: self.0.clone(),
            ticket: (),
        }
    }

    fn answer(&mut self, (): (), reply: &Reply, _: Look) -> Step<()> {
        Step::Done(match reply.status.is_success() {
            true => Outcome::Unchecked,
            false => Outcome::Failed(service_fault(reply)),
        })
    }
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, ca, certificate, key, numbers @ ..] = arguments.as_slice() else {
        return Err("closed_loop ADDR CA CERT KEY [CONNECTIONS] [STREAMS] [SECONDS] [RATE]".into());
    };
    let number = |place: usize, otherwise: u32| -> Result<u32, Failure> {
        Ok(numbers
            .get(place)
            .map_or(Ok(otherwise), |text| text.parse())?)
    };
    let (connections, streams) = (number(0, 4)?, number(1, 16)?);
    let identity = ClientIdentity::from_pem(&std::fs::read(certificate)?, &std::fs::read(key)?)?;
    let clock = Clock::system();
    let tls = client_config(
        &std::fs::read(ca)?,
        Some(identity),
        &[Protocol::Http2],
        &clock,
    )?;
    let url = format!("https://{address}");
    let endpoint = Endpoint::new("server", &url, vec![tls], Protocol::Http2)?;
    let body = r#"{"context":"exchange-key","plaintext":"WlpaWlpaWlpaWlpa"}"#;
    let request = endpoint.prepare(Method::POST, "/encrypt", body)?;
    let lines = Lines::connect(endpoint, connections, streams)?;
    let mut carrier = Carrier::new(lines, Same(request)).with_process(Process::own());
    let workers = NonZeroU32::new(connections * streams).ok_or("nothing in flight")?;
    let rate = number(3, 0)?;
    for seconds in [1, u64::from(number(2, 5)?)] {
        let time = Duration::from_secs(seconds);
        let load = match rate {
            0 => Load::Closed { workers },
            rate => Load::Open(Open::constant(f64::from(rate), time, workers)?),
        };
        let assignment = Assignment {
            load: &load,
            window: Window::Time(time),
            seed: 1,
            verify: Verify::Off,
            timeout: Duration::from_secs(30),
            drain: Duration::from_secs(5),
            block: Duration::from_secs(1),
            clock: &clock,
            stop: &Stop::new(),
        };
        let carried = carrier.carry(&assignment, &mut |_, _| {})?;
        print(&carried);
    }
    Ok(())
}

fn print(carried: &Carried) {
    let (ledger, counts) = (&carried.ledger, &carried.ledger.counts);
    println!(
        "{:.0}/s of {} sent, {} failed; {} ns of this process each; p50 {:?} p99 {:?} ns",
        carried.rate_per_s,
        counts.sent,
        counts.error,
        carried.cpu_ns.unwrap_or(0) / counts.sent.max(1),
        ledger.service.quantile(0.5),
        ledger.service.quantile(0.99),
    );
    println!(
        "{} of {} planned not sent; late by the pacer p50 {:?} p99 {:?} ns; response p99 {:?} ns",
        counts.never_sent,
        counts.planned,
        ledger.pacer.quantile(0.5),
        ledger.pacer.quantile(0.99),
        ledger.response.quantile(0.99),
    );
}
