//! The numbered vocabularies of `docs/registry.md`, one macro call each.

use crate::numbered;

numbered! {
    /// How a ciphertext is built (design 7.6).
    Suite: u8, "suite" {
        /// XAES-256-GCM under a subkey, with a commitment. The default.
        Xaes256Gcm = 1, "xaes-256-gcm";
        /// XChaCha20-Poly1305 under a subkey, with a commitment.
        XChaCha20Poly1305 = 2, "xchacha20-poly1305";
        /// AES-256-GCM inside a token, nonce of 12 bytes from us.
        TokenGcm12 = 3, "token-gcm-12";
        /// AES-256-GCM inside a token, nonce of 16 bytes made by the token.
        TokenGcm16 = 4, "token-gcm-16";
        /// AES-256-SIV, for keys of purpose `deterministic` only.
        Siv = 5, "aes-256-siv";
        /// C2SP chunked encryption: streams.
        Chunked = 6, "chunked-aes-256-gcm";
    }
}

numbered! {
    /// What an envelope holds (design 7.4).
    Kind: u8, "kind" {
        /// A caller's message.
        Message = 1, "message";
        /// A wrapped key: an id and a secret.
        Key = 2, "key";
    }
}

numbered! {
    /// What an envelope is bound to besides its key (design 7.7).
    BindingKind: u8, "binding" {
        /// Nothing.
        None = 0, "none";
        /// One principal.
        Principal = 1, "principal";
        /// One group of principals.
        Group = 2, "group";
    }
}

numbered! {
    /// How a file's data key is held (design 7.10).
    SlotType: u8, "slot" {
        /// An envelope of kind 2 under a context key.
        Envelope = 1, "envelope";
        /// A password container.
        Password = 2, "password";
        /// HPKE to a public key.
        Hpke = 3, "hpke";
    }
}

numbered! {
    /// What a key is for; one purpose per key, fixed at creation (design 7.13).
    Purpose: u8, "purpose" {
        /// Authenticated encryption.
        Seal = 1, "seal";
        /// Deterministic encryption.
        Deterministic = 2, "deterministic";
        /// Format-preserving tokens.
        Tokenise = 3, "tokenise";
        /// Message authentication codes.
        Mac = 4, "mac";
        /// Signatures.
        Sign = 5, "sign";
        /// Key agreement.
        Agree = 6, "agree";
        /// A seed of an HD tree.
        Tree = 7, "tree";
        /// Wrapping of other keys: tenant and root keys.
        Wrap = 8, "wrap";
    }
}

numbered! {
    /// The algorithm of a key version, one per version.
    Algorithm: u16, "algorithm" {
        /// 32 bytes for suites 1 and 6.
        Xaes256Gcm = 1, "xaes-256-gcm";
        /// 32 bytes for suites 2 and 6.
        XChaCha20Poly1305 = 2, "xchacha20-poly1305";
        /// 32 bytes inside a token, suite 3.
        TokenGcm12 = 3, "token-gcm-12";
        /// 32 bytes inside a token, suite 4.
        TokenGcm16 = 4, "token-gcm-16";
        /// 32 bytes for HMAC-SHA-256 over rows of the store.
        HmacSha256 = 5, "hmac-sha-256";
        /// Ed25519 signatures; the stored secret is the 32-byte seed.
        Ed25519 = 6, "ed25519";
        /// 32 bytes for FF1 over AES-128 in a format.
        Ff1Aes128 = 7, "ff1-aes-128";
        /// 32 bytes for FF1 over AES-192 in a format.
        Ff1Aes192 = 8, "ff1-aes-192";
        /// 32 bytes for FF1 over AES-256 in a format.
        Ff1Aes256 = 9, "ff1-aes-256";
        /// 32 bytes for FF1 over SM4 in a format.
        Ff1Sm4 = 10, "ff1-sm4";
        /// A seed of 64 bytes for a tree of BIP-32 keys.
        Bip32Secp256k1 = 11, "bip32-secp256k1";
        /// A seed of 64 bytes for a tree of SLIP-0010 keys over secp256k1.
        Slip10Secp256k1 = 12, "slip10-secp256k1";
        /// A seed of 64 bytes for a tree of SLIP-0010 keys over P-256.
        Slip10NistP256 = 13, "slip10-nist256p1";
        /// A seed of 64 bytes for a tree of SLIP-0010 keys of Ed25519.
        Slip10Ed25519 = 14, "slip10-ed25519";
        /// A seed of 64 bytes for a tree of SLIP-0010 keys of X25519.
        Slip10Curve25519 = 15, "slip10-curve25519";
        /// ECDSA over P-256; the stored secret is the scalar of 32 bytes.
        EcdsaP256 = 16, "ecdsa-p256";
        /// ECDSA and BIP-340 over secp256k1; the stored secret is the scalar of 32 bytes.
        EcdsaSecp256k1 = 17, "ecdsa-secp256k1";
        /// X25519; 32 bytes.
        X25519 = 18, "x25519";
        /// ECDH over P-256; the stored secret is the scalar of 32 bytes.
        EcdhP256 = 19, "ecdh-p256";
        /// 32 bytes for HMAC-SHA-384.
        HmacSha384 = 20, "hmac-sha-384";
        /// 32 bytes for HMAC-SHA-512.
        HmacSha512 = 21, "hmac-sha-512";
        /// 32 bytes for AES-CMAC.
        Aes256Cmac = 22, "aes-256-cmac";
        /// ECDSA over P-384 with SHA-384; the stored secret is the scalar of 48 bytes.
        EcdsaP384 = 23, "ecdsa-p384";
        /// ECDSA over P-521 with SHA-512, in a token.
        EcdsaP521 = 24, "ecdsa-p521";
        /// RSA PKCS#1 v1.5 signatures with SHA-256, modulus of 2048 bits; the stored secret is a PKCS#8 document.
        Rsa2048Pkcs1 = 25, "rsa-2048-pkcs1-sha-256";
        /// RSA PSS signatures with SHA-256 and a salt of 32 bytes, modulus of 2048 bits; the stored secret is a PKCS#8 document.
        Rsa2048Pss = 26, "rsa-2048-pss-sha-256";
        /// RSA PKCS#1 v1.5 signatures with SHA-256, modulus of 3072 bits; the stored secret is a PKCS#8 document.
        Rsa3072Pkcs1 = 27, "rsa-3072-pkcs1-sha-256";
        /// RSA PSS signatures with SHA-256 and a salt of 32 bytes, modulus of 3072 bits; the stored secret is a PKCS#8 document.
        Rsa3072Pss = 28, "rsa-3072-pss-sha-256";
        /// RSA PKCS#1 v1.5 signatures with SHA-256, modulus of 4096 bits; the stored secret is a PKCS#8 document.
        Rsa4096Pkcs1 = 29, "rsa-4096-pkcs1-sha-256";
        /// RSA PSS signatures with SHA-256 and a salt of 32 bytes, modulus of 4096 bits; the stored secret is a PKCS#8 document.
        Rsa4096Pss = 30, "rsa-4096-pss-sha-256";
        /// ML-DSA-65 signatures; the stored secret is the 32-byte seed.
        MlDsa65 = 31, "ml-dsa-65";
        /// 32 bytes for suite 5.
        Aes256Siv = 32, "aes-256-siv";
    }
}

numbered! {
    /// Where a key's operations happen.
    Custody: u8, "custody" {
        /// The key is wrapped by its parent and used in this process.
        Wrapped = 1, "wrapped";
        /// The key never leaves a token.
        Token = 2, "token";
    }
}

numbered! {
    /// Where a key came from.
    Origin: u8, "origin" {
        /// Made here.
        Generated = 1, "generated";
        /// Brought in.
        Imported = 2, "imported";
    }
}

numbered! {
    /// Whether a key may leave, fixed at creation (design 7.13, 7.14).
    Export: u8, "export" {
        /// Not by any command, route, share, mnemonic or backup.
        Never = 1, "never";
        /// Only sealed to a recipient.
        Sealed = 2, "sealed";
        /// Also plain.
        Plain = 3, "plain";
    }
}

numbered! {
    /// The life of a key version (design 7.16).
    State: u8, "state" {
        /// Opens only, so that all nodes can open before one seals.
        PreActive = 1, "pre-active";
        /// Seals and opens; at most one version of a key.
        Active = 2, "active";
        /// Opens, verifies and is rewrapped from; never active again.
        Retired = 3, "retired";
        /// Nothing, until it is resumed.
        Suspended = 4, "suspended";
        /// Nothing; undoing the schedule gives `Retired`.
        DestroyScheduled = 5, "destroy-scheduled";
        /// Nothing, for ever.
        Destroyed = 6, "destroyed";
    }
}

numbered! {
    /// What a principal may be allowed to do, and what an audit record says was done.
    Operation: u16, "operation" {
        /// Seal messages under a context.
        Encrypt = 1, "encrypt";
        /// Open messages of a context.
        Decrypt = 2, "decrypt";
        /// Seal again under the newest version, without showing the message.
        Rewrap = 3, "rewrap";
        /// Make a data key: plain and wrapped.
        Datakey = 4, "datakey";
        /// Open a wrapped data key.
        DatakeyOpen = 5, "datakey-open";
        /// Random bytes.
        Random = 6, "random";
        /// Make a context with its first key version.
        ContextCreate = 7, "context-create";
        /// See which contexts there are.
        ContextList = 8, "context-list";
        /// See one context and its versions.
        ContextDescribe = 9, "context-describe";
        /// Make a new key version active and retire the old.
        KeyRotate = 10, "key-rotate";
        /// See the versions of a key.
        KeyList = 11, "key-list";
        /// Read the metrics.
        MetricsRead = 12, "metrics-read";
        /// Ask how the service is.
        HealthRead = 13, "health-read";
        /// Replace principals and grants.
        PolicyApply = 14, "policy-apply";
        /// Make the certificate authority.
        PkiInit = 15, "pki-init";
        /// Issue a certificate.
        PkiIssue = 16, "pki-issue";
        /// Revoke a certificate.
        PkiRevoke = 17, "pki-revoke";
        /// Make the installation: root, store and first tenant.
        HomeCreate = 18, "home-create";
        /// A node's start.
        NodeStart = 19, "node-start";
        /// A node's orderly stop.
        NodeStop = 20, "node-stop";
        /// A TLS connection, accepted or refused.
        Connect = 21, "connect";
        /// A request that names no route.
        Unrouted = 22, "unrouted";
        /// Read the description of the API.
        ApiRead = 23, "api-read";
        /// Make tokens of values.
        Tokenize = 24, "tokenize";
        /// Make values of tokens.
        Detokenize = 25, "detokenize";
        /// See what the mask of a format leaves of a token's value.
        Mask = 26, "mask";
        /// Make signatures.
        Sign = 27, "sign";
        /// Look whether signatures fit.
        Verify = 28, "verify";
        /// Make a secret with the owner of a public key.
        Agree = 29, "agree";
        /// See public keys.
        PublicKey = 30, "public-key";
        /// See extended public keys, of which all public keys below them can be made.
        Xpub = 31, "xpub";
        /// Let keys out: private keys of a tree, or a key sealed to public keys.
        KeyExport = 32, "key-export";
        /// Make message authentication codes.
        Mac = 33, "mac";
        /// Look whether message authentication codes fit.
        MacVerify = 34, "mac-verify";
        /// Forbid every use of key versions, for now.
        KeySuspend = 35, "key-suspend";
        /// Take suspended key versions up again.
        KeyResume = 36, "key-resume";
        /// Let a key version seal no more.
        KeyRetire = 37, "key-retire";
        /// Set the date on which key versions are destroyed.
        KeyScheduleDestroy = 38, "key-schedule-destroy";
        /// Take that date back.
        KeyCancelDestroy = 39, "key-cancel-destroy";
        /// Destroy key versions for ever.
        KeyDestroy = 40, "key-destroy";
        /// Say yes to somebody else's order.
        KeyApprove = 41, "key-approve";
        /// Change the rules of a context: what rotates it, what still opens, what destruction needs.
        ContextSet = 42, "context-set";
        /// Say that the clock is right after it jumped.
        ClockConfirm = 43, "clock-confirm";
        /// Seal messages so that equal ones look alike.
        DeterministicEncrypt = 44, "deterministic-encrypt";
        /// Open messages that were sealed so.
        DeterministicDecrypt = 45, "deterministic-decrypt";
        /// Make a key to which one that is brought in can be wrapped.
        ImportBegin = 46, "import-begin";
        /// Write a backup of the home.
        BackupCreate = 47, "backup-create";
        /// Make a home of a backup.
        BackupRestore = 48, "backup-restore";
        /// Bring in a key of the seed service, for what that one sealed.
        ReaderImport = 49, "reader-import";
    }
}

numbered! {
    /// How something ended: the stable error code of an answer and the outcome of an audit record.
    Code: u16, "code" {
        /// It worked.
        Ok = 0, "ok";
        /// The body is not what this route takes.
        RequestMalformed = 1, "request_malformed";
        /// A binary field is not standard base64 with padding.
        Base64Invalid = 2, "base64_invalid";
        /// The body is larger than the limit.
        BodyTooLarge = 3, "body_too_large";
        /// More items than the limit.
        TooManyItems = 4, "too_many_items";
        /// The additional data is longer than 16 KiB.
        AadTooLarge = 5, "aad_too_large";
        /// No context of this name that the caller may know of.
        ContextNotFound = 6, "context_not_found";
        /// The caller has other rights on the context, not this one.
        OperationDenied = 7, "operation_denied";
        /// The bytes are no ciphertext of ours.
        CiphertextMalformed = 8, "ciphertext_malformed";
        /// The version's state or the context's minimum forbids opening.
        KeyVersionUnavailable = 9, "key_version_unavailable";
        /// The ciphertext does not open here; no further reason is given.
        DecryptionFailed = 10, "decryption_failed";
        /// No such route.
        RouteNotFound = 11, "route_not_found";
        /// The route exists, with another method.
        MethodNotAllowed = 12, "method_not_allowed";
        /// The certificate maps to no principal.
        PrincipalUnknown = 13, "principal_unknown";
        /// The certificate maps to more than one principal.
        PrincipalAmbiguous = 14, "principal_ambiguous";
        /// The certificate is revoked.
        CertificateRevoked = 15, "certificate_revoked";
        /// The certificate is not valid now.
        CertificateExpired = 16, "certificate_expired";
        /// The key holder cannot be reached or failed.
        HolderUnavailable = 17, "holder_unavailable";
        /// The audit log cannot be written; nothing was done or handed out.
        AuditUnavailable = 18, "audit_unavailable";
        /// Too much is waiting already.
        Overloaded = 19, "overloaded";
        /// The request took longer than it may.
        DeadlineExceeded = 20, "deadline_exceeded";
        /// The store cannot be reached or failed.
        StoreUnavailable = 21, "store_unavailable";
        /// A bug of ours.
        Internal = 22, "internal";
        /// The key cannot do this.
        Unsupported = 23, "unsupported";
        /// A name outside the alphabet or length.
        NameInvalid = 24, "name_invalid";
        /// The name is, or once was, in use.
        NameTaken = 25, "name_taken";
        /// The node is stopping.
        ShuttingDown = 26, "shutting_down";
        /// The key has no such version.
        VersionNotFound = 27, "version_not_found";
        /// The version's state does not allow the order.
        StateConflict = 28, "state_conflict";
        /// The client went away before the end, or a crash cut the order short.
        Interrupted = 29, "interrupted";
        /// The client sent no certificate.
        CertificateMissing = 30, "certificate_missing";
        /// The certificate's issuer is not trusted here.
        CertificateUntrusted = 31, "certificate_untrusted";
        /// The handshake failed for another reason.
        HandshakeFailed = 32, "handshake_failed";
        /// A number or length outside its limits.
        ValueInvalid = 33, "value_invalid";
        /// No active version seals for this context.
        NoActiveVersion = 34, "no_active_version";
        /// The client was too slow.
        RequestTimeout = 35, "request_timeout";
        /// The certificate cannot be read.
        CertificateMalformed = 36, "certificate_malformed";
        /// A value or token is not in the format of the context.
        ValueUnfit = 37, "value_unfit";
        /// The parts of the tweak are not those that the format needs.
        TweakInvalid = 38, "tweak_invalid";
        /// The path is none, or leads to no key of this tree.
        PathInvalid = 39, "path_invalid";
        /// What is to be signed is neither a message nor a digest of 32 bytes.
        DigestInvalid = 40, "digest_invalid";
        /// The peer's public key is none of the curve, or makes no secret.
        PeerKeyInvalid = 41, "peer_key_invalid";
        /// The order needs the word of two other principals.
        ApprovalMissing = 42, "approval_missing";
        /// The key version was used, or asked for, too lately to be destroyed.
        KeyInUse = 43, "key_in_use";
        /// The day of the destruction has not come.
        NotYetDue = 44, "not_yet_due";
        /// The clock jumped, and nobody has said that it is right.
        ClockUncertain = 45, "clock_uncertain";
        /// The caller sends faster than the policy allows it.
        RateLimited = 46, "rate_limited";
        /// A login token is none, is over, or is another certificate's.
        TokenRefused = 47, "token_refused";
    }
}
