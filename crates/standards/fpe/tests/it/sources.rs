//! No logarithm of floating-point numbers decides anything: the sources do not name one.

use std::fs;
use std::path::Path;

const FORBIDDEN: [&str; 5] = ["log2(", "log10(", ".ln(", "ln_1p(", ".powf("];

/// The lines with code that names a forbidden function.
fn named(text: &str) -> Vec<&str> {
    let code = |line: &&str| !line.trim_start().starts_with("//");
    text.lines()
        .filter(code)
        .filter(|line| {
            FORBIDDEN
                .iter()
                .any(|word| line.replace("ilog2(", "").contains(word))
        })
        .collect()
}

fn walk(folder: &Path, seen: &mut impl FnMut(&Path)) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, seen);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            seen(&path);
        }
    }
}

#[test]
fn no_source_names_a_logarithm_of_floating_point_numbers() {
    let mut files = 0;
    walk(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"),
        &mut |path| {
            files += 1;
            let text = fs::read_to_string(path).unwrap();
            assert!(
                named(&text).is_empty(),
                "{}: {:?}",
                path.display(),
                named(&text)
            );
        },
    );
    assert!(files > 30, "only {files} files were found");
}

#[test]
fn a_planted_logarithm_is_found() {
    for line in [
        "let b = (v as f64 * (radix as f64).log2()).ceil();",
        "let b = f64::log2(radix) * v;",
        "let b = v.ln();",
        "let m = radix.powf(v);",
    ] {
        assert_eq!(named(line).len(), usize::from(line.contains("(")), "{line}");
    }
    assert!(named("// ceil(v log2(radix))\nlet b = v.ilog2();").is_empty());
}
