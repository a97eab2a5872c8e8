//! 0x10 to 0x54: attributes, data, the device, ciphertext, functions.

use crate::Family::{Decrypt, Digest, Dual, Encrypt, Key, Object, Parallel, Sign, Verify};
use crate::explain::By::{All, Every, EverySession, EveryToken, One, Run};

super::codes! {
    ATTRIBUTE_READ_ONLY: Amend, "an attribute cannot be set or changed here";
    ["the attribute is fixed when the object is made, such as the key type or the value",
     "the attribute is for the token to set, such as CKA_LOCAL or CKA_ALWAYS_SENSITIVE",
     "the object is not modifiable"];
    [All(Object), All(Key)];
    "Leave the attribute out, or make a new object that has it.";

    ATTRIBUTE_SENSITIVE: Amend, "the value of an attribute does not leave the token";
    ["the key is sensitive or not extractable, and its secret part was asked for"];
    [One("C_GetAttributeValue"), One("C_CopyObject")];
    "Ask for public attributes only; to move the key, wrap it, if it is extractable.";

    ATTRIBUTE_TYPE_INVALID: Amend, "the object or the token knows no attribute of this type";
    ["the attribute belongs to another class or key type",
     "the token implements an older version and does not know it",
     "the number of a vendor's attribute is used with another vendor's token"];
    [All(Object), All(Key), One("C_FindObjectsInit")];
    "Leave the attribute out; inspect the object to see what it has.";

    ATTRIBUTE_VALUE_INVALID: Amend, "an attribute has a value that cannot be";
    ["a boolean or a number has the wrong length",
     "the curve, the parameter set or the public exponent is not one that the token takes",
     "a date or an encoded value is malformed"];
    [All(Object), All(Key), One("C_FindObjectsInit")];
    "Check curve, size and exponent against what the token supports.";

    ACTION_PROHIBITED: Amend, "the object's own attributes forbid this";
    ["CKA_DESTROYABLE, CKA_COPYABLE or CKA_MODIFIABLE of the object is false",
     "a policy of the token forbids it"];
    [All(Object)];
    "Inspect the object: what it forbids cannot be lifted afterwards.";

    DATA_INVALID: Amend, "the input is not what the mechanism works on";
    ["a raw mechanism was given a message where it takes a digest",
     "RSA without padding was given a number that is not below the modulus",
     "the padding of the input is not as the mechanism needs it"];
    [All(Encrypt), All(Sign), All(Verify), All(Digest), All(Dual)];
    "Check whether the mechanism hashes by itself, and give it the message or the digest accordingly.";

    DATA_LEN_RANGE: Amend, "the input is too long or too short for the mechanism";
    ["RSA encryption was given more than one block: modulus less 11 bytes with PKCS#1 v1.5, less 66 with OAEP-SHA-256",
     "a block cipher without padding was given a length that is no multiple of the block",
     "a digest of another length than the mechanism signs was given"];
    [All(Encrypt), All(Sign), All(Verify), All(Digest), All(Dual)];
    "Encrypt large inputs with a symmetric key that the RSA key wraps; sign a digest of the right length.";

    DEVICE_ERROR: Reconnect, "the device failed";
    ["the device is in an error state, is being tampered with, or restarts",
     "the connection to a device on the network is broken",
     "the store of a token in software is damaged or cannot be written"];
    [EveryToken];
    "Check the device's own status and its connection, then connect again.";

    DEVICE_MEMORY: Amend, "the token has no room";
    ["too many objects or sessions are on the token",
     "session objects were never destroyed",
     "the message is larger than the device can hold"];
    [EveryToken];
    "Close sessions, remove objects that are not needed, or give the input in parts.";

    DEVICE_REMOVED: Reconnect, "the token was taken out while it was used";
    ["the device was unplugged or switched off",
     "a device on the network went away or failed over"];
    [EveryToken];
    "Put it back, then open new sessions and look all objects up again.";

    ENCRYPTED_DATA_INVALID: Amend, "the ciphertext cannot be decrypted";
    ["it was made with another key",
     "it was changed or cut",
     "mechanism, IV, associated data or padding differ from those of the encryption"];
    [Run(Decrypt), All(Dual), One("C_DecapsulateKey")];
    "Check that key, mechanism and parameters are those of the encryption, and that the file is whole.";

    ENCRYPTED_DATA_LEN_RANGE: Amend, "a ciphertext cannot have this length";
    ["it was cut or something was added, such as a line end",
     "it is text, in base64 or hexadecimal, and was not decoded",
     "an RSA ciphertext of a key of another size"];
    [Run(Decrypt), All(Dual), One("C_DecapsulateKey")];
    "Compare the length with the key's: an RSA ciphertext is as long as the modulus, a CBC one a multiple of the block.";

    AEAD_DECRYPT_FAILED: Amend, "the tag does not belong to ciphertext, nonce, associated data and key";
    ["the wrong key",
     "ciphertext, tag, nonce or associated data were changed",
     "the tag's length is another than at encryption"];
    [Run(Decrypt), One("C_UnwrapKeyAuthenticated")];
    "Treat the data as forged; check the associated data and the nonce that were given.";

    FUNCTION_CANCELED: Retry, "the call was broken off in the middle";
    ["another thread cancelled it or finalised the module",
     "the token's keypad was used to cancel"];
    [EverySession];
    "Repeat the operation from its beginning.";

    FUNCTION_NOT_PARALLEL: Amend, "no function runs in the background in this session";
    ["a function of old versions was called: every module answers it with this"];
    [All(Parallel)];
    "Do not call it; it exists for compatibility only.";

    FUNCTION_NOT_SUPPORTED: Amend, "the module does not have this function";
    ["the module implements an older version of the standard",
     "the function is optional, such as saving an operation's state or dual operations",
     "the token is read-only by its nature"];
    [Every];
    "See the module's version; use the function that it has instead, such as C_Encrypt for C_EncryptMessage.";
}
