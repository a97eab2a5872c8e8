//! `examples/curl.sh`: a service used with nothing but curl, as the README says.

use std::process::{Command, Output};

use crate::program::Home;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/curl.sh");

fn run(words: &[&str]) -> Output {
    Command::new("bash")
        .arg(SCRIPT)
        .args(words)
        .output()
        .unwrap()
}

#[test]
fn curl_seals_and_opens_and_is_refused_where_it_must_be() {
    let home = Home::demo();
    let server = home.serve();
    let ended = run(&[&home.home, server.url.strip_prefix("https://").unwrap()]);
    let stdout = String::from_utf8(ended.stdout).unwrap();
    assert!(
        ended.status.success(),
        "{stdout}{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    for line in [
        "opened: Hello from curl",
        "without its aad: decryption_failed",
        "as web-2fa-1: context_not_found",
    ] {
        assert!(
            stdout.lines().any(|shown| shown == line),
            "{line} is not in {stdout}"
        );
    }
    assert!(
        stdout.starts_with("sealed under version 1: KWR1"),
        "{stdout}"
    );
}

#[test]
fn curl_fails_without_a_service_a_home_or_the_right_words() {
    let home = Home::demo();
    let server = home.serve();
    let address = server.url.strip_prefix("https://").unwrap().to_owned();
    assert_eq!(run(&[]).status.code(), Some(2));
    assert_eq!(run(&[&home.home, &address, "more"]).status.code(), Some(2));
    assert!(
        !run(&[home.folder.path().to_str().unwrap(), &address])
            .status
            .success(),
        "no certificates there"
    );
    drop(server);
    assert!(
        !run(&[&home.home, &address]).status.success(),
        "nobody listens any more"
    );
}
