//! The offline verifier (design 7.33 to 7.35).
//!
//! It walks the heads in order and follows every file up to where each head states it, so that a
//! finding names the first record or head that is wrong. It reads every file once, in constant memory
//! per file.
//!
//! What is allowed besides a perfect log, and nothing looser:
//! * in a boot without a shutdown head, a file (of records or heads) may end inside one record, or in
//!   zeros if it was laid out before it was used; whole records after the newest head are counted as
//!   unsigned, those of which the next first head says that nothing proved them as unproven;
//! * files and heads are missing at the front if a signed head says which;
//! * an empty file may be missing.
//!
//! Without a fingerprint from outside it never reports success: anyone can sign a log of their own.

mod report;
mod track;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;

use keywright_types::{BootId, InstallationId, NodeId};

use crate::chain::{FileId, FileState, ReadError, Step};
use crate::finding::{Fault, Finding};
use crate::head::{self, Fingerprint, Head, HeadId, SignedHead, Signer, Statement, UnprovenTail};
use crate::history::{self, Part};

pub use report::Report;
use track::{Track, Tracked};

/// Checks a log against what is known from outside it.
#[derive(Clone, Copy, Debug)]
pub struct Verifier {
    fingerprint: Option<Fingerprint>,
    known: Option<HeadId>,
}

/// Why a log was not found whole.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// The first thing that is wrong.
    #[error("{0}")]
    Finding(#[from] Finding),
    /// A file could not be read.
    #[error("{file} cannot be read")]
    Io {
        /// The file's name, or nothing for the folder.
        file: String,
        /// What the operating system said.
        source: io::Error,
    },
    /// Nothing is wrong, but no fingerprint was given: it may all be forged.
    #[error("not verified: the fingerprint of the signing key must be given")]
    Unverified(Box<Report>),
}

impl Verifier {
    /// A verifier that trusts one key: the one with this fingerprint signed at least one of the heads.
    #[must_use]
    pub const fn new(fingerprint: Option<Fingerprint>) -> Self {
        Self {
            fingerprint,
            known: None,
        }
    }

    /// Demands that this head, known from the store or elsewhere, is in the log.
    #[must_use]
    pub const fn known_head(self, head: HeadId) -> Self {
        Self {
            known: Some(head),
            ..self
        }
    }

    /// Verifies the log in a folder.
    ///
    /// # Errors
    /// [`Failure`]: the first finding, a file that cannot be read, or [`Failure::Unverified`].
    pub fn verify(&self, dir: &Path) -> Result<Report, Failure> {
        let mut walk = Walk::new(dir, self);
        walk.run()?;
        let (report, trusted) = (walk.report, walk.trusted);
        match self.fingerprint {
            None => Err(Failure::Unverified(Box::new(report))),
            Some(_) if trusted => Ok(report),
            Some(_) => Err(finding(walk.first_heads, 0, None, Fault::Signer)),
        }
    }
}

pub(crate) fn finding(file: String, offset: u64, sequence: Option<u64>, fault: Fault) -> Failure {
    Finding {
        file,
        offset,
        sequence,
        fault,
    }
    .into()
}

fn unreadable(file: &str) -> impl FnOnce(io::Error) -> Failure {
    move |source| Failure::Io {
        file: file.to_owned(),
        source,
    }
}

struct Walk<'a> {
    dir: &'a Path,
    outside: &'a Verifier,
    report: Report,
    /// The first file of heads, for findings about the signer.
    first_heads: String,
    trusted: bool,
    known_seen: bool,
    newest: HeadId,
    epoch: u64,
    signer: Option<Signer>,
    identity: Option<(InstallationId, NodeId)>,
    boot: Option<Boot>,
    boots: BTreeSet<BootId>,
    /// Boots that ended in order.
    shut_down: BTreeSet<BootId>,
    tracks: BTreeMap<FileId, Track>,
    pruned: BTreeSet<FileId>,
    /// Where the newest first head says that records begin which nothing proves.
    unproven: BTreeMap<FileId, UnprovenTail>,
    /// Files that heads state and that are not there, unless a later head says they were pruned.
    missing: BTreeMap<FileId, Finding>,
    /// The number before the first head on disk, unless a later head says it was pruned.
    front: Option<(HeadId, Finding)>,
}

/// The boot whose heads are being read.
struct Boot {
    id: BootId,
    shut_down: bool,
    /// What is allowed only if this boot has no shutdown head.
    crash_only: Option<Finding>,
}

/// Where the head stands that is being checked.
#[derive(Clone, Copy)]
struct At<'a> {
    file: &'a str,
    /// Whose heads the file has, by its name: a start and pruning go by it.
    boot: BootId,
    offset: u64,
    number: u64,
}

impl At<'_> {
    fn fault(self, fault: Fault) -> Failure {
        finding(self.file.to_owned(), self.offset, Some(self.number), fault)
    }
}

impl<'a> Walk<'a> {
    fn new(dir: &'a Path, outside: &'a Verifier) -> Self {
        Self {
            dir,
            outside,
            report: Report::default(),
            first_heads: "heads".to_owned(),
            trusted: false,
            known_seen: outside.known.is_none_or(|known| known == HeadId::NONE),
            newest: HeadId::NONE,
            epoch: 0,
            signer: None,
            identity: None,
            boot: None,
            boots: BTreeSet::new(),
            shut_down: BTreeSet::new(),
            tracks: BTreeMap::new(),
            pruned: BTreeSet::new(),
            unproven: BTreeMap::new(),
            missing: BTreeMap::new(),
            front: None,
        }
    }

    fn run(&mut self) -> Result<(), Failure> {
        let listing = history::list(self.dir).map_err(unreadable(""))?;
        let (parts, empty) = history::parts(self.dir, &listing)
            .map_err(|(file, error)| read_failure(file, 0, None, error))?;
        match parts.first() {
            Some(first) => self.first_heads.clone_from(&first.name),
            None => return Err(finding(self.first_heads.clone(), 0, None, Fault::Front)),
        }
        for pair in parts.windows(2) {
            if let [before, after] = pair
                && before.boot == after.boot
                && before.part >= after.part
            {
                return Err(finding(after.name.clone(), 0, None, Fault::Origin));
            }
        }
        parts.iter().try_for_each(|part| self.part(part))?;
        empty
            .iter()
            .try_for_each(|name| self.check_empty_heads(name))?;
        self.end(&listing.records)
    }

    /// A file without one whole head: only a crash leaves such a file, unless it is empty.
    fn check_empty_heads(&self, name: &str) -> Result<(), Failure> {
        let size = std::fs::metadata(self.dir.join(name))
            .map_err(unreadable(name))?
            .len();
        let boot = head::from_file_name(name).map(|(boot, _)| boot);
        if size > 0 && boot.is_some_and(|boot| self.shut_down.contains(&boot)) {
            return Err(finding(name.to_owned(), 0, None, Fault::Cut));
        }
        Ok(())
    }

    fn part(&mut self, part: &Part) -> Result<(), Failure> {
        let name = &part.name;
        let mut reader = history::open_heads(self.dir, name).map_err(unreadable(name))?;
        loop {
            let at = At {
                file: name,
                boot: part.boot,
                offset: reader.position(),
                number: self.newest.number + 1,
            };
            match reader.step() {
                Ok(Step::Record) => {}
                Ok(Step::End | Step::Check(_)) => return Ok(()),
                Ok(Step::Cut) => return self.crash_only(at.fault(Fault::Cut)),
                Err(error) => {
                    return Err(read_failure(
                        name.clone(),
                        at.offset,
                        Some(at.number),
                        error,
                    ));
                }
            }
            if let Some(signed) = reader.take() {
                self.head(at, &signed)?;
            }
        }
    }

    /// Something that is allowed only in a boot without a shutdown head.
    fn crash_only(&mut self, failure: Failure) -> Result<(), Failure> {
        match (&mut self.boot, failure) {
            (Some(boot), Failure::Finding(finding)) if !boot.shut_down => {
                self.report.cut += 1;
                boot.crash_only.get_or_insert(finding);
                Ok(())
            }
            (_, failure) => Err(failure),
        }
    }

    fn head(&mut self, at: At<'_>, signed: &SignedHead) -> Result<(), Failure> {
        let head = signed.head();
        self.check_order(at, head)?;
        self.check_signer(at, signed)?;
        self.check_boot(at, head)?;
        let listed: BTreeSet<_> = head.files.iter().map(|state| state.file).collect();
        if listed.len() != head.files.len() {
            return Err(at.fault(Fault::State));
        }
        if head.statement.is_start() && !self.tracks.keys().all(|file| listed.contains(file)) {
            // The first head of a boot names every older file.
            return Err(at.fault(Fault::State));
        }
        self.note_unproven(at, head)?;
        for state in &head.files {
            match &head.statement {
                _ if state.file.boot == head.boot => self.advance(at, head, state)?,
                Statement::Start | Statement::StartUnproven(_) => {
                    self.state_older(at, head, state)?;
                }
                Statement::Prune(_) => self.prune(at, state)?,
                _ => return Err(at.fault(Fault::State)),
            }
        }
        self.close_unlisted(&listed)?;
        match &head.statement {
            Statement::SignerChange(next) => self.signer = Some(*next),
            Statement::Prune(newest) => self.prune_front(*newest),
            Statement::Shutdown => self.end_boot()?,
            Statement::Start | Statement::StartUnproven(_) | Statement::Running => {}
        }
        self.newest = signed.id();
        self.known_seen |= self.outside.known == Some(self.newest);
        self.report.note_head(self.newest, head);
        Ok(())
    }

    fn check_order(&mut self, at: At<'_>, head: &Head) -> Result<(), Failure> {
        if self.newest == HeadId::NONE {
            if head.number != 1 {
                let Failure::Finding(missing) = at.fault(Fault::Front) else {
                    return Ok(());
                };
                let before = HeadId {
                    number: head.number.saturating_sub(1),
                    hash: head.previous,
                };
                self.front = Some((before, missing));
            } else if head.previous != HeadId::NONE.hash {
                return Err(at.fault(Fault::Previous));
            }
        } else if head.number != self.newest.number + 1 || head.previous != self.newest.hash {
            return Err(at.fault(Fault::Previous));
        }
        if head.epoch < self.epoch {
            return Err(at.fault(Fault::Epoch));
        }
        self.epoch = head.epoch;
        Ok(())
    }

    fn check_signer(&mut self, at: At<'_>, signed: &SignedHead) -> Result<(), Failure> {
        let signer = signed.signer();
        if self.signer.is_some_and(|appointed| appointed != *signer) {
            return Err(at.fault(Fault::Signer));
        }
        self.signer = Some(*signer);
        self.trusted |= self.outside.fingerprint == Some(Fingerprint::of(&signer.key));
        Ok(())
    }

    fn check_boot(&mut self, at: At<'_>, head: &Head) -> Result<(), Failure> {
        if head.boot != at.boot {
            return Err(at.fault(Fault::Origin));
        }
        let identity = (head.installation, head.node);
        if *self.identity.get_or_insert(identity) != identity {
            return Err(at.fault(Fault::HeadOrder));
        }
        let current = self.boot.as_ref();
        if head.statement.is_start() {
            if !self.boots.insert(head.boot) {
                return Err(at.fault(Fault::HeadOrder));
            }
            self.report.boots += 1;
            self.boot = Some(Boot {
                id: head.boot,
                shut_down: false,
                crash_only: None,
            });
        } else if !current.is_some_and(|boot| boot.id == head.boot && !boot.shut_down) {
            return Err(at.fault(Fault::HeadOrder));
        }
        Ok(())
    }

    /// A file of the boot that signed the head.
    fn advance(&mut self, at: At<'_>, head: &Head, state: &FileState) -> Result<(), Failure> {
        let mut track = match self.tracks.remove(&state.file) {
            Some(track) => track,
            None => self.open(state.file, head.previous)?,
        };
        if let (Track::Open(open), Some(tail)) = (&mut track, self.unproven.get(&state.file))
            && !open.mark(tail.length)
        {
            return Err(at.fault(Fault::State));
        }
        match &mut track {
            Track::Open(open) => open.advance(state, head.epoch, &mut self.report)?,
            Track::Closed(last) if last == state => {}
            Track::Closed(_) => return Err(at.fault(Fault::State)),
            Track::Missing => self.note_missing(state),
        }
        self.tracks.insert(state.file, track);
        Ok(())
    }

    /// Where the first head of a boot says that records begin which nothing proves: within files that it states, and
    /// behind what earlier heads stated. What was said of a file once is said of it from then on.
    fn note_unproven(&mut self, at: At<'_>, head: &Head) -> Result<(), Failure> {
        let stated = head.files.iter().map(|state| (state.file, state));
        let stated: BTreeMap<_, _> = match head.statement.unproven() {
            [] => BTreeMap::new(),
            _ => stated.collect(),
        };
        for tail in head.statement.unproven() {
            let stated = stated.get(&tail.file);
            let within = stated.is_some_and(|state| {
                state.file.boot != head.boot
                    && tail.length < state.length
                    && tail.sequence < state.sequence
            });
            if !within {
                return Err(at.fault(Fault::State));
            }
        }
        if !head.statement.is_start() {
            return Ok(());
        }
        let tails = head.statement.unproven().iter();
        let tails: BTreeMap<_, _> = tails.map(|tail| (tail.file, *tail)).collect();
        let kept = |(file, tail): (&FileId, &UnprovenTail)| tails.get(file) == Some(tail);
        if tails.len() != head.statement.unproven().len() || !self.unproven.iter().all(kept) {
            return Err(at.fault(Fault::State));
        }
        self.unproven = tails;
        Ok(())
    }

    /// A file of an earlier boot, as the first head of the next boot found it.
    fn state_older(&mut self, at: At<'_>, head: &Head, state: &FileState) -> Result<(), Failure> {
        let known = self.tracks.contains_key(&state.file);
        if !known && self.shut_down.contains(&state.file.boot) {
            // The boot it claims ended in order without it.
            return Err(finding(state.file.file_name(), 0, None, Fault::Unstated));
        }
        self.advance(at, head, state)?;
        let cut = self.close(state.file)?.is_some();
        self.report.cut += u64::from(cut);
        Ok(())
    }

    fn prune(&mut self, at: At<'_>, state: &FileState) -> Result<(), Failure> {
        if matches!(self.tracks.remove(&state.file), Some(Track::Closed(last)) if last != *state) {
            return Err(at.fault(Fault::State));
        }
        self.missing.remove(&state.file);
        self.unproven.remove(&state.file);
        self.pruned.insert(state.file);
        Ok(())
    }

    fn prune_front(&mut self, newest: HeadId) {
        if self
            .front
            .as_ref()
            .is_some_and(|(before, _)| before.number < newest.number || *before == newest)
        {
            self.front = None;
        }
    }

    /// A file that the head does not list any more has ended where the head before stated it.
    fn close_unlisted(&mut self, listed: &BTreeSet<FileId>) -> Result<(), Failure> {
        let ended: Vec<_> = (self.tracks.iter())
            .filter(|(file, track)| matches!(track, Track::Open(_)) && !listed.contains(file))
            .map(|(file, _)| *file)
            .collect();
        ended
            .into_iter()
            .try_for_each(|file| self.close_in_boot(file))
    }

    fn end_boot(&mut self) -> Result<(), Failure> {
        let open: Vec<_> = (self.tracks.iter())
            .filter(|(_, track)| matches!(track, Track::Open(_)))
            .map(|(file, _)| *file)
            .collect();
        open.into_iter()
            .try_for_each(|file| self.close_in_boot(file))?;
        if let Some(boot) = &mut self.boot {
            boot.shut_down = true;
            self.shut_down.insert(boot.id);
            if let Some(finding) = boot.crash_only.take() {
                return Err(finding.into());
            }
        }
        Ok(())
    }

    fn close_in_boot(&mut self, file: FileId) -> Result<(), Failure> {
        match self.close(file)? {
            Some(tail) => self.crash_only(tail.into()),
            None => Ok(()),
        }
    }

    /// Ends a file; what is behind its stated end is returned if a crash can have left it.
    fn close(&mut self, file: FileId) -> Result<Option<Finding>, Failure> {
        match self.tracks.remove(&file) {
            Some(Track::Open(open)) => {
                self.tracks.insert(file, Track::Closed(open.state()));
                open.close()
            }
            Some(other) => {
                self.tracks.insert(file, other);
                Ok(None)
            }
            None => Ok(None),
        }
    }

    fn open(&mut self, file: FileId, newest_head: [u8; 32]) -> Result<Track, Failure> {
        let identity = self.identity.unwrap_or_default();
        match history::open_records(self.dir, file) {
            Ok(reader) => {
                self.report.files += 1;
                Ok(Track::Open(Box::new(Tracked::new(
                    self.dir,
                    reader,
                    (identity, newest_head),
                ))))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Track::Missing),
            Err(error) => Err(unreadable(&file.file_name())(error)),
        }
    }

    fn note_missing(&mut self, state: &FileState) {
        if state.length > 0 {
            let missing = Finding {
                file: state.file.file_name(),
                offset: 0,
                sequence: None,
                fault: Fault::Missing,
            };
            self.missing.insert(state.file, missing);
        }
    }

    /// What is behind the newest head, and what was left to be explained.
    fn end(&mut self, on_disk: &BTreeSet<FileId>) -> Result<(), Failure> {
        let shut_down = self.boot.as_ref().is_some_and(|boot| boot.shut_down);
        self.report.crashes = self.report.boots - self.shut_down.len() as u64;
        let unstated = on_disk
            .iter()
            .filter(|file| !self.tracks.contains_key(file) && !self.pruned.contains(file));
        for file in unstated.copied().collect::<Vec<_>>() {
            let current = self.boot.as_ref().is_some_and(|boot| boot.id == file.boot);
            if (current && shut_down) || (!current && self.boots.contains(&file.boot)) {
                return Err(finding(file.file_name(), 0, None, Fault::Unstated));
            }
            let track = self.open(file, self.newest.hash)?;
            self.tracks.insert(file, track);
        }
        for (_, track) in std::mem::take(&mut self.tracks) {
            if let Track::Open(open) = track {
                let cut = open.close_unsigned(&mut self.report)?.is_some();
                self.report.cut += u64::from(cut);
            }
        }
        if let Some((_, missing)) = self.missing.pop_first() {
            return Err(missing.into());
        }
        if let Some((_, missing)) = self.front.take() {
            return Err(missing.into());
        }
        if self.known_seen {
            return Ok(());
        }
        Err(finding(
            self.first_heads.clone(),
            0,
            Some(self.newest.number),
            Fault::CutBack,
        ))
    }
}

pub(crate) fn read_failure(
    file: String,
    offset: u64,
    sequence: Option<u64>,
    error: ReadError,
) -> Failure {
    match error {
        ReadError::Fault(fault) => finding(file, offset, sequence, fault),
        ReadError::Io(source) => Failure::Io { file, source },
    }
}
