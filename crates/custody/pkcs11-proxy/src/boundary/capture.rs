//! What is read of the arguments of a call, after it has come back.
//!
//! Numbers are always told. Memory is read only where the answer shows that the module has read it: mechanisms and
//! the kinds and lengths in templates unless the call was turned away at the door, parameters and values only of
//! calls that succeeded. Values are read only where `AttributeType::disclosure` lets them be shown or tagged.

use cryptoki_sys::*;
use keywright_pkcs11_names::{AttributeType, Disclosure};

use super::mechanism;
use crate::event::{Attribute, Event};

/// More attributes than any template has; of more the rest is not told.
const MOST_ATTRIBUTES: usize = 64;
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
    pub(super) const fn new(event: &'a mut Event) -> Self {
        Self { event }
    }

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

    pub(super) unsafe fn session(&mut self, session: CK_SESSION_HANDLE) {
        self.event.session = Some(session);
    }

    pub(super) unsafe fn slot(&mut self, slot: CK_SLOT_ID) {
        self.event.slot = Some(slot);
    }

    pub(super) unsafe fn key(&mut self, key: CK_OBJECT_HANDLE) {
        self.event.key = Some(key);
    }

    pub(super) unsafe fn user(&mut self, user: CK_USER_TYPE) {
        self.event.user = Some(user);
    }

    pub(super) unsafe fn taken(&mut self, length: CK_ULONG) {
        self.event.in_len = Some(length);
    }

    pub(super) unsafe fn gave(&mut self, length: CK_ULONG) {
        self.event.out_len = Some(length).filter(|_| self.succeeded());
    }

    /// An output and the place of its length; without an output only the length is asked for.
    pub(super) unsafe fn given(&mut self, out: *mut CK_BYTE, length: *mut CK_ULONG) {
        self.event.size_query =
            (out.is_null() && self.succeeded()) || self.event.rv == CKR_BUFFER_TOO_SMALL;
        // SAFETY: as promised to the methods of this type.
        unsafe { self.signed(length, out) };
    }

    /// The same for an output that may be left out because it is not due yet.
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
        // SAFETY: so many attributes are there, and the module has gone through them.
        let attributes =
            unsafe { std::slice::from_raw_parts(template, count.min(MOST_ATTRIBUTES)) };
        let details = self.event.details();
        let mut asked = Asked {
            all_without_place: true,
        };
        for attribute in attributes {
            asked.all_without_place &= attribute.pValue.is_null();
            let (start, kept) = match seen(attribute).filter(|_| values == Values::There) {
                // SAFETY: a value of this length lies there.
                Some(length) => unsafe {
                    mechanism::append(&mut details.bytes, attribute.pValue.cast(), length)
                },
                None => (0, None),
            };
            details.attributes.push(Attribute {
                kind: attribute.type_,
                len: known(attribute.ulValueLen),
                start,
                kept,
            });
        }
        asked
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
