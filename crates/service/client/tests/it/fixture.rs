//! A service that "seals" by putting the context's name in front, and does what tests tell it.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use http::request::Parts;
use http::{Response, StatusCode};
use keywright_api::answer::{ClockWord, ContextsAnswer, HealthAnswer, Memory, Probe, Readiness};
use keywright_api::error::Refusal;
use keywright_api::request::{self, DatakeyItem, OpenItem, RandomItem, SealItem};
use keywright_api::route::{Endpoint, RouteMatch, match_route};
use keywright_api::write::{Batch, Done, one};
use keywright_api::{Binary, Codec, Codecs, Limits as ApiLimits};
use keywright_client::Settings;
use keywright_clock::{Clock, WallTime};
use keywright_network::ca::TestAuthority;
use keywright_server::transport::{self, Body, Handler, Limits, Peer, Reply, Running, read_body};
use keywright_tls::issue::Issued;
use keywright_tls::{
    ClientIdentity, ClientTrust, Protocol, ServerIdentity, client_config, server_config,
};
use keywright_types::{Code, DataKeyId, KeyVersion, Name, RequestId};

pub(crate) const BOTH: [Protocol; 2] = [Protocol::Http2, Protocol::Http1];

/// One authority for all tests: making keys takes longer than most tests.
pub(crate) static PKI: LazyLock<Pki> = LazyLock::new(Pki::new);

pub(crate) struct Pki {
    pub(crate) authority: TestAuthority,
    client: Issued,
    server: Issued,
    trust: Arc<ClientTrust>,
    clock: Clock,
}

impl Pki {
    fn new() -> Self {
        let clock = Clock::system();
        let authority = TestAuthority::new(clock.wall());
        Self {
            client: authority.trading(),
            server: authority.server(),
            trust: authority.trust(&clock),
            authority,
            clock,
        }
    }

    pub(crate) fn tls(&self, protocol: Protocol) -> Arc<rustls::ClientConfig> {
        self.tls_with(
            Some(&self.client),
            self.authority.certificate_pem(),
            protocol,
        )
    }

    pub(crate) fn tls_with(
        &self,
        issued: Option<&Issued>,
        roots: &str,
        protocol: Protocol,
    ) -> Arc<rustls::ClientConfig> {
        let identity = issued.map(|issued| {
            let (chain, key) = (&issued.certificate_pem, &issued.key_pem);
            ClientIdentity::from_pem(chain.as_bytes(), key.expose()).unwrap()
        });
        client_config(roots.as_bytes(), identity, &[protocol], &self.clock).unwrap()
    }
}

/// What the service has seen, and what it is told.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) connections: AtomicU64,
    pub(crate) requests: AtomicU64,
    pub(crate) welcome: AtomicBool,
    pub(crate) door_open: AtomicBool,
}

struct MakeBelieve(Arc<State>);

pub(crate) const REQUEST: [u8; 16] = [9; 16];

impl Handler for MakeBelieve {
    type Connection = ();

    fn accept(&self, _: Peer<'_>) -> Result<(), Code> {
        if !self.0.door_open.load(Ordering::SeqCst) {
            return Err(Code::PrincipalUnknown);
        }
        self.0.connections.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    async fn respond(&self, (): &(), head: &Parts, body: &mut Body) -> Response<Reply> {
        self.0.requests.fetch_add(1, Ordering::SeqCst);
        match head.uri.path() {
            "/hang" => std::future::pending().await,
            "/large" => return transport::json(StatusCode::OK, vec![b'x'; 100_000]),
            "/nonsense" => return transport::json(StatusCode::IM_A_TEAPOT, "<html>"),
            _ => {}
        }
        let body = read_body(body, 16 << 20, Duration::from_secs(10))
            .await
            .unwrap();
        match answer(head, &body) {
            Ok(answer) => transport::json(StatusCode::OK, answer),
            Err(code) => {
                let refusal = Refusal::new(code);
                let id = RequestId::from_bytes(REQUEST);
                let codec = Codecs::of(&head.headers).answer;
                let body = refusal.body(codec, &ApiLimits::DEFAULT, id);
                transport::json(refusal.status(), body)
            }
        }
    }

    fn abandoned(&self, (): &(), _: Code) -> Response<Reply> {
        transport::empty(StatusCode::SERVICE_UNAVAILABLE)
    }

    fn still_welcome(&self, (): &()) -> bool {
        self.0.welcome.load(Ordering::SeqCst)
    }

    fn handshake_refused(&self, _: SocketAddr, _: Code) {}
}

fn answer(head: &Parts, body: &[u8]) -> Result<Vec<u8>, Code> {
    let RouteMatch::Found { route, context } = match_route(&head.method, head.uri.path()) else {
        return Err(Code::RouteNotFound);
    };
    let context = context.unwrap_or_default();
    if context == "missing" {
        return Err(Code::ContextNotFound);
    }
    let codec = Codecs::of(&head.headers).request;
    if route.takes_items() {
        assert_eq!(head.headers["content-type"], codec.media_type());
    }
    let body = (codec, body);
    match route.endpoint {
        Endpoint::Encrypt => items(body, |item: &SealItem<'_>| sealed(context, item)),
        Endpoint::Decrypt => items(body, |item: &OpenItem<'_>| opened(context, item)),
        Endpoint::Rewrap => items(body, |item: &OpenItem<'_>| {
            opened(context, item).map(|(plain, _)| ([b"new:", &plain[..]].concat(), 3))
        }),
        Endpoint::Datakey => data_key(body),
        Endpoint::DatakeyOpen => {
            let opened = Done::DatakeyOpened {
                id: DataKeyId::from_bytes([1; 16]),
                plaintext: &[2; 32],
                version: KeyVersion::FIRST,
                not_after: WallTime::from_unix_seconds(0),
            };
            Ok(one(codec, &opened))
        }
        Endpoint::Random => random(body),
        Endpoint::Contexts => Ok(json(&ContextsAnswer { contexts: vec![] })),
        Endpoint::Health => Ok(json(&HealthAnswer {
            status: Readiness::Ready,
            holder: Probe::Ok,
            unfit_keys: 0,
            audit: Probe::Ok,
            store: Probe::Ok,
            certificates: Probe::Ok,
            clock: ClockWord::Sure,
            memory: Memory::Locked,
            epoch: 7,
        })),
        _ => Err(Code::Unsupported),
    }
}

fn json(answer: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(answer).unwrap()
}

/// One item or many; the bytes of a result and its version.
fn items<'a, T: request::Item<'a> + Kind>(
    (codec, body): (Codec, &'a [u8]),
    each: impl Fn(&T) -> Result<(Vec<u8>, u32), Code>,
) -> Result<Vec<u8>, Code> {
    let parsed = codec.read::<T>(body, &ApiLimits::DEFAULT);
    let parsed = parsed.map_err(|refusal| refusal.code())?;
    if !parsed.is_batch() {
        let (bytes, version) = each(&parsed.items()[0])?;
        return Ok(one(codec, &T::done(&bytes, version)));
    }
    let mut batch = Batch::new(codec, parsed.items().len(), 1000);
    for item in parsed.items() {
        match each(item) {
            Ok((bytes, version)) => batch.push(Ok(T::done(&bytes, version))),
            Err(code) => batch.push(Err(code)),
        }
    }
    Ok(batch.finish())
}

/// Which answer belongs to an item. Rewrapped items of this service begin with "new:".
trait Kind {
    fn done(bytes: &[u8], version: u32) -> Done<'_>;
}

impl Kind for SealItem<'_> {
    fn done(ciphertext: &[u8], version: u32) -> Done<'_> {
        let version = KeyVersion::from_number(version);
        Done::Sealed {
            ciphertext,
            version,
        }
    }
}

impl Kind for OpenItem<'_> {
    fn done(bytes: &[u8], version: u32) -> Done<'_> {
        if bytes.starts_with(b"new:") {
            return SealItem::done(bytes, version);
        }
        Done::Opened {
            plaintext: bytes,
            version: KeyVersion::from_number(version),
        }
    }
}

fn sealed(context: &str, item: &SealItem<'_>) -> Result<(Vec<u8>, u32), Code> {
    let aad = aad(item.aad.as_ref())?;
    let plain = item.plaintext.decode().map_err(|_| Code::Base64Invalid)?;
    Ok(([context.as_bytes(), b"|", &aad, b"|", &plain].concat(), 2))
}

fn opened(context: &str, item: &OpenItem<'_>) -> Result<(Vec<u8>, u32), Code> {
    let aad = aad(item.aad.as_ref())?;
    let sealed = item.ciphertext.decode().map_err(|_| Code::Base64Invalid)?;
    let front = [context.as_bytes(), b"|", &aad, b"|"].concat();
    let plain = sealed
        .strip_prefix(&front[..])
        .ok_or(Code::DecryptionFailed)?;
    Ok((plain.to_vec(), 2))
}

fn aad(field: Option<&Binary<'_>>) -> Result<Vec<u8>, Code> {
    field
        .map_or(Ok(vec![]), Binary::decode)
        .map_err(|_| Code::Base64Invalid)
}

fn data_key((codec, body): (Codec, &[u8])) -> Result<Vec<u8>, Code> {
    let parsed = codec.read::<DatakeyItem<'_>>(body, &ApiLimits::DEFAULT);
    let plain = parsed.map_err(|refusal| refusal.code())?.items()[0].plain;
    let made = Done::Datakey {
        id: DataKeyId::from_bytes([1; 16]),
        plaintext: plain.then_some(&[2; 32]),
        ciphertext: b"wrapped",
        version: KeyVersion::FIRST,
        not_after: WallTime::from_unix_seconds(0),
    };
    Ok(one(codec, &made))
}

fn random((codec, body): (Codec, &[u8])) -> Result<Vec<u8>, Code> {
    let parsed = codec.read::<RandomItem>(body, &ApiLimits::DEFAULT);
    let bytes = parsed.map_err(|refusal| refusal.code())?.items()[0].bytes;
    let random = vec![4; usize::try_from(bytes).unwrap()];
    Ok(one(codec, &Done::Random(&random)))
}

/// A running service.
pub(crate) struct Service {
    pub(crate) running: Option<Running>,
    pub(crate) state: Arc<State>,
    pub(crate) addr: SocketAddr,
}

impl Service {
    pub(crate) fn start(limits: Limits) -> Self {
        Self::listen(SocketAddr::from(([127, 0, 0, 1], 0)), limits)
    }

    pub(crate) fn listen(listen: SocketAddr, limits: Limits) -> Self {
        let state = Arc::new(State {
            connections: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            welcome: AtomicBool::new(true),
            door_open: AtomicBool::new(true),
        });
        let (chain, key) = (&PKI.server.certificate_pem, &PKI.server.key_pem);
        let identity = ServerIdentity::from_pem(chain.as_bytes(), key.expose()).unwrap();
        let tls = server_config(identity, Arc::clone(&PKI.trust), &BOTH).unwrap();
        let settings = transport::Settings {
            listen,
            threads: 1,
            tls: Arc::new(ArcSwap::new(tls)),
            limits,
            clock: PKI.clock.clone(),
        };
        let shared = Arc::clone(&state);
        let running = transport::start(settings, move |_| MakeBelieve(Arc::clone(&shared)));
        let running = running.unwrap();
        Self {
            addr: running.local_addr(),
            running: Some(running),
            state,
        }
    }

    pub(crate) fn settings(&self, protocol: Protocol) -> Settings {
        self.settings_with(PKI.tls(protocol))
    }

    pub(crate) fn settings_with(&self, tls: Arc<rustls::ClientConfig>) -> Settings {
        let url = format!("https://localhost:{}", self.addr.port());
        Settings::new(&url, tls).unwrap().with_address(self.addr)
    }

    pub(crate) fn connections(&self) -> u64 {
        self.state.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn requests(&self) -> u64 {
        self.state.requests.load(Ordering::SeqCst)
    }

    /// Stops the service; its clients may still hold their connections.
    pub(crate) async fn end(mut self) {
        let running = self.running.take().unwrap();
        running.stop();
        let ended = tokio::task::spawn_blocking(move || running.join());
        ended.await.unwrap().unwrap();
    }
}

pub(crate) fn context() -> Name {
    "exchange-key".parse().unwrap()
}

/// Runs a test, and fails it instead of letting it hang.
pub(crate) fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(async {
            tokio::time::timeout(Duration::from_secs(60), test)
                .await
                .expect("the test hangs");
        });
}
