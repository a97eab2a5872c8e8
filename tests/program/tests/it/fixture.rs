//! A home, a node that serves it, and clients that talk to it: typed, or as raw as HTTP gets.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use keywright_audit::RecordType;
use keywright_audit::head::Fingerprint;
use keywright_audit::show::{Filter, show};
use keywright_audit::verify::{Report, Verifier};
use keywright_client::{Settings, blocking};
use keywright_clock::Clock;
use keywright_custody::KeyHolder;
use keywright_encoding::{base64, hex};
use keywright_home::pki::{AUTHORITY, AUTHORITY_KEY, Pki};
use keywright_home::{
    CONFIG_FILE, Contents, FINGERPRINT_FILE, HomeError, MemoryPlan, Node, Profile, Serving,
};
use keywright_network::ca::TestAuthority;
use keywright_policy::PolicyDocument;
use keywright_tls::issue::Authority;
use keywright_tls::{ClientIdentity, Protocol, client_config};
use keywright_types::{Name, PrincipalId};
use rustls::pki_types::ServerName;
use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio_rustls::TlsConnector;

pub(crate) const BOTH: [Protocol; 2] = [Protocol::Http2, Protocol::Http1];
pub(crate) const TRADING: &str = "trading-1";
pub(crate) const WEB: &str = "web-2fa-1";
pub(crate) const EXCHANGE: &str = "exchange-key";
pub(crate) const TWO_FACTOR: &str = "2fa";

pub(crate) fn name(text: &str) -> Name {
    text.parse().unwrap()
}

pub(crate) fn loopback() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

// === Homes ===

/// One home is made per process and copied: making one stretches a password three times.
static TEMPLATE: LazyLock<PathBuf> = LazyLock::new(|| {
    let shelf = Path::new(env!("CARGO_TARGET_TMPDIR")).join("program-homes");
    fs::create_dir_all(&shelf).unwrap();
    for old in fs::read_dir(&shelf).unwrap().map(Result::unwrap) {
        // A home in the making has its process's number in front as well.
        let file = old.file_name();
        let number = file.to_str().and_then(|file| file.split('.').next());
        let running = number.is_some_and(|number| Path::new("/proc").join(number).exists());
        if !running {
            drop(fs::remove_dir_all(old.path()));
        }
    }
    let home = shelf.join(std::process::id().to_string());
    drop(fs::remove_dir_all(&home));
    keywright_home::create(&home, Contents::Demo, Profile::Fast, &Clock::system()).unwrap();
    home
});

/// A home of the demonstration in a folder of its own, which goes when this does.
pub(crate) struct Home(TempDir);

impl Home {
    pub(crate) fn demo() -> Self {
        let folder = tempfile::tempdir().unwrap();
        copy_folder(&TEMPLATE, &folder.path().join("home"));
        Self(folder)
    }

    /// One that `make` makes at the place that it is given.
    pub(crate) fn made_by(make: impl FnOnce(&Path)) -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        make(&home.path());
        home
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.0.path().join("home")
    }

    /// Beside the home, and gone with it.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.path().join(CONFIG_FILE)
    }

    /// Edits the configuration; `from` must be in it.
    pub(crate) fn configure(self, from: &str, to: &str) -> Self {
        let text = fs::read_to_string(self.config()).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(self.config(), text.replacen(from, to, 1)).unwrap();
        self
    }

    pub(crate) fn open(&self) -> Result<Arc<Node>, HomeError> {
        Node::open(&self.config(), Clock::system(), MemoryPlan::LeaveAlone)
    }

    pub(crate) fn authority(&self) -> Authority {
        let certificate = fs::read(self.path().join(AUTHORITY)).unwrap();
        let key = fs::read(self.path().join(AUTHORITY_KEY)).unwrap();
        Authority::from_pem(&certificate, &key).unwrap()
    }

    /// The home's own authority with the bad habits of a test.
    pub(crate) fn careless_authority(&self) -> TestAuthority {
        TestAuthority::over(self.authority(), Clock::system().wall())
    }

    pub(crate) fn pki(&self) -> Pki {
        Pki::open(&self.path()).unwrap()
    }

    pub(crate) fn identity(&self, client: &str) -> ClientIdentity {
        let clients = self.path().join("clients");
        let certificate = fs::read(clients.join(format!("{client}.pem"))).unwrap();
        let key = fs::read(clients.join(format!("{client}.key"))).unwrap();
        ClientIdentity::from_pem(&certificate, &key).unwrap()
    }

    pub(crate) fn tls(
        &self,
        identity: Option<ClientIdentity>,
        protocol: Protocol,
    ) -> Arc<rustls::ClientConfig> {
        let roots = fs::read(self.path().join(AUTHORITY)).unwrap();
        client_config(&roots, identity, &[protocol], &Clock::system()).unwrap()
    }

    /// Every record of the log, in the order of its files.
    pub(crate) fn records(&self) -> Vec<Value> {
        let records = show(&self.path().join("audit"), Filter::default()).unwrap();
        records.map(Result::unwrap).collect()
    }

    /// The records of requests.
    pub(crate) fn requests(&self) -> Vec<Value> {
        let kind = RecordType::Request.name();
        self.records()
            .into_iter()
            .filter(|record| record["type"] == kind)
            .collect()
    }

    /// The verifier's word on the log, with the signer's fingerprint from outside it.
    pub(crate) fn verify(&self) -> Report {
        let text = fs::read_to_string(self.path().join(FINGERPRINT_FILE)).unwrap();
        let bytes = hex::decode(text.trim()).unwrap();
        let fingerprint = Fingerprint::from_bytes(bytes.try_into().unwrap());
        let verified = Verifier::new(Some(fingerprint)).verify(&self.path().join("audit"));
        verified.unwrap_or_else(|failure| panic!("the log does not verify: {failure}"))
    }
}

pub(crate) fn copy_folder(from: &Path, to: &Path) {
    fs::DirBuilder::new().mode(0o700).create(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_folder(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

/// A field of a record; `None` if it has none of this name.
pub(crate) fn field<'a>(record: &'a Value, name: &str) -> Option<&'a Value> {
    let fields = record["fields"].as_array().unwrap();
    fields
        .iter()
        .find(|field| field["name"] == name)
        .map(|field| &field["value"])
}

// === Sites ===

/// A home that is served.
pub(crate) struct Site {
    // Before the home, so that a test that fails ends its server before its folder goes.
    serving: Serving,
    pub(crate) home: Home,
}

impl Site {
    pub(crate) fn start() -> Self {
        Self::over(Home::demo())
    }

    pub(crate) fn over(home: Home) -> Self {
        let node = home.open().unwrap();
        Self::serve(home, &node)
    }

    pub(crate) fn with_holder(
        home: Home,
        wrap: impl FnOnce(Arc<dyn KeyHolder>) -> Arc<dyn KeyHolder>,
    ) -> Self {
        let node = Node::open_with_holder(&home.config(), Clock::system(), wrap).unwrap();
        Self::serve(home, &node)
    }

    pub(crate) fn serve(home: Home, node: &Arc<Node>) -> Self {
        let serving = node.serve(Some(loopback())).unwrap();
        Self { home, serving }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.serving.local_addr()
    }

    pub(crate) fn node(&self) -> &Arc<Node> {
        self.serving.node()
    }

    pub(crate) const fn serving(&self) -> &Serving {
        &self.serving
    }

    pub(crate) fn wire(&self, client: &str, protocol: Protocol) -> Wire {
        let tls = self.home.tls(Some(self.home.identity(client)), protocol);
        Wire::connect(self.address(), tls).unwrap()
    }

    pub(crate) fn client(&self, client: &str) -> blocking::Client {
        self.client_of(Some(self.home.identity(client)), Protocol::Http2)
            .unwrap()
    }

    pub(crate) fn client_of(
        &self,
        identity: Option<ClientIdentity>,
        protocol: Protocol,
    ) -> Result<blocking::Client, keywright_client::Error> {
        blocking::Client::connect(settings(self.address(), self.home.tls(identity, protocol)))
    }

    /// Changes the policy in force.
    pub(crate) fn change_policy(&self, change: impl FnOnce(&mut PolicyDocument)) {
        let mut document = self.node().admin().policy().unwrap().unwrap();
        change(&mut document);
        self.node().admin().apply_policy(document).unwrap();
    }

    /// The id that the policy has for a principal.
    pub(crate) fn principal(&self, client: &str) -> PrincipalId {
        let document = self.node().admin().policy().unwrap().unwrap();
        let mut principals = document.principals.into_iter();
        principals
            .find(|entry| entry.name.as_str() == client)
            .unwrap()
            .id
            .unwrap()
    }

    /// Stops in order and gives the home back, closed.
    pub(crate) fn stop(self) -> Home {
        self.serving.stop().unwrap();
        self.home
    }
}

pub(crate) fn settings(address: SocketAddr, tls: Arc<rustls::ClientConfig>) -> Settings {
    let url = format!("https://localhost:{}", address.port());
    Settings::new(&url, tls).unwrap().with_address(address)
}

// === Processes ===

/// A process of its own that serves a home. It ends when its input does, so also when a test dies.
pub(crate) struct Served {
    process: Child,
    /// What it says on its output, line by line.
    lines: BufReader<ChildStdout>,
    pub(crate) address: SocketAddr,
}

impl Served {
    /// Starts it and waits until it listens.
    pub(crate) fn start(home: &Path) -> Self {
        Self::run(&mut Self::command(home))
    }

    pub(crate) fn command(home: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_keywright-served-home"));
        command.arg(home);
        command
    }

    pub(crate) fn run(command: &mut Command) -> Self {
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        let Some(address) = line.trim().strip_prefix("listening on ") else {
            let mut told = String::new();
            process.stderr.unwrap().read_to_string(&mut told).unwrap();
            panic!("it does not start: {told}");
        };
        Self {
            address: address.parse().unwrap(),
            process,
            lines,
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.process.id()
    }

    /// SIGKILL: no handler, no destructor, no flush.
    pub(crate) fn kill(mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Ends its input, which is how it is told to stop; everything it said, on both outputs.
    pub(crate) fn stop(mut self) -> String {
        drop(self.process.stdin.take());
        let mut told = String::new();
        self.lines.read_to_string(&mut told).unwrap();
        self.process
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut told)
            .unwrap();
        assert!(self.process.wait().unwrap().success(), "{told}");
        told
    }
}

// === Wires ===

/// One connection over which anything can be sent.
pub(crate) struct Wire {
    sender: Sender,
    /// Ends with the connection; then `trouble` says what went wrong with it.
    driver: JoinHandle<()>,
    trouble: Arc<OnceLock<String>>,
    port: u16,
}

/// Looks after all wires, also while no request runs: a server that stops says goodbye, and waits for
/// the same word.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap()
});

/// Runs to its end what waits for a wire.
pub(crate) fn block<T>(work: impl Future<Output = T>) -> T {
    RUNTIME.block_on(work)
}

enum Sender {
    Http1(http1::SendRequest<Full<Bytes>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

/// An answer, whole.
#[derive(Clone, Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Got {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| panic!("not JSON: {}", String::from_utf8_lossy(&self.body)))
    }

    /// The stable code: `ok` for a success.
    pub(crate) fn code(&self) -> String {
        match self.status {
            200 => "ok".to_owned(),
            _ => self.json()["error"]["code"]
                .as_str()
                .unwrap_or_default()
                .to_owned(),
        }
    }

    /// The id of a refused request, by which the log has it.
    pub(crate) fn request(&self) -> String {
        self.json()["error"]["request"].as_str().unwrap().to_owned()
    }

    pub(crate) fn header(&self, name: impl header::AsHeaderName) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The bytes of a base64 field.
    pub(crate) fn binary(&self, field: &str) -> Vec<u8> {
        base64::decode(self.json()[field].as_str().unwrap()).unwrap()
    }
}

impl Wire {
    pub(crate) fn connect(
        address: SocketAddr,
        tls: Arc<rustls::ClientConfig>,
    ) -> Result<Self, String> {
        Self::connect_from(Ipv4Addr::LOCALHOST, address, tls)
    }

    /// One whose own address is this one of loopback.
    pub(crate) fn connect_from(
        own: Ipv4Addr,
        address: SocketAddr,
        tls: Arc<rustls::ClientConfig>,
    ) -> Result<Self, String> {
        let trouble = Arc::default();
        let connected = RUNTIME.block_on(connect((own, address), tls, &trouble));
        let (sender, driver) = connected.map_err(chain)?;
        Ok(Self {
            sender,
            driver,
            trouble,
            port: address.port(),
        })
    }

    /// Sends a request and waits for its answer, a minute at most.
    pub(crate) fn send(
        &mut self,
        method: Method,
        path: &str,
        body: impl Into<Bytes>,
    ) -> Result<Got, String> {
        let request = self
            .request(method, path)
            .body(Full::new(body.into()))
            .unwrap();
        self.send_request(request)
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> http::request::Builder {
        let request = Request::builder().method(method);
        match &self.sender {
            Sender::Http1(_) => request.uri(path).header(header::HOST, "localhost"),
            Sender::Http2(_) => request.uri(format!("https://localhost:{}{path}", self.port)),
        }
    }

    pub(crate) fn send_request(&mut self, request: Request<Full<Bytes>>) -> Result<Got, String> {
        let sender = &mut self.sender;
        RUNTIME
            .block_on(async {
                let exchange = async {
                    let response = match sender {
                        Sender::Http1(sender) => {
                            sender.ready().await.map_err(chain)?;
                            sender.send_request(request).await
                        }
                        Sender::Http2(sender) => {
                            sender.ready().await.map_err(chain)?;
                            sender.send_request(request).await
                        }
                    };
                    let (head, body) = response.map_err(chain)?.into_parts();
                    let body = body.collect().await.map_err(chain)?.to_bytes();
                    Ok(Got {
                        status: head.status.as_u16(),
                        headers: head.headers,
                        body,
                    })
                };
                tokio::time::timeout(Duration::from_secs(60), exchange)
                    .await
                    .map_err(chain)?
            })
            .map_err(|error| self.explain(error))
    }

    /// Where the connection failed, its error says more than that of the request it took along.
    fn explain(&mut self, error: String) -> String {
        if !self.driver.is_finished() {
            self.ends_within(Duration::from_secs(5));
        }
        format!("{error}: {}", self.trouble.get().map_or("", String::as_str))
    }

    pub(crate) fn post(&mut self, path: &str, body: impl Into<Bytes>) -> Got {
        self.send(Method::POST, path, body).unwrap()
    }

    pub(crate) fn get(&mut self, path: &str) -> Got {
        self.send(Method::GET, path, "").unwrap()
    }

    /// Whether the server ends the connection within this time.
    pub(crate) fn ends_within(&mut self, time: Duration) -> bool {
        if self.driver.is_finished() {
            return true;
        }
        let driver = &mut self.driver;
        RUNTIME.block_on(async { tokio::time::timeout(time, driver).await.is_ok() })
    }
}

async fn connect(
    (own, address): (Ipv4Addr, SocketAddr),
    tls: Arc<rustls::ClientConfig>,
    trouble: &Arc<OnceLock<String>>,
) -> Result<(Sender, JoinHandle<()>), Box<dyn std::error::Error>> {
    let trouble = Arc::clone(trouble);
    let note = move |ended: Result<(), hyper::Error>| {
        if let Err(error) = ended {
            drop(trouble.set(chain(error)));
        }
    };
    let socket = TcpSocket::new_v4()?;
    socket.bind((own, 0).into())?;
    let tcp = socket.connect(address).await?;
    tcp.set_nodelay(true)?;
    let name = ServerName::try_from("localhost")?;
    let tls = TlsConnector::from(tls).connect(name, tcp).await?;
    let http2 = tls.get_ref().1.alpn_protocol() == Some(Protocol::Http2.alpn());
    let io = TokioIo::new(tls);
    if http2 {
        let (sender, connection) = http2::Builder::new(TokioExecutor::new())
            .handshake(io)
            .await?;
        return Ok((
            Sender::Http2(sender),
            tokio::spawn(async move { note(connection.await) }),
        ));
    }
    let (sender, connection) = http1::handshake(io).await?;
    Ok((
        Sender::Http1(sender),
        tokio::spawn(async move { note(connection.await) }),
    ))
}

/// Writes bytes over TLS and reads until the server ends the connection: what came, or `None` if it
/// did not end in time.
pub(crate) fn raw(
    address: SocketAddr,
    tls: Arc<rustls::ClientConfig>,
    bytes: &[u8],
    time: Duration,
) -> Option<String> {
    RUNTIME.block_on(async {
        let tcp = TcpStream::connect(address).await.unwrap();
        let name = ServerName::try_from("localhost").unwrap();
        let mut tls = TlsConnector::from(tls).connect(name, tcp).await.unwrap();
        tls.write_all(bytes).await.unwrap();
        let mut answer = Vec::new();
        // A connection that is cut has no farewell in TLS, which reading tells as an error.
        let read = tokio::time::timeout(time, tls.read_to_end(&mut answer)).await;
        read.is_ok()
            .then(|| String::from_utf8_lossy(&answer).into_owned())
    })
}

async fn knock(address: SocketAddr, tls: Arc<rustls::ClientConfig>) -> u64 {
    let tcp = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    if let Ok(mut tls) = TlsConnector::from(tls).connect(name, tcp).await {
        drop(tls.read_to_end(&mut Vec::new()).await);
    }
    1
}

/// Makes this many TLS connections, sixteen at a time, each until the server ends it; how many it ended.
pub(crate) fn knock_often(address: SocketAddr, tls: &Arc<rustls::ClientConfig>, times: u64) -> u64 {
    const AT_ONCE: u64 = 16;
    RUNTIME.block_on(async {
        let tasks: Vec<_> = (0..AT_ONCE)
            .map(|task| {
                let (tls, times) = (
                    Arc::clone(tls),
                    times / AT_ONCE + u64::from(task < times % AT_ONCE),
                );
                tokio::spawn(async move {
                    let mut ended = 0;
                    for _ in 0..times {
                        ended += knock(address, Arc::clone(&tls)).await;
                    }
                    ended
                })
            })
            .collect();
        let mut ended = 0;
        for task in tasks {
            ended += task.await.unwrap();
        }
        ended
    })
}

fn chain(error: impl Into<Box<dyn std::error::Error>>) -> String {
    let error = error.into();
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        text.push_str(&format!(": {error}"));
        next = error.source();
    }
    text
}

// === Bodies ===

pub(crate) fn path(context: &str, action: &str) -> String {
    format!("/v1/contexts/{context}/{action}")
}

/// `{"plaintext":...,"aad":...}` and its like, from bytes.
pub(crate) fn item(fields: &[(&str, &[u8])]) -> String {
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, bytes)| format!("\"{name}\":\"{}\"", base64::encode(bytes)))
        .collect();
    format!("{{{}}}", fields.join(","))
}

pub(crate) fn batch(items: impl IntoIterator<Item = String>) -> String {
    let items: Vec<_> = items.into_iter().collect();
    format!("{{\"items\":[{}]}}", items.join(","))
}

/// Seals one message and gives back the envelope.
pub(crate) fn seal(wire: &mut Wire, context: &str, plaintext: &[u8], aad: &[u8]) -> Vec<u8> {
    let body = item(&[("plaintext", plaintext), ("aad", aad)]);
    let got = wire.post(&path(context, "encrypt"), body);
    assert_eq!(got.status, 200, "{}", got.json());
    got.binary("ciphertext")
}
