//! The page of metrics, and what `deploy` makes of it: Prometheus's own tool judges the page, and each alert is seen
//! to fire on the page of a node in the trouble that it is about, and not on the page of the same node before.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_holders::{Broken, Fault, Slow};
use keywright_home::{Life, Node, Order, Rotation, RuleChanges};
use keywright_tls::Protocol;
use keywright_tls::issue::Reason;
use keywright_types::{Code, Operation, State};

use crate::audit_first::{limit_files, skipped};
use crate::fixture::*;

const RULES: &str = include_str!("../../../../deploy/prometheus/keywright.rules.yml");
const DASHBOARD: &str = include_str!("../../../../deploy/grafana/keywright.json");
const PROTOCOL: &str = include_str!("../../../../docs/protocol.md");

// === Prometheus's tool ===

#[expect(
    clippy::disallowed_methods,
    reason = "a program is looked for where programs are"
)]
fn promtool() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let brought = root.join("target/foreign/promtool");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed = std::env::split_paths(&path).map(|folder| folder.join("promtool"));
    installed.chain([brought]).find(|file| file.is_file())
}

/// Runs it with a file to read; what it says if it is not content.
fn judged(words: &[&str], input: &str) -> Result<(), String> {
    let Some(promtool) = promtool() else {
        skipped("promtool", "there is no promtool here");
        return Ok(());
    };
    let mut child = Command::new(promtool)
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut pipe = child.stdin.take().unwrap();
    pipe.write_all(input.as_bytes()).unwrap();
    drop(pipe);
    let output = child.wait_with_output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&said).into_owned()),
    }
}

// === Pages ===

/// A page as it was scraped.
pub(crate) struct Page {
    text: String,
    /// When, seconds since 1970.
    taken: f64,
}

impl Page {
    pub(crate) fn of(wire: &mut Wire) -> Self {
        let got = wire.get("/metrics");
        assert_eq!(got.status, 200);
        let taken = Clock::system().wall().unix_millis();
        Self {
            text: String::from_utf8(got.body.to_vec()).unwrap(),
            taken: taken as f64 / 1e3,
        }
    }

    fn samples(&self) -> BTreeMap<&str, f64> {
        let lines = self.text.lines().filter(|line| !line.starts_with('#'));
        let samples = lines.map(|line| line.rsplit_once(' ').unwrap());
        samples
            .map(|(series, value)| (series, value.parse().unwrap()))
            .collect()
    }

    /// What each metric is, by name.
    fn kinds(&self) -> BTreeMap<&str, &str> {
        let lines = self
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("# TYPE "));
        lines.map(|line| line.split_once(' ').unwrap()).collect()
    }

    fn is_counter(&self, series: &str) -> bool {
        let name = series.split('{').next().unwrap();
        let parts = ["_bucket", "_sum", "_count"];
        let histogram = parts.iter().find_map(|part| {
            let name = name.strip_suffix(part)?;
            self.kinds().get(name).copied()
        });
        histogram == Some("histogram") || self.kinds().get(name) == Some(&"counter")
    }

    pub(crate) fn value(&self, series: &str) -> f64 {
        *self.samples().get(series).unwrap_or_else(|| {
            panic!("{series} is not in\n{}", self.text);
        })
    }
}

/// A page of a node that nothing is wrong with, and the wire that it came over.
fn healthy(site: &Site) -> (Page, Wire) {
    let mut wire = site.wire(TRADING, Protocol::Http2);
    seal(&mut wire, EXCHANGE, b"x", b"");
    (Page::of(&mut wire), wire)
}

/// Scrapes until the page is as it should be, for ten times as long as a node may take to notice.
fn page_with(wire: &mut Wire, series: &str, value: f64) -> Page {
    page_where(wire, |page| (page.value(series) - value).abs() < 1e-9)
}

pub(crate) fn page_where(wire: &mut Wire, good: impl Fn(&Page) -> bool) -> Page {
    let clock = Clock::system();
    let started = clock.monotonic();
    loop {
        let page = Page::of(wire);
        if good(&page) {
            return page;
        }
        let waited = clock.monotonic().since(started);
        assert!(waited < Duration::from_secs(50), "{}", page.text);
        std::thread::sleep(Duration::from_millis(50));
    }
}

// === Alerts ===

/// Demands of each alert that it does not fire while the first page goes on, and does once what lies between the two
/// pages happens again every minute.
pub(crate) fn fires(alerts: &[&str], before: &Page, trouble: &Page) {
    let series = series(before, trouble);
    let alone = alerts.iter().map(|alert| {
        let sure = format!("min(ALERTS{{alertname=\"{alert}\",alertstate=\"firing\"}})");
        let none = "exp_samples: []".to_owned();
        let one = "exp_samples: [{labels: '{}', value: 1}]".to_owned();
        let test = |at: &str, samples: &str| {
            format!("      - {{expr: '{sure}', eval_time: {at}, {samples}}}\n")
        };
        test("9m", &none) + &test("29m", &one)
    });
    judge(&series, &alone.collect::<String>());
}

fn judge(series: &str, expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("rules.yml"), RULES).unwrap();
    let test = format!(
        "rule_files: [rules.yml]\nevaluation_interval: 1m\ntests:\n  - interval: 1m\n    \
         input_series:\n{series}    promql_expr_test:\n{expected}"
    );
    let path = folder.path().join("test.yml");
    fs::write(&path, &test).unwrap();
    let said = judged(&["test", "rules", path.to_str().unwrap()], "");
    said.unwrap_or_else(|said| panic!("{said}\n{test}"));
}

/// Ten minutes of one page, twenty of the other.
fn series(before: &Page, trouble: &Page) -> String {
    let (first, last) = (before.samples(), trouble.samples());
    let names: BTreeSet<_> = first.keys().chain(last.keys()).collect();
    let mut text = String::new();
    for name in names {
        let (from, to) = (first.get(name), last.get(name));
        let values = if trouble.is_counter(name) {
            let from = from.copied().unwrap_or(0.0);
            let each = to.copied().unwrap_or(from) - from;
            assert!(each >= 0.0, "{name} goes back");
            format!("{from}+0x9 {}+{each}x19", from + each)
        } else {
            // Prometheus's tests begin in 1970.
            let shift = |page: &Page, value: f64| match name.contains("_timestamp_seconds") {
                true => value - page.taken + 1800.0,
                false => value,
            };
            let held = |page: &Page, value: Option<&f64>, count: u32| match value {
                Some(value) => format!("{}+0x{}", shift(page, *value), count - 1),
                None => format!("_x{count}"),
            };
            format!("{} {}", held(before, from, 10), held(trouble, to, 20))
        };
        writeln!(text, "      - {{series: '{name}', values: '{values}'}}").unwrap();
    }
    text
}

#[test]
fn a_scrape_that_fails_is_an_alert() {
    // What Prometheus itself notes of a node that has gone.
    let series = "      - {series: 'up{job=\"keywright\"}', values: '1+0x9 0+0x19'}\n";
    let sure = "min(ALERTS{alertname=\"KeywrightDown\",alertstate=\"firing\"})";
    let expected = format!(
        "      - {{expr: '{sure}', eval_time: 9m, exp_samples: []}}\n      - {{expr: '{sure}', \
         eval_time: 29m, exp_samples: [{{labels: '{{}}', value: 1}}]}}\n"
    );
    judge(series, &expected);
}

#[test]
fn a_holder_that_is_gone_is_an_alert() {
    let mut faults = None;
    let site = Site::with_holder(Home::demo(), |holder| {
        let (broken, switch) = Broken::new(holder);
        faults = Some(switch);
        Arc::new(broken)
    });
    let (before, mut wire) = healthy(&site);
    assert_eq!(before.value("keywright_ready"), 1.0);
    faults.unwrap().fail(Fault::Unavailable);
    for _ in 0..30 {
        let got = wire.post(&path(EXCHANGE, "encrypt"), item(&[("plaintext", b"x")]));
        assert_eq!(got.code(), "holder_unavailable");
    }
    let page = page_with(&mut wire, "keywright_ready", 0.0);
    let holder = "keywright_component_up{component=\"holder\"}";
    assert_eq!(page.value(holder), 0.0);
    let alerts = [
        "KeywrightNotReady",
        "KeywrightHolderFailing",
        "KeywrightServerErrors",
    ];
    fires(&alerts, &before, &page);
    site.stop();
}

#[test]
fn a_holder_that_is_slow_and_full_is_an_alert() {
    let home = Home::demo()
        .configure("holder_queue = 128", "holder_queue = 1")
        .configure("holder_threads = 4", "holder_threads = 1");
    let wait = Duration::from_millis(300);
    let site = Site::with_holder(home, |holder| Arc::new(Slow::new(holder, wait)));
    let (before, mut wire) = healthy(&site);
    let refused: usize = std::thread::scope(|scope| {
        let asked: Vec<_> = (0..6)
            .map(|_| {
                let mut wire = site.wire(TRADING, Protocol::Http2);
                scope.spawn(move || {
                    let one = || item(&[("plaintext", b"x")]);
                    let got = (0..3).map(|_| wire.post(&path(EXCHANGE, "encrypt"), one()));
                    got.filter(|got| got.code() == "overloaded").count()
                })
            })
            .collect();
        asked.into_iter().map(|one| one.join().unwrap()).sum()
    });
    assert!(refused > 0, "nothing was shed");
    let page = Page::of(&mut wire);
    let waited = page.value("keywright_holder_queue_seconds_count");
    assert!(waited >= 2.0, "{waited}");
    fires(&["KeywrightShedding"], &before, &page);
    site.stop();
    // What is shed is answered at once; those that are served are slow.
    let site = Site::with_holder(Home::demo(), |holder| Arc::new(Slow::new(holder, wait)));
    let (before, mut wire) = healthy(&site);
    for _ in 0..3 {
        seal(&mut wire, EXCHANGE, b"x", b"");
    }
    fires(&["KeywrightSlow"], &before, &Page::of(&mut wire));
    site.stop();
}

#[test]
fn a_client_that_asks_for_what_it_may_not_have_is_an_alert() {
    let site = Site::start();
    let (before, mut wire) = healthy(&site);
    let mut sealed = seal(&mut wire, EXCHANGE, b"x", b"");
    *sealed.last_mut().unwrap() ^= 1;
    for _ in 0..100 {
        let got = wire.post(&path("nobody", "encrypt"), item(&[("plaintext", b"x")]));
        assert_eq!(got.code(), "context_not_found");
        let got = wire.post(&path(EXCHANGE, "decrypt"), item(&[("ciphertext", &sealed)]));
        assert_eq!(got.code(), "decryption_failed");
    }
    let page = Page::of(&mut wire);
    fires(
        &["KeywrightDenials", "KeywrightFailedOpenings"],
        &before,
        &page,
    );
    site.stop();
}

#[test]
fn strangers_and_revoked_clients_at_the_door_are_alerts() {
    let site = Site::start();
    let (before, mut wire) = healthy(&site);
    let stranger = site.home.tls(None, Protocol::Http2);
    assert_eq!(knock_often(site.address(), &stranger, 100), 100);
    let page = Page::of(&mut wire);
    fires(&["KeywrightStrangers"], &before, &page);
    let certificate = site.home.path().join("clients/web-2fa-1.pem");
    let now = Clock::system().wall();
    let pki = site.home.pki();
    pki.revoke(&certificate, Reason::KeyCompromise, now)
        .unwrap();
    site.node().reload_trust().unwrap();
    let revoked = site
        .home
        .tls(Some(site.home.identity(WEB)), Protocol::Http2);
    knock_often(site.address(), &revoked, 1);
    let series = "keywright_connections_refused_total{code=\"certificate_revoked\"}";
    let page = page_with(&mut wire, series, 1.0);
    fires(&["KeywrightRevokedClient"], &before, &page);
    site.stop();
}

#[test]
fn dropped_connections_are_an_alert() {
    let home = Home::demo().configure(
        "unauthenticated_per_source = 1000",
        "unauthenticated_per_source = 2",
    );
    let site = Site::over(home);
    let (before, mut wire) = healthy(&site);
    let silent: Vec<_> = (0..100)
        .filter_map(|_| std::net::TcpStream::connect(site.address()).ok())
        .collect();
    let series = "keywright_connections_dropped_total{reason=\"unauthenticated_per_source\"}";
    let page = page_where(&mut wire, |page| page.value(series) > 80.0);
    fires(&["KeywrightConnectionsDropped"], &before, &page);
    drop(silent);
    site.stop();
}

#[test]
fn a_certificate_that_ends_soon_is_an_alert() {
    let site = Site::start();
    let (before, mut wire) = healthy(&site);
    for (days, alerts) in [
        (10, &["KeywrightExpires"][..]),
        (1, &["KeywrightExpires", "KeywrightExpiresNow"]),
    ] {
        put_certificate(&site.home, Duration::from_secs(days * 86_400));
        site.node().reload().unwrap();
        let page = page_where(&mut wire, |page| {
            let ends = "keywright_expiry_timestamp_seconds{of=\"server-certificate\"}";
            page.value(ends) - page.taken < (days * 86_400 + 60) as f64
        });
        fires(alerts, &before, &page);
    }
    site.stop();
}

/// A certificate for the server of a home, under its own authority.
pub(crate) fn put_certificate(home: &Home, validity: Duration) {
    let now = Clock::system().wall();
    let issued = home
        .authority()
        .issue_server(&["localhost"], &[], now, validity)
        .unwrap();
    let folder = home.path();
    fs::write(folder.join("server.pem"), issued.certificate_pem).unwrap();
    fs::write(folder.join("server.key"), issued.key_pem.expose()).unwrap();
}

#[test]
fn files_that_cannot_be_read_again_are_an_alert_until_they_can() {
    let site = Site::start();
    let (before, mut wire) = healthy(&site);
    let certificate = site.home.path().join("server.pem");
    let good = fs::read(&certificate).unwrap();
    fs::write(&certificate, "no certificate").unwrap();
    site.node().reload().unwrap_err();
    let page = Page::of(&mut wire);
    fires(&["KeywrightReloadFailed"], &before, &page);
    fs::write(&certificate, good).unwrap();
    site.node().reload().unwrap();
    let page = Page::of(&mut wire);
    assert_eq!(page.value("keywright_last_reload_failed"), 0.0);
    assert_eq!(
        page.value("keywright_reloads_total{result=\"failed\"}"),
        1.0
    );
    assert_eq!(page.value("keywright_reloads_total{result=\"ok\"}"), 1.0);
    site.stop();
}

#[test]
fn keys_that_nobody_rotates_and_clocks_that_jump_are_alerts() {
    let (clock, hand) = Clock::simulated(Clock::system().wall());
    let home = Home::demo();
    let node = Node::open(
        &home.config(),
        clock,
        keywright_home::MemoryPlan::LeaveAlone,
    );
    let site = Site::serve(home, &node.unwrap());
    let rules = RuleChanges {
        rotation: Some(Rotation::EveryDays(1)),
        ..RuleChanges::default()
    };
    let order = Order::ContextSet {
        tenant: name("default"),
        name: name(EXCHANGE),
        rules,
    };
    site.node().carry_out(order).unwrap();
    let (before, mut wire) = healthy(&site);
    // Before the node looks for what is due, which it does once a minute.
    hand.advance(Duration::from_secs(3 * 86_400));
    let page = page_with(&mut wire, "keywright_contexts_rotation_overdue", 1.0);
    let age = page.value("keywright_oldest_active_key_age_seconds");
    assert!(age >= 3.0 * 86_400.0, "{age}");
    fires(&["KeywrightRotationOverdue"], &before, &page);
    let sure = page.value("keywright_clock_sure");
    assert_eq!(sure, 1.0, "both clocks went");
    hand.set_wall(
        site.node()
            .admin()
            .shared()
            .clock()
            .wall()
            .plus(Duration::from_secs(7200)),
    );
    let page = page_with(&mut wire, "keywright_clock_sure", 0.0);
    assert_eq!(page.value("keywright_ready"), 1.0, "it serves all the same");
    fires(&["KeywrightClockUncertain"], &before, &page);
    site.stop();
}

#[test]
fn a_context_with_nothing_to_seal_with_is_an_alert() {
    let site = Site::start();
    let (before, mut wire) = healthy(&site);
    let order = Order::KeyLife {
        tenant: name("default"),
        name: name(TWO_FACTOR),
        life: Life::Suspend,
        version: None,
        despite_use: false,
    };
    site.node().carry_out(order).unwrap();
    let page = page_with(&mut wire, "keywright_contexts_without_active_version", 1.0);
    let suspended = page.value("keywright_key_versions{state=\"suspended\"}");
    assert_eq!(suspended, 1.0);
    fires(&["KeywrightNoActiveVersion"], &before, &page);
    site.stop();
}

#[test]
fn memory_that_may_reach_swap_is_an_alert() {
    let site = Site::start();
    let (unlocked, _wire) = healthy(&site);
    let locked = unlocked.text.replace("memory_locked 0", "memory_locked 1");
    let locked = Page {
        text: locked,
        taken: unlocked.taken,
    };
    assert_eq!(unlocked.value("keywright_memory_locked"), 0.0);
    fires(&["KeywrightMemoryUnlocked"], &locked, &unlocked);
    site.stop();
}

#[test]
fn a_disk_that_refuses_records_and_rows_is_an_alert() {
    if Command::new("prlimit").arg("--version").output().is_err() {
        return skipped("failing-disk-alerts", "there is no prlimit here");
    }
    let home = Home::demo();
    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' XFSZ; exec \"$0\" \"$1\""])
        .arg(env!("CARGO_BIN_EXE_keywright-served-home"))
        .arg(home.path());
    let served = Served::run(&mut command);
    let tls = home.tls(Some(home.identity(TRADING)), Protocol::Http2);
    let mut wire = Wire::connect(served.address, tls).unwrap();
    seal(&mut wire, EXCHANGE, b"x", b"");
    let before = Page::of(&mut wire);
    limit_files(served.id(), "0:unlimited");
    // Counters of use go into the store every five seconds.
    let clock = Clock::system();
    let end = clock.monotonic().plus(Duration::from_secs(7));
    let ask = |wire: &mut Wire| wire.post(&path(EXCHANGE, "encrypt"), item(&[("plaintext", b"x")]));
    while clock.monotonic() < end {
        ask(&mut wire);
        std::thread::sleep(Duration::from_millis(100));
    }
    // Nothing leaves without its record, this page neither.
    assert_eq!(wire.get("/metrics").code(), "audit_unavailable");
    limit_files(served.id(), "unlimited:unlimited");
    let healed = clock.monotonic();
    while ask(&mut wire).status != 200 {
        assert!(clock.monotonic().since(healed) < Duration::from_secs(5));
        std::thread::sleep(Duration::from_millis(20));
    }
    let page = Page::of(&mut wire);
    let failed = page.value("keywright_audit_write_failures_total");
    assert!(failed >= 1.0, "{failed}");
    fires(
        &["KeywrightAuditWritesFailed", "KeywrightStoreFailing"],
        &before,
        &page,
    );
    page_with(&mut wire, "keywright_ready", 1.0);
    served.stop();
}

// === What the files say ===

#[test]
fn the_page_is_one_that_prometheus_reads_without_a_remark() {
    let site = Site::start();
    let (page, _wire) = healthy(&site);
    judged(&["check", "metrics"], &page.text).unwrap();
    let all = judged(&["check", "metrics"], "keywright_x_total 1\n");
    assert!(
        all.is_err() || promtool().is_none(),
        "it is asked, and answers"
    );
    for line in page.text.lines().filter(|line| !line.starts_with('#')) {
        for word in [TRADING, WEB, EXCHANGE, TWO_FACTOR, "127.0.0.1"] {
            assert!(!line.contains(word), "{line}");
        }
    }
    site.stop();
}

#[test]
fn the_rules_are_rules_and_every_alert_has_its_trouble_here() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rules.yml");
    fs::write(&path, RULES).unwrap();
    judged(
        &["check", "rules", "--lint-fatal", path.to_str().unwrap()],
        "",
    )
    .unwrap();
    let here = concat!(include_str!("alerts.rs"), include_str!("tokens/keys.rs"));
    let alerts = RULES
        .lines()
        .filter_map(|line| line.split_once("- alert: "));
    let alerts: Vec<_> = alerts.map(|(_, alert)| alert).collect();
    assert!(alerts.len() >= 19, "{alerts:?}");
    for alert in alerts {
        let named = [format!("\"{alert}\""), format!("\\\"{alert}\\\"")];
        let named = named.iter().any(|name| here.contains(name));
        assert!(named, "{alert} has no trouble");
    }
}

/// Every word of a text that looks like a metric of this program.
fn metrics_in(text: &str) -> BTreeSet<&str> {
    let word = |c: char| !(c.is_ascii_alphanumeric() || c == '_');
    let own = |word: &&str| word.starts_with("keywright_") || word.starts_with("process_");
    text.split(word).filter(own).collect()
}

fn given(name: &str, page: &Page) -> bool {
    let kinds = page.kinds();
    let parts = ["_bucket", "_sum", "_count"];
    let part = parts.iter().find_map(|part| name.strip_suffix(part));
    kinds.contains_key(name) || part.is_some_and(|name| kinds.get(name) == Some(&"histogram"))
}

#[test]
fn rules_dashboard_and_documents_name_only_what_the_exporter_gives() {
    let site = Site::start();
    let (page, _wire) = healthy(&site);
    let (_, metrics) = PROTOCOL.split_once("### Metrics").unwrap();
    let (metrics, _) = metrics.split_once("\n## ").unwrap();
    for (file, text) in [
        ("rules", RULES),
        ("dashboard", DASHBOARD),
        ("page", metrics),
    ] {
        let named = metrics_in(text);
        assert!(named.len() > 10, "{file}: {named:?}");
        for name in named {
            assert!(given(name, &page), "{file} names {name}");
        }
    }
    // And the document names all of it.
    let documented = metrics_in(metrics);
    for name in page.kinds().keys() {
        assert!(documented.contains(name), "{name} is not documented");
    }
    for (label, known) in [
        (
            "operation",
            Operation::ALL
                .iter()
                .map(|one| one.name())
                .collect::<Vec<_>>(),
        ),
        ("code", Code::ALL.iter().map(|one| one.name()).collect()),
        ("state", State::ALL.iter().map(|one| one.name()).collect()),
        ("component", vec!["audit", "holder", "keys", "store"]),
    ] {
        for value in values_of(label, RULES).chain(values_of(label, DASHBOARD)) {
            assert!(known.contains(&value), "{label}={value}");
        }
    }
    site.stop();
}

/// The values that a query compares a label with, alternatives one by one.
fn values_of<'a>(label: &'a str, text: &'a str) -> impl Iterator<Item = &'a str> {
    let parts = text.split(['{', ',']).filter_map(move |part| {
        let rest = part.trim().strip_prefix(label)?;
        let rest = rest.trim_start_matches(['=', '~', '!']);
        let rest = rest.trim_start_matches('\\').strip_prefix('"')?;
        rest.split(['"', '\\']).next()
    });
    parts.flat_map(|value| value.split('|'))
}

#[test]
fn every_query_of_the_dashboard_is_one_that_prometheus_understands() {
    let dashboard: serde_json::Value = serde_json::from_str(DASHBOARD).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array());
    let queries: Vec<_> = targets
        .flatten()
        .map(|target| target["expr"].as_str().unwrap())
        .collect();
    assert!(queries.len() > 25, "{}", queries.len());
    let mut rules = "groups:\n  - name: dashboard\n    rules:\n".to_owned();
    for (number, query) in queries.iter().enumerate() {
        let query = query
            .replace("$__rate_interval", "5m")
            .replace("$__interval", "1m")
            .replace("$job", "keywright")
            .replace("$instance", ".*");
        assert!(!query.contains('$'), "{query}");
        let query = serde_json::to_string(&query).unwrap();
        writeln!(rules, "      - {{record: 'panel:{number}', expr: {query}}}").unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dashboard.yml");
    fs::write(&path, rules).unwrap();
    judged(&["check", "rules", path.to_str().unwrap()], "").unwrap();
}
