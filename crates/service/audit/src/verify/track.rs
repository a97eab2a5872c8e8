//! One file, followed from head to head.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use keywright_types::{InstallationId, NodeId};

use super::{Failure, Report, finding, read_failure, unreadable};
use crate::chain::{ChainReader, FileState, Link, Step};
use crate::finding::{Fault, Finding};

/// What is known of a file that a head has stated.
pub(super) enum Track {
    /// It may still grow.
    Open(Box<Tracked>),
    /// It ended here.
    Closed(FileState),
    /// It is not there.
    Missing,
}

/// A file that is being followed.
pub(super) struct Tracked {
    path: PathBuf,
    name: String,
    reader: ChainReader<BufReader<File>>,
    /// What its first record must say.
    expected: ((InstallationId, NodeId), [u8; 32]),
    /// Link 0, where a head stated it before there was a record.
    link_0: Option<Link>,
    origin_checked: bool,
    /// From here on a head states records that nothing proved.
    unproven_from: Option<u64>,
}

impl Tracked {
    pub(super) fn new(
        dir: &Path,
        reader: ChainReader<BufReader<File>>,
        expected: ((InstallationId, NodeId), [u8; 32]),
    ) -> Self {
        let name = reader.state().file.file_name();
        Self {
            path: dir.join(&name),
            name,
            reader,
            expected,
            link_0: None,
            origin_checked: false,
            unproven_from: None,
        }
    }

    /// Notes from where on a head states records that nothing proved: behind what heads stated before.
    pub(super) const fn mark(&mut self, from: u64) -> bool {
        self.unproven_from = Some(from);
        from >= self.reader.position()
    }

    pub(super) fn state(&self) -> FileState {
        self.reader.state()
    }

    /// Reads on to where a head states the file.
    pub(super) fn advance(
        &mut self,
        stated: &FileState,
        epoch: u64,
        report: &mut Report,
    ) -> Result<(), Failure> {
        if stated.length > self.reader.size() {
            self.measure()?;
        }
        let mut at = self.reader.state().length;
        while self.reader.state().length < stated.length {
            at = self.reader.state().length;
            match self.step()? {
                Step::Record => self.note(at, Some(epoch), report)?,
                Step::Check(_) => {}
                Step::End | Step::Cut => return Err(self.fault(at, Fault::Cut)),
            }
        }
        let reached = self.reader.state();
        if stated.length == 0 && reached.length == 0 && stated.sequence == 0 {
            self.link_0 = (stated.link != [0; 32]).then_some(stated.link);
            return Ok(());
        }
        if reached != *stated {
            let sequence = reached.sequence;
            return Err(finding(self.name.clone(), at, Some(sequence), Fault::State));
        }
        Ok(())
    }

    /// Reads what no head covers yet.
    fn read_unsigned(&mut self, report: &mut Report) -> Result<(), Failure> {
        self.measure()?;
        loop {
            let at = self.reader.state().length;
            match self.reader.step() {
                Ok(Step::Record) => {
                    self.note(at, None, report)?;
                    report.unsigned += 1;
                }
                Ok(Step::Check(_)) => {}
                // How the file ends is for `judge_end` to say, which reads the end again.
                Ok(Step::End | Step::Cut) | Err(_) => return self.rewind(),
            }
        }
    }

    /// What stands behind the last record: nothing, or what a crash can leave, which is returned.
    pub(super) fn close(mut self) -> Result<Option<Finding>, Failure> {
        self.measure()?;
        self.judge_end()
    }

    /// Reads what no head covers yet, and judges the end as it was found then: a node that is running
    /// goes on writing.
    pub(super) fn close_unsigned(
        mut self,
        report: &mut Report,
    ) -> Result<Option<Finding>, Failure> {
        self.read_unsigned(report)?;
        self.judge_end()
    }

    fn judge_end(mut self) -> Result<Option<Finding>, Failure> {
        let state = self.reader.state();
        let tail = |fault| Finding {
            file: self.name.clone(),
            offset: state.length,
            sequence: Some(state.sequence + 1),
            fault,
        };
        match self.reader.step() {
            Ok(Step::End) => Ok(None),
            Ok(Step::Cut) => Ok(Some(tail(Fault::Cut))),
            Ok(Step::Record | Step::Check(_)) => Err(tail(Fault::After).into()),
            Err(error) => match self
                .reader
                .is_unused_tail()
                .map_err(unreadable(&self.name))?
            {
                true => Ok(Some(tail(Fault::After))),
                false => Err(read_failure(
                    self.name,
                    state.length,
                    Some(state.sequence + 1),
                    error,
                )),
            },
        }
    }

    fn step(&mut self) -> Result<Step, Failure> {
        let state = self.reader.state();
        self.reader.step().map_err(|error| {
            read_failure(
                self.name.clone(),
                state.length,
                Some(state.sequence + 1),
                error,
            )
        })
    }

    fn note(&mut self, at: u64, epoch: Option<u64>, report: &mut Report) -> Result<(), Failure> {
        if !self.origin_checked {
            self.check_origin()?;
        }
        let sequence = self.reader.state().sequence;
        let end = self.reader.state().length;
        let unproven = self.unproven_from.is_some_and(|from| end > from);
        report.unproven += u64::from(unproven);
        if let Some(entry) = self.reader.entry() {
            // What nothing proves may claim any epoch; no head follows it.
            if !unproven && epoch.is_some_and(|epoch| entry.facts().epoch > epoch) {
                return Err(finding(self.name.clone(), at, Some(sequence), Fault::Epoch));
            }
            report.note(entry.facts());
        }
        Ok(())
    }

    fn check_origin(&mut self) -> Result<(), Failure> {
        self.origin_checked = true;
        let ((installation, node), newest_head) = self.expected;
        let fits = self.reader.origin().is_some_and(|origin| {
            origin.installation == installation
                && origin.node == node
                && origin.newest_head == newest_head
                && self.link_0.is_none_or(|link| link == origin.link())
        });
        if fits {
            Ok(())
        } else {
            Err(finding(self.name.clone(), 0, Some(1), Fault::Origin))
        }
    }

    fn fault(&self, offset: u64, fault: Fault) -> Failure {
        finding(
            self.name.clone(),
            offset,
            Some(self.reader.state().sequence + 1),
            fault,
        )
    }

    fn measure(&mut self) -> Result<(), Failure> {
        let found = fs::metadata(&self.path).map_err(unreadable(&self.name))?;
        self.reader.set_size(found.len());
        Ok(())
    }

    /// Puts the input back behind the last good record.
    fn rewind(&mut self) -> Result<(), Failure> {
        self.reader.rewind().map_err(unreadable(&self.name))
    }
}
