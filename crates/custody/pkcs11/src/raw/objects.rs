//! Objects and their attributes.

use std::ptr::null_mut;

use cryptoki_sys::{CK_ATTRIBUTE, CK_ULONG};

use super::{Functions, attributes};
use crate::error::Failure;
use crate::template::Template;

/// Objects.
impl Functions {
    pub(crate) fn create_object(
        &self,
        session: CK_ULONG,
        template: &Template,
    ) -> Result<CK_ULONG, Failure> {
        let mut object = 0;
        let (mut attributes, count) = attributes(template);
        call!(
            self,
            C_CreateObject(session, attributes.as_mut_ptr(), count, &raw mut object)
        )?;
        Ok(object)
    }

    pub(crate) fn copy_object(
        &self,
        session: CK_ULONG,
        object: CK_ULONG,
        template: &Template,
    ) -> Result<CK_ULONG, Failure> {
        let mut copy = 0;
        let (mut attributes, count) = attributes(template);
        call!(
            self,
            C_CopyObject(
                session,
                object,
                attributes.as_mut_ptr(),
                count,
                &raw mut copy
            )
        )?;
        Ok(copy)
    }

    pub(crate) fn destroy_object(
        &self,
        session: CK_ULONG,
        object: CK_ULONG,
    ) -> Result<(), Failure> {
        call!(self, C_DestroyObject(session, object))
    }

    pub(crate) fn object_size(
        &self,
        session: CK_ULONG,
        object: CK_ULONG,
    ) -> Result<CK_ULONG, Failure> {
        let mut size = 0;
        call!(self, C_GetObjectSize(session, object, &raw mut size))?;
        Ok(size)
    }

    pub(crate) fn set_attributes(
        &self,
        session: CK_ULONG,
        object: CK_ULONG,
        template: &Template,
    ) -> Result<(), Failure> {
        let (mut attributes, count) = attributes(template);
        call!(
            self,
            C_SetAttributeValue(session, object, attributes.as_mut_ptr(), count)
        )
    }

    /// Asks for the lengths of attributes: `lengths` stands in the order of `types`, `CK_ULONG::MAX` where
    /// the module gives none. The code tells why, for one of them.
    pub(crate) fn attribute_lengths(
        &self,
        (session, object): (CK_ULONG, CK_ULONG),
        types: &[CK_ULONG],
        lengths: &mut Vec<CK_ULONG>,
    ) -> Result<(), Failure> {
        let mut wanted: Vec<_> = types.iter().map(|kind| empty(*kind)).collect();
        let asked = call!(
            self,
            C_GetAttributeValue(
                session,
                object,
                wanted.as_mut_ptr(),
                wanted.len() as CK_ULONG
            )
        );
        lengths.clear();
        lengths.extend(wanted.iter().map(|attribute| attribute.ulValueLen));
        asked
    }

    /// Reads attributes into `values`, each of which has the length that was asked for before. Returns the
    /// lengths that the module gives now.
    pub(crate) fn attribute_values(
        &self,
        (session, object): (CK_ULONG, CK_ULONG),
        types: &[CK_ULONG],
        values: &mut [Vec<u8>],
        lengths: &mut Vec<CK_ULONG>,
    ) -> Result<(), Failure> {
        let places = types.iter().zip(values.iter_mut());
        let mut wanted: Vec<_> = places
            .map(|(kind, value)| CK_ATTRIBUTE {
                type_: *kind,
                pValue: value.as_mut_ptr().cast(),
                ulValueLen: value.len() as CK_ULONG,
            })
            .collect();
        let asked = call!(
            self,
            C_GetAttributeValue(
                session,
                object,
                wanted.as_mut_ptr(),
                wanted.len() as CK_ULONG
            )
        );
        lengths.clear();
        lengths.extend(wanted.iter().map(|attribute| attribute.ulValueLen));
        asked
    }

    pub(crate) fn find_begin(&self, session: CK_ULONG, template: &Template) -> Result<(), Failure> {
        let (mut attributes, count) = attributes(template);
        call!(
            self,
            C_FindObjectsInit(session, attributes.as_mut_ptr(), count)
        )
    }

    /// Some of the objects found; none means the end.
    pub(crate) fn find_some(
        &self,
        session: CK_ULONG,
        objects: &mut [CK_ULONG],
    ) -> Result<usize, Failure> {
        let mut count = 0;
        let most = objects.len();
        call!(
            self,
            C_FindObjects(
                session,
                objects.as_mut_ptr(),
                most as CK_ULONG,
                &raw mut count
            )
        )?;
        Ok(usize::try_from(count).map_or(most, |count| count.min(most)))
    }

    pub(crate) fn find_end(&self, session: CK_ULONG) -> Result<(), Failure> {
        call!(self, C_FindObjectsFinal(session))
    }
}

fn empty(kind: CK_ULONG) -> CK_ATTRIBUTE {
    CK_ATTRIBUTE {
        type_: kind,
        pValue: null_mut(),
        ulValueLen: 0,
    }
}
