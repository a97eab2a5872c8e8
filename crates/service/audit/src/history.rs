//! What earlier boots left in the folder, read at start-up and for pruning.
//!
//! Start-up does not verify the log; it finds the newest head, the end of every older file, and the
//! orders without an end. Files of the newest boot are read from where its newest head states them,
//! unless orders were open there: then from their beginning.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, BufReader, Seek, SeekFrom};
use std::path::Path;

use keywright_clock::WallTime;
use keywright_types::{BootId, RequestId};

use crate::chain::{ChainReader, FileId, FileState, ReadError, Step};
use crate::error;
use crate::field::Place;
use crate::finding::{Fault, Finding};
use crate::head::{self, HeadId, HeadReader, SignedHead, Signer, Statement};
use crate::log::Identity;
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
    pub(crate) epoch: u64,
    pub(crate) older: Vec<FileState>,
    pub(crate) unfinished: Vec<UnfinishedOrder>,
    pub(crate) damage: Vec<Finding>,
}

impl History {
    /// Whether the log goes at least as far as a head that is known from elsewhere.
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

pub(crate) fn open_heads(dir: &Path, name: &str) -> io::Result<HeadReader<BufReader<File>>> {
    let file = File::open(dir.join(name))?;
    let size = file.metadata()?.len();
    Ok(HeadReader::new(
        BufReader::with_capacity(BUFFER, file),
        size,
    ))
}

pub(crate) fn open_records(dir: &Path, file: FileId) -> io::Result<ChainReader<BufReader<File>>> {
    let input = File::open(dir.join(file.file_name()))?;
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
            Ok(Step::End | Step::Cut) => empty.push(name),
            Err(error) => return Err((name, error)),
        }
    }
    parts.sort_by_key(|part| part.first);
    Ok((parts, empty))
}

/// Reads what a start must know.
pub(crate) fn read(dir: &Path) -> Result<History, AuditError> {
    let listing = list(dir).map_err(error::Step::ReadHistory.failed())?;
    let (parts, _) = parts(dir, &listing).map_err(|(name, error)| damaged(name, 0, error))?;
    let mut walk = Walk::default();
    let newest_boot = parts.last().map(|part| part.boot);
    for part in parts.iter().filter(|part| Some(part.boot) == newest_boot) {
        walk.part(dir, part)?;
    }
    let mut orders = Orders::default();
    let mut damage = Vec::new();
    for file in &listing.records {
        let ended = Some(file.boot) != newest_boot && walk.states.contains_key(file);
        if !ended {
            let from = walk
                .states
                .get(file)
                .filter(|_| walk.open_orders == 0)
                .copied();
            let (state, finding) =
                scan(dir, *file, from, &mut orders).map_err(error::Step::ReadHistory.failed())?;
            damage.extend(finding);
            let kept = walk.states.entry(*file).or_insert(state);
            if state.length > kept.length {
                *kept = state;
            }
        }
    }
    Ok(History {
        newest: walk.newest,
        newest_head: walk.newest_head,
        newest_file: parts
            .last()
            .map_or_else(String::new, |part| part.name.clone()),
        identity: walk.identity,
        signer: walk.signer,
        epoch: walk.epoch.max(orders.epoch),
        older: walk.states.into_values().collect(),
        unfinished: orders.unfinished(),
        damage,
    })
}

/// How far signed heads state each file: every file of the newest boot, and all older ones that it found.
pub(crate) fn stated(dir: &Path) -> Result<BTreeMap<FileId, FileState>, AuditError> {
    let listing = list(dir).map_err(error::Step::ReadHistory.failed())?;
    let (parts, _) = parts(dir, &listing).map_err(|(name, error)| damaged(name, 0, error))?;
    let newest = parts.last().map(|part| part.boot);
    let mut walk = Walk::default();
    for part in parts.iter().filter(|part| Some(part.boot) == newest) {
        walk.part(dir, part)?;
    }
    Ok(walk.states)
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

/// The heads of the newest boot.
struct Walk {
    newest: HeadId,
    newest_head: Option<SignedHead>,
    identity: Option<Identity>,
    signer: Option<Signer>,
    epoch: u64,
    open_orders: u32,
    states: BTreeMap<FileId, FileState>,
}

impl Default for Walk {
    fn default() -> Self {
        Self {
            newest: HeadId::NONE,
            newest_head: None,
            identity: None,
            signer: None,
            epoch: 0,
            open_orders: 0,
            states: BTreeMap::new(),
        }
    }
}

impl Walk {
    fn part(&mut self, dir: &Path, part: &Part) -> Result<(), AuditError> {
        let mut reader = open_heads(dir, &part.name).map_err(error::Step::ReadHistory.failed())?;
        loop {
            let offset = reader.position();
            match reader.step() {
                Ok(Step::Record) => {}
                Ok(Step::End | Step::Cut) => return Ok(()),
                Err(error) => return Err(damaged(part.name.clone(), offset, error)),
            }
            if let Some(head) = reader.take() {
                self.head(head)
                    .map_err(|fault| damaged(part.name.clone(), offset, fault.into()))?;
            }
        }
    }

    fn head(&mut self, signed: SignedHead) -> Result<(), Fault> {
        let head = signed.head();
        let follows = self.newest == HeadId::NONE
            || (head.number == self.newest.number + 1 && head.previous == self.newest.hash);
        if !follows {
            return Err(Fault::Previous);
        }
        self.newest = signed.id();
        self.identity = Some(Identity {
            installation: head.installation,
            node: head.node,
        });
        self.epoch = head.epoch;
        self.open_orders = head.open_orders;
        self.signer = Some(match &head.statement {
            Statement::SignerChange(next) => *next,
            _ => *signed.signer(),
        });
        let pruned = matches!(head.statement, Statement::Prune(_));
        for state in &head.files {
            if pruned && state.file.boot != head.boot {
                self.states.remove(&state.file);
            } else {
                self.states.insert(state.file, *state);
            }
        }
        self.newest_head = Some(signed);
        Ok(())
    }
}

/// Reads a file from a stated place, or from its start, to where its chain ends.
fn scan(
    dir: &Path,
    file: FileId,
    from: Option<FileState>,
    orders: &mut Orders,
) -> io::Result<(FileState, Option<Finding>)> {
    let mut input = File::open(dir.join(file.file_name()))?;
    let size = input.metadata()?.len();
    let start = from.map_or(0, |state| state.length);
    input.seek(SeekFrom::Start(start))?;
    let input = BufReader::with_capacity(BUFFER, input);
    let mut reader = match &from {
        Some(state) => ChainReader::resume(input, size, state),
        None => ChainReader::new(input, size, file),
    };
    let fault = loop {
        match reader.step() {
            Ok(Step::Record) => {
                if let Some(entry) = reader.entry() {
                    let place = Place {
                        file,
                        sequence: entry.sequence(),
                    };
                    orders.note(place, &entry);
                }
            }
            Ok(Step::End) if size < start => break Some(Fault::Cut),
            Ok(Step::End | Step::Cut) => break None,
            Err(ReadError::Io(error)) => return Err(error),
            Err(ReadError::Fault(fault)) => {
                // A file that was laid out with zeros begins them where its records end.
                break (!reader.is_unused_tail()?).then_some(fault);
            }
        }
    };
    if fault.is_some() && from.is_some() {
        // Only from its start does the reader learn what kind of file this is.
        return scan(dir, file, None, orders);
    }
    let state = reader.state();
    let finding = fault.map(|fault| Finding {
        file: file.file_name(),
        offset: state.length,
        sequence: Some(state.sequence + 1),
        fault,
    });
    Ok((state, finding))
}

/// Orders by request: begun, or ended.
#[derive(Default)]
struct Orders {
    begun: HashMap<RequestId, UnfinishedOrder>,
    ended: BTreeSet<RequestId>,
    epoch: u64,
}

impl Orders {
    fn note(&mut self, place: Place, entry: &Entry<'_>) {
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
        let Some(last) = last_head(dir, boot)? else {
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

fn last_head(dir: &Path, parts: &[Part]) -> Result<Option<SignedHead>, AuditError> {
    let mut last = None;
    for part in parts {
        let mut reader = open_heads(dir, &part.name).map_err(error::Step::ReadHistory.failed())?;
        loop {
            let offset = reader.position();
            match reader
                .step()
                .map_err(|error| damaged(part.name.clone(), offset, error))?
            {
                Step::Record => last = reader.take(),
                Step::End | Step::Cut => break,
            }
        }
    }
    Ok(last)
}

const BUFFER: usize = 64 << 10;
