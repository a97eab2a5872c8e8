//! Files that cannot be used, and errors that name the file's role and nothing from inside.

use keywright_network::ca::TestAuthority;
use keywright_tls::{
    ClientIdentity, Error, Protocol, Role, ServerIdentity, certificates, client_config,
    describe_certificate, private_key, revocation_lists,
};

use crate::wire::{NOW, clock};

#[test]
fn a_file_of_another_kind_is_named_by_its_role() {
    let authority = TestAuthority::new(NOW);
    let server = authority.server();
    let (certificate, key) = (server.certificate_pem.as_bytes(), server.key_pem.expose());
    assert!(matches!(
        certificates(key),
        Err(Error::Empty(Role::Certificate))
    ));
    assert!(matches!(
        private_key(certificate),
        Err(Error::Empty(Role::PrivateKey))
    ));
    assert!(matches!(
        revocation_lists(key),
        Err(Error::Empty(Role::RevocationLists))
    ));
    assert!(matches!(
        describe_certificate(key),
        Err(Error::Empty(Role::Certificate))
    ));
    let swapped = ServerIdentity::from_pem(key, certificate);
    assert!(matches!(swapped, Err(Error::Empty(Role::Certificate))));
    let roots = client_config(key, None, &[Protocol::Http2], &clock().0);
    assert!(matches!(roots, Err(Error::Empty(Role::ServerRoots))));
}

#[test]
fn damaged_pem_is_refused_and_the_message_holds_nothing_of_it() {
    let authority = TestAuthority::new(NOW);
    let pem = String::from_utf8(authority.trading().key_pem.expose().to_vec()).unwrap();
    let secret_line = pem.lines().nth(1).unwrap().to_owned();
    for bad in [
        pem.replace("-----END", "-----FIN"),
        pem.replacen(&secret_line[..1], "!", 1).replacen(
            &secret_line,
            &format!("!{secret_line}"),
            1,
        ),
        pem.replace(&secret_line, &format!("{secret_line}*")),
        pem.replace("-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY"),
    ] {
        let Err(error) = private_key(bad.as_bytes()) else {
            panic!("accepted");
        };
        let told = format!("{error} {error:?}");
        assert!(told.contains("private key") || told.contains("PrivateKey"));
        assert!(!told.contains(&secret_line[1..9]), "{told}");
    }
}

#[test]
fn two_private_keys_in_a_file_are_refused() {
    let authority = TestAuthority::new(NOW);
    let (one, two) = (authority.trading(), authority.trading());
    let both = [one.key_pem.expose(), two.key_pem.expose()].concat();
    assert!(matches!(
        private_key(&both),
        Err(Error::Several(Role::PrivateKey))
    ));
}

#[test]
fn a_key_that_is_no_key_is_refused() {
    let authority = TestAuthority::new(NOW);
    let certificate = authority.trading().certificate_pem;
    let noise = keywright_tls::issue::hostile::pem("PRIVATE KEY", &[0x30, 3, 2, 1, 0]);
    let identity = ClientIdentity::from_pem(certificate.as_bytes(), noise.as_bytes());
    assert!(matches!(
        identity,
        Err(Error::Unsupported(Role::PrivateKey))
    ));
}

#[test]
fn a_certificate_that_is_no_certificate_is_refused() {
    let authority = TestAuthority::new(NOW);
    let noise = keywright_tls::issue::hostile::pem("CERTIFICATE", b"\x30\x03\x02\x01\x00");
    let key = authority.trading().key_pem;
    let identity = ClientIdentity::from_pem(noise.as_bytes(), key.expose());
    assert!(matches!(identity, Err(Error::Malformed(Role::Certificate))));
    let described = describe_certificate(noise.as_bytes());
    assert!(matches!(
        described,
        Err(Error::Malformed(Role::Certificate))
    ));
    let roots = client_config(noise.as_bytes(), None, &[Protocol::Http2], &clock().0);
    assert!(matches!(roots, Err(Error::Malformed(Role::ServerRoots))));
    let list = authority.crl_pem();
    let trust = keywright_tls::ClientTrust::new(noise.as_bytes(), list.as_bytes(), clock().0);
    assert!(matches!(trust, Err(Error::Malformed(Role::ClientAnchors))));
}

#[test]
fn certificates_and_keys_may_share_a_file() {
    let authority = TestAuthority::new(NOW);
    let client = authority.trading();
    let both = [client.certificate_pem.as_bytes(), client.key_pem.expose()].concat();
    assert!(ClientIdentity::from_pem(&both, &both).is_ok());
}
