//! Wallets of Identus agents through `keywright hd vault`: from a file and from a store over TLS, whole or not
//! at all.

use keywright_clock::Clock;
use keywright_targets::store::standin::StandIn;
use serde_json::{Value, json};

use crate::hd::{Place, private, text};
use crate::program::{Ended, keywright};

const ONE: &str = "0f3c9a1e-7b2d-4c5e-8f90-1a2b3c4d5e6f";
const TWO: &str = "11111111-2222-3333-4444-555555555555";
/// RFC 8037, appendix A.
const ED25519: &str = r#"{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}"#;

fn hash(text: &str) -> String {
    keywright_encoding::hex::encode(&keywright_primitives::hash::sha256(text.as_bytes()))
}

/// Paths, values and originals of two wallets, one with paths that speak and one without.
fn secrets() -> Vec<(String, String, Option<String>)> {
    let original = "did:peer:2.Ez6/keys/authentication".to_owned();
    vec![
        (format!("{ONE}/seed"), "00".repeat(64), None),
        (
            format!("{ONE}/dids/peer/did:peer:2.Ez6/keys/authentication"),
            ED25519.to_owned(),
            None,
        ),
        (
            format!("{ONE}/generic-secrets/link-secret/default"),
            r#"{"ms":"1234"}"#.to_owned(),
            None,
        ),
        (format!("{TWO}/seed"), "ab".repeat(64), None),
        (
            format!("{TWO}/dids/peer/{}", hash(&original)),
            ED25519.to_owned(),
            Some(original),
        ),
    ]
}

fn file(secrets: &[(String, String, Option<String>)]) -> String {
    let entry = |(path, value, original): &(String, String, Option<String>)| {
        let custom = original
            .as_ref()
            .map(|path| json!({ "semanticPath": path }));
        let answer = json!({
            "data": { "value": value },
            "metadata": { "version": 1, "custom_metadata": custom },
        });
        (format!("secret/{path}"), answer)
    };
    let entries: serde_json::Map<String, Value> = secrets.iter().map(entry).collect();
    Value::Object(entries).to_string()
}

struct Scene {
    place: Place,
    out: String,
}

impl Scene {
    fn new() -> Self {
        let place = Place::empty();
        let out = place.folder.name("wallets");
        Self { place, out }
    }

    fn import(&self, source: &[&str], words: &[&str]) -> Ended {
        let fixed = ["hd", "vault", "import", "--out", &self.out];
        let end = ["--password-file", &self.place.password, "--profile", "fast"];
        keywright(&[&fixed[..], &end, source, words].concat())
    }

    fn take(&self, text: &str, words: &[&str]) -> Ended {
        let input = self.place.folder.write("export.json", text);
        self.import(&["--input", &input], words)
    }

    /// What lies in the folder of wallets.
    fn wallets(&self) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(&self.out) else {
            return Vec::new();
        };
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    fn key(&self, wallet: &str) -> Value {
        let seed = format!("{}/{wallet}/seed.kws", self.out);
        let words = [
            "hd",
            "public",
            "--seed-file",
            &seed,
            "--identus",
            "0/master/0",
        ];
        let end = ["--password-file", &self.place.password, "--format", "json"];
        keywright(&[&words[..], &end].concat()).document()
    }

    fn leave(&self, wallet: &str, words: &[&str]) -> Ended {
        let folder = format!("{}/{wallet}", self.out);
        let fixed = ["hd", "vault", "export", "--wallet", &folder];
        let end = ["--password-file", &self.place.password];
        keywright(&[&fixed[..], &end, words].concat())
    }
}

#[test]
fn wallets_of_a_file_get_a_folder_each_whose_seed_works() {
    let scene = Scene::new();
    let checked = scene.take(&file(&secrets()), &["--check", "--format", "json"]);
    let checked = checked.document();
    assert_eq!(
        (&checked["wallets"], &checked["imported"]),
        (&2.into(), &0.into())
    );
    assert!(scene.wallets().is_empty());
    let report = scene
        .take(&file(&secrets()), &["--format", "json"])
        .document();
    assert_eq!(report["imported"], 2);
    assert_eq!((&report["seeds"], &report["keys"]), (&2.into(), &2.into()));
    assert_eq!(report["other_secrets"], 1);
    assert_eq!(scene.wallets(), [ONE, TWO]);
    // The key over 64 zero bytes that others have computed, and its names.
    let key = scene.key(ONE);
    assert_eq!(text(&key, "seed_scheme"), "raw");
    let expected = Place::raw("never").json("public", &["--identus", "0/master/0"]);
    assert_eq!(key["public"], expected["public"]);
    assert_ne!(key["public"], scene.key(TWO)["public"]);
}

#[test]
fn what_was_taken_over_goes_back_byte_for_byte_if_it_may_leave() {
    let scene = Scene::new();
    scene
        .take(&file(&secrets()), &["--export", "plain"])
        .bytes();
    let mut back = serde_json::Map::new();
    for wallet in [ONE, TWO] {
        let out = scene.place.folder.name(&format!("{wallet}.json"));
        scene
            .leave(wallet, &["--out", &out])
            .refused(13, "not confirmed", "--yes");
        scene.leave(wallet, &["--out", &out, "--yes"]).bytes();
        scene
            .leave(wallet, &["--out", &out, "--yes"])
            .refused(13, "exists", "--out");
        let text = std::fs::read_to_string(&out).unwrap();
        let entries: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
        back.extend(entries);
    }
    assert_eq!(back.len(), 5);
    for (path, value, original) in secrets() {
        assert_eq!(back[&path]["data"]["value"], value);
        let custom = &back[&path]["metadata"]["custom_metadata"]["semanticPath"];
        assert_eq!(custom.as_str(), original.as_deref());
    }
    // Another home takes the file as it is.
    let other = Scene::new();
    other.take(&Value::Object(back).to_string(), &[]).bytes();
    assert_eq!(other.key(TWO)["public"], scene.key(TWO)["public"]);
    let out = other.place.folder.name("x.json");
    other
        .leave(ONE, &["--out", &out, "--yes"])
        .refused(13, "made to stay", "hd sign");
}

#[test]
fn a_wallet_that_exists_is_refused_or_left_alone_if_it_is_the_same() {
    let scene = Scene::new();
    let all = secrets();
    scene.take(&file(&all[..3]), &[]).bytes();
    let before = scene.key(ONE);
    scene
        .take(&file(&all), &[])
        .refused(13, "exists, and nothing was written", "--resume");
    assert_eq!(scene.wallets(), [ONE]);
    // What a run left that was killed is swept up.
    let left = format!("{}/{TWO}.new-0011223344556677", scene.out);
    std::fs::create_dir(&left).unwrap();
    let report = scene
        .take(&file(&all), &["--resume", "--format", "json"])
        .document();
    assert_eq!(
        (&report["imported"], &report["unchanged"]),
        (&1.into(), &1.into())
    );
    assert_eq!(scene.wallets(), [ONE, TWO]);
    assert_eq!(scene.key(ONE), before);
    let report = scene
        .take(&file(&all), &["--resume", "--format", "json"])
        .document();
    assert_eq!(
        (&report["imported"], &report["unchanged"]),
        (&0.into(), &2.into())
    );
    // Another seed, one secret less, another password: none is the same.
    let mut other = secrets();
    other[0].1 = "01".repeat(64);
    for changed in [&other[..], &all[1..]] {
        scene
            .take(&file(changed), &["--resume"])
            .refused(13, "exists", "--wallet");
    }
    let password = scene.place.folder.write("third-password", "third\n");
    private(&password);
    let input = scene.place.folder.name("export.json");
    let words = [
        "hd", "vault", "import", "--out", &scene.out, "--input", &input,
    ];
    keywright(&[&words[..], &["--password-file", &password, "--resume"]].concat())
        .refused(13, "exists", "--wallet");
    assert_eq!(scene.key(ONE), before);
}

#[test]
fn one_bad_secret_and_nothing_is_written() {
    for (place, bad, reason) in [
        (0, "00".repeat(63), "128 hexadecimal digits"),
        (1, ED25519.replace("11qY", "12qY"), "public half"),
        (1, "canary".to_owned(), "no private JWK"),
        (2, "canary".to_owned(), "not JSON"),
    ] {
        let scene = Scene::new();
        let mut secrets = secrets();
        secrets[place].1 = bad;
        let refused = scene.take(&file(&secrets), &[]);
        refused.refused(5, reason, "nothing was written");
        assert!(refused.stderr.contains(&secrets[place].0), "{refused:?}");
        assert!(!refused.stderr.contains("canary"), "{refused:?}");
        assert!(scene.wallets().is_empty());
    }
    let scene = Scene::new();
    let mut moved = secrets();
    moved[4].2 = Some("did:peer:other/keys/agreement".to_owned());
    scene
        .take(&file(&moved), &[])
        .refused(5, "semanticPath", "nothing was written");
    let foreign = [(format!("{ONE}/elsewhere"), "x".to_owned(), None)];
    scene
        .take(&file(&foreign), &[])
        .refused(5, "path is none", "nothing was written");
    scene.take("[1]", &[]).refused(5, "no JSON object", "");
    scene
        .take("{}", &[])
        .refused(9, "no wallet", "MOUNT/UUID/seed");
    let odd = format!("{{\"secret/{ONE}/a\\u001b[2J\": {{}}}}");
    let refused = scene.take(&odd, &[]);
    assert!(!refused.stderr.contains('\u{1b}'), "{refused:?}");
    scene
        .take(&file(&secrets()), &["--wallet", "nobody"])
        .refused(2, "--wallet", "UUID");
    let none = "22222222-2222-3333-4444-555555555555";
    scene.take(&file(&secrets()), &["--wallet", none]).refused(
        9,
        "no wallet 2222",
        "leave --wallet away",
    );
    scene.take(&file(&secrets()), &["--wallet", TWO]).bytes();
    assert_eq!(scene.wallets(), [TWO]);
}

// === A store over TLS ===

struct Store {
    stand_in: StandIn,
    files: [String; 4],
}

impl Store {
    fn filled(scene: &Scene) -> Self {
        let stand_in = StandIn::start(&Clock::system()).unwrap();
        for (path, value, original) in secrets() {
            stand_in.put(&path, &value, original.as_deref());
        }
        // Several stores have their files in one folder.
        let url = stand_in.url();
        let port = url.rsplit(':').next().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            let name = format!("{port}-{name}");
            scene.place.folder.write(&name, bytes)
        };
        let files = [
            write("token", stand_in.token()),
            write("ca.pem", stand_in.roots_pem()),
            write("cert.pem", stand_in.client_pem()),
            write("key.pem", stand_in.client_key_pem()),
        ];
        Self { stand_in, files }
    }

    fn import(&self, scene: &Scene, words: &[&str]) -> Ended {
        let [token, ca, cert, key] = &self.files;
        let url = self.stand_in.url();
        let source = [
            "--store",
            &url,
            "--store-token-file",
            token,
            "--store-ca",
            ca,
            "--store-cert",
            cert,
            "--store-key",
            key,
        ];
        scene.import(&source, words)
    }
}

#[test]
fn wallets_of_a_live_store_are_those_of_its_file() {
    let (live, from_file) = (Scene::new(), Scene::new());
    let store = Store::filled(&live);
    // What is deleted is listed and holds nothing; what is no wallet is somebody else's.
    store.stand_in.put("other/thing", "x", None);
    let report = store.import(&live, &["--format", "json"]).document();
    assert_eq!(
        (&report["imported"], &report["not_wallets"]),
        (&2.into(), &1.into())
    );
    from_file.take(&file(&secrets()), &[]).bytes();
    for wallet in [ONE, TWO] {
        assert_eq!(live.key(wallet), from_file.key(wallet));
    }
    let again = store
        .import(&live, &["--resume", "--format", "json"])
        .document();
    assert_eq!(
        (&again["imported"], &again["unchanged"]),
        (&0.into(), &2.into())
    );
    store.import(&live, &[]).refused(13, "exists", "--resume");
}

#[test]
fn a_store_that_is_down_sealed_or_lies_leaves_nothing_behind() {
    let scene = Scene::new();
    let store = Store::filled(&scene);
    store.stand_in.seal();
    store
        .import(&scene, &[])
        .refused(5, "sealed", "nothing was written");
    store.stand_in.unseal();
    store.stand_in.spoil();
    let refused = store.import(&scene, &[]);
    assert!(refused.code == 5 || refused.code == 9, "{refused:?}");
    assert_eq!(refused.stderr.lines().count(), 2, "{refused:?}");
    store.stand_in.mend();
    store
        .stand_in
        .put(&format!("{TWO}/seed"), "a seed that is none", None);
    store
        .import(&scene, &[])
        .refused(5, "128 hexadecimal digits", "nothing was written");
    store
        .stand_in
        .put(&format!("{TWO}/seed"), &"ab".repeat(64), None);
    let foreign = scene.place.folder.write("foreign-token", "s.canary");
    let mut other = Store::filled(&scene);
    let (down, down_files) = (other.stand_in.url(), other.files.clone());
    other.files[0] = foreign;
    let refused = other.import(&scene, &[]);
    refused.refused(11, "403", "--store-token-file");
    assert!(!refused.stderr.contains("canary"));
    let elsewhere = store.import(&scene, &["--mount", "nowhere"]);
    elsewhere.refused(5, "no such engine", "--mount");
    // Another authority than the one that signed.
    let mut stranger = Store::filled(&scene);
    stranger.files[1] = scene
        .place
        .folder
        .write("other-ca.pem", other.stand_in.roots_pem());
    let refused = stranger.import(&scene, &[]);
    assert_eq!(refused.stderr.lines().count(), 2, "{refused:?}");
    assert!(matches!(refused.code, 5 | 11), "{refused:?}");
    drop(other);
    let [token, ca, cert, key] = &down_files;
    let source = [
        "--store",
        &down,
        "--store-token-file",
        token,
        "--store-ca",
        ca,
        "--store-cert",
        cert,
        "--store-key",
        key,
    ];
    scene
        .import(&source, &[])
        .refused(5, "", "nothing was written");
    assert!(scene.wallets().is_empty());
}
