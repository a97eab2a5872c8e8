//! The steps of each context: what to look at, in the order in which it is likeliest.

use super::Step;

const fn look(text: &'static str, command: &'static str) -> Step {
    Step {
        text,
        command: Some(command),
    }
}

const fn consider(text: &'static str) -> Step {
    Step {
        text,
        command: None,
    }
}

const KEY_IS_THERE: Step = look(
    "the key is there, once, and is the one that is meant",
    "keywright hsm find-key --label {token} --key-label {key} --show-similar",
);
const KEY_ALLOWS: Step = look(
    "the key's usage, type and size fit what is to be done",
    "keywright hsm inspect-key --label {token} --key-label {key}",
);
const MECHANISMS: Step = look(
    "the token has the mechanism, for this use and this size",
    "keywright hsm list-mechanisms --detailed",
);
const TOKENS: Step = look(
    "the token is there and is the one that is meant",
    "keywright hsm list-slots",
);
const OBJECTS: Step = look(
    "what the token holds",
    "keywright hsm list-objects --label {token} --detailed",
);
const MODULE: Step = look(
    "the module loads and is the one that is meant",
    "keywright hsm info",
);

pub(super) const SIGN: &[Step] = &[
    KEY_IS_THERE,
    look(
        "the private half has CKA_SIGN",
        "keywright hsm inspect-key --label {token} --key-label {key}",
    ),
    MECHANISMS,
    look(
        "a signature over a small file succeeds",
        "keywright hsm sign --label {token} --key-label {key} --input small.txt --output small.sig",
    ),
];
pub(super) const VERIFY: &[Step] = &[
    look(
        "the public half is there and has CKA_VERIFY",
        "keywright hsm inspect-key --label {token} --key-label {key}",
    ),
    consider("the data is byte by byte what was signed: line ends, encoding, a missing end"),
    consider("the signature is complete, and in the encoding that was made: raw or DER"),
    consider("mechanism, hash and salt are the same on both sides"),
];
pub(super) const VERIFY_CHAIN: &[Step] = &[
    look(
        "the certificate belongs to the key: the fingerprints of the public keys are equal",
        "keywright hsm export-pubkey --label {token} --key-label {key} --output -",
    ),
    consider("each certificate is signed by the next, up to one that is trusted"),
    consider("none has expired, was revoked, or may not be used for this"),
];
pub(super) const ENCRYPT: &[Step] = &[
    KEY_IS_THERE,
    KEY_ALLOWS,
    consider(
        "the input fits: RSA takes its modulus less 66 bytes with OAEP-SHA-256, less 11 with PKCS#1 v1.5",
    ),
    MECHANISMS,
    consider("IV and other parameters are given and have the mechanism's lengths"),
];
pub(super) const DECRYPT: &[Step] = &[
    KEY_IS_THERE,
    KEY_ALLOWS,
    consider("the ciphertext is whole, and binary where binary is read"),
    consider("key, mechanism, hash, label and associated data are those of the encryption"),
];
pub(super) const MESSAGE_AEAD: &[Step] = &[
    KEY_IS_THERE,
    KEY_ALLOWS,
    consider("nonce, tag and associated data are those of the encryption, with the same lengths"),
    MECHANISMS,
];
pub(super) const LOGIN: &[Step] = &[
    TOKENS,
    consider(
        "the PIN is the user's where the user logs in, and the officer's where the officer does",
    ),
    look(
        "the token is initialised, has a user PIN, and is not locked: see its flags",
        "keywright hsm list-slots --json",
    ),
    look(
        "the officer can set a new user PIN if this one is locked or lost",
        "keywright hsm init-pin --label {token}",
    ),
];
pub(super) const WRAP: &[Step] = &[
    look(
        "the key to be wrapped is extractable",
        "keywright hsm inspect-key --label {token} --key-label {key}",
    ),
    look(
        "a wrapping key with CKA_WRAP is there",
        "keywright hsm list-objects --label {token} --detailed",
    ),
    MECHANISMS,
    look(
        "if the key has to move and cannot, make a new one that can",
        "keywright hsm gen-symmetric-key --label {token} --key-label NEW --extractable",
    ),
];
pub(super) const UNWRAP: &[Step] = &[
    KEY_IS_THERE,
    look(
        "the unwrapping key has CKA_UNWRAP and is the one that wrapped: compare key check values",
        "keywright hsm inspect-key --label {token} --key-label {key}",
    ),
    consider("the file is whole, and binary where binary is read"),
    consider("the type that is asked for is the type that was wrapped"),
    MECHANISMS,
];
pub(super) const DERIVE: &[Step] = &[
    look(
        "the base key has CKA_DERIVE",
        "keywright hsm inspect-key --label {token} --key-label {key}",
    ),
    MECHANISMS,
    consider("the other side's public key is on the same curve, and encoded as the token takes it"),
    consider("the new key's type and length are named"),
];
pub(super) const DIGEST: &[Step] = &[
    look(
        "the token has the digest",
        "keywright hsm list-mechanisms --detailed",
    ),
    consider("keywright hsm hash --local computes it without the token"),
];
pub(super) const MAC: &[Step] = &[
    KEY_IS_THERE,
    look(
        "the key has CKA_SIGN to make a code and CKA_VERIFY to check one, and is of the mechanism's type",
        "keywright hsm inspect-key --label {token} --key-label {key}",
    ),
    MECHANISMS,
    consider("the length of the code is the same on both sides"),
];
pub(super) const KEYGEN: &[Step] = &[
    look(
        "the token makes keys of this type and size",
        "keywright hsm list-mechanisms --detailed",
    ),
    look(
        "the label and the id are not taken, and there is room",
        "keywright hsm list-objects --label {token}",
    ),
    TOKENS,
];
pub(super) const IMPORT: &[Step] = &[
    consider("the token may refuse keys in the clear: wrap them and use unwrap-key"),
    OBJECTS,
    TOKENS,
];
pub(super) const FIND: &[Step] = &[
    look(
        "names that are alike",
        "keywright hsm find-key --label {token} --key-label {key} --show-similar",
    ),
    consider("private objects are seen by who is logged in only"),
    OBJECTS,
];
pub(super) const INIT_TOKEN: &[Step] = &[
    TOKENS,
    consider("no program has a session with the token"),
    consider("for a token that is initialised already, the officer's PIN is the one it has"),
    consider("the label has at most 32 bytes"),
];
pub(super) const INIT_PIN: &[Step] = &[
    look(
        "the shortest and longest PIN, and the flags of the token",
        "keywright hsm list-slots --json",
    ),
    consider("the officer's PIN is given where the officer's is asked for"),
    consider("the new PIN meets the vendor's rules"),
];
pub(super) const SESSION: &[Step] = &[
    MODULE,
    TOKENS,
    consider("other programs have not taken all sessions, and this one closes its own"),
];
pub(super) const RANDOM: &[Step] = &[
    look(
        "the token has a generator: its flags name rng",
        "keywright hsm list-slots --json",
    ),
    look(
        "few bytes succeed",
        "keywright hsm gen-random --bytes 16 --hex",
    ),
];
pub(super) const ENCAPSULATE: &[Step] = &[
    KEY_IS_THERE,
    look(
        "the public half has CKA_ENCAPSULATE, the private one CKA_DECAPSULATE",
        "keywright hsm inspect-key --label {token} --key-label {key}",
    ),
    look(
        "the token has ML-KEM, in this parameter set",
        "keywright hsm list-mechanisms --detailed",
    ),
];
pub(super) const GENERAL: &[Step] = &[
    TOKENS,
    MODULE,
    OBJECTS,
    consider("the log of the module or of the device"),
];
