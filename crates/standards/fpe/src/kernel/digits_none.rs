//! Where there are no vector conversions: the same names, of which none can be reached.

use crate::cipher::Backend;
use crate::feistel::Plan;

pub(super) const MARGIN: usize = 0;

pub(super) type Eights = [u64; 4];

/// Never made.
pub(super) enum Converter {}

impl Converter {
    pub(super) const fn new(_: &Plan, _: Backend) -> Option<Self> {
        None
    }

    pub(super) const fn read(&self, _: &[u8], _: &mut [Eights]) {
        match *self {}
    }

    pub(super) const fn write(&self, _: &[Eights], _: &mut [u8]) {
        match *self {}
    }

    pub(super) const fn join(&self, _: Eights) -> [u128; 2] {
        match *self {}
    }

    pub(super) const fn join64(&self, _: Eights) -> [u64; 2] {
        match *self {}
    }

    pub(super) const fn split(&self, _: u128) -> [u64; 2] {
        match *self {}
    }

    pub(super) const fn split_sixteen(&self, _: u64) -> [u64; 2] {
        match *self {}
    }

    pub(super) const fn is_long(&self) -> bool {
        match *self {}
    }

    pub(super) const fn split_top(&self, _: u64) -> [u64; 2] {
        match *self {}
    }

    pub(super) const fn sixteen(&self) -> u64 {
        match *self {}
    }
}
