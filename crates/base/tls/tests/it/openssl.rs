//! The `openssl` command as an independent judge of what the authority writes.
//!
//! Where the command is missing the tests say so in one line each and are counted as skipped: the judge
//! is not part of the toolchain. Times are real here, because the command knows no other clock.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use keywright_clock::Clock;
use keywright_network::ca::TestAuthority;
use keywright_tls::issue::Issued;
use keywright_tls::refusal_of;
use keywright_types::{Code, PrincipalId};
use rustls::ServerConnection;

/// Whether the judge is there. Without it `test` is skipped, and so counted where `scripts/run-tests` runs it.
#[expect(
    clippy::disallowed_methods,
    reason = "where the counts go is told by the environment"
)]
fn present(test: &str) -> bool {
    let present = Command::new("openssl").arg("version").output().is_ok();
    if !present {
        // Past the capture of the test runner, which hides what a passing test prints.
        writeln!(std::io::stderr(), "skipped: no openssl command: {test}").unwrap();
        if let Some(folder) = std::env::var_os("KEYWRIGHT_TEST_COUNTS") {
            let file = Path::new(&folder).join(format!("tls-openssl-{test}"));
            std::fs::write(file, "0 0 1\n").unwrap();
        }
    }
    present
}

fn openssl(folder: &Path, arguments: &[&str]) -> Output {
    Command::new("openssl")
        .current_dir(folder)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

fn authority() -> TestAuthority {
    TestAuthority::new(Clock::system().wall())
}

fn folder(authority: &TestAuthority, leaf: &Issued) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    write("ca.pem", authority.certificate_pem().as_bytes());
    write("crl.pem", authority.crl_pem().as_bytes());
    write("leaf.pem", leaf.certificate_pem.as_bytes());
    write("leaf.key", leaf.key_pem.expose());
    folder
}

/// What the judge says of a leaf, and its words.
fn judged(authority: &TestAuthority, leaf: &Issued, purpose: &str) -> (bool, String) {
    let folder = folder(authority, leaf);
    let output = openssl(
        folder.path(),
        &[
            "verify",
            "-x509_strict",
            "-crl_check_all",
            "-CAfile",
            "ca.pem",
            "-CRLfile",
            "crl.pem",
            "-purpose",
            purpose,
            "leaf.pem",
        ],
    );
    let said = [output.stdout, output.stderr].concat();
    (
        output.status.success(),
        String::from_utf8_lossy(&said).into_owned(),
    )
}

#[test]
fn the_judge_accepts_our_clients_and_servers_under_our_list() {
    if !present("chains") {
        return;
    }
    let authority = authority();
    let client = authority.client(
        "trading-1",
        "Trading",
        Some(PrincipalId::from_bytes([7; 16])),
    );
    let (accepted, said) = judged(&authority, &client, "sslclient");
    assert!(accepted, "{said}");
    let (accepted, said) = judged(&authority, &authority.server(), "sslserver");
    assert!(accepted, "{said}");
}

#[test]
fn the_judge_refuses_what_we_refuse() {
    if !present("refusals") {
        return;
    }
    let authority = authority();
    let other = TestAuthority::new(Clock::system().wall());
    let (_, said) = judged(&authority, authority.revoked(), "sslclient");
    assert!(said.contains("certificate revoked"), "{said}");
    for (leaf, purpose, words) in [
        (authority.expired(), "sslclient", "expired"),
        (authority.not_yet_valid(), "sslclient", "not yet valid"),
        (authority.server(), "sslclient", "purpose"),
        (authority.trading(), "sslserver", "purpose"),
        (other.trading(), "sslclient", "unable to get local issuer"),
    ] {
        let (accepted, said) = judged(&authority, &leaf, purpose);
        assert!(!accepted && said.contains(words), "{words}: {said}");
    }
}

#[test]
fn the_judge_reads_the_same_names_and_numbers() {
    if !present("names") {
        return;
    }
    let authority = authority();
    let id = PrincipalId::from_bytes([7; 16]);
    let client = authority.client("trading-1", "Trading", Some(id));
    let folder = folder(&authority, &client);
    let x509 = [
        "x509", "-in", "leaf.pem", "-noout", "-subject", "-serial", "-ext",
    ];
    let output = openssl(folder.path(), &[&x509[..], &["subjectAltName"]].concat());
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("OU = Trading, CN = trading-1"), "{said}");
    assert!(
        said.contains(&format!("URI:keywright:principal:{id}")),
        "{said}"
    );
    let serial = keywright_encoding::hex::encode(&client.serial).to_uppercase();
    assert!(said.contains(&serial), "{said}");

    let crl = [
        "crl", "-in", "crl.pem", "-noout", "-text", "-CAfile", "ca.pem", "-verify",
    ];
    let output = openssl(folder.path(), &crl);
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(said.contains("verify OK"), "{said}");
    let serial = keywright_encoding::hex::encode(&authority.revoked().serial).to_uppercase();
    assert!(
        said.contains(&serial) && said.contains("Key Compromise"),
        "{said}"
    );
}

#[test]
fn the_judge_agrees_that_the_key_is_p_256_and_belongs_to_the_certificate() {
    if !present("key") {
        return;
    }
    let authority = authority();
    let folder = folder(&authority, &authority.trading());
    let from_key = openssl(folder.path(), &["pkey", "-in", "leaf.key", "-pubout"]);
    let from_leaf = openssl(
        folder.path(),
        &["x509", "-in", "leaf.pem", "-noout", "-pubkey"],
    );
    assert!(from_key.status.success() && !from_key.stdout.is_empty());
    assert_eq!(from_key.stdout, from_leaf.stdout);
    let text = openssl(
        folder.path(),
        &["pkey", "-in", "leaf.key", "-noout", "-text_pub"],
    );
    assert!(String::from_utf8_lossy(&text.stdout).contains("prime256v1"));
}

#[test]
fn an_authority_made_by_the_judge_is_read_and_believed() {
    if !present("foreign-authority") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for algorithm in [
        &["-newkey", "rsa:2048"][..],
        &["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-384"][..],
        &["-newkey", "ed25519"][..],
    ] {
        let head = [
            "req",
            "-x509",
            "-nodes",
            "-days",
            "30",
            "-subj",
            "/O=Judge/CN=Judge CA",
        ];
        let tail = [
            "-addext",
            "keyUsage=critical,keyCertSign,cRLSign",
            "-keyout",
            "ca.key",
            "-out",
            "ca.pem",
        ];
        let made = openssl(folder.path(), &[&head[..], algorithm, &tail[..]].concat());
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
        let taken = keywright_tls::issue::Authority::from_pem(&read("ca.pem"), &read("ca.key"));
        // A second for clocks: the judge's certificate begins now, ours five minutes ago.
        let now = Clock::system().wall();
        let authority = TestAuthority::over(taken.unwrap(), now);
        let trust = authority.trust(&Clock::system());
        let chain = crate::wire::chain(&authority.trading());
        assert!(trust.verify(&chain, now).is_ok(), "{algorithm:?}");
        let (accepted, said) = judged(&authority, &authority.trading(), "sslclient");
        assert!(accepted, "{algorithm:?}: {said}");
    }
}

/// One connection of `s_client` to a server of ours on loopback: what the server made of it, and
/// what the judge printed.
fn dialled(authority: &TestAuthority, arguments: &[&str], leaf: &Issued) -> (Option<Code>, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let config = authority.server_config(&Clock::system());
    let server = std::thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        let mut connection = ServerConnection::new(Arc::clone(&config)).unwrap();
        let result = connection.complete_io(&mut socket);
        connection.send_close_notify();
        let _ = connection.write_tls(&mut socket);
        result.err().map(|error| refusal_of(&error))
    });
    let folder = folder(authority, leaf);
    let target = address.to_string();
    let head = [
        "s_client",
        "-connect",
        &target,
        "-CAfile",
        "ca.pem",
        "-verify_return_error",
        "-verify_hostname",
        "localhost",
        "-alpn",
        "h2",
    ];
    let output = openssl(folder.path(), &[&head[..], arguments].concat());
    // Frees the server if the judge never came.
    let _ = TcpStream::connect(address);
    let said = [output.stdout, output.stderr].concat();
    let code = server.join().unwrap();
    (code, String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn the_judge_as_a_client_gets_in_with_a_good_certificate_only() {
    if !present("client") {
        return;
    }
    let authority = authority();
    let trading = authority.trading();
    let own = ["-cert", "leaf.pem", "-key", "leaf.key"];
    let (code, said) = dialled(&authority, &own, &trading);
    assert_eq!(code, None, "{said}");
    assert!(said.contains("Verify return code: 0 (ok)"), "{said}");
    assert!(
        said.contains("TLSv1.3") && said.contains("ALPN protocol: h2"),
        "{said}"
    );

    let (code, said) = dialled(&authority, &own, authority.revoked());
    assert_eq!(code, Some(Code::CertificateRevoked), "{said}");
    let (code, said) = dialled(&authority, &[], &trading);
    assert_eq!(code, Some(Code::CertificateMissing), "{said}");
    let old = [&own[..], &["-tls1_2"]].concat();
    let (code, said) = dialled(&authority, &old, &trading);
    assert_eq!(code, Some(Code::HandshakeFailed), "{said}");
    assert!(said.contains("alert protocol version"), "{said}");
}
