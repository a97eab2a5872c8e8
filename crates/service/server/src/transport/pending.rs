//! Connections that have not finished their TLS handshake, on one thread: who has to go when there are too many.
//!
//! A newcomer is always taken. Beyond the share of its source another one of that source is dropped for it, and beyond
//! the limit of all one of the source that has the most: so a source drops its own connections, and one that has few
//! loses none to one that has many. Of a source those go first that got least far ([`Stage`]): silence earns no time.
//! Of those that are silent the oldest goes, because a client speaks as soon as it is connected; of others any of the older
//! half, so that a client has time for its handshake, and one that is slow has a chance (OpenSSH drops at random for that
//! reason, `MaxStartups`).
//!
//! Counts are those of all threads, but a thread drops only what is its own. One that has nothing to drop goes beyond
//! the limit: by one connection for each thread, then it has.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::hash_map::RandomState;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::BuildHasher;
use std::mem::MaybeUninit;
use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use keywright_service::DropReason;
use socket2::SockRef;
use tokio::net::TcpStream;
use tokio::sync::Notify;

use super::Limits;
use super::source::{Source, SourceCounts};

/// How far a handshake has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// It has failed; only its alert is still on the way.
    Failed,
    /// No byte has come.
    Silent,
    /// Bytes have come, and no whole ClientHello.
    Begun,
    /// A ClientHello was answered.
    Answered,
}

impl Stage {
    /// How far a connection is that was just accepted. Bytes have come as a rule: a client speaks right behind the end
    /// of the handshake of TCP.
    pub(crate) fn of(tcp: &TcpStream) -> Self {
        let peeked = SockRef::from(tcp).peek(&mut [MaybeUninit::uninit()]);
        match peeked.is_ok_and(|bytes| bytes > 0) {
            true => Self::Begun,
            false => Self::Silent,
        }
    }
}

/// The unauthenticated connections of one thread.
#[derive(Debug)]
pub(crate) struct Pending {
    counts: Arc<SourceCounts>,
    limits: Limits,
    next: Cell<u64>,
    hasher: RandomState,
    table: RefCell<Table>,
}

#[derive(Debug, Default)]
struct Table {
    sources: HashMap<Source, Entries>,
    /// Each source once, the heaviest last.
    weights: BTreeSet<Weight>,
}

/// Those of one source, by how far they have come and by age.
type Entries = BTreeMap<(Stage, u64), Rc<Signal>>;

/// What makes a source the one that has to drop a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Weight {
    count: usize,
    lowest: Reverse<Stage>,
    /// Sources of one weight have no order that an address could choose.
    salt: u64,
    source: Source,
}

/// Tells the task of a connection that it has to go.
#[derive(Debug, Default)]
struct Signal {
    reason: Cell<Option<DropReason>>,
    notify: Notify,
}

/// One connection; no longer counted when this is dropped.
#[derive(Debug)]
pub(crate) struct Handshake {
    pending: Rc<Pending>,
    source: Source,
    number: u64,
    stage: Cell<Stage>,
    signal: Rc<Signal>,
}

impl Pending {
    pub(crate) fn new(counts: Arc<SourceCounts>, limits: Limits) -> Rc<Self> {
        Rc::new(Self {
            counts,
            limits,
            next: Cell::new(0),
            hasher: RandomState::new(),
            table: RefCell::default(),
        })
    }

    /// Takes a connection, and drops another for it where there are too many.
    pub(crate) fn enter(self: &Rc<Self>, address: IpAddr, stage: Stage) -> Handshake {
        let source = Source::from_address(address, &self.limits);
        let counts = self.counts.enter(source);
        let (number, signal) = (self.next.get(), Rc::<Signal>::default());
        self.next.set(number.wrapping_add(1));
        let own = counts.of_source > self.limits.unauthenticated_per_source
            && self.drop_one(Some(source), DropReason::UnauthenticatedPerSource);
        if !own && counts.of_all > self.limits.unauthenticated_connections {
            self.drop_one(None, DropReason::UnauthenticatedConnections);
        }
        self.change(source, |entries| {
            entries.insert((stage, number), Rc::clone(&signal));
        });
        Handshake {
            pending: Rc::clone(self),
            source,
            number,
            stage: Cell::new(stage),
            signal,
        }
    }

    /// Drops a silent connection of the heaviest source, if it has another; whether it did. The last one may be a
    /// client that was accepted just now: without descriptors the system does not say that nobody waits.
    pub(crate) fn make_room(&self) -> bool {
        let random = self.hasher.hash_one(self.next.get());
        let source = self.table.borrow().heaviest(random);
        let source = source.filter(|source| {
            let table = self.table.borrow();
            let second = table.sources.get(source).and_then(|all| all.keys().nth(1));
            second.is_some_and(|(stage, _)| *stage <= Stage::Silent)
        });
        source.is_some() && self.drop_one(source, DropReason::UnauthenticatedConnections)
    }

    /// Drops a connection of this source, or of the heaviest; whether there was one.
    fn drop_one(&self, source: Option<Source>, reason: DropReason) -> bool {
        let random = self.hasher.hash_one(self.next.get());
        let Some(source) = source.or_else(|| self.table.borrow().heaviest(random)) else {
            return false;
        };
        let dropped = self.change(source, |entries| {
            let victim = choose_victim(entries, random)?;
            entries.remove(&victim)
        });
        let Some(signal) = dropped else {
            return false;
        };
        self.counts.leave(source);
        signal.reason.set(Some(reason));
        signal.notify.notify_one();
        true
    }

    /// Changes the entries of a source, and its weight with them.
    fn change<T>(&self, source: Source, change: impl FnOnce(&mut Entries) -> T) -> T {
        let Table { sources, weights } = &mut *self.table.borrow_mut();
        let salt = self.hasher.hash_one(source);
        let entries = sources.entry(source).or_default();
        if let Some(weight) = Weight::new(source, salt, entries) {
            weights.remove(&weight);
        }
        let changed = change(entries);
        match Weight::new(source, salt, entries) {
            Some(weight) => drop(weights.insert(weight)),
            None => drop(sources.remove(&source)),
        }
        changed
    }
}

impl Table {
    /// A source that has the most, of those the one whose connections got least far, of those any.
    fn heaviest(&self, random: u64) -> Option<Source> {
        let heaviest = *self.weights.last()?;
        let from = |salt| Weight {
            salt,
            source: Source::V4(0),
            ..heaviest
        };
        let behind = self.weights.range(from(random)..).next();
        let first = || self.weights.range(from(0)..).next();
        behind.or_else(first).map(|weight| weight.source)
    }
}

impl Weight {
    /// None if there are no entries.
    fn new(source: Source, salt: u64, entries: &Entries) -> Option<Self> {
        let ((lowest, _), _) = entries.first_key_value()?;
        Some(Self {
            count: entries.len(),
            lowest: Reverse(*lowest),
            salt,
            source,
        })
    }
}

fn choose_victim(entries: &Entries, random: u64) -> Option<(Stage, u64)> {
    let (oldest @ (stage, first), _) = entries.first_key_value()?;
    if *stage <= Stage::Silent {
        return Some(*oldest);
    }
    let mut same = entries.range((*stage, 0)..=(*stage, u64::MAX));
    let ((_, last), _) = same.next_back()?;
    let at = first + random % ((last - first) / 2 + 1);
    let chosen = entries.range((*stage, at)..).next();
    chosen.map(|(key, _)| *key)
}

impl Handshake {
    /// It has come so far.
    pub(crate) fn reach(&self, stage: Stage) {
        let before = (self.stage.replace(stage), self.number);
        self.pending.change(self.source, |entries| {
            if let Some(signal) = entries.remove(&before) {
                entries.insert((stage, self.number), signal);
            }
        });
    }

    pub(super) fn stage(&self) -> Stage {
        self.stage.get()
    }

    /// Resolves when it was dropped.
    pub(crate) async fn dropped(&self) -> DropReason {
        loop {
            if let Some(reason) = self.signal.reason.get() {
                return reason;
            }
            self.signal.notify.notified().await;
        }
    }
}

impl Drop for Handshake {
    fn drop(&mut self) {
        let key = (self.stage.get(), self.number);
        let own = self
            .pending
            .change(self.source, |entries| entries.remove(&key));
        if own.is_some() {
            self.pending.counts.leave(self.source);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    const SOURCE: [u8; 4] = [192, 0, 2, 1];
    const OTHER: [u8; 4] = [192, 0, 2, 2];

    fn why(handshake: &Handshake) -> Option<DropReason> {
        let mut cx = Context::from_waker(Waker::noop());
        match pin!(handshake.dropped()).poll(&mut cx) {
            Poll::Ready(reason) => Some(reason),
            Poll::Pending => None,
        }
    }

    fn dropped(handshakes: &[Handshake]) -> Vec<usize> {
        let dropped = handshakes.iter().map(why).enumerate();
        dropped
            .filter_map(|(number, reason)| reason.map(|_| number))
            .collect()
    }

    fn limits(all: usize, per_source: usize) -> Limits {
        Limits {
            unauthenticated_connections: all,
            unauthenticated_per_source: per_source,
            ..Limits::default()
        }
    }

    fn pending(all: usize, per_source: usize) -> Rc<Pending> {
        Pending::new(Arc::default(), limits(all, per_source))
    }

    fn enter(pending: &Rc<Pending>, source: [u8; 4], stage: Stage, count: usize) -> Vec<Handshake> {
        let address = IpAddr::from(source);
        (0..count).map(|_| pending.enter(address, stage)).collect()
    }

    #[test]
    fn a_source_beyond_its_share_drops_its_own_and_the_silent_first() {
        let pending = pending(100, 4);
        let mut mine = enter(&pending, SOURCE, Stage::Silent, 4);
        let others = enter(&pending, OTHER, Stage::Silent, 4);
        assert!(dropped(&mine).is_empty());
        mine[0].reach(Stage::Answered);
        mine[1].reach(Stage::Begun);
        mine.extend(enter(&pending, SOURCE, Stage::Begun, 2));
        assert_eq!(dropped(&mine), [2, 3]);
        assert_eq!(why(&mine[2]), Some(DropReason::UnauthenticatedPerSource));
        mine.extend(enter(&pending, SOURCE, Stage::Begun, 3));
        assert!(!dropped(&mine).contains(&0), "it has come furthest");
        mine[8].reach(Stage::Failed);
        mine.extend(enter(&pending, SOURCE, Stage::Silent, 1));
        assert!(why(&mine[8]).is_some(), "it has failed already");
        assert!(dropped(&others).is_empty());
        assert_eq!(pending.counts.of_all(), 8);
        drop((mine, others));
        assert_eq!(pending.counts.of_all(), 0);
        let table = pending.table.borrow();
        assert!(table.sources.is_empty() && table.weights.is_empty());
    }

    #[test]
    fn beyond_the_limit_of_all_the_source_with_the_most_drops_one() {
        let pending = pending(10, 10);
        let few = enter(&pending, OTHER, Stage::Silent, 3);
        let many = enter(&pending, SOURCE, Stage::Answered, 7);
        let newcomer = enter(&pending, [192, 0, 2, 3], Stage::Silent, 4);
        assert!(dropped(&few).is_empty() && dropped(&newcomer).is_empty());
        assert_eq!(dropped(&many).len(), 4);
        let reasons: BTreeSet<_> = many.iter().filter_map(why).map(DropReason::name).collect();
        assert_eq!(
            reasons.into_iter().collect::<Vec<_>>(),
            ["unauthenticated_connections"]
        );
    }

    #[test]
    fn of_sources_that_are_alike_any_drops_one_and_who_speaks_is_spared() {
        let pending = pending(64, 10);
        let speaks = enter(&pending, SOURCE, Stage::Begun, 1);
        let mut silent = Vec::new();
        for host in 0..=255 {
            silent.extend(enter(&pending, [198, 51, 100, host], Stage::Silent, 1));
        }
        assert!(dropped(&speaks).is_empty());
        let gone = dropped(&silent);
        assert_eq!(gone.len(), 256 - 63);
        // Were it by address or age, those that stay would be the last, or the first.
        let stays = |range: std::ops::Range<usize>| {
            range.clone().count() > gone.iter().filter(|one| range.contains(one)).count()
        };
        assert!(stays(0..192) && stays(192..256), "{gone:?}");
        assert!(gone.iter().any(|one| *one >= 192), "{gone:?}");
    }

    #[test]
    fn room_is_made_by_silent_connections_but_the_last() {
        let pending = pending(100, 100);
        assert!(!pending.make_room(), "there is none");
        let speak = enter(&pending, SOURCE, Stage::Begun, 5);
        let silent = enter(&pending, SOURCE, Stage::Silent, 3);
        assert!(pending.make_room() && pending.make_room());
        assert!(!pending.make_room());
        assert_eq!((dropped(&speak), dropped(&silent)), (vec![], vec![0, 1]));
        assert_eq!(pending.counts.of_all(), 6);
    }

    #[test]
    fn of_those_that_speak_any_goes() {
        let pending = pending(1000, 100);
        let mut all = enter(&pending, SOURCE, Stage::Begun, 100);
        all.extend(enter(&pending, SOURCE, Stage::Begun, 50));
        let gone = dropped(&all);
        assert_eq!(gone.len(), 50);
        assert_ne!(gone, (0..50).collect::<Vec<_>>(), "not the oldest");
        assert!(gone.iter().any(|one| *one >= 50), "{gone:?}");
    }

    #[test]
    fn threads_share_the_counts_and_drop_what_is_theirs() {
        let counts = Arc::<SourceCounts>::default();
        let thread = || Pending::new(Arc::clone(&counts), limits(100, 4));
        let (one, two) = (thread(), thread());
        let first = enter(&one, SOURCE, Stage::Silent, 4);
        // It has none of that source yet, and so goes beyond by one; then it drops its own.
        let second = enter(&two, SOURCE, Stage::Silent, 3);
        assert_eq!((dropped(&first), dropped(&second)), (vec![], vec![0, 1]));
        assert_eq!(counts.of_all(), 5);
        drop(first);
        assert_eq!(counts.of_all(), 1);
        let third = enter(&two, SOURCE, Stage::Silent, 3);
        assert!(dropped(&third).is_empty());
    }
}
