//! The tokens that tests know, and where they are.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A token in software.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a test that treats one of them apart must say what holds for each"
)]
pub enum Kind {
    /// Kryoptic: PKCS#11 3.2, objects in SQLite. Built by `scripts/tokens`.
    Kryoptic,
    /// SoftHSM 2: PKCS#11 2.40, one file for each object. A package of the distribution.
    SoftHsm,
}

/// Why there is no such token here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing(&'static str);

impl Missing {
    pub(super) const fn new(reason: &'static str) -> Self {
        Self(reason)
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Kind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Kryoptic, Self::SoftHsm];

    /// One word, for names of tests and files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kryoptic => "kryoptic",
            Self::SoftHsm => "softhsm",
        }
    }

    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The variable that names the configuration file, read by the module when it is initialised.
    #[must_use]
    pub const fn variable(self) -> &'static str {
        match self {
            Self::Kryoptic => "KRYOPTIC_CONF",
            Self::SoftHsm => "SOFTHSM2_CONF",
        }
    }

    /// The module that applications load.
    ///
    /// # Errors
    /// [`Missing`] without it, or without the program that initialises such a token.
    pub fn module(self) -> Result<PathBuf, Missing> {
        let (module, program) = match self {
            Self::Kryoptic => (kryoptic(), PKCS11_TOOL),
            Self::SoftHsm => (softhsm(), SOFTHSM2_UTIL),
        };
        let module = module.ok_or(Missing(match self {
            Self::Kryoptic => "no libkryoptic_pkcs11.so, which scripts/tokens builds",
            Self::SoftHsm => "no libsofthsm2.so of the package softhsm2",
        }))?;
        if !runs(program) {
            return Err(Missing(match self {
                Self::Kryoptic => "no pkcs11-tool of the package opensc",
                Self::SoftHsm => "no softhsm2-util of the package softhsm2",
            }));
        }
        Ok(module)
    }
}

pub(super) const PKCS11_TOOL: &str = "pkcs11-tool";
pub(super) const SOFTHSM2_UTIL: &str = "softhsm2-util";

fn kryoptic() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().ok()?;
    Some(root.join("target/foreign/libkryoptic_pkcs11.so")).filter(|module| module.is_file())
}

/// Where distributions put it; some use a folder named after the architecture.
fn softhsm() -> Option<PathBuf> {
    let fixed = ["/usr/lib", "/usr/lib64", "/usr/local/lib"].map(PathBuf::from);
    let architectures = std::fs::read_dir("/usr/lib").into_iter().flatten();
    let architectures = architectures.filter_map(|entry| Some(entry.ok()?.path()));
    fixed
        .into_iter()
        .chain(architectures)
        .flat_map(|folder| ["softhsm/libsofthsm2.so", "libsofthsm2.so"].map(|end| folder.join(end)))
        .find(|module| module.is_file())
}

/// Whether there is such a program. What it answers does not matter.
pub(super) fn runs(program: impl AsRef<OsStr>) -> bool {
    Command::new(program)
        .arg("--help")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok()
}
