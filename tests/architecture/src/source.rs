//! What a look at the text of a source file tells. Clippy refuses most of it as well; this also sees
//! what somebody has told clippy to let pass.

/// Crates with a module that may hold unsafe code; every other forbids it at its root.
pub const MAY_BE_UNSAFE: &[&str] = &["keywright-secret"];

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

/// The lines that read or change the environment of the process. Only faces may.
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
