//! The functions of PKCS#11 3.2 in the order of its list: name, arguments, and what of the arguments goes into the
//! record. The words in brackets are methods of `capture::Capture`, in the order in which they are called; an argument
//! that none of them names is forwarded and not looked at. No PIN and no data is named here, so none is read.
//!
//! Written once and used three times: for the forwarders, for the exported symbols, and for the module that the
//! tests put behind them.

/// Gives the rows to the macro `$apply`.
macro_rules! pkcs11_functions {
    ($apply:ident) => {
        $apply! {
            C_Initialize(args: *mut c_void) []
            C_Finalize(reserved: *mut c_void) []
            C_GetInfo(info: *mut CK_INFO) []
            C_GetFunctionList(list: *mut *mut CK_FUNCTION_LIST) []
            C_GetSlotList(present: CK_BBOOL, slots: *mut CK_SLOT_ID, count: *mut CK_ULONG) [listed(slots)]
            C_GetSlotInfo(slot: CK_SLOT_ID, info: *mut CK_SLOT_INFO) [slot(slot)]
            C_GetTokenInfo(slot: CK_SLOT_ID, info: *mut CK_TOKEN_INFO) [slot(slot)]
            C_GetMechanismList(slot: CK_SLOT_ID, list: *mut CK_MECHANISM_TYPE, count: *mut CK_ULONG)
                [slot(slot) listed(list)]
            C_GetMechanismInfo(slot: CK_SLOT_ID, kind: CK_MECHANISM_TYPE, info: *mut CK_MECHANISM_INFO)
                [slot(slot) mechanism_type(kind)]
            C_InitToken(slot: CK_SLOT_ID, pin: *mut CK_UTF8CHAR, pin_len: CK_ULONG, label: *mut CK_UTF8CHAR)
                [slot(slot)]
            C_InitPIN(session: CK_SESSION_HANDLE, pin: *mut CK_UTF8CHAR, pin_len: CK_ULONG) [session(session)]
            C_SetPIN(session: CK_SESSION_HANDLE, old: *mut CK_UTF8CHAR, old_len: CK_ULONG, new: *mut CK_UTF8CHAR, new_len: CK_ULONG)
                [session(session)]
            C_OpenSession(slot: CK_SLOT_ID, flags: CK_FLAGS, application: *mut c_void, notify: CK_NOTIFY, session: *mut CK_SESSION_HANDLE)
                [slot(slot) opened(session)]
            C_CloseSession(session: CK_SESSION_HANDLE) [session(session)]
            C_CloseAllSessions(slot: CK_SLOT_ID) [slot(slot)]
            C_GetSessionInfo(session: CK_SESSION_HANDLE, info: *mut CK_SESSION_INFO) [session(session)]
            C_GetOperationState(session: CK_SESSION_HANDLE, state: *mut CK_BYTE, state_len: *mut CK_ULONG)
                [session(session) given(state, state_len)]
            C_SetOperationState(session: CK_SESSION_HANDLE, state: *mut CK_BYTE, state_len: CK_ULONG, encryption: CK_OBJECT_HANDLE, authentication: CK_OBJECT_HANDLE)
                [session(session) taken(state_len)]
            C_Login(session: CK_SESSION_HANDLE, user: CK_USER_TYPE, pin: *mut CK_UTF8CHAR, pin_len: CK_ULONG)
                [session(session) user(user)]
            C_Logout(session: CK_SESSION_HANDLE) [session(session)]
            C_CreateObject(session: CK_SESSION_HANDLE, template: *mut CK_ATTRIBUTE, count: CK_ULONG, object: *mut CK_OBJECT_HANDLE)
                [session(session) template(template, count) made(object)]
            C_CopyObject(session: CK_SESSION_HANDLE, source: CK_OBJECT_HANDLE, template: *mut CK_ATTRIBUTE, count: CK_ULONG, object: *mut CK_OBJECT_HANDLE)
                [session(session) key(source) template(template, count) made(object)]
            C_DestroyObject(session: CK_SESSION_HANDLE, object: CK_OBJECT_HANDLE) [session(session) key(object)]
            C_GetObjectSize(session: CK_SESSION_HANDLE, object: CK_OBJECT_HANDLE, size: *mut CK_ULONG)
                [session(session) key(object)]
            C_GetAttributeValue(session: CK_SESSION_HANDLE, object: CK_OBJECT_HANDLE, template: *mut CK_ATTRIBUTE, count: CK_ULONG)
                [session(session) key(object) asked(template, count)]
            C_SetAttributeValue(session: CK_SESSION_HANDLE, object: CK_OBJECT_HANDLE, template: *mut CK_ATTRIBUTE, count: CK_ULONG)
                [session(session) key(object) template(template, count)]
            C_FindObjectsInit(session: CK_SESSION_HANDLE, template: *mut CK_ATTRIBUTE, count: CK_ULONG)
                [session(session) template(template, count)]
            C_FindObjects(session: CK_SESSION_HANDLE, objects: *mut CK_OBJECT_HANDLE, most: CK_ULONG, count: *mut CK_ULONG)
                [session(session)]
            C_FindObjectsFinal(session: CK_SESSION_HANDLE) [session(session)]
            C_EncryptInit(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE)
                [session(session) mechanism(mechanism) key(key)]
            C_Encrypt(session: CK_SESSION_HANDLE, data: *mut CK_BYTE, data_len: CK_ULONG, out: *mut CK_BYTE, out_len: *mut CK_ULONG)
                [session(session) taken(data_len) given(out, out_len)]
            C_EncryptUpdate(session: CK_SESSION_HANDLE, part: *mut CK_BYTE, part_len: CK_ULONG, out: *mut CK_BYTE, out_len: *mut CK_ULONG)
                [session(session) taken(part_len) given(out, out_len)]
            C_EncryptFinal(session: CK_SESSION_HANDLE, out: *mut CK_BYTE, out_len: *mut CK_ULONG)
                [session(session) given(out, out_len)]
            C_DecryptInit(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE)
                [session(session) mechanism(mechanism) key(key)]
            C_Decrypt(session: CK_SESSION_HANDLE, data: *mut CK_BYTE, data_len: CK_ULONG, out: *mut CK_BYTE, out_len: *mut CK_ULONG)
                [session(session) taken(data_len) given(out, out_len)]
            C_DecryptUpdate(session: CK_SESSION_HANDLE, part: *mut CK_BYTE, part_len: CK_ULONG, out: *mut CK_BYTE, out_len: *mut CK_ULONG)
                [session(session) taken(part_len) given(out, out_len)]
            C_DecryptFinal(session: CK_SESSION_HANDLE, out: *mut CK_BYTE, out_len: *mut CK_ULONG)
                [session(session) given(out, out_len)]
            C_DigestInit(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM)
                [session(session) mechanism(mechanism)]
            C_Digest(session: CK_SESSION_HANDLE, data: *mut CK_BYTE, data_len: CK_ULONG, out: *mut CK_BYTE, out_len: *mut CK_ULONG)
                [session(session) taken(data_len) given(out, out_len)]
            C_DigestUpdate(session: CK_SESSION_HANDLE, part: *mut CK_BYTE, part_len: CK_ULONG)
                [session(session) taken(part_len)]
            C_DigestKey(session: CK_SESSION_HANDLE, key: CK_OBJECT_HANDLE) [session(session) key(key)]
            C_DigestFinal(session: CK_SESSION_HANDLE, out: *mut CK_BYTE, out_len: *mut CK_ULONG)
                [session(session) given(out, out_len)]
            C_SignInit(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE)
                [session(session) mechanism(mechanism) key(key)]
            C_Sign(session: CK_SESSION_HANDLE, data: *mut CK_BYTE, data_len: CK_ULONG, out: *mut CK_BYTE, out_len: *mut CK_ULONG)
                [session(session) taken(data_len) given(out, out_len)]
            C_SignUpdate(session: CK_SESSION_HANDLE, part: *mut CK_BYTE, part_len: CK_ULONG)
                [session(session) taken(part_len)]
            C_SignFinal(session: CK_SESSION_HANDLE, out: *mut CK_BYTE, out_len: *mut CK_ULONG)
                [session(session) given(out, out_len)]
            C_SignRecoverInit(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE)
                [session(session) mechanism(mechanism) key(key)]
            C_SignRecover(session: CK_SESSION_HANDLE, data: *mut CK_BYTE, data_len: CK_ULONG, out: *mut CK_BYTE, out_len: *mut CK_ULONG)
                [session(session) taken(data_len) given(out, out_len)]
            C_VerifyInit(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE)
                [session(session) mechanism(mechanism) key(key)]
            C_Verify(session: CK_SESSION_HANDLE, data: *mut CK_BYTE, data_len: CK_ULONG, signature: *mut CK_BYTE, signature_len: CK_ULONG)
                [session(session) taken(data_len)]
            C_VerifyUpdate(session: CK_SESSION_HANDLE, part: *mut CK_BYTE, part_len: CK_ULONG)
                [session(session) taken(part_len)]
            C_VerifyFinal(session: CK_SESSION_HANDLE, signature: *mut CK_BYTE, signature_len: CK_ULONG)
                [session(session) taken(signature_len)]
            C_VerifyRecoverInit(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE)
                [session(session) mechanism(mechanism) key(key)]
            C_VerifyRecover(session: CK_SESSION_HANDLE, signature: *mut CK_BYTE, signature_len: CK_ULONG, out: *mut CK_BYTE, out_len: *mut CK_ULONG)
                [session(session) taken(signature_len) given(out, out_len)]
            C_DigestEncryptUpdate(session: CK_SESSION_HANDLE, part: *mut CK_BYTE, part_len: CK_ULONG, out: *mut CK_BYTE, out_len: *mut CK_ULONG)
                [session(session) taken(part_len) given(out, out_len)]
            C_DecryptDigestUpdate(session: CK_SESSION_HANDLE, part: *mut CK_BYTE, part_len: CK_ULONG, out: *mut CK_BYTE, out_len: *mut CK_ULONG)
                [session(session) taken(part_len) given(out, out_len)]
            C_SignEncryptUpdate(session: CK_SESSION_HANDLE, part: *mut CK_BYTE, part_len: CK_ULONG, out: *mut CK_BYTE, out_len: *mut CK_ULONG)
                [session(session) taken(part_len) given(out, out_len)]
            C_DecryptVerifyUpdate(session: CK_SESSION_HANDLE, part: *mut CK_BYTE, part_len: CK_ULONG, out: *mut CK_BYTE, out_len: *mut CK_ULONG)
                [session(session) taken(part_len) given(out, out_len)]
            C_GenerateKey(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, template: *mut CK_ATTRIBUTE, count: CK_ULONG, key: *mut CK_OBJECT_HANDLE)
                [session(session) mechanism(mechanism) template(template, count) made(key)]
            C_GenerateKeyPair(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, public: *mut CK_ATTRIBUTE, public_count: CK_ULONG, private: *mut CK_ATTRIBUTE, private_count: CK_ULONG, public_key: *mut CK_OBJECT_HANDLE, private_key: *mut CK_OBJECT_HANDLE)
                [session(session) mechanism(mechanism) template(public, public_count) template(private, private_count) made(private_key)]
            C_WrapKey(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, wrapping: CK_OBJECT_HANDLE, key: CK_OBJECT_HANDLE, out: *mut CK_BYTE, out_len: *mut CK_ULONG)
                [session(session) mechanism(mechanism) key(wrapping) given(out, out_len)]
            C_UnwrapKey(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, unwrapping: CK_OBJECT_HANDLE, wrapped: *mut CK_BYTE, wrapped_len: CK_ULONG, template: *mut CK_ATTRIBUTE, count: CK_ULONG, key: *mut CK_OBJECT_HANDLE)
                [session(session) mechanism(mechanism) key(unwrapping) taken(wrapped_len) template(template, count) made(key)]
            C_DeriveKey(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, base: CK_OBJECT_HANDLE, template: *mut CK_ATTRIBUTE, count: CK_ULONG, key: *mut CK_OBJECT_HANDLE)
                [session(session) mechanism(mechanism) key(base) template(template, count) made(key)]
            C_SeedRandom(session: CK_SESSION_HANDLE, seed: *mut CK_BYTE, seed_len: CK_ULONG)
                [session(session) taken(seed_len)]
            C_GenerateRandom(session: CK_SESSION_HANDLE, out: *mut CK_BYTE, out_len: CK_ULONG)
                [session(session) gave(out_len)]
            C_GetFunctionStatus(session: CK_SESSION_HANDLE) [session(session)]
            C_CancelFunction(session: CK_SESSION_HANDLE) [session(session)]
            C_WaitForSlotEvent(flags: CK_FLAGS, slot: *mut CK_SLOT_ID, reserved: *mut c_void) [event_of(slot)]
            C_GetInterfaceList(list: *mut CK_INTERFACE, count: *mut CK_ULONG) [listed(list)]
            C_GetInterface(name: *mut CK_UTF8CHAR, version: *mut CK_VERSION, interface: *mut *mut CK_INTERFACE, flags: CK_FLAGS)
                []
            C_LoginUser(session: CK_SESSION_HANDLE, user: CK_USER_TYPE, pin: *mut CK_UTF8CHAR, pin_len: CK_ULONG, name: *mut CK_UTF8CHAR, name_len: CK_ULONG)
                [session(session) user(user)]
            C_SessionCancel(session: CK_SESSION_HANDLE, flags: CK_FLAGS) [session(session)]
            C_MessageEncryptInit(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE)
                [session(session) mechanism_of_messages(mechanism) key(key)]
            C_EncryptMessage(session: CK_SESSION_HANDLE, parameter: *mut c_void, parameter_len: CK_ULONG, aad: *mut CK_BYTE, aad_len: CK_ULONG, data: *mut CK_BYTE, data_len: CK_ULONG, out: *mut CK_BYTE, out_len: *mut CK_ULONG)
                [session(session) message(parameter, parameter_len, aad_len) taken(data_len) given(out, out_len)]
            C_EncryptMessageBegin(session: CK_SESSION_HANDLE, parameter: *mut c_void, parameter_len: CK_ULONG, aad: *mut CK_BYTE, aad_len: CK_ULONG)
                [session(session) message(parameter, parameter_len, aad_len)]
            C_EncryptMessageNext(session: CK_SESSION_HANDLE, parameter: *mut c_void, parameter_len: CK_ULONG, part: *mut CK_BYTE, part_len: CK_ULONG, out: *mut CK_BYTE, out_len: *mut CK_ULONG, flags: CK_FLAGS)
                [session(session) taken(part_len) given(out, out_len)]
            C_MessageEncryptFinal(session: CK_SESSION_HANDLE) [session(session)]
            C_MessageDecryptInit(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE)
                [session(session) mechanism_of_messages(mechanism) key(key)]
            C_DecryptMessage(session: CK_SESSION_HANDLE, parameter: *mut c_void, parameter_len: CK_ULONG, aad: *mut CK_BYTE, aad_len: CK_ULONG, data: *mut CK_BYTE, data_len: CK_ULONG, out: *mut CK_BYTE, out_len: *mut CK_ULONG)
                [session(session) message(parameter, parameter_len, aad_len) taken(data_len) given(out, out_len)]
            C_DecryptMessageBegin(session: CK_SESSION_HANDLE, parameter: *mut c_void, parameter_len: CK_ULONG, aad: *mut CK_BYTE, aad_len: CK_ULONG)
                [session(session) message(parameter, parameter_len, aad_len)]
            C_DecryptMessageNext(session: CK_SESSION_HANDLE, parameter: *mut c_void, parameter_len: CK_ULONG, part: *mut CK_BYTE, part_len: CK_ULONG, out: *mut CK_BYTE, out_len: *mut CK_ULONG, flags: CK_FLAGS)
                [session(session) taken(part_len) given(out, out_len)]
            C_MessageDecryptFinal(session: CK_SESSION_HANDLE) [session(session)]
            C_MessageSignInit(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE)
                [session(session) mechanism_of_messages(mechanism) key(key)]
            C_SignMessage(session: CK_SESSION_HANDLE, parameter: *mut c_void, parameter_len: CK_ULONG, data: *mut CK_BYTE, data_len: CK_ULONG, out: *mut CK_BYTE, out_len: *mut CK_ULONG)
                [session(session) taken(data_len) given(out, out_len)]
            C_SignMessageBegin(session: CK_SESSION_HANDLE, parameter: *mut c_void, parameter_len: CK_ULONG)
                [session(session)]
            C_SignMessageNext(session: CK_SESSION_HANDLE, parameter: *mut c_void, parameter_len: CK_ULONG, data: *mut CK_BYTE, data_len: CK_ULONG, out: *mut CK_BYTE, out_len: *mut CK_ULONG)
                [session(session) taken(data_len) signed(out_len, out)]
            C_MessageSignFinal(session: CK_SESSION_HANDLE) [session(session)]
            C_MessageVerifyInit(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE)
                [session(session) mechanism_of_messages(mechanism) key(key)]
            C_VerifyMessage(session: CK_SESSION_HANDLE, parameter: *mut c_void, parameter_len: CK_ULONG, data: *mut CK_BYTE, data_len: CK_ULONG, signature: *mut CK_BYTE, signature_len: CK_ULONG)
                [session(session) taken(data_len)]
            C_VerifyMessageBegin(session: CK_SESSION_HANDLE, parameter: *mut c_void, parameter_len: CK_ULONG)
                [session(session)]
            C_VerifyMessageNext(session: CK_SESSION_HANDLE, parameter: *mut c_void, parameter_len: CK_ULONG, data: *mut CK_BYTE, data_len: CK_ULONG, signature: *mut CK_BYTE, signature_len: CK_ULONG)
                [session(session) taken(data_len)]
            C_MessageVerifyFinal(session: CK_SESSION_HANDLE) [session(session)]
            C_EncapsulateKey(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, public: CK_OBJECT_HANDLE, template: *mut CK_ATTRIBUTE, count: CK_ULONG, out: *mut CK_BYTE, out_len: *mut CK_ULONG, key: *mut CK_OBJECT_HANDLE)
                [session(session) mechanism(mechanism) key(public) template(template, count) given(out, out_len) made(key)]
            C_DecapsulateKey(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, private: CK_OBJECT_HANDLE, template: *mut CK_ATTRIBUTE, count: CK_ULONG, sealed: *mut CK_BYTE, sealed_len: CK_ULONG, key: *mut CK_OBJECT_HANDLE)
                [session(session) mechanism(mechanism) key(private) template(template, count) taken(sealed_len) made(key)]
            C_VerifySignatureInit(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, key: CK_OBJECT_HANDLE, signature: *mut CK_BYTE, signature_len: CK_ULONG)
                [session(session) mechanism(mechanism) key(key) taken(signature_len)]
            C_VerifySignature(session: CK_SESSION_HANDLE, data: *mut CK_BYTE, data_len: CK_ULONG)
                [session(session) taken(data_len)]
            C_VerifySignatureUpdate(session: CK_SESSION_HANDLE, part: *mut CK_BYTE, part_len: CK_ULONG)
                [session(session) taken(part_len)]
            C_VerifySignatureFinal(session: CK_SESSION_HANDLE) [session(session)]
            C_GetSessionValidationFlags(session: CK_SESSION_HANDLE, kind: CK_SESSION_VALIDATION_FLAGS_TYPE, flags: *mut CK_FLAGS)
                [session(session)]
            C_AsyncComplete(session: CK_SESSION_HANDLE, function: *mut CK_UTF8CHAR, result: *mut CK_ASYNC_DATA)
                [session(session)]
            C_AsyncGetID(session: CK_SESSION_HANDLE, function: *mut CK_UTF8CHAR, id: *mut CK_ULONG)
                [session(session)]
            C_AsyncJoin(session: CK_SESSION_HANDLE, function: *mut CK_UTF8CHAR, id: CK_ULONG, data: *mut CK_BYTE, data_len: CK_ULONG)
                [session(session)]
            C_WrapKeyAuthenticated(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, wrapping: CK_OBJECT_HANDLE, key: CK_OBJECT_HANDLE, aad: *mut CK_BYTE, aad_len: CK_ULONG, out: *mut CK_BYTE, out_len: *mut CK_ULONG)
                [session(session) mechanism(mechanism) key(wrapping) given(out, out_len)]
            C_UnwrapKeyAuthenticated(session: CK_SESSION_HANDLE, mechanism: *mut CK_MECHANISM, unwrapping: CK_OBJECT_HANDLE, wrapped: *mut CK_BYTE, wrapped_len: CK_ULONG, template: *mut CK_ATTRIBUTE, count: CK_ULONG, aad: *mut CK_BYTE, aad_len: CK_ULONG, key: *mut CK_OBJECT_HANDLE)
                [session(session) mechanism(mechanism) key(unwrapping) taken(wrapped_len) template(template, count) made(key)]
        }
    };
}
