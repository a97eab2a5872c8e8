//! What can be wrong with a policy document. All of it is fixed by whoever wrote the document.

use std::fmt;

use keywright_types::{Name, Operation};

use crate::{MAX_DOCUMENT, MAX_FACT, MAX_LEGACY_NAMES, MAX_RIGHTS, PathPattern};

/// Why a policy document is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It is not the TOML a policy document is: syntax, an unknown key, a value of another type.
    #[error("line {line}, {place}: {message}")]
    Syntax {
        /// The line, from 1.
        line: usize,
        /// The key, or the table's header where no key is at fault.
        place: Box<str>,
        /// What the reader expected.
        message: Box<str>,
    },
    /// Its entries do not fit together.
    #[error("{}{entry}, key `{}`: {problem}", Line(.line), .problem.key())]
    Content {
        /// The line of the key, from 1, if the document was read from TOML.
        line: Option<usize>,
        /// The entry.
        entry: Entry,
        /// What is wrong with it.
        problem: Problem,
    },
    /// It is not the JSON under which the store keeps a policy document.
    #[error("stored policy, line {line} column {column}: not a policy document")]
    Stored {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
    },
    /// It is longer than any policy document.
    #[error("a policy document has at most {MAX_DOCUMENT} bytes")]
    TooLong,
    /// It cannot be written as TOML or JSON.
    #[error("the policy document cannot be written")]
    Write,
}

struct Line<'a>(&'a Option<usize>);

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |line| write!(f, "line {line}, "))
    }
}

struct Whom<'a>(&'a Option<Name>);

impl fmt::Display for Whom<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(name) => write!(f, "`{name}`"),
            None => f.write_str("everybody of the tenant"),
        }
    }
}

/// One entry of a document, counted from 0 here and from 1 when shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Entry {
    /// A `[[grant]]`.
    Grant(usize),
    /// A `[[group]]`.
    Group(usize),
    /// A `[[limit]]`.
    Limit(usize),
    /// A `[[principal]]`.
    Principal(usize),
    /// A `[[principal.rule]]`: the principal, then the rule.
    Rule(usize, usize),
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Grant(index) => write!(f, "grant {}", index + 1),
            Self::Group(index) => write!(f, "group {}", index + 1),
            Self::Limit(index) => write!(f, "limit {}", index + 1),
            Self::Principal(index) => write!(f, "principal {}", index + 1),
            Self::Rule(principal, rule) => {
                write!(f, "principal {}, rule {}", principal + 1, rule + 1)
            }
        }
    }
}

/// What is wrong with an entry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// An anchor stands twice in one rule.
    #[error("an anchor stands here twice")]
    AnchorTwice,
    /// `*` stands beside other names.
    #[error("`*` is every context of the tenant; write it alone or write names")]
    AnyBesideNames,
    /// Operations on contexts, but no contexts.
    #[error("`{operation}` concerns a context; name contexts, or `*` for all of the tenant")]
    ContextsMissing {
        /// The operation.
        operation: Operation,
    },
    /// Contexts, but operations that concern none.
    #[error("`{operation}` concerns no context; leave `contexts` out")]
    ContextsNotTaken {
        /// The operation.
        operation: Operation,
    },
    /// A context stands twice in one grant.
    #[error("context `{context}` stands here twice")]
    ContextTwice {
        /// The context.
        context: Name,
    },
    /// A fact has a control character.
    #[error("a control character matches no certificate")]
    FactControl {
        /// The key of the fact.
        key: &'static str,
    },
    /// A fact is empty.
    #[error("an empty text matches no certificate")]
    FactEmpty {
        /// The key of the fact.
        key: &'static str,
    },
    /// A fact is too long.
    #[error("at most {MAX_FACT} bytes")]
    FactTooLong {
        /// The key of the fact.
        key: &'static str,
    },
    /// Another principal has the same rule, so a certificate would match both and be refused.
    #[error("principal `{by}` has the same anchor and fact; exactly one may match a certificate")]
    FactTaken {
        /// The key of the fact.
        key: &'static str,
        /// The other principal.
        by: Name,
    },
    /// A fact looks like a pattern.
    #[error("`*` is not expanded; a rule is compared byte for byte")]
    FactWildcard {
        /// The key of the fact.
        key: &'static str,
    },
    /// A grant without principals and groups.
    #[error("a grant needs at least one of `principals` and `groups`")]
    GrantToNobody,
    /// An heir stands twice.
    #[error("heir `{heir}` stands here twice")]
    HeirTwice {
        /// The heir.
        heir: Name,
    },
    /// The document gives another id to a name that has one.
    #[error("`{name}` has another id already, and a name is never given out again")]
    IdChanged {
        /// The name.
        name: Name,
    },
    /// The document gives an id of one entry to another name.
    #[error("this id belongs to `{name}`; data is bound to the id, so it cannot move")]
    IdMoved {
        /// The name that has the id.
        name: Name,
    },
    /// Two entries have the same id.
    #[error("another entry has this id")]
    IdTwice,
    /// A former name has a control character or is empty.
    #[error("a former name is neither empty nor has control characters")]
    LegacyMalformed {
        /// The key of the former name.
        key: &'static str,
    },
    /// Two limits are for the same principal, the same group, or everybody.
    #[error("another limit is for {} too; there is one at most", Whom(.name))]
    LimitTwice {
        /// The key that names it.
        key: &'static str,
        /// The principal or group; none for everybody.
        name: Option<Name>,
    },
    /// An id is missing where one is needed.
    #[error("no id yet; a document gets its ids when it is applied")]
    NoId,
    /// An operation that no grant can give.
    #[error("`{operation}` belongs to the owner of the home folder; no grant gives it")]
    NotGrantable {
        /// The operation.
        operation: Operation,
    },
    /// A cost of an operation that no request asks for.
    #[error("`{operation}` is no request; it costs nobody anything")]
    NotLimited {
        /// The operation.
        operation: Operation,
    },
    /// A grant without operations.
    #[error("a grant needs at least one operation")]
    NoOperation,
    /// An id that is all zero, which means none.
    #[error("an id of zeros means none")]
    NilId,
    /// A rule without trust anchors.
    #[error("a rule names at least one trust anchor")]
    NoAnchor,
    /// Two names of a tenant are the same but for case.
    #[error("`{name}` differs from another name of this tenant in case at most")]
    NameTwice {
        /// The name.
        name: Name,
    },
    /// An operation stands twice in one grant.
    #[error("`{operation}` stands here twice")]
    OperationTwice {
        /// The operation.
        operation: Operation,
    },
    /// A number outside its range.
    #[error("{low} to {most}")]
    OutOfRange {
        /// The key.
        key: &'static str,
        /// The least.
        low: u32,
        /// The most.
        most: u32,
    },
    /// A path stands twice in one grant.
    #[error("path `{path}` stands here twice")]
    PathTwice {
        /// The path.
        path: PathPattern,
    },
    /// Paths beside an operation that concerns no key of a tree.
    #[error("`{operation}` concerns no key of a tree; leave `paths` out, or write two grants")]
    PathsNotTaken {
        /// The operation.
        operation: Operation,
    },
    /// A principal is its own heir.
    #[error("a principal is not its own heir")]
    OwnHeir,
    /// A grant has operations of both kinds.
    #[error("`{with}` concerns a context and `{without}` does not; write two grants")]
    ScopesMixed {
        /// An operation on contexts.
        with: Operation,
        /// An operation without.
        without: Operation,
    },
    /// More former names than are ever tried.
    #[error("at most {MAX_LEGACY_NAMES} former names")]
    TooManyLegacyNames {
        /// The key of the former names.
        key: &'static str,
    },
    /// The grants come to more than a policy holds.
    #[error("the grants come to more than {MAX_RIGHTS} pairs of principal and context; use `*`")]
    TooManyRights,
    /// The group does not exist in this tenant.
    #[error("tenant `{tenant}` has no group `{name}`")]
    UnknownGroup {
        /// The key that names it.
        key: &'static str,
        /// The tenant.
        tenant: Name,
        /// The name.
        name: Name,
    },
    /// The principal does not exist in this tenant.
    #[error("tenant `{tenant}` has no principal `{name}`")]
    UnknownPrincipal {
        /// The key that names it.
        key: &'static str,
        /// The tenant.
        tenant: Name,
        /// The name.
        name: Name,
    },
    /// The tenant does not exist.
    #[error("there is no tenant `{tenant}`")]
    UnknownTenant {
        /// The tenant.
        tenant: Name,
    },
}

impl Problem {
    /// The key of the document that has to change.
    #[must_use]
    pub const fn key(&self) -> &'static str {
        match self {
            Self::AnchorTwice | Self::NoAnchor => "anchors",
            Self::AnyBesideNames
            | Self::ContextsMissing { .. }
            | Self::ContextsNotTaken { .. }
            | Self::ContextTwice { .. }
            | Self::TooManyRights => "contexts",
            Self::FactControl { key }
            | Self::FactEmpty { key }
            | Self::FactTaken { key, .. }
            | Self::FactTooLong { key }
            | Self::FactWildcard { key }
            | Self::LegacyMalformed { key }
            | Self::LimitTwice { key, .. }
            | Self::OutOfRange { key, .. }
            | Self::TooManyLegacyNames { key }
            | Self::UnknownGroup { key, .. }
            | Self::UnknownPrincipal { key, .. } => key,
            Self::GrantToNobody => "principals",
            Self::NotLimited { .. } => "costs",
            Self::PathTwice { .. } | Self::PathsNotTaken { .. } => "paths",
            Self::HeirTwice { .. } | Self::OwnHeir => "heirs",
            Self::IdChanged { .. }
            | Self::IdMoved { .. }
            | Self::IdTwice
            | Self::NilId
            | Self::NoId => "id",
            Self::NameTwice { .. } => "name",
            Self::NoOperation
            | Self::NotGrantable { .. }
            | Self::OperationTwice { .. }
            | Self::ScopesMixed { .. } => "operations",
            Self::UnknownTenant { .. } => "tenant",
        }
    }
}
