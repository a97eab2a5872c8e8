//! What a service must answer, from nothing but the orders and requests that it was given.
//!
//! Written a second time and without a look at rows, records or holders: maps of names, lists of versions, and of each
//! version its state and when it was last used and last asked for in vain.

use std::collections::BTreeMap;

use keywright_custody::lifecycle::Order;
use keywright_types::{BindingKind, Code, State};

pub(super) const DAY_MS: u64 = 86_400_000;

/// Whose group is whose: the first two clients share one.
const GROUPS: [u8; 3] = [1, 1, 2];

/// Everything that is remembered across a restart, and what is not.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    pub(super) contexts: BTreeMap<&'static str, Context>,
    pub(super) revoked: [bool; 3],
    /// Whether the clock is believed.
    pub(super) sure: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Context {
    /// Which key this is: a name may come to another one after a restore.
    pub(super) key: u64,
    pub(super) binding: BindingKind,
    pub(super) min_open: usize,
    pub(super) quiet_days: u16,
    pub(super) destroy_after_days: u16,
    pub(super) rotate_after_days: Option<u16>,
    /// The first has number 1.
    pub(super) versions: Vec<Version>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Version {
    /// Which secret this is: a number may come to another one after a restore.
    pub(super) secret: u64,
    pub(super) state: State,
    before_suspension: Option<State>,
    made_ms: u64,
    scheduled_ms: u64,
    due_ms: u64,
    used: Used,
    /// As the store has it.
    stored: Used,
}

/// When a version was last used, and last asked for in vain.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    used_ms: Option<u64>,
    refused_ms: Option<u64>,
}

/// A ciphertext that somebody has kept.
#[derive(Clone, Debug)]
pub(super) struct Sealed {
    pub(super) context: &'static str,
    pub(super) key: u64,
    pub(super) number: usize,
    pub(super) secret: u64,
    pub(super) by: usize,
    pub(super) binding: BindingKind,
    pub(super) text: Vec<u8>,
    pub(super) envelope: Vec<u8>,
}

/// Of which versions an order is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Which {
    All,
    One(usize),
}

/// An order about versions of a context.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    pub(super) order: Order,
    pub(super) which: Which,
    pub(super) despite_use: bool,
}

impl Model {
    /// Whether a client is let in, and the context is there.
    pub(super) fn reach(&mut self, client: usize, name: &str) -> Result<&mut Context, Code> {
        if self.revoked[client] {
            return Err(Code::CertificateRevoked);
        }
        self.contexts.get_mut(name).ok_or(Code::ContextNotFound)
    }

    pub(super) fn create(&mut self, name: &'static str, context: Context) -> Result<(), Code> {
        if self.contexts.contains_key(name) {
            return Err(Code::NameTaken);
        }
        self.contexts.insert(name, context);
        Ok(())
    }

    pub(super) fn life(&mut self, name: &str, given: Given, now_ms: u64) -> Result<(), Code> {
        let sure = self.sure;
        let context = self.contexts.get_mut(name).ok_or(Code::ContextNotFound)?;
        context.life(given, (now_ms, sure))
    }

    /// Rotates what is old enough, and says what.
    pub(super) fn rotate_due(
        &mut self,
        now_ms: u64,
        secret: &mut impl FnMut() -> u64,
    ) -> Vec<&'static str> {
        let old = |context: &Context| {
            let active = context.active().map(|active| context.versions[active]);
            let after = context.rotate_after_days.map(days_ms);
            active
                .zip(after)
                .is_some_and(|(active, after)| active.made_ms + after <= now_ms)
        };
        let mut rotated = Vec::new();
        for (name, context) in &mut self.contexts {
            if old(context) {
                context.rotate(secret(), now_ms);
                rotated.push(*name);
            }
        }
        rotated
    }

    /// Destroys what may be destroyed, and says how many versions.
    pub(super) fn destroy_due(&mut self, now_ms: u64) -> usize {
        let sure = self.sure;
        let mut destroyed = 0;
        for context in self.contexts.values_mut() {
            for index in 0..context.versions.len() {
                let given = Given {
                    order: Order::Destroy,
                    which: Which::One(index + 1),
                    despite_use: false,
                };
                destroyed += usize::from(context.life(given, (now_ms, sure)).is_ok());
            }
        }
        destroyed
    }

    /// Puts into the store what was counted.
    pub(super) fn save_uses(&mut self) {
        self.every_version(|version| version.stored = version.used);
    }

    /// What a start remembers.
    pub(super) fn restart(&mut self) {
        self.every_version(|version| version.used = version.stored);
    }

    /// What a home made of `backup` is when the log is lost.
    pub(super) fn restored(backup: &Self) -> Self {
        let mut home = backup.clone();
        home.sure = false;
        home.restart();
        home
    }

    /// What a home made of `backup` is when the log tells of everything that came after it: as things are now, but the
    /// secrets that were made since are lost, and so are the counts.
    pub(super) fn restored_with_log(&self, backup: &Self) -> Self {
        let mut home = self.clone();
        home.sure = false;
        for (name, context) in &mut home.contexts {
            let kept = backup.contexts.get(name);
            for (index, version) in context.versions.iter_mut().enumerate() {
                let kept = kept.and_then(|kept| kept.versions.get(index));
                let kept = kept.filter(|kept| kept.secret == version.secret);
                version.stored = kept.map(|kept| kept.stored).unwrap_or_default();
                if kept.is_none_or(|kept| kept.state == State::Destroyed) {
                    version.state = State::Destroyed;
                }
            }
        }
        home.restart();
        home
    }

    fn every_version(&mut self, change: impl Fn(&mut Version)) {
        let contexts = self.contexts.values_mut();
        contexts
            .flat_map(|context| &mut context.versions)
            .for_each(change);
    }
}

impl Context {
    /// A context with its first version.
    pub(super) fn new((key, secret): (u64, u64), binding: BindingKind, now_ms: u64) -> Self {
        Self {
            key,
            binding,
            min_open: 1,
            quiet_days: 7,
            destroy_after_days: 30,
            rotate_after_days: None,
            versions: vec![Version::new(secret, now_ms)],
        }
    }

    pub(super) fn active(&self) -> Option<usize> {
        let mut versions = self.versions.iter();
        versions.position(|version| version.state == State::Active)
    }

    /// Seals with the active version: its place.
    pub(super) fn seal(&mut self, now_ms: u64) -> Result<usize, Code> {
        match self.active() {
            Some(active) => {
                self.versions[active].used.used_ms = Some(now_ms);
                Ok(active)
            }
            None => {
                // Whoever asks for the newest in vain shows that it is missed.
                let newest = self.versions.last_mut().expect("a version");
                newest.used.refused_ms = Some(now_ms);
                Err(Code::NoActiveVersion)
            }
        }
    }

    /// Opens, for this client, or for nobody where it does not matter who asks.
    pub(super) fn open(
        &mut self,
        sealed: &Sealed,
        client: Option<usize>,
        now_ms: u64,
    ) -> Result<(), Code> {
        let bound = client.is_none_or(|client| match sealed.binding {
            BindingKind::Principal => client == sealed.by,
            BindingKind::Group => GROUPS[client] == GROUPS[sealed.by],
            _ => true,
        });
        let version = self.versions.get_mut(sealed.number - 1);
        let Some(version) = version.filter(|_| bound && self.key == sealed.key) else {
            return Err(Code::DecryptionFailed);
        };
        let open = matches!(version.state, State::Active | State::Retired);
        if !open || sealed.number < self.min_open {
            version.used.refused_ms = Some(now_ms);
            return Err(Code::KeyVersionUnavailable);
        }
        if version.secret != sealed.secret {
            return Err(Code::DecryptionFailed);
        }
        version.used.used_ms = Some(now_ms);
        Ok(())
    }

    pub(super) fn rotate(&mut self, secret: u64, now_ms: u64) {
        if let Some(active) = self.active() {
            self.versions[active].state = State::Retired;
        }
        self.versions.push(Version::new(secret, now_ms));
    }

    pub(super) fn set_min_open(&mut self, number: usize) -> Result<(), Code> {
        let most = self.active().map_or(self.versions.len(), |place| place + 1);
        if number == 0 || number > most {
            return Err(Code::ValueInvalid);
        }
        self.min_open = number;
        Ok(())
    }

    fn life(&mut self, given: Given, clock: (u64, bool)) -> Result<(), Code> {
        if given.order == Order::Destroy {
            self.may_destroy(given, clock)?;
        }
        if matches!(given.which, Which::One(number) if number == 0 || number > self.versions.len())
        {
            return Err(Code::VersionNotFound);
        }
        let mut after = self.versions.clone();
        let mut moved = false;
        for index in (0..after.len()).rev() {
            if !given.covers(index) {
                continue;
            }
            let state = after[index].state;
            let active = after.iter().position(|one| one.state == State::Active);
            let another = active.filter(|active| *active != index);
            // Every version here was active once, from its making on.
            let again = match another.is_some() || index + 1 < after.len() {
                true => State::Retired,
                false => State::Active,
            };
            match after[index].follow(given.order, again) {
                Some(next) => {
                    let wait = days_ms(self.destroy_after_days);
                    after[index].become_one_that_is(next, given.order, (clock.0, wait));
                    moved = true;
                }
                None => {
                    let whole = given.order == Order::ScheduleDestroy && state == State::Active;
                    if given.which != Which::All || whole {
                        return Err(Code::StateConflict);
                    }
                }
            }
        }
        if !moved {
            return Err(Code::StateConflict);
        }
        self.versions = after;
        Ok(())
    }

    fn may_destroy(&self, given: Given, (now_ms, sure): (u64, bool)) -> Result<(), Code> {
        for (index, version) in self.versions.iter().enumerate() {
            if !given.covers(index) || version.state != State::DestroyScheduled {
                continue;
            }
            if now_ms < version.due_ms {
                return Err(Code::NotYetDue);
            }
            if !sure {
                return Err(Code::ClockUncertain);
            }
            let quiet = days_ms(self.quiet_days);
            let used = version.used.used_ms.is_some_and(|at| at + quiet > now_ms);
            let refused = version.used.refused_ms;
            let missed = refused.is_some_and(|at| at >= version.scheduled_ms);
            if !given.despite_use && (used || missed) {
                return Err(Code::KeyInUse);
            }
        }
        Ok(())
    }
}

impl Version {
    fn new(secret: u64, now_ms: u64) -> Self {
        Self {
            secret,
            state: State::Active,
            before_suspension: None,
            made_ms: now_ms,
            scheduled_ms: 0,
            due_ms: 0,
            used: Used::default(),
            stored: Used::default(),
        }
    }

    /// What docs/life-cycle.md makes of an order; `again` is what one that was active would be again.
    fn follow(&self, order: Order, again: State) -> Option<State> {
        Some(match (self.state, order) {
            (State::Active, Order::Retire) => State::Retired,
            (State::Active | State::Retired, Order::Suspend) => State::Suspended,
            (State::Suspended, Order::Resume) => match self.before_suspension {
                Some(State::Active) => again,
                _ => State::Retired,
            },
            (State::Retired | State::Suspended, Order::ScheduleDestroy) => State::DestroyScheduled,
            (State::DestroyScheduled, Order::CancelDestroy) => State::Retired,
            (State::DestroyScheduled, Order::Destroy) => State::Destroyed,
            _ => return None,
        })
    }

    fn become_one_that_is(&mut self, next: State, order: Order, (now_ms, wait_ms): (u64, u64)) {
        match order {
            Order::Suspend => self.before_suspension = Some(self.state),
            Order::ScheduleDestroy => {
                (self.scheduled_ms, self.due_ms) = (now_ms, now_ms + wait_ms);
            }
            _ => (),
        }
        self.state = next;
    }
}

impl Given {
    fn covers(&self, index: usize) -> bool {
        match self.which {
            Which::All => true,
            Which::One(number) => number == index + 1,
        }
    }
}

fn days_ms(days: u16) -> u64 {
    u64::from(days) * DAY_MS
}
