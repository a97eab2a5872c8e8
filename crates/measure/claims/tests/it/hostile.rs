//! Damaged files by the thousand.

use std::fs;
use std::path::Path;

use keywright_claims::fuzzing;
use keywright_mutate::{mutants, mutations};

fn files(folder: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    // In one order everywhere, so that the mutants are the same everywhere.
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

fn corpus() -> Vec<Vec<u8>> {
    let mut corpus = files("../../../fuzz/corpus/claims_document");
    corpus.extend(files("fixtures"));
    corpus
}

#[test]
fn every_file_of_the_corpus_keeps_every_promise() {
    let corpus = corpus();
    assert!(corpus.len() >= 20, "the corpus is not where it should be");
    for file in &corpus {
        fuzzing::document(file);
    }
}

#[test]
fn ten_thousand_damaged_files_keep_every_promise() {
    let corpus = corpus();
    let seeds: Vec<&[u8]> = corpus.iter().map(Vec::as_slice).collect();
    for mutant in mutations(&seeds, mutants(), 0x636c_6d31) {
        fuzzing::document(&mutant);
    }
}

#[test]
fn wide_and_long_files_are_read_in_bounded_time() {
    let wide = format!(
        "|{}\n|{}\n|{}\n",
        "p50|".repeat(20_000),
        "-|".repeat(20_000),
        "1|".repeat(20_000)
    );
    let nested = format!(
        "[{}]",
        "{\"a\":{\"b\":[{\"c\":1}]}},"
            .repeat(5_000)
            .trim_end_matches(',')
    );
    let digits = format!(
        "a: {}/{} [00:00:01]\n",
        "9".repeat(50_000),
        "1,000".repeat(10_000)
    );
    let open = "```\n".repeat(20_000);
    let columns = "a  b  c\n".repeat(50_000);
    let claims = "[[claim]]\nname = \"a\"\nvalue = 1\n".repeat(20_000);
    let claims = format!("version = 1\n{claims}");
    let prose = format!("{}\n{}", "x".repeat(200_000), "|a|\n|-|\n\n".repeat(20_000));
    let promises = format!(
        "{}\n|1 core|2 cores|efficiency|\n|-|-|-|\n{}",
        "80-95% efficiency\n".repeat(20_000),
        "|1|2|3|\n".repeat(20_000)
    );
    let key = format!("{{\"{}\":[{}1]}}", "k".repeat(200_000), "1,".repeat(20_000));
    for file in [
        wide, nested, digits, open, columns, claims, prose, promises, key,
    ] {
        fuzzing::document(file.as_bytes());
    }
}
