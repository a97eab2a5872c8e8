//! The rows of a home that is made of a backup (design 7.22): those of the backup, and what was ordered since.
//!
//! The log has rows without their sealed secrets. A version whose secret stands in the backup gets the state that
//! the log has for it; one that was made since has lost its secret and stands as destroyed from now on, so that its
//! number is not given out again. Names stay given out, also those of contexts that are lost. No state becomes
//! looser than the log says. Each row is held against its MAC before it is taken, as far as all that the MAC covers is
//! at hand: the log has no secrets, so a version whose secret is lost cannot be.
//!
//! A record that nothing proves may be anybody's. It suspends versions that it would restrict, which an order undoes,
//! and takes away a policy that it would replace, which an order gives back. Of trust that it would replace the last
//! proven row stays, so that no older revocation list gets in; the files are put in place by hand. It makes, destroys,
//! retires and names nothing.
//!
//! Not here: which log is read, and where the rows are written.

use std::collections::BTreeMap;

use keywright_clock::WallTime;
use keywright_encoding::hex;
use keywright_primitives::hash::sha256;
use keywright_store::{Image, NewRow, Row, Table};
use keywright_types::{KeyId, KeyVersion, State, TenantId, VersionLabel};
use serde_json::{Map, Value};

use super::{Error, KeyRow, ROW_FORMAT, VersionRow, json};
use crate::fit::runs_in_tokens;

/// How much is known of a row of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a record is proven or not")]
pub enum Trust {
    /// A signed head or a check frame proves its record.
    Proven,
    /// Anybody who could write the file could have written it.
    Unproven,
}

/// A row as a record of the log has it.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "what a record has of a row, and no more"
)]
pub struct RecordedRow<'a> {
    /// The name of its table.
    pub table: &'a str,
    /// Its key.
    pub key: &'a [u8],
    /// Its body, without its sealed secret.
    pub body: &'a [u8],
    /// The MAC of the whole row.
    pub mac: [u8; 32],
    /// The epoch of the record.
    pub epoch: u64,
}

/// Whether a row has the MAC that its store gave it.
type Judge<'a> = Box<dyn Fn(Table, &Row) -> bool + 'a>;

/// What was done to the rows, for whoever ordered the restore.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Told {
    /// Versions that were made after the backup: their secrets are gone.
    pub lost: Vec<VersionLabel>,
    /// Versions that may seal no more because their seals are not counted any longer.
    pub retired: Vec<VersionLabel>,
    /// Versions that a record restricts which nothing proves.
    pub suspended: Vec<VersionLabel>,
    /// Rows of the log that were not believed.
    pub doubted: usize,
    /// Whether the policy in force is not known.
    pub policy_unknown: bool,
    /// Whether the trust anchors and revocation lists in force are not known.
    pub trust_unknown: bool,
}

/// The rows to be.
pub struct Rows<'a> {
    rows: BTreeMap<(Table, Vec<u8>), NewRow>,
    /// The newest revision that is known of each row.
    revisions: BTreeMap<(Table, Vec<u8>), u64>,
    judge: Judge<'a>,
    now: WallTime,
    told: Told,
}

impl<'a> Rows<'a> {
    /// The rows of a backup; `is_own` says whether a row has the MAC of its store. Approvals and open intents end here:
    /// what they were given for has changed.
    #[must_use]
    pub fn of(image: &Image, now: WallTime, is_own: impl Fn(Table, &Row) -> bool + 'a) -> Self {
        let revisions = image
            .rows()
            .map(|(table, row)| ((table, row.key.clone()), row.revision));
        let kept = image
            .rows()
            .filter(|(table, _)| !matches!(table, Table::Approvals | Table::Intents));
        let rows = kept.map(|(table, row)| {
            let new = NewRow {
                table,
                key: row.key.clone(),
                tenant: row.tenant,
                body: row.body.clone(),
            };
            ((table, row.key.clone()), new)
        });
        Self {
            rows: rows.collect(),
            revisions: revisions.collect(),
            judge: Box::new(is_own),
            now,
            told: Told::default(),
        }
    }

    /// Puts a row of the log in the place of the backup's.
    ///
    /// # Errors
    /// Of a proven record: [`Error::Unreadable`] for a row that this version does not know, [`Error::ForeignRow`] for one
    /// that has not the MAC of the store.
    pub fn replay(&mut self, recorded: RecordedRow<'_>, trust: Trust) -> Result<(), Error> {
        let mut tables = Table::ALL.into_iter();
        let table = tables.find(|known| known.name() == recorded.table);
        match (table, trust) {
            (Some(table), Trust::Proven) => self.replay_proven(table, recorded),
            (Some(table), Trust::Unproven) => {
                self.restrict(table, recorded);
                Ok(())
            }
            (None, Trust::Proven) => Err(Error::Unreadable(Table::Meta)),
            (None, Trust::Unproven) => {
                self.told.doubted += 1;
                Ok(())
            }
        }
    }

    fn replay_proven(&mut self, table: Table, recorded: RecordedRow<'_>) -> Result<(), Error> {
        let RecordedRow { key, body, .. } = recorded;
        match table {
            Table::Names => self.name(recorded),
            Table::Keys => match self.tenant_of(key) {
                Some(tenant) => {
                    self.prove(table, recorded, (tenant, body))?;
                    self.put(table, key, tenant, body);
                    Ok(())
                }
                None => Ok(()),
            },
            Table::KeyVersions => self.version(recorded),
            Table::Policies => {
                self.prove(table, recorded, (TenantId::NONE, body))?;
                self.put(table, key, TenantId::NONE, body);
                match key {
                    POLICY => self.told.policy_unknown = false,
                    TRUST => self.told.trust_unknown = false,
                    _ => {}
                }
                Ok(())
            }
            // A tenant that was made since has lost its key, and all that was under it. Approvals end.
            _ => Ok(()),
        }
    }

    /// Holds a row against its MAC. How often it was written is not in the record: once more than what is known, or a
    /// few times, where records in between say nothing of it; and after a restore, of which the log tells as well, rows
    /// are counted from the beginning.
    fn prove(
        &mut self,
        table: Table,
        recorded: RecordedRow<'_>,
        (tenant, body): (TenantId, &[u8]),
    ) -> Result<(), Error> {
        let place = (table, recorded.key.to_vec());
        let known = self.revisions.get(&place).copied().unwrap_or(0);
        let mut row = Row {
            key: recorded.key.to_vec(),
            tenant,
            revision: known,
            epoch: recorded.epoch,
            body: body.to_vec(),
            mac: recorded.mac,
        };
        let next = known.saturating_add(1);
        for revision in (next..next.saturating_add(REVISIONS_TRIED)).chain(1..=REVISIONS_TRIED) {
            row.revision = revision;
            if (self.judge)(table, &row) {
                self.revisions.insert(place, row.revision);
                return Ok(());
            }
        }
        Err(Error::ForeignRow(table))
    }

    /// What a record does that nothing proves.
    fn restrict(&mut self, table: Table, recorded: RecordedRow<'_>) {
        self.told.doubted += 1;
        let key = recorded.key;
        match table {
            Table::KeyVersions => {
                let body: Result<Map<String, Value>, _> = serde_json::from_slice(recorded.body);
                let state = body.ok().and_then(|mut body| body.remove("state"));
                let state = state.and_then(|state| serde_json::from_value::<State>(state).ok());
                if let Some(state) = state {
                    self.suspend(key, state);
                }
            }
            Table::Policies if key == POLICY || key == TRUST => self.left_out(key),
            _ => {}
        }
    }

    /// Suspends a version that a record has in a state which allows less, whatever that state is.
    fn suspend(&mut self, key: &[u8], recorded: State) {
        let Some(row) = self.rows.get_mut(&(Table::KeyVersions, key.to_vec())) else {
            return;
        };
        // The rows of the backup were proven before.
        let Ok(mut old) = parse(&row.body) else {
            return;
        };
        let may_be = matches!(old.state, State::PreActive | State::Active | State::Retired);
        if !may_be || rank(recorded) <= rank(old.state) {
            return;
        }
        old.before_suspension = Some(old.state);
        old.state = State::Suspended;
        row.body = json(&old);
        self.told.suspended.extend(label(key));
    }

    /// Notes that the log does not hold the policy, or the trust, that is in force. The last trust that is known stays:
    /// what is put in place may be no older.
    pub fn left_out(&mut self, key: &[u8]) {
        if key != POLICY {
            self.told.trust_unknown = true;
            return;
        }
        self.told.policy_unknown = true;
        self.rows.remove(&(Table::Policies, key.to_vec()));
    }

    /// Whether the trust anchors and revocation lists in force are not known, but only what they must not be older than.
    #[must_use]
    pub const fn trust_is_unknown(&self) -> bool {
        self.told.trust_unknown
    }

    fn name(&mut self, recorded: RecordedRow<'_>) -> Result<(), Error> {
        let RecordedRow { key, body, .. } = recorded;
        let Some(tenant) = key.first_chunk::<16>().copied() else {
            return Ok(());
        };
        // The name of a tenant stands under none, and belongs to the tenant that it names.
        let owner = match tenant == *TenantId::NONE.as_bytes() {
            true => body.first_chunk::<16>().copied().unwrap_or(tenant),
            false => tenant,
        };
        let place = (Table::Names, key.to_vec());
        if !self.rows.contains_key(&place) {
            let owner = TenantId::from_bytes(owner);
            self.prove(Table::Names, recorded, (owner, body))?;
            self.put(Table::Names, key, owner, body);
        }
        Ok(())
    }

    /// The tenant that has this key, by the name that was given to it; none if the tenant itself is lost.
    fn tenant_of(&self, key: &[u8]) -> Option<TenantId> {
        if let Some(row) = self.rows.get(&(Table::Keys, key.to_vec())) {
            return Some(row.tenant);
        }
        let names = self.rows.range((Table::Names, Vec::new())..);
        let mut names = names.take_while(|((table, _), _)| *table == Table::Names);
        let tenant = names.find(|(_, row)| row.body == key)?.1.tenant;
        let lives = (Table::Tenants, tenant.as_bytes().to_vec());
        self.rows.contains_key(&lives).then_some(tenant)
    }

    fn version(&mut self, recorded: RecordedRow<'_>) -> Result<(), Error> {
        let key = recorded.key;
        let Some(tenant) = key.get(..16).and_then(|id| self.tenant_of(id)) else {
            return Ok(());
        };
        let place = (Table::KeyVersions, key.to_vec());
        let old = match self.rows.get(&place) {
            Some(row) => Some(parse(&row.body)?),
            None => None,
        };
        let (new, whole) = match self.with_secret(key, recorded.body, old.as_ref())? {
            Recovered::Whole(row) => (row, true),
            Recovered::Lost(row) => (row, false),
            Recovered::Known => return Ok(()),
        };
        let body = json(&new);
        if whole {
            self.prove(Table::KeyVersions, recorded, (tenant, &body))?;
        }
        self.put(Table::KeyVersions, key, tenant, &body);
        Ok(())
    }

    /// The row of the log with the secret of the backup.
    fn with_secret(
        &mut self,
        key: &[u8],
        recorded: &[u8],
        old: Option<&VersionRow>,
    ) -> Result<Recovered, Error> {
        let mut fields: Map<String, Value> =
            serde_json::from_slice(recorded).map_err(|_| UNREADABLE)?;
        let digest = fields.remove("sealed_sha256");
        let secret = old.map_or("", |old| old.sealed.as_str());
        // Logs of earlier versions have the sealed secret itself.
        if !fields.contains_key("sealed") {
            fields.insert("sealed".to_owned(), secret.into());
        }
        let body = serde_json::to_vec(&fields).map_err(|_| UNREADABLE)?;
        let mut row = parse(&body)?;
        if row.state == State::Destroyed {
            row.sealed.clear();
            return Ok(Recovered::Whole(row));
        }
        let found = digest_of(&row.sealed);
        let fits = digest.is_none_or(|digest| digest.as_str() == Some(&found));
        if fits && !row.sealed.is_empty() {
            return Ok(Recovered::Whole(row));
        }
        if old.is_some_and(|old| old.state == State::Destroyed) {
            return Ok(Recovered::Known);
        }
        self.told.lost.extend(label(key));
        row.state = State::Destroyed;
        row.before_suspension = None;
        row.destroyed_ms = Some(self.now.unix_millis());
        row.sealed.clear();
        Ok(Recovered::Lost(row))
    }

    /// Retires every version that seals in a token: how often it has sealed since the backup is not known, and it
    /// may seal only so often (design 7.19).
    ///
    /// # Errors
    /// [`Error::Unreadable`].
    pub fn retire_counted(&mut self) -> Result<(), Error> {
        let keys = self.rows.values().filter(|row| row.table == Table::Keys);
        let mut counted = Vec::new();
        for row in keys {
            let body: KeyRow =
                serde_json::from_slice(&row.body).map_err(|_| Error::Unreadable(Table::Keys))?;
            if runs_in_tokens(body.spec.algorithm) {
                counted.push(row.key.clone());
            }
        }
        let now = self.now.unix_millis();
        for row in self.rows.values_mut() {
            let of_counted = row
                .key
                .get(..16)
                .is_some_and(|id| counted.iter().any(|key| key == id));
            if row.table != Table::KeyVersions || !of_counted {
                continue;
            }
            let mut body = parse(&row.body)?;
            match (body.state, body.before_suspension) {
                (State::Active | State::PreActive, _) => {
                    body.state = State::Retired;
                    body.retired_ms = Some(now);
                }
                (State::Suspended, Some(State::Active | State::PreActive)) => {
                    body.before_suspension = Some(State::Retired);
                }
                _ => continue,
            }
            row.body = json(&body);
            self.told.retired.extend(label(&row.key));
        }
        Ok(())
    }

    /// Retires every active version but the newest of each key: the backup and the log may each have one.
    ///
    /// # Errors
    /// [`Error::Unreadable`].
    pub fn retire_outlived(&mut self) -> Result<(), Error> {
        let now = self.now.unix_millis();
        let mut active = None;
        // In the order of their keys: a key's id, then the number of the version. So the newest comes first.
        for row in self.rows.values_mut().rev() {
            if row.table != Table::KeyVersions {
                continue;
            }
            let mut body = parse(&row.body)?;
            if body.state != State::Active {
                continue;
            }
            let of = row.key.first_chunk::<16>().copied();
            if active == of {
                body.state = State::Retired;
                body.retired_ms = Some(now);
                row.body = json(&body);
            }
            active = of;
        }
        Ok(())
    }

    /// The body of a row.
    #[must_use]
    pub fn get(&self, table: Table, key: &[u8]) -> Option<&[u8]> {
        let row = self.rows.get(&(table, key.to_vec()))?;
        Some(&row.body)
    }

    /// Puts a row of the node itself in place.
    pub fn put(&mut self, table: Table, key: &[u8], tenant: TenantId, body: &[u8]) {
        let key = key.to_vec();
        let row = NewRow {
            table,
            key: key.clone(),
            tenant,
            body: body.to_vec(),
        };
        self.rows.insert((table, key), row);
    }

    /// The rows, and what was done to them.
    #[must_use]
    pub fn into_parts(self) -> (Vec<NewRow>, Told) {
        (self.rows.into_values().collect(), self.told)
    }
}

impl std::fmt::Debug for Rows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Rows({})", self.rows.len())
    }
}

/// What is left of a version that the log tells of.
enum Recovered {
    /// The row as it was written.
    Whole(VersionRow),
    /// Its secret is lost, so it stands as destroyed.
    Lost(VersionRow),
    /// It was known to be lost already.
    Known,
}

/// How little a state allows.
const fn rank(state: State) -> u8 {
    match state {
        State::PreActive | State::Active => 0,
        State::Retired => 1,
        State::Suspended => 2,
        State::DestroyScheduled => 3,
        _ => 4,
    }
}

fn parse(body: &[u8]) -> Result<VersionRow, Error> {
    let row: VersionRow = serde_json::from_slice(body).map_err(|_| UNREADABLE)?;
    match row.v == ROW_FORMAT {
        true => Ok(row),
        false => Err(UNREADABLE),
    }
}

fn digest_of(sealed: &str) -> String {
    hex::encode(&sha256(sealed.as_bytes()))
}

fn label(key: &[u8]) -> Option<VersionLabel> {
    let (id, number) = key.split_at_checked(16)?;
    Some(VersionLabel {
        key: KeyId::from_bytes(id.try_into().ok()?),
        version: KeyVersion::from_number(u32::from_be_bytes(number.try_into().ok()?)),
    })
}

const UNREADABLE: Error = Error::Unreadable(Table::KeyVersions);
/// The keys of the policy and of the trust in their table.
const POLICY: &[u8] = b"policy";
const TRUST: &[u8] = b"trust";
/// Each order that changes a row is recorded with it, so that the next revision is one more; a few more are tried.
const REVISIONS_TRIED: u64 = 64;

#[cfg(test)]
mod tests {
    use keywright_types::{Algorithm, BindingKind, KeySpec, Name};

    use super::*;
    use crate::Rules;
    use crate::rows::recorded;

    const TENANT: [u8; 16] = [1; 16];
    const KEY: [u8; 16] = [2; 16];
    /// The MAC that every row of the store has here.
    const OWN: [u8; 32] = [9; 32];

    fn version(state: State, sealed: &str) -> VersionRow {
        VersionRow {
            v: 1,
            state,
            before_suspension: None,
            created_ms: 1,
            activated_ms: Some(1),
            retired_ms: None,
            scheduled_ms: None,
            due_ms: None,
            destroyed_ms: None,
            public_key: None,
            reader: None,
            sealed: sealed.to_owned(),
        }
    }

    fn key(algorithm: Algorithm) -> KeyRow {
        KeyRow {
            v: 1,
            name: "orders".parse::<Name>().unwrap(),
            spec: KeySpec {
                algorithm,
                ..KeySpec::seal()
            },
            detail: None,
            binding: BindingKind::None,
            min_open: KeyVersion::FIRST,
            rules: Rules::default(),
            created_ms: 1,
        }
    }

    fn place(version: u8) -> Vec<u8> {
        [&KEY[..], &[0, 0, 0, version]].concat()
    }

    /// A tenant with one key, whose first version is in this state.
    fn begin(algorithm: Algorithm, first: &VersionRow) -> Rows<'static> {
        let row = |key: &[u8], body: Vec<u8>| Row {
            key: key.to_vec(),
            tenant: TenantId::from_bytes(TENANT),
            revision: 1,
            epoch: 1,
            body,
            mac: OWN,
        };
        let image = Image::new([
            (Table::Tenants, row(&TENANT, b"{}".to_vec())),
            (Table::Keys, row(&KEY, json(&key(algorithm)))),
            (Table::KeyVersions, row(&place(1), json(first))),
            (Table::Approvals, row(b"order", b"{}".to_vec())),
            (Table::Policies, row(b"policy", b"old".to_vec())),
        ]);
        Rows::of(&image.unwrap(), WallTime::from_unix_millis(99), |_, row| {
            row.mac == OWN
        })
    }

    fn recorded_row<'a>(table: &'a str, key: &'a [u8], body: &'a [u8]) -> RecordedRow<'a> {
        RecordedRow {
            table,
            key,
            body,
            mac: OWN,
            epoch: 2,
        }
    }

    fn replay(rows: &mut Rows<'_>, number: u8, row: &VersionRow, trust: Trust) {
        let body = json(row);
        let body = recorded(Table::KeyVersions, &body);
        let place = place(number);
        rows.replay(recorded_row("key_versions", &place, &body), trust)
            .unwrap();
    }

    fn state(rows: &Rows<'_>, number: u8) -> (State, String) {
        let row = parse(rows.get(Table::KeyVersions, &place(number)).unwrap()).unwrap();
        (row.state, row.sealed)
    }

    #[test]
    fn the_log_decides_the_state_and_the_backup_has_the_secret() {
        for after in [State::Suspended, State::DestroyScheduled, State::Retired] {
            let mut rows = begin(Algorithm::Xaes256Gcm, &version(State::Active, "c2VhbGVk"));
            replay(&mut rows, 1, &version(after, "c2VhbGVk"), Trust::Proven);
            assert_eq!(state(&rows, 1), (after, "c2VhbGVk".to_owned()));
        }
        let mut rows = begin(Algorithm::Xaes256Gcm, &version(State::Active, "c2VhbGVk"));
        replay(&mut rows, 1, &version(State::Destroyed, ""), Trust::Proven);
        assert_eq!(state(&rows, 1), (State::Destroyed, String::new()));
        assert!(rows.into_parts().1.lost.is_empty());
    }

    #[test]
    fn a_version_whose_secret_nobody_has_stands_as_destroyed_for_ever() {
        let mut rows = begin(Algorithm::Xaes256Gcm, &version(State::Active, "c2VhbGVk"));
        replay(&mut rows, 2, &version(State::Active, "bmV3"), Trust::Proven);
        replay(
            &mut rows,
            2,
            &version(State::Suspended, "bmV3"),
            Trust::Proven,
        );
        assert_eq!(state(&rows, 2), (State::Destroyed, String::new()));
        // Another secret under the same number is not the one of the log either.
        replay(
            &mut rows,
            1,
            &version(State::Retired, "b3RoZXI="),
            Trust::Proven,
        );
        assert_eq!(state(&rows, 1), (State::Destroyed, String::new()));
        assert_eq!(rows.into_parts().1.lost.len(), 2);
    }

    #[test]
    fn of_two_active_versions_the_newest_stays() {
        let mut rows = begin(Algorithm::Xaes256Gcm, &version(State::Active, "c2VhbGVk"));
        let tenant = TenantId::from_bytes(TENANT);
        let second = json(&version(State::Active, "bmV3"));
        rows.put(Table::KeyVersions, &place(2), tenant, &second);
        // The first of another key is nobody's older version.
        let other = [&[3; 16][..], &[0, 0, 0, 1]].concat();
        rows.put(Table::KeyVersions, &other, tenant, &second);
        rows.retire_outlived().unwrap();
        let states = [1, 2].map(|number| state(&rows, number).0);
        assert_eq!(states, [State::Retired, State::Active]);
        let kept = parse(rows.get(Table::KeyVersions, &other).unwrap()).unwrap();
        assert_eq!(kept.state, State::Active);
    }

    #[test]
    fn unproven_row_suspends_what_it_would_restrict() {
        let restricting = [
            State::Retired,
            State::Suspended,
            State::DestroyScheduled,
            State::Destroyed,
        ];
        for before in [State::PreActive, State::Active] {
            for recorded in restricting {
                let mut rows = begin(Algorithm::Xaes256Gcm, &version(before, "c2VhbGVk"));
                for _ in 0..2 {
                    replay(&mut rows, 1, &version(recorded, ""), Trust::Unproven);
                }
                let row = parse(rows.get(Table::KeyVersions, &place(1)).unwrap()).unwrap();
                assert_eq!(
                    (row.state, row.before_suspension),
                    (State::Suspended, Some(before))
                );
                assert_eq!(row.sealed, "c2VhbGVk");
                assert_eq!(rows.into_parts().1.suspended.len(), 1);
            }
        }
    }

    #[test]
    fn unproven_row_loosens_makes_and_names_nothing() {
        let states = [
            State::PreActive,
            State::Active,
            State::Retired,
            State::Suspended,
            State::DestroyScheduled,
            State::Destroyed,
        ];
        for before in [State::Suspended, State::DestroyScheduled, State::Destroyed] {
            for recorded in states {
                let mut rows = begin(Algorithm::Xaes256Gcm, &version(before, "c2VhbGVk"));
                replay(
                    &mut rows,
                    1,
                    &version(recorded, "c2VhbGVk"),
                    Trust::Unproven,
                );
                replay(
                    &mut rows,
                    2,
                    &version(recorded, "c2VhbGVk"),
                    Trust::Unproven,
                );
                assert_eq!(state(&rows, 1), (before, "c2VhbGVk".to_owned()));
                assert!(rows.get(Table::KeyVersions, &place(2)).is_none());
            }
        }
        let mut rows = begin(Algorithm::Xaes256Gcm, &version(State::Active, "c2VhbGVk"));
        let loose = json(&KeyRow {
            name: "other".parse().unwrap(),
            ..key(Algorithm::Xaes256Gcm)
        });
        let before = rows.get(Table::Keys, &KEY).unwrap().to_vec();
        let name = [&TENANT[..], b"taken"].concat();
        for row in [
            recorded_row("keys", &KEY, &loose),
            recorded_row("keys", &[7; 16], &loose),
            recorded_row("names", &name, &KEY),
            recorded_row("policies", b"policy", b"new"),
            recorded_row("policies", b"other", b"new"),
            recorded_row("unheard-of", b"", b""),
            recorded_row("key_versions", &place(1), b"no json"),
        ] {
            rows.replay(row, Trust::Unproven).unwrap();
        }
        assert_eq!(rows.get(Table::Keys, &KEY).unwrap(), before);
        assert_eq!(rows.get(Table::Keys, &[7; 16]), None);
        assert_eq!(rows.get(Table::Names, &name), None);
        assert_eq!(rows.get(Table::Policies, b"policy"), None);
        assert_eq!(rows.get(Table::Policies, b"other"), None);
        let (rows, told) = rows.into_parts();
        assert!(
            told.policy_unknown && !told.trust_unknown && told.doubted == 7,
            "{told:?}"
        );
        assert!(rows.iter().all(|row| row.table != Table::Approvals));
    }

    #[test]
    fn trust_that_a_record_would_replace_stays_as_what_no_other_may_be_older_than() {
        let mut rows = begin(Algorithm::Xaes256Gcm, &version(State::Active, "c2VhbGVk"));
        rows.put(Table::Policies, b"trust", TenantId::NONE, b"known");
        let forged = recorded_row("policies", b"trust", b"forged");
        rows.replay(forged, Trust::Unproven).unwrap();
        assert_eq!(rows.get(Table::Policies, b"trust").unwrap(), b"known");
        assert!(rows.trust_is_unknown());
        // So it is with one that was too long for its record.
        rows.left_out(b"trust");
        assert_eq!(rows.get(Table::Policies, b"trust").unwrap(), b"known");
        let told = rows.into_parts().1;
        assert!(told.trust_unknown && !told.policy_unknown, "{told:?}");
    }

    #[test]
    fn proven_record_with_a_foreign_row_mac_is_refused() {
        let body = json(&version(State::Destroyed, ""));
        let body = recorded(Table::KeyVersions, &body);
        let (place, name) = (place(1), [&TENANT[..], b"named"].concat());
        let keyed = json(&key(Algorithm::Xaes256Gcm));
        for row in [
            recorded_row("key_versions", &place, &body),
            recorded_row("keys", &KEY, &keyed),
            recorded_row("names", &name, &KEY),
            recorded_row("policies", b"policy", b"new"),
        ] {
            let mut rows = begin(Algorithm::Xaes256Gcm, &version(State::Active, "c2VhbGVk"));
            let foreign = RecordedRow {
                mac: [1; 32],
                ..row
            };
            assert!(
                rows.replay(foreign, Trust::Proven).is_err(),
                "{}",
                row.table
            );
            assert_eq!(state(&rows, 1).0, State::Active);
            rows.replay(row, Trust::Proven).unwrap();
        }
    }

    #[test]
    fn only_versions_that_are_counted_are_retired_and_never_come_back() {
        let suspended = VersionRow {
            before_suspension: Some(State::Active),
            ..version(State::Suspended, "c2VhbGVk")
        };
        for (algorithm, first, expected) in [
            (
                Algorithm::TokenGcm12,
                version(State::Active, "c2VhbGVk"),
                State::Retired,
            ),
            (
                Algorithm::TokenGcm16,
                version(State::PreActive, "c2VhbGVk"),
                State::Retired,
            ),
            (Algorithm::TokenGcm16, suspended, State::Suspended),
            (
                Algorithm::Xaes256Gcm,
                version(State::Active, "c2VhbGVk"),
                State::Active,
            ),
        ] {
            let mut rows = begin(algorithm, &first);
            rows.retire_counted().unwrap();
            let row = parse(rows.get(Table::KeyVersions, &place(1)).unwrap()).unwrap();
            assert_eq!(row.state, expected);
            assert_ne!(row.before_suspension, Some(State::Active));
        }
    }

    #[test]
    fn rows_of_lost_tenants_are_left_out_and_their_names_stay_given_out() {
        let mut rows = begin(Algorithm::Xaes256Gcm, &version(State::Active, "c2VhbGVk"));
        let (tenant, lost) = ([7; 16], [8; 16]);
        let of_tenant = [&[0; 16][..], b"others"].concat();
        let of_key = [&tenant[..], b"lost"].concat();
        rows.replay(recorded_row("names", &of_tenant, &tenant), Trust::Proven)
            .unwrap();
        rows.replay(recorded_row("names", &of_key, &lost), Trust::Proven)
            .unwrap();
        rows.replay(recorded_row("keys", &lost, b"{}"), Trust::Proven)
            .unwrap();
        assert!(rows.get(Table::Names, &of_tenant).is_some());
        assert!(rows.get(Table::Names, &of_key).is_some());
        assert!(rows.get(Table::Keys, &lost).is_none());
        assert!(
            rows.replay(recorded_row("unheard-of", b"", b""), Trust::Proven)
                .is_err()
        );
    }
}
