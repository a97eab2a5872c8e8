//! What runs in the other process: servers that stand still once, and somebody who watches a dashboard.
//!
//! Each says where it is in one line of JSON, and ends when its input does.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use http::Response;
use keywright_clock::Clock;
use keywright_network::ca::TestAuthority;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::Failure;
use crate::remote::Freeze;
use crate::stub::LENGTH;

/// What the server over HTTP answers.
pub(crate) const ANSWER: &[u8] = b"ok";

/// What the arguments name.
pub(crate) fn other_side(arguments: &[String]) -> Result<(), Failure> {
    end_with_input();
    match arguments {
        [kind, request, nanos] => {
            let gate = Arc::new(Gate {
                freeze: Freeze {
                    request: request.parse()?,
                    length: Duration::from_nanos(nanos.parse()?),
                },
                seen: Mutex::new(0),
            });
            match kind.as_str() {
                "http" => http(gate),
                "store" => store(&gate),
                _ => Err("no such server".into()),
            }
        }
        [kind, address] if kind == "watch" => watch(address.parse()?),
        _ => Err("no such other side".into()),
    }
}

/// Whoever started this is gone when the input ends, and so is the reason to run.
fn end_with_input() {
    std::thread::spawn(|| {
        drop(std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
        std::process::exit(0);
    });
}

/// Where every request passes, one at a time.
struct Gate {
    freeze: Freeze,
    seen: Mutex<u64>,
}

impl Gate {
    /// At the one that was named, all others wait behind it.
    fn pass(&self) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        *seen += 1;
        if *seen == self.freeze.request {
            std::thread::sleep(self.freeze.length);
        }
    }
}

/// On one thread, so that standing still is complete.
fn http(gate: Arc<Gate>) -> Result<(), Failure> {
    let clock = Clock::system();
    let authority = TestAuthority::new(clock.wall());
    let acceptor = TlsAcceptor::from(authority.server_config(&clock));
    let client = authority.trading();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let said = json!({
            "address": listener.local_addr()?.to_string(),
            "authority": authority.certificate_pem(),
            "certificate": client.certificate_pem,
            "key": str::from_utf8(client.key_pem.expose())?,
        });
        println!("{said}");
        loop {
            let (tcp, _) = listener.accept().await?;
            tcp.set_nodelay(true)?;
            let (acceptor, gate) = (acceptor.clone(), Arc::clone(&gate));
            tokio::spawn(async move {
                let Ok(tls) = acceptor.accept(tcp).await else {
                    return;
                };
                let Ok(mut connection) = h2::server::handshake(tls).await else {
                    return;
                };
                while let Some(Ok((_, mut respond))) = connection.accept().await {
                    gate.pass();
                    if let Ok(mut body) = respond.send_response(Response::new(()), false) {
                        drop(body.send_data(Bytes::from_static(ANSWER), true));
                    }
                }
            });
        }
    })
}

fn store(gate: &Arc<Gate>) -> Result<(), Failure> {
    let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
    println!(
        "{}",
        json!({ "address": listener.local_addr()?.to_string() })
    );
    loop {
        let (mut stream, _) = listener.accept()?;
        stream.set_nodelay(true)?;
        let gate = Arc::clone(gate);
        std::thread::spawn(move || {
            let mut question = [0; LENGTH];
            while stream.read_exact(&mut question).is_ok() {
                gate.pass();
                if stream.write_all(&question).is_err() {
                    return;
                }
            }
        });
    }
}

/// Follows a dashboard's events as a browser would, as fast as they come.
fn watch(address: SocketAddr) -> Result<(), Failure> {
    let mut stream = TcpStream::connect(address)?;
    let head =
        format!("GET /events HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\n\r\n");
    stream.write_all(head.as_bytes())?;
    let mut first = [0; 12];
    stream.read_exact(&mut first)?;
    println!("{}", json!({ "answer": str::from_utf8(&first)? }));
    std::io::copy(&mut stream, &mut std::io::sink())?;
    Ok(())
}
