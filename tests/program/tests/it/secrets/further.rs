//! Secrets in the routes beyond those that seal: signatures, codes, agreement, deterministic texts, tokens, streams,
//! wallets; in the routes for clients of the seed service and of Vault; in keys that are brought in and given out; and
//! in CBOR beside JSON.

use http::Method;
use keywright_api::Codec;
use keywright_custody::reader::{FormerName, NonceLen};
use keywright_custody::{Detail, ReaderDetail, TreeDetail};
use keywright_encoding::{base64, hex};
use keywright_home::{Answer, Imported, Order, Recipient, Wrapped};
use keywright_hpke::{Kem, PrivateKey};
use keywright_primitives::agreement::X25519PrivateKey;
use keywright_primitives::random::RandomStream;
use keywright_secret::SecretBytes;
use keywright_types::{Algorithm, BindingKind, Export, KeySpec, Operation, Origin, Purpose};

use super::{BODIES, Canary, Search};
use crate::fixture::*;
use crate::imports::{begin, check_of, wrap};
use crate::uses::{allow, spec};

/// Contexts of a kind each, and what the trader may do there.
const CONTEXTS: [(&str, &[Operation]); 8] = [
    ("signer", &[Operation::Sign, Operation::Verify]),
    ("codes", &[Operation::Mac, Operation::MacVerify]),
    ("partner", &[Operation::Agree]),
    (
        "lookup",
        &[
            Operation::DeterministicEncrypt,
            Operation::DeterministicDecrypt,
        ],
    ),
    (
        "cards",
        &[Operation::Tokenize, Operation::Detokenize, Operation::Mask],
    ),
    ("wallet", &[Operation::KeyExport]),
    ("brought", &[Operation::Encrypt, Operation::Decrypt]),
    (EXCHANGE, &[Operation::Encrypt, Operation::Decrypt]),
];

/// Routes and a context where each is allowed.
const ROUTES: [(&str, &str); 14] = [
    ("sign", "signer"),
    ("verify", "signer"),
    ("mac", "codes"),
    ("mac/verify", "codes"),
    ("agree", "partner"),
    ("deterministic/encrypt", "lookup"),
    ("deterministic/decrypt", "lookup"),
    ("tokenize", "cards"),
    ("detokenize", "cards"),
    ("mask", "cards"),
    ("key/export", "wallet"),
    ("encrypt/stream", EXCHANGE),
    ("decrypt/stream", EXCHANGE),
    ("key/approve", EXCHANGE),
];

fn random<const N: usize>() -> [u8; N] {
    RandomStream::new().unwrap().array().unwrap()
}

// === before anything is served ===

/// Opens the doors of other services, makes a context of every kind, brings keys in and gives one out.
pub(super) fn prepare(home: Home, search: &mut Search) -> Home {
    let home = home
        .configure("seed = false", "seed = true")
        .configure("vault_transit = false", "vault_transit = true");
    let site = Site::over(home);
    for (context, purpose, algorithm) in [
        ("signer", Purpose::Sign, Algorithm::Ed25519),
        ("codes", Purpose::Mac, Algorithm::HmacSha256),
        ("brought", Purpose::Seal, Algorithm::HmacSha256),
    ] {
        bring(&site, search, (context, purpose, algorithm));
    }
    crate::uses::make(
        site.node(),
        "partner",
        spec(Purpose::Agree, Algorithm::X25519),
        None,
    );
    crate::deterministic::make(&site, "lookup", BindingKind::None);
    let cards = crate::formats::cards("column", Some("last4"));
    crate::formats::create(site.node(), "cards", cards);
    let wallet = KeySpec {
        export: Export::Plain,
        ..spec(Purpose::Tree, Algorithm::Bip32Secp256k1)
    };
    let seed = Detail::Tree(TreeDetail {
        seed: "bip39".to_owned(),
        soft_children: false,
    });
    let words = crate::uses::make(site.node(), "wallet", wallet, Some(seed));
    search.plant("the words of a wallet", words.unwrap().as_bytes());
    for (context, operations) in CONTEXTS {
        allow(&site, context, operations, &[]);
    }
    read_in(&site, search);
    site.stop()
}

/// A key that comes as a file would, may leave, and leaves.
fn bring(
    site: &Site,
    search: &mut Search,
    (context, purpose, algorithm): (&str, Purpose, Algorithm),
) {
    let secret: [u8; 32] = random();
    search.plant("a key that was brought in", &secret);
    let made = site.node().carry_out(Order::ContextCreate {
        tenant: name("default"),
        name: name(context),
        binding: BindingKind::None,
        spec: KeySpec {
            origin: Origin::Imported,
            export: Export::Sealed,
            ..match purpose {
                Purpose::Seal => KeySpec::seal(),
                _ => spec(purpose, algorithm),
            }
        },
        rules: keywright_custody::Rules::default(),
        detail: None,
        secret: Some(Imported::new(&SecretBytes::from_vec(secret.to_vec()))),
    });
    assert!(
        matches!(made, Ok(Answer::ContextCreated { .. })),
        "{made:?}"
    );
    let recipient = PrivateKey::generate(Kem::X25519HkdfSha256).unwrap();
    let order = Order::KeyExport {
        tenant: name("default"),
        name: name(context),
        version: None,
        recipients: vec![Recipient::new(recipient.public_key())],
    };
    let Ok(Answer::SeedSealed { file }) = site.node().carry_out(order) else {
        panic!("{context} may leave")
    };
    search.look("a key that was given out", &base64::decode(&file).unwrap());
}

/// A wrapped key of the seed service, and another whose wrapping is refused.
fn read_in(site: &Site, search: &mut Search) {
    let secret: [u8; 32] = random();
    search.plant("a key of the seed service", &secret);
    for check in [[0; 5].to_vec(), check_of(&secret)] {
        let key = begin(site);
        let order = Order::ReaderImport {
            tenant: name("default"),
            name: name(EXCHANGE),
            reader: ReaderDetail {
                label: "kek-exchange-key-v1".to_owned(),
                context: EXCHANGE.to_owned(),
                name: FormerName::OrganizationalUnit,
                nonce: NonceLen::Sixteen,
                object: None,
            },
            wrapped: Some(Wrapped {
                import: key.id,
                key: base64::encode(&wrap(&key.pem, &secret)),
                check: hex::encode(&check),
            }),
        };
        let done = site.node().carry_out(order);
        assert_eq!(done.is_ok(), check == check_of(&secret));
        search.look("the answer of an import", format!("{done:?}").as_bytes());
    }
}

// === requests ===

/// One field of a body.
enum Field<'a> {
    Bytes(&'a [u8]),
    Text(&'a str),
    Number(u8),
}

use Field::{Bytes, Number, Text};

/// A body with these fields in one form: JSON has bytes as base64, CBOR (RFC 8949) as they are.
fn body(codec: Codec, fields: &[(&str, Field<'_>)]) -> Vec<u8> {
    if codec == Codec::Json {
        let fields = fields.iter().map(|(name, field)| match field {
            Bytes(bytes) => format!("\"{name}\":\"{}\"", base64::encode(bytes)),
            Text(text) => format!("\"{name}\":\"{text}\""),
            Number(number) => format!("\"{name}\":{number}"),
        });
        return format!("{{{}}}", fields.collect::<Vec<_>>().join(",")).into_bytes();
    }
    let mut out = vec![0xA0 | u8::try_from(fields.len()).unwrap()];
    for (name, field) in fields {
        string(&mut out, 3, name.as_bytes());
        match field {
            Bytes(bytes) => string(&mut out, 2, bytes),
            Text(text) => string(&mut out, 3, text.as_bytes()),
            Number(number) => out.push(*number),
        }
    }
    out
}

/// A string of bytes (major type 2) or of text (3), its length as short as can be.
fn string(out: &mut Vec<u8>, major: u8, bytes: &[u8]) {
    let head = major << 5;
    let length = u16::try_from(bytes.len()).unwrap();
    match u8::try_from(length) {
        Ok(short @ ..24) => out.push(head | short),
        Ok(length) => out.extend([head | 24, length]),
        Err(_) => {
            out.push(head | 25);
            out.extend(length.to_be_bytes());
        }
    }
    out.extend_from_slice(bytes);
}

fn ask(wire: &mut Wire, codec: Codec, path: &str, body: Vec<u8>) -> Got {
    send(wire, path, &[("content-type", codec.media_type())], body)
}

fn send(wire: &mut Wire, path: &str, headers: &[(&str, &str)], body: Vec<u8>) -> Got {
    let mut request = wire.request(Method::POST, path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request
        .body(http_body_util::Full::new(body.into()))
        .unwrap();
    wire.send_request(request).unwrap()
}

/// A conversation with one client, in which every answer is looked at.
struct Asking<'w> {
    wire: &'w mut Wire,
    search: &'w mut Search,
}

impl Asking<'_> {
    /// In both forms. The answer in JSON; what belongs into it is there in both, as each form has it.
    fn both(
        &mut self,
        (context, action): (&str, &str),
        fields: &[(&str, Field<'_>)],
        belongs: &str,
    ) -> Got {
        let answers = [Codec::Cbor, Codec::Json].map(|codec| {
            let got = ask(
                self.wire,
                codec,
                &path(context, action),
                body(codec, fields),
            );
            let place = format!("the answer of {action} as {}", codec.media_type());
            assert_eq!(got.status, 200, "{place}");
            self.search.look_except(&place, &got.body, belongs);
            let canaries = self.search.canaries.iter();
            let mut belonging = canaries.filter(|canary| canary.what == belongs);
            let is_there = belonging.any(|canary| canary.is_in(&got.body));
            assert!(is_there || belongs.is_empty(), "{place} lacks {belongs}");
            got
        });
        let [_, in_json] = answers;
        in_json
    }
}

/// Every further route, well and badly.
pub(super) fn use_secrets(
    connect: impl Fn() -> Wire,
    search: &mut Search,
    [plaintext, aad, malformed]: [&str; 3],
) {
    let both = (plaintext.as_bytes(), aad.as_bytes());
    use_secrets_well(&mut connect(), search, both.0, both.1);
    break_streams(&connect, search, both);
    use_secrets_badly(&connect, search, malformed);
}

/// Every further route with secrets where they may be. Each secret is in the one answer that was asked for it.
fn use_secrets_well(wire: &mut Wire, search: &mut Search, plaintext: &[u8], aad: &[u8]) {
    let mut asking = Asking { wire, search };
    sign_and_authenticate(&mut asking, plaintext);
    agree_and_export(&mut asking);
    seal_alike_and_tokenise(&mut asking, plaintext, aad);
    stream(&mut asking, plaintext, aad);
    as_the_seed_service(&mut asking, plaintext);
    as_vault(&mut asking, plaintext);
}

fn sign_and_authenticate(asking: &mut Asking<'_>, message: &[u8]) {
    let signed = asking.both(("signer", "sign"), &[("message", Bytes(message))], "");
    let signature = signed.binary("signature");
    let fields = [
        ("message", Bytes(message)),
        ("signature", Bytes(&signature)),
        ("key_version", Number(1)),
    ];
    assert_eq!(
        asking.both(("signer", "verify"), &fields, "").json()["valid"],
        true
    );
    let made = asking.both(("codes", "mac"), &[("message", Bytes(message))], "");
    let mac = made.binary("mac");
    let fields = [
        ("message", Bytes(message)),
        ("mac", Bytes(&mac)),
        ("key_version", Number(1)),
    ];
    let verified = asking.both(("codes", "mac/verify"), &fields, "");
    assert_eq!(verified.json()["valid"], true);
}

fn agree_and_export(asking: &mut Asking<'_>) {
    let peer = X25519PrivateKey::generate().unwrap();
    let public = peer.public_bytes().unwrap();
    let fields = || [("public_key", Bytes(&public))];
    let got = ask(
        asking.wire,
        Codec::Json,
        &path("partner", "agree"),
        body(Codec::Json, &fields()),
    );
    asking
        .search
        .plant("a shared secret", &got.binary("secret"));
    asking.both(("partner", "agree"), &fields(), "a shared secret");
    let wallet = "m/44'/0'/7'";
    let got = ask(
        asking.wire,
        Codec::Json,
        &path("wallet", "key/export"),
        body(Codec::Json, &[("path", Text(wallet))]),
    );
    let key = got.binary("private_key");
    asking.search.plant("the key of a wallet", &key);
    let fields = [("path", Text(wallet))];
    asking.both(("wallet", "key/export"), &fields, "the key of a wallet");
}

fn seal_alike_and_tokenise(asking: &mut Asking<'_>, plaintext: &[u8], aad: &[u8]) {
    let fields = [("plaintext", Bytes(plaintext)), ("aad", Bytes(aad))];
    let sealed = asking.both(("lookup", "deterministic/encrypt"), &fields, "");
    let sealed = sealed.binary("ciphertext");
    let fields = [("ciphertext", Bytes(&sealed)), ("aad", Bytes(aad))];
    asking.both(
        ("lookup", "deterministic/decrypt"),
        &fields,
        "the plaintext",
    );
    let card = card();
    asking.search.plant("a card", card.as_bytes());
    let made = asking.both(("cards", "tokenize"), &[("value", Text(&card))], "");
    let token = made.json()["token"].as_str().unwrap().to_owned();
    let fields = || [("token", Text(&token)), ("key_version", Number(1))];
    asking.both(("cards", "mask"), &fields(), "");
    asking.both(("cards", "detokenize"), &fields(), "a card");
}

/// A card number that nobody else has: sixteen digits, the last of them the check digit.
fn card() -> String {
    let digits = random::<15>().map(|byte| u32::from(byte) % 10);
    let weighed = digits.iter().enumerate().map(|(place, digit)| {
        let doubled = digit * if place % 2 == 0 { 2 } else { 1 };
        doubled / 10 + doubled % 10
    });
    let check = (10 - weighed.sum::<u32>() % 10) % 10;
    let all = digits.into_iter().chain([check]);
    all.map(|digit| digit.to_string()).collect()
}

fn stream(asking: &mut Asking<'_>, plaintext: &[u8], aad: &[u8]) {
    let text = base64::encode(aad);
    let headers = [("keywright-aad", text.as_str())];
    let sealed = send(
        asking.wire,
        &path(EXCHANGE, "encrypt/stream"),
        &headers,
        plaintext.to_vec(),
    );
    assert_eq!(sealed.status, 200);
    asking.search.look_at_answer("a sealed stream", &sealed);
    let sealed = sealed.body.to_vec();
    let back = path(EXCHANGE, "decrypt/stream");
    let opened = send(asking.wire, &back, &headers, sealed.clone());
    assert_eq!(opened.body, plaintext);
    asking
        .search
        .look_except("an opened stream", &opened.body, "the plaintext");
    for (name, value) in &opened.headers {
        asking
            .search
            .look(&format!("a stream, header {name}"), value.as_bytes());
    }
}

/// Streams that do not open: with what is no base64, with another's secret, with none; cut off, too. Each has a
/// connection of its own, because one that breaks off takes that along.
fn break_streams(
    connect: impl Fn() -> Wire,
    search: &mut Search,
    (plaintext, aad): (&[u8], &[u8]),
) {
    let text = base64::encode(aad);
    let sealed = send(
        &mut connect(),
        &path(EXCHANGE, "encrypt/stream"),
        &[("keywright-aad", text.as_str())],
        plaintext.to_vec(),
    );
    let sealed = sealed.body.to_vec();
    let plain = String::from_utf8_lossy(plaintext).into_owned() + "!";
    let other = base64::encode(plaintext);
    for (aad, body) in [
        (plain.as_str(), &sealed[..]),
        (&other, &sealed),
        ("", &sealed),
        (&text, &sealed[..sealed.len() - 1]),
        (&text, plaintext),
    ] {
        let mut wire = connect();
        let request = wire
            .request(Method::POST, &path(EXCHANGE, "decrypt/stream"))
            .header("keywright-aad", aad)
            .body(http_body_util::Full::new(body.to_vec().into()));
        match wire.send_request(request.unwrap()) {
            Ok(got) => search.look_at_answer("a stream that fails", &got),
            Err(error) => search.look("a stream that is cut", error.as_bytes()),
        }
    }
}

fn as_the_seed_service(asking: &mut Asking<'_>, plaintext: &[u8]) {
    let fields = [("context", Text(EXCHANGE)), ("plaintext", Bytes(plaintext))];
    let sealed = ask(
        asking.wire,
        Codec::Json,
        "/encrypt",
        body(Codec::Json, &fields),
    );
    assert_eq!(sealed.status, 200);
    asking.search.look_at_answer("the seed's encrypt", &sealed);
    let ciphertext = sealed.binary("ciphertext");
    let label = sealed.json()["key_id"].as_str().unwrap().to_owned();
    let open = |context| {
        let fields = [
            ("context", Text(context)),
            ("ciphertext", Bytes(&ciphertext)),
            ("key_id", Text(&label)),
        ];
        body(Codec::Json, &fields)
    };
    let opened = ask(asking.wire, Codec::Json, "/decrypt", open(EXCHANGE));
    assert_eq!(opened.binary("plaintext"), plaintext);
    asking
        .search
        .look_except("the seed's decrypt", &opened.body, "the plaintext");
    let refused = ask(asking.wire, Codec::Json, "/decrypt", open(TWO_FACTOR));
    assert_eq!(refused.status, 403);
    asking.search.look_at_answer("the seed's refusal", &refused);
}

fn as_vault(asking: &mut Asking<'_>, plaintext: &[u8]) {
    let got = send(asking.wire, "/v1/auth/cert/login", &[], Vec::new());
    let token = got.json()["auth"]["client_token"]
        .as_str()
        .unwrap()
        .to_owned();
    asking.search.plant("a login token", token.as_bytes());
    asking
        .search
        .look_except("the answer of a login", &got.body, "a login token");
    let headers = [("x-vault-token", token.as_str())];
    let transit = |action: &str| format!("/v1/transit/{action}/{EXCHANGE}");
    let fields = [("plaintext", Bytes(plaintext))];
    let sealed = send(
        asking.wire,
        &transit("encrypt"),
        &headers,
        body(Codec::Json, &fields),
    );
    assert_eq!(sealed.status, 200);
    asking.search.look_at_answer("transit's encrypt", &sealed);
    let sealed = sealed.json()["data"]["ciphertext"]
        .as_str()
        .unwrap()
        .to_owned();
    let open = body(Codec::Json, &[("ciphertext", Text(&sealed))]);
    let opened = send(asking.wire, &transit("decrypt"), &headers, open.clone());
    assert_eq!(
        opened.json()["data"]["plaintext"],
        base64::encode(plaintext)
    );
    asking
        .search
        .look_except("transit's decrypt", &opened.body, "the plaintext");
    let half = &token[..token.len() / 2];
    for token in [half, &(half.to_owned() + half), ""] {
        let headers = [("x-vault-token", token)];
        let got = send(asking.wire, &transit("decrypt"), &headers, open.clone());
        asking
            .search
            .look_except("transit with another token", &got.body, "the plaintext");
    }
}

/// Everything a caller can get wrong with a secret in hand, on the further routes and in both forms.
fn use_secrets_badly(connect: impl Fn() -> Wire, search: &mut Search, text: &str) {
    let mut wire = connect();
    let doors = ["/encrypt", "/decrypt", "/v1/auth/cert/login"].map(str::to_owned);
    let transit = ["encrypt", "decrypt", "hmac", "sign"];
    let transit = transit.map(|action| format!("/v1/transit/{action}/{EXCHANGE}"));
    let routes = ROUTES.map(|(action, context)| path(context, action));
    let places: Vec<_> = routes.into_iter().chain(doors).chain(transit).collect();
    for body in BODIES {
        let body = body
            .replace("BYTES", &base64::encode(text.as_bytes()))
            .replace("TEXT", text);
        for place in &places {
            let got = wire.post(place, body.clone());
            search.look_at_refusal(place, &got);
            // HTTP/1.1 has no other way to leave a body that nobody reads.
            if place.ends_with("/stream") {
                wire = connect();
            }
        }
    }
    let fields = || [("plaintext", Bytes(text.as_bytes())), (text, Text(text))];
    let whole = body(Codec::Cbor, &fields());
    for body in [&whole[..], &whole[..whole.len() - 1], text.as_bytes()] {
        for place in places
            .iter()
            .chain([&path(EXCHANGE, "encrypt"), &path(EXCHANGE, "decrypt")])
        {
            let got = ask(&mut connect(), Codec::Cbor, place, body.to_vec());
            search.look_at_refusal(place, &got);
        }
    }
}

impl Search {
    /// The answer of a place; a login needs no body, and gives the same token within its time.
    fn look_at_refusal(&mut self, place: &str, got: &Got) {
        match place.ends_with("/login") {
            true => self.look_except(place, &got.body, "a login token"),
            false => self.look_at_answer(place, got),
        }
    }

    fn plant(&mut self, what: &'static str, secret: &[u8]) {
        self.canaries.push(Canary::new(what, secret));
    }
}
