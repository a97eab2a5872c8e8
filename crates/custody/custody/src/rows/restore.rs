//! The rows of a home that is made of a backup (design 7.22): those of the backup, and what was ordered since.
//!
//! The log has rows without their sealed secrets. A version whose secret stands in the backup gets the state that
//! the log has for it; one that was made since has lost its secret and stands as destroyed from now on, so that its
//! number is not given out again. Names stay given out, also those of contexts that are lost. No state becomes
//! looser than the log says, and of what no signed head covers only what restricts is believed.
//!
//! Not here: which log is read, and where the rows are written.

use std::collections::BTreeMap;

use keywright_clock::WallTime;
use keywright_encoding::hex;
use keywright_primitives::hash::sha256;
use keywright_store::{Image, NewRow, Table};
use keywright_types::{KeyId, KeyVersion, State, TenantId, VersionLabel};
use serde_json::{Map, Value};

use super::{Error, KeyRow, ROW_FORMAT, VersionRow, json};
use crate::fit::runs_in_tokens;

/// How much is known of a row of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a head covers a record or not")]
pub enum Trust {
    /// A signed head covers it.
    Signed,
    /// Anybody who could write the file could have written it.
    Unsigned,
}

/// What was done to the rows, for whoever ordered the restore.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Told {
    /// Versions that were made after the backup: their secrets are gone.
    pub lost: Vec<VersionLabel>,
    /// Versions that may seal no more because their seals are not counted any longer.
    pub retired: Vec<VersionLabel>,
    /// Rows of the log that were not believed.
    pub doubted: usize,
    /// Whether the policy in force is not known.
    pub policy_unknown: bool,
    /// Whether the trust anchors and revocation lists in force are not known.
    pub trust_unknown: bool,
}

/// The rows to be.
#[derive(Debug)]
pub struct Rows {
    rows: BTreeMap<(Table, Vec<u8>), NewRow>,
    now: WallTime,
    told: Told,
}

impl Rows {
    /// The rows of a backup. Approvals and open intents end here: what they were given for has changed.
    #[must_use]
    pub fn of(image: &Image, now: WallTime) -> Self {
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
            now,
            told: Told::default(),
        }
    }

    /// Puts a row of the log in the place of the backup's.
    ///
    /// # Errors
    /// [`Error::Unreadable`] for a row that this version does not know.
    pub fn replay(
        &mut self,
        (table, key, body): (&str, &[u8], &[u8]),
        trust: Trust,
    ) -> Result<(), Error> {
        let known = Table::ALL.into_iter().find(|known| known.name() == table);
        match (known.ok_or(Error::Unreadable(Table::Meta))?, trust) {
            (Table::Names, _) => self.name(key, body),
            (Table::Keys, _) => self.key(key, body, trust),
            (Table::KeyVersions, _) => self.version(key, body, trust)?,
            (Table::Policies, Trust::Signed) => {
                self.put(Table::Policies, key, TenantId::NONE, body)
            }
            (Table::Policies, Trust::Unsigned) => self.doubt(key),
            // A tenant that was made since has lost its key, and all that was under it. Approvals end.
            _ => {}
        }
        Ok(())
    }

    /// Notes that the log does not hold the policy, or the trust, that is in force.
    pub fn left_out(&mut self, key: &[u8]) {
        match key {
            POLICY => self.told.policy_unknown = true,
            _ => self.told.trust_unknown = true,
        }
        self.rows.remove(&(Table::Policies, key.to_vec()));
    }

    fn doubt(&mut self, key: &[u8]) {
        self.told.doubted += 1;
        self.left_out(key);
    }

    fn name(&mut self, key: &[u8], body: &[u8]) {
        let Some(tenant) = key.first_chunk::<16>().copied() else {
            return;
        };
        // The name of a tenant stands under none, and belongs to the tenant that it names.
        let owner = match tenant == *TenantId::NONE.as_bytes() {
            true => body.first_chunk::<16>().copied().unwrap_or(tenant),
            false => tenant,
        };
        let place = (Table::Names, key.to_vec());
        if !self.rows.contains_key(&place) {
            self.put(Table::Names, key, TenantId::from_bytes(owner), body);
        }
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

    fn key(&mut self, key: &[u8], body: &[u8], trust: Trust) {
        let known = self.rows.contains_key(&(Table::Keys, key.to_vec()));
        if known && trust == Trust::Unsigned {
            self.told.doubted += 1;
        } else if let Some(tenant) = self.tenant_of(key) {
            self.put(Table::Keys, key, tenant, body);
        }
    }

    fn version(&mut self, key: &[u8], body: &[u8], trust: Trust) -> Result<(), Error> {
        let Some(tenant) = key.get(..16).and_then(|id| self.tenant_of(id)) else {
            return Ok(());
        };
        let place = (Table::KeyVersions, key.to_vec());
        let old = match self.rows.get(&place) {
            Some(row) => Some(parse(&row.body)?),
            None => None,
        };
        let Some(new) = self.with_secret(key, body, old.as_ref())? else {
            return Ok(());
        };
        let loosens = old.is_some_and(|old| rank(new.state) < rank(old.state));
        if loosens && trust == Trust::Unsigned {
            self.told.doubted += 1;
            return Ok(());
        }
        self.put(Table::KeyVersions, key, tenant, &json(&new));
        Ok(())
    }

    /// The row of the log with the secret of the backup; none if it was known to be lost already.
    fn with_secret(
        &mut self,
        key: &[u8],
        recorded: &[u8],
        old: Option<&VersionRow>,
    ) -> Result<Option<VersionRow>, Error> {
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
            return Ok(Some(row));
        }
        let found = digest_of(&row.sealed);
        let fits = digest.is_none_or(|digest| digest.as_str() == Some(&found));
        if fits && !row.sealed.is_empty() {
            return Ok(Some(row));
        }
        if old.is_some_and(|old| old.state == State::Destroyed) {
            return Ok(None);
        }
        self.told.lost.extend(label(key));
        row.state = State::Destroyed;
        row.before_suspension = None;
        row.destroyed_ms = Some(self.now.unix_millis());
        row.sealed.clear();
        Ok(Some(row))
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
/// The key of the policy in its table; beside it stands the trust.
const POLICY: &[u8] = b"policy";

#[cfg(test)]
mod tests {
    use keywright_store::Row;
    use keywright_types::{Algorithm, BindingKind, KeySpec, Name};

    use super::*;
    use crate::Rules;
    use crate::rows::recorded;

    const TENANT: [u8; 16] = [1; 16];
    const KEY: [u8; 16] = [2; 16];

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
    fn begin(algorithm: Algorithm, first: &VersionRow) -> Rows {
        let row = |key: &[u8], body: Vec<u8>| Row {
            key: key.to_vec(),
            tenant: TenantId::from_bytes(TENANT),
            revision: 1,
            epoch: 1,
            body,
            mac: [0; 32],
        };
        let image = Image::new([
            (Table::Tenants, row(&TENANT, b"{}".to_vec())),
            (Table::Keys, row(&KEY, json(&key(algorithm)))),
            (Table::KeyVersions, row(&place(1), json(first))),
            (Table::Approvals, row(b"order", b"{}".to_vec())),
            (Table::Policies, row(b"policy", b"old".to_vec())),
        ]);
        Rows::of(&image.unwrap(), WallTime::from_unix_millis(99))
    }

    fn replay(rows: &mut Rows, number: u8, row: &VersionRow, trust: Trust) {
        let body = json(row);
        let body = recorded(Table::KeyVersions, &body);
        let told = ("key_versions", &place(number)[..], &body[..]);
        rows.replay(told, trust).unwrap();
    }

    fn state(rows: &Rows, number: u8) -> (State, String) {
        let row = parse(rows.get(Table::KeyVersions, &place(number)).unwrap()).unwrap();
        (row.state, row.sealed)
    }

    #[test]
    fn the_log_decides_the_state_and_the_backup_has_the_secret() {
        for after in [State::Suspended, State::DestroyScheduled, State::Retired] {
            let mut rows = begin(Algorithm::Xaes256Gcm, &version(State::Active, "c2VhbGVk"));
            replay(&mut rows, 1, &version(after, "c2VhbGVk"), Trust::Signed);
            assert_eq!(state(&rows, 1), (after, "c2VhbGVk".to_owned()));
        }
        let mut rows = begin(Algorithm::Xaes256Gcm, &version(State::Active, "c2VhbGVk"));
        replay(&mut rows, 1, &version(State::Destroyed, ""), Trust::Signed);
        assert_eq!(state(&rows, 1), (State::Destroyed, String::new()));
        assert!(rows.into_parts().1.lost.is_empty());
    }

    #[test]
    fn a_version_whose_secret_nobody_has_stands_as_destroyed_for_ever() {
        let mut rows = begin(Algorithm::Xaes256Gcm, &version(State::Active, "c2VhbGVk"));
        replay(&mut rows, 2, &version(State::Active, "bmV3"), Trust::Signed);
        replay(
            &mut rows,
            2,
            &version(State::Suspended, "bmV3"),
            Trust::Signed,
        );
        assert_eq!(state(&rows, 2), (State::Destroyed, String::new()));
        // Another secret under the same number is not the one of the log either.
        replay(
            &mut rows,
            1,
            &version(State::Retired, "b3RoZXI="),
            Trust::Signed,
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
    fn what_no_head_covers_only_restricts() {
        let mut rows = begin(
            Algorithm::Xaes256Gcm,
            &version(State::Suspended, "c2VhbGVk"),
        );
        replay(
            &mut rows,
            1,
            &version(State::Active, "c2VhbGVk"),
            Trust::Unsigned,
        );
        assert_eq!(state(&rows, 1).0, State::Suspended);
        replay(
            &mut rows,
            1,
            &version(State::DestroyScheduled, "c2VhbGVk"),
            Trust::Unsigned,
        );
        assert_eq!(state(&rows, 1).0, State::DestroyScheduled);
        let loose = KeyRow {
            name: "other".parse().unwrap(),
            ..key(Algorithm::Xaes256Gcm)
        };
        let before = rows.get(Table::Keys, &KEY).unwrap().to_vec();
        rows.replay(("keys", &KEY, &json(&loose)), Trust::Unsigned)
            .unwrap();
        assert_eq!(rows.get(Table::Keys, &KEY).unwrap(), before);
        rows.replay(("policies", b"policy", b"new"), Trust::Unsigned)
            .unwrap();
        assert_eq!(rows.get(Table::Policies, b"policy"), None);
        let (rows, told) = rows.into_parts();
        assert!(
            told.policy_unknown && !told.trust_unknown && told.doubted == 3,
            "{told:?}"
        );
        assert!(rows.iter().all(|row| row.table != Table::Approvals));
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
        rows.replay(("names", &of_tenant, &tenant), Trust::Signed)
            .unwrap();
        rows.replay(("names", &of_key, &lost), Trust::Signed)
            .unwrap();
        rows.replay(("keys", &lost, b"{}"), Trust::Signed).unwrap();
        assert!(rows.get(Table::Names, &of_tenant).is_some());
        assert!(rows.get(Table::Names, &of_key).is_some());
        assert!(rows.get(Table::Keys, &lost).is_none());
        assert!(
            rows.replay(("unheard-of", b"", b""), Trust::Signed)
                .is_err()
        );
    }
}
