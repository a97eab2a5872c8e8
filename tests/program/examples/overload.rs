//! Offers a service of known capacity more than it can do, and holds the answer against its bar.
//!
//! `overload [SERVER_CPU]` starts itself again as a server, pinned to that core, whose key holder does
//! 5,000 requests a second, and offers it 1.5 and 10 times as many, open loop: requests are sent when they
//! are due, whatever became of those before. Pin this program to another core. It exits with 3 if an
//! accepted request took more than 50 ms at the 99th percentile, or one went unanswered.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a measuring program"
)]

use std::error::Error;
use std::io::{BufRead, BufReader, Read, stdin};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_holders::Throttled;
use keywright_home::{CONFIG_FILE, Contents, Node, Profile};
use keywright_program::load::{Offer, Outcome, Target, open_loop};
use keywright_tls::{ClientIdentity, Protocol, client_config};

const CAPACITY: u32 = 5_000;
const BAR: Duration = Duration::from_millis(50);
const SECONDS: u64 = 5;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match &arguments[..] {
        [word, folder] if word == "serve" => serve(Path::new(folder)).map(|()| true),
        [] => measure(None),
        [cpu] => measure(Some(cpu)),
        _ => Err("usage: overload [SERVER_CPU]".into()),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(3),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Serves the home until the input ends.
fn serve(folder: &Path) -> Result<(), Box<dyn Error>> {
    let throttle = |holder| Arc::new(Throttled::new(holder, CAPACITY)) as _;
    let node = Node::open_with_holder(&folder.join(CONFIG_FILE), Clock::system(), throttle)?;
    let serving = node.serve(Some(([127, 0, 0, 1], 0).into()))?;
    println!("{}", serving.local_addr());
    stdin().read_to_end(&mut Vec::new())?;
    Ok(serving.stop()?)
}

fn measure(server_cpu: Option<&str>) -> Result<bool, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let home = folder.path().join("home");
    keywright_home::create(&home, Contents::Demo, Profile::Fast, &Clock::system())?;
    let (mut child, address) = start(&home, server_cpu)?;
    let held = [CAPACITY * 3 / 2, CAPACITY * 10]
        .into_iter()
        .map(|per_second| offer(&home, address, per_second))
        .collect::<Result<Vec<_>, _>>();
    drop(child.stdin.take());
    child.wait()?;
    Ok(held?.into_iter().all(|held| held))
}

fn start(home: &Path, cpu: Option<&str>) -> Result<(Child, SocketAddr), Box<dyn Error>> {
    let program = std::env::current_exe()?;
    let mut command = match cpu {
        None => Command::new(&program),
        Some(cpu) => {
            let mut command = Command::new("taskset");
            command.args(["-c", cpu]).arg(&program);
            command
        }
    };
    let mut child = command
        .arg("serve")
        .arg(home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut line = String::new();
    let output = child.stdout.take().ok_or("the server has no output")?;
    BufReader::new(output).read_line(&mut line)?;
    Ok((child, line.trim().parse()?))
}

fn offer(home: &Path, address: SocketAddr, per_second: u32) -> Result<bool, Box<dyn Error>> {
    let read = |name: &str| std::fs::read(home.join(name));
    let identity = ClientIdentity::from_pem(
        &read("clients/trading-1.pem")?,
        &read("clients/trading-1.key")?,
    )?;
    let tls = client_config(
        &read("ca.pem")?,
        Some(identity),
        &[Protocol::Http2],
        &Clock::system(),
    )?;
    let target = Target {
        address,
        tls,
        path: "/v1/contexts/exchange-key/encrypt".to_owned(),
        body: r#"{"plaintext":"SGVsbG8gV29ybGQh"}"#.into(),
    };
    let offer = Offer {
        per_second,
        duration: Duration::from_secs(SECONDS),
        connections: 4,
        patience: Duration::from_secs(30),
    };
    let outcome = open_loop(&target, &offer, |body| {
        body.starts_with(br#"{"ciphertext":"#)
    })?;
    Ok(report(per_second, &outcome))
}

/// Prints what became of an offer; whether it is within the bar.
fn report(per_second: u32, outcome: &Outcome) -> bool {
    let millis = |duration: Duration| duration.as_secs_f64() * 1e3;
    let p99 = outcome.accepted.per_mille(990);
    let refused = outcome.refused.get("overloaded");
    let refused = refused.map_or(0.0, |all| millis(all.per_mille(990)));
    println!(
        "offered {per_second}/s to a capacity of {CAPACITY}/s for {SECONDS} s: {} accepted, p99 {:.1} ms; \
         {} refused, p99 {refused:.1} ms; {} wrong, {} unanswered; generator late by {:.1} ms at worst",
        outcome.accepted.count(),
        millis(p99),
        outcome.refusals(),
        outcome.wrong,
        outcome.lost,
        millis(outcome.worst_lateness),
    );
    p99 <= BAR && outcome.wrong == 0 && outcome.lost == 0 && outcome.without_retry_after == 0
}
