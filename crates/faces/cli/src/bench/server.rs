//! Servers under measurement: processes of their own, stopped when the measurement ends.

use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_home::{Contents, Profile};

use super::OpArguments;
use crate::exit::{Exit, Failure};

/// What a server does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Somebody else's bare handler.
    Floor,
    /// The whole service.
    Keys,
    /// Constant answers.
    Null,
}

/// A folder for the measurement.
pub(crate) struct Work {
    folder: PathBuf,
    remove: bool,
}

impl Work {
    pub(crate) fn prepare(wanted: Option<&Path>) -> Result<Self, Failure> {
        let (folder, remove) = match wanted {
            Some(folder) => (folder.to_owned(), false),
            None => (
                std::env::temp_dir().join(format!("keywright-bench-{}", std::process::id())),
                true,
            ),
        };
        std::fs::create_dir_all(&folder)
            .map_err(|error| Failure::file(&folder, "written", &error))?;
        let work = Self { folder, remove };
        let home = work.home();
        if !home.join(keywright_home::CONFIG_FILE).exists() {
            keywright_home::create(&home, Contents::Demo, Profile::Fast, &Clock::system())?;
        }
        Ok(work)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.join("home")
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        if self.remove {
            drop(std::fs::remove_dir_all(&self.folder));
        }
    }
}

/// What every target of a run is made from.
#[derive(Clone, Copy)]
pub(crate) struct Bench<'a> {
    pub(crate) arguments: &'a OpArguments,
    pub(crate) work: &'a Work,
}

impl Bench<'_> {
    /// A server of this role, on a free port of loopback.
    pub(crate) fn server(&self, role: Role) -> Result<Rc<Server>, Failure> {
        // One per role: the operations of a role share it, as clients of one service would.
        thread_local! {
            static RUNNING: std::cell::RefCell<Vec<(Role, std::rc::Weak<Server>)>> = const { std::cell::RefCell::new(Vec::new()) };
        }
        let known = RUNNING.with_borrow(|running| {
            running
                .iter()
                .filter(|(other, _)| *other == role)
                .find_map(|(_, server)| server.upgrade())
        });
        if let Some(server) = known {
            return Ok(server);
        }
        let server = Rc::new(Server::start(self, role)?);
        RUNNING.with_borrow_mut(|running| running.push((role, Rc::downgrade(&server))));
        Ok(server)
    }
}

/// A command that runs `program`, pinned as asked.
fn pinned(cpu: Option<u32>, program: &Path) -> Command {
    match cpu {
        None => Command::new(program),
        Some(cpu) => {
            let mut command = Command::new("taskset");
            command.arg("-c").arg(cpu.to_string()).arg(program);
            command
        }
    }
}

/// A server process.
pub(crate) struct Server {
    child: Child,
    address: SocketAddr,
    home: PathBuf,
    role: Role,
}

impl Server {
    fn start(bench: &Bench<'_>, role: Role) -> Result<Self, Failure> {
        let home = bench.work.home();
        match role {
            Role::Floor => Self::start_floor(bench, home),
            Role::Keys | Role::Null => Self::start_own(bench.arguments.server_cpu, home, role),
        }
    }

    /// Our own server in `home`; it says on its first line where it listens.
    pub(crate) fn start_own(cpu: Option<u32>, home: PathBuf, role: Role) -> Result<Self, Failure> {
        let program =
            std::env::current_exe().map_err(|error| Failure::broken(error.to_string()))?;
        let mut command = pinned(cpu, &program);
        command
            .arg("serve")
            .arg("--home")
            .arg(&home)
            .args(["--listen", "127.0.0.1:0"]);
        if role == Role::Null {
            command.arg("--null");
        }
        let mut child = spawn(command.stdout(Stdio::piped()).stderr(Stdio::null()))?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            drop(BufReader::new(stdout.take(4096)).read_line(&mut line));
        }
        let address = line
            .trim()
            .strip_prefix("listening on https://")
            .and_then(|text| text.parse().ok());
        let Some(address) = address else {
            drop(child.kill());
            return Err(Failure::new(
                Exit::Target,
                "the server under measurement did not start",
                format!("see why: keywright serve --home {}", home.display()),
            ));
        };
        Ok(Self {
            child,
            address,
            home,
            role,
        })
    }

    fn start_floor(bench: &Bench<'_>, home: PathBuf) -> Result<Self, Failure> {
        let program = bench.arguments.floor.as_ref().ok_or_else(|| {
            Failure::new(
                Exit::Usage,
                "service.floor needs a program",
                "name it: --floor PROGRAM",
            )
        })?;
        // The port is free when it is let go of; nobody else on this machine is asking for ports now.
        let address = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let address = address.map_err(|error| Failure::broken(error.to_string()))?;
        let mut command = pinned(bench.arguments.server_cpu, program);
        command.arg(address.to_string());
        command.args(["ca.pem", "server.pem", "server.key"].map(|name| home.join(name)));
        let child = spawn(command.stdout(Stdio::null()).stderr(Stdio::null()))?;
        let server = Self {
            child,
            address,
            home,
            role: Role::Floor,
        };
        for _ in 0..100 {
            if std::net::TcpStream::connect(address).is_ok() {
                return Ok(server);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(Failure::new(
            Exit::Target,
            "the floor program does not listen",
            "run it by hand to see why",
        ))
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    pub(crate) const fn role(&self) -> Role {
        self.role
    }

    /// Processor time of all threads so far, in nanoseconds.
    pub(crate) fn cpu_ns(&self) -> Result<u64, Failure> {
        let folder = PathBuf::from(format!("/proc/{}/task", self.child.id()));
        let failed = |error: std::io::Error| Failure::file(&folder, "read", &error);
        let mut total = 0;
        for task in std::fs::read_dir(&folder).map_err(failed)? {
            let path = task.map_err(failed)?.path().join("schedstat");
            // A thread that has just ended has no file any more.
            let text = std::fs::read_to_string(path).unwrap_or_default();
            total += text
                .split(' ')
                .next()
                .and_then(|first| first.parse::<u64>().ok())
                .unwrap_or(0);
        }
        Ok(total)
    }

    /// Resident memory in bytes.
    pub(crate) fn resident(&self) -> Result<u64, Failure> {
        let path = PathBuf::from(format!("/proc/{}/status", self.child.id()));
        let text =
            std::fs::read_to_string(&path).map_err(|error| Failure::file(&path, "read", &error))?;
        let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line
            .and_then(|line| line.split_whitespace().next())
            .and_then(|kib| kib.parse::<u64>().ok());
        kib.map(|kib| kib << 10)
            .ok_or_else(|| Failure::broken("the system does not say how much memory is resident"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn spawn(command: &mut Command) -> Result<Child, Failure> {
    command.stdin(Stdio::null()).spawn().map_err(|error| {
        let happened = format!(
            "{} cannot be started: {error}",
            command.get_program().display()
        );
        Failure::new(Exit::Usage, happened, "check that it is installed")
    })
}
