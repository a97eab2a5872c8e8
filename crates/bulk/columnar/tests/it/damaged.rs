//! Damaged files, one by one and by the thousand.

use std::path::Path;

use keywright_columnar::{Error, Kind, Table, fuzzing};
use keywright_mutate::mutations;

use crate::scene::{KINDS, RULES, Work, batch, keys};

#[test]
fn files_that_are_cut_short_are_refused_and_leave_nothing() {
    for kind in KINDS {
        let work = Work::new();
        work.write(kind, &[batch(50)]);
        let good = work.read("in");
        for cut in [0, 3, 9, 40, good.len() / 2, good.len() - 9, good.len() - 1] {
            std::fs::write(work.path("in"), &good[..cut]).unwrap();
            let error = work.protect(RULES).unwrap_err();
            let told = matches!(error, Error::Damaged { .. } | Error::Kind { .. });
            assert!(told, "{kind:?} cut at {cut}: {error:?}");
            assert_eq!(work.names(), ["in"], "{kind:?} cut at {cut}");
        }
    }
}

#[test]
fn files_of_other_kinds_are_told_from_damaged_ones() {
    let work = Work::new();
    for text in [&b""[..], b"id,name\n1,x\n", b"PK\x03\x04", &[0; 4096]] {
        std::fs::write(work.path("in"), text).unwrap();
        assert_eq!(Kind::of(&work.path("in")), None);
        let error = Table::open(&work.path("in")).unwrap_err();
        assert!(matches!(error, Error::Kind { .. }), "{error:?}");
    }
    assert_eq!(Kind::of(&work.path("nothing")), None);
}

#[test]
fn damaged_files_come_back_or_are_refused() {
    for kind in KINDS {
        let work = Work::new();
        work.write(kind, &[batch(12), batch(3)]);
        let seed = work.read("in");
        let folder = tempfile::tempdir().unwrap();
        fuzzing::file(folder.path(), &seed, &keys());
        for mutant in mutations(&[&seed], 1_500, 0x636f_6c75) {
            fuzzing::file(folder.path(), &mutant, &keys());
        }
    }
}

/// Files that pyarrow has written, of every form that is read in a way of its own.
#[test]
fn the_corpus_and_its_damaged_neighbours_come_back_or_are_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/columnar_file");
    let mut seeds = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        seeds.push(std::fs::read(entry.unwrap().path()).unwrap());
    }
    assert!(seeds.len() >= 7);
    let folder = tempfile::tempdir().unwrap();
    for seed in &seeds {
        std::fs::write(folder.path().join("seed"), seed).unwrap();
        Table::open(&folder.path().join("seed")).unwrap();
        fuzzing::file(folder.path(), seed, &keys());
    }
    let seeds: Vec<&[u8]> = seeds.iter().map(Vec::as_slice).collect();
    for mutant in mutations(&seeds, 400, 0x7079_6172) {
        fuzzing::file(folder.path(), &mutant, &keys());
    }
}

#[test]
fn values_in_any_metadata_are_left_out() {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/columnar_metadata");
    let entries = std::fs::read_dir(folder).unwrap();
    let seeds: Vec<_> = entries
        .map(|entry| std::fs::read(entry.unwrap().path()).unwrap())
        .collect();
    assert!(seeds.len() >= 2);
    let seeds: Vec<&[u8]> = seeds.iter().map(Vec::as_slice).collect();
    seeds.iter().for_each(|seed| fuzzing::metadata(seed));
    for mutant in mutations(&seeds, 1_500, 0x6d65_7461) {
        fuzzing::metadata(&mutant);
    }
}
