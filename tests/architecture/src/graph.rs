//! Which crate depends on which, and whether it may.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Metadata, Package};

/// A crate of the workspace, as far as the checks look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "plain data that the tests build by hand"
)]
pub struct Crate {
    /// The name of the package.
    pub name: String,
    /// Its folder under the root, with `/` between the parts.
    pub folder: String,
    /// `package.metadata.keywright.floor`, if it is there and a number.
    pub floor: Option<u64>,
    /// The packages it names, without those for its tests.
    pub dependencies: Vec<String>,
    /// The roots of its library and its programs, under the crate's folder.
    pub roots: Vec<String>,
}

impl Crate {
    /// Whether it is there for tests only, and so may lean on everything.
    #[must_use]
    pub fn is_for_tests(&self) -> bool {
        self.folder.starts_with("tests/")
    }
}

/// Reads the workspace that cargo described.
#[must_use]
pub fn crates(metadata: &Metadata) -> Vec<Crate> {
    metadata
        .packages
        .iter()
        .map(|package| crate_of(metadata, package))
        .collect()
}

fn crate_of(metadata: &Metadata, package: &Package) -> Crate {
    let folder = package.manifest_path.parent().map_or("", |folder| {
        folder
            .strip_prefix(&metadata.workspace_root)
            .unwrap_or(folder)
            .as_str()
    });
    let within = |path: &cargo_metadata::camino::Utf8Path| {
        let folder = package.manifest_path.parent();
        folder
            .and_then(|folder| path.strip_prefix(folder).ok())
            .unwrap_or(path)
            .to_string()
    };
    Crate {
        name: package.name.to_string(),
        folder: folder.to_owned(),
        floor: package.metadata["keywright"]["floor"].as_u64(),
        dependencies: package
            .dependencies
            .iter()
            .filter(|dependency| dependency.kind != DependencyKind::Development)
            .map(|dependency| dependency.name.clone())
            .collect(),
        roots: package
            .targets
            .iter()
            .filter(|target| target.is_lib() || target.is_bin())
            .map(|target| within(&target.src_path))
            .collect(),
    }
}

// === What a program is made of ===

/// The crates of a folder that a crate is linked with, through however many others.
#[must_use]
pub fn linked_below(crates: &[Crate], from: &str, folder: &str) -> Vec<String> {
    let by_name: BTreeMap<&str, &Crate> = crates.iter().map(|c| (c.name.as_str(), c)).collect();
    let (mut waiting, mut met) = (vec![from], BTreeSet::new());
    while let Some(name) = waiting.pop() {
        let Some(one) = by_name.get(name) else {
            continue;
        };
        if met.insert(name) {
            waiting.extend(one.dependencies.iter().map(String::as_str));
        }
    }
    let found = met.into_iter().filter_map(|name| by_name.get(name));
    found
        .filter(|one| one.folder.starts_with(folder))
        .map(|one| format!("{from} is linked with {}", one.name))
        .collect()
}

// === Floors ===

/// Every crate has a floor, and each dependency on another crate of the workspace leads to a lower one.
/// What exists for tests may lean on everything, and nothing leans on it.
#[must_use]
pub fn wrong_arrows(crates: &[Crate]) -> Vec<String> {
    let by_name: BTreeMap<&str, &Crate> = crates.iter().map(|c| (c.name.as_str(), c)).collect();
    let mut wrong = Vec::new();
    for from in crates {
        let Some(floor) = from.floor else {
            wrong.push(format!(
                "{} has no package.metadata.keywright.floor",
                from.name
            ));
            continue;
        };
        if from.is_for_tests() {
            continue;
        }
        for to in from
            .dependencies
            .iter()
            .filter_map(|name| by_name.get(name.as_str()))
        {
            if to.is_for_tests() {
                wrong.push(format!(
                    "{} leans on {}, which is for tests",
                    from.name, to.name
                ));
            } else if to.floor.is_some_and(|below| below >= floor) {
                let below = to.floor.unwrap_or_default();
                wrong.push(format!(
                    "{} (floor {floor}) leans on {} (floor {below})",
                    from.name, to.name
                ));
            }
        }
    }
    wrong
}

// === Owners ===

/// A package from outside, and the crates that alone may name it.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a row of a table")]
pub struct Owned {
    /// The package.
    pub package: &'static str,
    /// Its owners.
    pub owners: &'static [&'static str],
}

/// One place for each dangerous thing.
pub const OWNERS: &[Owned] = &[
    Owned {
        package: "aes-gcm",
        owners: &["keywright-primitives"],
    },
    Owned {
        package: "aws-lc-rs",
        // And the measurements, as a peer; so with the other libraries below.
        owners: &["keywright-primitives", "keywright-targets"],
    },
    Owned {
        package: "aws-lc-sys",
        owners: &[],
    },
    Owned {
        package: "rustls",
        owners: &[
            "keywright-tls",
            "keywright-server",
            "keywright-client",
            "keywright-telemetry",
            "keywright-report",
            "keywright-targets",
        ],
    },
    Owned {
        package: "tokio-rustls",
        owners: &[
            "keywright-server",
            "keywright-client",
            "keywright-telemetry",
            "keywright-report",
            "keywright-targets",
        ],
    },
    Owned {
        package: "rcgen",
        owners: &["keywright-tls"],
    },
    Owned {
        package: "x509-parser",
        owners: &["keywright-tls"],
    },
    Owned {
        package: "rusqlite",
        owners: &["keywright-store", "keywright-report"],
    },
    Owned {
        package: "blake3",
        owners: &["keywright-primitives", "keywright-targets"],
    },
    Owned {
        package: "argon2",
        owners: &["keywright-password", "keywright-targets"],
    },
    Owned {
        package: "chacha20",
        owners: &["keywright-primitives"],
    },
    Owned {
        package: "cryptoki-sys",
        owners: &["keywright-pkcs11", "keywright-pkcs11-proxy"],
    },
    Owned {
        package: "curve25519-dalek",
        owners: &["keywright-primitives"],
    },
    Owned {
        package: "ml-kem",
        owners: &["keywright-primitives"],
    },
    Owned {
        package: "p256",
        owners: &["keywright-primitives"],
    },
    Owned {
        package: "ripemd",
        owners: &["keywright-primitives"],
    },
    Owned {
        package: "secp256k1",
        owners: &["keywright-primitives", "keywright-targets"],
    },
    Owned {
        package: "sha2",
        owners: &["keywright-primitives"],
    },
    Owned {
        package: "shake",
        owners: &["keywright-primitives"],
    },
    Owned {
        package: "libc",
        owners: &[
            "keywright-secret",
            "keywright-primitives",
            "keywright-audit",
            "keywright-home",
            "keywright-cli",
            "keywright-password",
            "keywright-pkcs11-proxy",
        ],
    },
];

/// Packages that would be a second of what there must be one of, directly or through others.
pub const SECOND_STACKS: &[&str] = &[
    "boring",
    "boring-sys",
    "mbedtls",
    "native-tls",
    "openssl",
    "openssl-sys",
    "ring",
    "rustls-openssl",
    "s2n-tls",
    "schannel",
    "security-framework",
];

/// Crates that name a package which is another's to name.
#[must_use]
pub fn wrong_owners(crates: &[Crate], owned: &[Owned]) -> Vec<String> {
    let mut wrong = Vec::new();
    for from in crates.iter().filter(|from| !from.is_for_tests()) {
        for Owned { package, owners } in owned {
            let names = from.dependencies.iter().any(|name| name == package);
            if names && !owners.contains(&from.name.as_str()) {
                wrong.push(format!(
                    "{} names {package}; only {owners:?} may",
                    from.name
                ));
            }
        }
    }
    wrong
}

// === Manifests and locks ===

/// Whether a manifest takes the lints of the workspace.
#[must_use]
pub fn inherits_lints(manifest: &str) -> bool {
    toml::from_str::<toml::Table>(manifest).is_ok_and(|table| {
        let lints = table.get("lints").and_then(|lints| lints.get("workspace"));
        lints.and_then(toml::Value::as_bool) == Some(true)
    })
}

/// Locked packages that come from elsewhere than the public index and this tree.
#[must_use]
pub fn wrong_sources(lock: &str) -> Vec<String> {
    const INDEX: &str = "registry+https://github.com/rust-lang/crates.io-index";
    let Ok(table) = toml::from_str::<toml::Table>(lock) else {
        return vec!["the lock file cannot be read".to_owned()];
    };
    let packages = table.get("package").and_then(toml::Value::as_array);
    let Some(packages) = packages.filter(|packages| !packages.is_empty()) else {
        return vec!["the lock file has no packages".to_owned()];
    };
    let text = |package: &toml::Value, key: &str| {
        package
            .get(key)
            .and_then(toml::Value::as_str)
            .map(str::to_owned)
    };
    packages
        .iter()
        .filter(|package| text(package, "source").is_some_and(|source| source != INDEX))
        .map(|package| {
            let name = text(package, "name").unwrap_or_default();
            format!("{name} does not come from the public index")
        })
        .collect()
}

/// The names of all locked packages; none, if the file cannot be read.
#[must_use]
pub fn locked_packages(lock: &str) -> Vec<String> {
    let table = toml::from_str::<toml::Table>(lock).unwrap_or_default();
    let packages = table.get("package").and_then(toml::Value::as_array);
    let packages = packages.into_iter().flatten();
    packages
        .filter_map(|package| package.get("name")?.as_str().map(str::to_owned))
        .collect()
}

/// Second stacks among the packages that are built, as `cargo tree --prefix none` lists them. The lock
/// file would not do: it also names packages behind features that nobody turns on.
#[must_use]
pub fn second_stacks(built: &str) -> Vec<String> {
    let mut wrong: Vec<String> = built
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| SECOND_STACKS.contains(name))
        .map(|name| format!("{name} is a second stack"))
        .collect();
    wrong.sort_unstable();
    wrong.dedup();
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a(name: &str, folder: &str, floor: u64, dependencies: &[&str]) -> Crate {
        Crate {
            name: name.into(),
            folder: folder.into(),
            floor: Some(floor),
            dependencies: dependencies.iter().map(|&name| name.into()).collect(),
            roots: vec!["src/lib.rs".into()],
        }
    }

    fn house() -> Vec<Crate> {
        vec![
            a("ground", "crates/base/ground", 0, &["serde"]),
            a("first", "crates/base/first", 1, &["ground"]),
            a("sibling", "crates/base/sibling", 1, &["ground"]),
            a(
                "roof",
                "crates/faces/roof",
                8,
                &["first", "sibling", "ground"],
            ),
            a("kit", "tests/kit", 4, &["roof"]),
        ]
    }

    #[test]
    fn arrows_that_lead_down_are_right() {
        assert_eq!(wrong_arrows(&house()), Vec::<String>::new());
    }

    #[test]
    fn a_planted_upward_arrow_is_caught() {
        let mut house = house();
        house[0].dependencies.push("roof".into());
        assert_eq!(
            wrong_arrows(&house),
            ["ground (floor 0) leans on roof (floor 8)"]
        );
    }

    #[test]
    fn a_planted_arrow_to_a_sibling_is_caught() {
        let mut house = house();
        house[1].dependencies.push("sibling".into());
        assert_eq!(
            wrong_arrows(&house),
            ["first (floor 1) leans on sibling (floor 1)"]
        );
    }

    #[test]
    fn what_is_linked_through_another_crate_is_caught() {
        let mut house = house();
        assert!(linked_below(&house, "roof", "crates/measure/").is_empty());
        house.push(a("engine", "crates/measure/engine", 0, &[]));
        house[1].dependencies.push("engine".into());
        assert_eq!(
            linked_below(&house, "roof", "crates/measure/"),
            ["roof is linked with engine"]
        );
        assert!(linked_below(&house, "sibling", "crates/measure/").is_empty());
    }

    #[test]
    fn a_crate_without_floor_is_caught() {
        let mut house = house();
        house[2].floor = None;
        assert_eq!(
            wrong_arrows(&house),
            ["sibling has no package.metadata.keywright.floor"]
        );
        house[4].floor = None;
        assert_eq!(
            wrong_arrows(&house).len(),
            2,
            "crates for tests have floors too"
        );
    }

    #[test]
    fn leaning_on_what_is_for_tests_is_caught() {
        let mut house = house();
        house[3].dependencies.push("kit".into());
        assert_eq!(
            wrong_arrows(&house),
            ["roof leans on kit, which is for tests"]
        );
    }

    #[test]
    fn naming_what_another_owns_is_caught_and_owning_it_is_not() {
        let owned = [Owned {
            package: "backend",
            owners: &["first"],
        }];
        let mut house = house();
        house[1].dependencies.push("backend".into());
        house[4].dependencies.push("backend".into());
        assert!(wrong_owners(&house, &owned).is_empty());
        house[3].dependencies.push("backend".into());
        assert_eq!(
            wrong_owners(&house, &owned),
            ["roof names backend; only [\"first\"] may"]
        );
    }

    #[test]
    fn lints_are_inherited_only_by_the_words_that_do_it() {
        assert!(inherits_lints("[lints]\nworkspace = true\n"));
        assert!(inherits_lints("lints.workspace = true\n"));
        for wrong in [
            "",
            "[lints]\nworkspace = false\n",
            "# [lints]\n# workspace = true\n",
            "[lints.rust]\nunsafe_code = \"allow\"\n",
            "[package]\nworkspace = true\n",
            "[lints\n",
        ] {
            assert!(!inherits_lints(wrong), "{wrong}");
        }
    }

    #[test]
    fn foreign_sources_in_a_lock_file_are_caught() {
        let lock = |source: &str| {
            format!("version = 4\n[[package]]\nname = \"serde\"\nversion = \"1.0.0\"\n{source}")
        };
        let index = "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
        assert!(wrong_sources(&lock(index)).is_empty());
        assert!(wrong_sources(&lock("")).is_empty(), "a crate of this tree");
        for elsewhere in [
            "registry+https://mirror.example/index",
            "git+https://example.org/serde",
        ] {
            let source = format!("source = \"{elsewhere}\"\n");
            assert_eq!(
                wrong_sources(&lock(&source)),
                ["serde does not come from the public index"]
            );
        }
        assert_eq!(wrong_sources("version = 4\n").len(), 1);
        assert_eq!(wrong_sources("[[package").len(), 1);
    }

    #[test]
    fn a_second_stack_is_caught_by_its_whole_name() {
        assert!(second_stacks("serde v1.0.0\nring-buffer v1.0.0\nstring v0.1.0\n").is_empty());
        let built = "rustls v0.23.0\nring v0.17.14\nopenssl-sys v0.9.0 (*)\nring v0.17.14 (*)\n";
        assert_eq!(
            second_stacks(built),
            ["openssl-sys is a second stack", "ring is a second stack"]
        );
    }
}
