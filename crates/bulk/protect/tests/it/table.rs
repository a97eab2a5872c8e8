//! A folder with a file, rules and keys, and the runs over them.

use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use keywright_format::Rules;
use keywright_protect::{
    ColumnKey, Error, Files, Keys, Options, Overwrite, Plan, Progress, Protection, Source, Summary,
    protection_of, run,
};
use keywright_secret::Secret;
use keywright_tabular::csv::{Options as Dialect, Quoting};

pub(crate) struct Table {
    folder: tempfile::TempDir,
    quoting: Quoting,
}

pub(crate) fn key(number: u8) -> ColumnKey {
    ColumnKey::without_id(1, Secret::from_fill(|key| key.fill(number))).unwrap()
}

pub(crate) fn keys(number: u8) -> Keys {
    Keys::none().with_unnamed(key(number))
}

pub(crate) fn rules(columns: &[&str]) -> Rules {
    let columns: String = columns
        .iter()
        .map(|column| format!("[[column]]\n{column}\n"))
        .collect();
    Rules::parse(&format!("version = 1\n{columns}")).unwrap()
}

/// Small blocks, so that small files have many.
pub(crate) fn options(threads: usize) -> Options {
    Options::new(NonZeroUsize::new(threads).unwrap()).with_block(256)
}

pub(crate) fn go_on(_: &Progress) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

impl Table {
    pub(crate) fn new(input: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("in.csv"), input).unwrap();
        let quoting = Quoting::Assumed;
        Self { folder, quoting }
    }

    pub(crate) fn with_quoting(mut self, quoting: Quoting) -> Self {
        self.quoting = quoting;
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).unwrap()
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    pub(crate) fn open(&self, name: &str) -> Source {
        self.try_open(name).unwrap()
    }

    pub(crate) fn try_open(&self, name: &str) -> Result<Source, Error> {
        let dialect = Dialect::default().with_quoting(self.quoting);
        Source::open(&self.path(name), &dialect.with_max_record(8 << 20))
    }

    pub(crate) fn files(&self, out: &str) -> Files {
        Files::new(&self.path(out)).with_rejects(&self.path("rejects.csv"))
    }

    pub(crate) fn protect_with(
        &self,
        rules: &Rules,
        options: &Options,
        progress: &mut (dyn FnMut(&Progress) -> ControlFlow<()> + Send),
    ) -> Result<Summary, Error> {
        let source = self.try_open("in.csv")?;
        let plan = Plan::protect(source.layout(), rules, &keys(1))?;
        run(&source, &plan, &self.files("out.csv"), options, progress)
    }

    pub(crate) fn protect(&self, rules: &Rules) -> Result<Summary, Error> {
        self.protect_with(rules, &options(1), &mut go_on)
    }

    pub(crate) fn protection(&self, of: &str) -> Protection {
        Protection::parse(&std::fs::read(protection_of(&self.path(of))).unwrap()).unwrap()
    }

    /// Reveals `out.csv` as `back.csv`.
    pub(crate) fn reveal(&self, rules: Option<&Rules>, keys: &Keys) -> Result<Summary, Error> {
        let source = self.open("out.csv");
        let protection = self.protection("out.csv");
        let plan = Plan::reveal(source.layout(), &protection, rules, keys)?;
        let files = self.files("back.csv").with_overwrite(Overwrite::Replace);
        run(&source, &plan, &files, &options(1), &mut go_on)
    }

    /// Protects and reveals, and demands the same bytes. Gives what was protected.
    #[track_caller]
    pub(crate) fn round_trip(&self, rules: &Rules) -> Vec<u8> {
        self.protect(rules).unwrap();
        self.reveal(Some(rules), &keys(1)).unwrap();
        assert!(
            self.read("back.csv") == self.read("in.csv"),
            "another file came back: {:?}",
            String::from_utf8_lossy(&self.read("back.csv"))
        );
        self.read("out.csv")
    }
}

/// Cards whose check digit is right, of no issuer.
pub(crate) fn card(number: u64) -> String {
    let body = format!("99{number:013}");
    let sum: u64 = body
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, byte)| {
            let digit = u64::from(byte - b'0') * if place % 2 == 0 { 2 } else { 1 };
            digit / 10 + digit % 10
        })
        .sum();
    format!("{body}{}", (10 - sum % 10) % 10)
}

/// A table of so many rows with a card, a date and quoting that differs from row to row.
pub(crate) fn people(rows: u64) -> String {
    let mut text = "id,card,born,note\n".to_owned();
    for row in 0..rows {
        let card = card(row * 7_919);
        let born = format!(
            "{:04}-{:02}-{:02}",
            1930 + row % 70,
            1 + row % 12,
            1 + row % 28
        );
        text.push_str(&match row % 4 {
            0 => format!("{row},{card},{born},plain\n"),
            1 => format!("{row},\"{card}\",{born},\"two\nlines, \"\"quoted\"\"\"\r\n"),
            2 => format!("{row},,\"\",\n"),
            _ => format!("\"{row}\",{card},\"{born}\",\"a,b\"\n"),
        });
    }
    text
}

pub(crate) const PEOPLE: [&str; 2] = [
    "name = \"card\"\nformat = \"card\"",
    "name = \"born\"\nformat = \"date(from=0001-01-01, to=9999-12-31)\"",
];

pub(crate) fn exists(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok()
}
