//! Each route, single and in batches, over both protocols.

use http::{Method, StatusCode};
use keywright_api::answer::Readiness;
use keywright_client::{Batching, Client, Codec, Error, Open, Seal};
use keywright_server::transport::Limits;
use keywright_types::{Code, KeyVersion};

use crate::fixture::{BOTH, Service, context, run};

#[test]
fn every_typed_call_reaches_its_route_over_both_protocols_in_both_forms() {
    run(async {
        let service = Service::start(Limits::default());
        let forms = [Codec::Json, Codec::Cbor];
        for (protocol, codec) in BOTH.into_iter().flat_map(|p| forms.map(|form| (p, form))) {
            let settings = service.settings(protocol).with_codec(codec);
            let client = Client::connect(settings).await.unwrap();
            assert_eq!(client.protocol(), protocol);
            let context = context();
            let aad = Some(&b"row 7"[..]);
            let seal = Seal {
                plaintext: b"\0\xFFmessage",
                aad,
            };
            let sealed = client.encrypt(&context, seal).await.unwrap();
            assert_eq!(sealed.ciphertext, b"exchange-key|row 7|\0\xFFmessage");
            assert_eq!(sealed.key_version, KeyVersion::from_number(2));
            let open = Open {
                ciphertext: &sealed.ciphertext,
                aad,
            };
            let opened = client.decrypt(&context, open).await.unwrap();
            assert_eq!(opened.plaintext.expose(), b"\0\xFFmessage");
            let again = client.rewrap(&context, open).await.unwrap();
            assert_eq!(again.key_version, KeyVersion::from_number(3));

            let key = client.datakey(&context, None).await.unwrap();
            assert_eq!(key.plaintext.unwrap().expose(), [2; 32]);
            assert_eq!(key.not_after, "1970-01-01T00:00:00Z");
            let wrapped = client.datakey_wrapped(&context, None).await.unwrap();
            assert!(wrapped.plaintext.is_none());
            let open = Open {
                ciphertext: &wrapped.ciphertext,
                aad: None,
            };
            let key = client.datakey_open(&context, open).await.unwrap();
            assert_eq!(key.plaintext.expose(), [2; 32]);

            assert_eq!(client.random(33).await.unwrap().expose(), [4; 33]);
            assert!(client.contexts().await.unwrap().contexts.is_empty());
            assert_eq!(client.health().await.unwrap().status, Readiness::Ready);
        }
        assert_eq!(service.connections(), 4);
        service.end().await;
    });
}

#[test]
fn pipelined_batches_keep_the_order_and_each_item_its_own_result() {
    run(async {
        let service = Service::start(Limits::default());
        for (protocol, codec) in BOTH.into_iter().zip([Codec::Cbor, Codec::Json]) {
            let settings = service.settings(protocol).with_codec(codec);
            let client = Client::connect(settings).await.unwrap();
            let before = service.requests();
            let plain: Vec<String> = (0..2500)
                .map(|number| format!("message {number}"))
                .collect();
            let items: Vec<Seal<'_>> = plain
                .iter()
                .map(|text| Seal {
                    plaintext: text.as_bytes(),
                    aad: None,
                })
                .collect();
            let batching = Batching {
                items: 100,
                ..Batching::default()
            };
            let sealed = client
                .encrypt_items(&context(), &items, batching)
                .await
                .unwrap();
            assert_eq!(service.requests() - before, 25);
            let mut sealed: Vec<Vec<u8>> = sealed
                .into_iter()
                .map(|item| item.unwrap().ciphertext)
                .collect();
            sealed[1234] = b"not ours".to_vec();
            let open: Vec<Open<'_>> = sealed
                .iter()
                .map(|ciphertext| Open {
                    ciphertext,
                    aad: None,
                })
                .collect();
            let opened = client
                .decrypt_items(&context(), &open, batching)
                .await
                .unwrap();
            assert_eq!(opened.len(), plain.len());
            for (number, (result, plain)) in opened.into_iter().zip(&plain).enumerate() {
                match result {
                    Ok(opened) => assert_eq!(opened.plaintext.expose(), plain.as_bytes()),
                    Err(error) => {
                        assert_eq!((number, error.code()), (1234, Some(Code::DecryptionFailed)));
                    }
                }
            }
            let again = client
                .rewrap_items(&context(), &open[..10], batching)
                .await
                .unwrap();
            assert_eq!(again.len(), 10);
        }
        service.end().await;
    });
}

#[test]
fn a_refusal_is_read_in_the_form_it_comes_in() {
    run(async {
        let service = Service::start(Limits::default());
        for codec in [Codec::Json, Codec::Cbor] {
            let settings = service.settings(BOTH[0]).with_codec(codec);
            let client = Client::connect(settings).await.unwrap();
            let item = Seal {
                plaintext: b"message",
                aad: None,
            };
            let refused = client.encrypt(&"missing".parse().unwrap(), item).await;
            let Err(Error::Refused(refused)) = refused else {
                panic!("{refused:?}");
            };
            assert_eq!(refused.code, Some(Code::ContextNotFound));
            assert!(refused.request.is_some() && refused.message.contains("no context"));
            let open = Open {
                ciphertext: b"not ours",
                aad: None,
            };
            let failed = client.decrypt(&context(), open).await.unwrap_err();
            assert_eq!(failed.code(), Some(Code::DecryptionFailed));
        }
        service.end().await;
    });
}

#[test]
fn no_items_are_no_request() {
    run(async {
        let service = Service::start(Limits::default());
        let client = Client::connect(service.settings(BOTH[0])).await.unwrap();
        let none = client
            .encrypt_items(&context(), &[], Batching::default())
            .await;
        assert!(none.unwrap().is_empty());
        assert_eq!(service.requests(), 0);
        service.end().await;
    });
}

#[test]
fn many_calls_at_once_share_one_http2_connection_and_a_few_http1_connections() {
    run(async {
        let service = Service::start(Limits::default());
        let mut expected = 0;
        for (protocol, connections) in BOTH.into_iter().zip([1, 20]) {
            let client = Client::connect(service.settings(protocol)).await.unwrap();
            for _ in 0..2 {
                let calls: Vec<_> = (0..20)
                    .map(|_| {
                        let client = client.clone();
                        tokio::spawn(async move { client.random(5).await })
                    })
                    .collect();
                for call in calls {
                    assert_eq!(call.await.unwrap().unwrap().expose(), [4; 5]);
                }
            }
            // The second round of HTTP/1.1 finds the connections that were kept.
            expected += connections;
            let most = expected + if connections == 1 { 0 } else { 20 - 8 };
            let opened = service.connections();
            assert!((1..=most).contains(&opened), "{opened} {most}");
            if connections == 1 {
                assert_eq!(opened, 1);
            }
        }
        service.end().await;
    });
}

#[test]
fn a_raw_call_gives_any_status_and_its_code() {
    run(async {
        let service = Service::start(Limits::default());
        let client = Client::connect(service.settings(BOTH[0])).await.unwrap();
        let answer = client.call(Method::GET, "/v2/nothing", "").await.unwrap();
        assert_eq!(answer.status, StatusCode::NOT_FOUND);
        assert_eq!(answer.code, Some(Code::RouteNotFound));
        let answer = client.call(Method::GET, "/nonsense", "").await.unwrap();
        assert_eq!(
            (answer.status, answer.code),
            (StatusCode::IM_A_TEAPOT, None)
        );
        assert_eq!(&answer.body[..], b"<html>");
        let answer = client.call(Method::GET, "/v1/health", "").await.unwrap();
        assert_eq!(answer.code, Some(Code::Ok));
        service.end().await;
    });
}
