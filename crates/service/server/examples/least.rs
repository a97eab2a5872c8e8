//! The least that an answer can cost which seals, or signs, and is on record: the null mode of the service with the
//! cryptography, one hash and one write put into it, and nothing else.
//!
//! No policy, no keyring, no limits, no counters, no clock: what a program with the same transport has to do at least
//! for one plaintext of 12 bytes. What the whole service costs beside it is what those cost.
//!
//! `least ADDR CA CERTIFICATE KEY`, as `keywright bench op service.floor --floor` calls it; the revocation list lies
//! beside the authority's certificate. The variable `KEYWRIGHT_LEAST` says what is done for each request, by default
//! `seal,hash,write`, of
//! * `seal`: an envelope of suite 1 with a fresh nonce (design 7.6);
//! * `sign`: a signature of Ed25519;
//! * `token`: an envelope of suite 3, sealed in a token under a key of the session, through the layer and without the
//!   holder of keys. `KEYWRIGHT_PKCS11_MODULE` says which module, `KEYWRIGHT_LEAST_LABEL` which token, and
//!   `KEYWRIGHT_LEAST_PIN_FILE` where its PIN is;
//! * `hash`: one link of the log over a record of a request (design 7.33);
//! * `write`: the record goes into a file before its answer leaves, with those of all requests that were read with it.
#![expect(
    clippy::unwrap_used,
    reason = "a program for whoever measures: what goes wrong ends it"
)]

use std::cell::{Cell, RefCell};
use std::fs::{self, File};
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use arc_swap::ArcSwap;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{Request, Response};
use keywright_clock::Clock;
use keywright_envelope::{Aad, Binding, DeviceKey, Identity, Sealing, SealingKey, derive};
use keywright_pkcs11::{
    Credential, KeyPlan, Mechanism, Module, ObjectHandle, Pin, Purpose, SecretKind, Session,
    TokenQuery, User,
};
use keywright_primitives::hash::sha256;
use keywright_primitives::random::RandomStream;
use keywright_primitives::signature::SigningKey;
use keywright_secret::Secret;
use keywright_server::NullApplication;
use keywright_server::transport::group::GroupFlush;
use keywright_server::transport::{Body, Handler, Limits, Peer, Reply, Settings, read_body, start};
use keywright_tls::{ClientTrust, Protocol, ServerIdentity, server_config};
use keywright_types::{Code, KeyId, KeyVersion, Kind, Suite};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Link, length, record: what a link of a request with one item is the hash of.
const HASHED: usize = 32 + 4 + RECORD;
/// The fixed part of a record and the id of its message.
const RECORD: usize = 138 + 22;
/// Length, record, the front of its link: what stands in the file.
const WRITTEN: usize = 4 + RECORD + 8;
/// What is read as the body of each request.
const ASKED: &[u8] = br#"{"plaintext":"SGVsbG8gV29ybGQh"}"#;

/// What is sealed, or signed.
const TEXT: &[u8] = b"Hello World!";

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, address, ca, certificate, key] = &arguments[..] else {
        return Err("least ADDR CA CERTIFICATE KEY".into());
    };
    let parts = parts()?;
    let settings = Settings {
        listen: address.parse()?,
        threads: 1,
        tls: Arc::new(ArcSwap::new(tls(Path::new(ca), certificate, key))),
        limits: Limits::default(),
        clock: Clock::system(),
    };
    let log = tempfile::tempfile()?;
    let running = start(settings, move |_| {
        Least::new(&parts, log.try_clone().unwrap())
    })?;
    running.join()?;
    Ok(())
}

const PARTS: [&str; 5] = ["seal", "sign", "token", "hash", "write"];

#[expect(
    clippy::disallowed_methods,
    reason = "whoever calls a bare server gives it four arguments and no fifth"
)]
fn variable(name: &str) -> Result<String, Failure> {
    std::env::var(name).map_err(|error| format!("{name}: {error}").into())
}

/// What is done for each request; an empty variable is the null mode alone.
fn parts() -> Result<Vec<&'static str>, Failure> {
    let named = variable("KEYWRIGHT_LEAST").unwrap_or_else(|_| "seal,hash,write".to_owned());
    let each = named.split(',').filter(|name| !name.is_empty());
    let known = each.map(|name| {
        let part = PARTS.into_iter().find(|part| *part == name);
        part.ok_or_else(|| format!("KEYWRIGHT_LEAST: {name}: none of {PARTS:?}").into())
    });
    known.collect()
}

fn tls(ca: &Path, certificate: &str, key: &str) -> Arc<keywright_tls::ServerConfig> {
    let lists = fs::read(ca.with_file_name("crl.pem")).unwrap();
    let trust = ClientTrust::new(&fs::read(ca).unwrap(), &lists, Clock::system()).unwrap();
    let identity =
        ServerIdentity::from_pem(&fs::read(certificate).unwrap(), &fs::read(key).unwrap());
    server_config(identity.unwrap(), Arc::new(trust), &[Protocol::Http2]).unwrap()
}

/// The null mode, and what is done besides.
struct Least {
    null: NullApplication,
    /// In the place of the head of each request: a bare server is asked by a path and a body of its own.
    head: Parts,
    sealing: Option<SealingKey>,
    signing: Option<SigningKey>,
    token: Option<InToken>,
    random: Rc<RefCell<RandomStream>>,
    out: RefCell<Vec<u8>>,
    link: Cell<[u8; 32]>,
    hashes: bool,
    pending: Rc<RefCell<Vec<u8>>>,
    /// None where nothing is written.
    group: Option<GroupFlush>,
}

impl Least {
    fn new(parts: &[&str], mut log: File) -> Self {
        let does = |part| parts.contains(&part);
        let random = Rc::new(RefCell::new(RandomStream::new().unwrap()));
        let pending: Rc<RefCell<Vec<u8>>> = Rc::default();
        let (of_job, records) = (Rc::clone(&random), Rc::clone(&pending));
        let flush = move || {
            of_job.borrow_mut().end_job();
            let mut records = records.borrow_mut();
            let written = log.write_all(&records);
            records.clear();
            written.is_ok()
        };
        Self {
            null: NullApplication::new(
                keywright_api::Limits::DEFAULT,
                Limits::default().body_timeout,
            ),
            head: head(),
            sealing: does("seal").then(sealing_key),
            signing: does("sign")
                .then(|| SigningKey::from_seed(&Secret::from_fill(|seed| seed.fill(7))).unwrap()),
            token: does("token").then(|| InToken::open().unwrap()),
            random,
            out: RefCell::default(),
            link: Cell::new([0; 32]),
            hashes: does("hash"),
            pending,
            group: does("write").then(|| GroupFlush::new(flush)),
        }
    }

    /// What cannot be left out, for a plaintext of 12 bytes.
    fn work(&self) {
        let mut out = self.out.borrow_mut();
        out.clear();
        if let Some(key) = &self.sealing {
            let mut random = self.random.borrow_mut();
            let sealed = key.seal_into(Binding::None, &Aad::EMPTY, TEXT, &mut random, &mut out);
            sealed.unwrap();
        }
        if let Some(token) = &self.token {
            let mut random = self.random.borrow_mut();
            token.seal(&mut random, &mut out).unwrap();
        }
        if let Some(key) = &self.signing {
            out.extend_from_slice(&key.sign(TEXT));
        }
        let mut hashed = [0; HASHED];
        hashed[..32].copy_from_slice(&self.link.get());
        let front = out.len().min(RECORD);
        hashed[36..36 + front].copy_from_slice(&out[..front]);
        if self.hashes {
            self.link.set(sha256(&hashed));
        }
        if self.group.is_some() {
            self.pending
                .borrow_mut()
                .extend_from_slice(&hashed[HASHED - WRITTEN..]);
        }
    }
}

/// A key in a session with a token.
struct InToken {
    session: Session,
    key: ObjectHandle,
    device: DeviceKey,
}

impl InToken {
    fn open() -> Result<Self, Failure> {
        let module = Module::load(Path::new(&variable("KEYWRIGHT_PKCS11_MODULE")?))?;
        let label = variable("KEYWRIGHT_LEAST_LABEL")?;
        let session = module.find_token(&TokenQuery::label(&label))?.open()?;
        let pin = Pin::from_line(fs::read(variable("KEYWRIGHT_LEAST_PIN_FILE")?)?);
        session.login(User::User, Credential::Pin(&pin))?;
        let plan = KeyPlan::new(Purpose::Encrypt).in_session();
        let key = session.generate_secret(SecretKind::Aes { len: 32 }, &plan)?;
        let device = DeviceKey::new(identity(Suite::TokenGcm12))?;
        Ok(Self {
            session,
            key,
            device,
        })
    }

    fn seal(&self, random: &mut RandomStream, out: &mut Vec<u8>) -> Result<(), Failure> {
        let sealing = Sealing {
            binding: Binding::None,
            aad: &Aad::EMPTY,
            plaintext: TEXT,
        };
        let sealed = self
            .device
            .seal_into(&sealing, out, |nonce, aad, text, out| {
                random.fill(nonce)?;
                let mechanism = Mechanism::AesGcm { nonce, aad };
                self.session.encrypt(&mechanism, self.key, text, out)?;
                Ok::<_, Failure>(())
            });
        sealed.map(drop)
    }
}

fn head() -> Parts {
    let asked = Request::post("/v1/contexts/exchange-key/encrypt")
        .header(CONTENT_TYPE, "application/json")
        .body(());
    asked.unwrap().into_parts().0
}

fn sealing_key() -> SealingKey {
    derive(&[7; 32], identity(Suite::Xaes256Gcm)).unwrap().0
}

const fn identity(suite: Suite) -> Identity {
    Identity {
        suite,
        kind: Kind::Message,
        key: KeyId::from_bytes([1; 16]),
        version: KeyVersion::FIRST,
    }
}

impl Handler for Least {
    type Connection = ();

    fn accept(&self, peer: Peer<'_>) -> Result<(), Code> {
        self.null.accept(peer)
    }

    async fn respond(&self, (): &(), _: &Parts, body: &mut Body) -> Response<Reply> {
        let limits = Limits::default();
        let read = read_body(body, limits.body_bytes, limits.body_timeout).await;
        let mut body =
            Body::whole(read.map_or_else(|_| Bytes::new(), |_| Bytes::from_static(ASKED)));
        let response = self.null.respond(&(), &self.head, &mut body).await;
        self.work();
        if let Some(group) = &self.group {
            group.join().await.unwrap();
        }
        response
    }

    fn abandoned(&self, (): &(), code: Code) -> Response<Reply> {
        self.null.abandoned(&(), code)
    }

    fn still_welcome(&self, (): &()) -> bool {
        true
    }

    fn handshake_refused(&self, from: SocketAddr, reason: Code) {
        self.null.handshake_refused(from, reason);
    }
}
