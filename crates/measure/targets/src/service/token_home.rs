//! A home whose contexts are in a token: SoftHSM, with a store of its own beside the home.
//!
//! SoftHSM reads where its store is from the environment of the process that loads it, so home and store are
//! made by programs of their own, and the server is started with that variable.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use keywright_home::CONFIG_FILE;
use keywright_measure::TargetError;

use super::access::NAME;

/// The home in this folder. Made if it is missing, with `program`.
///
/// # Errors
/// [`TargetError::Unsupported`] without SoftHSM; [`TargetError::System`] if something cannot be made.
pub fn token_home(folder: &Path, program: &Path) -> Result<PathBuf, TargetError> {
    let home = folder.join("home-token");
    if home.join(CONFIG_FILE).exists() {
        return Ok(home);
    }
    let module = MODULES.iter().map(Path::new).find(|path| path.exists());
    let module = module.ok_or_else(|| TargetError::Unsupported {
        target: NAME.to_owned(),
        operation: "an operation in a token".to_owned(),
        reason: "SoftHSM is not installed (scripts/setup test-all installs it)".to_owned(),
    })?;
    let store = store_of(&home);
    make_store(&store).map_err(|error| TargetError::System(format!("no token store: {error}")))?;
    run(with_store(&mut Command::new("softhsm2-util"), &home)
        .args(["--init-token", "--free", "--label", LABEL])
        .args(["--so-pin", PIN, "--pin", PIN]))?;
    run(with_store(&mut Command::new(program), &home)
        .args([
            "admin",
            "init",
            "--demo",
            "--custody",
            "token",
            "--profile",
            "fast",
        ])
        .args(["--token-label", LABEL, "--home"])
        .arg(&home)
        .arg("--token-module")
        .arg(module)
        .arg("--token-pin-file")
        .arg(store.join(PIN_FILE)))?;
    Ok(home)
}

/// Tells a program where the store of this home's token is.
pub(super) fn with_store<'a>(command: &'a mut Command, home: &Path) -> &'a mut Command {
    command.env("SOFTHSM2_CONF", store_of(home).join(CONF))
}

fn store_of(home: &Path) -> PathBuf {
    home.with_extension("store")
}

fn make_store(store: &Path) -> std::io::Result<()> {
    let tokens = store.join("tokens");
    fs::create_dir_all(&tokens)?;
    let text = format!(
        "objectstore.backend = file\nlog.level = ERROR\ndirectories.tokendir = {}\n",
        std::path::absolute(&tokens)?.display()
    );
    fs::write(store.join(CONF), text)?;
    let mut pin = OpenOptions::new();
    let mut pin = pin
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(store.join(PIN_FILE))?;
    writeln!(pin, "{PIN}")
}

fn run(command: &mut Command) -> Result<(), TargetError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output();
    let output = output
        .map_err(|error| TargetError::System(format!("{program} does not start: {error}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(TargetError::System(format!(
        "{program} failed: {}",
        said.trim()
    )))
}

/// Where distributions put it.
const MODULES: [&str; 5] = [
    "/usr/lib/softhsm/libsofthsm2.so",
    "/usr/lib/x86_64-linux-gnu/softhsm/libsofthsm2.so",
    "/usr/lib/aarch64-linux-gnu/softhsm/libsofthsm2.so",
    "/usr/lib64/pkcs11/libsofthsm2.so",
    "/usr/local/lib/softhsm/libsofthsm2.so",
];
const LABEL: &str = "keywright-bench";
/// It guards nothing: keys of a measurement.
const PIN: &str = "bench-1234";
const PIN_FILE: &str = "pin";
const CONF: &str = "softhsm2.conf";
