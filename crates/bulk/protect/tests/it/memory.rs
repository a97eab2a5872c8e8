//! Columns in memory get the tokens that files get, and the same verdicts.

use keywright_protect::{Columns, Error, Plan};
use keywright_tabular::csv::Layout;

use crate::table::{Table, card, keys, rules};

fn layout() -> Layout {
    Layout::of_names(vec!["id".to_owned(), "card".to_owned()]).unwrap()
}

fn rule(on_bad: &str) -> keywright_format::Rules {
    let rule = format!(
        "name = \"card\"\nformat = \"card\"\ntweak = \"column row(id)\"\non_bad = \"{on_bad}\""
    );
    rules(&[&rule])
}

fn run(columns: &mut Columns<'_>, ids: &[&str], cards: &[String]) -> Result<Vec<String>, Error> {
    columns.put(0, ids.iter().map(|id| id.as_bytes()));
    columns.put(1, cards.iter().map(|card| card.as_bytes()));
    columns.run()?;
    let changed = columns.changed()?;
    let [(1, cells)] = changed.as_slice() else {
        panic!("{changed:?}");
    };
    let texts = (0..cells.len()).map(|row| String::from_utf8(cells.get(row).to_vec()).unwrap());
    Ok(texts.collect())
}

#[test]
fn a_batch_gets_the_tokens_of_the_same_file() {
    let cards = [card(1), String::new(), card(1)];
    let plan = Plan::protect(&layout(), &rule("fail"), &keys(1)).unwrap();
    let mut columns = Columns::new(&plan);
    assert_eq!(columns.wanted(), [0, 1]);
    let tokens = run(&mut columns, &["a", "b", "c"], &cards).unwrap();
    let file = format!("id,card\na,{}\nb,\nc,{}\n", cards[0], cards[2]);
    let table = Table::new(file.as_bytes());
    table.protect(&rule("fail")).unwrap();
    let expected = format!(
        "id,card\na,{}\nb,{}\nc,{}\n",
        tokens[0], tokens[1], tokens[2]
    );
    assert_eq!(table.text("out.csv"), expected);
    let summary = columns.summary(7);
    assert_eq!(
        (summary.rows, summary.bytes, summary.columns[0].counts.empty),
        (3, 7, 1)
    );
}

#[test]
fn what_does_not_fit_stops_vanishes_or_is_named() {
    let cards = [card(1), "4111".to_owned(), card(2)];
    let ids = ["a", "b", "c"];
    let plan = |on_bad| Plan::protect(&layout(), &rule(on_bad), &keys(1)).unwrap();
    let fail = plan("fail");
    let mut columns = Columns::new(&fail);
    run(&mut columns, &ids[..1], &cards[..1]).unwrap();
    let error = run(&mut columns, &ids, &cards).unwrap_err();
    assert_eq!(error.to_string(), "row 3, column \"card\": wrong length");
    let (null, reject) = (plan("null"), plan("reject"));
    let mut columns = Columns::new(&null);
    let tokens = run(&mut columns, &ids, &cards).unwrap();
    assert!(tokens[1].is_empty() && columns.rejected().is_empty());
    let mut columns = Columns::new(&reject);
    run(&mut columns, &ids, &cards).unwrap();
    assert_eq!(columns.rejected(), [1]);
    assert_eq!(columns.summary(0).rejected, 1);
}

#[test]
fn two_columns_of_one_name_are_refused() {
    let twice = Layout::of_names(vec!["a".to_owned(), "a".to_owned()]);
    assert!(matches!(
        twice,
        Err(keywright_tabular::Error::DuplicateColumn { .. })
    ));
}
