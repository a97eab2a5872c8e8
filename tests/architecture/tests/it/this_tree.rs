//! Every check, run on the workspace it stands in.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::MetadataCommand;
use keywright_architecture::graph::{self, Crate, OWNERS};
use keywright_architecture::{carriers, decisions, map, source, tree};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap()
}

fn crates() -> Vec<Crate> {
    let mut command = MetadataCommand::new();
    // Without resolving: declared dependencies are what is checked, and no network is needed.
    let metadata = command
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .unwrap();
    let crates = graph::crates(&metadata);
    assert!(crates.len() > 15, "only {} crates were found", crates.len());
    crates
}

/// Fails with all findings at once, one a line.
fn assert_none(findings: &[String]) {
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}

/// The source files under the `src` of the crates that `of` chooses, with their paths under the root.
fn sources(of: impl Fn(&Crate) -> bool) -> Vec<(String, String)> {
    let root = root();
    let folders: Vec<PathBuf> = crates()
        .iter()
        .filter(|one| !one.is_for_tests() && of(one))
        .map(|one| root.join(&one.folder).join("src"))
        .collect();
    let files = tree::files(&root).unwrap();
    let sources: Vec<_> = files
        .iter()
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .filter(|path| folders.iter().any(|folder| path.starts_with(folder)))
        .map(|path| {
            let name = path.strip_prefix(&root).unwrap().display().to_string();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    assert!(sources.len() >= folders.len(), "a crate without sources");
    sources
}

/// Every file of the tree, with its path under the root.
fn contents() -> Vec<(String, Vec<u8>)> {
    let root = root();
    let files = tree::files(&root).unwrap();
    assert!(files.len() > 50, "only {} files were found", files.len());
    files
        .iter()
        .map(|path| {
            let name = path.strip_prefix(&root).unwrap().display().to_string();
            (name, fs::read(path).unwrap())
        })
        .collect()
}

/// `file:line` for each line that `find` points at.
fn places(files: &[(String, String)], find: impl Fn(&str) -> Vec<usize>) -> Vec<String> {
    let at = |(name, text): &(String, String)| -> Vec<String> {
        find(text)
            .into_iter()
            .map(|line| format!("{name}:{line}"))
            .collect()
    };
    files.iter().flat_map(at).collect()
}

#[test]
fn every_arrow_leads_to_a_lower_floor() {
    assert_none(&graph::wrong_arrows(&crates()));
}

/// A program that holds keys is made of what works with them, and what measures is made of the engine.
#[test]
fn the_program_with_the_keys_is_linked_with_nothing_that_measures() {
    let crates = crates();
    assert_none(&graph::linked_below(
        &crates,
        "keywright-cli",
        "crates/measure/",
    ));
    let engine = graph::linked_below(&crates, "keywright-bench", "crates/measure/");
    assert!(engine.len() >= 5, "{engine:?}");
}

#[test]
fn every_dangerous_package_is_named_by_its_owners_only() {
    assert_none(&graph::wrong_owners(&crates(), OWNERS));
}

#[test]
fn every_owner_of_a_dangerous_package_exists() {
    let crates = crates();
    let exists = |name: &&str| crates.iter().any(|known| known.name == *name);
    for owned in OWNERS {
        let gone: Vec<_> = owned.owners.iter().filter(|name| !exists(name)).collect();
        assert!(
            gone.is_empty(),
            "{gone:?} may name {} and is no crate",
            owned.package
        );
    }
}

#[test]
fn every_locked_package_is_from_the_public_index() {
    for lock in ["Cargo.lock", "fuzz/Cargo.lock"] {
        let text = fs::read_to_string(root().join(lock)).unwrap();
        assert_none(&graph::wrong_sources(&text));
    }
}

#[test]
fn no_crate_that_works_on_keys_is_compiled_by_a_profile() {
    let read = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let named = carriers::named(&read("scripts/rustc-profiled"));
    let locked = graph::locked_packages(&read("Cargo.lock"));
    assert_none(&carriers::wrong_carriers(&named, &crates(), &locked));
}

#[test]
fn no_second_stack_is_built() {
    let listed = Command::new("cargo")
        .args([
            "tree",
            "--workspace",
            "--locked",
            "--edges",
            "normal,build",
            "--prefix",
            "none",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    let built = String::from_utf8_lossy(&listed.stdout);
    assert!(
        listed.status.success(),
        "{}",
        String::from_utf8_lossy(&listed.stderr)
    );
    assert!(
        built.lines().any(|line| line.starts_with("aws-lc-rs ")),
        "not the list of packages"
    );
    assert_none(&graph::second_stacks(&built));
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    let without: Vec<String> = crates()
        .into_iter()
        .map(|one| one.folder)
        .filter(|folder| {
            let manifest = fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap();
            !graph::inherits_lints(&manifest)
        })
        .collect();
    assert_none(&without);
}

#[test]
fn every_crate_but_the_listed_ones_forbids_unsafe_code() {
    let mut wrong = Vec::new();
    for one in crates() {
        let allowed = source::MAY_BE_UNSAFE.contains(&one.name.as_str());
        for path in &one.roots {
            let path = format!("{}/{path}", one.folder);
            let forbids = source::forbids_unsafe(&fs::read_to_string(root().join(&path)).unwrap());
            if forbids == allowed {
                wrong.push(format!(
                    "{path}: forbids {forbids}, may be unsafe {allowed}"
                ));
            }
        }
    }
    assert_none(&wrong);
}

#[test]
fn the_clock_is_read_in_one_crate() {
    let files = sources(|one| one.name != "keywright-clock");
    assert_none(&places(&files, source::clock_reads));
}

/// A system that gives no thread is no reason to panic: the file was not damaged, and the service goes on.
#[test]
fn threads_outside_of_tests_are_started_with_an_error() {
    let files = sources(|one| !one.folder.starts_with("tests/"));
    let shipped: Vec<_> = files
        .into_iter()
        .filter(|(name, _)| name.contains("/src/") && !name.ends_with("/tests.rs"))
        .collect();
    assert_none(&places(&shipped, source::infallible_threads));
}

#[test]
fn the_environment_is_read_in_the_faces_and_the_recorder_only() {
    let files = sources(|one| {
        !one.folder.starts_with("crates/faces/") && one.name != "keywright-pkcs11-proxy"
    });
    assert_none(&places(&files, source::environment_reads));
}

#[test]
fn the_map_names_every_crate_with_its_floor() {
    let page = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    assert_none(&map::disagreements(&page, &crates()));
}

#[test]
fn no_file_names_a_folder_of_a_machine_or_a_registry() {
    let mut wrong = Vec::new();
    for (name, content) in contents() {
        let found = tree::traces(&content);
        wrong.extend(found.into_iter().map(|trace| format!("{name}:{trace}")));
    }
    assert_none(&wrong);
}

#[test]
fn the_owners_policy_is_taken_by_those_who_carry_out_orders_only() {
    let wrong: Vec<String> = sources(|_| true)
        .iter()
        .flat_map(|(name, text)| {
            let lines = source::owner_policies(name, text);
            lines.into_iter().map(move |line| format!("{name}:{line}"))
        })
        .collect();
    assert_none(&wrong);
}

#[test]
fn nothing_else_leans_on_the_folder_beside_the_tree() {
    let wrong: Vec<String> = contents()
        .iter()
        .flat_map(|(name, content)| {
            let lines = tree::looks_beside(name, content);
            lines.into_iter().map(move |line| format!("{name}:{line}"))
        })
        .collect();
    assert_none(&wrong);
}

#[test]
fn every_decision_that_is_cited_is_listed() {
    const PAGE: &str = "docs/decisions/README.md";
    let listed = decisions::listed(&fs::read_to_string(root().join(PAGE)).unwrap());
    let mut used = BTreeSet::new();
    let mut wrong = Vec::new();
    for (name, content) in contents().iter().filter(|(name, _)| name != PAGE) {
        let cited = decisions::cited(&String::from_utf8_lossy(content));
        let unlisted = cited.difference(&listed);
        wrong.extend(unlisted.map(|number| format!("{name} cites 7.{number}")));
        used.extend(cited);
    }
    assert!(used.len() > 20, "only {} citations were found", used.len());
    let unused = listed.difference(&used);
    wrong.extend(unused.map(|number| format!("7.{number} is listed and not cited")));
    assert_none(&wrong);
}
