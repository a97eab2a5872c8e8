//! Shapes of single values. Each value has at most one.

use super::Kind;

/// The kind a value shows, if any. Values longer than any of the shapes show none.
pub(super) fn kind(value: &[u8]) -> Option<Kind> {
    const LONGEST: usize = 254; // an e-mail address (RFC 5321 section 4.5.3.1.3)
    if value.len() > LONGEST {
        return None;
    }
    let text = std::str::from_utf8(value).ok()?;
    // The order decides where shapes overlap: a date of digits and dashes could pass for a number to call.
    type Fits = fn(&str) -> bool;
    let shapes: [(Kind, Fits); 6] = [
        (Kind::Email, is_email),
        (Kind::Iban, is_iban),
        (Kind::Card, is_card),
        (Kind::NationalId, is_social_security_number),
        (Kind::Date, is_date),
        (Kind::Phone, is_phone),
    ];
    shapes
        .into_iter()
        .find(|(_, fits)| fits(text))
        .map(|(kind, _)| kind)
}

fn is_email(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let local_ok = (1..=64).contains(&local.len())
        && !local
            .chars()
            .any(|c| c.is_whitespace() || c.is_control() || "@,;<>()".contains(c));
    let labels: Vec<&str> = domain.split('.').collect();
    let label_ok = |label: &&str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_alphanumeric() || c == '-')
    };
    let top_ok = labels.last().is_some_and(|top| {
        top.chars().count() >= 2 && !top.bytes().all(|byte| byte.is_ascii_digit())
    });
    local_ok && labels.len() >= 2 && labels.iter().all(label_ok) && top_ok
}

/// ISO 13616: two letters, two check digits, 11 to 30 letters and digits; the number read with the first
/// four at the end leaves 1 when divided by 97.
fn is_iban(text: &str) -> bool {
    let bytes: Vec<u8> = text.bytes().filter(|&byte| byte != b' ').collect();
    let Some((head, account)) = bytes.split_at_checked(4) else {
        return false;
    };
    let shaped = head[..2].iter().all(u8::is_ascii_alphabetic)
        && head[2..].iter().all(u8::is_ascii_digit)
        && (11..=30).contains(&account.len())
        && account.iter().all(u8::is_ascii_alphanumeric);
    let rest = account.iter().chain(head).try_fold(0_u32, |rest, &byte| {
        let digit = char::from(byte).to_digit(36)?;
        let shift = if digit < 10 { 10 } else { 100 };
        Some((rest * shift + digit) % 97)
    });
    shaped && rest == Some(1)
}

/// 13 to 19 digits, in one or in groups, that pass Luhn.
fn is_card(text: &str) -> bool {
    let Some(digits) = digits_of(text, " -") else {
        return false;
    };
    let telling = digits.first() != Some(&0) && digits.iter().any(|d| Some(d) != digits.first());
    (13..=19).contains(&digits.len()) && telling && is_luhn(&digits)
}

/// ISO/IEC 7812-1 annex B: from the right every second digit is doubled, nines cast out.
fn is_luhn(digits: &[u32]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, &digit)| match (place % 2, digit) {
            (0, digit) => digit,
            (_, digit @ 0..5) => digit * 2,
            (_, digit) => digit * 2 - 9,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// Three digits, two and four, with dashes.
fn is_social_security_number(text: &str) -> bool {
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    lengths == [3, 2, 4] && digits_of(text, "-").is_some()
}

/// Year first with `-` or `/`, or year last with `.`, `/` or `-`; a day that its month has.
fn is_date(text: &str) -> bool {
    let Some(mark) = text.chars().find(|c| "-/.".contains(*c)) else {
        return false;
    };
    let parts: Vec<&str> = text.split(mark).collect();
    let [first, second, third] = parts[..] else {
        return false;
    };
    let number = |part: &str, most: usize| {
        let digits = (1..=most).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        digits.then(|| part.parse::<u32>().ok()).flatten()
    };
    if first.len() == 4 && mark != '.' {
        let (year, month, day) = (number(first, 4), number(second, 2), number(third, 2));
        return is_day(year, month, day);
    }
    if third.len() != 4 {
        return false;
    }
    let (year, one, other) = (number(third, 4), number(first, 2), number(second, 2));
    is_day(year, other, one) || is_day(year, one, other)
}

fn is_day(year: Option<u32>, month: Option<u32>, day: Option<u32>) -> bool {
    let (Some(year), Some(month), Some(day)) = (year, month, day) else {
        return false;
    };
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => return false,
    };
    (1800..2200).contains(&year) && (1..=days).contains(&day)
}

/// 7 to 15 digits (ITU-T E.164) behind a plus sign, or in groups that are not those of a large number.
fn is_phone(text: &str) -> bool {
    let international = text.strip_prefix('+');
    let Some(digits) = digits_of(international.unwrap_or(text), " -().") else {
        return false;
    };
    if !(7..=15).contains(&digits.len()) {
        return false;
    }
    if international.is_some() {
        return true;
    }
    let groups: Vec<&str> = text
        .split(|c: char| !c.is_ascii_digit())
        .filter(|group| !group.is_empty())
        .collect();
    let thousands = groups.iter().skip(1).all(|group| group.len() == 3);
    // Three dots are the look of a network address.
    let dotted = text.bytes().filter(|&byte| byte == b'.').count();
    // Nor is a date that no calendar has a number to call.
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    let date = matches!(lengths[..], [4, 1..=2, 1..=2] | [1..=2, 1..=2, 4]);
    groups.len() >= 3 && !thousands && !date && dotted != 3
}

/// The digits of a text that has nothing but digits and these marks, and begins and ends with neither
/// a mark but an opening parenthesis.
fn digits_of(text: &str, marks: &str) -> Option<Vec<u32>> {
    let mut digits = Vec::new();
    for c in text.chars() {
        match c.to_digit(10) {
            Some(digit) => digits.push(digit),
            None if marks.contains(c) => {}
            None => return None,
        }
    }
    let begins = text.starts_with(|c: char| c.is_ascii_digit() || c == '(');
    (begins && text.ends_with(|c: char| c.is_ascii_digit())).then_some(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(expected: Option<Kind>, values: &[&str]) {
        for value in values {
            assert_eq!(kind(value.as_bytes()), expected, "{value}");
        }
    }

    #[test]
    fn shapes_are_told_apart() {
        // Published test card numbers, and the IBAN examples of the SWIFT registry.
        all(
            Some(Kind::Card),
            &[
                "4111111111111111",
                "5555 5555 5555 4444",
                "3782-822463-10005",
                "6011000990139424",
            ],
        );
        all(
            Some(Kind::Iban),
            &[
                "GB29NWBK60161331926819",
                "DE89 3704 0044 0532 0130 00",
                "no9386011117947",
            ],
        );
        all(
            Some(Kind::Email),
            &[
                "ada@example.org",
                "a.b+c@sub.example.com",
                "jörg@exämple.net",
            ],
        );
        all(
            Some(Kind::Date),
            &[
                "1980-02-29",
                "31.12.1999",
                "12/31/1999",
                "1999/1/5",
                "5-1-1999",
            ],
        );
        all(
            Some(Kind::Phone),
            &[
                "+1-555-0101",
                "+44 7700 900123",
                "(555) 555-0123",
                "01 23 45 67 89",
                "555.555.0123",
            ],
        );
        all(Some(Kind::NationalId), &["000-12-3456"]);
    }

    #[test]
    fn a_wrong_digit_is_no_card_and_no_iban() {
        all(
            None,
            &[
                "4111111111111112",
                "5555555555554445",
                "GB29NWBK60161331926818",
            ],
        );
    }

    #[test]
    fn numbers_that_are_not_cards_are_not_taken_for_them() {
        all(
            None,
            &[
                "0000000000000000",
                "8888888888888888",
                "42",
                "411111111111",
                "4111 1111 1111 1111 -",
            ],
        );
    }

    #[test]
    fn near_misses_of_an_email_address_are_not_one() {
        all(
            None,
            &[
                "@example.org",
                "ada@",
                "ada@localhost",
                "ada b@example.org",
                "a@b@",
                "a@-b.org",
                "a@b..org",
                "ada@10.0.0.1",
                "a@b.c",
            ],
        );
    }

    #[test]
    fn days_that_do_not_exist_are_no_dates() {
        all(
            None,
            &[
                "1999-02-29",
                "2000-13-01",
                "31.04.1999",
                "0000-00-00",
                "1999-1",
                "1-2-3",
                "1900/02/29",
            ],
        );
    }

    #[test]
    fn amounts_addresses_and_plain_numbers_are_no_telephone_numbers() {
        all(
            None,
            &[
                "1234567.89",
                "1.234.567",
                "1 234 567",
                "192.168.10.200",
                "5550123456",
                "12-34567890",
                "-1234567",
                "10:20:30",
                "v1.2.3",
                "+",
                "+12",
                "+1234567890123456",
            ],
        );
    }

    #[test]
    fn what_is_not_text_or_too_long_has_no_shape() {
        assert_eq!(kind(b"\xff\xfe@example.org"), None);
        assert_eq!(kind(&b"1".repeat(1000)), None);
        let long = format!("{}@example.org", "a".repeat(300));
        assert_eq!(kind(long.as_bytes()), None);
    }
}
