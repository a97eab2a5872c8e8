//! The development certificate authority of a home: for a start and for tests, not for a company.
//!
//! Its key lies in the home folder beside everything else. A company's own authority takes its place by
//! two lines of the configuration (`clients.authorities`, `clients.revocation_lists`).

use std::path::{Path, PathBuf};
use std::time::Duration;

use keywright_clock::{Clock, WallTime};
use keywright_tls::issue::{Authority, ClientSubject, Issued, Reason, Revoked};
use keywright_tls::{ClientTrust, Summary, certificates, describe_certificate};
use keywright_types::PrincipalId;

use crate::HomeError;
use crate::files::{self, Readers};

/// The authority of a home.
#[derive(Debug)]
pub struct Pki {
    folder: PathBuf,
    authority: Authority,
}

impl Pki {
    /// Makes an authority with an empty revocation list in `folder`.
    ///
    /// # Errors
    /// [`HomeError::Exists`] if a file of these names is there; [`HomeError::File`], [`HomeError::Tls`].
    pub fn init(folder: &Path, now: WallTime) -> Result<Self, HomeError> {
        let authority = Authority::create("Keywright development CA", now, AUTHORITY_LIFE)?;
        let list = authority.revocation_list(&[], 1, now, now.plus(LIST_LIFE))?;
        let write = |name: &str, bytes: &[u8], readers| {
            files::write_new(&folder.join(name), bytes, readers)
        };
        write(
            AUTHORITY,
            authority.certificate_pem().as_bytes(),
            Readers::Everyone,
        )?;
        write(AUTHORITY_KEY, authority.key_pem().expose(), Readers::Owner)?;
        write(REVOCATION_LIST, list.as_bytes(), Readers::Everyone)?;
        Ok(Self {
            folder: folder.to_owned(),
            authority,
        })
    }

    /// Opens the authority in `folder`.
    ///
    /// # Errors
    /// [`HomeError::File`], [`HomeError::Tls`].
    pub fn open(folder: &Path) -> Result<Self, HomeError> {
        let certificate = files::read(&folder.join(AUTHORITY))?;
        let key =
            keywright_secret::SecretBytes::from_vec(files::read(&folder.join(AUTHORITY_KEY))?);
        let authority = Authority::from_pem(&certificate, key.expose())?;
        Ok(Self {
            folder: folder.to_owned(),
            authority,
        })
    }

    /// The authority.
    #[must_use]
    pub const fn authority(&self) -> &Authority {
        &self.authority
    }

    /// Issues the server's certificate for loopback and writes it.
    ///
    /// # Errors
    /// [`HomeError::File`], [`HomeError::Tls`].
    pub fn issue_server(&self, now: WallTime) -> Result<(), HomeError> {
        let addresses = [[127, 0, 0, 1].into(), std::net::Ipv6Addr::LOCALHOST.into()];
        let issued = self
            .authority
            .issue_server(&["localhost"], &addresses, now, LEAF_LIFE)?;
        write_pair(&self.folder, "server", &issued)
    }

    /// Issues a client's certificate and writes `<name>.pem` and `<name>.key` into `folder`.
    ///
    /// # Errors
    /// [`HomeError::Exists`] if the files are there; [`HomeError::File`], [`HomeError::Tls`].
    pub fn issue_client(
        &self,
        folder: &Path,
        (name, unit): (&str, Option<&str>),
        principal: Option<PrincipalId>,
        now: WallTime,
    ) -> Result<(), HomeError> {
        // The name becomes that of two files.
        let checked: keywright_types::Name = name.parse()?;
        let name = checked.as_str();
        let subject = ClientSubject {
            common_name: name,
            organizational_unit: unit,
            principal,
        };
        let issued = self.authority.issue_client(&subject, now, LEAF_LIFE)?;
        write_pair(folder, name, &issued)
    }

    /// Puts a certificate on the revocation list. The list is replaced in one step; a running node
    /// must be told to read it.
    ///
    /// # Errors
    /// [`HomeError::NotIssuedHere`], [`HomeError::File`], [`HomeError::Tls`].
    pub fn revoke(
        &self,
        certificate: &Path,
        reason: Reason,
        now: WallTime,
    ) -> Result<(), HomeError> {
        let pem = files::read(certificate)?;
        let summary = describe_certificate(&pem)?;
        self.check_issuer(&pem, &summary)?;
        let path = self.folder.join(REVOCATION_LIST);
        // Of two revocations at once each must see what the other wrote. Released when it is dropped.
        let authority = self.folder.join(AUTHORITY);
        let _alone = std::fs::File::open(&authority)
            .and_then(|file| file.lock().map(|()| file))
            .map_err(|source| files::failed(&authority, "read", source))?;
        let mut list = self.authority.read_revocation_list(&files::read(&path)?)?;
        let serial = keywright_encoding::hex::decode(&summary.serial)
            .map_err(|_| HomeError::NotIssuedHere)?;
        if !list.revoked.iter().any(|known| known.serial == serial) {
            list.revoked.push(Revoked {
                serial,
                at: now,
                reason,
            });
        }
        let next = now.plus(LIST_LIFE);
        let pem = self.authority.revocation_list(
            &list.revoked,
            list.number.saturating_add(1),
            now,
            next,
        )?;
        files::replace(&path, pem.as_bytes(), Readers::Everyone)
    }

    /// Every authority made here has the same name, so only the signature tells whose client it is. It is
    /// looked at as of the client's first day and against an empty list: who is expired or revoked was
    /// issued all the same.
    fn check_issuer(&self, pem: &[u8], client: &Summary) -> Result<(), HomeError> {
        let then = client.not_before;
        let none = self
            .authority
            .revocation_list(&[], 1, then, then.plus(LIST_LIFE))?;
        let own = self.authority.certificate_pem().as_bytes();
        let trust = ClientTrust::new(own, none.as_bytes(), Clock::system())?;
        trust
            .verify(&certificates(pem)?, then)
            .map(drop)
            .map_err(|_| HomeError::NotIssuedHere)
    }
}

fn write_pair(folder: &Path, name: &str, issued: &Issued) -> Result<(), HomeError> {
    let key = folder.join(format!("{name}.key"));
    files::write_new(&key, issued.key_pem.expose(), Readers::Owner)?;
    let certificate = folder.join(format!("{name}.pem"));
    let written = files::write_new(
        &certificate,
        issued.certificate_pem.as_bytes(),
        Readers::Everyone,
    );
    written.inspect_err(|_| {
        // A key without its certificate is of no use and would stand in the way of the next try.
        drop(std::fs::remove_file(&key));
    })
}

/// The authority's certificate.
pub const AUTHORITY: &str = "ca.pem";
/// The authority's private key.
pub const AUTHORITY_KEY: &str = "ca.key";
/// The revocation list.
pub const REVOCATION_LIST: &str = "crl.pem";

const DAY: Duration = Duration::from_secs(86_400);
const AUTHORITY_LIFE: Duration = DAY.saturating_mul(3650);
const LEAF_LIFE: Duration = DAY.saturating_mul(397);
/// Past this a node refuses every client until the list is written anew.
const LIST_LIFE: Duration = DAY.saturating_mul(397);
