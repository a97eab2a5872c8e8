//! Module, slots, tokens, sessions and log-in.

use std::ptr::null_mut;

use cryptoki_sys::{
    CK_BBOOL, CK_C_INITIALIZE_ARGS, CK_INFO, CK_MECHANISM_INFO, CK_SESSION_INFO, CK_SLOT_INFO,
    CK_TOKEN_INFO, CK_ULONG, CKF_OS_LOCKING_OK, CKR_BUFFER_TOO_SMALL,
};

use super::{Functions, length, pointer};
use crate::error::Failure;

/// General purpose, slots and tokens.
impl Functions {
    pub(crate) fn initialize(&self, reserved: Option<&std::ffi::CStr>) -> Result<(), Failure> {
        let mut arguments = CK_C_INITIALIZE_ARGS {
            CreateMutex: None,
            DestroyMutex: None,
            LockMutex: None,
            UnlockMutex: None,
            flags: CKF_OS_LOCKING_OK,
            pReserved: reserved.map_or(null_mut(), |text| text.as_ptr().cast_mut().cast()),
        };
        call!(self, C_Initialize((&raw mut arguments).cast()))
    }

    pub(crate) fn finalize(&self) -> Result<(), Failure> {
        call!(self, C_Finalize(null_mut()))
    }

    pub(crate) fn info(&self) -> Result<CK_INFO, Failure> {
        let mut info = CK_INFO::default();
        call!(self, C_GetInfo(&raw mut info))?;
        Ok(info)
    }

    pub(crate) fn slots(&self, present_only: CK_BBOOL) -> Result<Vec<CK_ULONG>, Failure> {
        list(|items, count| call!(self, C_GetSlotList(present_only, items, count)))
    }

    pub(crate) fn slot_info(&self, slot: CK_ULONG) -> Result<CK_SLOT_INFO, Failure> {
        let mut info = CK_SLOT_INFO::default();
        call!(self, C_GetSlotInfo(slot, &raw mut info))?;
        Ok(info)
    }

    pub(crate) fn token_info(&self, slot: CK_ULONG) -> Result<CK_TOKEN_INFO, Failure> {
        let mut info = CK_TOKEN_INFO::default();
        call!(self, C_GetTokenInfo(slot, &raw mut info))?;
        Ok(info)
    }

    pub(crate) fn mechanisms(&self, slot: CK_ULONG) -> Result<Vec<CK_ULONG>, Failure> {
        list(|items, count| call!(self, C_GetMechanismList(slot, items, count)))
    }

    pub(crate) fn mechanism_info(
        &self,
        slot: CK_ULONG,
        mechanism: CK_ULONG,
    ) -> Result<CK_MECHANISM_INFO, Failure> {
        let mut info = CK_MECHANISM_INFO::default();
        call!(self, C_GetMechanismInfo(slot, mechanism, &raw mut info))?;
        Ok(info)
    }

    pub(crate) fn init_token(
        &self,
        slot: CK_ULONG,
        pin: Option<&[u8]>,
        label: &[u8; 32],
    ) -> Result<(), Failure> {
        let (pin, pin_length) = optional(pin);
        call!(self, C_InitToken(slot, pin, pin_length, pointer(label)))
    }
}

/// Sessions and log-in.
impl Functions {
    pub(crate) fn open_session(
        &self,
        slot: CK_ULONG,
        flags: CK_ULONG,
    ) -> Result<CK_ULONG, Failure> {
        let mut session = 0;
        call!(
            self,
            C_OpenSession(slot, flags, null_mut(), None, &raw mut session)
        )?;
        Ok(session)
    }

    pub(crate) fn close_session(&self, session: CK_ULONG) -> Result<(), Failure> {
        call!(self, C_CloseSession(session))
    }

    pub(crate) fn session_info(&self, session: CK_ULONG) -> Result<CK_SESSION_INFO, Failure> {
        let mut info = CK_SESSION_INFO::default();
        call!(self, C_GetSessionInfo(session, &raw mut info))?;
        Ok(info)
    }

    pub(crate) fn login(
        &self,
        session: CK_ULONG,
        user: CK_ULONG,
        pin: Option<&[u8]>,
    ) -> Result<(), Failure> {
        let (pin, pin_length) = optional(pin);
        call!(self, C_Login(session, user, pin, pin_length))
    }

    pub(crate) fn logout(&self, session: CK_ULONG) -> Result<(), Failure> {
        call!(self, C_Logout(session))
    }

    pub(crate) fn init_pin(&self, session: CK_ULONG, pin: Option<&[u8]>) -> Result<(), Failure> {
        let (pin, pin_length) = optional(pin);
        call!(self, C_InitPIN(session, pin, pin_length))
    }

    pub(crate) fn set_pin(
        &self,
        session: CK_ULONG,
        old: Option<&[u8]>,
        new: Option<&[u8]>,
    ) -> Result<(), Failure> {
        let (old, old_length) = optional(old);
        let (new, new_length) = optional(new);
        call!(self, C_SetPIN(session, old, old_length, new, new_length))
    }

    /// Ends what is going on in the session. Needs version 3.0; older modules say that they lack it.
    pub(crate) fn cancel(&self, session: CK_ULONG, operations: CK_ULONG) -> Result<(), Failure> {
        call!(self, C_SessionCancel(session, operations))
    }

    pub(crate) fn random(&self, session: CK_ULONG, out: &mut [u8]) -> Result<(), Failure> {
        call!(
            self,
            C_GenerateRandom(session, out.as_mut_ptr(), out.len() as CK_ULONG)
        )
    }

    pub(crate) fn seed_random(&self, session: CK_ULONG, seed: &[u8]) -> Result<(), Failure> {
        call!(self, C_SeedRandom(session, pointer(seed), length(seed)))
    }
}

/// Asks for the number of items, then for the items, until there was room for all.
fn list(
    mut ask: impl FnMut(*mut CK_ULONG, *mut CK_ULONG) -> Result<(), Failure>,
) -> Result<Vec<CK_ULONG>, Failure> {
    let mut count = 0;
    ask(null_mut(), &raw mut count)?;
    for _ in 0..4 {
        // A token that is plugged in between the two calls makes the list longer.
        let room = usize::try_from(count).unwrap_or(0).min(MOST_ITEMS) + 4;
        let mut items = vec![0; room];
        count = room as CK_ULONG;
        match ask(items.as_mut_ptr(), &raw mut count) {
            Ok(()) => {
                items.truncate(usize::try_from(count).unwrap_or(0));
                return Ok(items);
            }
            Err(failure) if failure.raw() == CKR_BUFFER_TOO_SMALL => (),
            Err(failure) => return Err(failure),
        }
    }
    Err(Failure::nonsense("list length"))
}

/// Far above any number of slots or mechanisms.
const MOST_ITEMS: usize = 1 << 16;

/// No PIN is a null pointer: the token asks for it on a keypad of its own.
fn optional(pin: Option<&[u8]>) -> (*mut u8, CK_ULONG) {
    pin.map_or((null_mut(), 0), |pin| (pointer(pin), length(pin)))
}
