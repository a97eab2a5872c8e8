//! A new home of a backup, whole or not at all.
//!
//! Nothing is written before the signature, the configuration and the rows hold: see `settings` and `proof`. Then the
//! home is made in a folder beside its place: files, the log if there is one, then one order that begins in the log, is
//! carried out in an empty store, and ends in the log. The folder takes its place when all of it was checked as a
//! start checks it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use keywright_audit::field::Field;
use keywright_audit::head::Fingerprint;
use keywright_audit::log::{Identity, Keys, Log, Settings, SyncMode};
use keywright_audit::record::{Facts, Record};
use keywright_audit::replay::{self, Change, Later};
use keywright_audit::verify::{Failure as Verdict, Verifier};
use keywright_audit::{AuditError, Evidence, Fault, Reason, RecordType, Room};
use keywright_clock::Clock;
use keywright_custody::rows::restore::{RecordedRow, Rows, Told, Trust};
use keywright_encoding::hex;
use keywright_keystore::Keystore;
use keywright_primitives::random::RandomStream;
use keywright_service::{POLICY_ROW, TRUST_ROW, clock_in_doubt};
use keywright_store::{Proven, SqliteEngine, Table};
use keywright_types::{Code, NodeId, Operation, RequestId, TenantId};
use serde::Serialize;

use super::place::{Plan, Site, lay_out};
use super::proof::Proof;
use super::{Backup, BackupError, Content};
use crate::HomeError;
use crate::check::rows as check_rows;
use crate::create::{
    FINGERPRINT_FILE, beside, make_folder, missing_parents, move_to, occupied, place,
};
use crate::doors::{self, Files};
use crate::files::{self, Readers, failed};
use crate::node::{META_NODE, Meta, NEWEST_HEAD, log_keys};

/// What is known of the time after the backup.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_enums, reason = "there is a log or there is none")]
pub enum LaterLog<'a> {
    /// The folder of the audit log.
    Folder(&'a Path),
    /// Nothing; this is recorded.
    Lost,
}

/// How a home is restored.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "whoever restores decides each of these"
)]
pub struct Restoration<'a> {
    /// What was ordered since.
    pub log: LaterLog<'a>,
    /// The file with the root's password.
    pub root_password: Option<&'a Path>,
    /// The file with the PIN of the token.
    pub token_pin: Option<&'a Path>,
    /// The server's private key, for the place that the configuration has for it.
    pub server_key: Option<&'a Path>,
    /// Its certificates, if they are others than those of the backup.
    pub server_certificate: Option<&'a Path>,
    /// The PKCS#11 module of the token. None is taken from a backup.
    pub module: Option<&'a Path>,
    /// The settings that may reach outside of the home, by their keys ([`super::CONFIRMABLE`]).
    pub accepted: &'a [&'a str],
}

/// A home that was restored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Restored {
    /// The epoch that it begins with.
    pub epoch: u64,
    /// The epoch of the backup.
    pub backup_epoch: u64,
    /// Contexts.
    pub contexts: usize,
    /// Orders of the log that were carried out after the backup.
    pub replayed: usize,
    /// Versions that were made after the backup, whose secrets are lost.
    pub lost: Vec<String>,
    /// Versions in a token that were retired because their seals are not counted any longer.
    pub retired: Vec<String>,
    /// Versions that a record restricts which nothing proves: suspended, to be resumed or restricted for good.
    pub suspended: Vec<String>,
    /// Rows of records that nothing proves and that were not believed.
    pub doubted: usize,
    /// Records of the log that neither a signed head nor a check frame proves.
    pub unproven: u64,
    /// Orders that were begun and of which the log knows no end.
    pub unfinished: usize,
    /// Whether a policy has to be applied before anybody is served.
    pub policy_missing: bool,
    /// Whether trust anchors and revocation lists have to be put in place: none older than those that are known.
    pub trust_unknown: bool,
    /// Files that have to be put in place before the home is served.
    pub missing_files: Vec<PathBuf>,
}

impl Backup {
    /// Makes a home of it at `folder`, where there is none.
    ///
    /// # Errors
    /// [`BackupError`]; the place is as it was then.
    pub fn restore(
        &self,
        folder: &Path,
        order: &Restoration<'_>,
        clock: &Clock,
    ) -> Result<Restored, BackupError> {
        if occupied(folder) {
            return Err(HomeError::Occupied(folder.to_owned()).into());
        }
        if !self.content.image.is_complete() {
            return Err(BackupError::Incomplete);
        }
        let plan = Plan::new(&self.content.files, order)?;
        let folder = place(folder)?;
        let proof = Proof::new(self, &plan, (&folder, order), clock)?;
        let beside = beside(&folder)?;
        let missing = missing_parents(&folder);
        let made = make_folder(&beside)
            .map_err(BackupError::from)
            .and_then(|()| lay_out(&beside, plan, &self.content.files, order))
            .and_then(|site| self.make(&site, proof, (&folder, order.log), clock));
        if made.is_err() {
            drop(std::fs::remove_dir_all(&beside));
            // Only those that this call has made, and only if nobody has put anything there since.
            missing
                .iter()
                .for_each(|parent| drop(std::fs::remove_dir(parent)));
        }
        made
    }

    fn make(
        &self,
        site: &Site,
        proof: Proof,
        (home, log): (&Path, LaterLog<'_>),
        clock: &Clock,
    ) -> Result<Restored, BackupError> {
        let Proof {
            keystore,
            meta,
            rows,
        } = proof;
        let work = Work {
            content: &self.content,
            digest: self.digest,
            proven: rows,
            site,
            clock,
            fingerprint: Fingerprint::of(&meta.signer.verifying_key()),
        };
        let later = work.later(&meta, log)?;
        let restored = work.carry_out(meta, later, home)?;
        work.finish(&keystore)?;
        move_to(&site.folder, home).map_err(|source| failed(home, "written", source))?;
        Ok(restored)
    }
}

/// A restore under way.
struct Work<'a> {
    content: &'a Content,
    /// Of the text of the backup.
    digest: [u8; 32],
    /// The rows of the backup.
    proven: Proven,
    site: &'a Site,
    clock: &'a Clock,
    /// Of the key that signs the log.
    fingerprint: Fingerprint,
}

/// What the log knows, and whose log is gone on with.
struct Past {
    later: Later,
    node: NodeId,
    lost: bool,
}

impl Work<'_> {
    /// Reads what was ordered since from a copy of the log in the new home, with which that goes on.
    fn later(&self, meta: &Meta, log: LaterLog<'_>) -> Result<Past, BackupError> {
        let head = &self.content.head;
        let own = head.head().installation == meta.installation && head.head().node == meta.node;
        if head.check().is_err() || Fingerprint::of(&head.signer().key) != self.fingerprint || !own
        {
            return Err(BackupError::Signer);
        }
        let LaterLog::Folder(folder) = log else {
            // Another log of the same node would be taken for one that was cut back.
            return Ok(Past {
                later: Later::default(),
                node: NodeId::from_bytes(random_id()?),
                lost: true,
            });
        };
        let copy = &self.site.config.audit.directory;
        match replay::copy(folder, copy) {
            Err(AuditError::InUse) => return Err(BackupError::LogInUse),
            other => other?,
        };
        let verifier = Verifier::new(Some(self.fingerprint)).known_head(head.id());
        verifier
            .verify(copy)
            .map_err(|verdict| self.unbelieved(copy, verdict))?;
        let later = replay::later(copy, self.content.epoch(), &meta.check_key)?;
        Ok(Past {
            later,
            node: meta.node,
            lost: false,
        })
    }

    /// Why a log is not the one that was asked for.
    fn unbelieved(&self, log: &Path, verdict: Verdict) -> BackupError {
        let fault = |verdict: &Verdict| match verdict {
            Verdict::Finding(finding) => Some(finding.fault),
            _ => None,
        };
        if fault(&verdict) == Some(Fault::CutBack) {
            // Without the head of the backup in it, it may be another's, or an older one of the same node.
            let alone = Verifier::new(Some(self.fingerprint)).verify(log);
            return match alone.err().as_ref().and_then(fault) {
                Some(Fault::Signer) => BackupError::ForeignLog,
                _ => BackupError::StaleLog,
            };
        }
        BackupError::Log(Box::new(verdict))
    }

    /// The rows of the new store.
    fn rows(&self, past: &Past) -> Result<Rows<'_>, BackupError> {
        let now = self.clock.wall();
        let proven = &self.proven;
        let mut rows = Rows::of(proven.image(), now, |table, row| proven.is_own(table, row));
        for change in &past.later.orders {
            replay_one(&mut rows, change)?;
        }
        rows.retire_counted()?;
        rows.retire_outlived()?;
        rows.put(
            Table::Meta,
            META_NODE.as_bytes(),
            TenantId::NONE,
            past.node.as_bytes(),
        );
        let (key, body) = clock_in_doubt(now).map_err(HomeError::from)?;
        rows.put(Table::Counters, key, TenantId::NONE, &body);
        Ok(rows)
    }

    /// One order: begun in the log, carried out in the store, ended in the log.
    fn carry_out(&self, meta: Meta, past: Past, home: &Path) -> Result<Restored, BackupError> {
        let Meta {
            installation,
            signer,
            check_key,
            ..
        } = meta;
        let mut rows = self.rows(&past)?;
        let identity = Identity {
            installation,
            node: past.node,
        };
        let mut log = self.open_log(identity, log_keys(signer, check_key))?;
        let unfinished = self.settle(&mut log)?;
        let seen = [
            self.content.epoch(),
            self.content.head.head().epoch,
            past.later.newest_epoch,
        ];
        let seen = seen.into_iter().max().unwrap_or(u64::MAX);
        let epoch = seen.checked_add(1).ok_or(BackupError::Content)?;
        let mut writer = log.writer()?;
        let before = self.facts(seen)?;
        let begun = self.begin(&mut writer, before, &past)?;
        let head = log.sign_head()?;
        rows.put(Table::Heads, NEWEST_HEAD, TenantId::NONE, &head.to_bytes());
        self.write_trust(&rows)?;
        let (rows, told) = rows.into_parts();
        let mut engine = SqliteEngine::open(&self.site.config.store.file)?;
        self.proven.found(&mut engine, &rows, epoch)?;
        drop(engine);
        let facts = Facts { epoch, ..before };
        let ended = begun.finish(&mut writer, &facts.into());
        ended.map_err(|(_, error)| error)?;
        drop(writer);
        log.shutdown()?;
        let contexts = rows.iter().filter(|row| row.table == Table::Keys).count();
        Ok(self.tell((epoch, contexts, unfinished), &past, told, home))
    }

    fn open_log(&self, identity: Identity, keys: Keys) -> Result<Log, BackupError> {
        let folder = self.site.config.audit.directory.clone();
        let mut settings = Settings::new(folder, identity, self.clock.clone(), keys);
        // No head is signed between the one that the new store is given and the last: the first start refuses a store
        // that lacks two. What is recorded here is an order, which waits for the disk in any case.
        settings.sync = SyncMode::Grouped(Duration::MAX);
        Ok(Log::open(settings)?)
    }

    /// Orders without an end were not acknowledged, and nobody can know here whether they were carried out.
    fn settle(&self, log: &mut Log) -> Result<usize, BackupError> {
        let unfinished = log.take_unfinished();
        let count = unfinished.len();
        if count == 0 {
            return Ok(0);
        }
        let mut writer = log.writer()?;
        for (begun, order) in unfinished {
            let facts = Facts {
                time: self.clock.wall(),
                outcome: Code::Interrupted,
                ..*begun.facts()
            };
            let settled = order.settle(&mut writer, &facts.into());
            settled.map_err(|(_, error)| error)?;
        }
        Ok(count)
    }

    fn facts(&self, epoch: u64) -> Result<Facts, BackupError> {
        let now = self.clock.wall();
        let mut facts = Facts::new(RecordType::OrderBefore, Operation::BackupRestore, now);
        facts.request = RequestId::from_bytes(random_id()?);
        facts.epoch = epoch;
        Ok(facts)
    }

    /// Records which backup this is, by its digest and its head, and whether the log was lost.
    fn begin(
        &self,
        writer: &mut keywright_audit::writer::Writer,
        facts: Facts,
        past: &Past,
    ) -> Result<keywright_audit::writer::Order, BackupError> {
        let mut fields = vec![
            Field::OrderDigest(self.digest),
            Field::NewestHead(self.content.head.id().hash),
        ];
        if past.lost {
            fields.push(Field::Reason(Reason::WithoutLog));
        }
        let fields = &fields;
        Ok(writer.begin_order(&Record { facts, fields }, Room::Ordinary)?)
    }

    /// Anchors and lists as they were last in force; those of the backup's files if nothing says otherwise. None if it is
    /// not known which are in force.
    fn write_trust(&self, rows: &Rows<'_>) -> Result<(), BackupError> {
        if rows.trust_is_unknown() {
            return Ok(());
        }
        let files = &self.content.files;
        let backup = Files {
            anchors: &files.anchors,
            lists: &files.lists,
            admin: None,
            roster: None,
        };
        let trust = rows.get(Table::Policies, TRUST_ROW);
        let trust = trust.map(|text| Files::split(text).unwrap_or(backup));
        Ok(self.site.write_trust(trust)?)
    }

    fn tell(
        &self,
        (epoch, contexts, unfinished): (u64, usize, usize),
        past: &Past,
        told: Told,
        home: &Path,
    ) -> Restored {
        let text = |labels: Vec<keywright_types::VersionLabel>| {
            labels.iter().map(ToString::to_string).collect()
        };
        Restored {
            epoch,
            backup_epoch: self.content.epoch(),
            contexts,
            replayed: past.later.proven(),
            lost: text(told.lost),
            retired: text(told.retired),
            suspended: text(told.suspended),
            unproven: past.later.unproven,
            doubted: told.doubted,
            unfinished,
            policy_missing: told.policy_unknown,
            trust_unknown: told.trust_unknown,
            missing_files: self.site.missing(home),
        }
    }

    /// Writes down who signs, and looks at the home as a start does.
    fn finish(&self, keystore: &Arc<Keystore>) -> Result<(), BackupError> {
        let text = format!("{}\n", hex::encode(self.fingerprint.as_bytes()));
        let place = self.site.folder.join(FINGERPRINT_FILE);
        files::write_new(&place, text.as_bytes(), Readers::Everyone)?;
        let config = &self.site.config;
        // Without them nobody is let in; the rows are looked at all the same.
        let trust = self
            .site
            .has_trust()
            .then(|| doors::Trust::read(config, self.clock))
            .transpose()?;
        let trust = trust.map(|trust| trust.all);
        check_rows(config, keystore, (trust, self.clock))?;
        Ok(())
    }
}

fn replay_one(rows: &mut Rows<'_>, change: &Change) -> Result<(), BackupError> {
    let trust = match change.evidence {
        Evidence::Signed | Evidence::Checked => Trust::Proven,
        Evidence::Unproven => Trust::Unproven,
    };
    for row in &change.rows {
        let row = RecordedRow {
            table: &row.table,
            key: &row.key,
            body: &row.body,
            mac: row.mac,
            epoch: change.epoch,
        };
        rows.replay(row, trust)?;
    }
    if change.left_out > 0 {
        let key = match change.operation {
            Operation::PolicyApply => POLICY_ROW,
            _ => TRUST_ROW,
        };
        rows.left_out(key);
    }
    Ok(())
}

fn random_id() -> Result<[u8; 16], HomeError> {
    Ok(RandomStream::new()?.array()?)
}
