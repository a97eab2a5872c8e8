//! `keywright demo`: the main job on an embedded default, on real input, checked and measured.
//!
//! Nine steps, each of which must hold; the first that does not ends the program. The service runs in
//! this process on loopback, and everything goes to it as a client's requests over mutual TLS.

mod bulk;
mod measure;
mod table;
mod tokens;

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use keywright_audit::head::Fingerprint;
use keywright_audit::verify::{Failure as AuditFailure, Verifier};
use keywright_client::blocking::Client;
use keywright_client::{Open, Seal, Settings};
use keywright_clock::Clock;
use keywright_home::{
    Answer, CONFIG_FILE, Contents, FINGERPRINT_FILE, MemoryPlan, Node, Order, Profile, Serving,
};
use keywright_tls::Protocol;
use keywright_types::{Code, Name};

use crate::exit::{Exit, Failure, sentence};
use crate::place::{self, Home};

/// Protect a real file end to end on an embedded default, checked and measured.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    home: Home,
    /// The CSV file to protect.
    #[arg(long, value_name = "FILE", default_value = "examples/customers.csv")]
    input: PathBuf,
    /// The columns to protect, separated by commas; by default those that look sensitive.
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    columns: Vec<String>,
    /// Size of the large file that is sealed with a data key, in MiB.
    #[arg(long, value_name = "MIB", default_value_t = 256)]
    large_file: u64,
    /// How long to measure, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 10,
        value_parser = clap::value_parser!(u64).range(1..=86_400))]
    seconds: u64,
    /// The cost of the password that seals a new home's root key.
    #[arg(long, value_enum, default_value_t = Cost::Balanced)]
    password_cost: Cost,
}

/// The profiles of the password container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Cost {
    /// 64 MiB.
    Fast,
    /// 256 MiB.
    Balanced,
    /// 1 GiB.
    Strong,
}

impl From<Cost> for Profile {
    fn from(cost: Cost) -> Self {
        match cost {
            Cost::Fast => Self::Fast,
            Cost::Balanced => Self::Balanced,
            Cost::Strong => Self::Strong,
        }
    }
}

pub(crate) fn run(arguments: Arguments) -> Result<Exit, Failure> {
    // Looked at before anything is made, so that a mistyped name leaves no home behind.
    let job = table::Job::plan(&arguments.input, &arguments.columns)?;
    let work = arguments.home.home.join(WORK);
    let revealed = vec![job.revealed(&work), tokens::revealed(job.input(), &work)];
    leave_nothing_on_interrupt(revealed, work)?;
    let demo = Demo::start(&arguments)?;
    let result = demo.steps(&arguments, &job);
    let stopped = demo.serving.stop();
    result?;
    stopped?;
    farewell(&arguments.home.home)?;
    Ok(Exit::Ok)
}

/// The running demonstration.
struct Demo {
    home: PathBuf,
    serving: Serving,
    trading: Client,
    context: Name,
}

impl Demo {
    fn start(arguments: &Arguments) -> Result<Self, Failure> {
        let home = arguments.home.home.clone();
        let clock = Clock::system();
        if home.join(CONFIG_FILE).exists() {
            step(1, &format!("using the home {}", home.display()))?;
        } else {
            step(1, &format!("making the home {}", home.display()))?;
            keywright_home::create(
                &home,
                Contents::Demo,
                arguments.password_cost.into(),
                &clock,
            )?;
            fact(
                "certificate authority, server and two clients; root key under a generated password",
            );
            fact(
                "contexts exchange-key (unit Trading) and 2fa (unit 2FA), a policy that gives each client one",
            );
        }
        let node = Node::open(&home.join(CONFIG_FILE), clock, MemoryPlan::AsConfigured)?;
        crate::serve::report_log(&node);
        let serving = node.serve(Some(([127, 0, 0, 1], 0).into()))?;
        step(
            2,
            &format!(
                "serving on https://{} (HTTP/2, TLS 1.3, client certificates)",
                serving.local_addr()
            ),
        )?;
        let trading = connect(&home, &serving, Some("trading-1"))?;
        let context = "exchange-key"
            .parse()
            .map_err(keywright_home::HomeError::from)?;
        Ok(Self {
            home,
            serving,
            trading,
            context,
        })
    }

    fn steps(&self, arguments: &Arguments, job: &table::Job) -> Result<(), Failure> {
        let work = self.home.join(WORK);
        fs::create_dir_all(&work).map_err(|error| Failure::file(&work, "written", &error))?;
        self.protect(job, &work)?;
        self.large_file(&work, arguments.large_file)?;
        self.tokenise(job.input(), &work)?;
        self.strangers()?;
        self.rotate()?;
        self.audit(&work)?;
        step(8, &format!("measuring for {} s", arguments.seconds))?;
        measure::run(&self.home, self.serving.local_addr(), arguments.seconds)
    }

    fn protect(&self, job: &table::Job, work: &Path) -> Result<(), Failure> {
        step(3, &format!("protecting {}", job.input().display()))?;
        job.describe();
        let report = job.run(&self.trading, &self.context, work)?;
        fact(&format!(
            "{} cells of {} rows sealed into {}, opened again, and the whole file is the same byte for byte",
            report.cells,
            report.rows,
            report.protected.display()
        ));
        match report.exchange {
            table::Exchange::Refused => fact("two cells exchanged in a copy: both refused"),
            table::Exchange::NothingToExchange { cells: 0 } => fact("no cell: nothing to exchange"),
            table::Exchange::NothingToExchange { .. } => {
                fact("only one cell: nothing to exchange");
            }
        }
        Ok(())
    }

    fn large_file(&self, work: &Path, mebibytes: u64) -> Result<(), Failure> {
        let report = bulk::run(&self.trading, &self.context, work, mebibytes)?;
        fact(&format!(
            "{mebibytes} MiB sealed locally under a data key at {:.0} MiB/s, opened at {:.0} MiB/s, the same byte for byte",
            report.seal_rate, report.open_rate
        ));
        Ok(())
    }

    /// Columns as tokens of their own shape, before and after, and back.
    fn tokenise(&self, input: &Path, work: &Path) -> Result<(), Failure> {
        step(4, "making tokens under a data key")?;
        let report = tokens::tokenise(input, work, &self.trading, &self.context)?;
        let Some(report) = report else {
            fact("no column whose values all fit a format: nothing to tokenise");
            return Ok(());
        };
        for row in &report.shown {
            for (number, (value, token)) in row.iter().enumerate() {
                let lead = if number == 0 { "-" } else { " " };
                fact(&format!("{lead} {value:<24} {token}"));
            }
        }
        fact(&format!(
            "{} cells of {} rows in {}, revealed again, and the whole file is the same byte for byte",
            report.cells,
            report.rows,
            report.output.display()
        ));
        Ok(())
    }

    /// A client of another unit, and one without a certificate.
    fn strangers(&self) -> Result<(), Failure> {
        step(5, "asking as somebody else")?;
        let other = connect(&self.home, &self.serving, Some("web-2fa-1"))?;
        let refused = other.encrypt(
            &self.context,
            Seal {
                plaintext: b"x",
                aad: None,
            },
        );
        match refused {
            Err(error) if error.code() == Some(Code::ContextNotFound) => {
                fact(
                    "web-2fa-1 asks for exchange-key: 404 context_not_found, as if it did not exist",
                );
            }
            Err(error) => {
                return Err(Failure::broken(format!(
                    "another unit's client: {}",
                    sentence(&error)
                )));
            }
            Ok(_) => return Err(Failure::broken("another unit's client was served")),
        }
        match connect_without_certificate(&self.home, &self.serving)? {
            Err(keywright_client::Error::Tls(_)) => {
                fact("no certificate: the TLS handshake is refused")
            }
            Err(error) => {
                return Err(Failure::broken(format!(
                    "no certificate: {}",
                    sentence(&error)
                )));
            }
            Ok(()) => return Err(Failure::broken("a client without a certificate was served")),
        }
        Ok(())
    }

    fn rotate(&self) -> Result<(), Failure> {
        step(6, "rotating the key of exchange-key")?;
        let item = Seal {
            plaintext: b"sealed before the rotation",
            aad: None,
        };
        let before = self.trading.encrypt(&self.context, item)?;
        let (tenant, name) = (Name::default_tenant(), self.context.clone());
        let answer = self
            .serving
            .node()
            .carry_out(Order::KeyRotate { tenant, name })?;
        let Answer::KeyRotated { version } = answer else {
            return Err(Failure::broken(
                "a rotation was answered with something else",
            ));
        };
        let old = Open {
            ciphertext: &before.ciphertext,
            aad: None,
        };
        let opened = self.trading.decrypt(&self.context, old)?;
        let after = self.trading.encrypt(&self.context, item)?;
        let holds = opened.plaintext.expose() == item.plaintext
            && opened.key_version == before.key_version
            && after.key_version == version
            && version > before.key_version;
        if !holds {
            return Err(Failure::broken(
                "after the rotation old data or new versions are not as they should be",
            ));
        }
        fact(&format!(
            "version {} still opens, new data uses version {version}",
            before.key_version
        ));
        Ok(())
    }

    /// Verifies the log as it stands, then a copy with one changed byte.
    fn audit(&self, work: &Path) -> Result<(), Failure> {
        step(7, "verifying the audit log just written")?;
        self.serving.node().sign_head()?;
        let copy = work.join(AUDIT_COPY);
        copy_log(&self.home.join("audit"), &copy)?;
        let verifier = Verifier::new(Some(fingerprint(&self.home)?));
        let report = verifier
            .verify(&copy)
            .map_err(|error| Failure::broken(sentence(&error)))?;
        fact(&format!(
            "{} records and {} signed heads verify",
            report.records, report.heads
        ));
        let (file, offset) = flip_a_byte(&copy)?;
        match verifier.verify(&copy) {
            Err(AuditFailure::Finding(finding)) if finding.file == file => {
                fact(&format!(
                    "byte {offset} of a copy of {file} changed; the verifier says: {finding}"
                ));
            }
            Err(other) => return Err(Failure::broken(sentence(&other))),
            Ok(_) => return Err(Failure::broken("a changed audit log was verified")),
        }
        fs::remove_dir_all(&copy).map_err(|error| Failure::file(&copy, "removed", &error))
    }
}

/// Ends the program on Ctrl-C and takes half-made files along. The home itself needs no such care: it
/// stays whole whenever it is left.
fn leave_nothing_on_interrupt(revealed: Vec<PathBuf>, work: PathBuf) -> Result<(), Failure> {
    crate::signals::on_ending(move || {
        bulk::remove(&work);
        drop(fs::remove_dir_all(work.join(AUDIT_COPY)));
        message!("interrupted");
        // Last, because the steps go on until the exit: plaintext has no time to appear again.
        for path in &revealed {
            table::remove(path);
            table::remove(&path.with_extension("csv.part"));
            table::remove(&path.with_extension("csv.journal"));
        }
        std::process::exit(i32::from(Exit::Interrupted as u8));
    })
}

/// Settings for a client of the service at `address`.
pub(crate) fn settings(
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

fn connect(home: &Path, serving: &Serving, client: Option<&str>) -> Result<Client, Failure> {
    Ok(Client::connect(settings(
        home,
        serving.local_addr(),
        client,
    )?)?)
}

/// The outer error is ours, the inner one is what the service did.
fn connect_without_certificate(
    home: &Path,
    serving: &Serving,
) -> Result<Result<(), keywright_client::Error>, Failure> {
    let settings = settings(home, serving.local_addr(), None)?;
    // With TLS 1.3 the refusal may arrive only when something is asked.
    Ok(Client::connect(settings)
        .and_then(|client| client.health())
        .map(drop))
}

fn fingerprint(home: &Path) -> Result<Fingerprint, Failure> {
    let path = home.join(FINGERPRINT_FILE);
    let text = fs::read_to_string(&path).map_err(|error| Failure::file(&path, "read", &error))?;
    let bytes = keywright_encoding::hex::decode_array(text.trim());
    bytes
        .map(Fingerprint::from_bytes)
        .map_err(|_| Failure::broken(format!("{} holds no fingerprint", path.display())))
}

/// Copies a log that is being written. Heads go first: what they state was on the disk before them, so
/// the records that are copied afterwards hold at least that much.
fn copy_log(from: &Path, to: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::file(to, "written", &error);
    if to.exists() {
        fs::remove_dir_all(to).map_err(failed)?;
    }
    fs::create_dir_all(to).map_err(failed)?;
    for is_turn in [is_heads, |name: &str| !is_heads(name)] {
        // Listed anew for each, so that no file of records is missed that a copied head knows.
        for entry in fs::read_dir(from).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            if is_turn(&name.to_string_lossy()) {
                fs::copy(entry.path(), to.join(name)).map_err(failed)?;
            }
        }
    }
    Ok(())
}

fn is_heads(name: &str) -> bool {
    name.starts_with("heads-") && name.ends_with(".bin")
}

/// Changes one byte in the middle of the longest file of records.
fn flip_a_byte(folder: &Path) -> Result<(String, usize), Failure> {
    let failed = |error: std::io::Error| Failure::file(folder, "read", &error);
    let mut longest: Option<(u64, PathBuf)> = None;
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let length = entry.metadata().map_err(failed)?.len();
        let is_log = entry
            .path()
            .extension()
            .is_some_and(|extension| extension == "log");
        if is_log && longest.as_ref().is_none_or(|(other, _)| length > *other) {
            longest = Some((length, entry.path()));
        }
    }
    let (_, path) = longest.ok_or_else(|| Failure::broken("the audit folder holds no records"))?;
    let mut bytes = fs::read(&path).map_err(failed)?;
    let offset = bytes.len() / 2;
    if let Some(byte) = bytes.get_mut(offset) {
        *byte ^= 1;
    }
    fs::write(&path, bytes).map_err(failed)?;
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    Ok((name.unwrap_or_default(), offset))
}

fn farewell(home: &Path) -> Result<(), Failure> {
    // As it was typed, so that the lines can be typed again.
    let program = std::env::args()
        .next()
        .unwrap_or_else(|| "keywright".to_owned());
    let home = home.display();
    step(
        9,
        "next: start the service, use it from another terminal, check what it wrote",
    )?;
    progress_line!("  {program} serve --home {home}");
    progress_line!(
        "  curl --cacert {home}/ca.pem --cert {home}/clients/trading-1.pem --key {home}/clients/trading-1.key \\\n    \
         -d '{{\"plaintext\":\"SGVsbG8gV29ybGQh\"}}' https://localhost:8443/v1/contexts/exchange-key/encrypt"
    );
    progress_line!("  {program} audit verify --home {home}");
    crate::output::data(b"all steps held\n").map(drop)
}

/// Fails where standard output takes nothing, so that a demonstration that nobody can follow ends with its first step.
fn step(number: u8, text: &str) -> Result<(), Failure> {
    crate::output::data(format!("[{number}/9] {text}\n").as_bytes()).map(drop)
}

fn fact(text: &str) {
    progress_line!("      {text}");
}

/// Where the demonstration keeps its files in the home.
const WORK: &str = "demo";
/// The copy of the audit log in which a byte is changed.
const AUDIT_COPY: &str = "audit-copy";
