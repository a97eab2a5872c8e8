//! Whom the two ends of a connection let in.

use std::sync::Arc;

use keywright_network::ca::{AUTHORITY_LIFE, DAY, TestAuthority, client_identity, server_identity};
use keywright_tls::issue::Issued;
use keywright_tls::{ClientTrust, Protocol, client_config, refusal_of, server_config};
use keywright_types::Code;
use rustls::{NamedGroup, ProtocolVersion};

use crate::wire::{NOW, clock, connect, connect_to};

/// What the server counts when this client comes.
fn refused(authority: &TestAuthority, client: Option<&Issued>) -> Option<Code> {
    let (clock, _hand) = clock();
    let outcome = connect(
        &authority.client_config(client, &clock),
        &authority.server_config(&clock),
    );
    outcome.server_code()
}

#[test]
fn a_good_client_gets_in_over_tls_1_3_and_its_credential_is_the_one_of_its_certificate() {
    let (clock, _hand) = clock();
    let authority = TestAuthority::new(NOW);
    let trading = authority.trading();
    let (server, client) = connect(
        &authority.client_config(Some(&trading), &clock),
        &authority.server_config(&clock),
    )
    .established();
    assert_eq!(server.protocol_version(), Some(ProtocolVersion::TLSv1_3));
    assert_eq!(server.alpn_protocol(), Some(Protocol::Http2.alpn()));
    assert_eq!(client.alpn_protocol(), server.alpn_protocol());
    let credential = authority
        .trust(&clock)
        .verify(server.peer_certificates().unwrap(), NOW)
        .unwrap();
    assert_eq!(credential.common_name.as_deref(), Some("trading-1"));
    assert_eq!(credential.serial, trading.serial);
}

#[test]
fn each_bad_client_is_refused_and_counted_under_its_reason() {
    let authority = TestAuthority::new(NOW);
    let other = TestAuthority::new(NOW);
    let cases = [
        ("none", None, Code::CertificateMissing),
        (
            "other ca of the same name",
            Some(other.trading()),
            Code::CertificateUntrusted,
        ),
        (
            "expired",
            Some(authority.expired()),
            Code::CertificateExpired,
        ),
        (
            "not yet valid",
            Some(authority.not_yet_valid()),
            Code::CertificateExpired,
        ),
        (
            "server as client",
            Some(authority.server_as_client()),
            Code::CertificateUntrusted,
        ),
        (
            "no purpose",
            Some(authority.without_purpose()),
            Code::CertificateUntrusted,
        ),
        (
            "two names",
            Some(authority.two_common_names()),
            Code::CertificateMalformed,
        ),
        (
            "line feed",
            Some(authority.control_character()),
            Code::CertificateMalformed,
        ),
        ("nul", Some(authority.nul()), Code::CertificateMalformed),
    ];
    for (name, client, code) in cases {
        assert_eq!(refused(&authority, client.as_ref()), Some(code), "{name}");
    }
    let revoked = Some(authority.revoked());
    assert_eq!(refused(&authority, revoked), Some(Code::CertificateRevoked));
    assert_eq!(refused(&authority, Some(&authority.trading())), None);
}

#[test]
fn the_refused_client_learns_of_it_by_an_alert() {
    let (clock, _hand) = clock();
    let authority = TestAuthority::new(NOW);
    let outcome = connect(
        &authority.client_config(None, &clock),
        &authority.server_config(&clock),
    );
    let error = outcome.client.err();
    let expected = rustls::AlertDescription::CertificateRequired;
    assert_eq!(error, Some(rustls::Error::AlertReceived(expected)));
}

#[test]
fn the_servers_clock_decides_and_so_does_the_end_of_the_list() {
    let (clock, hand) = clock();
    let authority = TestAuthority::new(NOW);
    let server = authority.server_config(&clock);
    let client = authority.client_config(Some(&authority.trading()), &clock);
    assert_eq!(connect(&client, &server).server_code(), None);
    hand.advance(7 * DAY);
    // The list has run out, the certificate has not.
    assert_eq!(
        connect(&client, &server).server_code(),
        Some(Code::CertificateUntrusted)
    );
    hand.advance(23 * DAY + std::time::Duration::from_secs(1));
    let (frozen, _hand) = crate::wire::clock();
    let patient = authority.client_config(Some(&authority.trading()), &frozen);
    assert_eq!(
        connect(&patient, &server).server_code(),
        Some(Code::CertificateExpired)
    );
}

#[test]
fn a_client_of_tls_1_2_is_refused() {
    let (clock, _hand) = clock();
    let authority = TestAuthority::new(NOW);
    let mut roots = rustls::RootCertStore::empty();
    for root in keywright_tls::certificates(authority.certificate_pem().as_bytes()).unwrap() {
        roots.add(root).unwrap();
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let old = rustls::ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&rustls::version::TLS12])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let outcome = connect(&Arc::new(old), &authority.server_config(&clock));
    assert_eq!(outcome.server_code(), Some(Code::HandshakeFailed));
    let error = outcome.client.err();
    let expected = rustls::AlertDescription::ProtocolVersion;
    assert_eq!(error, Some(rustls::Error::AlertReceived(expected)));
}

#[test]
fn a_foreign_protocol_is_refused_and_none_at_all_means_http_1() {
    let (clock, _hand) = clock();
    let authority = TestAuthority::new(NOW);
    let trading = authority.trading();
    let with_alpn = |protocols: &[&[u8]]| {
        let mut config = (*authority.client_config(Some(&trading), &clock)).clone();
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        connect(&Arc::new(config), &authority.server_config(&clock))
    };
    assert_eq!(
        with_alpn(&[b"smtp"]).server_code(),
        Some(Code::HandshakeFailed)
    );
    assert_eq!(
        with_alpn(&[b"h3", b"H2"]).server_code(),
        Some(Code::HandshakeFailed)
    );
    for (offer, agreed) in [
        (&[][..], Protocol::Http1),
        (&[&b"http/1.1"[..]][..], Protocol::Http1),
        (&[&b"http/1.1"[..], b"h2"][..], Protocol::Http2),
        (&[&b"h3"[..], b"h2"][..], Protocol::Http2),
    ] {
        let (server, _) = with_alpn(offer).established();
        assert_eq!(Protocol::negotiated(server.alpn_protocol()), Some(agreed));
    }
    assert_eq!(Protocol::negotiated(Some(b"h3")), None);
}

#[test]
fn a_configuration_without_a_protocol_is_refused() {
    let (clock, _hand) = clock();
    let authority = TestAuthority::new(NOW);
    let identity = server_identity(&authority.server()).unwrap();
    let server = server_config(identity, authority.trust(&clock), &[]);
    assert!(matches!(server, Err(keywright_tls::Error::NoProtocol)));
    let client = client_config(authority.certificate_pem().as_bytes(), None, &[], &clock);
    assert!(matches!(client, Err(keywright_tls::Error::NoProtocol)));
}

#[test]
fn a_client_refuses_a_server_of_another_name() {
    let (clock, _hand) = clock();
    let authority = TestAuthority::new(NOW);
    let client = authority.client_config(Some(&authority.trading()), &clock);
    let server = authority.server_config(&clock);
    for name in [
        "localhos",
        "sub.localhost",
        "example.org",
        "127.0.0.2",
        "::2",
    ] {
        let outcome = connect_to(name, &client, &server);
        assert_eq!(
            outcome.client_code(),
            Some(Code::CertificateUntrusted),
            "{name}"
        );
        assert_eq!(outcome.server_code(), Some(Code::HandshakeFailed), "{name}");
    }
    for name in ["localhost", "127.0.0.1", "::1"] {
        connect_to(name, &client, &server).established();
    }
}

#[test]
fn a_client_refuses_a_server_of_another_authority_or_out_of_date_or_with_a_client_certificate() {
    let (clock, hand) = clock();
    let authority = TestAuthority::new(NOW);
    let client = authority.client_config(Some(&authority.trading()), &clock);
    let other = TestAuthority::named("Other CA", NOW);
    let foreign = connect(&client, &other.server_config(&clock));
    assert_eq!(foreign.client_code(), Some(Code::CertificateUntrusted));
    // Under the trusted name and another key the signature is what fails.
    let posing = TestAuthority::new(NOW);
    let foreign = connect(&client, &posing.server_config(&clock));
    assert_eq!(foreign.client_code(), Some(Code::HandshakeFailed));

    let protocols = [Protocol::Http2];
    let posing = server_identity(&authority.client("localhost", "Trading", None)).unwrap();
    let posing = server_config(posing, authority.trust(&clock), &protocols).unwrap();
    let refused = connect(&client, &posing).client_code();
    assert_eq!(refused, Some(Code::CertificateUntrusted));

    let server = authority.server_config(&clock);
    hand.advance(31 * DAY);
    let refused = connect(&client, &server).client_code();
    assert_eq!(refused, Some(Code::CertificateExpired));
}

#[test]
fn nothing_is_resumed_and_no_ticket_is_sent() {
    let (clock, _hand) = clock();
    let authority = TestAuthority::new(NOW);
    let server = authority.server_config(&clock);
    let mut eager = (*authority.client_config(Some(&authority.trading()), &clock)).clone();
    eager.resumption = rustls::client::Resumption::in_memory_sessions(8);
    eager.enable_early_data = true;
    let eager = Arc::new(eager);
    for _ in 0..3 {
        let (server_end, mut client_end) = connect(&eager, &server).established();
        assert_eq!(
            server_end.handshake_kind(),
            Some(rustls::HandshakeKind::Full)
        );
        assert_eq!(client_end.tls13_tickets_received(), 0);
        assert!(client_end.early_data().is_none());
    }
    assert_eq!(server.send_tls13_tickets, 0);
    assert_eq!(server.max_early_data_size, 0);
    assert!(!server.session_storage.can_cache());
    assert!(!server.ticketer.enabled());
}

#[test]
fn a_tls_1_3_handshake_uses_x25519_unless_the_client_puts_the_hybrid_first() {
    let (clock, _hand) = clock();
    let authority = TestAuthority::new(NOW);
    let trading = authority.trading();
    let ours = authority.client_config(Some(&trading), &clock);
    let (server, _) = connect(&ours, &authority.server_config(&clock)).established();
    let group = server.negotiated_key_exchange_group().unwrap().name();
    assert_eq!(group, NamedGroup::X25519);

    let mut provider = rustls::crypto::aws_lc_rs::default_provider();
    provider.kx_groups = vec![rustls::crypto::aws_lc_rs::kx_group::X25519MLKEM768];
    let mut roots = rustls::RootCertStore::empty();
    for root in keywright_tls::certificates(authority.certificate_pem().as_bytes()).unwrap() {
        roots.add(root).unwrap();
    }
    let key = keywright_tls::private_key(trading.key_pem.expose()).unwrap();
    let mut modern = rustls::ClientConfig::builder_with_provider(Arc::new(provider))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .unwrap()
        .with_root_certificates(roots)
        .with_client_auth_cert(crate::wire::chain(&trading), key.expose().clone_key())
        .unwrap();
    modern.time_provider = ours.time_provider.clone();
    let (server, _) = connect(&Arc::new(modern), &authority.server_config(&clock)).established();
    let group = server.negotiated_key_exchange_group().unwrap().name();
    assert_eq!(group, NamedGroup::X25519MLKEM768);
}

#[test]
fn a_certificate_without_its_key_does_not_get_in() {
    let (clock, _hand) = clock();
    let authority = TestAuthority::new(NOW);
    let (victim, thief) = (authority.trading(), authority.web_2fa());
    // The honest way to build this is refused.
    let mixed = keywright_tls::ClientIdentity::from_pem(
        victim.certificate_pem.as_bytes(),
        thief.key_pem.expose(),
    );
    assert!(matches!(mixed, Err(keywright_tls::Error::KeyMismatch)));
    // The dishonest way fails at the proof of possession.
    let key = keywright_tls::private_key(thief.key_pem.expose()).unwrap();
    let key = rustls::crypto::aws_lc_rs::sign::any_supported_type(key.expose()).unwrap();
    let stolen = rustls::sign::CertifiedKey::new(crate::wire::chain(&victim), key);
    let mut config = (*authority.client_config(Some(&victim), &clock)).clone();
    config.client_auth_cert_resolver = Arc::new(rustls::sign::SingleCertAndKey::from(stolen));
    let outcome = connect(&Arc::new(config), &authority.server_config(&clock));
    assert_eq!(outcome.server_code(), Some(Code::HandshakeFailed));
}

#[test]
fn two_trusted_authorities_with_one_name_are_told_apart_by_their_keys() {
    let (clock, _hand) = clock();
    let (first, second) = (TestAuthority::new(NOW), TestAuthority::new(NOW));
    let anchors = [first.certificate_pem(), second.certificate_pem()].concat();
    let lists = [second.crl_pem(), first.crl_pem()].concat();
    let trust = ClientTrust::new(anchors.as_bytes(), lists.as_bytes(), clock.clone()).unwrap();
    let trust = Arc::new(trust);
    let identity = server_identity(&first.server()).unwrap();
    let server = server_config(identity, Arc::clone(&trust), &[Protocol::Http2]).unwrap();
    for authority in [&first, &second] {
        let client = client_config(
            first.certificate_pem().as_bytes(),
            Some(client_identity(&authority.trading()).unwrap()),
            &[Protocol::Http2],
            &clock,
        )
        .unwrap();
        let (end, _) = connect(&client, &server).established();
        let credential = trust.verify(end.peer_certificates().unwrap(), NOW).unwrap();
        assert_eq!(credential.anchor, authority.authority().spki_sha256());
        let revoked = trust.verify(&crate::wire::chain(authority.revoked()), NOW);
        assert_eq!(revoked, Err(keywright_tls::Refusal::Revoked));
    }
}

#[test]
fn noise_instead_of_a_hello_is_a_failed_handshake() {
    let (clock, _hand) = clock();
    let config = TestAuthority::new(NOW).server_config(&clock);
    for noise in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        &[0x16, 3, 1, 0, 4, 1, 0, 0, 0],
        &[0xff; 64],
    ] {
        let mut server = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
        server.read_tls(&mut &*noise).unwrap();
        let error = server.process_new_packets().unwrap_err();
        assert_eq!(refusal_of(&error), Code::HandshakeFailed);
    }
}

#[test]
fn an_expired_anchor_ends_the_trust_in_its_clients() {
    let (clock, _hand) = clock();
    let authority = TestAuthority::new(NOW);
    let later = NOW.plus(AUTHORITY_LIFE).plus(DAY);
    let list = authority
        .authority()
        .revocation_list(&[], 2, later, later.plus(DAY))
        .unwrap();
    // A client that outlives its authority: only a hostile recipe writes one.
    let mut recipe = authority.recipe("survivor-1");
    recipe.not_after = later.plus(DAY);
    let client = authority.hostile(&recipe);
    let anchors = authority.certificate_pem().as_bytes();
    let trust = ClientTrust::new(anchors, list.as_bytes(), clock).unwrap();
    let chain = crate::wire::chain(&client);
    assert!(trust.verify(&chain, NOW).is_ok());
    assert_eq!(
        trust.verify(&chain, later),
        Err(keywright_tls::Refusal::AnchorNotValid)
    );
}
