//! Completions as a real shell has them, and manual pages as a real formatter reads them.

use std::process::Command;

use crate::program::{Folder, keywright};

/// What bash offers for the last of these words.
fn bash(words: &[&str]) -> Option<Vec<String>> {
    let folder = Folder::new();
    let script = folder.write("script", keywright(&["completions", "bash"]).text());
    let last = words.len() - 1;
    let line = format!(
        "source {script}; COMP_WORDS=({}); COMP_CWORD={last}; _keywright keywright \"{}\" \"{}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        words
            .iter()
            .map(|word| format!("'{word}'"))
            .collect::<Vec<_>>()
            .join(" "),
        words[last],
        words[last - 1],
    );
    let output = Command::new("bash")
        .args(["--norc", "-c", &line])
        .output()
        .ok()?;
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    Some(text.lines().map(str::to_owned).collect())
}

#[test]
fn bash_completes_commands_flags_and_values() {
    let Some(commands) = bash(&["keywright", ""]) else {
        return;
    };
    for command in ["hsm", "completions", "man", "serve"] {
        assert!(
            commands.iter().any(|one| one == command),
            "{command}: {commands:?}"
        );
    }
    assert!(!commands.iter().any(|one| one == "sign"), "{commands:?}");
    let hsm = bash(&["keywright", "hsm", "gen-"]).unwrap();
    assert!(hsm.iter().any(|one| one == "gen-keypair"), "{hsm:?}");
    assert!(hsm.iter().all(|one| one.starts_with("gen-")), "{hsm:?}");
    let flags = bash(&["keywright", "hsm", "sign", "--key-"]).unwrap();
    assert_eq!(flags, ["--key-label"]);
    let values = bash(&["keywright", "hsm", "hash", "--algorithm", "sha3-"]).unwrap();
    assert_eq!(values, ["sha3-224", "sha3-256", "sha3-384", "sha3-512"]);
    let none = bash(&["keywright", "hsm", "sign", "--no-such-"]).unwrap();
    assert!(none.iter().all(String::is_empty), "{none:?}");
}

#[test]
fn every_shell_has_a_script_and_no_other_has_one() {
    for (shell, part) in [
        ("bash", "complete -F _keywright"),
        ("zsh", "#compdef keywright"),
        ("fish", "complete -c keywright"),
        ("elvish", "edit:completion"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let script = keywright(&["completions", shell]).text();
        assert!(script.contains(part), "{shell}");
        assert!(script.contains("key-label"), "{shell}");
        let told = keywright(&["completions", shell, "--format", "json"]).document();
        assert_eq!(
            (&told["shell"], &told["script"]),
            (&shell.into(), &script.into())
        );
    }
    keywright(&["completions", "tcsh"]).refused(2, "tcsh", "zsh");
    keywright(&["completions"]).refused(2, "SHELL", "usage");
    keywright(&["completions", "bash", "--format", "csv"]).refused(
        2,
        "do not have this form",
        "text",
    );
}

/// What a formatter of manual pages makes of a page, which must not complain; none where there is no such program.
fn formatted(path: &str) -> Option<String> {
    let output = Command::new("groff")
        .args(["-man", "-Tutf8", "-ww", "-P-cbou", path])
        .output()
        .ok()?;
    assert!(output.status.success(), "{output:?}");
    assert!(
        output.stderr.is_empty(),
        "{path}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Structure that each page has, also where nothing formats it.
#[track_caller]
fn is_a_page(text: &str, name: &str) {
    let titled = text
        .lines()
        .any(|line| line.starts_with(".TH ") && line.contains(name));
    assert!(titled, "{name}: {text}");
    for section in ["NAME", "SYNOPSIS"] {
        let headed = text.lines().any(|line| line == format!(".SH {section}"));
        assert!(headed, "{name}: {section}");
    }
}

#[test]
fn a_page_is_written_for_each_command_and_reads_as_one() {
    let folder = Folder::new();
    let at = folder.path().to_str().unwrap();
    let told = keywright(&["man", "--output", at, "--format", "json"]).document();
    let pages = told["pages"].as_array().unwrap();
    let names = folder.names();
    assert_eq!(names.len(), pages.len());
    for name in [
        "keywright.1",
        "keywright-hsm.1",
        "keywright-hsm-sign.1",
        "keywright-man.1",
    ] {
        assert!(names.iter().any(|one| one == name), "{name}: {names:?}");
    }
    assert!(!names.iter().any(|name| name.contains("help")), "{names:?}");
    // Those are of the other program, and the page of this one names it.
    assert!(
        !names
            .iter()
            .any(|name| name.starts_with("keywright-bench.")),
        "{names:?}"
    );
    let page = String::from_utf8(folder.read("keywright.1")).unwrap();
    assert!(page.contains("Measure operations"), "{page}");
    for command in crate::hsm_docs::commands() {
        let name = format!("keywright-hsm-{command}");
        let text = std::fs::read_to_string(folder.name(&format!("{name}.1"))).unwrap();
        is_a_page(&text, &name);
        if let Some(shown) = formatted(&folder.name(&format!("{name}.1"))) {
            assert!(shown.contains("--format"), "{name}: {shown}");
        }
    }
}

#[test]
fn pages_that_are_there_are_written_over_only_on_demand() {
    let folder = Folder::new();
    let at = folder.path().to_str().unwrap();
    folder.write("keywright.1", "mine");
    keywright(&["man", "--output", at]).refused(13, "keywright.1 exists", "another name");
    assert_eq!(folder.read("keywright.1"), b"mine");
    keywright(&["man", "--output", at, "--force"]).text();
    assert!(folder.read("keywright.1").starts_with(b"."));
    let nowhere = folder.name("nowhere");
    keywright(&["man", "--output", &nowhere]).refused(1, "nowhere", "path");
}

#[test]
fn one_page_goes_to_standard_output() {
    let text = keywright(&["man"]).text();
    is_a_page(&text, "keywright");
    let sign = keywright(&["man", "hsm", "sign"]).text();
    is_a_page(&sign, "keywright-hsm-sign");
    assert!(sign.contains("\\-\\-key\\-label"), "{sign}");
    let told = keywright(&["man", "hsm", "sign", "--format", "json"]).document();
    assert_eq!(
        (&told["name"], &told["page"]),
        (&"keywright-hsm-sign.1".into(), &sign.into())
    );
    keywright(&["man", "hsm", "sing"]).refused(9, "hsm sing", "--help");
    keywright(&["man", "hsm", "--output", "/tmp"]).refused(2, "cannot be used with", "usage");
    keywright(&["man", "--force"]).refused(2, "--output", "usage");
}
