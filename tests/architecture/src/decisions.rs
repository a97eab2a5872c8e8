//! The numbered decisions that comments cite, as in `design 7.4`, against the table in
//! `docs/decisions/README.md` that says what each is about.

use std::collections::BTreeSet;

/// The word before a cited number. In two pieces, so that this line cites nothing.
const CITED: &str = concat!("des", "ign 7.");

/// The decisions that a text cites. Of a line with a citation every number counts, so `7.4 to 7.6` and
/// `7.16, 7.17` are two each.
#[must_use]
pub fn cited(text: &str) -> BTreeSet<u32> {
    text.lines()
        .filter(|line| line.to_ascii_lowercase().contains(CITED))
        .flat_map(numbers)
        .collect()
}

/// The decisions that have a row in the table.
#[must_use]
pub fn listed(page: &str) -> BTreeSet<u32> {
    page.lines()
        .filter_map(|line| line.strip_prefix("| 7.")?.split(' ').next()?.parse().ok())
        .collect()
}

/// The `n` of every `7.n` in a line that is no part of a longer number.
fn numbers(line: &str) -> impl Iterator<Item = u32> {
    line.split(|c: char| !c.is_ascii_alphanumeric() && c != '.')
        .filter_map(|word| word.trim_end_matches('.').strip_prefix("7.")?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(rest: &str) -> String {
        format!("//! Keys ({CITED}{rest}\n")
    }

    #[test]
    fn every_number_of_a_citation_is_read() {
        let text = [
            line("4 to 7.6)."),
            line("16, 7.17)"),
            line("9."),
            "/// Des".to_owned() + &CITED[3..] + "36: the reserve",
        ];
        let found: Vec<u32> = cited(&text.concat()).into_iter().collect();
        assert_eq!(found, [4, 6, 9, 16, 17, 36]);
    }

    #[test]
    fn what_cites_nothing_gives_nothing() {
        for text in ["version 7.4", "section 7.1 of RFC 8446", "0.7.4", ""] {
            assert!(cited(text).is_empty(), "{text}");
        }
        assert_eq!(cited(&line("4), RFC 17.7.5 and 7.x")).len(), 1);
    }

    #[test]
    fn only_rows_of_the_table_list_a_decision() {
        let page = "| number | what |\n|---|---|\n| 7.4 | header |\n| 7.12 | keys, see 7.5 |\n7.6\n| 8.1 | no |\n";
        assert_eq!(listed(page).into_iter().collect::<Vec<_>>(), [4, 12]);
    }

    #[test]
    fn a_planted_citation_of_an_unlisted_decision_is_caught() {
        let page = "| 7.4 | header |\n";
        let missing: Vec<u32> = cited(&line("4, 7.5)"))
            .difference(&listed(page))
            .copied()
            .collect();
        assert_eq!(missing, [5]);
    }
}
