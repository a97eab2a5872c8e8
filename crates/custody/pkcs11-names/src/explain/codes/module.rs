//! 0x00 to 0x0A: the module as a whole.

use crate::Family::Slot;
use crate::explain::By::{All, Every, EverySession, One};

super::codes! {
    OK: Proceed, "the call did what was asked";
    []; [Every];
    "Nothing is to be done.";

    CANCEL: Amend, "the application's own callback asked for the call to be given up";
    ["the surrender callback answered with a cancellation",
     "somebody pressed cancel on the token's own keypad or dialogue"];
    [EverySession];
    "Repeat the command if the cancellation was not meant.";

    HOST_MEMORY: Retry, "the computer has no memory left for the module";
    ["the process or its container has reached its memory limit",
     "a very large message was given in one part",
     "the module leaks memory over many sessions"];
    [Every];
    "Free memory or raise the limit, and give large inputs in parts.";

    SLOT_ID_INVALID: Reconnect, "there is no slot with this number";
    ["slot numbers were assigned anew, after a token was initialised or a device was plugged in",
     "the number was copied from another computer or another module",
     "the module reads another configuration than was thought"];
    [All(Slot), One("C_OpenSession"), One("C_CloseAllSessions")];
    "List the slots again, and choose the token by label or serial instead of by slot number.";

    GENERAL_ERROR: Reopen, "the module failed in a way that it does not describe";
    ["the configuration or the store of the module cannot be read or written: path, owner, permissions, full disk",
     "the module's own log or the system's log has the true reason",
     "a failed decryption, where the module has no better code for it",
     "the module was used by two threads at once and does not bear it"];
    [Every];
    "Look into the module's log, and check that its configuration and its store are readable and writable.";

    FUNCTION_FAILED: Reopen, "the function could not be carried out; nothing else is said";
    ["the input has a property that the device refuses, such as a weak key or a self-test that failed",
     "the device's firmware reported an error that has no code",
     "the session's operation was broken off"];
    [Every];
    "Repeat it once in a new session; if it fails again, look into the module's log.";

    ARGUMENTS_BAD: Amend, "an argument of the call is wrong in itself";
    ["a parameter of the mechanism has a value that the module does not take, such as an OAEP hash",
     "a length is zero or a pointer is missing where something must be given",
     "the module is of an older version than the call presumes"];
    [Every];
    "Compare the mechanism's parameters with what the token supports.";

    NO_EVENT: Proceed, "nothing has happened in any slot since the last question";
    ["the question did not wait, and no token came or went"];
    [One("C_WaitForSlotEvent")];
    "Nothing is wrong: ask again later, or let the call wait.";

    NEED_TO_CREATE_THREADS: GiveUp, "the module needs threads of its own and was told that it may not make any";
    ["it was initialised with CKF_LIBRARY_CANT_CREATE_OS_THREADS"];
    [One("C_Initialize")];
    "Initialise the module without that flag.";

    CANT_LOCK: GiveUp, "the module cannot lock in the way that was asked for";
    ["the application's own lock functions were given, and the module takes the system's only",
     "the module is made for one thread"];
    [One("C_Initialize")];
    "Initialise with CKF_OS_LOCKING_OK; if that is refused too, use the module from one thread.";
}
