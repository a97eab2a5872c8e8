//! What can be looked at: the menu, text, and the tables that other commands' results become.

use keywright_encoding::terminal;
use serde_json::Value;

use super::registry::Entry;

/// A line of the menu.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Row {
    Heading(&'static str),
    /// With what it is.
    Choice(String, String),
}

/// The menu.
#[derive(Clone, Debug)]
pub(super) struct Menu {
    pub(super) rows: Vec<Row>,
    pub(super) at: usize,
}

/// Entries that are no commands of their own.
pub(super) const VIEWS: [(&str, &str); 3] = [
    ("objects", "browse the objects of the token"),
    ("mechanisms", "what the token can do, as a matrix"),
    ("calls", "the calls of a program, while its log is written"),
];

impl Menu {
    pub(super) fn new(entries: &[Entry]) -> Self {
        let mut rows = vec![Row::Heading("Look")];
        let views = VIEWS.iter();
        rows.extend(
            views.map(|(name, about)| Row::Choice((*name).to_owned(), (*about).to_owned())),
        );
        let mut group = "";
        for entry in entries {
            if entry.group != group {
                group = entry.group;
                rows.push(Row::Heading(group));
            }
            rows.push(Row::Choice(entry.name.clone(), entry.about.clone()));
        }
        Self { rows, at: 1 }
    }

    /// To the next choice in a direction, around the ends.
    pub(super) fn step(&mut self, way: isize) {
        let count = self.rows.len();
        for _ in 0..count {
            self.at = self
                .at
                .checked_add_signed(way)
                .filter(|at| *at < count)
                .unwrap_or(match way < 0 {
                    true => count - 1,
                    false => 0,
                });
            if matches!(self.rows.get(self.at), Some(Row::Choice(..))) {
                return;
            }
        }
    }

    pub(super) fn chosen(&self) -> &str {
        match self.rows.get(self.at) {
            Some(Row::Choice(name, _)) => name,
            _ => "",
        }
    }

    /// Which entry is chosen, from 1, and of how many.
    pub(super) fn place(&self) -> (usize, usize) {
        let choices = |rows: &[Row]| {
            let choices = rows.iter().filter(|row| matches!(row, Row::Choice(..)));
            choices.count()
        };
        let before = self.rows.get(..=self.at).unwrap_or_default();
        (choices(before), choices(&self.rows))
    }
}

/// Lines, one of them chosen where there is something to choose, else scrolled.
#[derive(Clone, Debug, Default)]
pub(super) struct Listing {
    pub(super) title: String,
    pub(super) keys: &'static str,
    /// Stays where it is.
    pub(super) heading: Vec<String>,
    pub(super) lines: Vec<String>,
    pub(super) at: usize,
    /// Columns that are scrolled off to the left.
    pub(super) across: usize,
    pub(super) chooses: bool,
}

/// What has room on the smallest screen.
pub(super) const WIDTH: usize = 78;
/// Columns of one step sideways.
const ACROSS: usize = 8;

impl Listing {
    /// Text to read.
    pub(super) fn of_text(title: String, text: &str) -> Self {
        let lines = folded(text);
        Self {
            title,
            keys: match lines.iter().any(|line| is_wide(line)) {
                true => "Up/Down scroll  Left/Right sideways  Esc back",
                false => "Up/Down scroll  Esc back",
            },
            lines,
            ..Self::default()
        }
    }

    pub(super) fn step(&mut self, way: isize) {
        let last = self.lines.len().saturating_sub(1);
        self.at = self.at.saturating_add_signed(way).min(last);
    }

    /// Sideways, as far as there is something to see.
    pub(super) fn shift(&mut self, way: isize) {
        let longest = self.lines.iter().map(|line| line.chars().count()).max();
        let most = longest.unwrap_or(0).saturating_sub(WIDTH);
        let by = ACROSS.saturating_mul(way.unsigned_abs());
        self.across = match way < 0 {
            true => self.across.saturating_sub(by),
            false => self.across.saturating_add(by).min(most),
        };
    }
}

fn is_wide(line: &str) -> bool {
    line.chars().count() > WIDTH
}

/// Lines as they fit on the smallest screen, without what a terminal would obey. Rows of a table are left as they
/// are, to be looked at from the side; all else is folded between words.
fn folded(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let clean = terminal::escaped(line).into_owned();
        match is_wide(&clean) && !is_row(&clean) {
            true => fold(&clean, &mut lines),
            false => lines.push(clean),
        }
    }
    lines
}

/// Whether a line has three columns or more; two are a name and its value.
fn is_row(line: &str) -> bool {
    let columns = line.trim().split("  ").filter(|cell| !cell.is_empty());
    columns.count() > 2
}

/// Goes on below where the value of a name begins, else where the line does.
fn fold(line: &str, lines: &mut Vec<String>) {
    let blanks = |text: &str| text.len() - text.trim_start().len();
    let first = blanks(line);
    let body = line.get(first..).unwrap_or_default();
    let value = body.find("  ").map(|gap| {
        let rest = body.get(gap..).unwrap_or_default();
        first + gap + blanks(rest)
    });
    let indent = value.filter(|column| *column < WIDTH / 2).unwrap_or(first);
    let mut rest: Vec<char> = line.chars().collect();
    let mut lead = 0;
    while rest.len() + lead > WIDTH {
        let room = WIDTH - lead;
        let head = rest.get(..=room).unwrap_or_default();
        let blank = head.iter().rposition(|c| *c == ' ');
        // A word that is longer than a line is cut.
        let cut = blank
            .filter(|at| *at > indent.saturating_sub(lead))
            .unwrap_or(room);
        let tail = rest.split_off(cut);
        lines.push(" ".repeat(lead) + rest.iter().collect::<String>().trim_end());
        rest = tail.into_iter().skip_while(|c| *c == ' ').collect();
        lead = indent;
    }
    lines.push(" ".repeat(lead) + &rest.iter().collect::<String>());
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// An object that can be looked at.
pub(super) struct Seen {
    pub(super) uri: String,
    /// What it is called above its attributes.
    pub(super) title: String,
}

/// The objects of `list-objects`: a row each.
pub(super) fn objects(data: &Value) -> (Listing, Vec<Seen>) {
    let objects = data.get("objects").and_then(Value::as_array);
    let objects = objects.map(Vec::as_slice).unwrap_or_default();
    let bare = |value: &Value, name: &str| {
        let word = text(value, name)
            .trim_start_matches("CKO_")
            .trim_start_matches("CKK_");
        word.to_ascii_lowercase()
    };
    let label = |object: &Value| -> String {
        let shown = terminal::escaped(text(object, "label"));
        shown.chars().take(24).collect()
    };
    let row = |object: &Value| {
        let bits = object.get("key_size_bits").and_then(Value::as_u64);
        let bits = bits.map_or_else(String::new, |bits| bits.to_string());
        let size = match text(object, "curve") {
            "" => bits.as_str(),
            curve => curve,
        };
        format!(
            "{:12} {:14} {size:>9}  {:24} {}",
            bare(object, "class"),
            bare(object, "key_type"),
            label(object),
            text(object, "id").get(..13).unwrap_or(text(object, "id"))
        )
        .trim_end()
        .to_owned()
    };
    let heading = format!(
        "{:12} {:14} {:>9}  {:24} {}",
        "class", "type", "size", "label", "id"
    );
    let listing = Listing {
        title: match (objects.len(), terminal::escaped(text(data, "token_label"))) {
            (1, token) => format!("1 object of {token}"),
            (count, token) => format!("{count} objects of {token}"),
        },
        keys: "Up/Down choose  Enter every attribute  Esc back",
        heading: vec![heading],
        lines: objects.iter().map(row).collect(),
        chooses: true,
        ..Listing::default()
    };
    let seen = objects.iter().map(|object| Seen {
        uri: text(object, "uri").to_owned(),
        title: format!("{} {}", bare(object, "class"), label(object)),
    });
    (listing, seen.collect())
}

/// What the columns of the matrix are called, by the names in the document; the second one is that with recovery of
/// what was signed.
const USES: [(&str, &str, &str); 10] = [
    ("encrypt", "", "enc"),
    ("decrypt", "", "dec"),
    ("digest", "", "hsh"),
    ("sign", "sign_recover", "sig"),
    ("verify", "verify_recover", "vfy"),
    ("generate", "", "gen"),
    ("generate_key_pair", "", "gkp"),
    ("wrap", "", "wra"),
    ("unwrap", "", "unw"),
    ("derive", "", "der"),
];

/// The mechanisms of `list-mechanisms --detailed` as a matrix.
pub(super) fn mechanisms(data: &Value) -> Listing {
    let all = data.get("mechanisms").and_then(Value::as_array);
    let all = all.map(Vec::as_slice).unwrap_or_default();
    let heading: String = USES
        .iter()
        .map(|(_, _, short)| format!("{short:4}"))
        .collect();
    Listing {
        title: format!("{} mechanisms", all.len()),
        keys: "Up/Down scroll  r: with recovery  sizes as the token has them  Esc back",
        heading: vec![format!("{:26}{heading}{:>11}", "mechanism", "size")],
        lines: all.iter().map(capabilities).collect(),
        ..Listing::default()
    }
}

fn capabilities(mechanism: &Value) -> String {
    let can = |name: &str| {
        let uses = mechanism.get("capabilities");
        uses.and_then(|uses| uses.get(name))
            .and_then(Value::as_bool)
            == Some(true)
    };
    let cell = |(plain, recovered, _): &(&str, &str, &str)| match (can(plain), can(recovered)) {
        (true, true) => "xr  ",
        (true, false) => "x   ",
        (false, true) => "r   ",
        (false, false) => ".   ",
    };
    let cells: String = USES.iter().map(cell).collect();
    let size = |name: &str| mechanism.get(name).and_then(Value::as_u64);
    let size = match (size("min_key_size"), size("max_key_size")) {
        (Some(0) | None, Some(0) | None) => String::new(),
        (Some(least), Some(most)) if least == most => least.to_string(),
        (least, most) => format!("{}-{}", least.unwrap_or(0), most.unwrap_or(0)),
    };
    let name = text(mechanism, "name").trim_start_matches("CKM_");
    let name: String = name.chars().take(25).collect();
    format!("{name:26}{cells}{size:>11}").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_folded_between_words_and_below_its_value_and_tables_are_left_whole() {
        let prose = "a word ".repeat(30);
        let name = format!("uri    {}", "x".repeat(100));
        let row = format!("one  two  {}", "three ".repeat(20));
        let lines = folded(&format!("short\n{prose}\n{name}\n\n{row}\n"));
        assert!(lines.iter().filter(|line| is_wide(line)).eq([&row]));
        assert_eq!(lines[0], "short");
        assert!(
            lines[1].ends_with("word") || lines[1].ends_with(" a"),
            "{:?}",
            lines[1]
        );
        let at = lines
            .iter()
            .position(|line| line.starts_with("uri"))
            .unwrap();
        assert_eq!(lines[at].chars().count(), WIDTH);
        assert!(lines[at + 1].starts_with("       x"), "{:?}", lines[at + 1]);
        let joined: String = lines[at..at + 2].iter().map(|line| line.trim()).collect();
        assert_eq!(joined.matches('x').count(), 100);
        assert!(lines.contains(&String::new()));
    }

    #[test]
    fn what_a_terminal_would_obey_is_not_among_the_lines() {
        let lines = folded("a\u{1b}[2Jb\tc\u{7}");
        assert_eq!(lines, ["a\\u{1b}[2Jb\\tc\\u{7}"]);
    }

    #[test]
    fn a_wide_table_is_looked_at_from_the_side() {
        let row = format!("one  two  {}", "x".repeat(100));
        let mut listing = Listing::of_text("t".to_owned(), &row);
        assert!(listing.keys.contains("sideways"));
        listing.shift(-1);
        assert_eq!(listing.across, 0);
        (0..10).for_each(|_| listing.shift(1));
        assert_eq!(listing.across, row.len() - WIDTH);
    }
}
