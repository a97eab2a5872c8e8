//! Sessions and logins.

use keywright_pkcs11_names::ReturnCode;

use super::{Call, Outcome, limit};
use crate::bounded::Bounded;
use crate::finding::Spot;
use crate::report::{Limit, Logins, Sessions};

/// Where applications work: sessions that are open, and who logs in.
#[derive(Debug)]
pub(super) struct Places {
    /// By process and handle: the slot.
    open: Bounded<(u32, u64), Option<u64>>,
    sessions: Sessions,
    logins: Logins,
    /// Wrong PINs in a row, by slot and user.
    wrong: Bounded<(Option<u64>, Option<u64>), u64>,
    pub(super) retries: Spot,
    pub(super) leaked: Spot,
}

const OPEN: usize = 65_536;
const SLOTS: usize = 1024;

impl Default for Places {
    fn default() -> Self {
        Self {
            open: Bounded::new(OPEN),
            sessions: Sessions::default(),
            logins: Logins::default(),
            wrong: Bounded::new(SLOTS),
            retries: Spot::default(),
            leaked: Spot::default(),
        }
    }
}

impl Places {
    pub(super) fn take(&mut self, call: &Call<'_>) {
        let Some(function) = call.function else {
            return;
        };
        let name = function.name();
        if matches!(name, "C_Login" | "C_LoginUser") {
            return self.login(call);
        }
        if call.outcome != Outcome::Done {
            return;
        }
        let (process, record) = (call.process, &call.seen.record);
        match name {
            "C_OpenSession" => self.opened(call),
            "C_CloseSession" => {
                self.sessions.closed += 1;
                if let Some(session) = record.session {
                    self.open.remove(&(process, session));
                }
            }
            "C_CloseAllSessions" => {
                let slot = record.slot_id;
                let gone = |place: &(u32, u64), of: &Option<u64>| {
                    place.0 == process && (slot.is_none() || *of == slot)
                };
                self.sessions.closed_together += self.open.drain(gone);
            }
            "C_Finalize" => {
                let left = self.open.drain(|place, _| place.0 == process);
                self.sessions.leaked += left;
                for _ in 0..left {
                    self.leaked.mark(call.seen.line);
                }
            }
            "C_Logout" => self.logins.logouts += 1,
            _ => {}
        }
    }

    fn opened(&mut self, call: &Call<'_>) {
        self.sessions.opened += 1;
        if let Some(session) = call.seen.record.session {
            self.open
                .put((call.process, session), call.seen.record.slot_id);
        }
        self.sessions.most_open = self.sessions.most_open.max(self.open.len() as u64);
    }

    fn login(&mut self, call: &Call<'_>) {
        let record = &call.seen.record;
        let slot = record.slot_id.or_else(|| {
            let session = (call.process, record.session?);
            self.open.of(&session).copied().flatten()
        });
        let who = (slot, record.user_type);
        let tried = call.outcome != Outcome::Unanswered;
        if tried && self.wrong.of(&who).is_some_and(|row| *row > 0) {
            self.logins.after_wrong_pin += 1;
            self.retries.mark(call.seen.line);
        }
        match call.code() {
            Some(code) if code.is_ok() => {
                self.logins.succeeded += 1;
                self.wrong.remove(&who);
            }
            Some(ReturnCode::PIN_INCORRECT) => {
                self.logins.wrong_pin += 1;
                if let Some(row) = self.wrong.entry(who, || 0) {
                    *row += 1;
                }
            }
            Some(_) => self.logins.failed_otherwise += 1,
            None => {}
        }
    }

    pub(super) fn sessions(&self) -> Sessions {
        Sessions {
            still_open: self.open.len() as u64,
            ..self.sessions.clone()
        }
    }

    pub(super) fn logins(&self) -> Logins {
        self.logins.clone()
    }

    pub(super) fn limits(&self) -> impl Iterator<Item = Limit> {
        [
            limit("open sessions", &self.open),
            limit("slots with wrong PINs", &self.wrong),
        ]
        .into_iter()
    }
}
