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
    }
}

numbered! {
    /// How something ended: the stable error code of an answer and the outcome of an audit record.
    Code: u16, "code" {
        /// It worked.
        Ok = 0, "ok";
        /// The body is not the JSON this route takes.
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
    }
}
