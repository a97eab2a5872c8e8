//! What is read of the arguments of a call, after it has come back.
//!
//! Numbers are always told. Memory is read only where the answer shows that the module has read it: mechanisms and
//! the kinds and lengths in templates unless the call was turned away at the door, parameters and values only of
//! calls that succeeded. Values are read only where `AttributeType::disclosure` lets them be shown or tagged.

use std::ffi::c_void;

use cryptoki_sys::*;
use keywright_pkcs11_names::{AttributeType, Disclosure};

use super::call::Place;
use super::mechanism;
use super::messages::{self, Sort, Way};
use super::system::Errno;
use crate::event::{Attribute, Event, Parameter};

/// More attributes than any template has; of more the rest is not told.
const MOST_ATTRIBUTES: usize = 64;
/// Bytes of values of one call; of more the lengths alone are told.
const MOST_BYTES: usize = 4096;
/// Values that are shown are flags, numbers and curves.
const LONGEST_VALUE: usize = 64;
/// `CK_UNAVAILABLE_INFORMATION`.
const UNAVAILABLE: CK_ULONG = CK_ULONG::MAX;
/// Labels, ids and IVs that are longer leave no tag.
const LONGEST_TAGGED: usize = 512;

/// Fills an event from the arguments of its call.
///
/// Each method takes arguments of that call, pointers as the application gave them; that they are is what its
/// caller must see to.
pub(super) struct Capture<'a> {
    event: &'a mut Event,
}

impl<'a> Capture<'a> {
    #[inline(always)]
    pub(super) const fn new(event: &'a mut Event) -> Self {
        Self { event }
    }

    #[inline(always)]
    const fn succeeded(&self) -> bool {
        self.event.rv == CKR_OK
    }

    /// Whether the module has come as far as its arguments.
    const fn looked_at(&self) -> bool {
        !matches!(
            self.event.rv,
            CKR_ARGUMENTS_BAD
                | CKR_CRYPTOKI_NOT_INITIALIZED
                | CKR_FUNCTION_FAILED
                | CKR_FUNCTION_NOT_SUPPORTED
                | CKR_GENERAL_ERROR
                | CKR_HOST_MEMORY
                | CKR_OPERATION_ACTIVE
                | CKR_SESSION_CLOSED
                | CKR_SESSION_HANDLE_INVALID
        )
    }

    #[inline(always)]
    pub(super) unsafe fn session(&mut self, session: CK_SESSION_HANDLE) {
        self.event.session = Some(session);
    }

    #[inline(always)]
    pub(super) unsafe fn slot(&mut self, slot: CK_SLOT_ID) {
        self.event.slot = Some(slot);
    }

    #[inline(always)]
    pub(super) unsafe fn key(&mut self, key: CK_OBJECT_HANDLE) {
        self.event.key = Some(key);
    }

    pub(super) unsafe fn user(&mut self, user: CK_USER_TYPE) {
        self.event.user = Some(user);
    }

    #[inline(always)]
    pub(super) unsafe fn taken(&mut self, length: CK_ULONG) {
        self.event.in_len = Some(length);
    }

    #[inline(always)]
    pub(super) unsafe fn gave(&mut self, length: CK_ULONG) {
        self.event.out_len = Some(length).filter(|_| self.succeeded());
    }

    /// An output and the place of its length; without an output only the length is asked for.
    #[inline(always)]
    pub(super) unsafe fn given(&mut self, out: *mut CK_BYTE, length: *mut CK_ULONG) {
        self.event.size_query =
            (out.is_null() && self.succeeded()) || self.event.rv == CKR_BUFFER_TOO_SMALL;
        // SAFETY: as promised to the methods of this type.
        unsafe { self.signed(length, out) };
    }

    /// The same for an output that may be left out because it is not due yet.
    #[inline(always)]
    pub(super) unsafe fn signed(&mut self, length: *mut CK_ULONG, _out: *mut CK_BYTE) {
        if !length.is_null() && (self.succeeded() || self.event.rv == CKR_BUFFER_TOO_SMALL) {
            // SAFETY: the module has written the length there.
            self.event.out_len = Some(unsafe { *length });
        }
    }

    pub(super) unsafe fn listed<T>(&mut self, list: *mut T) {
        self.event.size_query =
            (list.is_null() && self.succeeded()) || self.event.rv == CKR_BUFFER_TOO_SMALL;
    }

    pub(super) unsafe fn opened(&mut self, session: *mut CK_SESSION_HANDLE) {
        if self.succeeded() && !session.is_null() {
            // SAFETY: the module has written the session there.
            self.event.session = Some(unsafe { *session });
        }
    }

    pub(super) unsafe fn event_of(&mut self, slot: *mut CK_SLOT_ID) {
        if self.succeeded() && !slot.is_null() {
            // SAFETY: the module has written the slot there.
            self.event.slot = Some(unsafe { *slot });
        }
    }

    pub(super) unsafe fn made(&mut self, object: *mut CK_OBJECT_HANDLE) {
        if self.succeeded() && !object.is_null() {
            // SAFETY: the module has written the handle there.
            self.event.made = Some(unsafe { *object });
        }
    }

    pub(super) unsafe fn mechanism_type(&mut self, kind: CK_MECHANISM_TYPE) {
        self.event.details().mechanism = Some(kind);
    }

    #[inline(always)]
    pub(super) unsafe fn mechanism(&mut self, mechanism: *mut CK_MECHANISM) {
        if mechanism.is_null() || !self.looked_at() {
            return;
        }
        // SAFETY: not null, and the module has read it as well.
        let mechanism = unsafe { *mechanism };
        let succeeded = self.succeeded();
        let details = self.event.details();
        details.mechanism = Some(mechanism.mechanism);
        if succeeded {
            // SAFETY: the module has accepted the mechanism with its parameter.
            unsafe { mechanism::parameters(&mechanism, details) };
        }
    }

    /// A mechanism under which messages follow; its parameter is that of a message, of which nothing is set yet.
    pub(super) unsafe fn mechanism_of_messages(&mut self, mechanism: *mut CK_MECHANISM) {
        if mechanism.is_null() || !self.looked_at() {
            return;
        }
        // SAFETY: not null, and the module has read it as well.
        let mechanism = unsafe { *mechanism };
        let succeeded = self.succeeded();
        let details = self.event.details();
        details.mechanism = Some(mechanism.mechanism);
        if mechanism.ulParameterLen > 0 {
            details.put(Parameter::Length, mechanism.ulParameterLen);
        }
        if let (true, Some(way), Some(session)) =
            (succeeded, way(self.event.place), self.event.session)
        {
            let _errno = Errno::kept();
            messages::begun(session, way, mechanism.mechanism);
        }
    }

    /// The parameter of a message, once the module has used it.
    pub(super) unsafe fn message(
        &mut self,
        parameter: *mut c_void,
        length: CK_ULONG,
        aad_len: CK_ULONG,
    ) {
        let (Some(way), Some(session), true) =
            (way(self.event.place), self.event.session, self.succeeded())
        else {
            return;
        };
        let Some(sort) = messages::sort(session, way).filter(|sort| *sort != Sort::Other) else {
            return;
        };
        let details = self.event.details();
        details.mechanism = Some(sort.mechanism());
        // SAFETY: the module has taken this parameter under the mechanism that the session began with.
        unsafe { mechanism::message(sort, (parameter, length), aad_len, details) };
    }

    /// A template whose values the application gives.
    pub(super) unsafe fn template(&mut self, template: *mut CK_ATTRIBUTE, count: CK_ULONG) {
        let values = if self.succeeded() {
            Values::There
        } else {
            Values::Unknown
        };
        // SAFETY: as promised to the methods of this type.
        unsafe { self.attributes(template, count, values) };
    }

    /// A template whose values the module fills in.
    pub(super) unsafe fn asked(&mut self, template: *mut CK_ATTRIBUTE, count: CK_ULONG) {
        let filled = match self.event.rv {
            CKR_OK | CKR_ATTRIBUTE_SENSITIVE | CKR_ATTRIBUTE_TYPE_INVALID => Values::There,
            _ => Values::Unknown,
        };
        // SAFETY: as promised to the methods of this type.
        let asked = unsafe { self.attributes(template, count, filled) };
        self.event.size_query = asked.all_without_place || self.event.rv == CKR_BUFFER_TOO_SMALL;
    }

    unsafe fn attributes(
        &mut self,
        template: *mut CK_ATTRIBUTE,
        count: CK_ULONG,
        values: Values,
    ) -> Asked {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if template.is_null() || count == 0 || !self.looked_at() {
            return Asked::default();
        }
        let _errno = Errno::kept();
        // SAFETY: so many attributes are there, and the module has gone through them.
        let attributes =
            unsafe { std::slice::from_raw_parts(template, count.min(MOST_ATTRIBUTES)) };
        let template = self.event.details().template();
        let mut asked = Asked {
            all_without_place: true,
        };
        for attribute in attributes {
            asked.all_without_place &= attribute.pValue.is_null();
            let fits = |length: &usize| template.bytes.len() + length <= MOST_BYTES;
            let readable = seen(attribute).filter(|_| values == Values::There);
            let (start, kept) = match readable.filter(fits) {
                // SAFETY: a value of this length lies there.
                Some(length) => unsafe {
                    mechanism::append(&mut template.bytes, attribute.pValue.cast(), length)
                },
                None => (0, None),
            };
            template.attributes.push(Attribute {
                kind: attribute.type_,
                len: known(attribute.ulValueLen),
                start,
                kept,
            });
        }
        asked
    }
}

/// Which way the messages of a function go; signatures of messages have no parameter that is looked into.
const fn way(place: Place) -> Option<Way> {
    match place {
        Place::C_MessageEncryptInit | Place::C_EncryptMessage | Place::C_EncryptMessageBegin => {
            Some(Way::Seal)
        }
        Place::C_MessageDecryptInit | Place::C_DecryptMessage | Place::C_DecryptMessageBegin => {
            Some(Way::Open)
        }
        _ => None,
    }
}

/// Whether the values of a template can be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Values {
    There,
    Unknown,
}

/// What a template was asked for.
#[derive(Default)]
struct Asked {
    all_without_place: bool,
}

/// A length, unless it is the sign for none.
fn known(length: CK_ULONG) -> Option<u64> {
    (length != UNAVAILABLE).then_some(length)
}

/// How many bytes of the value may be read: all or none.
fn seen(attribute: &CK_ATTRIBUTE) -> Option<usize> {
    let length = usize::try_from(known(attribute.ulValueLen)?).ok()?;
    let most = match AttributeType::new(attribute.type_).disclosure() {
        Disclosure::Length => return None,
        Disclosure::Tag => LONGEST_TAGGED,
        Disclosure::Value => LONGEST_VALUE,
    };
    (length <= most && !attribute.pValue.is_null()).then_some(length)
}
