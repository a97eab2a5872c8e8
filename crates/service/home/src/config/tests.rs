//! Files that are read, and files that are refused with their key and line.

use std::time::Duration;

use keywright_audit::log::SyncMode;

use super::*;
use crate::node::sync_mode;
use crate::serving::application_settings;

fn minimal() -> &'static str {
    "version = 1\n\
     [server]\nlisten = \"127.0.0.1:8443\"\ncertificate = \"server.pem\"\nkey = \"server.key\"\n\
     [clients]\nauthorities = \"ca.pem\"\nrevocation_lists = \"crl.pem\"\n\
     [store]\nfile = \"store.sqlite\"\n\
     [keystore]\nroot = \"root.kwf\"\npassword_file = \"root.password\"\n\
     [audit]\ndirectory = \"audit\"\n"
}

fn read(text: &str) -> Result<Config, ConfigError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("keywright.toml");
    std::fs::write(&path, text).unwrap();
    Config::read(&path)
}

#[test]
fn a_minimal_file_has_safe_defaults_and_paths_of_its_folder() {
    let config = read(minimal()).unwrap();
    assert_eq!(config.limits.items, 10_000);
    assert_eq!(config.audit.sync, Sync::Grouped);
    assert!(!config.compat.vault_transit && !config.compat.seed);
    assert!(config.store.file.is_absolute() && config.store.file.ends_with("store.sqlite"));
    assert!(config.clients.roster.is_none() && !config.clients.follow);
    let roster = minimal().replace("[clients]\n", "[clients]\nroster = \"clients.txt\"\n");
    let roster = read(&roster).unwrap().clients.roster.unwrap();
    assert!(roster.is_absolute() && roster.ends_with("clients.txt"));
}

#[test]
fn what_is_written_reads_back() {
    let config = read(minimal()).unwrap();
    let text = config.to_text().unwrap();
    assert_eq!(read(&text).unwrap().to_text().unwrap(), text);
}

#[test]
fn an_unknown_key_is_refused_with_its_name_and_line() {
    for (text, key, line) in [
        (format!("{}sink = 1\n", minimal()), "sink", 16),
        (format!("{}[limits]\nitem = 5\n", minimal()), "item", 17),
        (format!("surprise = true\n{}", minimal()), "surprise", 1),
    ] {
        let message = read(&text).unwrap_err().to_string();
        assert!(
            message.contains(key) && message.contains(&format!("line {line}")),
            "{message}"
        );
    }
}

#[test]
fn wrong_types_missing_keys_and_other_versions_are_refused() {
    for (from, to) in [
        ("version = 1", "version = 2"),
        ("version = 1\n", ""),
        ("listen = \"127.0.0.1:8443\"", "listen = \"here\""),
        ("listen = \"127.0.0.1:8443\"", "listen = 8443"),
        ("key = \"server.key\"\n", ""),
        ("[audit]\n", "[audit]\nsync = \"never\"\n"),
        ("[audit]\n", "[limits]\nitems = 0\n[audit]\n"),
        ("[audit]\n", "[limits]\nitems = 10001\n[audit]\n"),
        ("[audit]\n", "[compat]\nvault_token_s = 0\n[audit]\n"),
        ("[audit]\n", "[compat]\nvault_token_s = 3601\n[audit]\n"),
        ("[audit]\n", "[compat]\nvault_transit = \"yes\"\n[audit]\n"),
        ("[audit]\n", "[compat]\nvault = true\n[audit]\n"),
        ("[audit]\n", "[compat]\nseed = \"on\"\n[audit]\n"),
        ("[audit]\n", "[limits]\nbody_bytes = -1\n[audit]\n"),
        ("[audit]\n", "[limits]\nheader_timeout_s = 0\n[audit]\n"),
        ("[audit]\n", "[limits]\nbody_timeout_s = 0\n[audit]\n"),
        ("[audit]\n", "[limits]\nidle_timeout_s = 0\n[audit]\n"),
        ("[audit]\n", "[limits]\ndrain_timeout_s = 0\n[audit]\n"),
        ("[audit]\n", "[limits]\nholder_threads = 0\n[audit]\n"),
        ("[audit]\n", "[limits]\nconnection_bytes = 0\n[audit]\n"),
        ("[audit]\n", "[limits]\nheld_bytes = 0\n[audit]\n"),
        (
            "[audit]\n",
            "[limits]\nheld_bytes = 1099511627777\n[audit]\n",
        ),
        ("[clients]\n", "[clients]\nroster = true\n"),
        ("[clients]\n", "[clients]\nfollow = \"yes\"\n"),
        ("[clients]\n", "[clients]\nrosters = \"clients.txt\"\n"),
        ("[audit]\n", "[log]\nlevel = \"debug\"\n[audit]\n"),
        ("[audit]\n", "[log]\nfile = \"x\"\n[audit]\n"),
        ("[audit]\n", "[probe]\n[audit]\n"),
        ("[audit]\n", "[probe]\nlisten = \"0.0.0.0:8081\"\n[audit]\n"),
        ("[audit]\n", "[probe]\nlisten = \"[::]:8081\"\n[audit]\n"),
        (
            "[audit]\n",
            "[probe]\nlisten = \"192.0.2.1:8081\"\n[audit]\n",
        ),
        (
            "[audit]\n",
            "[probe]\nlisten = \"127.0.0.1:8081\"\ntls = true\n[audit]\n",
        ),
    ] {
        let text = minimal().replacen(from, to, 1);
        assert!(read(&text).is_err(), "{text}");
    }
}

#[test]
fn limits_of_unauthenticated_connections_are_checked() {
    let limits = |text: &str| read(&format!("{}[limits]\n{text}\n", minimal()));
    let good = limits("unauthenticated_connections = 1000").unwrap().limits;
    assert_eq!(good.unauthenticated_per_source, 1000);
    assert_eq!((good.source_prefix_ipv4, good.source_prefix_ipv6), (32, 64));
    assert_eq!(good.handshake_timeout_ms, 5000);
    // Behind a proxy one source has all of them.
    assert!(limits("unauthenticated_per_source = 2000").is_ok());
    for (text, named) in [
        ("unauthenticated_connections = 0", "1 to 100000"),
        ("unauthenticated_connections = 100001", "1 to 100000"),
        ("unauthenticated_per_source = 0", "1 to 100000"),
        (
            "unauthenticated_per_source = 2001",
            "limits.unauthenticated_connections, 2000",
        ),
        ("unauthenticated_connections = 100", "1000 is more than"),
        ("source_prefix_ipv4 = 7", "8 to 32"),
        ("source_prefix_ipv4 = 33", "8 to 32"),
        ("source_prefix_ipv6 = 15", "16 to 128"),
        ("source_prefix_ipv6 = 129", "16 to 128"),
        ("handshake_timeout_ms = 99", "100 to 60000"),
        ("handshake_timeout_ms = 60001", "100 to 60000"),
    ] {
        let told = limits(text).unwrap_err().to_string();
        let key = text.split(' ').next().unwrap();
        assert!(told.contains(named), "{text}: {told}");
        assert!(told.contains("limits.") && (told.contains(key) || key.ends_with("connections")));
    }
}

const TOKEN: &str = "[token]\nmodule = \"/usr/lib/m.so\"\nlabel = \"keys\"\npin_file = \"pin\"\n";

#[test]
fn a_token_has_safe_defaults_and_paths_of_its_folder() {
    let config = read(&format!("{}{TOKEN}", minimal())).unwrap();
    let token = config.token.as_ref().unwrap();
    assert_eq!((token.sessions, token.queue), (4, 128));
    assert!(token.session_copies && token.pin_file.is_absolute());
    assert_eq!(token.module, Path::new("/usr/lib/m.so"));
    let text = config.to_text().unwrap();
    assert_eq!(read(&text).unwrap().to_text().unwrap(), text);
}

#[test]
fn a_uri_stands_for_label_and_serial_and_its_pin_is_never_repeated() {
    let with = |uri: &str| {
        let token = TOKEN.replace("label = \"keys\"", &format!("uri = \"{uri}\""));
        read(&format!("{}{token}", minimal()))
    };
    let config = with("pkcs11:token=two%20words;serial=7;model=m").unwrap();
    let query = config.token.as_ref().unwrap().query().unwrap();
    assert_eq!(query.label.as_deref(), Some("two words"));
    assert_eq!(query.serial.as_deref(), Some("7"));
    assert_eq!(
        (query.model.as_deref(), query.manufacturer),
        (Some("m"), None)
    );
    let refused = with("pkcs11:token=keys?pin-value=hunter2").unwrap_err();
    assert!(refused.to_string().starts_with("token.uri is not valid"));
    assert!(!refused.to_string().contains("hunter2"));
}

#[test]
fn a_root_in_the_token_needs_one_and_has_no_password() {
    let password = "password_file = \"root.password\"\n";
    let in_token = minimal().replace(password, "root_key = \"token\"\n");
    let message = read(&in_token).unwrap_err().to_string();
    assert!(message.starts_with("token.module is missing"), "{message}");
    let config = read(&format!("{in_token}{TOKEN}")).unwrap();
    assert_eq!(config.keystore.root_key, RootPlace::Token);
    let both = minimal().replace(password, &format!("{password}root_key = \"token\"\n"));
    for (text, key) in [
        (
            format!("{both}{TOKEN}"),
            "keystore.password_file has no place",
        ),
        (
            minimal().replace(password, ""),
            "keystore.password_file is missing",
        ),
    ] {
        let message = read(&text).unwrap_err().to_string();
        assert!(message.starts_with(key), "{message}");
    }
}

#[test]
fn a_token_that_cannot_be_found_or_has_unknown_keys_is_refused() {
    for (from, to) in [
        ("label = \"keys\"\n", ""),
        (
            "label = \"keys\"\n",
            "label = \"keys\"\nuri = \"pkcs11:token=keys\"\n",
        ),
        ("label = \"keys\"\n", "slot = 1\nlabel = \"keys\"\n"),
        ("pin_file = \"pin\"\n", ""),
        ("pin_file = \"pin\"\n", "pin = \"1234\"\n"),
        ("pin_file = \"pin\"\n", "pin_file = \"pin\"\nsessions = 0\n"),
        (
            "pin_file = \"pin\"\n",
            "pin_file = \"pin\"\nsessions = 513\n",
        ),
        ("pin_file = \"pin\"\n", "pin_file = \"pin\"\nqueue = 0\n"),
        ("label = \"keys\"\n", "uri = \"pkcs12:token=keys\"\n"),
        ("label = \"keys\"\n", "uri = \"pkcs11:\"\n"),
        (
            "label = \"keys\"\n",
            "uri = \"pkcs11:token=keys;slot-id=3\"\n",
        ),
        ("label = \"keys\"\n", "uri = \"pkcs11:token=keys;id=%01\"\n"),
        ("label = \"keys\"\n", "uri = \"pkcs11:token=%ff\"\n"),
        (
            "label = \"keys\"\n",
            "uri = \"pkcs11:token=keys?pin-value=1234\"\n",
        ),
        (
            "label = \"keys\"\n",
            "uri = \"pkcs11:token=keys?module-path=/m.so\"\n",
        ),
    ] {
        let text = format!("{}{}", minimal(), TOKEN.replacen(from, to, 1));
        assert!(read(&text).is_err(), "{text}");
    }
}

#[test]
fn a_missing_file_is_named_with_its_key() {
    let message = read(minimal())
        .unwrap()
        .check_files()
        .unwrap_err()
        .to_string();
    assert!(message.starts_with("server.certificate names"), "{message}");
}

fn with_telemetry(lines: &str) -> Result<Config, ConfigError> {
    read(&format!("{}[telemetry]\n{lines}\n", minimal()))
}

const SECURE: &str = "endpoint = \"https://otel.example\"\nauthorities = \"otel-ca.pem\"";

#[test]
fn traces_are_off_by_default_and_modest_where_they_are_on() {
    assert!(read(minimal()).unwrap().telemetry.is_none());
    let config = with_telemetry(SECURE).unwrap();
    let telemetry = config.telemetry.as_ref().unwrap();
    assert!(telemetry.authorities.as_ref().unwrap().is_absolute());
    let numbers = (
        telemetry.parents_per_s,
        telemetry.queue,
        telemetry.timeout_ms,
    );
    assert_eq!((telemetry.ratio, numbers), (0.01, (10, 4096, 5000)));
    assert!(!telemetry.allow_plaintext && telemetry.service_name == "keywright");
    let text = config.to_text().unwrap();
    assert_eq!(read(&text).unwrap().to_text().unwrap(), text);
    for good in [
        "endpoint = \"http://127.0.0.1\"",
        "endpoint = \"http://[::1]:4318/v1/traces\"\nratio = 1",
        "endpoint = \"http://localhost\"\nratio = 0.0\nparents_per_s = 0",
        "endpoint = \"http://otel.example\"\nallow_plaintext = true",
        "endpoint = \"http://127.0.0.1\"\nresource = { \"a.b\" = \"c\" }",
    ] {
        let config = with_telemetry(good).unwrap();
        let text = config.to_text().unwrap();
        assert_eq!(read(&text).unwrap().to_text().unwrap(), text);
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn traces_that_would_go_astray_or_say_what_they_should_not_are_refused() {
    let own = "endpoint = \"http://127.0.0.1\"\n";
    for (lines, key) in [
        ("", "endpoint"),
        ("endpoint = \"\"", "telemetry.endpoint"),
        ("endpoint = \"otel:4318\"", "telemetry.endpoint"),
        ("endpoint = \"grpc://127.0.0.1\"", "telemetry.endpoint"),
        ("endpoint = \"http://otel.example\"", "telemetry.endpoint"),
        ("endpoint = \"http://192.0.2.1\"", "telemetry.endpoint"),
        ("endpoint = \"http://0.0.0.0\"", "telemetry.endpoint"),
        (
            "endpoint = \"http://localhost.example\"",
            "telemetry.endpoint",
        ),
        (
            "endpoint = \"https://a:hunter2@otel\"\nauthorities = \"a\"",
            "telemetry.endpoint",
        ),
        (
            "endpoint = \"https://otel.example\"",
            "telemetry.authorities is missing",
        ),
        (
            "endpoint = \"https://otel.example\"\nallow_plaintext = true",
            "telemetry.authorities is missing",
        ),
        (
            "endpoint = \"http://127.0.0.1\"\nauthorities = \"a.pem\"",
            "telemetry.authorities has no place",
        ),
        ("ratio = -0.1", "telemetry.ratio"),
        ("ratio = 1.1", "telemetry.ratio"),
        ("ratio = 2", "telemetry.ratio"),
        ("ratio = nan", "telemetry.ratio"),
        ("ratio = inf", "telemetry.ratio"),
        ("ratio = \"all\"", "ratio"),
        ("parents_per_s = -1", "parents_per_s"),
        ("parents_per_s = 1000001", "telemetry.parents_per_s"),
        ("queue = 0", "telemetry.queue"),
        ("queue = 65537", "telemetry.queue"),
        ("timeout_ms = 0", "telemetry.timeout_ms"),
        ("timeout_ms = 60001", "telemetry.timeout_ms"),
        ("service_name = \"\"", "telemetry.service_name"),
        ("service_name = \"a\\nb\"", "telemetry.service_name"),
        (
            "resource = { \"service.name\" = \"x\" }",
            "telemetry.resource",
        ),
        (
            "resource = { \"service.version\" = \"9\" }",
            "telemetry.resource",
        ),
        ("resource = { a = \"\" }", "telemetry.resource"),
        ("resource = { a = 1 }", "resource"),
        ("headers = { a = \"b\" }", "headers"),
        ("protocol = \"grpc\"", "protocol"),
    ] {
        let text = match lines.contains("endpoint") || lines.is_empty() {
            true => lines.to_owned(),
            false => format!("{own}{lines}"),
        };
        let message = with_telemetry(&text).unwrap_err().to_string();
        assert!(message.contains(key), "{text}: {message}");
        assert!(!message.contains("hunter2"), "{message}");
    }
    let long = format!("{own}service_name = \"{}\"", "x".repeat(257));
    assert!(with_telemetry(&long).is_err());
    let many: Vec<_> = (0..33).map(|n| format!("a{n} = \"b\"")).collect();
    let many = format!("{own}resource = {{ {} }}", many.join(", "));
    assert!(with_telemetry(&many).is_err());
}

#[test]
fn what_no_answer_shows_is_what_log_and_gate_are_given() {
    let usual = read(minimal()).unwrap();
    assert_eq!(
        sync_mode(&usual),
        SyncMode::Grouped(Duration::from_millis(100))
    );
    let queued = |config: &Config| application_settings(config, 2).load.queued;
    assert_eq!(queued(&usual), Duration::from_millis(25));
    let said = minimal().replace(
        "[audit]\n",
        "[limits]\nqueued_ms = 700\n[audit]\nsync = \"strict\"\n",
    );
    let said = read(&said).unwrap();
    assert_eq!(sync_mode(&said), SyncMode::Strict);
    assert_eq!(queued(&said), Duration::from_millis(700));
}
