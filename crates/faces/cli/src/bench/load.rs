//! A closed-loop generator: C connections with M streams each, every answer looked at.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use http::Method;
use keywright_api::Binary;
use keywright_client::{Answer, Client, Settings};
use keywright_clock::Clock;
use keywright_tls::Protocol;
use tokio::runtime::Runtime;
use tokio::task::LocalSet;

use super::Block;
use super::server::{Role, Server};
use crate::exit::{Exit, Failure};
use crate::place;

/// What is asked, by how many at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) connections: usize,
    pub(crate) streams: usize,
    /// Bytes of each plaintext.
    pub(crate) bytes: usize,
    /// Items of a request; 1 for a single.
    pub(crate) items: usize,
    pub(crate) http1: bool,
    pub(crate) decrypt: bool,
}

impl Shape {
    /// Four connections of sixteen streams, 12 bytes: the yardstick's own shape.
    pub(crate) const MANY: Self = Self {
        connections: 4,
        streams: 16,
        bytes: 12,
        items: 1,
        http1: false,
        decrypt: false,
    };
}

/// A generator connected to one server.
pub(crate) struct Generator {
    server: Rc<Server>,
    runtime: Runtime,
    clients: Vec<Client>,
    request: Rc<Request>,
    shape: Shape,
}

/// One request, made once and sent many times.
struct Request {
    path: String,
    body: bytes::Bytes,
    /// How a good answer begins.
    good: &'static [u8],
    items: usize,
}

impl Generator {
    pub(crate) fn start(server: Rc<Server>, shape: Shape) -> Result<Self, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime
            .map_err(|error| Failure::new(Exit::Internal, error.to_string(), "try again"))?;
        let protocol = if shape.http1 {
            Protocol::Http1
        } else {
            Protocol::Http2
        };
        let settings = settings(&server, protocol)?;
        let clients = (0..shape.connections)
            .map(|_| runtime.block_on(Client::connect(settings.clone())))
            .collect::<Result<Vec<_>, _>>()?;
        let first = clients
            .first()
            .ok_or_else(|| Failure::broken("a shape without connections"))?;
        let request = runtime.block_on(Request::make(first, &server, shape))?;
        Ok(Self {
            server,
            runtime,
            clients,
            request: Rc::new(request),
            shape,
        })
    }

    /// Keeps every stream busy for `duration`.
    pub(crate) fn block(&mut self, duration: Duration) -> Result<Block, Failure> {
        let clock = Clock::system();
        let (cpu, start) = (self.server.cpu_ns()?, clock.monotonic());
        let shared = Rc::new(Progress {
            clock: clock.clone(),
            end: start.plus(duration),
            ..Progress::new()
        });
        let local = LocalSet::new();
        let tasks: Vec<_> = (0..self.shape.connections * self.shape.streams)
            .map(|index| {
                let client = self.clients[index % self.clients.len()].clone();
                let (request, shared) = (Rc::clone(&self.request), Rc::clone(&shared));
                local.spawn_local(async move { ask(&client, &request, &shared).await })
            })
            .collect();
        local.block_on(&self.runtime, async {
            for task in tasks {
                drop(task.await);
            }
        });
        if let Some(failure) = shared.failure.take() {
            return Err(failure);
        }
        let seconds = clock.monotonic().since(start).as_secs_f64();
        let cpu_ns = self.server.cpu_ns()?.saturating_sub(cpu) as f64;
        let mut latencies = shared.latencies.take();
        latencies.sort_unstable();
        let done = (latencies.len() * self.request.items) as f64;
        Ok(Block {
            done,
            seconds,
            cpu_ns,
            bytes: done * self.shape.bytes as f64,
            latencies,
        })
    }
}

/// What the streams of a block have in common.
struct Progress {
    clock: Clock,
    end: keywright_clock::MonotonicTime,
    latencies: RefCell<Vec<u64>>,
    failure: Cell<Option<Failure>>,
}

impl Progress {
    fn new() -> Self {
        let clock = Clock::system();
        Self {
            end: clock.monotonic(),
            clock,
            latencies: RefCell::default(),
            failure: Cell::default(),
        }
    }
}

async fn ask(client: &Client, request: &Request, shared: &Progress) {
    while shared.clock.monotonic() < shared.end {
        let before = shared.clock.monotonic();
        match request.send(client).await {
            Ok(()) => {
                let took = shared.clock.monotonic().since(before);
                let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
                shared.latencies.borrow_mut().push(nanos);
            }
            Err(failure) => {
                shared.failure.set(Some(failure));
                return;
            }
        }
    }
}

impl Request {
    async fn make(client: &Client, server: &Server, shape: Shape) -> Result<Self, Failure> {
        let plaintext = vec![0x5A; shape.bytes];
        let text = Binary::encode(&plaintext).text().to_owned();
        if server.role() == Role::Floor {
            let body = format!(r#"{{"context":"exchange-key","plaintext":"{text}"}}"#).into();
            return Ok(Self {
                path: "/encrypt".to_owned(),
                body,
                good: br#"{"ciphertext":"#,
                items: 1,
            });
        }
        let item = format!(r#"{{"plaintext":"{text}"}}"#);
        let path = "/v1/contexts/exchange-key/encrypt".to_owned();
        let (body, good): (String, &'static [u8]) = match shape.items {
            1 => (item, br#"{"ciphertext":"#),
            count => (
                format!(r#"{{"items":[{}]}}"#, vec![item; count].join(",")),
                br#"{"items":[{"ciphertext":"#,
            ),
        };
        let encrypt = Self {
            path,
            body: body.into(),
            good,
            items: shape.items,
        };
        if !shape.decrypt {
            return Ok(encrypt);
        }
        let answer = encrypt.answer(client).await?;
        let sealed: keywright_api::answer::SealAnswer<'_> = serde_json::from_slice(&answer.body)
            .map_err(|_| Failure::broken("an encryption was answered with something else"))?;
        let body = format!(r#"{{"ciphertext":"{}"}}"#, sealed.ciphertext.text()).into();
        let path = "/v1/contexts/exchange-key/decrypt".to_owned();
        Ok(Self {
            path,
            body,
            good: br#"{"plaintext":"#,
            items: 1,
        })
    }

    async fn send(&self, client: &Client) -> Result<(), Failure> {
        let answer = self.answer(client).await?;
        // Every item of a batch must have worked: the answer ends with the count of failures.
        let whole = self.items == 1 || answer.body.ends_with(br#""failed":0}"#);
        if answer.status.is_success() && answer.body.starts_with(self.good) && whole {
            return Ok(());
        }
        Err(Failure::broken(format!(
            "the server answered {} with something else",
            answer.status
        )))
    }

    async fn answer(&self, client: &Client) -> Result<Answer, Failure> {
        Ok(client
            .call(Method::POST, &self.path, self.body.clone())
            .await?)
    }
}

/// Settings for the trading client of the server's home.
pub(crate) fn settings(server: &Server, protocol: Protocol) -> Result<Settings, Failure> {
    let home = server.home();
    let clients = home.join("clients");
    let (certificate, key) = (clients.join("trading-1.pem"), clients.join("trading-1.key"));
    let tls = place::tls(&home.join("ca.pem"), Some((&certificate, &key)), protocol)?;
    place::settings(&format!("https://{}", server.address()), tls)
}
