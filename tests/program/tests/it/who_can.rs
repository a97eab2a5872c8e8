//! `admin policy who-can` and `admin policy explain` of random policies: the one names exactly those for whom the other
//! says yes.
//!
//! The dose `policies-in-a-node` says how many policies.

use std::collections::BTreeSet;

use keywright_home::{Answer, Order};
use keywright_mutate::{SplitMix, dose};
use keywright_policy::{ContextPattern, Effect, Grant, PolicyDocument, Scope};
use keywright_types::{Name, Operation};

use crate::fixture::*;

const QUESTIONS: usize = 25;
const CONTEXTS: [&str; 3] = [EXCHANGE, TWO_FACTOR, "nowhere"];

#[test]
fn who_can_names_exactly_those_for_whom_explain_says_yes() {
    let site = Site::start();
    let mut dice = SplitMix::new(0x7768_6f3f);
    let (mut some, mut nobody) = (0_usize, 0_usize);
    for round in 0..dose("policies-in-a-node") {
        let mut known = BTreeSet::new();
        site.change_policy(|document| {
            known = document
                .principals
                .iter()
                .map(|one| one.name.clone())
                .collect();
            document.grants = (0..dice.below(10))
                .map(|_| any_grant(&mut dice, document))
                .collect();
        });
        for _ in 0..QUESTIONS {
            let operation = Operation::ALL[dice.below(Operation::ALL.len())];
            let context = match dice.below(4) {
                0 => None,
                _ => Some(name(CONTEXTS[dice.below(CONTEXTS.len())])),
            };
            let able = who_can(&site, operation, context.clone());
            let allowed = known
                .iter()
                .filter(|who| is_allowed(&site, who, operation, context.clone()));
            let allowed: BTreeSet<_> = allowed.cloned().collect();
            assert_eq!(able, allowed, "round {round}: {operation} in {context:?}");
            match able.is_empty() {
                true => nobody += 1,
                false => some += 1,
            }
        }
    }
    assert!(
        some > dose("policies-in-a-node") && nobody > dose("policies-in-a-node"),
        "the questions are one-sided: {some} and {nobody}"
    );
    site.stop();
}

fn who_can(site: &Site, operation: Operation, context: Option<Name>) -> BTreeSet<Name> {
    let order = Order::PolicyWhoCan {
        tenant: name("default"),
        operation,
        context,
    };
    match site.node().carry_out(order).unwrap() {
        Answer::WhoCan { principals } => principals.into_iter().map(|one| one.principal).collect(),
        other => panic!("{other:?}"),
    }
}

fn is_allowed(site: &Site, who: &Name, operation: Operation, context: Option<Name>) -> bool {
    let order = Order::PolicyExplain {
        tenant: name("default"),
        principal: who.clone(),
        operation,
        context,
    };
    match site.node().carry_out(order).unwrap() {
        Answer::Explained { code, .. } => code == "ok",
        other => panic!("{other:?}"),
    }
}

/// A grant, or a refusal, for some of those whom the policy has.
fn any_grant(dice: &mut SplitMix, document: &PolicyDocument) -> Grant {
    let scope = match dice.below(4) {
        0 => Scope::Tenant,
        _ => Scope::Context,
    };
    let of_scope = Operation::ALL.iter().copied();
    let of_scope: Vec<_> = of_scope.filter(|one| Scope::of(*one) == scope).collect();
    let first = dice.below(of_scope.len());
    let few = of_scope[first..].iter().take(1 + dice.below(12));
    let principals = document.principals.iter().map(|one| one.name.clone());
    let mut principals: Vec<_> = principals.filter(|_| dice.below(2) == 0).collect();
    let groups = document.groups.iter().map(|one| one.name.clone());
    let groups: Vec<_> = groups.filter(|_| dice.below(3) == 0).collect();
    if principals.is_empty() && groups.is_empty() {
        principals.push(document.principals[0].name.clone());
    }
    let contexts = match (scope, dice.below(3)) {
        (Scope::Tenant, _) => Vec::new(),
        (_, 0) => vec![ContextPattern::Any],
        (_, index) => vec![ContextPattern::Exact(name(CONTEXTS[index - 1]))],
    };
    Grant {
        tenant: name("default"),
        principals,
        groups,
        effect: match dice.below(4) {
            0 => Effect::Deny,
            _ => Effect::Allow,
        },
        operations: few.copied().collect(),
        contexts,
        paths: Vec::new(),
    }
}
