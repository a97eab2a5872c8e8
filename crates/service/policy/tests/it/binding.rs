//! Who may open what is bound to a principal or a group (design 7.7).

use keywright_policy::Policy;
use keywright_types::BindingKind;

use crate::setting::{id, policy, who};

const PEOPLE: &str = r#"
    [[group]]
    name = "Trading"
    [[group]]
    name = "Ops"
    [[group]]
    name = "Trading"
    tenant = "other"
    [[principal]]
    name = "retired"
    group = "Trading"
    heirs = ["heir"]
    [[principal]]
    name = "heir"
    heirs = ["second-heir"]
    [[principal]]
    name = "second-heir"
    group = "Ops"
    [[principal]]
    name = "trader"
    group = "Trading"
    [[principal]]
    name = "stranger"
    tenant = "other"
    group = "Trading"
"#;

#[test]
fn what_is_bound_to_a_principal_opens_for_it_and_its_heirs_alone() {
    let policy = policy(PEOPLE);
    let bound = *id(&policy, "retired").as_bytes();
    let opens = |name| policy.may_open(&who(&policy, name), BindingKind::Principal, &bound);
    assert!(opens("retired"));
    assert!(opens("heir"));
    for name in ["second-heir", "trader", "stranger"] {
        assert!(!opens(name), "{name}");
    }
}

#[test]
fn an_heir_leaves_nothing_to_the_one_it_inherits_from() {
    let policy = policy(PEOPLE);
    let bound = *id(&policy, "heir").as_bytes();
    assert!(!policy.may_open(&who(&policy, "retired"), BindingKind::Principal, &bound));
    assert!(policy.may_open(&who(&policy, "second-heir"), BindingKind::Principal, &bound));
}

#[test]
fn what_is_bound_to_a_group_opens_for_its_members_of_today() {
    let policy = policy(PEOPLE);
    let group = who(&policy, "trader").group().unwrap();
    let opens = |name| policy.may_open(&who(&policy, name), BindingKind::Group, group.as_bytes());
    assert!(opens("trader"));
    assert!(opens("retired"));
    for name in ["heir", "second-heir", "stranger"] {
        assert!(!opens(name), "{name}");
    }
}

#[test]
fn ids_of_one_kind_open_nothing_of_another() {
    let policy = policy(PEOPLE);
    let trader = who(&policy, "trader");
    let group = *trader.group().unwrap().as_bytes();
    let own = *trader.id().as_bytes();
    assert!(!policy.may_open(&trader, BindingKind::Principal, &group));
    assert!(!policy.may_open(&trader, BindingKind::Group, &own));
    for unknown in [[0; 16], [0xFF; 16]] {
        assert!(!policy.may_open(&trader, BindingKind::Principal, &unknown));
        assert!(!policy.may_open(&trader, BindingKind::Group, &unknown));
        let loner = who(&policy, "heir");
        assert!(!policy.may_open(&loner, BindingKind::Group, &unknown));
    }
}

#[test]
fn what_is_not_bound_opens_for_every_principal_and_for_nobody_else() {
    let policy = policy(PEOPLE);
    let trader = who(&policy, "trader");
    assert!(policy.may_open(&trader, BindingKind::None, &[0; 16]));
    let empty = Policy::empty(1);
    let own = *trader.id().as_bytes();
    assert!(!empty.may_open(&trader, BindingKind::None, &[0; 16]));
    assert!(!empty.may_open(&trader, BindingKind::Principal, &own));
    let group = trader.group().unwrap();
    assert!(!empty.may_open(&trader, BindingKind::Group, group.as_bytes()));
}
