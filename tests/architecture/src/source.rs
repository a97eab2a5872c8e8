//! What a look at the text of a source file tells. Clippy refuses most of it as well; this also sees
//! what somebody has told clippy to let pass.

/// Crates with a module that may hold unsafe code; every other forbids it at its root.
pub const MAY_BE_UNSAFE: &[&str] = &[
    "keywright-secret",
    "keywright-fpe",
    "keywright-capi-fpe",
    "keywright-fpe-gates",
    "keywright-pkcs11",
    "keywright-pkcs11-proxy",
    "keywright-fault-module",
];

/// Who may act as the owner of the machine, whom no policy binds: those who carry out orders, the child that has a
/// token's module and does what the service has decided, and the suite that every key holder is held against.
const MAY_BE_OWNER: &[&str] = &[
    "crates/service/policy/src/",
    "crates/service/service/src/",
    "crates/service/home/src/",
    "crates/custody/custody/src/conformance.rs",
    "crates/custody/token-process/src/host.rs",
];

/// Whether the root of a crate forbids unsafe code.
#[must_use]
pub fn forbids_unsafe(root: &str) -> bool {
    code_lines(root).any(|(_, line)| line.trim() == "#![forbid(unsafe_code)]")
}

/// The lines that read a clock of the operating system. Only `keywright-clock` may.
#[must_use]
pub fn clock_reads(text: &str) -> Vec<usize> {
    lines_with(text, &["Instant::now", "SystemTime::now"])
}

/// The lines that read or change the environment of the process. Only faces may, and the recorder, which has no
/// other way to be told anything.
#[must_use]
pub fn environment_reads(text: &str) -> Vec<usize> {
    lines_with(
        text,
        &[
            "env::var",
            "env::set_var",
            "env::remove_var",
            "env::{",
            "env::*",
        ],
    )
}

/// The lines by which the file `name`, a path under the root, takes the owner's policy and may not. What
/// stands behind `#[cfg(test)]` may, so tests come last in a file.
#[must_use]
pub fn owner_policies(name: &str, text: &str) -> Vec<usize> {
    if MAY_BE_OWNER.iter().any(|owner| name.starts_with(owner)) {
        return Vec::new();
    }
    let tests = text.lines().position(|line| line == "#[cfg(test)]");
    let tests = tests.unwrap_or(usize::MAX);
    let taken = lines_with(text, &["Policy::owner", "::owner()"]);
    taken.into_iter().filter(|line| *line <= tests).collect()
}

/// The lines that start a thread in a way that panics where the system gives none, outside of tests, which come last in a
/// file. `std::thread::Builder` returns an error.
#[must_use]
pub fn infallible_threads(text: &str) -> Vec<usize> {
    let tests = text.lines().position(|line| line == "#[cfg(test)]");
    let tests = tests.unwrap_or(usize::MAX);
    let found = lines_with(text, &["thread::spawn(", "scope.spawn("]);
    found.into_iter().filter(|line| *line <= tests).collect()
}

fn lines_with(text: &str, words: &[&str]) -> Vec<usize> {
    code_lines(text)
        .filter(|(_, line)| words.iter().any(|word| line.contains(word)))
        .map(|(number, _)| number)
        .collect()
}

/// The lines that are not comment as a whole, with their numbers from 1.
fn code_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_attribute_itself_forbids_unsafe_code() {
        assert!(forbids_unsafe(
            "//! A crate.\n#![forbid(unsafe_code)]\n\nmod a;\n"
        ));
        for root in [
            "",
            "//! #![forbid(unsafe_code)]\n",
            "// #![forbid(unsafe_code)]\n",
            "#![deny(unsafe_code)]\n",
            "#[forbid(unsafe_code)]\nmod a;\n",
        ] {
            assert!(!forbids_unsafe(root), "{root}");
        }
    }

    #[test]
    fn a_planted_thread_is_caught_unless_a_test_starts_it() {
        let text = "std::thread::spawn(work);\nscope.spawn(work);\nthread.spawn_scoped(scope, work)?;\n\
            #[cfg(test)]\nmod tests {\n    thread::spawn(work);\n}\n";
        assert_eq!(infallible_threads(text), [1, 2]);
    }

    #[test]
    fn a_planted_look_at_the_clock_is_caught_and_a_word_about_it_is_not() {
        let text = "/// Like `Instant::now`.\nlet a = 1;\nlet b = std::time::Instant::now();\n";
        assert_eq!(clock_reads(text), [3]);
        assert_eq!(
            clock_reads("let t = SystemTime::now(); // SystemTime::now\n"),
            [1]
        );
        assert!(clock_reads("let t = clock.now(); let e = SystemTime::UNIX_EPOCH;\n").is_empty());
    }

    #[test]
    fn a_planted_owner_is_caught_outside_its_places_and_tests() {
        let text = "use a::Policy;\nlet p = Policy::owner().permit();\nlet p = P::owner();\n\
            #[cfg(test)]\nmod tests {\n    let p = Policy::owner();\n}\n";
        for name in [
            "crates/service/server/src/application.rs",
            "crates/service/servicex/src/lib.rs",
            "crates/custody/custody/src/holder.rs",
            "crates/faces/cli/src/main.rs",
        ] {
            assert_eq!(owner_policies(name, text), [2, 3], "{name}");
        }
        for name in [
            "crates/service/service/src/admin.rs",
            "crates/custody/custody/src/conformance.rs",
        ] {
            assert!(owner_policies(name, text).is_empty(), "{name}");
        }
        let word = "/// See `Policy::owner`.\nlet owner = policy.owner;\n";
        assert!(owner_policies("crates/faces/cli/src/main.rs", word).is_empty());
    }

    #[test]
    fn a_planted_read_of_the_environment_is_caught() {
        for line in [
            "std::env::var(\"HOME\")",
            "env::var_os(\"X\")",
            "env::vars()",
            "use std::env::{self, var};",
            "use std::env::*;",
            "env::set_var(\"A\", \"B\")",
        ] {
            assert_eq!(environment_reads(line), [1], "{line}");
        }
        assert!(environment_reads("env!(\"CARGO_PKG_VERSION\"); std::env::args();").is_empty());
    }
}
