//! The bodies of the fuzz targets over what is right and ten thousand damages of it.

use keywright_hdkey::fuzzing;
use keywright_testkit::mutate::mutations;

use crate::scene::PRISM;

const COUNT: usize = 10_000;

#[test]
fn damaged_paths_are_refused_or_mean_what_they_say() {
    let seeds: [&[u8]; 4] = [
        b"m",
        b"m/44'/0'/0'/0/0",
        b"m/29h/29H/2147483647'/1'/0'",
        b"m/0/00/1''",
    ];
    seeds.iter().for_each(|seed| fuzzing::path(seed));
    mutations(&seeds, COUNT, 1).for_each(|mutant| fuzzing::path(&mutant));
}

#[test]
fn damaged_mnemonics_are_refused_or_mean_what_they_say() {
    let seeds: [&[u8]; 3] = [
        PRISM.as_bytes(),
        b"abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about",
        b"zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo zoo wrong",
    ];
    // The stretching of what is right takes long, so only few of these are whole.
    seeds.iter().for_each(|seed| fuzzing::mnemonic(seed));
    mutations(&seeds, COUNT, 2).for_each(|mutant| fuzzing::mnemonic(&mutant));
}

#[test]
fn damaged_extended_keys_are_refused_or_mean_what_they_say() {
    let seeds: [&[u8]; 2] = [
        b"xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi",
        b"xpub661MyMwAqRbcFtXgS5sYJABqqG9YLmC4Q1Rdap9gSE8NqtwybGhePY2gZ29ESFjqJoCu1Rupje8YtGqsefD265TMg7usUDFdp6W1EGMcet8",
    ];
    seeds.iter().for_each(|seed| fuzzing::extended_key(seed));
    mutations(&seeds, COUNT, 3).for_each(|mutant| fuzzing::extended_key(&mutant));
}
