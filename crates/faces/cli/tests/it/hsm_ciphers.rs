//! The ciphers of `encrypt-symmetric`: read by another implementation, and every damage refused.

use keywright_tokens::{Kind, on_each};

use crate::hsm::{Scene, data, error, openssl};
use crate::program::Ended;

/// A cipher, the mechanism that it is, and its number in a container.
const CIPHERS: [(&str, &str, u8); 2] = [("gcm", "CKM_AES_GCM", 1), ("ccm", "CKM_AES_CCM", 2)];

fn run(scene: &Scene<'_>, command: &str, key: &str, files: (&str, &str), more: &[&str]) -> Ended {
    let words = [command, "--key-label", key, "--input", files.0];
    let output = ["--output", files.1, "--force", "--json"];
    scene.user(&[&words[..], &output, more].concat())
}

#[test]
#[expect(clippy::too_many_lines, reason = "one story, told in commands")]
fn each_cipher_seals_files_of_any_size_and_opens_nothing_else() {
    on_each(|store| {
        let scene = Scene::new(store);
        scene.data(&["gen-symmetric-key", "--key-label", "aes"]);
        let (sealed, back) = (scene.name("sealed"), scene.name("back"));
        for (cipher, mechanism, number) in CIPHERS {
            if !scene.has(mechanism) {
                assert_eq!(store.kind(), Kind::SoftHsm, "the other has them");
                let plain = scene.file("plain", "text");
                let before = scene.folder.names();
                let files = (&plain[..], &sealed[..]);
                let more = ["--cipher", cipher];
                let ended = run(&scene, "encrypt-symmetric", "aes", files, &more);
                let told = error(&ended, 12, Some("CKR_MECHANISM_INVALID"));
                let message = told["message"].as_str().unwrap();
                assert!(message.contains(mechanism), "{told}");
                assert_eq!(scene.folder.names(), before);
                continue;
            }
            let seal = |plain: &str, more: &[&str]| {
                let files = (plain, &sealed[..]);
                let more = [&["--cipher", cipher], more].concat();
                run(&scene, "encrypt-symmetric", "aes", files, &more)
            };
            let open = |from: &str, more: &[&str]| {
                run(&scene, "decrypt-symmetric", "aes", (from, &back), more)
            };
            for size in [0, 1, 65_535, 65_536, 65_537, 200_001] {
                let bytes: Vec<u8> = (0..=252).cycle().take(size).collect();
                let plain = scene.file("plain", &bytes);
                let told = data(&seal(&plain, &["--aad", "row 7"]));
                assert_eq!(told["mechanism"], mechanism);
                assert_eq!(scene.folder.read("sealed")[5], number);
                let told = data(&open(&sealed, &["--aad", "row 7"]));
                assert_eq!(told["mechanism"], mechanism);
                assert_eq!(scene.folder.read("back"), bytes, "{cipher} {size}");
            }
            std::fs::remove_file(&back).unwrap();
            let whole = scene.folder.read("sealed");
            let damaged = scene.file("damaged", "");
            let before = scene.folder.names();
            let other_cipher = 3 - number;
            for (at, change) in [
                (0, 1),
                (5, number ^ 0x40),
                (12, 1),
                (50, 1),
                (100, 1),
                (whole.len() - 1, 1),
            ] {
                let mut bytes = whole.clone();
                bytes[at] ^= change;
                scene.file("damaged", &bytes);
                let ended = open(&damaged, &["--aad", "row 7"]);
                assert_eq!(ended.code, 8, "{cipher} {at}: {ended:?}");
                assert_eq!(scene.folder.names(), before, "{cipher} {at}");
            }
            let mut bytes = whole.clone();
            bytes[5] = other_cipher;
            scene.file("damaged", &bytes);
            let ended = open(&damaged, &["--aad", "row 7"]);
            assert!(matches!(ended.code, 8 | 12), "{ended:?}");
            for cut in [whole.len() - 1, 27 + 16, 65_536, 10] {
                scene.file("damaged", &whole[..cut]);
                let ended = open(&damaged, &["--aad", "row 7"]);
                assert_eq!(ended.code, 8, "{cipher} {cut}");
            }
            assert_eq!(open(&sealed, &["--aad", "row 8"]).code, 8);
            let told = error(&open(&sealed, &["--cipher", cipher]), 2, None);
            assert!(told["message"].as_str().unwrap().contains("says itself"));
            assert_eq!(scene.folder.names(), before);
        }
    });
}

/// AES-CCM without additional data, made of OpenSSL's AES-CBC and AES-CTR as NIST SP 800-38C says (A.2, A.3): the text and
/// then the tag, under the key of 32 times 9.
fn ccm(scene: &Scene<'_>, nonce: [u8; 12], text: &[u8]) -> Vec<u8> {
    let aes = |mode: &str, iv: &[u8], input: &[u8]| {
        let (input, output) = (scene.file("ccm-in", input), scene.name("ccm-out"));
        let (key, iv) = ("09".repeat(32), keywright_encoding::hex::encode(iv));
        let words = ["enc", mode, "-nopad", "-K", &key, "-iv", &iv];
        openssl(&[&words[..], &["-in", &input, "-out", &output]].concat());
        scene.folder.read("ccm-out")
    };
    let length = u8::try_from(text.len()).unwrap();
    let mut blocks = [&[0x3A][..], &nonce, &[0, 0, length], text].concat();
    blocks.resize(blocks.len().next_multiple_of(16), 0);
    let chained = aes("-aes-256-cbc", &[0; 16], &blocks);
    let tag = &chained[chained.len() - 16..];
    let counter = [&[2][..], &nonce, &[0, 0, 0]].concat();
    // The first block of the key stream is for the tag.
    let mut sealed = aes("-aes-256-ctr", &counter, &[tag, text].concat());
    sealed.rotate_left(16);
    sealed
}

#[test]
fn ccm_is_that_of_another_implementation() {
    on_each(|store| {
        let scene = Scene::new(store);
        if store.kind() == Kind::SoftHsm {
            return;
        }
        let key = scene.file("raw-key", [9; 32]);
        let write = ["--write-object", &key, "--type", "secrkey", "--key-type"];
        let more = ["AES:32", "--label", "aes", "--usage-decrypt"];
        scene.judge(&[&write[..], &more].concat());
        let plain = scene.file("plain", "as others know it");
        let (sealed, back) = (scene.name("sealed"), scene.name("back"));
        let words = ["--cipher", "ccm", "--container", "iv-ct-tag"];
        let files = (&plain[..], &sealed[..]);
        data(&run(&scene, "encrypt-symmetric", "aes", files, &words));
        let bytes = scene.folder.read("sealed");
        let ours: [u8; 12] = bytes[..12].try_into().unwrap();
        assert_eq!(bytes[12..], ccm(&scene, ours, b"as others know it"));
        let theirs = [&[3; 12][..], &ccm(&scene, [3; 12], b"by another")].concat();
        let theirs = scene.file("theirs", theirs);
        let files = (&theirs[..], &back[..]);
        data(&run(&scene, "decrypt-symmetric", "aes", files, &words));
        assert_eq!(scene.folder.read("back"), b"by another");
        // One cipher is not tried where another was asked for.
        let gcm = ["--container", "iv-ct-tag"];
        let ended = run(&scene, "decrypt-symmetric", "aes", files, &gcm);
        assert_eq!(ended.code, 8, "{ended:?}");
    });
}
