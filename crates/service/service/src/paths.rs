//! Which key of a tree an item is for: parsed, decided by policy and by what keys at such paths are for, listed for
//! the record.
//!
//! Policy compares paths ([`PathRights`]); what a purpose in an Identus path and a scheme can be used for is decided by
//! [`keywright_hdkey::rules`]. Both must say yes.

use keywright_audit::Reason;
use keywright_audit::field::PathList;
use keywright_custody::Key;
use keywright_hdkey::rules::{Effect, KeyUse, PathRule, PathRules};
use keywright_hdkey::{ChildIndex, Path, Scheme};
use keywright_policy::PathRights;
use keywright_types::{Code, Operation};

/// What the caller is told, and the reason that only the log may know.
type Why = (Code, Option<Reason>);

/// Decides about the paths of one request.
pub(crate) struct Paths<'p> {
    rights: PathRights<'p>,
    scheme: Scheme,
    key_use: KeyUse,
    /// Whatever the rules of purposes and schemes do not forbid.
    meant: PathRules,
}

impl<'p> Paths<'p> {
    /// For an operation on the keys of the tree that `key` is.
    pub(crate) fn new(
        key: &Key,
        operation: Operation,
        rights: PathRights<'p>,
    ) -> Result<Self, Code> {
        let scheme = key.spec().algorithm.name().parse();
        let scheme: Scheme = scheme.map_err(|_| Code::Unsupported)?;
        let key_use = match operation {
            Operation::Sign => KeyUse::Sign,
            Operation::Agree => KeyUse::Agree,
            Operation::Xpub => KeyUse::SharePublic,
            Operation::KeyExport => KeyUse::Export,
            _ => KeyUse::Public,
        };
        let everywhere = PathRule {
            effect: Effect::Allow,
            pattern: "m/**".parse().map_err(|_| Code::Internal)?,
            scheme: None,
            uses: vec![key_use],
        };
        Ok(Self {
            rights,
            scheme,
            key_use,
            meant: PathRules::new(vec![everywhere]),
        })
    }

    /// Decides about one item, and lists its path. What is no path is listed as the root.
    pub(crate) fn decide(&self, text: &str, list: &mut PathList) -> Result<(), Why> {
        let parsed: Result<Path, _> = text.parse();
        let Ok(path) = parsed else {
            list.push(std::iter::empty());
            return Err((Code::PathInvalid, None));
        };
        let children = path.children().iter().copied().map(ChildIndex::to_raw);
        list.push(children.clone());
        let children: Vec<u32> = children.collect();
        let denied = (Code::OperationDenied, Some(Reason::PolicyDenied));
        if !self.rights.allow(&children) {
            return Err(denied);
        }
        match self.meant.decide(&path, self.scheme, self.key_use) {
            Ok(_permit) => Ok(()),
            Err(keywright_hdkey::rules::Denied::Scheme { .. }) => Err((Code::Unsupported, None)),
            Err(_) => Err(denied),
        }
    }
}

/// The most bytes of paths in one record, half of what a record takes.
pub(crate) const MOST_LISTED: usize = 512 << 10;
