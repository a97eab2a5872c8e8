//! Is it valid? Written from the standards, without a line of the crate.

/// Luhn, by the table of doubled digits.
pub(crate) fn luhn(number: &str) -> bool {
    const TWICE: [u32; 10] = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9];
    let digits: Vec<u32> = number.chars().filter_map(|c| c.to_digit(10)).collect();
    let parity = digits.len() % 2;
    let sum: u32 = digits
        .iter()
        .enumerate()
        .map(|(place, digit)| {
            if place % 2 == parity {
                TWICE[*digit as usize]
            } else {
                *digit
            }
        })
        .sum();
    sum.is_multiple_of(10)
}

pub(crate) fn ssn(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [area, group, serial] = parts.as_slice() else {
        return false;
    };
    let sizes = area.len() == 3 && group.len() == 2 && serial.len() == 4;
    let (Ok(area), Ok(group), Ok(serial)) = (
        area.parse::<u16>(),
        group.parse::<u16>(),
        serial.parse::<u16>(),
    ) else {
        return false;
    };
    sizes && area != 0 && area != 666 && area < 900 && group != 0 && serial != 0
}

/// By a decimal number of any length, mod 97.
pub(crate) fn iban(text: &str, length: usize) -> bool {
    let text: String = text.chars().filter(|c| *c != ' ').collect();
    if text.len() != length {
        return false;
    }
    let turned = format!("{}{}", &text[4..], &text[..4]);
    let decimal: String = turned
        .chars()
        .map(|c| c.to_digit(36).unwrap().to_string())
        .collect();
    let mut rest = String::new();
    for digit in decimal.chars() {
        rest.push(digit);
        rest = (rest.parse::<u64>().unwrap() % 97).to_string();
    }
    let check: u32 = text[2..4].parse().unwrap();
    rest == "1" && (2..=98).contains(&check)
}

/// Calling code 1: NXX NXX XXXX.
pub(crate) fn american(text: &str) -> bool {
    let Some(digits) = text.strip_prefix("+1") else {
        return false;
    };
    let digits = digits.as_bytes();
    digits.len() == 10
        && digits.iter().all(u8::is_ascii_digit)
        && digits[0] > b'1'
        && digits[1] < b'9'
        && &digits[1..3] != b"11"
        && digits[3] > b'1'
        && &digits[4..6] != b"11"
}

pub(crate) fn e164(text: &str) -> bool {
    let Some(digits) = text.strip_prefix('+') else {
        return false;
    };
    let digits: String = digits.chars().filter(|c| !" -()./".contains(*c)).collect();
    (7..=15).contains(&digits.len())
        && digits.chars().all(|c| c.is_ascii_digit())
        && !digits.starts_with('0')
}

pub(crate) fn email(text: &str) -> bool {
    let Some((local, domain)) = text.split_once('@') else {
        return false;
    };
    let atom = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c);
    let dotted = local
        .split('.')
        .all(|part| !part.is_empty() && part.chars().all(atom));
    dotted && local.len() <= 64 && domain.contains('.') && !domain.contains('@')
}

/// With a table of month lengths and a count of leap days.
pub(crate) fn date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else {
        return false;
    };
    if year.len() != 4 || month.len() != 2 || day.len() != 2 {
        return false;
    }
    let (year, month, day): (u32, usize, u32) = (
        year.parse().unwrap(),
        month.parse().unwrap(),
        day.parse().unwrap(),
    );
    let leap = year.is_multiple_of(400) || (year.is_multiple_of(4) && !year.is_multiple_of(100));
    let lengths = [
        31,
        if leap { 29 } else { 28 },
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    year > 0 && (1..=12).contains(&month) && (1..=lengths[month - 1]).contains(&day)
}

pub(crate) fn uuid(text: &str, version: char) -> bool {
    let bytes: Vec<char> = text.chars().collect();
    bytes.len() == 36
        && bytes.iter().enumerate().all(|(place, c)| match place {
            8 | 13 | 18 | 23 => *c == '-',
            14 => *c == version,
            19 => "89ab".contains(*c),
            _ => c.is_ascii_digit() || ('a'..='f').contains(c),
        })
}

pub(crate) fn mac(text: &str) -> bool {
    let octets: Vec<&str> = text.split(':').collect();
    let lower = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    octets.len() == 6
        && octets
            .iter()
            .all(|octet| octet.len() == 2 && octet.chars().all(lower))
}

pub(crate) fn canadian(text: &str) -> bool {
    let c: Vec<char> = text.chars().collect();
    let never = "DFIOQU";
    c.len() == 7
        && c[0].is_ascii_uppercase()
        && !never.contains(c[0])
        && !"WZ".contains(c[0])
        && c[1].is_ascii_digit()
        && c[2].is_ascii_uppercase()
        && !never.contains(c[2])
        && c[3] == ' '
        && c[4].is_ascii_digit()
        && c[5].is_ascii_uppercase()
        && !never.contains(c[5])
        && c[6].is_ascii_digit()
}
