//! An exchange with the scripted server: a number goes out and comes back.

use std::num::NonZeroU32;
use std::time::Duration;

use http::Method;
use keywright_clock::Clock;
use keywright_measure::carry::Verify;
use keywright_measure::document::BlockRecord;
use keywright_measure::ledger::{Ledger, Outcome};
use keywright_measure::{Assignment, Carried, Carrier as _, Load, Open, Stop, TargetError, Window};
use keywright_network::ca::TestAuthority;
use keywright_targets::http::{
    Call, Carrier, Draw, Endpoint, Exchange, Lines, Look, Reply, Step, service_fault,
};
use keywright_tls::{ClientConfig, Protocol, client_config};

use crate::http_server::{Script, Server};

/// What the exchange does beside comparing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Answers are compared as they come.
    #[default]
    Compare,
    /// Each answer is sent to `/check`, which says whether it is right.
    Ask,
    /// Two requests make an operation.
    Legs,
    /// Two operations, three to one.
    Mix,
    /// Two identities.
    Tenants,
}

pub(crate) struct Echo {
    endpoint: Endpoint,
    manner: Manner,
    next: u64,
    seed: u64,
}

pub(crate) struct Ticket {
    expected: String,
    leg: u32,
    checks: bool,
}

impl Echo {
    pub(crate) fn new(endpoint: &Endpoint, manner: Manner) -> Self {
        Self {
            endpoint: endpoint.clone(),
            manner,
            next: 0,
            seed: 0,
        }
    }

    fn request(&mut self, path: &str, leg: u32) -> Call<Ticket> {
        self.next += 1;
        let body = self.next.to_string();
        Call {
            ticket: Ticket {
                expected: format!("echo:{body}"),
                leg,
                checks: false,
            },
            request: self.endpoint.prepare(Method::POST, path, body).unwrap(),
        }
    }
}

impl Exchange for Echo {
    type Ticket = Ticket;

    fn parts(&self) -> Vec<(String, f64)> {
        let names: &[(&str, f64)] = match self.manner {
            Manner::Compare | Manner::Ask => &[],
            Manner::Legs => &[("there", 1.0), ("back", 1.0)],
            Manner::Mix => &[("often", 3.0), ("seldom", 1.0)],
            Manner::Tenants => &[("one", 1.0), ("two", 1.0)],
        };
        names
            .iter()
            .map(|(name, weight)| ((*name).to_owned(), *weight))
            .collect()
    }

    fn restart(&mut self, seed: u64) {
        self.seed = seed;
    }

    fn draw(&mut self, group: Option<u32>) -> Draw {
        self.seed += 1;
        let part = match self.manner {
            Manner::Mix => u32::from(self.seed.is_multiple_of(4)),
            Manner::Tenants => group.unwrap_or(u32::from(self.seed.is_multiple_of(2))),
            _ => 0,
        };
        let group = if self.manner == Manner::Tenants {
            part
        } else {
            0
        };
        Draw { part, group }
    }

    fn call(&mut self, draw: Draw) -> Call<Ticket> {
        self.request(&format!("/echo/{}", draw.part), 0)
    }

    fn answer(&mut self, ticket: Ticket, reply: &Reply, look: Look) -> Step<Ticket> {
        if !reply.status.is_success() {
            return Step::Done(Outcome::Failed(service_fault(reply)));
        }
        if self.manner == Manner::Legs && ticket.leg == 0 {
            return Step::Next(1, self.request("/echo/1", 1));
        }
        if look == Look::Past {
            return Step::Done(Outcome::Unchecked);
        }
        let text = str::from_utf8(&reply.body).unwrap();
        let right = match (self.manner, ticket.checks) {
            (Manner::Ask, false) => {
                let body = text.to_owned();
                return Step::Ask(Call {
                    request: self.endpoint.prepare(Method::POST, "/check", body).unwrap(),
                    ticket: Ticket {
                        checks: true,
                        ..ticket
                    },
                });
            }
            (_, true) => text == "check:true",
            (_, false) => text == ticket.expected,
        };
        Step::Done(if right {
            Outcome::Verified
        } else {
            Outcome::Wrong
        })
    }
}

/// A server with a script, and who may call it.
pub(crate) struct Stage {
    pub(crate) server: Server,
    pub(crate) authority: TestAuthority,
}

impl Stage {
    pub(crate) fn new(script: Script) -> Self {
        let authority = TestAuthority::new(Clock::system().wall());
        Self {
            server: Server::start(&authority, script),
            authority,
        }
    }

    pub(crate) fn endpoint(&self, protocol: Protocol, manner: Manner) -> Endpoint {
        let mut identities = vec![config(&self.authority, &self.authority.trading(), protocol)];
        if manner == Manner::Tenants {
            identities.push(config(&self.authority, &self.authority.web_2fa(), protocol));
        }
        Endpoint::new("scripted", &self.server.url(), identities, protocol).unwrap()
    }

    /// Two connections of four streams.
    pub(crate) fn carrier(&self, protocol: Protocol, manner: Manner) -> Carrier<Echo> {
        let endpoint = self.endpoint(protocol, manner);
        let echo = Echo::new(&endpoint, manner);
        let streams = if protocol == Protocol::Http2 { 4 } else { 1 };
        Carrier::new(
            Lines::connect(endpoint, 8 / streams, streams).unwrap(),
            echo,
        )
    }
}

pub(crate) fn config(
    authority: &TestAuthority,
    client: &keywright_tls::issue::Issued,
    protocol: Protocol,
) -> std::sync::Arc<ClientConfig> {
    let identity = keywright_network::ca::client_identity(client).unwrap();
    let roots = authority.certificate_pem().as_bytes();
    client_config(roots, Some(identity), &[protocol], &Clock::system()).unwrap()
}

/// A run, told from its usual form.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) load: Load,
    pub(crate) window: Window,
    pub(crate) verify: Verify,
    pub(crate) timeout: Duration,
    pub(crate) drain: Duration,
    pub(crate) stop: Stop,
}

impl Plan {
    pub(crate) fn closed(workers: u32, operations: u64) -> Self {
        let workers = NonZeroU32::new(workers).unwrap();
        Self::of(Load::Closed { workers }, Window::Operations(operations))
    }

    pub(crate) fn open(rate: f64, millis: u64, cap: u32) -> Self {
        let time = Duration::from_millis(millis);
        let open = Open::constant(rate, time, NonZeroU32::new(cap).unwrap()).unwrap();
        Self::of(Load::Open(open), Window::Time(time))
    }

    pub(crate) fn of(load: Load, window: Window) -> Self {
        Self {
            load,
            window,
            verify: Verify::All,
            timeout: Duration::from_secs(60),
            drain: Duration::from_secs(60),
            stop: Stop::new(),
        }
    }

    pub(crate) fn run(&self, carrier: &mut Carrier<Echo>) -> Carried {
        self.run_with(carrier, &mut |_, _| {}).unwrap()
    }

    pub(crate) fn run_with(
        &self,
        carrier: &mut Carrier<Echo>,
        block: &mut dyn FnMut(&BlockRecord, &Ledger),
    ) -> Result<Carried, TargetError> {
        let assignment = Assignment {
            load: &self.load,
            window: self.window,
            seed: 7,
            verify: self.verify,
            timeout: self.timeout,
            drain: self.drain,
            block: Duration::from_millis(100),
            clock: &Clock::system(),
            stop: &self.stop,
        };
        carrier.carry(&assignment, block)
    }
}

/// What holds for every run, whatever happened in it.
pub(crate) fn check_books(carried: &Carried) {
    let ledger = &carried.ledger;
    let counts = &ledger.counts;
    assert!(counts.balance(), "{counts:?}");
    let faults: u64 = ledger.faults.values().sum();
    assert_eq!(faults, counts.error, "{:?}", ledger.faults);
    let open = counts.timeout + counts.censored + counts.never_sent;
    assert!(ledger.response.count() >= counts.verified + counts.unverified + open);
    // An operation is due before it is sent, and sent before it ends.
    assert!(ledger.response.max() >= ledger.service.max());
    assert!(ledger.lateness.max() >= ledger.pacer.max());
    // What ends after its schedule is no part of the rate.
    let counted = ledger.counts.answered() - ledger.late;
    let rate = counted as f64 * 1e9 / carried.elapsed_ns as f64;
    assert!((carried.rate_per_s - rate).abs() <= rate * 1e-9);
    assert!(ledger.late == 0 || carried.elapsed_ns < ledger.last_completed);
    let area = carried.in_flight_area.unwrap();
    assert!(area >= 0.0 && area.is_finite());
    for part in &carried.parts {
        assert!(part.counts.balance(), "{:?}", part.counts);
    }
}
