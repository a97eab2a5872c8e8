//! The variants of Ed25519 against the vectors of RFC 8032.

use keywright_encoding::hex;
use keywright_hsm::pairs::{self, Leaving, Namesakes, NewKey};
use keywright_hsm::signing::{self, Check, How, Scheme};
use keywright_hsm::{Curve, Desk, Error, KeyChoice, PairKind, Purpose};
use keywright_pkcs11::KeyPlan;
use keywright_pkcs11_names::{AttributeType, KeyType};
use keywright_tokens::{Kind, on_each};

use crate::audit::desk;

/// Brings a private key into the token.
fn imported(desk: &Desk, label: &str, seed: &str) {
    let plan = KeyPlan::new(Purpose::Sign)
        .label(label)
        .id(label.as_bytes());
    let seed = hex::decode(seed).unwrap();
    let template = plan
        .private(KeyType::EC_EDWARDS.value())
        .bytes(AttributeType::EC_PARAMS, Curve::Ed25519.parameters())
        .bytes(AttributeType::VALUE, &seed);
    desk.session().import(&template, Purpose::Sign).unwrap();
}

fn signed(desk: &mut Desk, label: &str, how: How<'_>, message: &str) -> Result<String, Error> {
    let message = hex::decode(message).unwrap();
    let choice = KeyChoice::label(label);
    let (signature, _) = signing::sign(desk, &choice, (how, Check::None), &mut message.as_slice())?;
    Ok(hex::encode(&signature))
}

#[test]
fn ed25519_with_a_context_and_pre_hashed_signs_the_vectors_of_the_rfc() {
    on_each(|store| {
        let mut desk = desk(store);
        if store.kind() == Kind::SoftHsm {
            let new = NewKey {
                label: "own",
                id: None,
                purpose: Purpose::Sign,
                leaving: Leaving::Forbid,
                namesakes: Namesakes::Refuse,
            };
            pairs::generate(&desk, PairKind::Curve(Curve::Ed25519), &new).unwrap();
            let with = How {
                context: b"foo",
                ..How::default()
            };
            let refused = signed(&mut desk, "own", with, "00").unwrap_err();
            assert!(matches!(refused, Error::NoParameter { .. }), "{refused}");
            assert!(signed(&mut desk, "own", How::default(), "00").is_ok());
            return;
        }
        // RFC 8032, 7.2 and 7.3.
        imported(
            &desk,
            "ctx",
            "0305334e381af78f141cb666f6199f57bc3495335a256a95bd2a55bf546663f6",
        );
        imported(
            &desk,
            "ph",
            "833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
        );
        let data = "f726936d19c800494e3fdaff20b276a8";
        for (context, expected) in [
            (
                &b"foo"[..],
                "55a4cc2f70a54e04288c5f4cd1e45a7bb520b36292911876cada7323198dd87a8b36950b95130022907a7fb7c4e9b2d5f6cca685a587b4b21f4b888e4e7edb0d",
            ),
            (
                b"bar",
                "fc60d5872fc46b3aa69f8b5b4351d5808f92bcc044606db097abab6dbcb1aee3216c48e8b3b66431b5b186d1d28f8ee15a5ca2df6668346291c2043d4eb3e90d",
            ),
        ] {
            let how = How {
                context,
                ..How::default()
            };
            assert_eq!(signed(&mut desk, "ctx", how, data).unwrap(), expected);
        }
        let how = How {
            scheme: Some(Scheme::EddsaPh),
            ..How::default()
        };
        let hashed = signed(&mut desk, "ph", how, "616263").unwrap();
        assert_eq!(
            hashed,
            "98a70222f0b8121aa9d30f813d683f809e462b469c7ff87639499bb94e6dae4131f85042463c2a355a2003d062adf5aaa10b8c61e636062aaad11c2a26083406"
        );
        let pure = signed(&mut desk, "ph", How::default(), "616263").unwrap();
        assert_ne!(pure, hashed);
    });
}
