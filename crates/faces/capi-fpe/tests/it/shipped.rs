//! What is installed: names, versions, symbols, and the header in other dialects.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::workshop::{Linkage, Workshop, has, home, run, skip};

/// The functions that the header declares.
fn declared() -> BTreeSet<String> {
    let header = fs::read_to_string(home().join("include/fpe.h")).unwrap();
    let code = without_comments(&header);
    let mut names = BTreeSet::new();
    let mut rest = code.as_str();
    while let Some((before, after)) = rest.split_once('(') {
        let word = before
            .rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .next();
        names.extend(
            word.filter(|word| word.starts_with("FPE_"))
                .map(str::to_owned),
        );
        rest = after;
    }
    names
}

fn without_comments(text: &str) -> String {
    let mut parts = text.split("/*");
    let first = parts.next().unwrap_or_default().to_owned();
    parts
        .filter_map(|part| part.split_once("*/"))
        .fold(first, |code, (_, after)| code + after)
}

fn symbols(arguments: &[&str], file: &Path) -> BTreeSet<String> {
    let listed = run(Command::new("nm").args(arguments).arg(file));
    let named = listed.lines().filter_map(|line| {
        let mut words = line.split_whitespace().rev();
        let name = words.next()?;
        words.next().map(|_| name.to_owned())
    });
    named.collect()
}

#[test]
fn the_header_declares_the_11_functions_and_what_is_documented_beside_them() {
    let names = declared();
    let old = [
        "FPE_CTX_new",
        "FPE_CTX_free",
        "FPE_CTX_init",
        "FPE_encrypt",
        "FPE_decrypt",
        "FPE_encrypt_str",
        "FPE_decrypt_str",
        "FPE_encrypt_oneshot",
        "FPE_decrypt_oneshot",
        "FPE_encrypt_str_oneshot",
        "FPE_decrypt_str_oneshot",
    ];
    for name in old {
        assert!(names.contains(name), "{name}");
    }
    assert_eq!(names.len(), 29, "{names:?}");
}

#[test]
fn the_shared_library_exports_the_functions_of_the_header_and_nothing_else() {
    let Some(workshop) = Workshop::open("exports-shared") else {
        return;
    };
    let library = workshop.installed("lib/libfpe.so");
    assert_eq!(symbols(&["-D", "--defined-only"], &library), declared());
}

#[test]
fn the_static_library_defines_the_functions_of_the_header_and_nothing_else() {
    let Some(workshop) = Workshop::open("exports-static") else {
        return;
    };
    let library = workshop.installed("lib/libfpe.a");
    assert_eq!(
        symbols(&["--extern-only", "--defined-only"], &library),
        declared()
    );
}

#[test]
fn what_is_installed_stands_where_it_is_looked_for() {
    let Some(workshop) = Workshop::open("layout") else {
        return;
    };
    let version = env!("CARGO_PKG_VERSION");
    let links = [
        ("lib/libfpe.so", "libfpe.so.0".to_owned()),
        ("lib/libfpe.so.0", format!("libfpe.so.{version}")),
    ];
    for (link, to) in links {
        assert_eq!(
            fs::read_link(workshop.installed(link)).unwrap(),
            Path::new(&to)
        );
    }
    let header = fs::read(workshop.installed("include/fpe.h")).unwrap();
    assert_eq!(header, fs::read(home().join("include/fpe.h")).unwrap());
    let asked = run(Command::new("readelf")
        .arg("-d")
        .arg(workshop.installed("lib/libfpe.so")));
    assert!(asked.contains("Library soname: [libfpe.so.0]"), "{asked}");
}

#[test]
fn header_crate_and_pkg_config_file_have_one_version() {
    let version = env!("CARGO_PKG_VERSION");
    let header = fs::read_to_string(home().join("include/fpe.h")).unwrap();
    assert!(header.contains(&format!("#define FPE_VERSION_STRING \"{version}\"")));
    let Some(workshop) = Workshop::open("version") else {
        return;
    };
    let file = fs::read_to_string(workshop.installed("lib/pkgconfig/fpe.pc")).unwrap();
    assert!(file.contains(&format!("\nVersion: {version}\n")), "{file}");
    assert!(file.starts_with("prefix=/opt/fpe\n"), "{file}");
    assert!(
        !file.contains('@') && !file.contains(workshop.stage().to_str().unwrap()),
        "{file}"
    );
}

#[test]
fn pkg_config_tells_how_to_build_a_program() {
    const TEST: &str = "pkg-config";
    let Some(workshop) = Workshop::open(TEST) else {
        return;
    };
    if !has("pkg-config") {
        return skip(TEST, "no pkg-config");
    }
    let ask = |more: &[&str]| {
        let mut command = Command::new("pkg-config");
        command.env("PKG_CONFIG_PATH", workshop.installed("lib/pkgconfig"));
        command.env("PKG_CONFIG_SYSROOT_DIR", workshop.stage());
        run(command.args(["--cflags", "--libs"]).args(more).arg("fpe"))
    };
    for more in [&[][..], &["--static"]] {
        let program = workshop.scratch().join("basic");
        let flags = ask(more);
        let mut compile = Command::new("cc");
        compile
            .arg(home().join("examples/basic.c"))
            .args(flags.split_whitespace());
        run(compile.arg("-o").arg(&program));
        let mut command = Command::new(&program);
        run(command.env("LD_LIBRARY_PATH", workshop.installed("lib")));
    }
}

#[test]
fn the_header_stands_alone_in_c99_and_cpp() {
    const TEST: &str = "dialects";
    let Some(workshop) = Workshop::open(TEST) else {
        return;
    };
    let mut dialects = vec![("c", "-std=c99"), ("c", "-std=c17")];
    if has("c++") {
        dialects.extend([("c++", "-std=c++11"), ("c++", "-std=c++20")]);
    } else {
        skip(TEST, "no C++ compiler: c++");
    }
    for (language, standard) in dialects {
        let compiler = if language == "c" { "cc" } else { "c++" };
        let mut command = Command::new(compiler);
        command.args([
            "-x",
            language,
            standard,
            "-Wall",
            "-Wextra",
            "-pedantic-errors",
            "-Werror",
        ]);
        run(command
            .arg("-fsyntax-only")
            .arg(workshop.installed("include/fpe.h")));
    }
}

#[test]
fn programs_ask_for_the_library_by_its_version() {
    let Some(workshop) = Workshop::open("needed") else {
        return;
    };
    let program = workshop.build("examples/basic.c", Linkage::Shared, &[]);
    let asked = run(Command::new("readelf").arg("-d").arg(program));
    assert!(asked.contains("Shared library: [libfpe.so.0]"), "{asked}");
}
