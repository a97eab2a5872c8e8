//! A real server in development mode, started for a measurement and stopped after it.
//!
//! Both products have a mode that keeps everything in memory, is unsealed from the start and, with
//! `-dev-tls`, makes certificates of its own. The root token is handed over in the environment, never as
//! an argument, which other users of the machine can read. What the server prints is thrown away: it
//! prints its unseal key.

use std::ffi::OsStr;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use keywright_clock::Clock;
use keywright_encoding::hex;
use keywright_measure::TargetError;
use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;
use serde_json::json;

use super::session::Session;
use super::settings::{Origin, Settings};

/// The programs, in the order in which they are looked for.
const PROGRAMS: [&str; 2] = ["bao", "vault"];
/// How often and how long an answer is waited for.
const STEP: Duration = Duration::from_millis(100);
const STEPS: u32 = 200;

/// The first of the two products' programs in the folders of `path`, which is what the environment calls
/// `PATH`.
#[must_use]
pub fn find(path: &OsStr) -> Option<PathBuf> {
    let candidates = PROGRAMS.iter().flat_map(|program| {
        let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
        folders.map(move |folder| folder.join(program))
    });
    candidates.into_iter().find(|file| is_program(file))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

/// A server in development mode. Dropping it stops it.
#[derive(Debug)]
pub struct Development {
    child: Child,
    settings: Settings,
}

impl Development {
    /// Starts `program` on a free port of loopback, with its certificates in `folder`, and mounts the
    /// engines that it does not have from the start.
    ///
    /// # Errors
    /// [`TargetError::System`] if it cannot be started, [`TargetError::Unreachable`] if it ends or does
    /// not answer within 20 seconds.
    pub fn start(program: &Path, folder: &Path, clock: &Clock) -> Result<Self, TargetError> {
        let name = program
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let token = token()?;
        let port = free_port()?;
        let mut child = Self::spawn(program, folder, port, &token)?;
        let ready = || -> Result<Settings, TargetError> {
            let roots = wait_for_roots(&mut child, folder, &name)?;
            let url = format!("https://127.0.0.1:{port}");
            Ok(Settings::new(&name, &url, token, &roots)
                .with_clock(clock.clone())
                .with_process(child.id())
                .from(Origin::Development))
        };
        let settings = match ready() {
            Ok(settings) => settings,
            Err(error) => {
                end(&mut child);
                return Err(error);
            }
        };
        let mut server = Self { child, settings };
        server.mount()?;
        Ok(server)
    }

    fn spawn(
        program: &Path,
        folder: &Path,
        port: u16,
        token: &SecretBytes,
    ) -> Result<Child, TargetError> {
        let text = String::from_utf8_lossy(token.expose()).into_owned();
        let mut tls = std::ffi::OsString::from("-dev-tls-cert-dir=");
        tls.push(folder);
        Command::new(program)
            .args(["server", "-dev", "-dev-tls", "-dev-no-store-token"])
            .arg(format!("-dev-listen-address=127.0.0.1:{port}"))
            .arg(tls)
            .env("VAULT_DEV_ROOT_TOKEN_ID", &text)
            .env("BAO_DEV_ROOT_TOKEN_ID", &text)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| system(&format!("{} does not start: {error}", program.display())))
    }

    /// Waits until it answers, then mounts.
    fn mount(&mut self) -> Result<(), TargetError> {
        let mut session = self.connected()?;
        let mounts = self.settings.mounts.clone();
        for (path, body) in [
            (
                mounts.kv1,
                json!({ "type": "kv", "options": { "version": "1" } }),
            ),
            (mounts.transit, json!({ "type": "transit" })),
        ] {
            let request = session.post(&format!("sys/mounts/{path}"), &body)?;
            session.want(&request)?;
        }
        Ok(())
    }

    fn connected(&mut self) -> Result<Session, TargetError> {
        let mut last = self.settings.unreachable("it did not answer in time");
        for _ in 0..STEPS {
            match Session::open(&self.settings, "vault") {
                Ok(mut session) => {
                    let health = session.get("sys/health")?;
                    if session
                        .ask(&health)
                        .is_ok_and(|reply| reply.status.is_success())
                    {
                        return Ok(session);
                    }
                }
                Err(error) => last = error,
            }
            if !is_running(&mut self.child) {
                return Err(self.settings.unreachable("it ended"));
            }
            std::thread::sleep(STEP);
        }
        Err(last)
    }

    /// Settings that reach it.
    #[must_use]
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }
}

impl Drop for Development {
    fn drop(&mut self) {
        end(&mut self.child);
    }
}

fn end(child: &mut Child) {
    // It may have ended by itself.
    let _ = child.kill();
    let _ = child.wait();
}

fn is_running(child: &mut Child) -> bool {
    matches!(child.try_wait(), Ok(None))
}

/// The authority's certificate that the server writes. Its name differs between products and versions,
/// its end does not.
fn wait_for_roots(child: &mut Child, folder: &Path, name: &str) -> Result<Vec<u8>, TargetError> {
    for _ in 0..STEPS {
        if let Some(roots) = roots_in(folder) {
            return Ok(roots);
        }
        if !is_running(child) {
            break;
        }
        std::thread::sleep(STEP);
    }
    Err(TargetError::Unreachable {
        target: name.to_owned(),
        reason: "it made no certificates; does it know -dev-tls?".to_owned(),
    })
}

fn roots_in(folder: &Path) -> Option<Vec<u8>> {
    let files = std::fs::read_dir(folder).ok()?.flatten();
    let is_it = |name: &OsStr| name.to_string_lossy().ends_with("-ca.pem");
    let file = files.into_iter().find(|file| is_it(&file.file_name()))?;
    let pem = std::fs::read(file.path()).ok()?;
    // It may be looked at while it is being written.
    let whole = pem.trim_ascii_end().ends_with(b"-----END CERTIFICATE-----");
    whole.then_some(pem)
}

fn token() -> Result<SecretBytes, TargetError> {
    let random = RandomStream::new().and_then(|mut stream| stream.secret::<16>());
    let random = random.map_err(|error| system(&error.to_string()))?;
    Ok(SecretBytes::from_vec(
        hex::encode(random.expose()).into_bytes(),
    ))
}

/// A port that was free a moment ago. Somebody may take it before the server does, which then ends.
fn free_port() -> Result<u16, TargetError> {
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|bound| bound.local_addr());
    address
        .map(|address| address.port())
        .map_err(|error| system(&format!("no free port: {error}")))
}

fn system(reason: &str) -> TargetError {
    TargetError::System(reason.to_owned())
}
