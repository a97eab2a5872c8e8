//! 0x1A0 and above: locks, one-time passwords, what version 3 added, vendors.

use crate::Family::{Encrypt, Key, Object, Random, Sign, Verify};
use crate::explain::By::{All, Every, EverySession, EveryToken, Init, One, Run};

super::codes! {
    MUTEX_BAD: GiveUp, "one of the application's locks was not a lock";
    ["the application's own lock functions are faulty, or memory is overwritten"];
    [Every];
    "Initialise with CKF_OS_LOCKING_OK instead of lock functions.";

    MUTEX_NOT_LOCKED: GiveUp, "one of the application's locks was opened without being closed";
    ["the application's own lock functions are faulty"];
    [Every];
    "Initialise with CKF_OS_LOCKING_OK instead of lock functions.";

    NEW_PIN_MODE: Amend, "the one-time password token waits for a new PIN";
    ["its server has asked for a new PIN"];
    [Init(Sign), Run(Sign), Init(Verify), Run(Verify), One("C_Login")];
    "Set a new PIN by the rules of its server.";

    NEXT_OTP: Amend, "the one-time password token must give its next value";
    ["its clock or counter is out of step with the server"];
    [Run(Sign), Run(Verify), One("C_Login")];
    "Wait for the next value and give that.";

    EXCEEDED_MAX_ITERATIONS: Amend, "parameters could not be found within the allowed number of attempts";
    ["a seed that is not suitable in the generation of domain parameters"];
    [All(Key)];
    "Repeat with another seed.";

    FIPS_SELF_TEST_FAILED: GiveUp, "the module's own test failed; it will do nothing more";
    ["the library's file was changed after its checksum was made",
     "the hardware is faulty"];
    [Every];
    "Install the module again, and have the device examined if that does not help.";

    LIBRARY_LOAD_FAILED: GiveUp, "the module could not load a library that it needs";
    ["a library is missing, of the wrong architecture, or not in the search path"];
    [One("C_Initialize")];
    "Run ldd on the module and install what is missing.";

    PIN_TOO_WEAK: Amend, "the new PIN is too easy to guess for the token's policy";
    ["too short, too regular, or used before"];
    [One("C_InitPIN"), One("C_SetPIN"), One("C_InitToken")];
    "Choose a longer PIN with less order.";

    PUBLIC_KEY_INVALID: Amend, "the public key is not one";
    ["a point that is not on its curve, or the point at infinity",
     "the encoding: DER where bytes are taken, or the reverse",
     "an RSA modulus or exponent that cannot be"];
    [All(Key), All(Object), Init(Encrypt), Init(Verify)];
    "Check the key's origin, and the encoding of its point.";

    FUNCTION_REJECTED: Amend, "somebody or a policy refused the request";
    ["a person did not confirm it on the device",
     "the token needs the consent of several officers"];
    [EverySession];
    "Confirm on the device, or ask those who administrate the token.";

    TOKEN_RESOURCE_EXCEEDED: Retry, "the token is out of something, for now or for good";
    ["too many sessions, operations or objects at once",
     "a limit of the rate or the subscription of a device in a cloud"];
    [EveryToken];
    "Ask for less at a time, and repeat after a pause.";

    OPERATION_CANCEL_FAILED: Reopen, "an operation of the session could not be cancelled";
    ["the token cannot stop it any more"];
    [One("C_SessionCancel")];
    "Close the session and open another.";

    KEY_EXHAUSTED: GiveUp, "the key has made all signatures that it can";
    ["a key of a hash-based scheme has used its last leaf"];
    [Init(Sign), Run(Sign)];
    "Make a new key: going on would break the old one.";

    PENDING: Retry, "the call goes on in the background";
    ["the session is an asynchronous one, and the answer is not there yet"];
    [EverySession];
    "Ask with C_AsyncComplete until the answer is there.";

    SESSION_ASYNC_NOT_SUPPORTED: Amend, "the token has no asynchronous sessions";
    ["CKF_ASYNC_SESSION was asked for, and the token does not announce it"];
    [One("C_OpenSession")];
    "Open the session without that flag.";

    SEED_RANDOM_REQUIRED: Amend, "the token's generator must be seeded first";
    ["the token has no noise of its own and was not seeded since it started"];
    [All(Random), All(Key), Run(Sign)];
    "Seed it, with C_SeedRandom, from a good source.";

    OPERATION_NOT_VALIDATED: Amend, "the operation is not among those that the token's certification covers";
    ["mechanism, key size or curve are outside the validated set, in a mode that refuses these"];
    [EverySession];
    "Use a mechanism and size of the validated set, or leave the mode.";

    TOKEN_NOT_INITIALIZED: GiveUp, "the token was never initialised";
    ["it is new or was reset"];
    [EveryToken];
    "Initialise it: it gets a label and the PIN of its officer.";

    PARAMETER_SET_NOT_SUPPORTED: Amend, "the token does not have this parameter set";
    ["ML-KEM, ML-DSA or SLH-DSA are there, in other sizes"];
    [All(Key), One("C_CreateObject"), Init(Sign), Init(Verify)];
    "List the mechanisms with their sizes, and choose a set that is there.";

    VENDOR_DEFINED: Reopen, "a code of the token's vendor: this number and all above are theirs";
    ["an error that has no code in the standard; the vendor's documents and the module's log explain it"];
    [Every];
    "Look the number up in the vendor's documents, by its distance from 0x80000000.";
}
