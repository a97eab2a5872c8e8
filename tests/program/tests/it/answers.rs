//! Good requests: every route, alone and in batches, over both protocols, as the description says.

use std::collections::{BTreeMap, BTreeSet};

use http::Method;
use keywright_encoding::base64;
use keywright_mutate::{SplitMix, dose};
use serde_json::json;

use crate::fixture::*;

/// Requests whose answers hold nothing random, so that they can be compared byte for byte.
fn fixed_requests(wire: &mut Wire) -> Vec<(Method, String, String)> {
    let sealed: Vec<_> = [&b""[..], b"x", b"Hello World!", &[0xFF; 5000]]
        .into_iter()
        .map(|text| seal(wire, EXCHANGE, text, b"row 7"))
        .collect();
    let opened = |sealed: &[u8]| item(&[("ciphertext", sealed), ("aad", b"row 7")]);
    let wrapped = wire.post(&path(EXCHANGE, "datakey"), item(&[("aad", b"file")]));
    let wrapped = item(&[
        ("ciphertext", &wrapped.binary("ciphertext")),
        ("aad", b"file"),
    ]);
    let many = batch(sealed.iter().map(|sealed| opened(sealed)));
    let mixed = batch([
        opened(&sealed[1]),
        item(&[("ciphertext", b"garbage")]),
        opened(b""),
    ]);
    let post = |action: &str, body: String| (Method::POST, path(EXCHANGE, action), body);
    let get = |path: &str| (Method::GET, path.to_owned(), String::new());
    let mut requests = vec![post("decrypt", many), post("decrypt", mixed)];
    requests.extend(sealed.iter().map(|sealed| post("decrypt", opened(sealed))));
    requests.push(get("/v1/contexts"));
    requests.push(get("/v1/health"));
    requests.push(get("/v1/openapi.json"));
    // Its `not_after` has seconds: last, so that both come in one of them nearly always.
    requests.push(post(
        "datakey/open",
        batch([wrapped.clone(), wrapped.clone()]),
    ));
    requests.push(post("datakey/open", wrapped));
    requests
}

#[test]
fn http_1_1_and_http_2_give_the_same_bytes() {
    let site = Site::start();
    let [mut two, mut one] = BOTH.map(|protocol| site.wire(TRADING, protocol));
    for (method, path, body) in fixed_requests(&mut two) {
        let timed = path.ends_with("/open");
        let ask = |wire: &mut Wire| wire.send(method.clone(), &path, body.clone()).unwrap();
        let (mut a, mut b) = (ask(&mut two), ask(&mut one));
        // A second may end between the two; three in a row cannot.
        for _ in 0..2 {
            if timed && a.body != b.body {
                (a, b) = (ask(&mut two), ask(&mut one));
            }
        }
        assert_eq!((a.status, b.status), (200, 200), "{path}");
        assert_eq!(a.body, b.body, "{path}");
        for name in ["content-type", "cache-control", "content-length"] {
            assert_eq!(a.headers.get(name), b.headers.get(name), "{path} {name}");
        }
    }
    site.stop();
}

#[test]
fn what_one_protocol_seals_the_other_opens_alone_and_in_batches() {
    let site = Site::start();
    let [mut two, mut one] = BOTH.map(|protocol| site.wire(TRADING, protocol));
    for turn in 0..2 {
        let (from, to) = if turn == 0 {
            (&mut two, &mut one)
        } else {
            (&mut one, &mut two)
        };
        let sealed = seal(from, EXCHANGE, b"alone", b"a");
        let moved = to.post(
            &path(EXCHANGE, "rewrap"),
            item(&[("ciphertext", &sealed), ("aad", b"a")]),
        );
        let moved = moved.binary("ciphertext");
        assert_ne!(moved, sealed);
        for envelope in [&sealed, &moved] {
            let body = item(&[("ciphertext", envelope), ("aad", b"a")]);
            let got = to.post(&path(EXCHANGE, "decrypt"), body);
            assert_eq!(got.binary("plaintext"), b"alone");
            assert_eq!(got.json()["key_version"], 1);
        }
        batches_come_back(from, to);
        data_keys_come_back(from, to);
    }
    site.stop();
}

fn batches_come_back(from: &mut Wire, to: &mut Wire) {
    let texts: Vec<Vec<u8>> = (0..50_u8).map(|n| vec![n; usize::from(n) * 7]).collect();
    let items = texts
        .iter()
        .map(|text| item(&[("plaintext", text), ("aad", b"b")]));
    let sealed = from.post(&path(EXCHANGE, "encrypt"), batch(items)).json();
    assert_eq!(sealed["failed"], 0);
    let envelopes: Vec<_> = sealed["items"].as_array().unwrap().iter().collect();
    let distinct: BTreeSet<_> = envelopes
        .iter()
        .map(|one| one["ciphertext"].to_string())
        .collect();
    assert_eq!(distinct.len(), texts.len());
    let items = envelopes.iter().map(|one| {
        json!({ "ciphertext": one["ciphertext"], "aad": base64::encode(b"b") }).to_string()
    });
    let body = batch(items);
    let rewrapped = from.post(&path(EXCHANGE, "rewrap"), body.clone()).json();
    let again = rewrapped["items"].as_array().unwrap().iter().map(|one| {
        json!({ "ciphertext": one["ciphertext"], "aad": base64::encode(b"b") }).to_string()
    });
    for body in [body, batch(again)] {
        let opened = to.post(&path(EXCHANGE, "decrypt"), body).json();
        let opened = opened["items"].as_array().unwrap();
        let back = opened
            .iter()
            .map(|one| base64::decode(one["plaintext"].as_str().unwrap()));
        assert!(back.map(Result::unwrap).eq(texts.iter().cloned()));
    }
}

fn data_keys_come_back(from: &mut Wire, to: &mut Wire) {
    let many = batch([
        item(&[("aad", b"1")]),
        item(&[]),
        "{\"plain\":false}".to_owned(),
    ]);
    let made = from.post(&path(EXCHANGE, "datakey"), many).json();
    let made = made["items"].as_array().unwrap();
    assert!(
        made[2].get("plaintext").is_none(),
        "a plain key that was not wanted"
    );
    let opened = batch(made.iter().zip([Some(b"1"), None, None]).map(|(one, aad)| {
        let mut open = json!({ "ciphertext": one["ciphertext"] });
        if let Some(aad) = aad {
            open["aad"] = base64::encode(aad).into();
        }
        open.to_string()
    }));
    let opened = to.post(&path(EXCHANGE, "datakey/open"), opened).json();
    for (made, opened) in made.iter().zip(opened["items"].as_array().unwrap()) {
        assert_eq!(made["id"], opened["id"]);
        let key = base64::decode(opened["plaintext"].as_str().unwrap()).unwrap();
        assert_eq!(key.len(), 32);
        if let Some(plain) = made.get("plaintext") {
            assert_eq!(plain, &opened["plaintext"]);
        }
        assert!(made["not_after"].as_str().unwrap().ends_with('Z'));
    }
}

#[test]
fn ten_thousand_items_come_back_in_order_under_one_record() {
    let site = Site::start();
    let client = site.client(TRADING);
    let texts: Vec<String> = (0..10_000).map(|n| format!("row {n}")).collect();
    let items = texts
        .iter()
        .map(|text| item(&[("plaintext", text.as_bytes())]));
    let mut wire = site.wire(TRADING, keywright_tls::Protocol::Http2);
    let sealed = wire.post(&path(EXCHANGE, "encrypt"), batch(items));
    assert_eq!(sealed.status, 200);
    let sealed = sealed.json();
    let sealed = sealed["items"].as_array().unwrap();
    assert_eq!((sealed.len(), wire.get("/v1/health").status), (10_000, 200));
    let envelopes: Vec<_> = sealed
        .iter()
        .map(|one| base64::decode(one["ciphertext"].as_str().unwrap()).unwrap())
        .collect();
    let open: Vec<_> = envelopes
        .iter()
        .map(|ciphertext| keywright_client::Open {
            ciphertext,
            aad: None,
        })
        .collect();
    let opened = client
        .decrypt_items(&name(EXCHANGE), &open, Default::default())
        .unwrap();
    for (opened, text) in opened.into_iter().zip(&texts) {
        assert_eq!(opened.unwrap().plaintext.expose(), text.as_bytes());
    }
    drop(client);
    let home = site.stop();
    let large: Vec<_> = home
        .requests()
        .into_iter()
        .filter(|one| one["items"] == 10_000)
        .collect();
    let encrypted = large
        .iter()
        .find(|one| one["operation"] == "encrypt")
        .unwrap();
    assert_eq!(
        (&encrypted["outcome"], &encrypted["failed"]),
        (&json!("ok"), &json!(0))
    );
    let groups = field(encrypted, "item-groups").unwrap();
    assert_eq!(groups["groups"].as_array().unwrap().len(), 1, "{groups}");
    assert_eq!(groups["groups"][0]["items"], 10_000);
    assert!(field(encrypted, "item-digest").is_some() && field(encrypted, "item-ids").is_none());
}

#[test]
fn random_bytes_have_the_length_asked_for_and_differ() {
    let site = Site::start();
    let mut wire = site.wire(TRADING, keywright_tls::Protocol::Http1);
    let mut seen = BTreeSet::new();
    for bytes in [1, 16, 17, 65_536] {
        let got = wire.post("/v1/random", format!("{{\"bytes\":{bytes}}}"));
        assert_eq!(got.binary("random").len(), bytes);
    }
    for _ in 0..50 {
        assert!(seen.insert(wire.post("/v1/random", "{\"bytes\":16}").binary("random")));
    }
    let got = wire.post(
        "/v1/random",
        "{\"items\":[{\"bytes\":16},{\"bytes\":0},{\"bytes\":32}]}",
    );
    let got = got.json();
    assert_eq!(got["failed"], 1);
    assert_eq!(got["items"][1]["error"]["code"], "value_invalid");
    assert_eq!(
        base64::decode(got["items"][2]["random"].as_str().unwrap())
            .unwrap()
            .len(),
        32
    );
    site.stop();
}

/// Requests of every route, good and bad; `{context}` stands for several.
fn all_kinds(site: &Site) -> Vec<(Method, String, String)> {
    let mut wire = site.wire(TRADING, BOTH[0]);
    let sealed = seal(&mut wire, EXCHANGE, b"x", b"");
    let open = item(&[("ciphertext", &sealed)]);
    let wrapped = wire.post(&path(EXCHANGE, "datakey"), "{}");
    let wrapped = item(&[("ciphertext", &wrapped.binary("ciphertext"))]);
    let (message, garbage) = (item(&[("plaintext", b"x")]), item(&[("ciphertext", b"x")]));
    let mut kinds = Vec::new();
    let mut post = |action: &str, bodies: &[&str]| {
        for body in bodies {
            let path = format!("/v1/contexts/{{context}}/{action}");
            kinds.push((Method::POST, path, (*body).to_owned()));
        }
    };
    post("encrypt", &[&message, "{", "{}", "{\"plaintext\":\"?\"}"]);
    for action in ["decrypt", "rewrap", "datakey/open"] {
        post(action, &[&open, "{}", "[]", &garbage]);
    }
    post("datakey", &["{}"]);
    post("datakey/open", &[&wrapped]);
    for bytes in [8, 0] {
        let body = format!("{{\"bytes\":{bytes}}}");
        kinds.push((Method::POST, "/v1/random".to_owned(), body));
    }
    for path in ["/v1/contexts", "/v1/health", "/metrics", "/v1/openapi.json"] {
        kinds.push((Method::GET, path.to_owned(), String::new()));
    }
    kinds
}

/// Orders about the key of a context, in a sequence in which each works; the last leaves it without an active version.
const ORDERS: [(Method, &str, &str); 9] = [
    (Method::POST, "key/rotate", "{}"),
    (Method::POST, "key/suspend", "{\"version\":1}"),
    (Method::POST, "key/resume", "{\"version\":1}"),
    (Method::POST, "key/schedule-destroy", "{\"version\":1}"),
    (Method::POST, "key/destroy", "{\"version\":1}"),
    (Method::POST, "key/cancel-destroy", "{\"all\":true}"),
    (
        Method::POST,
        "key/approve",
        "{\"order\":\"destroy\",\"version\":1}",
    ),
    (Method::GET, "key/versions", ""),
    (Method::POST, "key/retire", "{\"version\":2}"),
];

#[test]
fn every_answer_is_of_a_route_and_status_that_the_description_has() {
    let site = Site::start();
    let mut wire = site.wire(TRADING, BOTH[0]);
    let described = wire.get("/v1/openapi.json").json();
    let mut seen = BTreeSet::new();
    let contexts = [EXCHANGE, TWO_FACTOR, "nobody"];
    let mut asked: Vec<_> = all_kinds(&site)
        .into_iter()
        .map(|(method, template, body)| (method, template, body, contexts.to_vec()))
        .collect();
    for (action, context, body) in crate::uses::good_requests(&site) {
        let template = format!("/v1/contexts/{{context}}/{action}");
        let contexts = vec![context, EXCHANGE, "nobody"];
        asked.push((Method::POST, template, body.to_string(), contexts));
    }
    crate::life::grant(&site, TRADING, EXCHANGE, &crate::life::KEEPER);
    crate::life::grant(&site, TRADING, EXCHANGE, &["key-approve"]);
    for (method, action, body) in ORDERS {
        let template = format!("/v1/contexts/{{context}}/{action}");
        asked.push((method, template, body.to_owned(), vec![EXCHANGE, "nobody"]));
    }
    for (method, template, body, contexts) in asked {
        for context in contexts {
            let path = template.replace("{context}", context);
            let got = wire.send(method.clone(), &path, body.clone()).unwrap();
            let verb = method.as_str().to_ascii_lowercase();
            let responses = &described["paths"][&template][&verb]["responses"];
            let documented = &responses[got.status.to_string()];
            let what = format!("{verb} {template} answers {} {}", got.status, got.code());
            assert!(documented.is_object(), "{what}");
            let named = got.status == 200 || documented.to_string().contains(&got.code());
            assert!(named, "{what}");
            seen.insert((template.clone(), verb, got.status));
        }
    }
    for (template, verbs) in described["paths"].as_object().unwrap() {
        let verbs = verbs.as_object().unwrap().keys();
        for verb in verbs.filter(|key| *key != "parameters") {
            // Its day comes after a week at the earliest; tests with a clock of their own see it work.
            if template.ends_with("/key/destroy") {
                continue;
            }
            // Streams are bytes and no text; the tests of streams see them work.
            if template.ends_with("/stream") {
                continue;
            }
            let good = (template.clone(), verb.clone(), 200);
            assert!(
                seen.contains(&good),
                "{verb} {template} was not seen to work"
            );
        }
    }
    site.stop();
}

#[test]
fn health_and_contexts_say_what_is() {
    let site = Site::start();
    let mut wire = site.wire(TRADING, keywright_tls::Protocol::Http2);
    let health = wire.get("/v1/health");
    assert_eq!(health.status, 200);
    let epoch = health.json()["epoch"].as_u64().unwrap();
    let expected = json!({
        "status": "ready", "holder": "ok", "unfit_keys": 0, "audit": "ok", "store": "ok",
        "certificates": "ok", "clock": "sure", "memory": "unlocked", "epoch": epoch,
    });
    assert_eq!(health.json(), expected);
    let contexts = wire.get("/v1/contexts").json();
    let contexts = contexts["contexts"].as_array().unwrap();
    assert_eq!(
        contexts.len(),
        1,
        "only what the caller has a right on: {contexts:?}"
    );
    assert_eq!(contexts[0]["name"], EXCHANGE);
    assert_eq!(
        contexts[0]["versions"],
        json!([{ "version": 1, "state": "active" }])
    );
    let other = site.wire(WEB, BOTH[0]).get("/v1/contexts").json();
    assert_eq!(other["contexts"][0]["name"], TWO_FACTOR);
    site.stop();
}

/// The samples of a Prometheus text, checked for their form.
fn samples(text: &str) -> Vec<(String, f64)> {
    let mut helped = BTreeSet::new();
    let mut samples = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# ") {
            let mut words = rest.split(' ');
            if words.next() == Some("TYPE") {
                assert!(
                    helped.insert(words.next().unwrap().to_owned()),
                    "{line} stands twice"
                );
            }
            continue;
        }
        let (series, value) = line.rsplit_once(' ').unwrap();
        let name = series.split('{').next().unwrap();
        let family = ["_bucket", "_sum", "_count"]
            .iter()
            .find_map(|end| name.strip_suffix(end).filter(|name| helped.contains(*name)))
            .unwrap_or(name);
        assert!(helped.contains(family), "{line} has no TYPE");
        samples.push((series.to_owned(), value.parse().unwrap()));
    }
    samples
}

#[test]
fn metrics_count_what_was_answered_and_name_nobody() {
    let site = Site::start();
    let mut wire = site.wire(TRADING, keywright_tls::Protocol::Http2);
    for _ in 0..3 {
        seal(&mut wire, EXCHANGE, b"x", b"");
    }
    let item = item(&[("plaintext", b"x")]);
    wire.post(
        &path(EXCHANGE, "encrypt"),
        batch((0..20).map(|_| item.clone())),
    );
    for n in 0..50 {
        wire.post(&path(&format!("no-such-{n}"), "encrypt"), item.clone());
        wire.get(&format!("/no/such/path/{n}"));
    }
    let got = wire.get("/metrics");
    assert_eq!(got.status, 200);
    assert!(
        got.header("content-type")
            .unwrap()
            .starts_with("text/plain; version=0.0.4")
    );
    let text = String::from_utf8(got.body.to_vec()).unwrap();
    let samples = samples(&text);
    let value = |series: &str| {
        let found = samples.iter().find(|(name, _)| name == series);
        found
            .unwrap_or_else(|| panic!("{series} is not in\n{text}"))
            .1
    };
    let requests = |operation: &str, code: &str| {
        value(&format!(
            "keywright_requests_total{{operation=\"{operation}\",code=\"{code}\"}}"
        ))
    };
    assert_eq!(requests("encrypt", "ok"), 4.0);
    assert_eq!(requests("encrypt", "context_not_found"), 50.0);
    assert_eq!(requests("unrouted", "route_not_found"), 50.0);
    assert_eq!(value("keywright_items_total{operation=\"encrypt\"}"), 73.0);
    // Three operations with a histogram each, and what is there always.
    assert!(samples.len() < 350, "series grow with what clients make up");
    for word in [
        TRADING, WEB, EXCHANGE, TWO_FACTOR, "Trading", "no-such", "/v1/",
    ] {
        assert!(!text.contains(&format!("\"{word}")), "{word} is in\n{text}");
    }
    site.change_policy(|document| {
        let metrics = keywright_types::Operation::MetricsRead;
        document
            .grants
            .iter_mut()
            .for_each(|grant| grant.operations.retain(|one| *one != metrics));
    });
    let got = wire.get("/metrics");
    assert_eq!((got.status, got.code().as_str()), (403, "operation_denied"));
    site.stop();
}

/// A path of a few parts: words of real ones, such words with a fault, and what nobody has ever asked for.
fn random_path(dice: &mut SplitMix) -> String {
    const WORDS: [&str; 10] = [
        "v1", "contexts", EXCHANGE, "encrypt", "key", "stream", "health", "metrics", "random", "..",
    ];
    const SIGNS: &[u8] = b"abcdefghijklmnopqrstuvwxyzABC0123456789-._~%2f!$&'()*+,;=:@";
    let parts = (0..=dice.below(5)).map(|_| {
        let mut word = match dice.below(3) {
            0 => String::new(),
            _ => WORDS[dice.below(WORDS.len())].to_owned(),
        };
        for _ in 0..dice.below(12) {
            word.push(char::from(SIGNS[dice.below(SIGNS.len())]));
        }
        word
    });
    let path: Vec<_> = parts.collect();
    // Percent signs must be followed by two digits, or no client sends them.
    format!("/{}", path.join("/").replace('%', "%41"))
}

/// How often each operation was answered with each code, out of the page of metrics; and how many series there are.
fn answered(wire: &mut Wire) -> (BTreeMap<String, f64>, usize) {
    let page = wire.get("/metrics");
    let samples = samples(std::str::from_utf8(&page.body).unwrap());
    let series = samples.len();
    let requests = samples
        .into_iter()
        .filter(|(name, _)| name.starts_with("keywright_requests_total{"));
    (requests.collect(), series)
}

#[test]
fn paths_and_names_that_clients_make_up_are_counted_and_add_no_series() {
    let site = Site::start();
    let mut wire = site.wire(TRADING, keywright_tls::Protocol::Http2);
    let mut dice = SplitMix::new(0x7061_7468);
    let mut series = 0;
    let number = dose("paths");
    let mut expected: BTreeMap<(&str, String), f64> = BTreeMap::new();
    for asked in 0..number {
        // Every outcome that there will be has been by then.
        if asked == number / 4 {
            series = answered(&mut wire).1;
        }
        let (operation, got) = match dice.below(4) {
            0 => {
                let name = format!("made-up-{:x}", dice.next_u64());
                ("encrypt", wire.post(&path(&name, "encrypt"), "{}"))
            }
            _ => ("unrouted", wire.get(&random_path(&mut dice))),
        };
        // What came to be a route is another test's.
        if operation == "encrypt" || got.code() == "route_not_found" {
            *expected.entry((operation, got.code())).or_default() += 1.0;
        }
    }
    let (counted, now) = answered(&mut wire);
    assert_eq!(now, series, "what clients make up has become a series");
    for ((operation, code), times) in expected {
        let name = format!("keywright_requests_total{{operation=\"{operation}\",code=\"{code}\"}}");
        assert_eq!(counted.get(&name), Some(&times), "{name}");
    }
    site.stop();
}
