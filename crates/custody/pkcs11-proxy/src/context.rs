//! What earlier calls tell about a later one: the slot of a session, which operation a call belongs to, what kind
//! of key a handle stands for.
//!
//! Known from the calls alone; none is added to find out. When records were dropped, or more is open than has room,
//! everything is forgotten: a field is absent rather than wrong.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use keywright_pkcs11_names::{Family, Function, KeySummary, Phase};

use crate::event::Event;

/// Sessions and keys that are remembered.
const MOST: usize = 65_536;

/// Hashes handles, which the module chose and nobody else: they need to be spread, and not to be kept from anybody.
type Handles = BuildHasherDefault<Spread>;

#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        // An odd number near 2 to the 64 over the golden ratio; the high bits are the well mixed ones.
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn write_isize(&mut self, number: isize) {
        self.write_u64(number.unsigned_abs() as u64);
    }
}

/// What is known of the sessions and keys of a process.
#[derive(Default)]
pub(crate) struct Context {
    sessions: HashMap<u64, Session, Handles>,
    keys: HashMap<(Option<u64>, u64), KeySummary<'static>, Handles>,
    operations: u64,
}

#[derive(Default)]
struct Session {
    slot: Option<u64>,
    operations: Vec<(Lane, u64)>,
}

/// A session may run one operation in each lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lane(Family, Kind);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Message,
    Plain,
    Recover,
    Signature,
}

/// What is known of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) slot: Option<u64>,
    pub(crate) operation: Option<u64>,
}

impl Context {
    /// Forgets everything; the numbers of operations go on.
    pub(crate) fn forget(&mut self) {
        self.sessions.clear();
        self.keys.clear();
    }

    /// Takes note of a call and says what was known.
    pub(crate) fn note(&mut self, role: &Role, event: &Event) -> Known {
        if self.sessions.len() > MOST || self.keys.len() > MOST {
            self.forget();
        }
        let succeeded = event.rv == cryptoki_sys::CKR_OK;
        let slot = event.slot.or_else(|| self.slot_of(event.session));
        let operation = self.operation(role, event);
        match role.effect {
            Effect::Opens if succeeded => {
                if let Some(session) = event.session {
                    let operations = Vec::new();
                    self.sessions.insert(session, Session { slot, operations });
                }
            }
            Effect::Closes => {
                if let Some(session) = event.session {
                    self.sessions.remove(&session);
                }
            }
            Effect::ClosesAll if succeeded => {
                self.sessions
                    .retain(|_, session| session.slot != event.slot);
            }
            Effect::Begins if succeeded => self.forget(),
            Effect::Cancels if succeeded => {
                let session = event.session.unwrap_or_default();
                if let Some(session) = self.sessions.get_mut(&session) {
                    session.operations.clear();
                }
            }
            Effect::Leaves if succeeded => self.keys.clear(),
            Effect::Destroys if succeeded => {
                self.keys.remove(&(slot, event.key.unwrap_or_default()));
            }
            _ => {}
        }
        Known { slot, operation }
    }

    fn slot_of(&self, session: Option<u64>) -> Option<u64> {
        self.sessions.get(&session?)?.slot
    }

    /// The operation that a call begins, goes on with or ends.
    fn operation(&mut self, role: &Role, event: &Event) -> Option<u64> {
        let session = event.session?;
        let (lane, phase) = (role.lane?, role.phase);
        let succeeded = event.rv == cryptoki_sys::CKR_OK;
        if phase == Phase::Init {
            let number = self.operations;
            self.operations += 1;
            if succeeded {
                let open = &mut self.sessions.entry(session).or_default().operations;
                open.retain(|(of, _)| *of != lane);
                open.push((lane, number));
            }
            return Some(number);
        }
        let open = &mut self.sessions.get_mut(&session)?.operations;
        let &(_, number) = open.iter().find(|(of, _)| *of == lane)?;
        // A failure ends an operation as well, except a search and the messages of a key, which have a call for it.
        let ends = match phase {
            _ if event.size_query => false,
            Phase::Final => true,
            Phase::Single => lane.1 != Kind::Message,
            _ => !succeeded && lane.1 != Kind::Message && lane.0 != Family::Find,
        };
        if ends {
            open.retain(|(of, _)| *of != lane);
        }
        Some(number)
    }

    /// The same without a copy of its tag.
    pub(crate) fn shown(&self, slot: Option<u64>, handle: u64) -> KeySummary<'_> {
        let mut key = KeySummary::new(handle);
        if let Some(known) = self.keys.get(&(slot, handle)) {
            (key.class, key.kind, key.bits) = (known.class, known.kind, known.bits);
            key.tag = known.tag.as_deref().map(Into::into);
        }
        key
    }

    /// What is known of the key of this handle.
    pub(crate) fn key(&self, slot: Option<u64>, handle: u64) -> KeySummary<'static> {
        let known = self.keys.get(&(slot, handle));
        known.cloned().unwrap_or_else(|| KeySummary::new(handle))
    }

    /// Keeps what a call told about a key.
    pub(crate) fn learn(&mut self, slot: Option<u64>, key: KeySummary<'static>) {
        self.keys.insert((slot, key.handle), key);
    }
}

/// What a function does here, found out once for all its calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Role {
    lane: Option<Lane>,
    phase: Phase,
    effect: Effect,
}

/// What a call does to sessions and keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    None,
    Begins,
    Cancels,
    Closes,
    ClosesAll,
    Destroys,
    Leaves,
    Opens,
}

impl Role {
    pub(crate) fn of(function: Function) -> Self {
        Self {
            lane: Lane::of(function),
            phase: function.phase(),
            effect: match function.name() {
                "C_Initialize" | "C_Finalize" => Effect::Begins,
                "C_OpenSession" => Effect::Opens,
                "C_CloseSession" => Effect::Closes,
                "C_CloseAllSessions" => Effect::ClosesAll,
                "C_SessionCancel" => Effect::Cancels,
                "C_Logout" | "C_InitToken" => Effect::Leaves,
                "C_DestroyObject" => Effect::Destroys,
                _ => Effect::None,
            },
        }
    }
}

impl Lane {
    fn of(function: Function) -> Option<Self> {
        let name = function.name();
        let family = match function.family() {
            Family::Dual if name.contains("Encrypt") => Family::Encrypt,
            Family::Dual => Family::Decrypt,
            Family::Decrypt
            | Family::Digest
            | Family::Encrypt
            | Family::Find
            | Family::Sign
            | Family::Verify => function.family(),
            _ => return None,
        };
        let kind = if name.contains("Message") {
            Kind::Message
        } else if name.contains("Recover") {
            Kind::Recover
        } else if name.contains("VerifySignature") {
            Kind::Signature
        } else {
            Kind::Plain
        };
        Some(Self(family, kind))
    }
}

#[cfg(test)]
mod tests {
    use cryptoki_sys::{CKR_BUFFER_TOO_SMALL, CKR_DATA_INVALID, CKR_OK};

    use super::*;
    use crate::boundary::Place;

    fn event(rv: u64, session: u64) -> Event {
        let mut event = Event::new(Place::C_Sign, rv);
        event.session = Some(session);
        event
    }

    fn note(context: &mut Context, name: &str, event: &Event) -> Known {
        context.note(&Role::of(Function::named(name).unwrap()), event)
    }

    #[test]
    fn init_update_and_final_share_an_operation_and_others_do_not() {
        let mut context = Context::default();
        let of = |context: &mut Context, name, session| {
            note(context, name, &event(CKR_OK, session)).operation
        };
        assert_eq!(of(&mut context, "C_SignInit", 1), Some(0));
        assert_eq!(of(&mut context, "C_SignInit", 2), Some(1));
        assert_eq!(of(&mut context, "C_DigestInit", 1), Some(2));
        assert_eq!(of(&mut context, "C_SignUpdate", 1), Some(0));
        assert_eq!(of(&mut context, "C_DigestUpdate", 1), Some(2));
        assert_eq!(of(&mut context, "C_SignFinal", 1), Some(0));
        assert_eq!(of(&mut context, "C_SignFinal", 1), None);
        assert_eq!(of(&mut context, "C_Sign", 2), Some(1));
        assert_eq!(of(&mut context, "C_Sign", 2), None);
        assert_eq!(of(&mut context, "C_Login", 1), None);
    }

    #[test]
    fn a_question_for_the_length_does_not_end_an_operation_and_a_failure_does() {
        let mut context = Context::default();
        note(&mut context, "C_SignInit", &event(CKR_OK, 1));
        for rv in [CKR_OK, CKR_BUFFER_TOO_SMALL] {
            let mut query = event(rv, 1);
            query.size_query = true;
            assert_eq!(note(&mut context, "C_Sign", &query).operation, Some(0));
        }
        let failed = event(CKR_DATA_INVALID, 1);
        assert_eq!(
            note(&mut context, "C_SignUpdate", &failed).operation,
            Some(0)
        );
        assert_eq!(note(&mut context, "C_Sign", &failed).operation, None);
        // Many messages, one key: the operation lasts until its own end.
        note(&mut context, "C_MessageSignInit", &event(CKR_OK, 1));
        for name in ["C_SignMessage", "C_SignMessage", "C_MessageSignFinal"] {
            let known = note(&mut context, name, &event(CKR_OK, 1));
            assert_eq!(known.operation, Some(1), "{name}");
        }
        assert_eq!(
            note(&mut context, "C_SignMessage", &event(CKR_OK, 1)).operation,
            None
        );
    }

    #[test]
    fn a_session_leads_to_its_slot_until_it_is_closed() {
        let mut context = Context::default();
        for (session, slot) in [(1, 7), (2, 8), (3, 8)] {
            let mut opened = event(CKR_OK, session);
            opened.slot = Some(slot);
            note(&mut context, "C_OpenSession", &opened);
        }
        let slot =
            |context: &mut Context, session| note(context, "C_Login", &event(CKR_OK, session)).slot;
        assert_eq!(slot(&mut context, 1), Some(7));
        assert_eq!(slot(&mut context, 3), Some(8));
        assert_eq!(slot(&mut context, 9), None);
        note(&mut context, "C_CloseSession", &event(CKR_OK, 1));
        assert_eq!(slot(&mut context, 1), None);
        let mut all = event(CKR_OK, 0);
        (all.session, all.slot) = (None, Some(8));
        note(&mut context, "C_CloseAllSessions", &all);
        assert_eq!(slot(&mut context, 3), None);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut context = Context::default();
        for session in 0..200_000 {
            note(&mut context, "C_SignInit", &event(CKR_OK, session));
            assert!(context.sessions.len() <= MOST + 1);
        }
    }
}
