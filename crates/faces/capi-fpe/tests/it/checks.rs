//! The C tests: plain, linked both ways, on every backend, under sanitisers, under valgrind.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cases;
use crate::workshop::{Linkage, Workshop, has, run, said, skip};

const SANITISE: [&str; 4] = [
    "-g",
    "-O1",
    "-fsanitize=address,undefined",
    "-fno-sanitize-recover=all",
];

/// The programs, and whether they bear tools that watch memory: one looks at memory itself.
const PROGRAMS: [(&str, &[&str]); 6] = [
    ("golden", &[]),
    ("defects", &[]),
    ("surface", &[]),
    ("shared", &[]),
    ("dropin", &[]),
    ("wipe", &WIPE),
];

/// All names are bound at the start: binding one later puts the registers on the stack, with what
/// the program itself has left in them.
const WIPE: [&str; 2] = ["-D_GNU_SOURCE", "-Wl,-z,now"];

fn source(name: &str) -> String {
    format!("tests/c/{name}.c")
}

fn with_cases(workshop: &Workshop) {
    fs::write(workshop.scratch().join("cases.h"), cases::header()).unwrap();
}

/// Runs a program that counts its checks.
fn all_hold(program: &Path, command: &mut Command) {
    let printed = run(command);
    assert!(
        printed.contains(" checks, 0 failed"),
        "{}: {printed}",
        program.display()
    );
}

fn pass(test: &str, linkage: Linkage) {
    let Some(workshop) = Workshop::open(test) else {
        return;
    };
    with_cases(&workshop);
    for (name, flags) in PROGRAMS {
        if name == "wipe" && !cfg!(target_env = "gnu") {
            skip(test, "wipe.c replaces free as the GNU library allows");
            continue;
        }
        let program = workshop.build(&source(name), linkage, flags);
        all_hold(&program, &mut Command::new(&program));
    }
}

#[test]
fn every_check_holds_with_the_shared_library() {
    pass("shared", Linkage::Shared);
}

#[test]
fn every_check_holds_with_the_static_library() {
    pass("static", Linkage::Static);
}

#[test]
fn golden_values_and_wiping_hold_on_every_backend() {
    let Some(workshop) = Workshop::open("backends") else {
        return;
    };
    with_cases(&workshop);
    let mut programs = vec![workshop.build(&source("golden"), Linkage::Shared, &[])];
    if cfg!(target_env = "gnu") {
        programs.push(workshop.build(&source("wipe"), Linkage::Shared, &WIPE));
    }
    for backend in keywright_fpe::Backend::ALL
        .into_iter()
        .filter(|one| one.is_available())
    {
        for program in &programs {
            let mut command = Command::new(program);
            all_hold(
                program,
                command.env("KEYWRIGHT_FPE_BACKEND", backend.name()),
            );
        }
    }
}

#[test]
fn golden_runs_every_case() {
    let Some(workshop) = Workshop::open("golden") else {
        return;
    };
    with_cases(&workshop);
    let program = workshop.build(&source("golden"), Linkage::Shared, &[]);
    let printed = run(&mut Command::new(&program));
    assert!(
        printed.contains(&format!("{} cases\n", cases::CASES)),
        "{printed}"
    );
}

#[test]
fn an_unknown_backend_in_the_environment_is_an_error_and_not_a_choice() {
    let Some(workshop) = Workshop::open("unknown-backend") else {
        return;
    };
    let program = workshop.build(&source("planted"), Linkage::Shared, &[]);
    let mut command = Command::new(&program);
    let output = command
        .env("KEYWRIGHT_FPE_BACKEND", "fastest")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(
        said(&output).contains("the backend is unknown"),
        "{}",
        said(&output)
    );
}

#[test]
fn a_wrong_expectation_is_seen() {
    let Some(workshop) = Workshop::open("planted") else {
        return;
    };
    let program = workshop.build(&source("planted"), Linkage::Shared, &[]);
    let output = Command::new(&program).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    assert!(
        said(&output).contains("planted: 2 checks, 1 failed"),
        "{}",
        said(&output)
    );
}

#[test]
fn a_program_for_fpe_c_runs_unchanged_under_its_own_declarations() {
    let Some(workshop) = Workshop::open("own-declarations") else {
        return;
    };
    for linkage in [Linkage::Shared, Linkage::Static] {
        let program = workshop.build(&source("dropin"), linkage, &["-DOWN_INTERFACE"]);
        all_hold(&program, &mut Command::new(&program));
    }
}

#[test]
fn every_check_holds_under_sanitisers() {
    const TEST: &str = "sanitisers";
    let Some(workshop) = Workshop::open(TEST) else {
        return;
    };
    let (probe, built) = workshop.compile(&source("dropin"), Linkage::Shared, &SANITISE);
    if !built.status.success() {
        return skip(TEST, "the C compiler has no address sanitiser");
    }
    all_hold(&probe, &mut Command::new(&probe));
    with_cases(&workshop);
    for (name, flags) in PROGRAMS.into_iter().filter(|(name, _)| *name != "wipe") {
        let flags = [&SANITISE, flags].concat();
        let program = workshop.build(&source(name), Linkage::Static, &flags);
        let mut command = Command::new(&program);
        all_hold(&program, command.env("FPE_TEST_EVERY_PAIR", "1"));
    }
}

#[test]
fn the_sanitisers_are_awake() {
    const TEST: &str = "sanitisers-awake";
    let Some(workshop) = Workshop::open(TEST) else {
        return;
    };
    let (program, built) = workshop.compile(&source("beyond"), Linkage::Shared, &SANITISE);
    if !built.status.success() {
        return skip(TEST, "the C compiler has no address sanitiser");
    }
    let output = Command::new(&program).output().unwrap();
    assert!(!output.status.success(), "{}", said(&output));
    assert!(
        said(&output).contains("heap-buffer-overflow"),
        "{}",
        said(&output)
    );
}

#[test]
fn every_check_holds_under_valgrind() {
    const TEST: &str = "valgrind";
    let Some(workshop) = Workshop::open(TEST) else {
        return;
    };
    if !has("valgrind") {
        return skip(TEST, "no valgrind");
    }
    with_cases(&workshop);
    for (name, flags) in PROGRAMS.into_iter().filter(|(name, _)| *name != "wipe") {
        let program = workshop.build(&source(name), Linkage::Shared, &[flags, &["-g"]].concat());
        let mut command = watched(&program);
        // Everything takes a hundred times as long, so the long loops take fewer steps.
        all_hold(&program, command.env("FPE_TEST_STRIDE", "97"));
    }
}

#[test]
fn valgrind_is_awake() {
    const TEST: &str = "valgrind-awake";
    let Some(workshop) = Workshop::open(TEST) else {
        return;
    };
    if !has("valgrind") {
        return skip(TEST, "no valgrind");
    }
    let program = workshop.build(&source("beyond"), Linkage::Shared, &["-g"]);
    let output = watched(&program).output().unwrap();
    assert_eq!(output.status.code(), Some(99), "{}", said(&output));
}

fn watched(program: &Path) -> Command {
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--error-exitcode=99", "--leak-check=full"]);
    command
        .arg("--errors-for-leak-kinds=definite,indirect")
        .arg(program);
    command
}
