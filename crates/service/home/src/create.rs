//! A new home: made in a folder beside its place, and moved there whole.
//!
//! A creation that is cut short leaves a folder of another name and nothing at the place, so the next
//! try begins afresh.

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use keywright_audit::head::Fingerprint;
use keywright_clock::Clock;
use keywright_keystore::{Keystore, Root, ServiceKey};
use keywright_password::Profile;
use keywright_pkcs11::TokenRoot;
use keywright_policy::PolicyDocument;
use keywright_primitives::random::RandomStream;
use keywright_primitives::signature::SigningKey;
use keywright_secret::SecretBytes;
use keywright_store::{SqliteEngine, write_meta};
use keywright_types::{
    Algorithm, BindingKind, Custody, InstallationId, KeySpec, Name, PrincipalId,
};

use crate::config::{
    Audit, Clients, Compat, DataKeys, Limits, MemoryLock, RootPlace, Server, StoreSection,
};
use crate::files::{self, Readers, failed};
use crate::node::{META_AUDIT_KEY, META_NODE, META_ROW_KEY};
use crate::pki::{AUTHORITY, Pki, REVOCATION_LIST};
use crate::section::{LogSection, Token};
use crate::{Config, ConfigError, HomeError, ItemDetail, MemoryPlan, Node, Sync, token};

/// The configuration's name in a home.
pub const CONFIG_FILE: &str = "keywright.toml";
/// The audit signer's fingerprint, outside the log, for its verifier.
pub const FINGERPRINT_FILE: &str = "audit-signer.txt";

/// What a new home holds besides its root, authority and tenant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "two kinds of a start")]
pub enum Contents {
    /// Two contexts, two clients of two organisational units, and a policy that gives each one of them.
    Demo,
    /// No context, no client, no policy.
    Empty,
}

/// Where the root key of a new home is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there are these two places")]
pub enum NewRoot {
    /// In a file, under a generated password that is as dear to guess as this.
    File(Profile),
    /// In the token.
    Token,
}

/// What a new home is made of.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever makes a home decides each of these"
)]
pub struct Beginning {
    /// What it holds.
    pub contents: Contents,
    /// Where its root key is.
    pub root: NewRoot,
    /// Its token, with absolute paths: the home is made in another folder than it will stand in.
    pub token: Option<Token>,
    /// Where the keys of the demonstration's contexts are used.
    pub custody: Custody,
}

/// Makes a home at `folder` that has no token.
///
/// # Errors
/// As [`create_as`].
pub fn create(
    folder: &Path,
    contents: Contents,
    profile: Profile,
    clock: &Clock,
) -> Result<(), HomeError> {
    let beginning = Beginning {
        contents,
        root: NewRoot::File(profile),
        token: None,
        custody: Custody::Wrapped,
    };
    create_as(folder, &beginning, clock)
}

/// Makes a home at `folder`.
///
/// # Errors
/// [`HomeError::Occupied`] if there is something at the place; else [`HomeError`], and the place is as
/// it was. A root key that was made in a token is destroyed again then.
pub fn create_as(folder: &Path, beginning: &Beginning, clock: &Clock) -> Result<(), HomeError> {
    if occupied(folder) {
        return Err(HomeError::Occupied(folder.to_owned()));
    }
    let folder = &place(folder)?;
    let beside = beside(folder)?;
    let missing = missing_parents(folder);
    let made = make_folder(&beside).and_then(|()| fill(&beside, folder, beginning, clock));
    if made.is_err() {
        drop(std::fs::remove_dir_all(&beside));
        // Only those that this call has made, and only if nobody has put anything there since.
        missing
            .iter()
            .for_each(|parent| drop(std::fs::remove_dir(parent)));
    }
    made
}

/// Where the home will really be: behind a link, at the folder that it leads to. Not the working
/// directory, which would go away under the feet of whoever stands in it.
pub(crate) fn place(folder: &Path) -> Result<PathBuf, HomeError> {
    let Ok(real) = folder.canonicalize() else {
        return Ok(folder.to_owned());
    };
    if Path::new(".").canonicalize().is_ok_and(|here| here == real) {
        return Err(failed(
            folder,
            "written",
            std::io::ErrorKind::ResourceBusy.into(),
        ));
    }
    Ok(real)
}

/// The folders above the place that are not there yet, the deepest first.
pub(crate) fn missing_parents(folder: &Path) -> Vec<PathBuf> {
    let parents = folder.ancestors().skip(1);
    let missing = parents.take_while(|parent| !parent.as_os_str().is_empty() && !parent.exists());
    missing.map(Path::to_owned).collect()
}

pub(crate) fn move_to(beside: &Path, folder: &Path) -> std::io::Result<()> {
    // What is in the home must be durable before its name is.
    for inner in [&beside.join("clients"), beside] {
        std::fs::File::open(inner).and_then(|inner| inner.sync_all())?;
    }
    std::fs::rename(beside, folder).and_then(|()| files::sync_folder(folder))
}

pub(crate) fn occupied(folder: &Path) -> bool {
    match std::fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}

pub(crate) fn beside(folder: &Path) -> Result<PathBuf, HomeError> {
    let nameless = || failed(folder, "written", std::io::ErrorKind::InvalidInput.into());
    let name = folder.file_name().ok_or_else(nameless)?;
    let mut random = RandomStream::new()?;
    let suffix = keywright_encoding::hex::encode(&random.array::<4>()?);
    let mut beside = name.to_owned();
    beside.push(format!(".new-{suffix}"));
    Ok(folder.with_file_name(beside))
}

pub(crate) fn make_folder(folder: &Path) -> Result<(), HomeError> {
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .map_err(|source| failed(folder, "written", source))
}

/// Fills the folder beside the place and moves it there.
fn fill(
    beside: &Path,
    place: &Path,
    beginning: &Beginning,
    clock: &Clock,
) -> Result<(), HomeError> {
    let config = configuration(beginning);
    config.check()?;
    let pki = Pki::init(beside, clock.wall())?;
    pki.issue_server(clock.wall())?;
    make_folder(&beside.join("clients"))?;
    make_folder(&beside.join("audit"))?;
    let (keystore, in_token) = match beginning.root {
        NewRoot::File(profile) => (make_root_file(beside, profile, clock)?, None),
        NewRoot::Token => {
            let (keystore, root) = make_token_root(&beside.join(ROOT_IN_TOKEN), &config, clock)?;
            (keystore, Some(root))
        }
    };
    let finished = make_service_keys(beside, &keystore)
        .and_then(|()| finish(beside, (&config, beginning), &pki, clock))
        // Over an empty folder, if there is one: a rename replaces that in the same step.
        .and_then(|()| move_to(beside, place).map_err(|source| failed(place, "written", source)));
    if let (Err(_), Some(root)) = (&finished, in_token) {
        // A key that stays behind opens nothing.
        drop(root.destroy());
    }
    finished
}

/// Writes the configuration, and opens the home by it to put in what it begins with.
fn finish(
    folder: &Path,
    (config, beginning): (&Config, &Beginning),
    pki: &Pki,
    clock: &Clock,
) -> Result<(), HomeError> {
    let path = folder.join(CONFIG_FILE);
    #[expect(
        clippy::expect_used,
        reason = "a struct of strings and numbers always has a TOML form"
    )]
    let text = config.to_text().expect("a configuration has a text");
    files::write_new(&path, text.as_bytes(), Readers::Everyone)?;
    let node = Node::open(&path, clock.clone(), MemoryPlan::LeaveAlone)?;
    node.admin().create_tenant(&Name::default_tenant())?;
    if beginning.contents == Contents::Demo {
        make_demo(folder, (&node, demo_key(beginning.custody)), pki, clock)?;
    }
    node.shutdown()
}

/// What is fixed about the keys of the demonstration.
const fn demo_key(custody: Custody) -> KeySpec {
    let usual = KeySpec::seal();
    let algorithm = match custody {
        Custody::Token => Algorithm::TokenGcm12,
        _ => usual.algorithm,
    };
    KeySpec {
        algorithm,
        custody,
        ..usual
    }
}

/// The root in a file, under a generated password.
fn make_root_file(folder: &Path, profile: Profile, clock: &Clock) -> Result<Keystore, HomeError> {
    let mut random = RandomStream::new()?;
    let password = keywright_encoding::base64::encode(random.secret::<32>()?.expose());
    let password = SecretBytes::from_vec(password.into_bytes());
    let mut line = SecretBytes::zeroed(password.len() + 1);
    line.expose_mut()[..password.len()].copy_from_slice(password.expose());
    line.expose_mut()[password.len()] = b'\n';
    files::write_new(&folder.join(PASSWORD), line.expose(), Readers::Owner)?;
    let root = Root::create(&folder.join(ROOT_IN_FILE), &password, profile)?;
    Ok(Keystore::new(&root, MIN_SLOTS, clock.clone())?)
}

/// The root in the token, its description in a file; and the root once more, to take it back.
fn make_token_root(
    path: &Path,
    config: &Config,
    clock: &Clock,
) -> Result<(Keystore, TokenRoot), HomeError> {
    let needs = ConfigError::Needs {
        key: "token.module",
        because: "the root key is to be made in the token",
    };
    let section = config.token.as_ref().ok_or(needs)?;
    let sessions = token::open(section, clock)?;
    let installation = InstallationId::from_bytes(RandomStream::new()?.array()?);
    let root = TokenRoot::create(Arc::clone(&sessions), installation).map_err(HomeError::Token)?;
    let opened = files::write_new(path, &root.description(), Readers::Owner)
        .and_then(|()| token::open_root(&sessions, path))
        .and_then(|own| {
            Ok(Keystore::with_root(
                Box::new(own),
                MIN_SLOTS,
                clock.clone(),
            )?)
        });
    match opened {
        Ok(keystore) => Ok((keystore, root)),
        Err(error) => {
            drop(root.destroy());
            Err(error)
        }
    }
}

/// The service's own keys under the root, and the fingerprint of the one that signs.
fn make_service_keys(folder: &Path, keystore: &Keystore) -> Result<(), HomeError> {
    let mut random = RandomStream::new()?;
    let mut engine = SqliteEngine::open(&folder.join("store.sqlite"))?;
    let row_key = keystore.generate_service_key(ServiceKey::StoreRows)?;
    let audit_key = keystore.generate_service_key(ServiceKey::AuditSigning)?;
    write_meta(&mut engine, META_ROW_KEY.as_bytes(), &row_key)?;
    write_meta(&mut engine, META_AUDIT_KEY.as_bytes(), &audit_key)?;
    write_meta(&mut engine, META_NODE.as_bytes(), &random.array::<16>()?)?;
    let seed = keystore.open_service_key(ServiceKey::AuditSigning, &audit_key)?;
    let fingerprint = Fingerprint::of(&SigningKey::from_seed(&seed)?.verifying_key());
    let text = format!(
        "{}\n",
        keywright_encoding::hex::encode(fingerprint.as_bytes())
    );
    files::write_new(
        &folder.join(FINGERPRINT_FILE),
        text.as_bytes(),
        Readers::Everyone,
    )
}

/// The contexts, clients and policy of the demonstration.
fn make_demo(
    folder: &Path,
    (node, spec): (&Node, KeySpec),
    pki: &Pki,
    clock: &Clock,
) -> Result<(), HomeError> {
    let mut random = RandomStream::new()?;
    let tenant = Name::default_tenant();
    let mut text = String::from("version = 1\n");
    let anchor = keywright_encoding::hex::encode(&pki.authority().spki_sha256());
    for (name, unit, context, binding) in DEMO {
        let name_of_context: Name = context.parse()?;
        node.admin()
            .create_context(&tenant, &name_of_context, spec, binding)?;
        let principal = PrincipalId::from_bytes(random.array()?);
        let clients = folder.join("clients");
        pki.issue_client(&clients, (name, Some(unit)), Some(principal), clock.wall())?;
        text.push_str(&format!(
            "[[group]]\nname = \"{unit}\"\ntenant = \"default\"\n\
             [[principal]]\nid = \"{principal}\"\nname = \"{name}\"\ntenant = \"default\"\ngroup = \"{unit}\"\n\
             [[principal.rule]]\nanchors = [\"{anchor}\"]\nsan_uri = \"keywright:principal:{principal}\"\n\
             [[grant]]\nprincipals = [\"{name}\"]\ncontexts = [\"{context}\"]\n\
             operations = [\"encrypt\", \"decrypt\", \"rewrap\", \"datakey\", \"datakey-open\"]\n\
             [[grant]]\nprincipals = [\"{name}\"]\noperations = [\"random\", \"metrics-read\"]\n"
        ));
    }
    let document = PolicyDocument::parse(&text).map_err(keywright_service::AdminError::from)?;
    node.admin().apply_policy(document)?;
    Ok(())
}

/// Client, organisational unit, context, and what the context's envelopes are bound to: one shared by
/// its unit, one private to its client, as in the seed service.
const DEMO: [(&str, &str, &str, BindingKind); 2] = [
    ("trading-1", "Trading", "exchange-key", BindingKind::Group),
    ("web-2fa-1", "2FA", "2fa", BindingKind::Principal),
];

fn configuration(beginning: &Beginning) -> Config {
    let (root_key, root, password_file) = match beginning.root {
        NewRoot::File(_) => (RootPlace::File, ROOT_IN_FILE, Some(PASSWORD.into())),
        NewRoot::Token => (RootPlace::Token, ROOT_IN_TOKEN, None),
    };
    Config {
        version: 1,
        server: Server {
            listen: ([127, 0, 0, 1], 8443).into(),
            threads: 0,
            certificate: "server.pem".into(),
            key: "server.key".into(),
            timing: false,
        },
        clients: Clients {
            authorities: AUTHORITY.into(),
            revocation_lists: REVOCATION_LIST.into(),
            roster: None,
            follow: false,
        },
        store: StoreSection {
            file: "store.sqlite".into(),
        },
        keystore: crate::Keystore {
            root_key,
            root: root.into(),
            password_file,
            unwrapped_keys: 16_384,
            memory_lock: MemoryLock::Try,
        },
        token: beginning.token.clone(),
        audit: Audit {
            directory: "audit".into(),
            sync: Sync::Grouped,
            items: ItemDetail::Groups,
            store_at_head: None,
        },
        limits: Limits::default(),
        data_keys: DataKeys::default(),
        log: LogSection::default(),
        admin: None,
        probe: None,
        compat: Compat::default(),
        telemetry: None,
    }
}

pub(crate) const ROOT_IN_FILE: &str = "root.kwf";
pub(crate) const PASSWORD: &str = "root.password";
pub(crate) const ROOT_IN_TOKEN: &str = "root.token";
/// Enough for the keys of a creation.
const MIN_SLOTS: usize = 64;
