//! Every way a call can fail has its own error; what can be repaired is.

use std::sync::atomic::Ordering;
use std::time::Duration;

use http::Method;
use keywright_client::{Batching, Client, Error, Open, Seal, Settings, TlsFailure};
use keywright_clock::Clock;
use keywright_network::ca::TestAuthority;
use keywright_server::transport::Limits;
use keywright_tls::Protocol;
use keywright_types::{Code, Name, RequestId};
use rustls::AlertDescription as Alert;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use crate::fixture::{BOTH, PKI, REQUEST, Service, context, run};

#[test]
fn a_refusal_carries_status_code_sentence_and_request() {
    run(async {
        let service = Service::start(Limits::default());
        let missing: Name = "missing".parse().unwrap();
        for protocol in BOTH {
            let client = Client::connect(service.settings(protocol)).await.unwrap();
            let seal = Seal {
                plaintext: b"x",
                aad: None,
            };
            let batching = Batching::default();
            let single = client.encrypt(&missing, seal).await.unwrap_err();
            let batch = client
                .encrypt_items(&missing, &[seal; 5], batching)
                .await
                .unwrap_err();
            for error in [single, batch] {
                assert_eq!(error.code(), Some(Code::ContextNotFound));
                let Error::Refused(refused) = error else {
                    panic!("{error}");
                };
                assert_eq!(refused.status.as_u16(), 404);
                assert_eq!(refused.request, Some(RequestId::from_bytes(REQUEST)));
                assert!(
                    refused.message.starts_with("there is no context"),
                    "{refused}"
                );
            }
            let open = Open {
                ciphertext: b"foreign",
                aad: None,
            };
            let error = client.decrypt(&context(), open).await.unwrap_err();
            assert_eq!(error.code(), Some(Code::DecryptionFailed));
        }
        service.end().await;
    });
}

#[test]
fn the_servers_alert_about_our_certificate_is_named() {
    run(async {
        let service = Service::start(Limits::default());
        let authority = &PKI.authority;
        let stranger = TestAuthority::named("Other CA", Clock::system().wall()).trading();
        let expired = authority.expired();
        for protocol in BOTH {
            for (issued, alert) in [
                (None, Alert::CertificateRequired),
                (Some(&stranger), Alert::UnknownCA),
                (Some(&expired), Alert::CertificateExpired),
                (Some(authority.revoked()), Alert::CertificateRevoked),
            ] {
                let tls = PKI.tls_with(issued, authority.certificate_pem(), protocol);
                let settings = service.settings_with(tls);
                let error = match Client::connect(settings).await {
                    Ok(client) => client.health().await.unwrap_err(),
                    Err(error) => error,
                };
                assert!(
                    matches!(&error, Error::Tls(TlsFailure::Alert(found)) if *found == alert),
                    "{protocol:?} {alert:?}: {error:?}"
                );
            }
        }
        assert_eq!(service.requests(), 0);
        service.end().await;
    });
}

#[test]
fn a_server_we_do_not_trust_is_not_called() {
    run(async {
        let service = Service::start(Limits::default());
        let other = TestAuthority::named("Other CA", Clock::system().wall());
        let ours = PKI.authority.trading();
        let tls = PKI.tls_with(Some(&ours), other.certificate_pem(), Protocol::Http2);
        let foreign_root = Client::connect(service.settings_with(tls))
            .await
            .unwrap_err();
        let settings = service.settings(Protocol::Http2);
        let settings = settings.with_server_name("elsewhere.example").unwrap();
        let wrong_name = Client::connect(settings).await.unwrap_err();
        for error in [foreign_root, wrong_name] {
            assert!(
                matches!(error, Error::Tls(TlsFailure::ServerUntrusted)),
                "{error:?}"
            );
        }
        assert_eq!(service.connections(), 0);
        service.end().await;
    });
}

#[test]
fn nobody_there_and_nobody_speaking_are_different_errors() {
    run(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        let url = format!("https://localhost:{}", addr.port());
        let settings = || {
            let settings = Settings::new(&url, PKI.tls(Protocol::Http2)).unwrap();
            settings
                .with_address(addr)
                .with_timeout(Duration::from_secs(2))
        };
        let silent = Client::connect(settings()).await.unwrap_err();
        assert!(matches!(silent, Error::Timeout), "{silent:?}");
        let garbage = async {
            let (mut tcp, _) = listener.accept().await.unwrap();
            // The connection that timed out is still in the queue.
            let (mut second, _) = listener.accept().await.unwrap();
            let _ = tcp.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
            second
                .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                .await
                .unwrap();
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        let (plain, ()) = tokio::join!(Client::connect(settings()), garbage);
        assert!(
            matches!(plain, Err(Error::Tls(TlsFailure::Handshake))),
            "{plain:?}"
        );
        drop(listener);
        let nobody = Client::connect(settings()).await.unwrap_err();
        let Error::Connect(error) = nobody else {
            panic!("{nobody:?}");
        };
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused);
    });
}

#[test]
fn an_answer_that_does_not_come_is_a_timeout_and_the_next_call_works() {
    run(async {
        let service = Service::start(Limits::default());
        for protocol in BOTH {
            let settings = service.settings(protocol);
            let settings = settings.with_timeout(Duration::from_secs(2));
            let client = Client::connect(settings).await.unwrap();
            let error = client.call(Method::GET, "/hang", "").await.unwrap_err();
            assert!(matches!(error, Error::Timeout), "{error:?}");
            client.health().await.unwrap();
        }
        service.end().await;
    });
}

#[test]
fn an_answer_larger_than_the_limit_is_not_taken() {
    run(async {
        let service = Service::start(Limits::default());
        for protocol in BOTH {
            let settings = service.settings(protocol);
            let exact = Client::connect(settings.clone().with_answer_bytes(100_000));
            let answer = exact.await.unwrap().call(Method::GET, "/large", "").await;
            assert_eq!(answer.unwrap().body.len(), 100_000);
            let less = Client::connect(settings.with_answer_bytes(99_999));
            let error = less.await.unwrap().call(Method::GET, "/large", "").await;
            assert!(matches!(error, Err(Error::Answer)), "{error:?}");
        }
        service.end().await;
    });
}

#[test]
fn a_connection_that_the_server_ended_is_replaced_by_the_next_call() {
    run(async {
        let limits = Limits {
            idle_timeout: Duration::from_millis(300),
            ..Limits::default()
        };
        let service = Service::start(limits);
        for protocol in BOTH {
            let before = service.connections();
            let client = Client::connect(service.settings(protocol)).await.unwrap();
            client.health().await.unwrap();
            // A busy machine looks late for connections that wait.
            for _ in 0..10 {
                tokio::time::sleep(Duration::from_millis(1200)).await;
                client.health().await.unwrap();
                if service.connections() - before == 2 {
                    break;
                }
            }
            assert_eq!(service.connections() - before, 2);
        }
        service.end().await;
    });
}

#[test]
fn a_restarted_server_is_found_again() {
    run(async {
        for protocol in BOTH {
            let first = Service::start(Limits::default());
            let addr = first.addr;
            let client = Client::connect(first.settings(protocol)).await.unwrap();
            client.health().await.unwrap();
            first.end().await;
            let error = client.health().await.unwrap_err();
            assert!(matches!(error, Error::Connect(_)), "{error:?}");
            let second = Service::listen(addr, Limits::default());
            client.health().await.unwrap();
            assert_eq!(second.requests(), 1);
            second.end().await;
        }
    });
}

#[test]
fn a_connection_that_is_cut_in_the_middle_of_a_call_is_closed_and_the_call_not_repeated() {
    run(async {
        for protocol in BOTH {
            let service = Service::start(Limits::default());
            let client = Client::connect(service.settings(protocol)).await.unwrap();
            let call = {
                let client = client.clone();
                tokio::spawn(async move { client.call(Method::GET, "/hang", "").await })
            };
            while service.requests() == 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            service.state.welcome.store(false, Ordering::SeqCst);
            let error = call.await.unwrap().unwrap_err();
            assert!(matches!(error, Error::Closed), "{protocol:?} {error:?}");
            assert_eq!(service.requests(), 1);
            service.end().await;
        }
    });
}

#[test]
fn a_door_that_is_shut_is_a_closed_connection() {
    run(async {
        let service = Service::start(Limits::default());
        service.state.door_open.store(false, Ordering::SeqCst);
        for protocol in BOTH {
            let client = Client::connect(service.settings(protocol)).await.unwrap();
            let error = client.health().await.unwrap_err();
            assert!(matches!(error, Error::Closed), "{protocol:?} {error:?}");
        }
        service.end().await;
    });
}

#[test]
fn only_a_plain_https_origin_is_a_url() {
    let tls = PKI.tls(Protocol::Http2);
    for good in [
        "https://localhost",
        "https://localhost:1/",
        "https://[::1]:8443",
        "https://127.0.0.1:1",
    ] {
        assert!(Settings::new(good, tls.clone()).is_ok(), "{good}");
    }
    for bad in [
        "",
        "localhost:8443",
        "http://localhost",
        "https://",
        "https://localhost/path",
        "https://localhost/?query",
        "https://user@localhost",
        "https://user:password@localhost",
        "https://local host",
        "https://localhost:99999",
        "ftp://localhost",
    ] {
        assert!(
            matches!(Settings::new(bad, tls.clone()), Err(Error::Url)),
            "{bad}"
        );
    }
}

#[test]
fn a_path_that_is_none_is_not_sent() {
    run(async {
        let service = Service::start(Limits::default());
        let client = Client::connect(service.settings(Protocol::Http1))
            .await
            .unwrap();
        for path in ["/a b", "/a\r\nx: y", "/\0"] {
            let error = client.call(Method::GET, path, "").await.unwrap_err();
            assert!(matches!(error, Error::Request), "{path:?} {error:?}");
        }
        assert_eq!(service.requests(), 0);
        service.end().await;
    });
}
