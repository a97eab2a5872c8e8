//! Orders about everything that is no version of a key: a policy, the rules of a context, a revocation, an approval, a
//! backup. Each leaves a mark by which a later life of the node can be asked about it.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;

use http::Method;
use keywright_clock::Clock;
use keywright_container::{DataKey, Slot};
use keywright_home::backup::{SealedBackup, SlotText};
use keywright_home::control::send;
use keywright_home::{Answer, ContextState, HomeError, Imported, Node, Order, RuleChanges};
use keywright_hpke::{Kem, Policy, PrivateKey};
use keywright_mutate::SplitMix;
use keywright_policy::{ContextPattern, Effect, Grant};
use keywright_primitives::random::RandomStream;
use keywright_tls::Protocol;
use keywright_tls::issue::Reason;
use keywright_types::Operation;

use super::{CONTEXTS, GUARDED, set};
use crate::fixture::*;

/// Clients of the trader's that can be revoked.
const CLIENTS: u16 = 16;
const APPROVERS: [&str; 2] = [TRADING, WEB];
const KINDS: [&str; 5] = ["approval", "backup", "policy", "revocation", "rules"];

/// One of these orders.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Deed {
    /// The destruction of what is guarded is approved.
    Approve(&'static str),
    /// A backup of this number is written.
    Backup(u16),
    /// A policy that has a mark of this number is applied.
    Policy(u16),
    /// The client of this number is revoked.
    Revoke(u16),
    /// The quiet time of the first context becomes so many days.
    Rules(u16),
}

/// What was acknowledged of them.
#[derive(Debug, Default)]
pub(super) struct Besides {
    /// The policy without a mark.
    policy: String,
    /// Opens the backups.
    keeper: Option<PrivateKey>,
    /// The newest mark of each kind that has numbers.
    marks: BTreeMap<&'static str, u16>,
    /// The deed that was begun last and not acknowledged.
    open: Option<Deed>,
    approved: BTreeSet<&'static str>,
    backups: Vec<PathBuf>,
    done: BTreeMap<&'static str, usize>,
}

impl Deed {
    fn kind(&self) -> &'static str {
        match self {
            Self::Approve(_) => "approval",
            Self::Backup(_) => "backup",
            Self::Policy(_) => "policy",
            Self::Revoke(_) => "revocation",
            Self::Rules(_) => "rules",
        }
    }
}

impl Besides {
    /// Lets two principals approve, and issues certificates that can be revoked.
    pub(super) fn prepare(home: &Home, node: &Node) -> Self {
        let mut document = node.admin().policy().unwrap().unwrap();
        document.grants.push(Grant {
            tenant: name("default"),
            principals: APPROVERS.map(name).to_vec(),
            groups: Vec::new(),
            effect: Effect::Allow,
            operations: vec![Operation::KeyApprove],
            contexts: vec![ContextPattern::Exact(name(GUARDED))],
            paths: Vec::new(),
        });
        let trading = document.principals.iter();
        let mut trading = trading.filter(|entry| entry.name.as_str() == TRADING);
        let trading = trading.next().unwrap().id;
        node.admin().apply_policy(document).unwrap();
        let (pki, now) = (home.pki(), Clock::system().wall());
        let folder = home.path().join("clients");
        for number in 0..CLIENTS {
            let client = client(number);
            pki.issue_client(&folder, (&client, Some("Trading")), trading, now)
                .unwrap();
        }
        let Ok(Answer::Policy { text }) = node.carry_out(Order::PolicyShow) else {
            panic!("a home has a policy")
        };
        Self {
            policy: text,
            keeper: Some(PrivateKey::generate(Kem::X25519HkdfSha256).unwrap()),
            ..Self::default()
        }
    }

    /// How often each was acknowledged.
    pub(super) const fn done(&self) -> &BTreeMap<&'static str, usize> {
        &self.done
    }

    pub(super) fn missing(&self) -> Vec<&'static str> {
        let missing = KINDS.into_iter();
        missing
            .filter(|kind| !self.done.contains_key(kind))
            .collect()
    }

    /// Whether both have acknowledged approvals that nothing has used up.
    pub(super) fn is_approved(&self) -> bool {
        self.approved.len() == APPROVERS.len()
    }

    pub(super) fn void_approvals(&mut self) {
        self.approved.clear();
    }

    pub(super) fn next(&self, dice: &mut SplitMix) -> Deed {
        let mark = |kind| self.marks.get(kind).map_or(0, |last| last + 1);
        let mut approvers = APPROVERS.into_iter();
        let missing = approvers.find(|one| !self.approved.contains(one));
        // What was never done goes first, however few orders fit between two kills.
        let kind = match self.missing().first() {
            Some(kind) => *kind,
            None => KINDS[dice.below(KINDS.len())],
        };
        match (kind, missing) {
            ("approval", Some(approver)) => Deed::Approve(approver),
            ("backup", _) => Deed::Backup(mark(kind)),
            ("policy", _) => Deed::Policy(mark(kind)),
            ("revocation", _) if mark(kind) < CLIENTS => Deed::Revoke(mark(kind)),
            _ => Deed::Rules(mark("rules") % 300),
        }
    }

    /// Whether the node acknowledged it.
    pub(super) fn carry_out(&mut self, home: &Home, (deed, address): (Deed, SocketAddr)) -> bool {
        self.open = Some(deed.clone());
        let acknowledged = match &deed {
            Deed::Approve(approver) => approve(home, address, approver),
            Deed::Backup(number) => self.back_up(home, *number),
            Deed::Policy(number) => in_force(home, &self.marked_policy(*number)),
            Deed::Revoke(number) => {
                let certificate = home.path().join("clients").join(client(*number) + ".pem");
                let now = Clock::system().wall();
                home.pki()
                    .revoke(&certificate, Reason::Superseded, now)
                    .unwrap();
                in_force(home, &Order::TrustReload)
            }
            Deed::Rules(days) => in_force(home, &quiet(*days)),
        };
        if acknowledged {
            self.open = None;
            self.note(&deed);
        }
        acknowledged
    }

    /// After a start: every mark is there, and what was begun last is whole or did not happen.
    pub(super) fn check(&mut self, home: &Home, contexts: &[ContextState], address: SocketAddr) {
        if let Some(deed) = self.open.take()
            && self.holds(home, (&deed, address), contexts)
        {
            self.note(&deed);
        }
        for (kind, number) in self.marks.clone() {
            let deed = match kind {
                "backup" => Deed::Backup(number),
                "policy" => Deed::Policy(number),
                "revocation" => Deed::Revoke(number),
                _ => Deed::Rules(number),
            };
            let holds = self.holds(home, (&deed, address), contexts);
            assert!(holds, "{deed:?} was acknowledged");
        }
        let next = self.marks.get("revocation").map_or(0, |last| last + 1);
        assert!(next == CLIENTS || is_served(home, address, &client(next)));
    }

    fn holds(
        &self,
        home: &Home,
        (deed, address): (&Deed, SocketAddr),
        contexts: &[ContextState],
    ) -> bool {
        match deed {
            // Said by nobody: an approval that was not acknowledged is given again, which does no harm.
            Deed::Approve(_) => false,
            Deed::Backup(number) => self.opens(home, *number),
            Deed::Policy(number) => {
                let Ok(Some(Answer::Policy { text })) = send(&home.path(), &Order::PolicyShow)
                else {
                    panic!("a node that listens says its policy")
                };
                text.contains(&mark(*number))
            }
            Deed::Revoke(number) => !is_served(home, address, &client(*number)),
            Deed::Rules(days) => {
                let mut first = contexts.iter();
                let first = first.find(|one| one.name.as_str() == CONTEXTS[0]);
                first.unwrap().rules.quiet_days == *days
            }
        }
    }

    fn note(&mut self, deed: &Deed) {
        *self.done.entry(deed.kind()).or_default() += 1;
        match deed {
            Deed::Approve(approver) => drop(self.approved.insert(approver)),
            Deed::Backup(number)
            | Deed::Policy(number)
            | Deed::Revoke(number)
            | Deed::Rules(number) => drop(self.marks.insert(deed.kind(), *number)),
        }
    }

    fn marked_policy(&self, number: u16) -> Order {
        let text = format!("{}\n[[group]]\nname = {}\n", self.policy, mark(number));
        Order::PolicyApply { text }
    }

    // === backups ===

    fn back_up(&mut self, home: &Home, number: u16) -> bool {
        let keeper = self.keeper.as_ref().unwrap();
        let key = DataKey::generate(&mut RandomStream::new().unwrap()).unwrap();
        let policy = Policy::default();
        let suites = policy.suites();
        let suite = suites.iter().find(|suite| suite.kem == keeper.kem());
        let suite = policy.admit(*suite.unwrap()).unwrap();
        let slot = Slot::hpke(&key, keeper.public_key(), suite).unwrap();
        // One that was cut off may have left its file.
        let to = home.beside(&format!("backup-{number}-{}", self.backups.len()));
        self.backups.push(to.clone());
        let order = Order::BackupCreate {
            to,
            key: Imported::from(&key),
            slots: vec![SlotText::new(&slot)],
        };
        match send(&home.path(), &order) {
            Ok(Some(Answer::BackedUp(_))) => true,
            Ok(None) | Err(HomeError::Control(_)) => false,
            other => panic!("{other:?}"),
        }
    }

    /// Whether a backup is there. Under its name it is whole.
    fn opens(&self, home: &Home, number: u16) -> bool {
        let begun = format!("backup-{number}-");
        let ours = |file: &&PathBuf| {
            let name = file.file_name().unwrap().to_string_lossy();
            name.starts_with(&begun)
        };
        let files: Vec<_> = self.backups.iter().filter(ours).collect();
        let there: Vec<_> = files.into_iter().filter(|file| file.exists()).collect();
        for file in &there {
            let sealed = SealedBackup::read(file).unwrap();
            let keeper = self.keeper.as_ref().unwrap();
            let header = sealed.header();
            let key = header.open_with_private_key(keeper, &Policy::default());
            sealed
                .open(&key.unwrap(), crate::backup::fingerprint(home))
                .unwrap();
        }
        !there.is_empty()
    }
}

fn client(number: u16) -> String {
    format!("gone-{number}")
}

fn mark(number: u16) -> String {
    format!("\"mark-{number}\"")
}

fn quiet(days: u16) -> Order {
    let rules = RuleChanges {
        quiet_days: Some(days),
        ..RuleChanges::default()
    };
    set(CONTEXTS[0], rules)
}

fn in_force(home: &Home, order: &Order) -> bool {
    match send(&home.path(), order) {
        Ok(Some(Answer::InForce { .. })) => true,
        Ok(None) | Err(HomeError::Control(_)) => false,
        other => panic!("{order:?}: {other:?}"),
    }
}

fn approve(home: &Home, address: SocketAddr, approver: &str) -> bool {
    let tls = home.tls(Some(home.identity(approver)), Protocol::Http2);
    let Ok(mut wire) = Wire::connect(address, tls) else {
        return false;
    };
    let body = "{\"order\":\"schedule-destroy\",\"version\":1}";
    match wire.send(Method::POST, &path(GUARDED, "key/approve"), body) {
        Ok(got) => {
            assert_eq!(got.code(), "ok");
            true
        }
        Err(_) => false,
    }
}

/// Whether a client is let in.
fn is_served(home: &Home, address: SocketAddr, client: &str) -> bool {
    let tls = home.tls(Some(home.identity(client)), Protocol::Http2);
    let wire = Wire::connect(address, tls);
    wire.and_then(|mut wire| wire.send(Method::GET, "/v1/contexts", ""))
        .is_ok()
}
