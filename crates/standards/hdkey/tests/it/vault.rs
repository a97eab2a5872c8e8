//! The layout of an Identus agent's secrets: what is right is taken, everything else refused by its reason.

use keywright_hdkey::Seed;
use keywright_hdkey::vault::{Export, Kind, Secret, VaultError, WalletId};
use keywright_primitives::hash::sha256;
use serde_json::{Value, json};

const WALLET: &str = "0f3c9a1e-7b2d-4c5e-8f90-1a2b3c4d5e6f";
const PEER: &str = "did:peer:2.Ez6LSghwSE437wnDE1pt3X6hVDUQzSjsHzinpX3XFvMjRAm7y";
const PRISM: &str = "did:prism:35fbaf7f8a68e927feb89dc897f4edc24ca8d7510261829e4834d931e947e6ca";
/// RFC 8037, appendix A, and RFC 7748, section 6.1.
const ED25519: &str = r#"{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;
const X25519: &str = r#"{"kty":"OKP","crv":"X25519","d":"dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo","x":"hSDwCYkwp1R0i33ctD73Wg2_Og0mOBr066SpjqqbTmo"}"#;

fn answer(value: &str, semantic_path: Option<&str>) -> Value {
    let custom = semantic_path.map(|path| json!({ "semanticPath": path }));
    json!({
        "data": { "value": value },
        "metadata": { "version": 3, "destroyed": false, "custom_metadata": custom },
    })
}

fn read(below: &str, value: &str, semantic_path: Option<&str>) -> Result<Kind, VaultError> {
    let path = format!("{WALLET}/{below}");
    let answer = answer(value, semantic_path).to_string();
    let secret = Secret::read(&path, answer.as_bytes())?;
    assert_eq!(secret.path(), path);
    assert_eq!(secret.wallet().as_str(), WALLET);
    assert_eq!(secret.value().expose(), value.as_bytes());
    assert_eq!(secret.semantic_path(), semantic_path);
    assert_eq!(secret.seed().is_some(), secret.kind() == Kind::Seed);
    Ok(secret.kind())
}

fn hash(text: &str) -> String {
    keywright_encoding::hex::encode(&sha256(text.as_bytes()))
}

#[test]
fn both_forms_of_every_path_are_taken() {
    let seed = "0123456789abcdef".repeat(8);
    assert_eq!(read("seed", &seed, None), Ok(Kind::Seed));
    let operation = hash("operation");
    for (family, original, value, kind) in [
        (
            "dids/peer",
            format!("{PEER}/keys/agreement"),
            X25519,
            Kind::PeerKey,
        ),
        (
            "dids/peer",
            format!("{PEER}/keys/authentication"),
            ED25519,
            Kind::PeerKey,
        ),
        (
            "dids/prism",
            format!("{PRISM}/keys/key-1/{operation}"),
            ED25519,
            Kind::PrismKey,
        ),
        (
            "generic-secrets",
            "link-secret/default".to_owned(),
            r#"{"ms":"1"}"#,
            Kind::LinkSecret,
        ),
        (
            "generic-secrets",
            format!("credential-definitions/{WALLET}"),
            r#"{"p_key":{}}"#,
            Kind::CredentialDefinition,
        ),
    ] {
        let speaking = format!("{family}/{original}");
        assert_eq!(read(&speaking, value, None), Ok(kind), "{speaking}");
        let hashed = format!("{family}/{}", hash(&original));
        assert_eq!(read(&hashed, value, Some(&original)), Ok(kind), "{hashed}");
        // Without the original only the family is known.
        let kind = match family {
            "generic-secrets" => Kind::Generic,
            _ => kind,
        };
        assert_eq!(read(&hashed, value, None), Ok(kind), "{hashed}");
        let other = Some("link-secret/other");
        assert_eq!(read(&hashed, value, other), Err(VaultError::SemanticPath));
        let both = read(&speaking, value, Some(&original));
        assert_eq!(both, Err(VaultError::SemanticPath));
    }
}

#[test]
fn the_seed_that_is_read_is_the_one_that_was_written() {
    let digits = "0123456789abcdef".repeat(8);
    let answer = answer(&digits, None).to_string();
    let secret = Secret::read(&format!("{WALLET}/seed"), answer.as_bytes()).unwrap();
    let expected = Seed::raw(&keywright_encoding::hex::decode(&digits).unwrap()).unwrap();
    assert_eq!(secret.seed().unwrap().expose(), expected.expose());
    assert!(!format!("{secret:?}").contains("0123456789abcdef0123"));
}

#[test]
fn paths_of_others_are_refused() {
    let seed = "00".repeat(64);
    for bad in [
        "",
        "seeds",
        "seed/",
        "seed/1",
        "Seed",
        "dids/peer",
        "dids/peer/",
        "dids/other/x/keys/agreement",
        "dids/peer/x/keys/signing",
        "dids/peer/x/keys",
        "dids/peer//keys/agreement",
        "dids/peer/x/key/agreement",
        "dids/prism/x/keys/a",
        "dids/prism/x/keys/a/zz",
        "dids/prism/x/keys/a/00/00",
        "generic-secrets/link-secret",
        "generic-secrets/link-secret/",
        "generic-secrets/other/x",
        "../seed",
    ] {
        assert_eq!(read(bad, &seed, None), Err(VaultError::Path), "{bad}");
    }
    let answer = answer(&seed, None).to_string();
    for bad in [
        "",
        "seed",
        "/seed",
        "0f3c9a1e7b2d4c5e8f901a2b3c4d5e6f/seed",
        "0F3C9A1E-7b2d-4c5e-8f90-1a2b3c4d5e6f/seed",
        "0f3c9a1e-7b2d-4c5e-8f90-1a2b3c4d5e6/seed",
        "0f3c9a1e-7b2d-4c5e-8f90-1a2b3c4d5e6f0/seed",
        "../../../../etc-7b2d-4c5e-8f90-1a2b3c4d5e/seed",
    ] {
        let refused = Secret::read(bad, answer.as_bytes()).map(drop);
        assert_eq!(refused, Err(VaultError::Path), "{bad}");
    }
    assert!(WalletId::parse(WALLET).is_ok());
    assert!(WalletId::parse("default").is_err());
}

#[test]
fn values_that_are_not_what_the_path_says_are_refused() {
    for bad in [
        "",
        "00",
        &"00".repeat(63),
        &"00".repeat(65),
        &"0A".repeat(64),
        &"zz".repeat(64),
        &format!(" {}", "00".repeat(64)),
    ] {
        assert_eq!(read("seed", bad, None), Err(VaultError::Seed));
    }
    let path = format!("dids/peer/{PEER}/keys/agreement");
    for bad in [
        "",
        "{}",
        "[]",
        "null",
        r#"{"crv":"X25519"}"#,
        &X25519.replace("X25519", "X448"),
        &X25519.replace("\"d\"", "\"D\""),
        &X25519.replace("dwdtCn", "dwdt+n"),
        &X25519.replace("25LCo", "25LC"),
        &X25519.replace("25LCo\"", "25LCo=\""),
    ] {
        assert_eq!(read(&path, bad, None), Err(VaultError::Jwk), "{bad}");
    }
    assert_eq!(
        read("generic-secrets/link-secret/1", "not JSON", None),
        Err(VaultError::Json)
    );
}

#[test]
fn t40_a_key_with_the_public_half_of_another_is_refused() {
    let path = format!("dids/peer/{PEER}/keys/authentication");
    // A public key of Ed25519 beside a private key of X25519, and one letter of either half.
    let swapped = X25519.replace("\"X25519\"", "\"Ed25519\"");
    let other = ED25519.replace("11qYAY", "11qYAZ");
    let private = ED25519.replace("nWGxne", "nWGxnf");
    for bad in [swapped, other, private] {
        assert_eq!(read(&path, &bad, None), Err(VaultError::Halves), "{bad}");
    }
}

#[test]
fn answers_of_another_form_are_refused() {
    let path = format!("{WALLET}/seed");
    let value = "00".repeat(64);
    for (bad, expected) in [
        (json!(null), VaultError::Form),
        (json!({}), VaultError::Form),
        (json!({ "data": null }), VaultError::Form),
        (json!({ "data": [value] }), VaultError::Form),
        (json!({ "data": {} }), VaultError::Fields),
        (json!({ "data": { "value": 1 } }), VaultError::Fields),
        (json!({ "data": { "seed": value } }), VaultError::Fields),
        (
            json!({ "data": { "value": value, "more": "x" } }),
            VaultError::Fields,
        ),
        (
            json!({ "data": { "value": value }, "metadata": { "custom_metadata": { "semanticPath": 1 } } }),
            VaultError::Form,
        ),
        (
            json!({ "data": { "value": "0".repeat(300 << 10) } }),
            VaultError::TooLarge,
        ),
    ] {
        let refused = Secret::read(&path, bad.to_string().as_bytes()).map(drop);
        assert_eq!(refused, Err(expected));
    }
    for bad in [&b""[..], b"{", b"\xFF", b"seed"] {
        assert!(Secret::read(&path, bad).is_err());
    }
}

#[test]
fn a_file_is_read_by_wallet_and_written_again_with_the_same_meaning() {
    let other = "11111111-2222-3333-4444-555555555555";
    let file = json!({
        format!("secret/{WALLET}/seed"): answer(&"ab".repeat(64), None),
        format!("{other}/seed"): answer(&"cd".repeat(64), None),
        format!("{WALLET}/dids/peer/{}", hash("x/keys/agreement")):
            answer(X25519, Some("x/keys/agreement")),
        format!("secret/{other}/generic-secrets/link-secret/a b"): answer("[1]", None),
    });
    let read = Export::read(file.to_string().as_bytes(), "secret").unwrap();
    assert_eq!(read.wallets.len(), 2);
    let written = Export::write(read.wallets.values().flatten());
    let again = Export::read(written.expose(), "secret").unwrap();
    assert_eq!(
        Export::write(again.wallets.values().flatten()).expose(),
        written.expose()
    );
    for (wallet, secrets) in &read.wallets {
        let same = &again.wallets[wallet];
        assert_eq!(secrets.len(), 2);
        for (one, other) in secrets.iter().zip(same) {
            assert_eq!(
                (one.path(), one.semantic_path(), one.value().expose()),
                (other.path(), other.semantic_path(), other.value().expose())
            );
        }
    }
}

#[test]
fn a_file_that_is_none_or_has_one_bad_secret_is_refused_with_its_path() {
    for bad in ["", "[]", "null", "{", "7"] {
        let refused = Export::read(bad.as_bytes(), "secret").map(drop);
        assert_eq!(refused, Err((None, VaultError::File)), "{bad}");
    }
    let path = format!("secret/{WALLET}/seed");
    let bad = json!({ path.clone(): answer("00", None) }).to_string();
    let refused = Export::read(bad.as_bytes(), "secret").map(drop);
    assert_eq!(refused, Err((Some(path.clone()), VaultError::Seed)));
    // With and without the mount it is one path.
    let seed = answer(&"00".repeat(64), None);
    let twice = json!({ path: seed, format!("{WALLET}/seed"): seed }).to_string();
    let refused = Export::read(twice.as_bytes(), "secret")
        .map(drop)
        .unwrap_err();
    assert_eq!(refused.1, VaultError::Twice);
    assert!(Export::read(b"{}", "secret").unwrap().wallets.is_empty());
}

#[test]
fn errors_show_nothing_of_a_secret() {
    let canary = "canary".repeat(20);
    for (path, value) in [
        ("seed", &canary),
        ("generic-secrets/link-secret/1", &canary),
    ] {
        let error = read(path, value, None).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("canary"));
    }
}
