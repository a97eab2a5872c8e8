//! Which crates are compiled by what they did at work (`scripts/rustc-profiled`), and whether they may be: a profile can
//! turn a selection that takes the same time either way into a jump, so code that works on keys stays out.

use std::collections::BTreeSet;

use crate::graph::Crate;

/// Packages from outside that compute on keys, and crates of ours that do so without one of them.
const KEYED: &[&str] = &[
    "aes-gcm",
    "argon2",
    "aws-lc-rs",
    "blake3",
    "chacha20",
    "curve25519-dalek",
    "ml-kem",
    "p256",
    "ripemd",
    "secp256k1",
    "sha2",
    "shake",
    "subtle",
    "keywright-encoding",
    "keywright-keystore",
    "keywright-primitives",
    "keywright-secret",
];

/// What is built on those: ciphers, envelopes, key trees, passwords.
const KEYED_FOLDER: &str = "crates/standards/";

/// The crates that the script names, as it writes them.
#[must_use]
pub fn named(script: &str) -> BTreeSet<String> {
    let list = script.split_once("CARRIERS=(").map_or("", |(_, rest)| rest);
    let list = list.split_once("\n)").map_or("", |(list, _)| list);
    let lines = list.lines().filter(|line| !line.trim().starts_with('#'));
    lines
        .flat_map(str::split_whitespace)
        .map(str::to_owned)
        .collect()
}

/// Names that are no package of the lock, that compute on keys, or that lean on a package which does.
#[must_use]
pub fn wrong_carriers(
    named: &BTreeSet<String>,
    crates: &[Crate],
    locked: &[String],
) -> Vec<String> {
    if named.is_empty() {
        return vec!["the script names no crate".to_owned()];
    }
    let known: BTreeSet<String> = locked.iter().map(|name| as_crate(name)).collect();
    let keyed: BTreeSet<String> = KEYED.iter().map(|name| as_crate(name)).collect();
    let outside =
        |name: &&String| keyed.contains(&as_crate(name)) && !name.starts_with("keywright");
    let mut wrong = Vec::new();
    for name in named {
        let ours = crates.iter().find(|one| as_crate(&one.name) == *name);
        if !known.contains(name) {
            wrong.push(format!("{name} is no locked package"));
        } else if keyed.contains(name)
            || ours.is_some_and(|one| one.folder.starts_with(KEYED_FOLDER))
        {
            wrong.push(format!("{name} works on keys"));
        } else if let Some(on) = ours.and_then(|one| one.dependencies.iter().find(outside)) {
            wrong.push(format!("{name} leans on {on}, which works on keys"));
        }
    }
    wrong
}

/// A package's name as the compiler is told it.
fn as_crate(package: &str) -> String {
    package.replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str =
        "readonly CARRIERS=(\n  # transport, h2\n  bytes tokio\n  our_server\n)\nname=$(crate)\n";

    fn ours(name: &str, folder: &str, dependencies: &[&str]) -> Crate {
        Crate {
            name: name.into(),
            folder: folder.into(),
            floor: Some(1),
            dependencies: dependencies.iter().map(|&name| name.into()).collect(),
            roots: vec!["src/lib.rs".into()],
        }
    }

    fn locked() -> Vec<String> {
        ["bytes", "tokio", "our-server", "our-cipher", "chacha20"]
            .map(str::to_owned)
            .to_vec()
    }

    fn judged(names: &[&str], crates: &[Crate]) -> Vec<String> {
        let names = names.iter().map(|&name| name.to_owned()).collect();
        wrong_carriers(&names, crates, &locked())
    }

    #[test]
    fn comments_name_nothing() {
        let names: Vec<String> = named(SCRIPT).into_iter().collect();
        assert_eq!(names, ["bytes", "our_server", "tokio"]);
        let server = [ours("our-server", "crates/service/our-server", &["bytes"])];
        assert_eq!(
            wrong_carriers(&named(SCRIPT), &server, &locked()),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_script_without_its_list_is_caught() {
        assert!(named("CARRIERS=(").is_empty());
        assert_eq!(judged(&[], &[]), ["the script names no crate"]);
    }

    #[test]
    fn a_cipher_and_what_leans_on_one_are_caught() {
        let server = [ours(
            "our-server",
            "crates/service/our-server",
            &["chacha20"],
        )];
        assert_eq!(judged(&["chacha20"], &[]), ["chacha20 works on keys"]);
        assert_eq!(
            judged(&["our_server"], &server),
            ["our_server leans on chacha20, which works on keys"]
        );
    }

    #[test]
    fn a_crate_of_the_standards_is_caught() {
        let cipher = [ours("our-cipher", "crates/standards/our-cipher", &[])];
        assert_eq!(
            judged(&["our_cipher"], &cipher),
            ["our_cipher works on keys"]
        );
    }

    #[test]
    fn a_name_of_another_time_is_caught() {
        assert_eq!(judged(&["hyper"], &[]), ["hyper is no locked package"]);
    }
}
