//! The content of a backup, between its signer and its signature (docs/formats.md, "Backup").
//!
//! ```text
//! created u64 (ms) | lp(newest audit head)
//!   | lp(configuration) | lp(root file) | lp(server's certificates) | lp(trust anchors) | lp(revocation lists)
//!   | per table, in the order meta, tenants, ... , intents: count u64 | rows in the order of their keys
//! row:  lp(key) | tenant 16 | revision u64 | epoch u64 | lp(body) | MAC 32
//! ```
//!
//! One text for one content, and nothing behind it. Not here: whether any of it is true.

use keywright_audit::head::SignedHead;
use keywright_clock::WallTime;
use keywright_encoding::{Reader, TooLong, Truncated, put_lp};
use keywright_store::{Engine as _, Image, Row, Table};
use keywright_types::TenantId;

/// A backup in the open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    pub(crate) created: WallTime,
    pub(crate) head: SignedHead,
    pub(crate) files: HomeFiles,
    pub(crate) image: Image,
}

/// The files of a home that are no secrets in the open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct HomeFiles {
    /// `keywright.toml`, as it was written.
    pub(crate) configuration: Vec<u8>,
    /// The root file, under its password; for a root in a token, its description.
    pub(crate) root: Vec<u8>,
    pub(crate) certificates: Vec<u8>,
    pub(crate) anchors: Vec<u8>,
    pub(crate) lists: Vec<u8>,
}

/// The bytes are no content of this version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed;

impl Content {
    pub(crate) fn put(&self, out: &mut Vec<u8>) -> Result<(), TooLong> {
        out.extend_from_slice(&self.created.unix_millis().to_be_bytes());
        put_lp(out, &self.head.to_bytes())?;
        for file in self.files.all() {
            put_lp(out, file)?;
        }
        for table in Table::ALL {
            let count = self.image.table(table).count() as u64;
            out.extend_from_slice(&count.to_be_bytes());
            for row in self.image.table(table) {
                put_row(out, row)?;
            }
        }
        Ok(())
    }

    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let created = millis(reader.u64()?)?;
        let head = SignedHead::from_bytes(reader.lp()?).map_err(|_| Malformed)?;
        let files = HomeFiles {
            configuration: reader.lp()?.to_vec(),
            root: reader.lp()?.to_vec(),
            certificates: reader.lp()?.to_vec(),
            anchors: reader.lp()?.to_vec(),
            lists: reader.lp()?.to_vec(),
        };
        let mut rows = Vec::new();
        for table in Table::ALL {
            read_table(&mut reader, table, &mut rows)?;
        }
        if !reader.is_empty() {
            return Err(Malformed);
        }
        let image = Image::new(rows).map_err(|_| Malformed)?;
        Ok(Self {
            created,
            head,
            files,
            image,
        })
    }

    /// The state epoch of the moment that it is of.
    pub(crate) fn epoch(&self) -> u64 {
        self.image.epoch().unwrap_or(u64::MAX)
    }
}

impl HomeFiles {
    fn all(&self) -> [&[u8]; 5] {
        [
            &self.configuration,
            &self.root,
            &self.certificates,
            &self.anchors,
            &self.lists,
        ]
    }
}

fn put_row(out: &mut Vec<u8>, row: &Row) -> Result<(), TooLong> {
    put_lp(out, &row.key)?;
    out.extend_from_slice(row.tenant.as_bytes());
    out.extend_from_slice(&row.revision.to_be_bytes());
    out.extend_from_slice(&row.epoch.to_be_bytes());
    put_lp(out, &row.body)?;
    out.extend_from_slice(&row.mac);
    Ok(())
}

/// The rows of a table, whose keys rise.
fn read_table(
    reader: &mut Reader<'_>,
    table: Table,
    rows: &mut Vec<(Table, Row)>,
) -> Result<(), Malformed> {
    let count = reader.u64()?;
    let mut last: Option<Vec<u8>> = None;
    // Nothing is laid out for a count: each row has to be there.
    for _ in 0..count {
        let key = reader.lp()?.to_vec();
        if last.as_ref().is_some_and(|last| *last >= key) {
            return Err(Malformed);
        }
        let row = Row {
            tenant: TenantId::from_bytes(*reader.array()?),
            revision: reader.u64()?,
            epoch: reader.u64()?,
            body: reader.lp()?.to_vec(),
            mac: *reader.array()?,
            key: key.clone(),
        };
        last = Some(key);
        rows.push((table, row));
    }
    Ok(())
}

/// Times that our clock can have.
fn millis(millis: u64) -> Result<WallTime, Malformed> {
    let time = WallTime::from_unix_millis(millis);
    match time.unix_millis() == millis {
        true => Ok(time),
        false => Err(Malformed),
    }
}

impl From<Truncated> for Malformed {
    fn from(_: Truncated) -> Self {
        Self
    }
}
