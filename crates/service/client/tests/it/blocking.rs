//! The blocking client, as the command line uses it.

use std::time::Duration;

use keywright_client::blocking::Client;
use keywright_client::{Batching, Open, Seal};
use keywright_server::transport::Limits;

use crate::fixture::{BOTH, Service, context};

#[test]
fn batches_go_through_without_a_runtime_of_the_callers() {
    let service = Service::start(Limits::default());
    for protocol in BOTH {
        let client = Client::connect(service.settings(protocol)).unwrap();
        let seal = Seal {
            plaintext: b"cell",
            aad: Some(b"row"),
        };
        let batching = Batching {
            items: 7,
            ..Batching::default()
        };
        let sealed = client
            .encrypt_items(&context(), &[seal; 100], batching)
            .unwrap();
        assert_eq!(sealed.len(), 100);
        for item in sealed {
            let open = Open {
                ciphertext: &item.unwrap().ciphertext,
                aad: Some(b"row"),
            };
            let opened = client.decrypt(&context(), open).unwrap();
            assert_eq!(opened.plaintext.expose(), b"cell");
        }
    }
}

#[test]
fn a_connection_that_ended_between_two_calls_is_replaced() {
    let limits = Limits {
        idle_timeout: Duration::from_millis(300),
        ..Limits::default()
    };
    let service = Service::start(limits);
    for protocol in BOTH {
        let client = Client::connect(service.settings(protocol)).unwrap();
        for pause in [0, 400, 1000, 1500] {
            std::thread::sleep(Duration::from_millis(pause));
            client.health().unwrap();
        }
    }
}
