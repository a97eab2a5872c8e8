//! The parsers and the codecs over damaged input: the bodies of the fuzz target.

use keywright_format::{Format, fuzzing};
use keywright_mutate::{mutants, mutations};

const FORMATS: [&str; 14] = [
    "card(keep=bin6, luhn=break)",
    r#""KD-" digit(8) "-" check(luhn)"#,
    r#"digit(3) | "A" upper(2..4, keep=all) digit(5..9, first=1, last=2, delims=" -")"#,
    "iban(country=GB, keep=bank)",
    r#"email(domains=[a.example, "b.example"], case=mixed)"#,
    "date(form=\"M/D/YYYY\", from=1900-01-01, to=2099-12-31)",
    "decimal(scale=3, min=-1.5, max=20000)",
    "text(\"a-zäöü\", length=2..9)",
    "uuid(version=7, time=keep)",
    "phone(country=44, prefix=2)",
    "pattern(\"AA-99\\\\9a\", first=1)",
    "class(\"A-HJ-NP-Z0-9\", length=8) check(mod97)",
    "int(min=-5, max=1000000) \"/\" datetime",
    "postal(country=GB)",
];

const RULES: &str = r#"
version = 1

[[column]]
name = "card"
format = "card"
keep = "last4"
tweak = ["column", "other(country)"]
mask = "last4"
on_bad = "reject"

[[column]]
name = "opened"
format = { name = "date", from = 1900-01-01, to = 2099-12-31 }
small_domain = "accept(example)"

[[column]]
name = "plate"
format = ["upper(3)", { name = "digit", length = 6 }, "check(damm)"]

[[column]]
name = "code"
format = { one_of = ["digit(7)", ["\"X\"", "digit(8)"]] }
small_domain = "acknowledge"
key = "payments"

[[column]]
name = "note"
mask = "null"
"#;

#[test]
fn the_document_parsers_survive_ten_thousand_mutants() {
    let seeds: Vec<&[u8]> = FORMATS
        .iter()
        .map(|text| text.as_bytes())
        .chain([RULES.as_bytes()])
        .collect();
    seeds.iter().for_each(|seed| fuzzing::document(seed));
    mutations(&seeds, mutants(), 7).for_each(|mutant| fuzzing::document(&mutant));
}

#[test]
fn every_codec_survives_mutants_of_values() {
    let texts = FORMATS.into_iter().chain([
        "card",
        "ssn",
        "iban",
        "phone",
        "email",
        "date",
        "datetime",
        "time",
        "ipv4",
        "ipv6",
        "ipv6(prefix=64)",
        "mac",
        "uuid(version=any)",
        "text",
        "text(alphabet=han)",
        "digit(1..30, delims=\" -\")",
        "decimal(min=-99999, max=99999)",
    ]);
    for text in texts {
        let format: Format = text.parse().unwrap();
        let example = format.example();
        let seeds: [&[u8]; 3] = [
            example.as_bytes(),
            b"0123456789ABCDEFabcdef-+. @",
            "äß漢".as_bytes(),
        ];
        let token_like = mutations(&seeds, 400, 11);
        token_like.for_each(|mutant| fuzzing::value(&format, &mutant));
    }
}
