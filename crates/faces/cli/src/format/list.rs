//! The built-in formats with their defaults.

use serde::Serialize;

use super::{parse, tell};
use crate::exit::{Exit, Failure};
use crate::output::{self, Format};

/// A description of each, and what it is.
const BUILT_IN: [(&str, &str); 14] = [
    ("card", "payment card number"),
    ("ssn", "US social security number"),
    ("iban", "international bank account number"),
    ("phone", "telephone number (E.164)"),
    ("email", "e-mail address, the domain stays"),
    ("date", "day"),
    ("datetime", "moment"),
    ("time", "time of day"),
    ("uuid", "UUID, version 4"),
    ("ipv4", "IPv4 address"),
    ("ipv6", "IPv6 address"),
    ("mac", "MAC address"),
    ("postal(country=CA)", "postal code, by country"),
    ("text", "letters of a Unicode alphabet"),
];

/// Items of sequences.
const ITEMS: &str = "digit upper lower letter alnum upnum lownum hex hexupper class text check int decimal date datetime time";

#[derive(Serialize)]
struct Listed {
    formats: Vec<Row>,
    items: Vec<&'static str>,
}

#[derive(Serialize)]
struct Row {
    name: &'static str,
    what: &'static str,
    format: String,
    example: String,
    bits: f64,
}

pub(super) fn run(format: Format) -> Result<Exit, Failure> {
    let mut formats = Vec::with_capacity(BUILT_IN.len());
    for (name, what) in BUILT_IN {
        let told = tell(&parse(name)?)?;
        formats.push(Row {
            name,
            what,
            format: told.format,
            example: told.example,
            bits: told.bits,
        });
    }
    let listed = Listed {
        formats,
        items: ITEMS.split(' ').collect(),
    };
    output::document(format, &listed, || {
        let heading = ["FORMAT", "VALUES", "EXAMPLE", "BITS"]
            .map(str::to_owned)
            .to_vec();
        let rows = listed.formats.iter().map(|row| {
            let bits = format!("{:.1}", row.bits);
            vec![
                row.name.to_owned(),
                row.what.to_owned(),
                row.example.clone(),
                bits,
            ]
        });
        let table: Vec<_> = std::iter::once(heading).chain(rows).collect();
        let items = listed.items.join(", ");
        let more = "pattern(\"AA-9999\") and sequences such as \"KD-\" digit(8) check(luhn) describe others";
        format!("{}\n{more}\nitems: {items}\n", output::table(&table))
    })?;
    Ok(Exit::Ok)
}
