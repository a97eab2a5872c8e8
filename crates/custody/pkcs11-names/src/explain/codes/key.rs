//! 0x60 to 0x91: keys, mechanisms, objects, operations.

use crate::Family::{Decrypt, Digest, Dual, Encrypt, Find, Key, Object, Sign, Verify};
use crate::explain::By::{All, Init, One, Run};

super::codes! {
    KEY_HANDLE_INVALID: Amend, "the handle does not name a key";
    ["the handle is of an earlier session or login: handles are not stable",
     "the key was deleted by somebody else",
     "the key is private and nobody is logged in",
     "it is a session object and its session was closed"];
    [Init(Encrypt), Init(Decrypt), Init(Sign), Init(Verify), All(Key), One("C_DigestKey"), One("C_SetOperationState")];
    "Log in, look the key up again by label or id, and use the new handle.";

    KEY_SIZE_RANGE: Amend, "the mechanism does not take keys of this size";
    ["the size is below or above what the token allows, such as RSA below 2048 in a FIPS mode",
     "the data does not fit the key, as a digest too long for a small RSA key",
     "an AES key is not of 16, 24 or 32 bytes"];
    [All(Encrypt), All(Decrypt), All(Sign), All(Verify), All(Key), One("C_DigestKey")];
    "See the mechanism's smallest and largest key size, and use or make a key within.";

    KEY_TYPE_INCONSISTENT: Amend, "the mechanism is for keys of another type";
    ["an RSA mechanism was given an EC key or the reverse",
     "an AES mechanism was given a generic secret",
     "two keys have the same label and the wrong one was found"];
    [Init(Encrypt), Init(Decrypt), Init(Sign), Init(Verify), All(Key)];
    "Inspect the key, and choose a mechanism of its type.";

    KEY_NOT_NEEDED: Amend, "a key was given for an operation that has none";
    ["the state of a digest was restored together with a key"];
    [One("C_SetOperationState")];
    "Restore the state without the key.";

    KEY_CHANGED: Amend, "the key is not the one that the saved operation began with";
    ["the state was saved with another key, or the key was made anew since"];
    [One("C_SetOperationState")];
    "Restore the state with the key that it was saved with, or begin the operation again.";

    KEY_NEEDED: Amend, "the saved operation needs its key to be given again";
    ["the token does not keep keys in a saved state, and none was given"];
    [One("C_SetOperationState")];
    "Give the key's handle when the state is restored.";

    KEY_INDIGESTIBLE: Amend, "the value of this key cannot go into a digest";
    ["the key is not a secret key, or the token does not allow it for this one"];
    [One("C_DigestKey")];
    "Digest data, or derive from the key with a key derivation mechanism.";

    KEY_FUNCTION_NOT_PERMITTED: Amend, "the key's attributes do not allow this use";
    ["the usage attribute is false: CKA_SIGN, CKA_VERIFY, CKA_ENCRYPT, CKA_DECRYPT, CKA_WRAP, CKA_UNWRAP or CKA_DERIVE",
     "the public half was chosen where the private one is needed, or the reverse",
     "the mechanism is not among CKA_ALLOWED_MECHANISMS",
     "the key's dates of validity have passed"];
    [Init(Encrypt), Init(Decrypt), Init(Sign), Init(Verify), All(Key)];
    "Inspect the key's usage; make a key for this purpose rather than widening one.";

    KEY_NOT_WRAPPABLE: Amend, "the token does not wrap this key in this way";
    ["the mechanism wraps secret keys only, and a private key was given",
     "the key's length is no multiple of 8 and the mechanism does not pad",
     "the key may be wrapped by trusted keys only"];
    [One("C_WrapKey"), One("C_WrapKeyAuthenticated")];
    "Use AES key wrap with padding, or a wrapping key that an officer has marked as trusted.";

    KEY_UNEXTRACTABLE: Amend, "the key must not leave the token, not even wrapped";
    ["CKA_EXTRACTABLE is false, as it is by default for keys made here",
     "CKA_WRAP_WITH_TRUSTED is true and the wrapping key is not trusted"];
    [One("C_WrapKey"), One("C_WrapKeyAuthenticated")];
    "It cannot be changed afterwards: make a new key with --extractable if it has to move.";

    MECHANISM_INVALID: Amend, "the token does not have this mechanism, or not for this function";
    ["the token or its version lacks it",
     "it is there, for another function: see its flags",
     "it is switched off by configuration, firmware or a FIPS mode",
     "the key's CKA_ALLOWED_MECHANISMS leaves it out"];
    [Init(Encrypt), Init(Decrypt), Init(Sign), Init(Verify), Init(Digest), All(Key), One("C_GetMechanismInfo")];
    "List the token's mechanisms, and choose one that it has for this use.";

    MECHANISM_PARAM_INVALID: Amend, "the parameters of the mechanism are wrong or not supported";
    ["IV, nonce or tag have a length that the token does not take",
     "hash and mask generation of OAEP or PSS do not match or are not supported",
     "parameters are given to a mechanism without any, or the reverse",
     "the structure has another layout in the module's version, as that of AES-GCM had"];
    [Init(Encrypt), Init(Decrypt), Init(Sign), Init(Verify), Init(Digest), All(Key)];
    "Compare lengths and hashes with what the token supports; try OAEP with SHA-1 and an empty label where others fail.";

    OBJECT_HANDLE_INVALID: Amend, "the handle names no object";
    ["the handle is of an earlier session or login",
     "the object was deleted",
     "the object is private and nobody is logged in"];
    [All(Object), All(Key)];
    "Log in and look the object up again.";

    OPERATION_ACTIVE: Reopen, "the session is busy with an operation that was not ended";
    ["an earlier operation failed in the middle, or its last part was never asked for",
     "two threads share one session",
     "a search was not ended"];
    [Init(Encrypt), Init(Decrypt), Init(Sign), Init(Verify), Init(Digest), Init(Find), All(Dual), One("C_Login"),
     One("C_Logout")];
    "End or cancel the operation, or open a new session; use one session per thread.";

    OPERATION_NOT_INITIALIZED: Reopen, "there is no operation to go on with";
    ["the beginning failed and its answer was not looked at",
     "the operation was ended by an earlier error or by a call that took the last part",
     "two threads share one session",
     "an operation that needs a fresh login was not logged in for"];
    [Run(Encrypt), Run(Decrypt), Run(Sign), Run(Verify), Run(Digest), Run(Find), All(Dual),
     One("C_GetOperationState")];
    "Begin the operation again; use one session per thread.";
}
