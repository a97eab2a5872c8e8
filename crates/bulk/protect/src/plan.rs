//! What a run does to which column, settled before the first row.

use keywright_format::{
    Format, FormatKey, Mask, Masker, OnBad, Rules, Scope, Settings, TweakPolicy,
};
use keywright_fpe::Mode;
use keywright_primitives::hash::Sha256;
use keywright_primitives::mac::HmacSha256;
use keywright_secret::SecretBytes;
use keywright_tabular::csv::{Layout, Quoting};

use crate::error::Error;
use crate::key::{ColumnKey, Keys};
use crate::lookup::Lookup;
use crate::protection::{Entry, Protection};

/// The columns of a run, with their keys.
#[derive(Debug)]
pub struct Plan {
    columns: Vec<ColumnPlan>,
    /// The columns of the file that are read, in the order of the file.
    wanted: Vec<usize>,
    direction: Direction,
    protection: Option<Protection>,
    fingerprint: [u8; 32],
    /// The key under which the journal is written; without one it is only a checksum.
    journal_key: [u8; 32],
}

/// Which way values go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Direction {
    /// To tokens.
    Protect,
    /// Back.
    Reveal,
    /// From tokens to other tokens.
    Migrate,
}

/// One column that changes.
#[derive(Debug)]
pub(crate) struct ColumnPlan {
    pub(crate) name: String,
    pub(crate) on_bad: OnBad,
    /// Its place among the columns that are read.
    pub(crate) place: usize,
    pub(crate) change: Change,
}

impl ColumnPlan {
    /// The places, among the columns that are read, of its own cells and of those its tweaks are made of.
    pub(crate) fn places(&self) -> Vec<usize> {
        let mut places = vec![self.place];
        match &self.change {
            Change::Protect(keyed) | Change::Reveal(keyed) => places.extend(&keyed.rows),
            Change::Migrate(both) => {
                places.extend(&both.0.rows);
                places.extend(&both.1.rows);
            }
            Change::Mask(_) => {}
        }
        places.sort_unstable();
        places.dedup();
        places
    }
}

/// What happens to its cells.
#[derive(Debug)]
pub(crate) enum Change {
    Protect(Keyed),
    Reveal(Keyed),
    Mask(Box<Masker>),
    Migrate(Box<(Keyed, Keyed)>),
}

/// A key, and where its tweaks come from.
#[derive(Debug)]
pub(crate) struct Keyed {
    pub(crate) key: FormatKey,
    pub(crate) name: String,
    /// The tweak itself, for data that was not written here.
    pub(crate) caller: Option<Vec<u8>>,
    /// The columns of the tweak, as places among those that are read.
    pub(crate) rows: Vec<usize>,
}

impl Keyed {
    pub(crate) fn scope(&self) -> Scope<'_> {
        match &self.caller {
            Some(tweak) => Scope::caller(tweak),
            None => Scope::column(&self.name),
        }
    }
}

/// Tokens that other software wrote: the key itself, the mode, and one tweak for all values.
#[derive(Debug)]
pub struct Foreign {
    key: SecretBytes,
    settings: Settings,
    tweak: Vec<u8>,
}

impl Foreign {
    /// The mode is FF1, FF3, FF3-1 or fpe-c's; the cipher follows from the size of the key unless SM4 is
    /// asked for with [`Foreign::with_sm4`]. Small sets are accepted, since they are only read.
    #[must_use]
    pub fn new(mode: Mode, key: SecretBytes, tweak: &[u8]) -> Self {
        use keywright_format::Cipher;
        let cipher = match key.len() {
            16 => Cipher::Aes128,
            24 => Cipher::Aes192,
            _ => Cipher::Aes256,
        };
        let policy = match tweak {
            [] => TweakPolicy::None,
            _ => TweakPolicy::Caller,
        };
        let settings = Settings::new(policy)
            .with_mode(mode)
            .with_cipher(cipher)
            .accept_small_domain()
            .allow_empty_tweak();
        Self {
            key,
            settings,
            tweak: tweak.to_vec(),
        }
    }

    fn proof(&self) -> Result<[u8; 32], Error> {
        let key = HmacSha256::new(self.key.expose())?;
        Ok(key.mac(b"keywright/column-key/journal/v1"))
    }

    /// Over SM4 instead of AES.
    #[must_use]
    pub fn with_sm4(mut self) -> Self {
        self.settings = self.settings.with_cipher(keywright_format::Cipher::Sm4);
        self
    }
}

/// Where tokens come from that are to be written anew.
#[derive(Debug)]
#[expect(clippy::exhaustive_enums, reason = "here, or somewhere else")]
pub enum Origin<'a> {
    /// Written here: what stands beside them, and the keys they were written with.
    Here(&'a Protection, &'a Keys),
    /// Written elsewhere: the formats that their columns had, and how.
    Elsewhere(&'a Rules, &'a Foreign),
}

impl Plan {
    /// To tokens, and masks for the columns that have no format.
    ///
    /// # Errors
    /// The caller's branches of [`Error`].
    pub fn protect(layout: &Layout, rules: &Rules, keys: &Keys) -> Result<Self, Error> {
        let entries = entries(rules, keys)?;
        let mut making = Making::new(Lookup::of_entries(layout, &entries));
        for (rule, entry) in rules.columns().iter().zip(&entries) {
            let change = match entry.described()? {
                Some(described) => {
                    Change::Protect(making.keyed(entry, described, need(entry, keys)?)?)
                }
                None => {
                    if entry.key.is_some() {
                        making.proofs.push(need(entry, keys)?.proof()?);
                    }
                    Change::Mask(Box::new(masker(rule.mask(), entry, keys)?))
                }
            };
            making.column(rule.name(), rule.on_bad(), change)?;
        }
        let protection = Protection::seal(entries, layout, keys)?;
        making.finish(Direction::Protect, Some(protection))
    }

    /// Back to values. Keys, and rules if they are given, are held against what stands beside the file.
    /// Masked columns stay as they are.
    ///
    /// # Errors
    /// [`Error::WrongKey`], [`Error::ProtectionChanged`], [`Error::QuotingChanged`], [`Error::RulesChanged`]; the
    /// caller's branches.
    pub fn reveal(
        layout: &Layout,
        protection: &Protection,
        rules: Option<&Rules>,
        keys: &Keys,
    ) -> Result<Self, Error> {
        protection.verify(keys)?;
        protection.suits(layout)?;
        let asked = rules.map(|rules| entries(rules, keys)).transpose()?;
        if let Some(asked) = &asked {
            protection.is_of(asked)?;
        }
        let mut making = Making::new(Lookup::of_entries(layout, protection.columns()));
        for entry in protection.columns() {
            let Some(described) = entry.described()? else {
                continue;
            };
            let keyed = making.keyed(entry, described, need(entry, keys)?)?;
            let rule = rules.and_then(|rules| {
                let mut rules = rules.columns().iter();
                rules.find(|rule| rule.name() == entry.name)
            });
            let on_bad = rule.map(keywright_format::ColumnRule::on_bad);
            making.column(
                &entry.name,
                on_bad.unwrap_or_default(),
                Change::Reveal(keyed),
            )?;
        }
        making.finish(Direction::Reveal, None)
    }

    /// From tokens to tokens under other keys, formats or tweaks. The columns are those of `rules` that have a
    /// format; each needs an origin.
    ///
    /// # Errors
    /// As [`Plan::reveal`] for tokens that were written here; [`Error::RulesChanged`] for a column without an
    /// origin.
    pub fn migrate(
        layout: &Layout,
        origin: &Origin<'_>,
        rules: &Rules,
        keys: &Keys,
    ) -> Result<Self, Error> {
        if let Origin::Here(protection, old) = origin {
            protection.verify(old)?;
            protection.suits(layout)?;
        }
        let mut entries = entries(rules, keys)?;
        entries.retain(|entry| entry.format.is_some());
        let mut making = Making::new(Lookup::of_entries(layout, &entries));
        let formatted = rules
            .columns()
            .iter()
            .filter(|rule| rule.format().is_some());
        for (rule, entry) in formatted.zip(&entries) {
            let Some(described) = entry.described()? else {
                continue;
            };
            let old = making.origin(origin, rule.name())?;
            let new = making.keyed(entry, described, need(entry, keys)?)?;
            let change = Change::Migrate(Box::new((old, new)));
            making.column(rule.name(), rule.on_bad(), change)?;
        }
        // What was masked for good stays described.
        if let Origin::Here(protection, _) = origin {
            let unchanged = |entry: &&Entry| entry.format.is_none() && entry.key.is_none();
            entries.extend(protection.columns().iter().filter(unchanged).cloned());
        }
        let protection = Protection::seal(entries, layout, keys)?;
        making.finish(Direction::Migrate, Some(protection))
    }

    /// Which way values go.
    #[must_use]
    pub const fn direction(&self) -> Direction {
        self.direction
    }

    /// What will stand beside the output; nothing beside revealed files.
    #[must_use]
    pub const fn protection(&self) -> Option<&Protection> {
        self.protection.as_ref()
    }

    /// Whether a rule sends rows to a second file.
    #[must_use]
    pub fn rejects(&self) -> bool {
        self.columns
            .iter()
            .any(|column| column.on_bad == OnBad::Reject)
    }

    /// The columns that change, in the order of the table: their places in it, their names, and what happens
    /// to values that do not fit.
    pub fn changes(&self) -> impl Iterator<Item = (usize, &str, OnBad)> {
        self.columns.iter().map(|column| {
            let place = self.wanted.get(column.place).copied();
            (
                place.unwrap_or_default(),
                column.name.as_str(),
                column.on_bad,
            )
        })
    }

    pub(crate) fn columns(&self) -> &[ColumnPlan] {
        &self.columns
    }

    pub(crate) fn wanted(&self) -> &[usize] {
        &self.wanted
    }

    pub(crate) const fn fingerprint(&self) -> &[u8; 32] {
        &self.fingerprint
    }

    pub(crate) const fn journal_key(&self) -> &[u8; 32] {
        &self.journal_key
    }
}

fn entries(rules: &Rules, keys: &Keys) -> Result<Vec<Entry>, Error> {
    let entries = rules.columns().iter().map(|rule| Entry::of(rule, keys));
    entries.collect()
}

fn need<'k>(entry: &Entry, keys: &'k Keys) -> Result<&'k ColumnKey, Error> {
    let name = entry.key.as_ref().and_then(|key| key.name.as_deref());
    keys.need(&entry.name, name)
}

fn masker(mask: Option<&Mask>, entry: &Entry, keys: &Keys) -> Result<Masker, Error> {
    let mask = mask.cloned().unwrap_or(Mask::Null);
    let made = match &entry.key {
        Some(_) => Masker::keyed(mask, need(entry, keys)?.secret(), &entry.name),
        None => Masker::new(mask),
    };
    made.map_err(|source| Error::Rule {
        column: entry.name.clone(),
        source,
    })
}

/// A plan in the making.
struct Making<'l> {
    file: Lookup<'l>,
    /// Columns of the file, and what happens to them; places are filled in at the end.
    columns: Vec<(usize, ColumnPlan)>,
    /// Columns of the file that tweaks are made of, by the column that has the tweak.
    tweaks: Vec<(String, usize)>,
    /// One value of each key that takes part.
    proofs: Vec<[u8; 32]>,
}

impl<'l> Making<'l> {
    const fn new(file: Lookup<'l>) -> Self {
        Self {
            file,
            columns: Vec::new(),
            tweaks: Vec::new(),
            proofs: Vec::new(),
        }
    }

    /// A key for the values of a column. Its rows are columns of the file for now.
    fn keyed(
        &mut self,
        entry: &Entry,
        (format, settings): (Format, Settings),
        key: &ColumnKey,
    ) -> Result<Keyed, Error> {
        if *settings.tweak() == TweakPolicy::Caller {
            return Err(Error::CallerTweak {
                column: entry.name.clone(),
            });
        }
        self.proofs.push(key.proof()?);
        let derived = FormatKey::derive(key.secret(), &format, settings);
        let key = derived.map_err(|source| Error::Rule {
            column: entry.name.clone(),
            source,
        })?;
        let mut rows = Vec::new();
        for name in key.settings().tweak().columns() {
            let column = self.file.column(name)?;
            self.tweaks.push((entry.name.clone(), column));
            rows.push(column);
        }
        Ok(Keyed {
            key,
            name: entry.name.clone(),
            caller: None,
            rows,
        })
    }

    /// What a column's tokens were made with.
    fn origin(&mut self, origin: &Origin<'_>, column: &str) -> Result<Keyed, Error> {
        let unknown = || Error::RulesChanged {
            column: column.to_owned(),
        };
        match origin {
            Origin::Here(protection, keys) => {
                let mut entries = protection.columns().iter();
                let entry = entries.find(|entry| entry.name == column);
                let entry = entry.ok_or_else(unknown)?;
                let described = entry.described()?.ok_or_else(unknown)?;
                self.keyed(entry, described, need(entry, keys)?)
            }
            Origin::Elsewhere(rules, foreign) => {
                let mut rules = rules.columns().iter();
                let rule = rules.find(|rule| rule.name() == column);
                let format = rule.and_then(keywright_format::ColumnRule::format);
                let format = format.ok_or_else(unknown)?;
                self.proofs.push(foreign.proof()?);
                let raw = FormatKey::raw(&foreign.key, format, foreign.settings.clone());
                Ok(Keyed {
                    key: raw.map_err(|source| Error::Rule {
                        column: column.to_owned(),
                        source,
                    })?,
                    name: column.to_owned(),
                    caller: Some(foreign.tweak.clone()),
                    rows: Vec::new(),
                })
            }
        }
    }

    fn column(&mut self, name: &str, on_bad: OnBad, change: Change) -> Result<(), Error> {
        let column = self.file.column(name)?;
        self.columns.push((
            column,
            ColumnPlan {
                name: name.to_owned(),
                on_bad,
                place: 0,
                change,
            },
        ));
        Ok(())
    }

    fn finish(self, direction: Direction, protection: Option<Protection>) -> Result<Plan, Error> {
        let Self {
            file,
            mut columns,
            tweaks,
            proofs,
        } = self;
        if columns.is_empty() {
            return Err(Error::NothingToDo);
        }
        let layout = file.layout();
        let changed = |other: usize| columns.iter().any(|(column, _)| *column == other);
        if let Some((column, other)) = tweaks.iter().find(|(_, other)| changed(*other)) {
            return Err(Error::TweakColumn {
                column: column.clone(),
                other: layout.names().get(*other).cloned().unwrap_or_default(),
            });
        }
        columns.sort_by_key(|(column, _)| *column);
        let own = columns.iter().map(|(column, _)| *column);
        let mut wanted: Vec<usize> = own.chain(tweaks.iter().map(|(_, other)| *other)).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let place = |column: usize| wanted.binary_search(&column).unwrap_or_default();
        for (column, plan) in &mut columns {
            plan.place = place(*column);
            let resolve = |keyed: &mut Keyed| {
                keyed.rows.iter_mut().for_each(|row| *row = place(*row));
            };
            match &mut plan.change {
                Change::Protect(keyed) | Change::Reveal(keyed) => resolve(keyed),
                Change::Migrate(both) => {
                    resolve(&mut both.0);
                    resolve(&mut both.1);
                }
                Change::Mask(_) => {}
            }
        }
        let columns: Vec<ColumnPlan> = columns.into_iter().map(|(_, plan)| plan).collect();
        let fingerprint = fingerprint(layout, direction, &columns);
        Ok(Plan {
            journal_key: journal_key(&proofs),
            columns,
            wanted,
            direction,
            protection,
            fingerprint,
        })
    }
}

/// What makes a run this run, but for its files: what is not here does not change a byte of the output.
fn fingerprint(layout: &Layout, direction: Direction, columns: &[ColumnPlan]) -> [u8; 32] {
    let mut text = format!(
        "{direction:?} {:?} {:?}",
        layout.separator(),
        layout.names()
    );
    if layout.quoting() == Some(Quoting::None) {
        text.push_str(" without quotes");
    }
    for column in columns {
        text.push_str(&format!("\n{:?} {} ", column.name, column.on_bad));
        match &column.change {
            Change::Protect(keyed) | Change::Reveal(keyed) => text.push_str(&told(keyed)),
            Change::Migrate(both) => {
                text.push_str(&format!("{} to {}", told(&both.0), told(&both.1)));
            }
            Change::Mask(masker) => text.push_str(&format!("{masker:?}")),
        }
    }
    let mut hash = Sha256::new();
    hash.update(text.as_bytes());
    hash.finish()
}

fn told(keyed: &Keyed) -> String {
    let settings = keyed.key.settings();
    format!(
        "{:?} {:?} {:?} {} {:?} {:?}",
        keyed.key.format().canonical(),
        settings.tweak(),
        settings.cipher(),
        settings.mode().name(),
        settings.floor(),
        keyed.caller
    )
}

/// From all keys of the run, so that another key does not go on with it.
fn journal_key(proofs: &[[u8; 32]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(b"keywright/journal/v1");
    proofs.iter().for_each(|proof| hash.update(proof));
    hash.finish()
}
