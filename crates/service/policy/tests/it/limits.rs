//! How fast a principal may ask, as the document says it.

use keywright_policy::{Entry, Error, Policy, PolicyDocument, Problem};
use keywright_types::Operation;

use crate::setting::{policy, tenants, who};

const PEOPLE: &str = "[[group]]\nname = \"g\"\n[[group]]\nname = \"h\"\n\
     [[principal]]\nname = \"a\"\ngroup = \"g\"\n[[principal]]\nname = \"b\"\ngroup = \"g\"\n\
     [[principal]]\nname = \"c\"\n[[principal]]\nname = \"d\"\ntenant = \"other\"\n";

fn rates(limits: &str) -> Vec<(String, Option<(u32, u32)>)> {
    let policy = policy(&format!("{PEOPLE}{limits}"));
    let rate = |name: &str| {
        let principal = who(&policy, name);
        let limit = principal.limit();
        limit.map(|limit| (limit.per_second(), limit.burst()))
    };
    ["a", "b", "c", "d"]
        .map(|name| (name.to_owned(), rate(name)))
        .to_vec()
}

fn named(rates: [Option<(u32, u32)>; 4]) -> Vec<(String, Option<(u32, u32)>)> {
    let names = ["a", "b", "c", "d"].map(str::to_owned);
    names.into_iter().zip(rates).collect()
}

#[test]
fn without_a_limit_nobody_has_one() {
    assert_eq!(rates(""), named([None; 4]));
}

#[test]
fn the_name_counts_before_the_group_and_the_group_before_everybody() {
    let everybody = "[[limit]]\nper_second = 7\n";
    let group = "[[limit]]\ngroups = [\"g\"]\nper_second = 20\nburst = 3\n";
    let name = "[[limit]]\nprincipals = [\"a\"]\nper_second = 5\nburst = 50\n";
    let expected = named([Some((5, 50)), Some((20, 3)), Some((7, 7)), None]);
    for order in [
        [everybody, group, name],
        [name, group, everybody],
        [group, name, everybody],
    ] {
        assert_eq!(rates(&order.concat()), expected, "order means nothing");
    }
}

#[test]
fn a_tenants_limit_is_for_nobody_of_another() {
    let other = "[[limit]]\ntenant = \"other\"\nper_second = 9\n";
    assert_eq!(rates(other), named([None, None, None, Some((9, 9))]));
}

#[test]
fn an_operation_costs_one_unless_its_cost_is_written() {
    let policy = policy(&format!(
        "{PEOPLE}[[limit]]\nper_second = 1\n[limit.costs]\nsign = 10\nhealth-read = 0\nunrouted = 3\n"
    ));
    let limit = who(&policy, "a").limit().cloned().unwrap();
    assert_eq!(limit.price(Operation::Encrypt, 1), 1);
    assert_eq!(limit.price(Operation::Encrypt, 1000), 1000);
    assert_eq!(limit.price(Operation::Sign, 7), 70);
    assert_eq!(limit.price(Operation::HealthRead, 5), 0);
    assert_eq!(limit.price(Operation::Unrouted, 1), 3);
    assert_eq!(limit.price(Operation::Sign, u64::MAX), u64::MAX, "no wrap");
}

/// The problem with a document of these limits, and the line that is told.
fn problem(limits: &str) -> (Option<usize>, Entry, Problem) {
    match PolicyDocument::parse(&format!("version = 1\n{PEOPLE}{limits}")) {
        Err(Error::Content {
            line,
            entry,
            problem,
        }) => (line, entry, problem),
        other => panic!("{other:?}: {limits}"),
    }
}

#[test]
fn numbers_out_of_range_are_refused_with_their_line() {
    let first = PEOPLE.lines().count() + 2;
    for (limits, key, line) in [
        ("per_second = 0", "per_second", 1),
        ("per_second = 1000001", "per_second", 1),
        ("per_second = 1\nburst = 0", "burst", 2),
        ("per_second = 1\nburst = 10000001", "burst", 2),
        ("per_second = 1\n[limit.costs]\nsign = 10001", "costs", 0),
    ] {
        let (at, entry, problem) = problem(&format!("[[limit]]\n{limits}\n"));
        assert_eq!((at, entry), (Some(first + line), Entry::Limit(0)));
        assert_eq!(problem.key(), key, "{limits}");
        assert!(matches!(problem, Problem::OutOfRange { .. }), "{limits}");
    }
}

#[test]
fn what_cannot_be_kept_is_refused() {
    for (limits, word) in [
        // No number at all is no limit.
        ("[[limit]]\n", "missing field `per_second`"),
        ("[[limit]]\nper_second = -1\n", "per_second"),
        ("[[limit]]\nper_second = 1.5\n", "per_second"),
        (
            "[[limit]]\nper_second = 1\nrate = 2\n",
            "unknown field `rate`",
        ),
        (
            "[[limit]]\nper_second = 1\nprincipals = [\"x\"]\n",
            "no principal `x`",
        ),
        (
            "[[limit]]\nper_second = 1\nprincipals = [\"d\"]\n",
            "no principal `d`",
        ),
        (
            "[[limit]]\nper_second = 1\ngroups = [\"x\"]\n",
            "no group `x`",
        ),
        (
            "[[limit]]\nper_second = 1\nprincipals = [\"a\", \"a\"]\n",
            "for `a` too",
        ),
        (
            "[[limit]]\nper_second = 1\ngroups = [\"g\"]\n[[limit]]\nper_second = 2\ngroups = [\"h\", \"g\"]\n",
            "for `g` too",
        ),
        (
            "[[limit]]\nper_second = 1\n[[limit]]\nper_second = 2\n",
            "everybody of the tenant too",
        ),
        (
            "[[limit]]\nper_second = 1\n[limit.costs]\npolicy-apply = 2\n",
            "`policy-apply` is no request",
        ),
        (
            "[[limit]]\nper_second = 1\n[limit.costs]\nsigning = 2\n",
            "key `signing`: unknown operation",
        ),
    ] {
        let refused = PolicyDocument::parse(&format!("version = 1\n{PEOPLE}{limits}"));
        let refused = refused.map_or_else(|error| error.to_string(), |_| panic!("{limits}"));
        assert!(refused.contains(word), "{refused}");
    }
}

#[test]
fn a_document_with_limits_reads_back_from_both_forms() {
    let text = format!(
        "version = 1\n{PEOPLE}[[limit]]\ngroups = [\"g\"]\nper_second = 9\nburst = 4\n\
         [limit.costs]\nsign = 10\nencrypt = 2\n[[limit]]\nper_second = 3\n"
    );
    let mut document = PolicyDocument::parse(&text).unwrap();
    let toml = document.to_toml().unwrap();
    assert_eq!(PolicyDocument::parse(&toml).unwrap(), document, "{toml}");
    let json = document.to_json().unwrap();
    assert_eq!(PolicyDocument::from_json(&json).unwrap(), document);
    let mut next = 0;
    document.complete(|| {
        next += 1;
        [next; 16]
    });
    assert!(Policy::compile(&document, tenants, 1).is_ok());
}
