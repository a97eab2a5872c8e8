//! `keywright session demo`: what two parties make of a bad line, and that a seed decides over it.

use serde_json::Value;

use crate::program::keywright;

fn demo(words: &[&str]) -> Value {
    let all = [&["session", "demo", "--format", "json"], words].concat();
    keywright(&all).document()
}

fn number(of: &Value, path: &str) -> u64 {
    of.pointer(path).and_then(Value::as_u64).unwrap()
}

#[test]
fn everything_that_arrives_opens_once_under_every_handshake() {
    for handshake in ["x3dh", "auth-psk", "auth-psk-pq"] {
        let told = demo(&["--handshake", handshake, "--messages", "120", "--signed"]);
        assert_eq!(told["handshake"], handshake);
        assert_eq!(told["same_binder"], true);
        assert_eq!(told["all_that_arrived_opened_once"], true);
        for (from, to) in [("initiator", "responder"), ("responder", "initiator")] {
            let sent = number(&told, &format!("/{from}/frames/sent"));
            let lost = number(&told, &format!("/{from}/frames/lost"));
            let repeated = number(&told, &format!("/{from}/frames/repeated"));
            let forged = number(&told, &format!("/{from}/frames/forged"));
            assert_eq!(sent, 120);
            assert!(lost > 0 && repeated > 0 && forged > 0, "{told}");
            assert_eq!(number(&told, &format!("/{to}/seen/opened")), sent - lost);
            let refused = number(&told, &format!("/{to}/seen/refused"));
            assert_eq!(refused, repeated + forged, "{told}");
            assert!(number(&told, &format!("/{to}/seen/out_of_order")) > 0);
        }
    }
}

#[test]
fn a_seed_decides_over_the_fate_of_frames() {
    let words = ["--messages", "80", "--seed", "7"];
    assert_eq!(demo(&words), demo(&words));
    assert_ne!(
        demo(&words)["initiator"],
        demo(&["--messages", "80"])["initiator"]
    );
}

#[test]
fn on_a_good_line_nothing_is_refused_and_nothing_left() {
    let good = [
        "--loss",
        "0",
        "--duplicate",
        "0",
        "--reorder",
        "0",
        "--forge",
        "0",
    ];
    let told = demo(&[&good[..], &["--messages", "50", "--size", "2000"]].concat());
    for side in ["initiator", "responder"] {
        for (what, wanted) in [
            ("opened", 50),
            ("refused", 0),
            ("out_of_order", 0),
            ("stored_keys", 0),
        ] {
            assert_eq!(
                number(&told, &format!("/{side}/seen/{what}")),
                wanted,
                "{what}"
            );
        }
    }
}

#[test]
fn the_text_says_what_happened_in_plain_lines() {
    let text = keywright(&["session", "demo", "--messages", "30"]).text();
    for part in [
        "initiator\n",
        "responder\n",
        "lost",
        "out of order",
        "refused",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert!(
        text.ends_with("both ends export the same binder\n"),
        "{text}"
    );
}

#[test]
fn words_out_of_range_are_refused() {
    for words in [
        ["--loss", "91"],
        ["--messages", "0"],
        ["--size", "3"],
        ["--handshake", "none"],
    ] {
        let ended = keywright(&[&["session", "demo"], &words[..]].concat());
        assert_eq!(ended.code, 2, "{ended:?}");
    }
}
