//! 0xE0 to 0x191: tokens, wrapping, users, random, state.

use crate::Family::{Decrypt, Digest, Encrypt, Key, Object, Random, Sign, Verify};
use crate::explain::By::{All, Every, EverySession, EveryToken, Init, One, Run};

super::codes! {
    TOKEN_NOT_PRESENT: Reconnect, "there is no token in the slot";
    ["the card or device is not plugged in",
     "the device on the network is not reachable",
     "the store of a token in software was moved or deleted"];
    [EveryToken];
    "Insert or connect the token, then list the slots.";

    TOKEN_NOT_RECOGNIZED: GiveUp, "what is in the slot is not a token that this module knows";
    ["the module of another vendor is loaded",
     "the token is empty, damaged, or of a newer model than the module",
     "the configuration of a token in software cannot be read"];
    [EveryToken];
    "Load the module of the token's vendor, and initialise the token if it is new.";

    TOKEN_WRITE_PROTECTED: Amend, "the token cannot be written";
    ["a switch or the firmware protects it",
     "the store of a token in software is read-only: permissions or mount"];
    [All(Object), All(Key), One("C_InitPIN"), One("C_SetPIN"), One("C_InitToken"), One("C_OpenSession")];
    "Lift the protection, or use session objects.";

    UNWRAPPING_KEY_HANDLE_INVALID: Amend, "the handle of the unwrapping key names no key";
    ["the handle is of an earlier session or login",
     "the key is private and nobody is logged in"];
    [One("C_UnwrapKey"), One("C_UnwrapKeyAuthenticated")];
    "Log in and look the unwrapping key up again.";

    UNWRAPPING_KEY_SIZE_RANGE: Amend, "the unwrapping key has a size that the mechanism does not take";
    ["the key is too small or too large for the mechanism on this token"];
    [One("C_UnwrapKey"), One("C_UnwrapKeyAuthenticated")];
    "See the mechanism's key sizes, and use the key that wrapped.";

    UNWRAPPING_KEY_TYPE_INCONSISTENT: Amend, "the unwrapping key is of another type than the mechanism's";
    ["an RSA key with an AES mechanism or the reverse",
     "two keys have the same label and the wrong one was found"];
    [One("C_UnwrapKey"), One("C_UnwrapKeyAuthenticated")];
    "Inspect the key, and choose a mechanism of its type.";

    USER_ALREADY_LOGGED_IN: Proceed, "this user is logged in already";
    ["another session of this program has logged in: a login holds for all sessions with the token"];
    [One("C_Login"), One("C_LoginUser")];
    "Go on: the login is there.";

    USER_NOT_LOGGED_IN: Login, "nobody is logged in, and this needs a user";
    ["the login was forgotten, or another session logged out: a logout holds for all sessions",
     "the token lost power and forgot the login",
     "the key needs a login for every use, with CKU_CONTEXT_SPECIFIC",
     "the officer is logged in where the user is needed"];
    [EverySession];
    "Log in as the user.";

    USER_PIN_NOT_INITIALIZED: GiveUp, "the token has no user PIN yet";
    ["the token was initialised and the officer has not set the user's PIN"];
    [One("C_Login"), One("C_LoginUser")];
    "The security officer sets the user's PIN.";

    USER_TYPE_INVALID: Amend, "the token has no user of this kind";
    ["a role of a vendor with another vendor's token",
     "CKU_CONTEXT_SPECIFIC was used without an operation that asks for it"];
    [One("C_Login"), One("C_LoginUser")];
    "Log in as user or as security officer.";

    USER_ANOTHER_ALREADY_LOGGED_IN: Amend, "somebody else is logged in";
    ["the officer is logged in and the user wants to be, or the reverse",
     "another part of this program uses the same module"];
    [One("C_Login"), One("C_LoginUser")];
    "Log out first; a program has one login per token.";

    USER_TOO_MANY_TYPES: Retry, "the token serves no further user now";
    ["more programs with different users are logged in than the token allows"];
    [One("C_Login"), One("C_LoginUser")];
    "Let another program log out first.";

    WRAPPED_KEY_INVALID: Amend, "what is to be unwrapped is not a wrapped key";
    ["it was wrapped with another key or another mechanism",
     "it was changed or cut",
     "the template says another key type than what was wrapped"];
    [One("C_UnwrapKey"), One("C_UnwrapKeyAuthenticated")];
    "Use the key and the mechanism that wrapped; compare key check values.";

    WRAPPED_KEY_LEN_RANGE: Amend, "no wrapped key has this length";
    ["the file is cut or is text that was not decoded",
     "padding: KW takes multiples of 8 bytes, KWP pads",
     "an RSA-wrapped key of another modulus"];
    [One("C_UnwrapKey"), One("C_UnwrapKeyAuthenticated")];
    "Compare the length: AES key wrap adds 8 bytes, RSA gives exactly the modulus.";

    WRAPPING_KEY_HANDLE_INVALID: Amend, "the handle of the wrapping key names no key";
    ["the handle is of an earlier session or login",
     "the key is private and nobody is logged in"];
    [One("C_WrapKey"), One("C_WrapKeyAuthenticated")];
    "Log in and look the wrapping key up again.";

    WRAPPING_KEY_SIZE_RANGE: Amend, "the wrapping key has a size that the mechanism does not take";
    ["the key is too small for what it is to wrap, as RSA-2048 for an RSA private key"];
    [One("C_WrapKey"), One("C_WrapKeyAuthenticated")];
    "Use an AES wrapping key, or RSA with AES key wrap.";

    WRAPPING_KEY_TYPE_INCONSISTENT: Amend, "the wrapping key is of another type than the mechanism's";
    ["an RSA key with an AES mechanism or the reverse",
     "a private key where the public one wraps"];
    [One("C_WrapKey"), One("C_WrapKeyAuthenticated")];
    "Inspect the key, and choose a mechanism of its type.";

    RANDOM_SEED_NOT_SUPPORTED: Proceed, "the token's generator takes no seed";
    ["it is seeded by its own noise"];
    [One("C_SeedRandom")];
    "Nothing is to be done: the generator needs no seed.";

    RANDOM_NO_RNG: Amend, "the token has no random generator";
    ["it is a token that only holds certificates or verifies"];
    [All(Random)];
    "Use the random generator of the computer, or another token.";

    DOMAIN_PARAMS_INVALID: Amend, "the domain parameters are wrong or not supported";
    ["a curve or group that the token does not have",
     "the parameters are spelt out where the token takes a name only"];
    [All(Key), One("C_CreateObject")];
    "Use a named curve such as P-256.";

    CURVE_NOT_SUPPORTED: Amend, "the token does not have this curve";
    ["the curve is not implemented or is switched off",
     "an Edwards or Montgomery curve was asked for with the mechanism of the others"];
    [All(Key), One("C_CreateObject"), Init(Sign), Init(Verify)];
    "Try P-256 or P-384, which nearly every token has.";

    BUFFER_TOO_SMALL: Amend, "the output does not fit; the length that is needed was told";
    ["the length was guessed instead of asked for",
     "the length was asked for in another state of the operation"];
    [Run(Encrypt), Run(Decrypt), Run(Sign), Run(Digest), All(Key), All(Object), One("C_GetSlotList"),
     One("C_GetMechanismList"), One("C_GetOperationState"), One("C_GetInterfaceList")];
    "Call again with the length that was told: the operation is still active.";

    SAVED_STATE_INVALID: Amend, "the saved state is not one that can be restored here";
    ["it was saved by another token, another version, or was changed"];
    [One("C_SetOperationState")];
    "Begin the operation again.";

    INFORMATION_SENSITIVE: Amend, "what was asked for would tell a secret";
    ["the size of an object that the token keeps to itself"];
    [One("C_GetObjectSize"), One("C_GetAttributeValue")];
    "Do without the answer.";

    STATE_UNSAVEABLE: Amend, "the state of this operation cannot be saved";
    ["the token cannot save any, or not in the middle of this mechanism"];
    [One("C_GetOperationState")];
    "Finish the operation in the session that began it.";

    CRYPTOKI_NOT_INITIALIZED: Reconnect, "the module was not initialised in this process";
    ["another part of the program finalised it",
     "the process forked: a child must initialise for itself",
     "the initialisation failed and its answer was not looked at"];
    [Every];
    "Initialise the module, and let nobody but the one who did finalise it.";

    CRYPTOKI_ALREADY_INITIALIZED: Proceed, "the module was initialised before, by another part of this process";
    ["two libraries in one program use the same module"];
    [One("C_Initialize")];
    "Share the module: use it, and do not finalise it.";
}
