//! Which columns look as if they held data about people or payments.
//!
//! A column is a candidate when a word of its name says so, or when most of the sampled values have a
//! telling shape: a Luhn-valid number of 13 to 19 digits (ISO/IEC 7812-1 annex B), an IBAN whose
//! check digits are right (ISO 13616, mod 97), an e-mail address, a telephone number, a date.
//!
//! It is a guess to show to a person, never a promise that the other columns are harmless: free text is
//! not searched, and names are found by their header only.

mod shapes;

use std::fmt;

use crate::csv::{Layout, OwnedRecord};

/// What a column seems to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// A bank or customer account.
    Account,
    /// A postal or network address.
    Address,
    /// The date of a birth.
    BirthDate,
    /// A payment card number.
    Card,
    /// A date of any meaning.
    Date,
    /// An e-mail address.
    Email,
    /// An international bank account number.
    Iban,
    /// A person's name.
    Name,
    /// A number given by a state: social security, passport, tax.
    NationalId,
    /// A telephone number.
    Phone,
    /// A password, PIN or token.
    Secret,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Account => "account",
            Self::Address => "address",
            Self::BirthDate => "birth date",
            Self::Card => "payment card number",
            Self::Date => "date",
            Self::Email => "e-mail address",
            Self::Iban => "IBAN",
            Self::Name => "name",
            Self::NationalId => "national id",
            Self::Phone => "telephone number",
            Self::Secret => "secret",
        })
    }
}

/// Why a column is a candidate. `Display` makes a sentence of it, without any value of the column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    word: Option<&'static str>,
    shape: Option<Share>,
}

/// How many of the sampled values have a shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Share {
    kind: Kind,
    matching: usize,
    values: usize,
}

impl Reason {
    /// Whether the name of the column gave it away.
    #[must_use]
    pub fn is_header(&self) -> bool {
        self.word.is_some()
    }

    /// Whether its values gave it away.
    #[must_use]
    pub fn is_content(&self) -> bool {
        self.shape.is_some()
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(word) = self.word {
            write!(f, "its name says \"{word}\"")?;
        }
        if let Some(Share {
            kind,
            matching,
            values,
        }) = self.shape
        {
            let and = if self.word.is_some() { ", and " } else { "" };
            write!(f, "{and}{matching} of {values} values look like: {kind}")?;
        }
        Ok(())
    }
}

/// A column that looks sensitive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    column: usize,
    name: String,
    kind: Kind,
    reason: Reason,
}

impl Candidate {
    /// The index of the column, from 0.
    #[must_use]
    pub fn column(&self) -> usize {
        self.column
    }

    /// The name of the column.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it seems to hold.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Why it is a candidate.
    #[must_use]
    pub fn reason(&self) -> Reason {
        self.reason
    }
}

/// The columns that look sensitive, in the order of the file. An empty sample leaves the names to go by.
#[must_use]
pub fn candidates(layout: &Layout, sample: &[OwnedRecord]) -> Vec<Candidate> {
    let mut found = Vec::new();
    for (column, name) in layout.names().iter().enumerate() {
        let said = telling_word(name);
        let shape = telling_shape(sample, column);
        let kind = match (said, shape) {
            (None, None) => continue,
            // The shape of a date says less than a word does, any other shape says more.
            (
                Some((_, kind)),
                None
                | Some(Share {
                    kind: Kind::Date, ..
                }),
            ) => kind,
            (_, Some(share)) => share.kind,
        };
        let reason = Reason {
            word: said.map(|(word, _)| word),
            shape,
        };
        found.push(Candidate {
            column,
            name: name.clone(),
            kind,
            reason,
        });
    }
    found
}

/// The kind that most values of a column show.
fn telling_shape(sample: &[OwnedRecord], column: usize) -> Option<Share> {
    let mut values = 0;
    let mut counts: Vec<(Kind, usize)> = Vec::new();
    for record in sample {
        let text = record.as_record().text(column).unwrap_or_default();
        let value = text.trim_ascii();
        if value.is_empty() {
            continue;
        }
        values += 1;
        let Some(kind) = shapes::kind(value) else {
            continue;
        };
        match counts.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => counts.push((kind, 1)),
        }
    }
    let (kind, matching) = counts.into_iter().max_by_key(|&(_, count)| count)?;
    // Three in five: one random number in ten passes Luhn, and real columns have gaps and slips.
    (matching * 5 >= values * 3).then_some(Share {
        kind,
        matching,
        values,
    })
}

// === Names of columns ===

/// Words that count when they are a word of the name: `card` in `card_number`, not in `discard`.
const WORDS: &[(&str, Kind)] = &[
    ("mail", Kind::Email),
    ("tel", Kind::Phone),
    ("fax", Kind::Phone),
    ("cell", Kind::Phone),
    ("msisdn", Kind::Phone),
    ("ssn", Kind::NationalId),
    ("sin", Kind::NationalId),
    ("nin", Kind::NationalId),
    ("nino", Kind::NationalId),
    ("tin", Kind::NationalId),
    ("tax", Kind::NationalId),
    ("national", Kind::NationalId),
    ("card", Kind::Card),
    ("pan", Kind::Card),
    ("ccn", Kind::Card),
    ("cvv", Kind::Card),
    ("cvc", Kind::Card),
    ("dob", Kind::BirthDate),
    ("acct", Kind::Account),
    ("street", Kind::Address),
    ("zip", Kind::Address),
    ("pin", Kind::Secret),
    ("secret", Kind::Secret),
    ("token", Kind::Secret),
    ("name", Kind::Name),
];

/// Words that count wherever they stand, for names written in one: `cardnumber`, `EmailAddress`.
const PARTS: &[(&str, Kind)] = &[
    ("email", Kind::Email),
    ("phone", Kind::Phone),
    ("mobile", Kind::Phone),
    ("socialsecurity", Kind::NationalId),
    ("nationalid", Kind::NationalId),
    ("passport", Kind::NationalId),
    ("creditcard", Kind::Card),
    ("cardnumber", Kind::Card),
    ("cardno", Kind::Card),
    ("birth", Kind::BirthDate),
    ("iban", Kind::Iban),
    ("account", Kind::Account),
    ("address", Kind::Address),
    ("postcode", Kind::Address),
    ("postalcode", Kind::Address),
    ("password", Kind::Secret),
    ("firstname", Kind::Name),
    ("lastname", Kind::Name),
    ("surname", Kind::Name),
    ("forename", Kind::Name),
    ("fullname", Kind::Name),
    ("username", Kind::Name),
];

/// What has a name without being a person.
const THINGS: &[&str] = &[
    "brand", "class", "column", "company", "domain", "event", "field", "file", "host", "product",
    "server", "table",
];

/// The first word of the lists above that a column's name contains.
fn telling_word(name: &str) -> Option<(&'static str, Kind)> {
    let words = words_of(name);
    let joined = words.concat();
    if let Some(&found) = PARTS.iter().find(|(part, _)| joined.contains(part)) {
        return Some(found);
    }
    let &(word, kind) = WORDS
        .iter()
        .find(|(word, _)| words.iter().any(|w| w == word))?;
    let of_a_thing = || words.iter().any(|w| THINGS.contains(&w.as_str()));
    (kind != Kind::Name || !of_a_thing()).then_some((word, kind))
}

/// Whether a word in small letters is one of those above.
pub(crate) fn knows(word: &str) -> bool {
    let all = PARTS.iter().chain(WORDS).map(|(known, _)| *known);
    all.chain(THINGS.iter().copied()).any(|known| known == word)
}

/// Whether a value has one of the shapes.
pub(crate) fn has_shape(value: &[u8]) -> bool {
    shapes::kind(value).is_some()
}

/// The words of a name in small letters: `birthDate`, `birth_date` and `Birth Date` are all two.
pub(crate) fn words_of(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for c in name.chars() {
        if c.is_alphanumeric() {
            let begins = !before.is_alphanumeric() || (before.is_lowercase() && c.is_uppercase());
            if begins || words.is_empty() {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.extend(c.to_lowercase());
            }
        }
        before = c;
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(name: &str) -> Option<Kind> {
        telling_word(name).map(|(_, kind)| kind)
    }

    #[test]
    fn names_are_understood_in_every_spelling() {
        for name in [
            "birth_date",
            "birthDate",
            "BirthDate",
            "BIRTH DATE",
            "dateOfBirth",
            "DOB",
        ] {
            assert_eq!(said(name), Some(Kind::BirthDate), "{name}");
        }
        for name in ["e-mail", "email", "EmailAddress", "mail", "E-Mail"] {
            assert_eq!(said(name), Some(Kind::Email), "{name}");
        }
        for name in ["card_number", "cardNumber", "creditcard", "pan", "card"] {
            assert_eq!(said(name), Some(Kind::Card), "{name}");
        }
        for name in ["name", "first_name", "lastname", "Full Name", "surname"] {
            assert_eq!(said(name), Some(Kind::Name), "{name}");
        }
        assert_eq!(said("national_id"), Some(Kind::NationalId));
        assert_eq!(said("IBAN"), Some(Kind::Iban));
        assert_eq!(said("account_no"), Some(Kind::Account));
        assert_eq!(said("phone"), Some(Kind::Phone));
        assert_eq!(said("home address"), Some(Kind::Address));
    }

    #[test]
    fn a_telling_word_inside_another_word_tells_nothing() {
        for name in [
            "discard",
            "panel",
            "spinner",
            "hotel",
            "cancelled",
            "zipper",
            "taxi",
            "rename",
            "tint",
        ] {
            assert_eq!(said(name), None, "{name}");
        }
    }

    #[test]
    fn names_of_things_and_plain_columns_are_no_candidates() {
        for name in [
            "file_name",
            "productName",
            "id",
            "note",
            "balance",
            "",
            "--",
            "created",
            "ä",
        ] {
            assert_eq!(said(name), None, "{name}");
        }
    }
}
