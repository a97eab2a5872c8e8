//! Looks at the instructions of a program that contains the engine: no division and no table in the kernels,
//! no division of anything secret elsewhere, and no S-box anywhere. The last line counts.
//!
//! Called with the path of the program, which must contain the planted functions too.
#![deny(unsafe_code)]
#![expect(clippy::print_stdout, reason = "a program of tests")]

use std::ops::Range;
use std::process::{Command, ExitCode};

use keywright_fpe_gates::disassembly::{self, Finding, Function};
use keywright_fpe_gates::places;

/// The first bytes of tables that have no business in the program: the S-boxes of AES and SM4, the inverse
/// one, and the words of the usual AES tables in either order of bytes.
const TABLES: &[(&str, &[u8])] = &[
    ("the S-box of AES", b"\x63\x7c\x77\x7b\xf2\x6b\x6f\xc5"),
    (
        "the inverse S-box of AES",
        b"\x52\x09\x6a\xd5\x30\x36\xa5\x38",
    ),
    ("a table of AES", b"\xc6\x63\x63\xa5\xf8\x7c\x7c\x84"),
    ("a table of AES", b"\xa5\x63\x63\xc6\x84\x7c\x7c\xf8"),
    ("the S-box of SM4", b"\xd6\x90\xe9\xfe\xcc\xe1\x3d\xb7"),
];
/// As the planted table begins.
const PLANTED: &[u8] = b"\x00\xa7\x53\xfa\xa6\x52\xf9\xa5";

fn output(program: &str, arguments: &[&str]) -> Result<String, String> {
    let made = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    if !made.status.success() {
        return Err(format!("{program}: {}", made.status));
    }
    Ok(String::from_utf8_lossy(&made.stdout).into_owned())
}

/// The innermost function and place of each address.
fn places_of(path: &str, addresses: &[u64]) -> Result<Vec<(String, String)>, String> {
    let mut places = Vec::new();
    for some in addresses.chunks(500) {
        let words: Vec<String> = some.iter().map(|address| format!("{address:x}")).collect();
        let mut arguments = vec!["-e", path, "-f", "-C"];
        arguments.extend(words.iter().map(String::as_str));
        let text = output("addr2line", &arguments)?;
        let lines: Vec<&str> = text.lines().collect();
        let pairs = lines.chunks_exact(2);
        places.extend(pairs.map(|pair| (pair[0].to_owned(), pair[1].to_owned())));
    }
    Ok(places)
}

/// Every finding in the engine that has no excuse, in words.
fn unexcused(
    path: &str,
    functions: &[Function],
    constants: &[Range<u64>],
) -> Result<Vec<String>, String> {
    let mut all: Vec<(&str, u64, Finding)> = Vec::new();
    for function in functions.iter().filter(|one| places::is_engine(&one.name)) {
        let found = disassembly::findings(function, constants);
        all.extend(
            found
                .iter()
                .map(|(at, what)| (function.name.as_str(), *at, *what)),
        );
    }
    let addresses: Vec<u64> = all.iter().map(|(_, address, _)| *address).collect();
    let places = places_of(path, &addresses)?;
    if places.len() != all.len() {
        return Err(format!(
            "{} places for {} addresses",
            places.len(),
            all.len()
        ));
    }
    let bad = all
        .iter()
        .zip(&places)
        .filter(|((name, _, finding), place)| {
            !places::is_public(*finding, name, (&place.0, &place.1))
        });
    Ok(bad
        .map(|((name, address, finding), place)| {
            format!(
                "{finding:?} at {address:x} in {name}: {} {}",
                place.0, place.1
            )
        })
        .collect())
}

fn holds(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}

/// Whether the gate sees what is planted.
fn planted(
    functions: &[Function],
    constants: &[Range<u64>],
    bytes: &[u8],
) -> [(&'static str, bool); 3] {
    let sees = |name: &str, finding: Finding| {
        functions
            .iter()
            .filter(|one| one.name.ends_with(name))
            .any(|one| {
                let found = disassembly::findings(one, constants);
                found.iter().any(|(_, what)| *what == finding)
            })
    };
    [
        (
            "a planted division",
            sees("planted::divides", Finding::Division),
        ),
        (
            "a planted look-up",
            sees("planted::looks_up", Finding::Table),
        ),
        ("a planted table", holds(bytes, PLANTED)),
    ]
}

fn judge(path: &str) -> Result<(u32, u32), String> {
    let listing = output(
        "objdump",
        &["-d", "-C", "-M", "intel", "--no-show-raw-insn", path],
    )?;
    let constants = disassembly::constant_data(&output("objdump", &["-h", path])?);
    let bytes = std::fs::read(path).map_err(|error| format!("{path}: {error}"))?;
    let functions = disassembly::functions(&listing);
    let (mut passed, mut failed) = (0, 0);
    let mut say = |good: bool, words: &str| {
        if good {
            passed += 1;
        } else {
            failed += 1;
            println!("{words}");
        }
    };
    for (name, seen) in planted(&functions, &constants, &bytes) {
        say(seen, &format!("{name} was not found"));
    }
    for (name, table) in TABLES {
        say(!holds(&bytes, table), &format!("the program holds {name}"));
    }
    for kernel in places::missing(&functions) {
        say(false, &format!("there is no function {kernel}"));
    }
    let bad = unexcused(path, &functions, &constants)?;
    for words in &bad {
        say(false, words);
    }
    // One for each function that was looked at and is clean.
    let engine = functions.iter().filter(|one| places::is_engine(&one.name));
    let clean = engine.filter(|one| !bad.iter().any(|words| words.contains(&one.name)));
    let (kernels, others): (Vec<_>, Vec<_>) = clean.partition(|one| places::is_kernel(&one.name));
    println!(
        "{} kernel functions, {} others",
        kernels.len(),
        others.len()
    );
    passed += u32::try_from(kernels.len() + others.len()).unwrap_or_default();
    Ok((passed, failed))
}

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        println!("instructions: the path of a program is needed");
        return ExitCode::from(2);
    };
    match judge(&path) {
        Ok((passed, failed)) => {
            println!("{passed} passed, {failed} failed, 0 skipped");
            if failed == 0 {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(words) => {
            println!("instructions: {words}");
            ExitCode::from(2)
        }
    }
}
