//! Which columns are pointed out, and which are not.

use keywright_tabular::csv::{Options, Reader};
use keywright_tabular::detect::{Kind, candidates};

fn found(file: &str) -> Vec<(String, Kind, String)> {
    let mut reader = Reader::new(file.as_bytes(), &Options::default()).unwrap();
    let sample = reader.sample(100).unwrap();
    candidates(reader.layout(), &sample)
        .into_iter()
        .map(|c| (c.name().to_owned(), c.kind(), c.reason().to_string()))
        .collect()
}

#[test]
fn content_tells_where_the_header_does_not() {
    let file = "a,b,c,d,e\n\
        4111111111111111,ada@example.org,GB29NWBK60161331926819,+1-555-0101,1980-01-02\n\
        5555555555554444,bob@example.com,DE89370400440532013000,+1-555-0102,1981-12-31\n";
    let kinds: Vec<Kind> = found(file).into_iter().map(|(_, kind, _)| kind).collect();
    assert_eq!(
        kinds,
        [Kind::Card, Kind::Email, Kind::Iban, Kind::Phone, Kind::Date]
    );
}

#[test]
fn the_reason_is_a_sentence_without_values() {
    let file = "e-mail,x,birth_date,name\nada@example.org,4111-1111-1111-1111,1980-01-02,Ada\n";
    let reasons: Vec<String> = found(file)
        .into_iter()
        .map(|(_, _, reason)| reason)
        .collect();
    assert_eq!(
        reasons,
        [
            "its name says \"email\", and 1 of 1 values look like: e-mail address",
            "1 of 1 values look like: payment card number",
            "its name says \"birth\", and 1 of 1 values look like: date",
            "its name says \"name\"",
        ]
    );
}

#[test]
fn a_birth_date_is_more_than_a_date_and_a_card_more_than_an_account() {
    let kinds: Vec<Kind> = found("birthday,account\n1.2.1980,4111111111111111\n")
        .into_iter()
        .map(|(_, kind, _)| kind)
        .collect();
    assert_eq!(kinds, [Kind::BirthDate, Kind::Card]);
}

#[test]
fn a_file_without_sensitive_columns_has_no_candidates() {
    assert!(
        found("id,amount,city,note\n1,10.50,Paris,hello\n2,1234567.89,Rome,\"a, b\"\n").is_empty()
    );
    assert!(found("x\n").is_empty());
    assert!(found("a,b\n,\n,\n").is_empty());
}

#[test]
fn a_few_values_of_a_shape_are_not_the_shape_of_the_column() {
    let mut file = String::from("reference\n");
    for n in 0..10 {
        file.push_str(if n < 5 {
            "4111111111111111\n"
        } else {
            "4111111111111112\n"
        });
    }
    assert!(found(&file).is_empty());
    file.push_str("4111111111111111\n4111111111111111\n4111111111111111\n");
    assert_eq!(found(&file).len(), 1, "8 of 13 are enough");
}

#[test]
fn quoted_padded_and_missing_values_still_count_as_what_they_are() {
    let file = "x,y\n\"ada@example.org\",\n bob@example.org ,\n,\n";
    assert_eq!(found(file).len(), 1);
}

#[test]
fn without_a_sample_the_names_are_left() {
    let names: Vec<String> = found("id,phone,amount\n")
        .into_iter()
        .map(|(n, _, _)| n)
        .collect();
    assert_eq!(names, ["phone"]);
}
