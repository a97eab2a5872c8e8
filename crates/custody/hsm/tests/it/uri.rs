//! URIs of RFC 7512: its own examples, what its grammar refuses, and what is written back.

use keywright_hsm::Uri;
use keywright_hsm::uri::{Type, UriError, fuzz};
use keywright_mutate::{mutants, mutations};

/// RFC 7512 section 3, the examples, without the breaks of its lines.
const EXAMPLES: [&str; 10] = [
    "pkcs11:",
    "pkcs11:object=my-pubkey;type=public",
    "pkcs11:object=my-key;type=private?pin-source=file:/etc/token",
    "pkcs11:token=The%20Software%20PKCS%2311%20Softtoken;manufacturer=Snake%20Oil,%20Inc.;model=1.0;object=my-certificate;type=cert;id=%69%95%3E%5C%F4%BD%EC%91;serial=?pin-source=file:/etc/token_pin",
    "pkcs11:object=my-sign-key;type=private?module-name=mypkcs11",
    "pkcs11:object=my-sign-key;type=private?module-path=/mnt/libmypkcs11.so.1",
    "pkcs11:token=Software%20PKCS%2311%20softtoken;manufacturer=Snake%20Oil,%20Inc.?pin-value=the-pin",
    "pkcs11:slot-description=Sun%20Metaslot",
    "pkcs11:library-manufacturer=Snake%20Oil,%20Inc.;library-description=Soft%20Token%20Library;library-version=1.23",
    "pkcs11:token=My%20token%25%20created%20by%20Joe;library-version=3;id=%01%02%03%Ba%dd%Ca%fe%04%05%06",
];

fn read(text: &str) -> Result<Uri, UriError> {
    text.parse()
}

#[test]
fn the_examples_of_the_rfc_are_read() {
    let uris: Vec<_> = EXAMPLES.iter().map(|text| read(text).unwrap()).collect();
    assert_eq!(uris[1].class, Some(Type::Public));
    assert_eq!(uris[2].pin_source.as_deref(), Some(&b"file:/etc/token"[..]));
    assert_eq!(
        uris[3].token.as_deref(),
        Some(&b"The Software PKCS#11 Softtoken"[..])
    );
    assert_eq!(
        uris[3].id.as_deref(),
        Some(&b"\x69\x95\x3e\x5c\xf4\xbd\xec\x91"[..])
    );
    assert_eq!(uris[3].serial.as_deref(), Some(&b""[..]));
    assert_eq!(
        uris[5].module_path.as_deref(),
        Some(&b"/mnt/libmypkcs11.so.1"[..])
    );
    assert_eq!(uris[6].pin_value.as_ref().unwrap().expose(), b"the-pin");
    assert_eq!(uris[8].library_version, Some((1, 23)));
    assert_eq!(uris[9].library_version, Some((3, 0)));
    assert_eq!(uris[9].id.as_ref().unwrap().len(), 10);
}

#[test]
fn module_attributes_match_the_file_that_is_loaded() {
    let folder = std::env::temp_dir().canonicalize().unwrap();
    let folder = folder.join(format!("keywright-uri-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("libtoken2.so.1");
    let link = folder.join("p11-module.so");
    std::fs::write(&file, "").unwrap();
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let at = |query: String| read(&format!("pkcs11:object=key?{query}")).unwrap();
    for loaded in [&file, &link] {
        for path in [&file, &link, &folder] {
            let uri = at(format!("module-path={}", path.display()));
            assert!(uri.matches_module(loaded), "{uri}");
        }
        for name in ["token2", "libtoken2", "libtoken2.so.1"] {
            assert!(
                at(format!("module-name={name}")).matches_module(loaded),
                "{name}"
            );
        }
        for other in [
            "module-path=/usr/lib/other.so",
            "module-name=token",
            "module-name=",
        ] {
            assert!(!at(other.to_owned()).matches_module(loaded), "{other}");
        }
        let both = format!("module-path={}&module-name=other", file.display());
        assert!(!at(both).matches_module(loaded));
        assert!(read("pkcs11:object=key").unwrap().matches_module(loaded));
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn what_the_grammar_does_not_have_is_refused() {
    let refused = [
        ("http:token=a", UriError::Scheme),
        ("pkcs11", UriError::Scheme),
        ("", UriError::Scheme),
        ("pkcs11:token", UriError::NoValue(1)),
        ("pkcs11:token=a;", UriError::NoValue(2)),
        ("pkcs11:;token=a", UriError::NoValue(1)),
        ("pkcs11:=a", UriError::BadName(1)),
        ("pkcs11:to ken=a", UriError::BadName(1)),
        ("pkcs11:token=a b", UriError::Encoding("token".into())),
        ("pkcs11:token=a/b", UriError::Encoding("token".into())),
        ("pkcs11:token=a%2", UriError::Encoding("token".into())),
        ("pkcs11:token=a%2g", UriError::Encoding("token".into())),
        ("pkcs11:token=ä", UriError::Encoding("token".into())),
        (
            "pkcs11:?pin-source=a#b",
            UriError::Encoding("pin-source".into()),
        ),
        ("pkcs11:slot-id=-1", UriError::Value("slot-id")),
        ("pkcs11:slot-id=+1", UriError::Value("slot-id")),
        ("pkcs11:slot-id=", UriError::Value("slot-id")),
        (
            "pkcs11:slot-id=99999999999999999999",
            UriError::Value("slot-id"),
        ),
        (
            "pkcs11:library-version=1.",
            UriError::Value("library-version"),
        ),
        (
            "pkcs11:library-version=1.2.3",
            UriError::Value("library-version"),
        ),
        ("pkcs11:type=Public", UriError::Value("type")),
        ("pkcs11:token=a;token=a", UriError::Twice("token".into())),
        ("pkcs11:x=a;x=b", UriError::Twice("x".into())),
        (
            "pkcs11:?pin-source=a&pin-source=b",
            UriError::Twice("pin-source".into()),
        ),
        (
            "pkcs11:?pin-value=a&pin-value=b",
            UriError::Twice("pin-value".into()),
        ),
        ("pkcs11:?pin-source=a&pin-value=b", UriError::TwoPins),
    ];
    for (text, error) in refused {
        assert_eq!(read(text).unwrap_err(), error, "{text}");
    }
    assert_eq!(
        read(&format!("pkcs11:token={}", "a".repeat(20_000))).unwrap_err(),
        UriError::TooLong
    );
}

#[test]
fn the_scheme_has_no_case_and_the_order_means_nothing() {
    let one = read("PKCS11:token=a;object=b").unwrap();
    let other = read("pkcs11:object=b;token=a").unwrap();
    assert_eq!(one.to_string(), other.to_string());
    assert_eq!(one.to_string(), "pkcs11:token=a;object=b");
}

#[test]
fn what_is_unknown_is_kept_by_name() {
    let uri = read("pkcs11:x-vendor=1;token=a?x-query=1&x-query=2").unwrap();
    assert_eq!(uri.unknown, ["x-vendor"]);
    assert_eq!(uri.unknown_query, ["x-query", "x-query"]);
}

#[test]
fn a_pin_is_never_written() {
    let uri = read("pkcs11:token=a?pin-value=hunter2").unwrap();
    assert_eq!(uri.to_string(), "pkcs11:token=a");
    assert!(!format!("{uri:?}").contains("hunter2"));
}

#[test]
fn every_byte_is_written_so_that_it_is_read_again() {
    let all: Vec<u8> = (0..=255).collect();
    let encoded: String = all.iter().map(|byte| format!("%{byte:02x}")).collect();
    let uri = read(&format!(
        "pkcs11:token={encoded};id={encoded}?module-path={encoded}"
    ))
    .unwrap();
    assert_eq!(uri.token.as_deref(), Some(all.as_slice()));
    let again = read(&uri.to_string()).unwrap();
    assert_eq!(again.token, uri.token);
    assert_eq!(again.id, uri.id);
    assert_eq!(again.module_path, uri.module_path);
}

#[test]
fn damaged_uris_are_read_as_they_are_written_or_refused() {
    let seeds: Vec<&[u8]> = EXAMPLES.iter().map(|text| text.as_bytes()).collect();
    mutations(&seeds, mutants(), 0x7512).for_each(|bytes| fuzz(&bytes));
}
