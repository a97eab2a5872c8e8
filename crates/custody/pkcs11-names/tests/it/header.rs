//! The tables are those of the header and of the binding that cryptoki-sys ships: nothing is missing, nothing is
//! added, no number differs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use keywright_pkcs11_names::{
    AttributeType, CertificateType, FlagSet, Function, HardwareFeature, KeyDerivation, KeyType,
    MaskGeneration, MechanismType, Named, ObjectClass, Profile, ReturnCode, SessionState, UserType,
    Version,
};

/// Where the sources of cryptoki-sys are, as cargo knows it. Asked once, and for this platform alone: packages of
/// others need not be on this machine.
fn cryptoki_sys() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let version = String::from_utf8(said(Command::new("rustc").arg("-vV"))).unwrap();
        let host = version.lines().find_map(|line| line.strip_prefix("host: "));
        let mut metadata = Command::new(env!("CARGO"));
        metadata
            .args(["metadata", "--format-version", "1", "--locked"])
            .args(["--filter-platform", host.unwrap()])
            .current_dir(env!("CARGO_MANIFEST_DIR"));
        let metadata: serde_json::Value = serde_json::from_slice(&said(&mut metadata)).unwrap();
        let mut packages = metadata["packages"].as_array().unwrap().iter();
        let package = packages.find(|one| one["name"] == "cryptoki-sys").unwrap();
        let manifest = Path::new(package["manifest_path"].as_str().unwrap());
        manifest.parent().unwrap().to_path_buf()
    })
}

fn said(command: &mut Command) -> Vec<u8> {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    output.stdout
}

fn number(text: &str) -> Option<u64> {
    let text = text.trim_end_matches(['U', 'L']);
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// `#define CKR_OK 0x00000000UL`
fn header() -> BTreeMap<String, u64> {
    let text = std::fs::read_to_string(cryptoki_sys().join("vendor/pkcs11.h")).unwrap();
    let define = |line: &str| {
        let mut words = line.strip_prefix("#define ")?.split_whitespace();
        Some((words.next()?.to_owned(), number(words.next()?)?))
    };
    text.lines().filter_map(define).collect()
}

/// `pub const CKR_OK: CK_RV = 0;`
fn binding() -> BTreeMap<String, u64> {
    let text = std::fs::read_to_string(cryptoki_sys().join("src/bindings/generic.rs")).unwrap();
    let constant = |line: &str| {
        let (name, rest) = line.strip_prefix("pub const ")?.split_once(':')?;
        let value = rest.split_once('=')?.1.trim().trim_end_matches(';');
        Some((name.to_owned(), number(value)?))
    };
    text.lines().filter_map(constant).collect()
}

fn table<T: Named>() -> BTreeMap<String, u64> {
    let names = T::names();
    let table: BTreeMap<_, _> = names
        .iter()
        .map(|&(name, value)| (name.to_owned(), value))
        .collect();
    assert_eq!(table.len(), names.len(), "a name stands twice");
    table
}

fn family(all: &BTreeMap<String, u64>, prefix: &str) -> BTreeMap<String, u64> {
    let mine = all
        .iter()
        .filter(|(name, _)| name.split('_').next() == Some(prefix));
    mine.map(|(name, value)| (name.clone(), *value)).collect()
}

fn matches_both<T: Named>() -> usize {
    let table = table::<T>();
    assert_eq!(table, family(&header(), T::PREFIX));
    assert_eq!(table, family(&binding(), T::PREFIX));
    table.len()
}

#[test]
fn ckr_matches_header_105() {
    assert_eq!(matches_both::<ReturnCode>(), 105);
}

#[test]
fn ckm_matches_header_480() {
    assert_eq!(matches_both::<MechanismType>(), 480);
}

#[test]
fn cka_ckk_cko_match_header() {
    assert_eq!(matches_both::<AttributeType>(), 160);
    assert_eq!(matches_both::<KeyType>(), 69);
    assert_eq!(matches_both::<ObjectClass>(), 13);
    matches_both::<CertificateType>();
    matches_both::<KeyDerivation>();
    matches_both::<UserType>();
}

/// The header uses these prefixes for further things, which are other tables or none.
#[test]
fn parts_of_families_match_the_header_in_all_that_they_have() {
    fn part<T: Named>(others: &[&str]) {
        let (table, mut header) = (table::<T>(), family(&header(), T::PREFIX));
        for other in others {
            assert!(!table.keys().any(|name| name.contains(other)));
            header.retain(|name, _| !name.contains(other));
        }
        assert_eq!(table, header);
    }
    part::<HardwareFeature>(&["_PREFERRED", "_REQUIRED"]);
    part::<MaskGeneration>(&["CKG_NO_GENERATE", "CKG_GENERATE"]);
    part::<Profile>(&["PKCS5_", "ML_", "SLH_"]);
    part::<SessionState>(&["VALIDATION"]);
}

#[test]
fn flags_match_the_header_and_only_those_of_parameters_are_left_out() {
    let header = family(&header(), "CKF");
    let mut left = header.clone();
    for set in FlagSet::all() {
        for (name, bit) in set.names() {
            assert_eq!(header.get(*name), Some(bit), "{name}");
            left.remove(*name);
        }
    }
    let left: Vec<_> = left.keys().map(String::as_str).collect();
    assert_eq!(
        left,
        [
            "CKF_ARRAY_ATTRIBUTE",
            "CKF_DONT_BLOCK",
            "CKF_EC_NAMEDCURVE",
            "CKF_END_OF_MESSAGE",
            "CKF_EXCLUDE_CHALLENGE",
            "CKF_EXCLUDE_COUNTER",
            "CKF_EXCLUDE_PIN",
            "CKF_EXCLUDE_TIME",
            "CKF_HKDF_SALT_DATA",
            "CKF_HKDF_SALT_KEY",
            "CKF_HKDF_SALT_NULL",
            "CKF_MULTI_MESSGE",
            "CKF_NEXT_OTP",
            "CKF_USER_FRIENDLY_OTP",
        ]
    );
}

#[test]
fn function_lists_match_the_structures_of_the_binding() {
    let text = std::fs::read_to_string(cryptoki_sys().join("src/bindings/generic.rs")).unwrap();
    for (version, structure) in [
        (Version::V2_40, "CK_FUNCTION_LIST"),
        (Version::V3_0, "CK_FUNCTION_LIST_3_0"),
        (Version::V3_2, "CK_FUNCTION_LIST_3_2"),
    ] {
        let start = text.find(&format!("pub struct {structure} {{")).unwrap();
        let body = &text[start..start + text[start..].find("\n}").unwrap()];
        let fields: Vec<_> = body
            .lines()
            .filter_map(|line| line.trim().strip_prefix("pub C_")?.split_once(':'))
            .map(|(name, _)| format!("C_{name}"))
            .collect();
        let ours: Vec<_> = version.functions().map(Function::name).collect();
        assert_eq!(ours, fields, "{structure}");
    }
}

/// Numbers under which another tool's table had other names.
#[test]
fn known_wrong_names_stay_fixed() {
    for (value, name) in [
        (0x9, "CKM_RSA_PKCS_OAEP"),
        (0xd, "CKM_RSA_PKCS_PSS"),
        (0x40, "CKM_SHA256_RSA_PKCS"),
        (0x251, "CKM_SHA256_HMAC"),
        (0x260, "CKM_SHA384"),
        (0x270, "CKM_SHA512"),
        (0x1057, "CKM_EDDSA"),
        (0x108a, "CKM_AES_CMAC"),
    ] {
        assert_eq!(MechanismType::new(value).name(), Some(name));
    }
    for (value, name) in [
        (0x6a, "CKR_KEY_UNEXTRACTABLE"),
        (0xb8, "CKR_SESSION_READ_WRITE_SO_EXISTS"),
        (0x170, "CKR_INFORMATION_SENSITIVE"),
    ] {
        assert_eq!(ReturnCode::new(value).name(), Some(name));
    }
}
