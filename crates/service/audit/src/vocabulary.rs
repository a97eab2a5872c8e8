//! The audit vocabularies of `docs/registry.md` (design 7.1): record types, fields, reasons, heads.
//!
//! A number is never reused and never changes meaning. There is no field for a plaintext, a key, a
//! PIN, a login token, a caller's `aad` or a value to tokenise (design 7.32): what has no number
//! cannot be written.

use keywright_types::numbered;

numbered! {
    /// What a record is about (design 7.30).
    RecordType: u16, "audit type" {
        /// One request or background job that changed no state.
        Request = 1, "request";
        /// One accepted connection (design 7.32).
        Connection = 2, "connection";
        /// Refusals that are counted, not listed (design 7.36): `items` says how many.
        Refused = 3, "refused";
        /// An order that changes state is about to be carried out (design 7.29).
        OrderBefore = 4, "order-before";
        /// How that order ended.
        OrderAfter = 5, "order-after";
        /// A later start found an order without an end and settled it.
        OrderSettled = 6, "order-settled";
        /// A node started.
        NodeStart = 7, "node-start";
        /// A node stopped in order.
        NodeStop = 8, "node-stop";
        /// The first record of every file: what its link 0 is made of (design 7.33).
        FileStart = 9, "file-start";
        /// A stream begins; how it ended is a record of type `request` under the same request.
        StreamBegin = 10, "stream-begin";
    }
}

numbered! {
    /// What a field of a record holds.
    FieldTag: u16, "audit field" {
        /// First 16 bytes of the nonce, SIV or salt: which ciphertext this was about.
        MessageId = 1, "message-id";
        /// A batch's items grouped by version and outcome (design 7.31).
        ItemGroups = 2, "item-groups";
        /// SHA-256 over message id and outcome of each item in order.
        ItemDigest = 3, "item-digest";
        /// Every message id of a batch, when `audit.items = "each"`.
        ItemIds = 4, "item-ids";
        /// The true reason behind an opaque answer.
        Reason = 5, "reason";
        /// Address and port of the other end.
        Address = 6, "address";
        /// The network a counted refusal came from: /24 or /48.
        AddressPrefix = 7, "address-prefix";
        /// SHA-256 of the trust anchor's public key.
        Anchor = 8, "anchor";
        /// SHA-256 of the client's certificate.
        Leaf = 9, "leaf";
        /// The certificate's serial number.
        Serial = 10, "serial";
        /// The certificate's subject, escaped, at most 256 bytes.
        Subject = 11, "subject";
        /// Whether the TLS session was resumed.
        Resumed = 12, "resumed";
        /// A name that this order gave to something.
        Name = 13, "name";
        /// A changed row of the store with its MAC (design 7.15).
        Row = 14, "row";
        /// The installation this file belongs to.
        Installation = 15, "installation";
        /// The node this file belongs to.
        Node = 16, "node";
        /// The boot this file belongs to.
        Boot = 17, "boot";
        /// The number of the writer of this file.
        Writer = 18, "writer";
        /// Hash of the newest head when this file was made.
        NewestHead = 19, "newest-head";
        /// Length to which this file was laid out with zeros before it was used (design 7.36).
        Preallocated = 20, "preallocated";
        /// Where the record stands that this one repeats, because its order is still open.
        CarriedFrom = 21, "carried-from";
        /// The group a ciphertext is bound to.
        Group = 22, "group";
        /// The approval that allowed this order.
        Approval = 23, "approval";
        /// SHA-256 of the order that an approval covers (design 7.23).
        OrderDigest = 24, "order-digest";
        /// A keyed hash by which an authorised reader can search (design 7.32).
        Searchable = 25, "searchable";
        /// The data key an answer handed out.
        DataKey = 26, "data-key";
        /// The principal an order was about.
        AboutPrincipal = 27, "about-principal";
        /// The tenant an order was about.
        AboutTenant = 28, "about-tenant";
        /// When what was issued ends, seconds since 1970.
        NotAfter = 29, "not-after";
        /// Which key of a tree each item was for, in order.
        Paths = 30, "paths";
    }
}

numbered! {
    /// Why something ended as it did, where the answer must not say so (design 7.8, 7.28).
    Reason: u16, "audit reason" {
        /// The tenant has no context of this name.
        ContextUnknown = 1, "context-unknown";
        /// The context exists, the caller holds no right on it.
        ContextHidden = 2, "context-hidden";
        /// The header names a key that does not exist.
        KeyUnknown = 3, "key-unknown";
        /// The header names a key of another context.
        KeyForeign = 4, "key-foreign";
        /// The key has no such version.
        VersionUnknown = 5, "version-unknown";
        /// The version's state forbids this.
        VersionState = 6, "version-state";
        /// The version is below the context's minimum.
        VersionTooOld = 7, "version-too-old";
        /// The message is bound to someone else.
        BindingMismatch = 8, "binding-mismatch";
        /// The header's suite is not the version's.
        SuiteMismatch = 9, "suite-mismatch";
        /// The header's kind is not what this operation opens.
        KindMismatch = 10, "kind-mismatch";
        /// The commitment does not fit the key.
        CommitmentMismatch = 11, "commitment-mismatch";
        /// The tag does not fit: changed bytes or other additional data.
        TagMismatch = 12, "tag-mismatch";
        /// The bytes cannot be parsed.
        Malformed = 13, "malformed";
        /// A queue was full.
        QueueFull = 14, "queue-full";
        /// The caller's rate was above its limit.
        RateLimit = 15, "rate-limit";
        /// A deadline passed.
        Deadline = 16, "deadline";
        /// The key holder failed.
        HolderFailed = 17, "holder-failed";
        /// The store failed.
        StoreFailed = 18, "store-failed";
        /// A crash left this open.
        Crash = 19, "crash";
        /// A rule of the policy denies it.
        PolicyDenied = 20, "policy-denied";
        /// A backup was restored without the log of what was ordered after it.
        WithoutLog = 21, "without-log";
    }
}

numbered! {
    /// When and why a head was signed (design 7.34, 7.35).
    HeadKind: u8, "audit head" {
        /// The first head of a boot; it states every older file.
        Start = 1, "start";
        /// A head while the node runs.
        Running = 2, "running";
        /// The last head of a boot that ended in order.
        Shutdown = 3, "shutdown";
        /// Hands over to another signing key; signed by the old one.
        SignerChange = 4, "signer-change";
        /// States the files that were removed from the front.
        Prune = 5, "prune";
        /// The first head of a boot that found records which nothing proves; it states where they begin.
        StartUnproven = 6, "start-unproven";
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_and_numbers_are_unique_and_lead_back() {
        fn unique<T: Ord>(items: impl Iterator<Item = T>, count: usize) {
            assert_eq!(items.collect::<BTreeSet<_>>().len(), count);
        }
        unique(
            RecordType::ALL.iter().map(|t| t.name()),
            RecordType::ALL.len(),
        );
        unique(FieldTag::ALL.iter().map(|t| t.name()), FieldTag::ALL.len());
        unique(Reason::ALL.iter().map(|t| t.name()), Reason::ALL.len());
        unique(HeadKind::ALL.iter().map(|t| t.name()), HeadKind::ALL.len());
        assert!(
            FieldTag::ALL
                .iter()
                .all(|t| FieldTag::from_number(t.number()) == Ok(*t))
        );
        assert!(FieldTag::from_number(0).is_err());
        assert!(RecordType::from_number(11).is_err());
        assert!(HeadKind::from_number(0).is_err());
    }

    #[test]
    fn no_field_is_named_after_a_secret() {
        for tag in FieldTag::ALL {
            for word in [
                "plain", "pin", "token", "aad", "secret", "password", "value",
            ] {
                assert!(
                    !tag.name().split('-').any(|part| part.starts_with(word)),
                    "{tag}"
                );
            }
        }
    }
}
