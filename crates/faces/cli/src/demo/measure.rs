//! A short, honest measurement of the running service: closed loop, every answer checked.
//!
//! Generator and service share the machine's cores here, and the table says so. `keywright bench` and
//! `make bench` measure with separate cores.

use std::cell::Cell;
use std::net::SocketAddr;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use keywright_client::{Batching, Client, Seal, Settings};
use keywright_clock::{Clock, MonotonicTime};
use keywright_tls::Protocol;
use keywright_types::Name;

use super::progress;
use crate::exit::{Exit, Failure};
use crate::place;

/// What one way of asking came to.
struct Row {
    what: &'static str,
    unit: &'static str,
    per_second: f64,
    /// Nanoseconds per request, sorted.
    latencies: Vec<u64>,
}

/// Settings for a client of the service at `address`.
pub(super) fn settings(
    home: &Path,
    address: SocketAddr,
    client: Option<&str>,
) -> Result<Settings, Failure> {
    let pair = client.map(|name| {
        let clients = home.join("clients");
        (
            clients.join(format!("{name}.pem")),
            clients.join(format!("{name}.key")),
        )
    });
    let identity = pair
        .as_ref()
        .map(|(certificate, key)| (certificate.as_path(), key.as_path()));
    let tls = place::tls(&home.join("ca.pem"), identity, Protocol::Http2)?;
    place::settings(&format!("https://{address}"), tls)
}

/// Measures for `seconds` and prints the table.
pub(super) fn run(
    home: &Path,
    address: SocketAddr,
    context: &Name,
    seconds: u64,
) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime =
        runtime.map_err(|error| Failure::new(Exit::Internal, error.to_string(), "try again"))?;
    let bar = progress::count(seconds, "measuring");
    let half = Duration::from_millis(seconds * 500);
    let measure = async {
        let settings = settings(home, address, Some("trading-1"))?;
        let client = Client::connect(settings).await?;
        let singles = singles(&client, context, half).await?;
        bar.set_position(seconds / 2);
        let batches = batches(&client, context, half).await?;
        Ok::<_, Failure>([singles, batches])
    };
    let rows = tokio::task::LocalSet::new().block_on(&runtime, measure)?;
    bar.finish_and_clear();
    print(&rows);
    Ok(())
}

/// 16 streams that each ask for one encryption of 12 bytes at a time.
async fn singles(client: &Client, context: &Name, time: Duration) -> Result<Row, Failure> {
    let clock = Clock::system();
    let start = clock.monotonic();
    let end = start.plus(time);
    let failed: Rc<Cell<Option<keywright_client::Error>>> = Rc::default();
    let tasks: Vec<_> = (0..STREAMS)
        .map(|_| {
            let (client, context, clock, failed) = (
                client.clone(),
                context.clone(),
                clock.clone(),
                Rc::clone(&failed),
            );
            tokio::task::spawn_local(async move {
                let mut latencies = Vec::new();
                while clock.monotonic() < end {
                    let before = clock.monotonic();
                    let item = Seal {
                        plaintext: b"Hello World!",
                        aad: None,
                    };
                    if let Err(error) = client.encrypt(&context, item).await {
                        failed.set(Some(error));
                        break;
                    }
                    latencies.push(nanos(clock.monotonic(), before));
                }
                latencies
            })
        })
        .collect();
    let mut latencies = Vec::new();
    for task in tasks {
        let measured = task
            .await
            .map_err(|_| Failure::broken("a measuring task ended early"))?;
        latencies.extend(measured);
    }
    if let Some(error) = failed.take() {
        return Err(error.into());
    }
    let took = clock.monotonic().since(start);
    Ok(Row::new(
        "encrypt, 12 bytes, 16 streams",
        "requests/s",
        latencies.len(),
        took,
        latencies,
    ))
}

/// One request of 1,000 items of 64 bytes at a time.
async fn batches(client: &Client, context: &Name, time: Duration) -> Result<Row, Failure> {
    let clock = Clock::system();
    let item = Seal {
        plaintext: &[0x5A; 64],
        aad: None,
    };
    let items = vec![item; 1000];
    let batching = Batching {
        items: 1000,
        bytes: usize::MAX,
        requests: 1,
    };
    let (start, mut latencies, mut sealed) = (clock.monotonic(), Vec::new(), 0);
    while clock.monotonic().since(start) < time {
        let before = clock.monotonic();
        let results = client.encrypt_items(context, &items, batching).await?;
        latencies.push(nanos(clock.monotonic(), before));
        sealed += results.iter().filter(|result| result.is_ok()).count();
    }
    if sealed != latencies.len() * items.len() {
        return Err(Failure::broken("an item of a batch was refused"));
    }
    let took = clock.monotonic().since(start);
    Ok(Row::new(
        "encrypt, batches of 1,000 x 64 bytes",
        "items/s",
        sealed,
        took,
        latencies,
    ))
}

impl Row {
    fn new(
        what: &'static str,
        unit: &'static str,
        count: usize,
        took: Duration,
        mut latencies: Vec<u64>,
    ) -> Self {
        latencies.sort_unstable();
        let per_second = count as f64 / took.as_secs_f64().max(f64::MIN_POSITIVE);
        Self {
            what,
            unit,
            per_second,
            latencies,
        }
    }

    /// The latency that `share` of the requests did not exceed, in microseconds.
    fn quantile(&self, share: f64) -> f64 {
        let last = self.latencies.len().saturating_sub(1);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "share is within 0 and 1"
        )]
        let index = (share * last as f64).round() as usize;
        self.latencies
            .get(index)
            .map_or(0.0, |nanos| *nanos as f64 / 1000.0)
    }
}

fn print(rows: &[Row]) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!(
        "      {:<38} {:>14} {:>10} {:>10} {:>10}",
        "", "rate", "p50 us", "p95 us", "p99 us"
    );
    for row in rows {
        let rate = format!("{:.0} {}", row.per_second, row.unit);
        let quantiles = [0.50, 0.95, 0.99].map(|share| format!("{:.0}", row.quantile(share)));
        println!(
            "      {:<38} {rate:>18} {:>8} {:>10} {:>10}",
            row.what, quantiles[0], quantiles[1], quantiles[2]
        );
    }
    println!("      {cores} cores, shared by generator and service; closed loop, one connection");
}

fn nanos(now: MonotonicTime, before: MonotonicTime) -> u64 {
    u64::try_from(now.since(before).as_nanos()).unwrap_or(u64::MAX)
}

const STREAMS: usize = 16;
