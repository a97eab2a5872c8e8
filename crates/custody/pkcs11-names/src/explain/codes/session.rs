//! 0xA0 to 0xD1: PINs, sessions, signatures, templates.

use crate::Family::{Key, Object, Verify};
use crate::explain::By::{All, EverySession, One, Run};

super::codes! {
    PIN_INCORRECT: Amend, "the PIN is not the right one";
    ["a mistyped PIN",
     "the user's PIN was given for the security officer, or the reverse",
     "the PIN of another token: the label fits more than one, or a stale configuration is read",
     "a line end or a space became part of the PIN"];
    [One("C_Login"), One("C_LoginUser"), One("C_SetPIN"), One("C_InitToken"), One("C_InitPIN")];
    "Do not repeat it blindly: tokens lock after few wrong PINs. See how many are left, then try once.";

    PIN_INVALID: Amend, "the new PIN holds characters that the token does not take";
    ["the token wants digits only",
     "the PIN is not UTF-8"];
    [One("C_InitPIN"), One("C_SetPIN"), One("C_InitToken")];
    "Choose another PIN, by the rules of the token's vendor.";

    PIN_LEN_RANGE: Amend, "the PIN is too short or too long";
    ["the length is outside what the token announces",
     "the PIN was read with a line end, or is empty because its source is"];
    [One("C_Login"), One("C_LoginUser"), One("C_InitPIN"), One("C_SetPIN"), One("C_InitToken")];
    "See the token's shortest and longest PIN.";

    PIN_EXPIRED: Amend, "the PIN must be changed before anything else";
    ["the token's policy limits the age of PINs",
     "the PIN is the one that the officer set, and is to be replaced at first use"];
    [One("C_Login"), One("C_LoginUser"), All(Key), All(Object)];
    "Change the PIN.";

    PIN_LOCKED: GiveUp, "too many wrong PINs: the token refuses every PIN of this role";
    ["a program repeated a wrong PIN, such as a service after the PIN was changed",
     "somebody guesses"];
    [One("C_Login"), One("C_LoginUser"), One("C_SetPIN"), One("C_InitToken"), One("C_InitPIN")];
    "The security officer sets a new user PIN; a locked officer means initialising the token, which destroys its keys.";

    SESSION_CLOSED: Reopen, "the session was closed while the call ran";
    ["another thread closed it, or closed all sessions of the slot",
     "the device closes sessions that were idle"];
    [EverySession];
    "Open a new session and look objects up again.";

    SESSION_COUNT: Retry, "the token has no session left to give";
    ["the token's limit is reached by this and other programs",
     "sessions are opened and never closed"];
    [One("C_OpenSession")];
    "Close sessions, use a smaller pool, or wait; list-slots shows the token's limit.";

    SESSION_HANDLE_INVALID: Reopen, "there is no such session";
    ["it was closed, by this program, by the token, or by its removal",
     "the module was finalised and initialised since",
     "the process forked, and the child uses its parent's session"];
    [EverySession];
    "Open a new session and look objects up again.";

    SESSION_PARALLEL_NOT_SUPPORTED: Amend, "a session was opened without CKF_SERIAL_SESSION";
    ["the flag was left out: parallel sessions were never specified"];
    [One("C_OpenSession")];
    "Open sessions with CKF_SERIAL_SESSION always.";

    SESSION_READ_ONLY: Amend, "the session may only read";
    ["an object of the token was to be made, changed or deleted in a read-only session",
     "the token itself cannot be written"];
    [All(Object), All(Key), One("C_InitPIN"), One("C_SetPIN")];
    "Open a session with CKF_RW_SESSION.";

    SESSION_EXISTS: Retry, "a session is open, and the token can be initialised without any only";
    ["this or another program has a session with the token"];
    [One("C_InitToken")];
    "End the programs that use the token, then initialise it.";

    SESSION_READ_ONLY_EXISTS: Amend, "the officer cannot log in while a read-only session is open";
    ["this program has opened a read-only session of the same token"];
    [One("C_Login"), One("C_LoginUser")];
    "Close all read-only sessions of the token, open a writable one, then log in.";

    SESSION_READ_WRITE_SO_EXISTS: Amend, "no read-only session can be opened while the officer is logged in";
    ["the officer is logged in, in this program"];
    [One("C_OpenSession")];
    "Log the officer out first, or open a writable session.";

    SIGNATURE_INVALID: Amend, "the signature does not belong to data and key";
    ["the data was changed, or is not exactly what was signed",
     "another key, or a public key that is not the other half",
     "hash, salt or padding differ from those of the signature",
     "the signature is encoded in another way: DER instead of r and s"];
    [Run(Verify), One("C_DecryptVerifyUpdate")];
    "Check data, key, mechanism and encoding, in this order; treat the data as forged until then.";

    SIGNATURE_LEN_RANGE: Amend, "no signature of this key has this length";
    ["an ECDSA signature in DER where the token takes r and s, or the reverse",
     "it was cut, or is text that was not decoded",
     "a key of another size made it"];
    [Run(Verify)];
    "An RSA signature is as long as the modulus, an ECDSA one twice the curve; convert the encoding with --signature-format.";

    TEMPLATE_INCOMPLETE: Amend, "an attribute that is needed was not given";
    ["no modulus length or no curve was given for a new key",
     "a value is missing for an object that is imported",
     "the token has no default where others do"];
    [All(Object), All(Key)];
    "Name size or curve, class, type and value explicitly.";

    TEMPLATE_INCONSISTENT: Amend, "the attributes contradict each other or the token's rules";
    ["attributes of another key type or class are among them",
     "a policy forbids the combination, such as wrap and decrypt on one key, or extractable keys",
     "an attribute is given twice with different values",
     "a secret of a length that the type does not have"];
    [All(Object), All(Key)];
    "Give the key one purpose, leave optional attributes out, and add them back one by one.";
}
