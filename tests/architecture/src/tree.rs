//! What must stand in no file of the tree: the folders of one machine, and hosts that packages are
//! downloaded from. Both are true on somebody's desk only, and tell strangers about it. And what must stand
//! in few: the folder beside the tree, without which everything else has to work.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders of a machine. Written in two pieces each, so that this file does not find itself.
const MACHINE_FOLDERS: &[&str] = &[
    concat!("/wor", "k/"),
    concat!("/roo", "t/"),
    concat!("/hom", "e/"),
    concat!("/User", "s/"),
    concat!("/tm", "p/bash"),
    concat!("C:\\User", "s\\"),
];

/// Hosts of package registries, and settings that name one.
const REGISTRY_MARKS: &[&str] = &[
    concat!("static.crat", "es.io"),
    concat!("index.crat", "es.io"),
    concat!("crat", "es.io/"),
    concat!("pyp", "i.org"),
    concat!("pythonhos", "ted.org"),
    concat!("proxy.gol", "ang.org"),
    concat!("registry.np", "mjs.org"),
    concat!("repo.mav", "en."),
    concat!("deb.deb", "ian.org"),
    concat!("index", "-url"),
    concat!("find", "-links"),
    concat!("replace", "-with ="),
];

/// The folder beside the tree.
const BESIDE: &str = concat!("../sha", "red");

/// What may look into the folder beside the tree: it says so, and counts what it then cannot do.
const MAY_LOOK_BESIDE: &[&str] = &[
    "CONTRIBUTING.md",
    "crates/measure/claims/tests/it/seeds.rs",
    "scripts/bench",
    "scripts/bench-fpe",
    "scripts/newcomer",
    "scripts/run-tests",
    "tests/vectors/",
];

/// Every file that is in the tree or about to be: known to git, or neither known nor ignored.
///
/// # Errors
/// If git is missing or this is not its working tree.
pub fn files(root: &Path) -> io::Result<Vec<PathBuf>> {
    let listed = Command::new("git")
        // The tree may belong to another user than the one who tests it, in a container for instance.
        .args([
            "-c",
            "safe.directory=*",
            "ls-files",
            "-z",
            "--cached",
            "--others",
        ])
        .arg("--exclude-standard")
        .current_dir(root)
        .output()?;
    if !listed.status.success() {
        return Err(io::Error::other(
            String::from_utf8_lossy(&listed.stderr).into_owned(),
        ));
    }
    let names = String::from_utf8_lossy(&listed.stdout).into_owned();
    let there = names
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(|name| root.join(name));
    // A file that was removed and not yet committed as such is still listed.
    Ok(there.filter(|path| path.is_file()).collect())
}

/// The lines of a file that name a folder of a machine or a registry, as `line: what`.
#[must_use]
pub fn traces(content: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(content);
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let folder = MACHINE_FOLDERS
            .iter()
            .find(|folder| begins_a_path(line, folder));
        let registry = REGISTRY_MARKS.iter().find(|mark| line.contains(*mark));
        found.extend(
            folder
                .or(registry)
                .map(|what| format!("{}: {what}", index + 1)),
        );
    }
    found
}

/// The lines by which a file leans on the folder beside the tree, if it is not one that may. `name` is its
/// path under the root.
#[must_use]
pub fn looks_beside(name: &str, content: &[u8]) -> Vec<usize> {
    let may = |allowed: &&str| match allowed.strip_suffix('/') {
        Some(_) => name.starts_with(*allowed),
        None => name == *allowed,
    };
    if MAY_LOOK_BESIDE.iter().any(may) {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(content);
    let lines = text.lines().enumerate();
    lines
        .filter(|(_, line)| line.contains(BESIDE))
        .map(|(index, _)| index + 1)
        .collect()
}

/// Whether `folder` stands in the line as the beginning of a path, not in the middle of one.
fn begins_a_path(line: &str, folder: &str) -> bool {
    line.match_indices(folder).any(|(at, _)| {
        let before = line.get(..at).and_then(|before| before.chars().next_back());
        !before.is_some_and(|c| c.is_alphanumeric() || "._-*~})]>$".contains(c))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planted_folders_of_a_machine_are_caught() {
        for folder in MACHINE_FOLDERS {
            let line = format!("first\nopen(\"{folder}alice/x\")");
            assert_eq!(traces(line.as_bytes()), [format!("2: {folder}")]);
            assert_eq!(traces(folder.as_bytes()).len(), 1);
        }
        assert_eq!(traces(concat!("cd=/roo", "t/x").as_bytes()).len(), 1);
        assert_eq!(traces(concat!("file:///hom", "e/x").as_bytes()).len(), 1);
    }

    #[test]
    fn the_middle_of_a_path_is_no_folder_of_a_machine() {
        for line in ["target/wor", "keywright-", "./", "~/"] {
            let text = format!("{line}x{}y", concat!("/hom", "e/"));
            assert!(traces(text.as_bytes()).is_empty(), "{text}");
        }
        assert!(traces(b"/homework /rooted /workspace /Users").is_empty());
    }

    #[test]
    fn planted_registries_are_caught_and_the_line_of_every_lock_file_is_not() {
        for mark in REGISTRY_MARKS {
            assert_eq!(traces(format!("x {mark}/y").as_bytes()).len(), 1, "{mark}");
        }
        let lock = b"source = \"registry+https://github.com/rust-lang/crates.io-index\"";
        assert!(traces(lock).is_empty());
    }

    #[test]
    fn a_planted_look_beside_the_tree_is_caught_but_in_the_files_that_may() {
        let line = format!("first\ncp {BESIDE}/vectors .\n{BESIDE}");
        for name in [
            "docs/formats.md",
            "scripts/setup",
            "scripts/run-tests2",
            "tests/vectors.md",
            "docs/CONTRIBUTING.md",
        ] {
            assert_eq!(looks_beside(name, line.as_bytes()), [2, 3], "{name}");
            assert!(looks_beside(name, b"shared, ./shared, ../share").is_empty());
        }
        for name in [
            "scripts/bench",
            "scripts/run-tests",
            "tests/vectors/src/family.rs",
            "CONTRIBUTING.md",
        ] {
            assert!(looks_beside(name, line.as_bytes()).is_empty(), "{name}");
        }
    }

    #[test]
    fn bytes_that_are_not_text_are_searched_too() {
        let content = [b"\xff\xfe\n", concat!("\"/hom", "e/x").as_bytes()].concat();
        assert_eq!(traces(&content).len(), 1);
    }

    #[test]
    fn a_folder_that_git_does_not_know_is_an_error_and_not_an_empty_tree() {
        assert!(files(Path::new("/")).is_err());
    }
}
