//! The bodies of the fuzz targets over what is right and ten thousand damages of it.

use keywright_hdkey::fuzzing;
use keywright_mutate::mutations;

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

#[test]
fn damaged_patterns_are_refused_or_mean_what_they_say() {
    let seeds: [&[u8]; 4] = [
        b"m/**",
        b"m/29'/29'/*'/4'/**",
        b"m/*/0h/*'/1H",
        b"m/0/**/01",
    ];
    seeds.iter().for_each(|seed| fuzzing::pattern(seed));
    mutations(&seeds, COUNT, 4).for_each(|mutant| fuzzing::pattern(&mutant));
}

#[test]
fn damaged_shares_are_refused_or_mean_what_they_say() {
    let seed = keywright_hdkey::Seed::raw(&[9; 64]).unwrap();
    let plan = keywright_hdkey::shares::Plan::new(2, 3).unwrap();
    let fixed = |bytes: &mut [u8]| {
        bytes.fill(0xE1);
        Ok(())
    };
    let shares = keywright_hdkey::shares::split_with(&seed, plan, [5; 16], fixed).unwrap();
    let texts: Vec<_> = shares.iter().map(|share| share.to_text()).collect();
    let seeds: Vec<&[u8]> = texts.iter().map(|text| text.expose()).collect();
    seeds.iter().for_each(|seed| fuzzing::share(seed));
    mutations(&seeds, COUNT, 5).for_each(|mutant| fuzzing::share(&mutant));
}

#[cfg(feature = "vault")]
#[test]
fn damaged_files_of_secrets_are_refused_or_mean_what_they_say() {
    let seeds: [&[u8]; 2] = [
        br#"{"secret/0f3c9a1e-7b2d-4c5e-8f90-1a2b3c4d5e6f/seed":{"data":{"value":"00010203"}}}"#,
        br#"{"0f3c9a1e-7b2d-4c5e-8f90-1a2b3c4d5e6f/generic-secrets/link-secret/a":{"data":{"value":"[1]"},"metadata":{"custom_metadata":null}}}"#,
    ];
    seeds.iter().for_each(|seed| fuzzing::vault(seed));
    mutations(&seeds, COUNT, 6).for_each(|mutant| fuzzing::vault(&mutant));
}
