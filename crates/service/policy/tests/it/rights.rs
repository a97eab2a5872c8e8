//! Default deny, deny wins, nothing implies anything, nothing crosses a tenant (design 7.28, W3, W16).

use keywright_policy::{ContextRef, Denied, Policy};
use keywright_types::{Code, KeyId, Operation, PrincipalId, TenantId};

use crate::setting::{DEFAULT, KEY, OTHER, context, policy, who};

const GROUPS: &str = r#"
    [[group]]
    name = "Trading"
    [[group]]
    name = "Trading"
    tenant = "other"
    [[principal]]
    name = "trader"
    group = "Trading"
    [[principal]]
    name = "loner"
    [[principal]]
    name = "stranger"
    group = "Trading"
    tenant = "other"
"#;

fn granted(grants: &str) -> Policy {
    policy(&format!("{GROUPS}\n{grants}"))
}

/// The names of the operations that `name` may perform on the context.
fn allowed(policy: &Policy, name: &str, context: ContextRef<'_>) -> Vec<&'static str> {
    let who = who(policy, name);
    let all = Operation::ALL.iter().copied();
    all.filter(|&one| policy.authorize(&who, context, one).is_ok())
        .map(Operation::name)
        .collect()
}

#[test]
fn without_a_grant_nothing_is_allowed() {
    let policy = granted("");
    for name in ["trader", "loner", "stranger"] {
        let who = who(&policy, name);
        for &operation in Operation::ALL {
            let denied = policy
                .authorize(&who, context("exchange-key"), operation)
                .unwrap_err();
            assert_eq!(denied, Denied::NoRight, "{operation}");
            let denied = policy.authorize_tenant(&who, operation).unwrap_err();
            assert_eq!(denied, Denied::OtherRight, "{operation}");
        }
        assert!(!policy.may_know(&who, context("exchange-key")));
    }
}

#[test]
fn no_operation_implies_another() {
    for &operation in Operation::ALL {
        let grant = format!(
            "[[grant]]\nprincipals = [\"loner\"]\noperations = [\"{operation}\"]\ncontexts = [\"c\"]"
        );
        if keywright_policy::Scope::of(operation) != keywright_policy::Scope::Context {
            continue;
        }
        let policy = granted(&grant);
        assert_eq!(allowed(&policy, "loner", context("c")), [operation.name()]);
        let who = who(&policy, "loner");
        for &other in Operation::ALL.iter().filter(|&&other| other != operation) {
            let denied = policy.authorize(&who, context("c"), other).unwrap_err();
            assert_eq!(denied, Denied::OtherRight, "{other}");
            assert!(policy.authorize_tenant(&who, other).is_err(), "{other}");
        }
    }
}

#[test]
fn operations_without_a_context_are_granted_one_by_one() {
    let policy =
        granted("[[grant]]\nprincipals = [\"loner\"]\noperations = [\"random\", \"health-read\"]");
    let who = who(&policy, "loner");
    let all = Operation::ALL.iter().copied();
    let allowed: Vec<_> = all
        .filter(|&one| policy.authorize_tenant(&who, one).is_ok())
        .collect();
    assert_eq!(allowed, [Operation::Random, Operation::HealthRead]);
    let denied = policy
        .authorize(&who, context("c"), Operation::Random)
        .unwrap_err();
    assert_eq!(denied, Denied::NoRight);
}

#[test]
fn a_permit_says_exactly_what_was_decided() {
    let policy = granted(
        "[[grant]]\nprincipals = [\"loner\"]\noperations = [\"encrypt\"]\ncontexts = [\"c\"]\n\
         [[grant]]\nprincipals = [\"loner\"]\noperations = [\"random\"]",
    );
    let who = who(&policy, "loner");
    let permit = policy
        .authorize(&who, context("c"), Operation::Encrypt)
        .unwrap();
    assert_eq!(
        (
            permit.principal(),
            permit.tenant(),
            permit.key(),
            permit.operation(),
            permit.epoch()
        ),
        (who.id(), DEFAULT, KEY, Operation::Encrypt, 7)
    );
    let permit = policy.authorize_tenant(&who, Operation::Random).unwrap();
    assert_eq!(
        (permit.key(), permit.operation()),
        (KeyId::NONE, Operation::Random)
    );
}

#[test]
fn names_of_contexts_are_whole_and_exact() {
    let policy = granted(
        "[[grant]]\nprincipals = [\"loner\"]\noperations = [\"encrypt\"]\ncontexts = [\"exchange-key\"]",
    );
    let who = who(&policy, "loner");
    for other in [
        "",
        "*",
        "exchange",
        "exchange-",
        "exchange-key2",
        "exchange-ke",
        "Exchange-Key",
        "EXCHANGE-KEY",
        "exchange-key ",
        " exchange-key",
        "exchange-key\0",
        "exchange-key/",
        "./exchange-key",
        "exchange%2Dkey",
        "exchange-kеy",
        "2fa",
    ] {
        let denied = policy
            .authorize(&who, context(other), Operation::Encrypt)
            .unwrap_err();
        assert_eq!(denied, Denied::NoRight, "{other:?}");
    }
    assert!(
        policy
            .authorize(&who, context("exchange-key"), Operation::Encrypt)
            .is_ok()
    );
}

#[test]
fn the_star_is_every_context_of_the_tenant_and_no_other() {
    let policy = granted(
        "[[grant]]\nprincipals = [\"loner\"]\noperations = [\"encrypt\"]\ncontexts = [\"*\"]",
    );
    assert_eq!(allowed(&policy, "loner", context("anything")), ["encrypt"]);
    assert_eq!(allowed(&policy, "trader", context("anything")), [""; 0]);
    let foreign = ContextRef::new(OTHER, "anything", KEY);
    let who = who(&policy, "loner");
    let denied = policy
        .authorize(&who, foreign, Operation::Encrypt)
        .unwrap_err();
    assert_eq!(denied, Denied::NoRight);
    assert!(!policy.may_know(&who, foreign));
}

#[test]
fn deny_wins_wherever_it_stands() {
    let allow = "[[grant]]\nprincipals = [\"trader\"]\noperations = [\"encrypt\", \"decrypt\"]\ncontexts = [\"c\"]\n";
    for deny in [
        "[[grant]]\nprincipals = [\"trader\"]\neffect = \"deny\"\noperations = [\"decrypt\"]\ncontexts = [\"c\"]\n",
        "[[grant]]\nprincipals = [\"trader\"]\neffect = \"deny\"\noperations = [\"decrypt\"]\ncontexts = [\"*\"]\n",
        "[[grant]]\ngroups = [\"Trading\"]\neffect = \"deny\"\noperations = [\"decrypt\"]\ncontexts = [\"c\"]\n",
        "[[grant]]\ngroups = [\"Trading\"]\neffect = \"deny\"\noperations = [\"decrypt\"]\ncontexts = [\"*\"]\n",
    ] {
        for grants in [
            format!("{allow}{deny}"),
            format!("{deny}{allow}"),
            format!("{deny}{allow}{allow}{deny}"),
        ] {
            assert_eq!(
                allowed(&granted(&grants), "trader", context("c")),
                ["encrypt"],
                "{grants}"
            );
        }
    }
}

#[test]
fn a_right_that_is_denied_again_does_not_show_the_context() {
    let policy = granted(
        "[[grant]]\nprincipals = [\"loner\"]\noperations = [\"encrypt\"]\ncontexts = [\"*\"]\n\
         [[grant]]\nprincipals = [\"loner\"]\neffect = \"deny\"\noperations = [\"encrypt\"]\ncontexts = [\"c\"]\n",
    );
    let who = who(&policy, "loner");
    let denied = policy
        .authorize(&who, context("c"), Operation::Encrypt)
        .unwrap_err();
    assert_eq!(denied, Denied::NoRight);
    assert!(!policy.may_know(&who, context("c")));
    assert!(policy.may_know(&who, context("d")));
}

#[test]
fn a_grant_to_a_group_is_for_its_members_in_its_tenant() {
    let policy = granted(
        "[[grant]]\ngroups = [\"Trading\"]\noperations = [\"encrypt\"]\ncontexts = [\"c\"]",
    );
    assert_eq!(allowed(&policy, "trader", context("c")), ["encrypt"]);
    assert_eq!(allowed(&policy, "loner", context("c")), [""; 0]);
    assert_eq!(allowed(&policy, "stranger", context("c")), [""; 0]);
    assert_eq!(
        allowed(&policy, "stranger", ContextRef::new(OTHER, "c", KEY)),
        [""; 0]
    );
}

#[test]
fn the_same_name_in_two_tenants_is_two_contexts() {
    let policy = granted(
        "[[grant]]\ntenant = \"other\"\nprincipals = [\"stranger\"]\noperations = [\"decrypt\"]\ncontexts = [\"c\"]\n\
         [[grant]]\nprincipals = [\"loner\"]\noperations = [\"encrypt\"]\ncontexts = [\"c\"]\n",
    );
    let here = context("c");
    let there = ContextRef::new(OTHER, "c", KeyId::from_bytes([2; 16]));
    let nowhere = ContextRef::new(TenantId::NONE, "c", KEY);
    assert_eq!(allowed(&policy, "loner", here), ["encrypt"]);
    assert_eq!(allowed(&policy, "stranger", there), ["decrypt"]);
    for (name, context) in [
        ("loner", there),
        ("stranger", here),
        ("loner", nowhere),
        ("stranger", nowhere),
    ] {
        let who = who(&policy, name);
        for &operation in Operation::ALL {
            let denied = policy.authorize(&who, context, operation).unwrap_err();
            assert_eq!(denied, Denied::NoRight, "{name} {operation}");
        }
    }
}

#[test]
fn a_principal_of_an_older_policy_has_the_rights_of_today() {
    let grant = "[[grant]]\nprincipals = [\"loner\"]\noperations = [\"encrypt\"]\ncontexts = [\"*\"]\n\
                 [[grant]]\nprincipals = [\"loner\"]\noperations = [\"random\"]\n";
    let before = granted(grant);
    let who = who(&before, "loner");
    assert!(
        before
            .authorize(&who, context("c"), Operation::Encrypt)
            .is_ok()
    );
    for after in [granted(""), Policy::empty(8)] {
        let denied = after
            .authorize(&who, context("c"), Operation::Encrypt)
            .unwrap_err();
        assert_eq!(denied, Denied::NoRight);
        let denied = after.authorize_tenant(&who, Operation::Random).unwrap_err();
        assert_eq!(denied, Denied::OtherRight);
    }
}

#[test]
fn the_owner_is_nobody_and_acts_under_the_epoch_it_names() {
    let permit = Policy::owner().at(12).permit(KEY, Operation::KeyRotate);
    assert_eq!(
        (
            permit.principal(),
            permit.tenant(),
            permit.key(),
            permit.operation(),
            permit.epoch()
        ),
        (
            PrincipalId::NONE,
            TenantId::NONE,
            KEY,
            Operation::KeyRotate,
            12
        )
    );
    assert_eq!(Policy::owner().permit(KEY, Operation::KeyRotate).epoch(), 0);
}

#[test]
fn each_denial_has_its_code() {
    assert_eq!(Denied::NoRight.code(), Code::ContextNotFound);
    assert_eq!(Denied::OtherRight.code(), Code::OperationDenied);
}

#[test]
fn paths_limit_what_a_grant_gives_and_what_a_deny_takes() {
    let policy = granted(
        "[[grant]]\nprincipals = [\"loner\"]\noperations = [\"sign\"]\ncontexts = [\"c\"]\npaths = [\"m/44'/**\"]\n\
         [[grant]]\nprincipals = [\"loner\"]\neffect = \"deny\"\noperations = [\"sign\", \"public-key\"]\ncontexts = [\"*\"]\npaths = [\"m/44'/7'\"]\n\
         [[grant]]\nprincipals = [\"loner\"]\noperations = [\"public-key\"]\ncontexts = [\"c\"]\n",
    );
    let who = who(&policy, "loner");
    let h = |number: u32| number | 1 << 31;
    let ask = |operation, path: &[u32]| {
        let decided = policy.authorize_in_tree(&who, context("c"), operation);
        decided.map(|(_, rights)| rights.allow(path))
    };
    for (path, sign, public) in [
        (&[h(44)][..], true, true),
        (&[h(44), h(7)], false, false),
        (&[h(44), h(7), 0], true, true),
        (&[h(45)], false, true),
        (&[44], false, true),
        (&[], false, true),
    ] {
        assert_eq!(ask(Operation::Sign, path), Ok(sign), "{path:?}");
        assert_eq!(ask(Operation::PublicKey, path), Ok(public), "{path:?}");
    }
    assert_eq!(ask(Operation::KeyExport, &[]), Err(Denied::OtherRight));
    // A right at some paths makes the context known, and is none where there are no paths.
    assert!(policy.may_know(&who, context("c")));
    let plain = policy.authorize(&who, context("c"), Operation::Sign);
    assert_eq!(plain.unwrap_err(), Denied::OtherRight);
    assert!(
        policy
            .authorize(&who, context("c"), Operation::PublicKey)
            .is_ok()
    );
    let elsewhere = policy.authorize_in_tree(&who, context("d"), Operation::Sign);
    assert_eq!(elsewhere.unwrap_err(), Denied::NoRight);
}

#[test]
fn paths_stand_only_beside_operations_on_keys_of_trees() {
    for (grant, says) in [
        (
            "operations = [\"encrypt\"]\npaths = [\"m/**\"]",
            "no key of a tree",
        ),
        (
            "operations = [\"sign\", \"mac\"]\npaths = [\"m/**\"]",
            "`mac` concerns no key",
        ),
        (
            "operations = [\"sign\"]\npaths = [\"m/0'\", \"m/0'\"]",
            "twice",
        ),
        (
            "operations = [\"sign\"]\npaths = [\"m/x\"]",
            "a path is `m` and components",
        ),
        (
            "operations = [\"sign\"]\npaths = [\"44'/0'\"]",
            "a path is `m` and components",
        ),
    ] {
        let text = format!(
            "version = 1\n[[principal]]\nname = \"loner\"\n[[grant]]\nprincipals = [\"loner\"]\ncontexts = [\"c\"]\n{grant}\n"
        );
        let refused = keywright_policy::PolicyDocument::parse(&text).unwrap_err();
        assert!(refused.to_string().contains(says), "{refused}");
    }
}
