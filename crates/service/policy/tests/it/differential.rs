//! The compiled policy against a reader of the rules as they are written (W6).
//!
//! The reference walks the document for every question: no ids, no bits, no tables. It shares nothing
//! with the compiled form but the document.
//!
//! The dose `policies` says how many policies.

use std::collections::BTreeSet;

use keywright_mutate::{SplitMix, dose};
use keywright_policy::{
    ContextPattern, ContextRef, Denied, Effect, Grant, GroupEntry, Legacy, Policy, PolicyDocument,
    PrincipalEntry, Scope,
};
use keywright_types::{Name, Operation};

use crate::setting::{DEFAULT, KEY, OTHER, tenants};

const TENANTS: [&str; 2] = ["default", "other"];
const CONTEXTS: [&str; 5] = ["a", "A", "ab", "a.b", "exchange-key"];
const QUESTIONS: usize = 100;
/// Questions of each policy that are asked the other way round.
const REVERSE_QUESTIONS: usize = 20;

#[derive(Debug, PartialEq)]
enum Answer {
    Permit,
    OtherRight,
    NoRight,
}

/// Design 7.28, sentence by sentence.
fn reference(
    document: &PolicyDocument,
    who: &PrincipalEntry,
    (tenant, context): (&str, Option<&str>),
    operation: Operation,
) -> Answer {
    let concerns = |grant: &Grant| {
        let named = grant.principals.contains(&who.name);
        let member = who
            .group
            .as_ref()
            .is_some_and(|group| grant.groups.contains(group));
        grant.tenant == who.tenant && (named || member)
    };
    let covers = |grant: &Grant| match context {
        None => grant.contexts.is_empty(),
        Some(name) => grant.contexts.iter().any(|pattern| match pattern {
            ContextPattern::Any => true,
            ContextPattern::Exact(exact) => exact.as_str() == name,
        }),
    };
    let holds = |operation: Operation| {
        let says = |effect: Effect| {
            document.grants.iter().any(|grant| {
                grant.effect == effect
                    && concerns(grant)
                    && covers(grant)
                    && grant.operations.contains(&operation)
            })
        };
        who.tenant.as_str() == tenant && says(Effect::Allow) && !says(Effect::Deny)
    };
    match (
        holds(operation),
        Operation::ALL.iter().any(|&any| holds(any)),
    ) {
        (true, _) => Answer::Permit,
        (false, true) => Answer::OtherRight,
        (false, false) => Answer::NoRight,
    }
}

#[test]
fn a_hundred_thousand_questions_have_the_answers_of_the_written_rules() {
    let mut dice = SplitMix::new(0x6b65_7977);
    let mut seen = [0_usize; 3];
    for round in 0..dose("policies") {
        let document = any_document(&mut dice);
        let policy = Policy::compile(&document, tenants, 1).unwrap();
        for _ in 0..QUESTIONS {
            let who = &document.principals[dice.below(document.principals.len())];
            let operation = Operation::ALL[dice.below(Operation::ALL.len())];
            let tenant = TENANTS[dice.below(2)];
            let context = CONTEXTS[dice.below(CONTEXTS.len())];
            let principal = policy.principal(who.id.unwrap()).unwrap();

            let asked = ContextRef::new(
                if tenant == "default" { DEFAULT } else { OTHER },
                context,
                KEY,
            );
            let answer = match policy.authorize(&principal, asked, operation) {
                Ok(_) => Answer::Permit,
                Err(Denied::OtherRight) => Answer::OtherRight,
                Err(Denied::NoRight) => Answer::NoRight,
            };
            let expected = reference(&document, who, (tenant, Some(context)), operation);
            assert_eq!(
                answer, expected,
                "round {round}: {who:?} {tenant}/{context} {operation}\n{document:#?}"
            );
            assert_eq!(
                policy.may_know(&principal, asked),
                expected != Answer::NoRight
            );
            seen[expected as usize] += 1;

            let own = who.tenant.as_str();
            let expected = reference(&document, who, (own, None), operation) == Answer::Permit;
            assert_eq!(
                policy.authorize_tenant(&principal, operation).is_ok(),
                expected,
                "round {round}"
            );
        }
    }
    assert!(
        seen.iter().all(|&count| count > 1000),
        "the questions are one-sided: {seen:?}"
    );
}

/// Who may, said by the compiled policy alone, which must know everybody whom the document has; as a node answers
/// `who-can`.
fn able(
    policy: &Policy,
    tenant: &str,
    context: Option<&str>,
    operation: Operation,
) -> BTreeSet<Name> {
    let id = tenants(&tenant.parse().unwrap()).unwrap();
    let ours = policy.principals().filter(|one| one.tenant() == id);
    let may = ours.filter(|one| match context {
        Some(context) => {
            let context = ContextRef::new(id, context, KEY);
            policy.authorize(one, context, operation).is_ok()
        }
        None => policy.authorize_tenant(one, operation).is_ok(),
    });
    may.map(|one| one.name().clone()).collect()
}

#[test]
fn who_can_is_everybody_whom_the_written_rules_allow_and_nobody_else() {
    let mut dice = SplitMix::new(0x7768_6f21);
    let mut seen = [0_usize; 3];
    for round in 0..dose("policies") {
        let document = any_document(&mut dice);
        let policy = Policy::compile(&document, tenants, 1).unwrap();
        for _ in 0..REVERSE_QUESTIONS {
            let operation = Operation::ALL[dice.below(Operation::ALL.len())];
            let tenant = TENANTS[dice.below(2)];
            let context = match dice.below(4) {
                0 => None,
                _ => Some(CONTEXTS[dice.below(CONTEXTS.len())]),
            };
            let ours = document.principals.iter();
            let ours: Vec<_> = ours.filter(|who| who.tenant.as_str() == tenant).collect();
            let allowed = ours.iter().filter(|who| {
                reference(&document, who, (tenant, context), operation) == Answer::Permit
            });
            let expected: BTreeSet<_> = allowed.map(|who| who.name.clone()).collect();
            assert_eq!(
                able(&policy, tenant, context, operation),
                expected,
                "round {round}: {tenant}/{context:?} {operation}\n{document:#?}"
            );
            let share = usize::from(!expected.is_empty());
            seen[share + usize::from(expected.len() == ours.len())] += 1;
        }
    }
    assert!(
        seen.iter().all(|&count| count > 100),
        "nobody, some, all: {seen:?}"
    );
}

fn any_document(dice: &mut SplitMix) -> PolicyDocument {
    let mut document = PolicyDocument::default();
    let name = |text: String| text.parse::<Name>().unwrap();
    for tenant in TENANTS {
        for index in 0..1 + dice.below(2) {
            document.groups.push(GroupEntry {
                id: None,
                name: name(format!("g{index}")),
                tenant: name(tenant.to_owned()),
            });
        }
        for index in 0..1 + dice.below(4) {
            document.principals.push(PrincipalEntry {
                id: None,
                name: name(format!("p{index}")),
                tenant: name(tenant.to_owned()),
                plane: keywright_types::Plane::default(),
                group: (dice.below(2) == 0).then(|| name("g0".to_owned())),
                heirs: vec![],
                legacy_cn: Legacy::default(),
                legacy_ou: Legacy::default(),
                rules: vec![],
            });
        }
    }
    for _ in 0..dice.below(12) {
        let grant = any_grant(dice, &document);
        document.grants.push(grant);
    }
    let mut next = 0_u128;
    document.complete(|| {
        next += 1;
        next.to_be_bytes()
    });
    document
}

fn any_grant(dice: &mut SplitMix, document: &PolicyDocument) -> Grant {
    let tenant: Name = TENANTS[dice.below(2)].parse().unwrap();
    let scope = if dice.below(4) == 0 {
        Scope::Tenant
    } else {
        Scope::Context
    };
    let mut operations: Vec<_> = Operation::ALL
        .iter()
        .copied()
        .filter(|&one| Scope::of(one) == scope && dice.below(3) == 0)
        .collect();
    if operations.is_empty() {
        operations.push(if scope == Scope::Tenant {
            Operation::Random
        } else {
            Operation::Encrypt
        });
    }
    let principals = document
        .principals
        .iter()
        .filter(|entry| entry.tenant == tenant);
    let mut principals: Vec<_> = principals.map(|entry| entry.name.clone()).collect();
    let groups: Vec<_> = (dice.below(2) == 0)
        .then(|| "g0".parse().unwrap())
        .into_iter()
        .collect();
    let keep = dice.below(principals.len() + 1);
    principals.truncate(if groups.is_empty() { keep.max(1) } else { keep });
    let contexts = match (scope, dice.below(3)) {
        (Scope::Tenant, _) => vec![],
        (_, 0) => vec![ContextPattern::Any],
        _ => {
            let first = dice.below(CONTEXTS.len());
            let few = CONTEXTS[first..].iter().take(1 + dice.below(2));
            few.map(|text| ContextPattern::Exact(text.parse().unwrap()))
                .collect()
        }
    };
    Grant {
        tenant,
        principals,
        groups,
        effect: if dice.below(3) == 0 {
            Effect::Deny
        } else {
            Effect::Allow
        },
        operations,
        contexts,
        paths: Vec::new(),
    }
}
