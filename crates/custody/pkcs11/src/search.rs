//! Searching a token: object by object, or exactly one.

use crate::error::Error;
use crate::object::{Candidate, ObjectHandle};
use crate::session::Session;
use crate::template::Template;

/// How many objects are fetched with one call.
const BATCH: usize = 64;
/// How many candidates an error names.
const SHOWN: usize = 16;

/// Objects that match, as the token gives them. Others may be read while it runs, but not searched for: a
/// session has one search.
#[must_use = "a search does nothing until it is asked for objects"]
#[derive(Debug)]
pub struct Search<'a> {
    session: &'a Session,
    fetched: [u64; BATCH],
    next: usize,
    count: usize,
    ended: bool,
}

impl Session {
    /// Begins to look for objects that have all attributes of `template`.
    ///
    /// # Errors
    /// [`Error::Failed`].
    pub fn search(&self, template: &Template) -> Result<Search<'_>, Error> {
        self.calls().find_begin(self.raw(), template)?;
        Ok(Search {
            session: self,
            fetched: [0; BATCH],
            next: 0,
            count: 0,
            ended: false,
        })
    }

    /// The one object that matches.
    ///
    /// # Errors
    /// [`Error::NoObject`] and [`Error::ManyObjects`], which names the first of them; [`Error::Failed`].
    pub fn find_one(&self, template: &Template) -> Result<ObjectHandle, Error> {
        let mut found = self.first_ones(template, SHOWN)?;
        match (found.pop(), found.is_empty()) {
            (None, _) => Err(Error::NoObject),
            (Some(one), true) => Ok(one),
            (Some(last), false) => {
                found.push(last);
                Err(Error::ManyObjects {
                    candidates: self.candidates(&found)?,
                })
            }
        }
    }

    /// Refuses if an object matches: before one like it is made.
    ///
    /// # Errors
    /// [`Error::Duplicate`], [`Error::Failed`].
    pub fn must_be_new(&self, template: &Template) -> Result<(), Error> {
        let found = self.first_ones(template, SHOWN)?;
        if found.is_empty() {
            return Ok(());
        }
        Err(Error::Duplicate {
            candidates: self.candidates(&found)?,
        })
    }

    fn first_ones(&self, template: &Template, most: usize) -> Result<Vec<ObjectHandle>, Error> {
        self.search(template)?.take(most).collect()
    }

    fn candidates(&self, found: &[ObjectHandle]) -> Result<Vec<Candidate>, Error> {
        found.iter().map(|handle| self.candidate(*handle)).collect()
    }
}

impl Iterator for Search<'_> {
    type Item = Result<ObjectHandle, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next == self.count {
            if self.ended {
                return None;
            }
            let (calls, session) = (self.session.calls(), self.session.raw());
            self.next = 0;
            match calls.find_some(session, &mut self.fetched) {
                Ok(count) => self.count = count,
                Err(failure) => {
                    self.count = 0;
                    self.ended = true;
                    return Some(Err(failure.into()));
                }
            }
            // Fewer than asked for may be a token's habit; none is the end.
            self.ended = self.count == 0;
        }
        let found = self.fetched[..self.count].get(self.next)?;
        self.next += 1;
        Some(Ok(ObjectHandle::new(*found)))
    }
}

impl Drop for Search<'_> {
    fn drop(&mut self) {
        // A search that was not ended would keep the session from the next one. If ending fails the session
        // is gone, which its next call says.
        self.session.calls().find_end(self.session.raw()).ok();
    }
}
