//! What earlier boots left in the folder, read at start-up and for pruning.
//!
//! Start-up does not verify the log; it finds the newest head, the end of every older file, and the
//! orders without an end. Files of the newest boot are read from where its newest head states them,
//! unless orders were open there: then from their beginning.
//!
//! Whose heads these are, the heads do not say: the newest boot is believed if one of its heads is signed by the node's
//! own key, or if it goes on from the head that the store knows; every later signer must be appointed by the one before.
//!
//! Behind the newest head only what a check frame proves is read for orders and epochs. What nothing proves, the next
//! first head states as such: a crash can leave it, and so can anybody who writes the folder.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, BufReader, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use keywright_clock::WallTime;
use keywright_types::{BootId, RequestId};

use crate::chain::{ChainReader, FileId, FileState, Origin, ReadError, Step};
use crate::check::{CheckKey, Extent, Proof};
use crate::error;
use crate::field;
use crate::finding::{Fault, Finding};
use crate::head::{
    self, Fingerprint, Head, HeadId, HeadReader, Signatures, SignedHead, Signer, Statement,
    UnprovenTail,
};
use crate::log::{Identity, Settings};
use crate::order::UnfinishedOrder;
use crate::record::Entry;
use crate::{AuditError, RecordType};

/// What a start must know of the past.
pub(crate) struct History {
    pub(crate) newest: HeadId,
    pub(crate) newest_head: Option<SignedHead>,
    newest_file: String,
    /// Whose log it is, if there is one.
    pub(crate) identity: Option<Identity>,
    /// Who must sign the next head.
    pub(crate) signer: Option<Signer>,
    /// Whether the newest heads are this node's, and not only signed by the keys that they name.
    pub(crate) is_own: bool,
    /// Whether the head that the store knows is one of them, by its hash.
    pub(crate) has_known: bool,
    pub(crate) epoch: u64,
    pub(crate) older: Vec<FileState>,
    /// Where in older files records begin that nothing proves.
    pub(crate) unproven: Vec<UnprovenTail>,
    /// How many records were found now that nothing proves.
    pub(crate) adopted: u64,
    /// How many records of older files the first head will mark, those among them.
    pub(crate) marked: u64,
    pub(crate) unfinished: Vec<UnfinishedOrder>,
    pub(crate) damage: Vec<Finding>,
}

impl History {
    /// Whether the log goes at least as far as a head that is known from elsewhere, by their numbers.
    pub(crate) fn reaches(&self, known: HeadId) -> bool {
        self.newest.number > known.number || self.newest == known
    }

    /// What is wrong with the newest head.
    pub(crate) fn finding(&self, fault: Fault) -> Finding {
        Finding {
            file: self.newest_file.clone(),
            offset: 0,
            sequence: Some(self.newest.number),
            fault,
        }
    }
}

/// The files of a folder, by what their names say. Everything else in it is not part of the log.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    pub(crate) records: BTreeSet<FileId>,
    pub(crate) heads: BTreeSet<(BootId, u32)>,
}

pub(crate) fn list(dir: &Path) -> io::Result<Listing> {
    let mut listing = Listing::default();
    for found in fs::read_dir(dir)? {
        let name = found?.file_name();
        let Some(name) = name.to_str() else { continue };
        listing.records.extend(FileId::from_file_name(name));
        listing.heads.extend(head::from_file_name(name));
    }
    Ok(listing)
}

/// Opens a file of the log for reading. Anybody who writes the folder could have put a link there, or a pipe that never
/// ends.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
    let file = File::options().read(true).custom_flags(flags).open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other(format!(
            "{} is not a regular file",
            path.display()
        ))),
    }
}

pub(crate) fn open_heads(dir: &Path, name: &str) -> io::Result<HeadReader<BufReader<File>>> {
    let file = open_regular(&dir.join(name))?;
    let size = file.metadata()?.len();
    Ok(HeadReader::new(
        BufReader::with_capacity(BUFFER, file),
        size,
    ))
}

pub(crate) fn open_records(dir: &Path, file: FileId) -> io::Result<Records> {
    let input = open_regular(&dir.join(file.file_name()))?;
    let size = input.metadata()?.len();
    Ok(ChainReader::new(
        BufReader::with_capacity(BUFFER, input),
        size,
        file,
    ))
}

/// One file of heads, what its name says of it, and the number it begins with.
pub(crate) struct Part {
    pub(crate) first: u64,
    pub(crate) boot: BootId,
    pub(crate) part: u32,
    pub(crate) name: String,
}

/// Every file of heads that has a whole head, by number; and those that have none.
pub(crate) fn parts(
    dir: &Path,
    listing: &Listing,
) -> Result<(Vec<Part>, Vec<String>), (String, ReadError)> {
    let (mut parts, mut empty) = (Vec::new(), Vec::new());
    for (boot, part) in &listing.heads {
        let name = head::file_name(*boot, *part);
        let mut reader = open_heads(dir, &name).map_err(|error| (name.clone(), error.into()))?;
        match reader.step() {
            Ok(Step::Record) => {
                let first = reader.take().map_or(0, |head| head.head().number);
                parts.push(Part {
                    first,
                    boot: *boot,
                    part: *part,
                    name,
                });
            }
            Ok(Step::End | Step::Cut | Step::Check(_)) => empty.push(name),
            Err(error) => return Err((name, error)),
        }
    }
    parts.sort_by_key(|part| part.first);
    Ok((parts, empty))
}

/// Reads what a start must know. Records are believed as far as a head or a check frame under `key` proves them.
pub(crate) fn read(settings: &Settings) -> Result<History, AuditError> {
    let failed = error::Step::ReadHistory;
    let dir = settings.dir.as_path();
    let listing = list(dir).map_err(failed.failed())?;
    let (parts, _) = parts(dir, &listing).map_err(|(name, error)| damaged(name, 0, error))?;
    let own = Signer::of(&settings.keys.signer, settings.keys.version);
    let walk = Walk::of_newest(dir, &parts, Anchor::of(settings, own))?;
    let has_known = walk.has_known(dir, &parts, settings)?;
    let scanner = Scanner {
        dir,
        walk: &walk,
        key: &settings.keys.check,
        identity: walk.identity.unwrap_or(settings.identity),
    };
    let boots: BTreeSet<_> = parts.iter().map(|part| part.boot).collect();
    let mut found = ScanResult {
        older: walk.states.clone(),
        unproven: walk.unproven.clone(),
        damage: walk.unlinked.iter().cloned().collect(),
        ..ScanResult::default()
    };
    for file in &listing.records {
        match scanner.place(*file, &boots) {
            HeadCoverage::Ended => {}
            HeadCoverage::Sealed(state) => {
                let after = scanner.growth(&state).map_err(failed.failed())?;
                found.damage.extend(after);
                if walk.open_orders > 0 {
                    let orders = &mut found.orders;
                    let other = scanner.note_orders(&state, orders);
                    found.damage.extend(other.map_err(failed.failed())?);
                }
            }
            HeadCoverage::Unstated => found.damage.push(at_start(*file, Fault::Unstated)),
            HeadCoverage::Growing => found.read(&scanner, *file).map_err(failed.failed())?,
        }
    }
    found.add_torn(&scanner).map_err(failed.failed())?;
    let is_own = walk.is_own();
    let marked = found.marked();
    Ok(History {
        newest: walk.newest,
        newest_head: walk.newest_head,
        newest_file: parts
            .last()
            .map_or_else(String::new, |part| part.name.clone()),
        identity: walk.identity,
        signer: walk.signer,
        is_own,
        has_known,
        epoch: walk.epoch.max(found.orders.epoch),
        older: found.older.into_values().collect(),
        unproven: found.unproven.into_values().collect(),
        adopted: found.adopted,
        marked,
        unfinished: found.orders.unfinished(),
        damage: found.damage,
    })
}

/// What the files of records say beyond the heads.
#[derive(Default)]
struct ScanResult {
    older: BTreeMap<FileId, FileState>,
    unproven: BTreeMap<FileId, UnprovenTail>,
    adopted: u64,
    orders: Orders,
    damage: Vec<Finding>,
    /// Files that no head states and of which no check frame holds.
    torn: Vec<Tail>,
}

impl ScanResult {
    /// How many records nothing proved when they were found, now or by an earlier start.
    fn marked(&self) -> u64 {
        let tails = self.unproven.values();
        let states = tails.map(|tail| (self.older.get(&tail.file), tail.sequence));
        let marked = states
            .map(|(state, proven)| state.map_or(0, |state| state.sequence.saturating_sub(proven)));
        marked.fold(0, u64::saturating_add)
    }

    /// A file that may have grown behind the newest head.
    fn read(&mut self, scanner: &Scanner<'_>, file: FileId) -> io::Result<()> {
        let mut tail = scanner.tail(file)?;
        let finding = tail.finding.take();
        let is_damaged = finding.is_some();
        self.damage.extend(finding);
        if tail.foreign {
            self.damage.push(at_start(file, Fault::Origin));
            return Ok(());
        }
        if tail.proven.sequence == 0 && !scanner.walk.states.contains_key(&file) {
            self.torn.push(tail);
            return Ok(());
        }
        let other = self.add(scanner, &tail)?;
        self.damage.extend(other.filter(|_| !is_damaged));
        Ok(())
    }

    fn add(&mut self, scanner: &Scanner<'_>, tail: &Tail) -> io::Result<Option<Finding>> {
        let Tail { state, proven, .. } = *tail;
        let kept = self.older.entry(state.file).or_insert(state);
        if state.length > kept.length {
            *kept = state;
        }
        if state.sequence > proven.sequence {
            self.adopted += state.sequence - proven.sequence;
            let tail = UnprovenTail {
                file: state.file,
                sequence: proven.sequence,
                length: proven.length,
            };
            self.unproven.insert(state.file, tail);
        }
        scanner.note_orders(&proven, &mut self.orders)
    }

    /// Adopts files of which no check frame holds, if they are few. A crash leaves one such file for each writer whose
    /// first write it cuts, and a version before check frames left one; anybody who writes the folder can leave any
    /// number, and each would be named in every first head from then on.
    fn add_torn(&mut self, scanner: &Scanner<'_>) -> io::Result<()> {
        let torn = std::mem::take(&mut self.torn);
        if torn.len() > MOST_TORN {
            let reported = torn.iter().take(MOST_TORN);
            let unstated = reported.map(|tail| at_start(tail.state.file, Fault::Unstated));
            self.damage.extend(unstated);
            return Ok(());
        }
        for tail in &torn {
            let other = self.add(scanner, tail)?;
            self.damage.extend(other);
        }
        Ok(())
    }
}

fn at_start(file: FileId, fault: Fault) -> Finding {
    Finding {
        file: file.file_name(),
        offset: 0,
        sequence: None,
        fault,
    }
}

/// What heads, and check frames where there is a key to judge them, say of a log.
#[derive(Debug, Default)]
pub(crate) struct Proofs {
    /// How far each file is proven.
    pub(crate) extents: BTreeMap<FileId, Extent>,
    /// Who has signed the newest head.
    pub(crate) signer: Option<Fingerprint>,
}

/// Reads the newest heads.
pub(crate) fn proofs(dir: &Path, key: Option<&CheckKey>) -> Result<Proofs, AuditError> {
    let failed = error::Step::ReadHistory;
    let listing = list(dir).map_err(failed.failed())?;
    let (parts, _) = parts(dir, &listing).map_err(|(name, error)| damaged(name, 0, error))?;
    let walk = Walk::of_newest(dir, &parts, Anchor::default())?;
    if let Some(finding) = walk.unlinked {
        return Err(AuditError::Damaged(finding));
    }
    let mut extents = BTreeMap::new();
    for file in &listing.records {
        let signed = walk.states.get(file).map_or(0, |state| state.length);
        let checked = match (key, walk.identity) {
            (Some(key), Some(identity)) if walk.may_grow(*file) => {
                let scanner = Scanner {
                    dir,
                    walk: &walk,
                    key,
                    identity,
                };
                let tail = scanner.tail(*file).map_err(failed.failed())?;
                if tail.foreign { 0 } else { tail.proven.length }
            }
            _ => signed,
        };
        let extent = Extent {
            signed,
            unproven_from: walk.unproven.get(file).map(|tail| tail.length),
            checked,
        };
        extents.insert(*file, extent);
    }
    let signer = walk
        .newest_head
        .as_ref()
        .map(|head| Fingerprint::of(&head.signer().key));
    Ok(Proofs { extents, signer })
}

fn damaged(file: String, offset: u64, error: ReadError) -> AuditError {
    match error {
        ReadError::Io(source) => AuditError::Io {
            step: error::Step::ReadHistory,
            source,
        },
        ReadError::Fault(fault) => AuditError::Damaged(Finding {
            file,
            offset,
            sequence: None,
            fault,
        }),
    }
}

/// What is known of the heads from outside the log.
#[derive(Clone, Copy, Default)]
struct Anchor {
    /// The node's own key.
    own: Option<Signer>,
    /// The newest head that the store has.
    known: Option<HeadId>,
}

impl Anchor {
    fn of(settings: &Settings, own: Signer) -> Self {
        Self {
            own: Some(own),
            known: settings.newest_known,
        }
    }
}

/// How the newest boot begins.
#[derive(Clone)]
struct Beginning {
    file: String,
    /// The head that its first one names as the one before.
    previous: HeadId,
    signer: Signer,
}

/// The heads of the newest boot.
struct Walk {
    anchor: Anchor,
    beginning: Option<Beginning>,
    /// One of them is signed by the node's own key: then it is for all before it, by their hashes.
    own_signed: bool,
    /// One of them is the head that the store has.
    known_found: bool,
    /// The last head of the boot before, if the first one goes on from it under the key that it appoints.
    before: Option<HeadId>,
    /// Why the first one does not.
    unlinked: Option<Finding>,
    newest: HeadId,
    newest_head: Option<SignedHead>,
    identity: Option<Identity>,
    signer: Option<Signer>,
    epoch: u64,
    open_orders: u32,
    states: BTreeMap<FileId, FileState>,
    unproven: BTreeMap<FileId, UnprovenTail>,
    boot: Option<BootId>,
    /// Files that the newest head states as files of its own boot: only these can have gone on behind it.
    growing: BTreeSet<FileId>,
}

impl Default for Walk {
    fn default() -> Self {
        Self {
            anchor: Anchor::default(),
            beginning: None,
            own_signed: false,
            known_found: false,
            before: None,
            unlinked: None,
            newest: HeadId::NONE,
            newest_head: None,
            identity: None,
            signer: None,
            epoch: 0,
            open_orders: 0,
            states: BTreeMap::new(),
            unproven: BTreeMap::new(),
            boot: None,
            growing: BTreeSet::new(),
        }
    }
}

impl Walk {
    /// The heads of the newest boot.
    fn of_newest(dir: &Path, parts: &[Part], anchor: Anchor) -> Result<Self, AuditError> {
        let mut walk = Self {
            anchor,
            ..Self::default()
        };
        let newest = parts.last().map(|part| part.boot);
        walk.boot = newest;
        for part in parts.iter().filter(|part| Some(part.boot) == newest) {
            walk.part(dir, part)?;
        }
        walk.link(dir, parts)?;
        Ok(walk)
    }

    /// Holds the first head of the newest boot against the last one of the boot before it.
    fn link(&mut self, dir: &Path, parts: &[Part]) -> Result<(), AuditError> {
        let mut others = parts.iter().rev();
        let before = others.find(|part| Some(part.boot) != self.boot);
        let (Some(before), Some(beginning)) = (before, &self.beginning) else {
            return Ok(());
        };
        let of_boot = parts.iter().filter(|part| part.boot == before.boot);
        // Its hash tells; signatures of a long boot would take their time.
        match last_head(dir, of_boot, Signatures::Unchecked) {
            Ok(Some(last))
                if last.id() == beginning.previous && appointed(&last) == beginning.signer =>
            {
                self.before = Some(last.id());
            }
            Ok(_) => {
                self.unlinked = Some(Finding {
                    file: beginning.file.clone(),
                    offset: 0,
                    sequence: Some(beginning.previous.number + 1),
                    fault: Fault::Previous,
                });
            }
            Err(AuditError::Damaged(finding)) => self.unlinked = Some(finding),
            Err(other) => return Err(other),
        }
        Ok(())
    }

    /// Whether these heads are the node's. Each signer is appointed by the one before, so one head that is known to be
    /// the node's is enough.
    fn is_own(&self) -> bool {
        let goes_on = self.before.is_some() && self.before == self.anchor.known;
        self.newest == HeadId::NONE || self.own_signed || self.known_found || goes_on
    }

    /// Whether the head that the store has is in the log.
    fn has_known(
        &self,
        dir: &Path,
        parts: &[Part],
        settings: &Settings,
    ) -> Result<bool, AuditError> {
        let (Some(known), Some(beginning)) = (settings.newest_known, &self.beginning) else {
            return Ok(settings
                .newest_known
                .is_none_or(|known| known == HeadId::NONE));
        };
        if known == HeadId::NONE || self.known_found || beginning.previous == known {
            return Ok(true);
        }
        if settings.accept_known != Some(known.number) {
            return Ok(false);
        }
        let mut older = parts.iter().filter(|part| Some(part.boot) != self.boot);
        let front = older
            .clone()
            .next()
            .map_or(beginning.previous.number + 1, |part| part.first);
        if known.number < front {
            // What is pruned cannot be found.
            return Ok(true);
        }
        let mut chain = Descent {
            known,
            newest: None,
        };
        older.try_for_each(|part| {
            each_head(dir, part, Signatures::Unchecked, |head| chain.add(&head))
        })?;
        Ok(chain.newest == Some(beginning.previous))
    }

    /// Whether a file may have records behind the newest head.
    fn may_grow(&self, file: FileId) -> bool {
        self.growing.contains(&file) || !self.states.contains_key(&file)
    }

    /// Whether the newest boot ended in order.
    fn is_shut_down(&self) -> bool {
        let newest = self.newest_head.as_ref();
        newest.is_some_and(|signed| signed.head().statement == Statement::Shutdown)
    }

    fn part(&mut self, dir: &Path, part: &Part) -> Result<(), AuditError> {
        let mut reader = open_heads(dir, &part.name).map_err(error::Step::ReadHistory.failed())?;
        loop {
            let offset = reader.position();
            match reader.step() {
                Ok(Step::Record) => {}
                Ok(Step::End | Step::Cut | Step::Check(_)) => return Ok(()),
                Err(error) => return Err(damaged(part.name.clone(), offset, error)),
            }
            if let Some(head) = reader.take() {
                self.head(part, head)
                    .map_err(|fault| damaged(part.name.clone(), offset, fault.into()))?;
            }
        }
    }

    /// Whether a head can stand here: in its boot's file, behind the one before, signed by the key that is appointed.
    fn check_place(&self, part: &Part, signed: &SignedHead) -> Result<(), Fault> {
        let head = signed.head();
        let is_first = self.newest == HeadId::NONE;
        let follows = is_first
            || (head.number == self.newest.number + 1 && head.previous == self.newest.hash);
        if !follows {
            return Err(Fault::Previous);
        }
        if self.signer.is_some_and(|signer| signer != *signed.signer()) {
            return Err(Fault::Signer);
        }
        if head.boot != part.boot {
            return Err(Fault::Origin);
        }
        let identity = identity_of(head);
        let other = self.identity.is_some_and(|known| known != identity);
        if head.statement.is_start() != is_first || self.is_shut_down() || other {
            return Err(Fault::HeadOrder);
        }
        Ok(())
    }

    fn head(&mut self, part: &Part, signed: SignedHead) -> Result<(), Fault> {
        self.check_place(part, &signed)?;
        let head = signed.head();
        self.beginning.get_or_insert_with(|| Beginning {
            file: part.name.clone(),
            previous: previous(head),
            signer: *signed.signer(),
        });
        self.newest = signed.id();
        self.own_signed |= self.anchor.own == Some(*signed.signer());
        self.known_found |= self.anchor.known == Some(self.newest);
        self.identity = Some(identity_of(head));
        self.epoch = head.epoch;
        self.open_orders = head.open_orders;
        self.signer = Some(appointed(&signed));
        let pruned = matches!(head.statement, Statement::Prune(_));
        for state in &head.files {
            if pruned && state.file.boot != head.boot {
                self.states.remove(&state.file);
                self.unproven.remove(&state.file);
            } else {
                self.states.insert(state.file, *state);
            }
        }
        let tails = head.statement.unproven().iter();
        self.unproven.extend(tails.map(|tail| (tail.file, *tail)));
        let own = head.files.iter().map(|state| state.file);
        let own = own.filter(|file| {
            file.boot == head.boot && !matches!(head.statement, Statement::Shutdown)
        });
        self.growing = own.collect();
        self.newest_head = Some(signed);
        Ok(())
    }
}

const fn identity_of(head: &Head) -> Identity {
    Identity {
        installation: head.installation,
        node: head.node,
    }
}

/// The head before this one.
const fn previous(head: &Head) -> HeadId {
    HeadId {
        number: head.number.saturating_sub(1),
        hash: head.previous,
    }
}

/// Who must sign the head behind this one.
fn appointed(signed: &SignedHead) -> Signer {
    match &signed.head().statement {
        Statement::SignerChange(next) => *next,
        _ => *signed.signer(),
    }
}

/// Heads that follow a known one, each on the one before.
struct Descent {
    known: HeadId,
    newest: Option<HeadId>,
}

impl Descent {
    fn add(&mut self, signed: &SignedHead) {
        if signed.id() == self.known {
            self.newest = Some(self.known);
        } else if self.newest.is_some() {
            // A head that does not follow ends it.
            let follows = self.newest == Some(previous(signed.head()));
            self.newest = follows.then(|| signed.id());
        }
    }
}

/// What heads say of a file.
enum HeadCoverage {
    /// A head of a later boot states its end.
    Ended,
    /// A head of its own boot stated its end.
    Sealed(FileState),
    /// No head states it, and no crash explains that.
    Unstated,
    /// It may have records behind the newest head.
    Growing,
}

/// Reads what stands behind the newest head.
struct Scanner<'a> {
    dir: &'a Path,
    walk: &'a Walk,
    key: &'a CheckKey,
    /// Whose files they must be.
    identity: Identity,
}

/// The end of one file.
struct Tail {
    /// Where its chain ends.
    state: FileState,
    /// Where the last record that is proven ends.
    proven: FileState,
    finding: Option<Finding>,
    /// Its first record names another node, or another head than was newest.
    foreign: bool,
    /// The chain goes through the state that a head signs of it.
    passed: bool,
}

impl Scanner<'_> {
    fn place(&self, file: FileId, boots: &BTreeSet<BootId>) -> HeadCoverage {
        let newest = self.walk.boot == Some(file.boot);
        match self.walk.states.get(&file) {
            Some(_) if !newest => HeadCoverage::Ended,
            Some(state) if !self.walk.may_grow(file) => HeadCoverage::Sealed(*state),
            Some(_) => HeadCoverage::Growing,
            // The first head of the boot after it states every file that a boot left.
            None if !newest && boots.contains(&file.boot) => HeadCoverage::Unstated,
            None if newest && self.walk.is_shut_down() => HeadCoverage::Unstated,
            None => HeadCoverage::Growing,
        }
    }

    /// What stands behind the end that a file had.
    fn growth(&self, state: &FileState) -> io::Result<Option<Finding>> {
        let name = state.file.file_name();
        let length = fs::metadata(self.dir.join(&name))?.len();
        Ok((length > state.length).then_some(Finding {
            file: name,
            offset: state.length,
            sequence: Some(state.sequence + 1),
            fault: Fault::After,
        }))
    }

    /// Reads a file from where the newest head states it.
    fn tail(&self, file: FileId) -> io::Result<Tail> {
        let Some(signed) = self.walk.states.get(&file).copied() else {
            return self.scan(file, None, None);
        };
        let tail = self.scan(file, Some(signed), Some(signed))?;
        if tail.finding.is_none() {
            return Ok(tail);
        }
        // Only from its start does the reader learn what kind of file this is.
        let whole = self.scan(file, None, Some(signed))?;
        if whole.passed {
            return Ok(whole);
        }
        // It is another file than was signed: nothing in it goes before what the head says.
        Ok(Tail {
            state: signed,
            proven: signed,
            finding: whole.finding.or(tail.finding),
            ..whole
        })
    }

    fn reader(&self, file: FileId, from: Option<FileState>) -> io::Result<Records> {
        let mut input = open_regular(&self.dir.join(file.file_name()))?;
        let size = input.metadata()?.len();
        input.seek(SeekFrom::Start(from.map_or(0, |state| state.length)))?;
        let input = BufReader::with_capacity(BUFFER, input);
        let reader = match &from {
            Some(state) => ChainReader::resume(input, size, state),
            None => ChainReader::new(input, size, file),
        };
        Ok(reader.judged_by(self.key))
    }

    /// Reads a file from a stated place, or from its start, to where its chain ends.
    fn scan(
        &self,
        file: FileId,
        from: Option<FileState>,
        signed: Option<FileState>,
    ) -> io::Result<Tail> {
        let mut reader = self.reader(file, from)?;
        let mut proven = signed.unwrap_or_else(|| reader.state());
        let mut passed = is_behind(from, signed);
        let fault = loop {
            let step = reader.step();
            passed |= signed == Some(reader.state());
            match step {
                Ok(Step::Check(Proof::Holds)) if reader.state().length > proven.length => {
                    proven = reader.state();
                }
                Ok(Step::Record | Step::Check(_)) => {}
                Ok(Step::End) if reader.size() < reader.state().length => break Some(Fault::Cut),
                Ok(Step::End | Step::Cut) => break None,
                Err(ReadError::Io(error)) => return Err(error),
                Err(ReadError::Fault(fault)) => {
                    // A file that was laid out with zeros begins them where its records end.
                    break (!reader.is_unused_tail()?).then_some(fault);
                }
            }
        };
        let state = reader.state();
        let finding = fault.map(|fault| Finding {
            file: file.file_name(),
            offset: state.length,
            sequence: Some(state.sequence + 1),
            fault,
        });
        let foreign = reader.origin().is_some_and(|origin| match signed {
            // Stated before its first record was written: with the link that this one must lead to.
            Some(signed) if signed.length == 0 => origin.link() != signed.link,
            Some(_) => false,
            None => !self.fits(origin),
        });
        Ok(Tail {
            state,
            proven,
            finding,
            foreign,
            passed,
        })
    }

    /// Whether a file that no head states can be of this node, begun behind the newest head. Another node of the same
    /// installation may have the same key.
    fn fits(&self, origin: &Origin) -> bool {
        origin.installation == self.identity.installation
            && origin.node == self.identity.node
            && origin.newest_head == self.walk.newest.hash
    }

    /// Notes the orders of a file up to where it is proven. What is read from its start is taken only if the chain goes
    /// through what the newest head states and ends in what is proven: without a key, anybody can make another chain.
    fn note_orders(&self, proven: &FileState, orders: &mut Orders) -> io::Result<Option<Finding>> {
        let file = proven.file;
        let signed = self.walk.states.get(&file).copied();
        let from = signed.filter(|_| self.walk.open_orders == 0);
        let mut reader = self.reader(file, from)?;
        let mut passed = is_behind(from, signed);
        let mut found = Orders::default();
        while reader.state().length < proven.length {
            match reader.step() {
                Ok(Step::Record) => {}
                Ok(Step::Check(_)) => {
                    passed |= signed == Some(reader.state());
                    continue;
                }
                Ok(Step::End | Step::Cut) | Err(ReadError::Fault(_)) => break,
                Err(ReadError::Io(error)) => return Err(error),
            }
            passed |= signed == Some(reader.state());
            if let Some(entry) = reader.entry() {
                let place = field::Place {
                    file,
                    sequence: entry.sequence(),
                };
                found.note(place, &entry);
            }
        }
        let state = reader.state();
        if passed && (proven.length == 0 || state == *proven) {
            orders.absorb(found);
            return Ok(None);
        }
        Ok(Some(Finding {
            file: file.file_name(),
            offset: state.length,
            sequence: Some(state.sequence),
            fault: Fault::State,
        }))
    }
}

/// Whether a reader that begins here is behind what a head signs, or has nothing signed to pass.
fn is_behind(from: Option<FileState>, signed: Option<FileState>) -> bool {
    from.is_some() || signed.is_none_or(|signed| signed.length == 0)
}

/// A file of records that is being read.
pub(crate) type Records = ChainReader<BufReader<File>>;

/// Orders by request: begun, or ended.
#[derive(Default)]
struct Orders {
    begun: HashMap<RequestId, UnfinishedOrder>,
    ended: BTreeSet<RequestId>,
    epoch: u64,
}

impl Orders {
    fn note(&mut self, place: field::Place, entry: &Entry<'_>) {
        let facts = entry.facts();
        self.epoch = self.epoch.max(facts.epoch);
        match facts.kind {
            RecordType::OrderBefore => {
                self.begun
                    .insert(facts.request, UnfinishedOrder::new(place, entry));
            }
            // Begin and end may stand in different files, in any order of reading.
            RecordType::OrderAfter | RecordType::OrderSettled => {
                self.ended.insert(facts.request);
            }
            _ => {}
        }
    }

    fn absorb(&mut self, other: Self) {
        self.begun.extend(other.begun);
        self.ended.extend(other.ended);
        self.epoch = self.epoch.max(other.epoch);
    }

    fn unfinished(self) -> Vec<UnfinishedOrder> {
        let mut orders: Vec<_> = (self.begun.into_iter())
            .filter(|(request, _)| !self.ended.contains(request))
            .map(|(_, order)| order)
            .collect();
        orders.sort_by_key(|order| (order.facts().time, order.place()));
        orders
    }
}

/// The boots at the front whose last head is older than a time.
pub(crate) struct Front {
    pub(crate) boots: Vec<BootId>,
    pub(crate) heads: Vec<String>,
    pub(crate) newest: HeadId,
}

pub(crate) fn front(
    dir: &Path,
    current: BootId,
    before: WallTime,
) -> Result<Option<Front>, AuditError> {
    let listing = list(dir).map_err(error::Step::ReadHistory.failed())?;
    let (parts, _) = parts(dir, &listing).map_err(|(name, error)| damaged(name, 0, error))?;
    let mut front = None;
    let mut seen = Front {
        boots: Vec::new(),
        heads: Vec::new(),
        newest: HeadId::NONE,
    };
    for boot in parts.chunk_by(|a, b| a.boot == b.boot) {
        let Some(last) = last_head(dir, boot, Signatures::Checked)? else {
            break;
        };
        let id = boot.first().map(|part| part.boot);
        if id == Some(current) || last.head().time >= before {
            break;
        }
        seen.boots.extend(id);
        seen.heads.extend(boot.iter().map(|part| part.name.clone()));
        seen.newest = last.id();
        front = Some(());
    }
    Ok(front.map(|()| seen))
}

fn last_head<'a>(
    dir: &Path,
    parts: impl IntoIterator<Item = &'a Part>,
    signatures: Signatures,
) -> Result<Option<SignedHead>, AuditError> {
    let mut last = None;
    for part in parts {
        each_head(dir, part, signatures, |head| last = Some(head))?;
    }
    Ok(last)
}

fn each_head(
    dir: &Path,
    part: &Part,
    signatures: Signatures,
    mut take: impl FnMut(SignedHead),
) -> Result<(), AuditError> {
    let mut reader = open_heads(dir, &part.name)
        .map_err(error::Step::ReadHistory.failed())?
        .with_signatures(signatures);
    loop {
        let offset = reader.position();
        match reader
            .step()
            .map_err(|error| damaged(part.name.clone(), offset, error))?
        {
            Step::Record => reader.take().into_iter().for_each(&mut take),
            Step::End | Step::Cut | Step::Check(_) => return Ok(()),
        }
    }
}

/// Files without any check frame that holds which one start adopts.
const MOST_TORN: usize = 16;
const BUFFER: usize = 64 << 10;
