//! A service of known capacity under more load than that: what the suite `service-overload` asks, shorter, with less load
//! and at least ten times the time.

use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::bench::Bench;

/// One load at a time: each would be the other's disturbance.
static ALONE: Mutex<()> = Mutex::new(());

/// The cases of a suite with this target, by their ids.
fn measured(capacity: u32, cases: &str) -> Vec<Value> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let bench = Bench::new();
    let text = format!(
        "version = 1\n\
         [defaults]\ntarget = \"limited\"\nwarmup = \"200ms\"\nerror_budget = 1.0\n\
         timeout = \"60s\"\ndrain = \"60s\"\n\
         [target.limited]\nkind = \"service\"\ncapacity = {capacity}\n{cases}"
    );
    let suite = bench.folder.write("overload.toml", text);
    // A machine that cannot make the load says so; what it has measured is still there.
    let ended = bench.run(&["run", &suite, "--format", "json"]);
    let document: Value =
        serde_json::from_slice(&ended.stdout).unwrap_or_else(|_| panic!("{ended:?}"));
    document["cases"].as_array().unwrap().clone()
}

fn objective<'a>(case: &'a Value, name: &str) -> &'a Value {
    let all = case["objectives"].as_array().unwrap();
    let ours = |one: &&Value| one["condition"].as_str().unwrap().starts_with(name);
    all.iter()
        .find(ours)
        .unwrap_or_else(|| panic!("{name}: {all:?}"))
}

#[track_caller]
fn met(case: &Value, names: &[&str]) {
    for name in names {
        let found = objective(case, name);
        assert_eq!(found["outcome"], "met", "{found} {}", case["counts"]);
    }
    let words = case["verdicts"].as_array().unwrap();
    assert!(words.iter().all(|word| word != "WRONG-OUTPUT"), "{words:?}");
}

fn errors(case: &Value, code: &str) -> u64 {
    let all = case["errors"].as_array().unwrap();
    let ours = all.iter().filter(|one| one["code"] == code);
    ours.map(|one| one["n"].as_u64().unwrap()).sum()
}

#[test]
fn a_burst_of_five_times_the_capacity_is_refused_in_time_and_leaves_nothing_behind() {
    let cases = measured(
        1_000,
        "[[case]]\nid = \"burst\"\nop = \"service.encrypt\"\nsizes = \"12B\"\n\
         load = { cap = 2000, connections = 8, streams = 250 }\n\
         phases = [{ rate = 300, for = \"1s\" }, { rate = 5000, for = \"2s\" }, { rate = 300, for = \"3s\" }]\n\
         slo = { \"accepted.p99\" = \"500ms\", \"refused.p99\" = \"100ms\", lost = \"0%\", recovery = \"10s\" }\n",
    );
    let case = &cases[0];
    met(case, &["accepted.p99", "refused.p99", "lost"]);
    assert_eq!(objective(case, "lost")["value"], 0.0);
    assert!(errors(case, "overloaded") > 0, "{}", case["errors"]);
    // It is over once it is over: the last second is as the first, nothing is refused in it.
    let blocks = case["blocks"].as_array().unwrap();
    let last: Vec<_> = blocks
        .iter()
        .filter(|block| block["start_ns"].as_u64().unwrap() >= 5_000_000_000)
        .collect();
    assert!(
        last.len() >= 4,
        "blocks are short where a recovery is looked for: {}",
        blocks.len()
    );
    assert!(last.iter().all(|block| block["failed"] == 0), "{last:?}");
    let recovery = objective(case, "recovery");
    assert!(
        ["met", "missed"].contains(&recovery["outcome"].as_str().unwrap()),
        "{recovery}"
    );
}

#[test]
fn a_client_that_asks_for_twice_what_it_may_is_not_noticed_by_another() {
    let cases = measured(
        5_000,
        "[[case]]\nid = \"flood\"\nop = \"service.flood\"\nsizes = \"12B\"\nduration = \"2s\"\n\
         load = { rate = 3000, cap = 2000, connections = 8, streams = 250 }\n\
         slo = { \"trading-1.p99\" = \"500ms\", \"refused.p99\" = \"100ms\", lost = \"0%\", \"nobody.p99\" = \"1s\" }\n",
    );
    let case = &cases[0];
    met(case, &["trading-1.p99", "refused.p99", "lost"]);
    assert_eq!(objective(case, "nobody.p99")["outcome"], "undecided");
    let parts = case["parts"].as_array().unwrap();
    let part = |name: &str| parts.iter().find(|part| part["name"] == name).unwrap();
    let (quiet, flood) = (part("trading-1"), part("web-2fa-1"));
    assert_eq!(quiet["counts"]["error"], 0);
    let count = |part: &Value, what: &str| part["counts"][what].as_u64().unwrap();
    assert_eq!(count(flood, "error"), errors(case, "rate_limited"));
    // A third of what was asked is the other's; of the rest half is more than was allowed.
    assert!(count(flood, "error") * 4 > count(flood, "sent"), "{flood}");
    assert!(
        count(flood, "sent") > count(quiet, "sent") * 3 / 2,
        "{parts:?}"
    );
}
