//! The token of a child as a [`KeyHolder`].
//!
//! What is decided stays here: the permit is checked before anything is asked, and the child makes one of its own for
//! what it was ordered to do. A request of many items goes over in parts, so that no part takes long and an item that
//! crashes the module costs little; [`crate::part`] looks at what comes back.
//!
//! A request whose child ends under it is refused, and not given to the next child: it may be what ended it.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use keywright_clock::{Clock, MonotonicTime};
use keywright_custody::{
    AtOnce, Detail, HolderError, HolderOperation, Items, KeyHolder, KeyMaterial, NO_DEADLINE,
    NewKey, Particulars, Placement, Reply, Request,
};
use keywright_pkcs11::Pace;
use keywright_policy::Permit;
use keywright_primitives::random::RandomStream;
use keywright_types::{KeySpec, Operation};
use smallvec::SmallVec;

use crate::answer::{self, Answer};
use crate::frame::Buffer;
use crate::keeper::TokenProcess;
use crate::line::{Lent, NoAnswer, Times, Wait};
use crate::order::{self, Named, OfVersion};
use crate::part::{SHORT_ANSWER, bound, chosen, longest_answer, parts, settle};

/// Keys in the token of a child.
pub struct ChildHolder {
    process: Arc<TokenProcess>,
    clock: Clock,
    pace: Pace,
}

/// What a key's cell holds: the number under which the child of one life knows it.
#[derive(Clone, Copy, Debug)]
struct Known {
    life: u64,
    number: u64,
}

/// No two versions have one number in the life of this process.
static NUMBERS: AtomicU64 = AtomicU64::new(1);

/// A version on its way: its number, and what it is where the child has to be told.
struct Introduced {
    number: u64,
    told: Vec<u8>,
}

impl Introduced {
    fn named(&self) -> Named<'_> {
        Named {
            number: self.number,
            material: &self.told,
        }
    }
}

type Versions = SmallVec<[Introduced; 1]>;

impl ChildHolder {
    /// A holder over the token of `process`; `clock` is the one of requests' deadlines.
    #[must_use]
    pub const fn new(process: Arc<TokenProcess>, clock: Clock) -> Self {
        Self {
            process,
            clock,
            pace: Pace::new(),
        }
    }

    /// The child.
    #[must_use]
    pub const fn process(&self) -> &Arc<TokenProcess> {
        &self.process
    }

    fn left(&self, request: &Request) -> u64 {
        match request.deadline_ns {
            NO_DEADLINE => NO_DEADLINE,
            // All ones stand for none.
            deadline => deadline
                .saturating_sub(self.clock.monotonic().nanos())
                .min(NO_DEADLINE - 1),
        }
    }

    /// One part of a request, asked; told once more where the child does not know a version.
    fn part(
        &self,
        lent: &mut Lent,
        (request, items): (&Request, &Items),
        part: &Range<usize>,
        quick: Quick,
    ) -> Result<(), HolderError> {
        let chosen = chosen(items, part).ok_or(HolderError::Unavailable)?;
        let most = longest_answer(request.operation, &chosen);
        let mut known = Telling::Unknown;
        loop {
            let versions = introduce(&request.versions, lent.life(), known);
            let left = self.left(request);
            let use_within = match (quick, left) {
                (Quick::Yes, _) => Some(QUICK),
                (Quick::No, NO_DEADLINE) => None,
                (Quick::No, left) => Some(Duration::from_nanos(left)),
            };
            let wait = Wait {
                use_within,
                times: Times::Once,
            };
            let write = |out: &mut Buffer| {
                let named: SmallVec<[Named<'_>; 1]> =
                    versions.iter().map(Introduced::named).collect();
                order::put_perform(out, (request, left), &named, chosen.iter().copied());
            };
            match lent.ask(write, most, wait) {
                Ok(()) => {}
                Err(NoAnswer::Late) => return Err(HolderError::DeadlineExceeded),
                Err(NoAnswer::Gone) => return Err(HolderError::Unavailable),
            }
            match answer::read(lent.answer()) {
                Some(Answer::Untold) if known == Telling::Unknown => known = Telling::All,
                Some(Answer::Done(_)) => {
                    remember(&request.versions, &versions, lent.life());
                    return Ok(());
                }
                Some(Answer::Failed(error)) => {
                    remember(&request.versions, &versions, lent.life());
                    return Err(error);
                }
                Some(Answer::Untold) | None => return Err(lent.nonsense()),
            }
        }
    }

    /// All parts of a request, one after the other, on one channel.
    fn whole(
        &self,
        lent: &mut Lent,
        (request, items): (&Request, &Items),
        quick: Quick,
    ) -> Result<Reply, HolderError> {
        let mut parts = parts(items);
        let first = parts.next().unwrap_or(0..0);
        self.part(lent, (request, items), &first, quick)?;
        if first.end == items.len() {
            let room = lent.answer().len();
            let mut reply = Reply::with_capacity(items.len(), room);
            return match settle((request, items), &first, lent.answer(), &mut reply) {
                Some(()) => Ok(reply),
                None => Err(lent.nonsense()),
            };
        }
        // Put together once all are there: a reply that grows leaves copies behind.
        let mut answers = vec![(first, lent.take_answer())];
        for part in parts {
            if request.expired(&self.clock) {
                return Err(HolderError::DeadlineExceeded);
            }
            self.part(lent, (request, items), &part, quick)?;
            answers.push((part, lent.take_answer()));
        }
        let room = answers.iter().map(|(_, answer)| answer.body().len()).sum();
        let mut reply = Reply::with_capacity(items.len(), room);
        for (part, answer) in &answers {
            if settle((request, items), part, answer.body(), &mut reply).is_none() {
                return Err(lent.nonsense());
            }
        }
        Ok(reply)
    }

    /// What came of it, and when.
    fn timed(
        &self,
        lent: &mut Lent,
        (request, items): (&Request, &Items),
        (quick, began): (Quick, MonotonicTime),
    ) -> (Result<Reply, HolderError>, MonotonicTime) {
        let running = self.pace.begin(began.nanos());
        let done = self.whole(lent, (request, items), quick);
        drop(running);
        let ended = self.clock.monotonic();
        let count = u64::try_from(items.len().max(1)).unwrap_or(1);
        let took = ended.nanos().saturating_sub(began.nanos());
        self.pace.note(ended.nanos(), took / count);
        (done, ended)
    }

    /// Something about one version as a whole.
    fn of_version(&self, what: OfVersion, material: &KeyMaterial) -> Result<(), HolderError> {
        let mut lent = self.process.line().take()?;
        let life = lent.life();
        let number = number_in(material, life).unwrap_or_else(next_number);
        let told = order::told(material);
        let write = |out: &mut Buffer| {
            let version = Named {
                number,
                material: &told,
            };
            order::put_of_version(out, what, version);
        };
        let times = match what {
            OfVersion::Check => Times::Once,
            OfVersion::Discard | OfVersion::Destroy => Times::Long,
        };
        done(&mut lent, write, times)?;
        if what == OfVersion::Check {
            material.cell().put(Known { life, number });
        }
        Ok(())
    }
}

/// Whether the caller's thread is one that serves requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quick {
    Yes,
    No,
}

/// What the child is told of the versions of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Telling {
    /// Those that it was not told in this life.
    Unknown,
    All,
}

/// Asks what is answered by a word alone.
fn done(lent: &mut Lent, write: impl FnOnce(&mut Buffer), times: Times) -> Result<(), HolderError> {
    let bytes = asked(lent, write, times, SHORT_ANSWER)?;
    if bytes.is_empty() {
        Ok(())
    } else {
        Err(lent.nonsense())
    }
}

/// Asks, and gives what stands in the answer behind its status.
pub(crate) fn asked(
    lent: &mut Lent,
    write: impl FnOnce(&mut Buffer),
    times: Times,
    most: usize,
) -> Result<keywright_secret::SecretBytes, HolderError> {
    let wait = Wait {
        use_within: None,
        times,
    };
    match lent.ask(write, most, wait) {
        Ok(()) => {}
        Err(NoAnswer::Late) => return Err(HolderError::DeadlineExceeded),
        Err(NoAnswer::Gone) => return Err(HolderError::Unavailable),
    }
    match answer::read(lent.answer()) {
        Some(Answer::Done(bytes)) => Ok(keywright_secret::SecretBytes::from_vec(bytes.to_vec())),
        Some(Answer::Failed(error)) => Err(error),
        Some(Answer::Untold) | None => Err(lent.nonsense()),
    }
}

/// Refuses a row under another tenant's key. The child is not told of parents, so this is looked at here.
fn in_its_place(material: &Arc<KeyMaterial>) -> Result<(), HolderError> {
    let moved = |parent: &Arc<KeyMaterial>| parent.tenant() != material.tenant();
    if material.parent().is_some_and(moved) {
        return Err(HolderError::KeyRejected);
    }
    Ok(())
}

fn next_number() -> u64 {
    NUMBERS.fetch_add(1, Ordering::Relaxed)
}

fn number_in(material: &KeyMaterial, life: u64) -> Option<u64> {
    let known = material.cell().with::<Known, _>(|known| *known)?;
    (known.life == life).then_some(known.number)
}

fn introduce(versions: &[Arc<KeyMaterial>], life: u64, telling: Telling) -> Versions {
    let one = |material: &Arc<KeyMaterial>| {
        let known = number_in(material, life).filter(|_| telling == Telling::Unknown);
        known.map_or_else(
            || Introduced {
                number: next_number(),
                told: order::told(material),
            },
            |number| Introduced {
                number,
                told: Vec::new(),
            },
        )
    };
    versions.iter().map(one).collect()
}

/// What the child was told it knows from now on.
fn remember(versions: &[Arc<KeyMaterial>], introduced: &Versions, life: u64) {
    for (material, one) in versions.iter().zip(introduced) {
        if !one.told.is_empty() {
            let number = one.number;
            material.cell().put(Known { life, number });
        }
    }
}

impl KeyHolder for ChildHolder {
    fn name(&self) -> &'static str {
        "token"
    }

    fn supports(&self, spec: &KeySpec, operation: HolderOperation) -> bool {
        self.process.able().can(spec, operation)
    }

    fn placement(&self) -> Placement {
        Placement::Pool
    }

    fn generate(&self, permit: &Permit, new: NewKey) -> Result<KeyMaterial, HolderError> {
        let NewKey { identity, parent } = new;
        let makes = matches!(
            permit.operation(),
            Operation::ContextCreate | Operation::KeyRotate | Operation::HomeCreate
        );
        if permit.key() != identity.key || !makes {
            return Err(HolderError::PermitMismatch);
        }
        if !self.process.able().keeps(&identity.spec) {
            return Err(HolderError::Unsupported(identity.spec.custody));
        }
        let blank = order::told(&KeyMaterial::new(identity, Vec::new(), None));
        let mut lent = self.process.line().take()?;
        let write = |out: &mut Buffer| order::put_generate(out, &blank);
        let made = asked(&mut lent, write, Times::Long, LONGEST_PROOF)?;
        match answer::bytes(made.expose()) {
            Some(sealed) if !sealed.is_empty() => {
                Ok(KeyMaterial::new(identity, sealed.to_vec(), parent))
            }
            _ => Err(lent.nonsense()),
        }
    }

    /// Takes a key that is in the token already, to open what the seed service sealed with it.
    fn generate_with(
        &self,
        permit: &Permit,
        new: NewKey,
        particulars: Particulars<'_>,
    ) -> Result<KeyMaterial, HolderError> {
        if particulars.is_empty() {
            return self.generate(permit, new);
        }
        let NewKey { identity, parent } = new;
        let opens = self
            .process
            .able()
            .can(&identity.spec, HolderOperation::Open);
        let (true, Some(Detail::Reader(reader)), None) =
            (opens, particulars.detail.as_deref(), particulars.secret)
        else {
            return Err(HolderError::Unsupported(identity.spec.custody));
        };
        if permit.key() != identity.key || permit.operation() != Operation::ReaderImport {
            return Err(HolderError::PermitMismatch);
        }
        let blank = KeyMaterial::new(identity, Vec::new(), None);
        let blank = order::told(&blank.with_detail(particulars.detail.clone()));
        let mut lent = self.process.line().take()?;
        let write = |out: &mut Buffer| order::put_bind(out, &blank);
        let made = asked(&mut lent, write, Times::Long, LONGEST_PROOF)?;
        let Some((reader, sealed)) = bound(reader, made.expose()) else {
            return Err(lent.nonsense());
        };
        let detail = Some(Arc::new(Detail::Reader(reader)));
        Ok(KeyMaterial::new(identity, sealed, parent).with_detail(detail))
    }

    fn discard(&self, permit: &Permit, material: &KeyMaterial) {
        if permit.key() == material.key() && self.process.able().keeps(material.spec()) {
            // Nobody uses it; what is left of it keeps the version's number from being given out again.
            self.of_version(OfVersion::Discard, material).ok();
        }
    }

    fn destroy(&self, permit: &Permit, material: &KeyMaterial) -> Result<(), HolderError> {
        if permit.key() != material.key() || permit.operation() != Operation::KeyDestroy {
            return Err(HolderError::PermitMismatch);
        }
        let gone = self.of_version(OfVersion::Destroy, material);
        material.cell().clear();
        gone
    }

    fn perform(
        &self,
        permit: &Permit,
        request: &Request,
        items: Items,
        _: &mut RandomStream,
    ) -> Result<Reply, HolderError> {
        request.check(permit)?;
        let began = self.clock.monotonic();
        if request.expired_at(began.nanos()) {
            return Err(HolderError::DeadlineExceeded);
        }
        request.versions.iter().try_for_each(in_its_place)?;
        let mut lent = self.process.line().take()?;
        self.timed(&mut lent, (request, &items), (Quick::No, began))
            .0
    }

    /// As in this process: a few short items under keys that the child knows, while the token is quick. A child that
    /// does not answer at once is left with it, and the pool asks again on another channel; one that hangs is ended by
    /// its keeper, and holds up no thread that serves requests.
    fn perform_now(
        &self,
        permit: &Permit,
        (request, now): (&Request, MonotonicTime),
        items: Items,
        _: &mut RandomStream,
    ) -> Result<AtOnce, Items> {
        let short = items.len() <= MOST_ITEMS && items.byte_len() <= MOST_BYTES;
        let began = now.nanos();
        if !short || !self.pace.is_quick(began) {
            return Err(items);
        }
        if let Err(error) = request.check(permit) {
            return Ok(AtOnce::refused(error, now));
        }
        if request.expired_at(began) {
            return Ok(AtOnce::refused(HolderError::DeadlineExceeded, now));
        }
        let Some(mut lent) = self.process.line().take_idle() else {
            return Err(items);
        };
        let life = lent.life();
        let known = |material: &Arc<KeyMaterial>| number_in(material, life).is_some();
        if !request.versions.iter().all(known) {
            return Err(items);
        }
        match self.timed(&mut lent, (request, &items), (Quick::Yes, now)) {
            // It has no time now, or no session: the pool may wait for it.
            (Err(HolderError::DeadlineExceeded | HolderError::Full), _) => Err(items),
            // What a child has failed at, or ended with, is not asked again.
            (reply, ended) => Ok(AtOnce { reply, ended }),
        }
    }

    fn check_key(&self, material: &Arc<KeyMaterial>) -> Result<(), HolderError> {
        in_its_place(material)?;
        self.of_version(OfVersion::Check, material)
    }

    fn probe(&self) -> Result<(), HolderError> {
        let mut lent = self.process.line().take()?;
        done(&mut lent, order::put_probe, Times::Once)
    }
}

impl fmt::Debug for ChildHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ChildHolder({:?})", self.process)
    }
}

/// A check value: an envelope, a signature, or a public key.
const LONGEST_PROOF: usize = 64 << 10;
/// What is short enough for the thread of a caller, and how long that waits.
const MOST_ITEMS: usize = 4;
const MOST_BYTES: usize = 4096;
const QUICK: Duration = Duration::from_millis(4);
