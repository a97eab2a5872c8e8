//! Keys in a token and a backup: rows come back, keys are in the token or nowhere, and check values decide.

use keywright_home::backup::LaterLog;
use keywright_tls::Protocol;
use keywright_tokens::on_each;
use keywright_types::State;

use super::scene::{VAULT, home_rooted, home_with, open, rotate, states, try_seal, with_vault};
use crate::backup::{Keeper, restore};
use crate::fixture::*;

#[test]
fn keys_in_a_token_are_retired_by_a_restore_because_their_seals_are_not_counted() {
    on_each(|store| {
        let keeper = Keeper::new();
        let site = with_vault(Site::over(home_with(store, "")));
        let file = site.home.beside("backup.kwb");
        let mut wire = site.wire(TRADING, Protocol::Http2);
        let sealed = try_seal(&mut wire, VAULT, b"in a token").unwrap();
        keeper.back_up(site.node(), &file);
        rotate(&site, VAULT).unwrap();
        let later = try_seal(&mut wire, VAULT, b"after the backup").unwrap();
        drop(wire);
        let home = site.stop();
        let backup = keeper.open(&file, &home).unwrap();
        let log = home.path().join("audit");
        // Without the log version 1 is still the active one of the backup, and must not go on to seal (7.19).
        for (log, expected) in [
            (LaterLog::Lost, vec![State::Retired]),
            (
                LaterLog::Folder(&log),
                vec![State::Retired, State::Destroyed],
            ),
        ] {
            let (new, told) = restore(&backup, &home, log).unwrap();
            assert_eq!(told.retired.len() + told.lost.len(), 1, "{told:?}");
            let site = Site::over(new);
            assert_eq!(states(&site, VAULT), expected);
            let mut wire = site.wire(TRADING, Protocol::Http2);
            assert_eq!(open(&mut wire, VAULT, &sealed).unwrap(), b"in a token");
            assert!(open(&mut wire, VAULT, &later).is_err());
            let refused = try_seal(&mut wire, VAULT, b"more");
            assert_eq!(refused.unwrap_err(), "no_active_version");
            if expected.len() == 2 {
                assert_eq!(rotate(&site, VAULT).unwrap().number(), 3);
                let fresh = try_seal(&mut wire, VAULT, b"again").unwrap();
                assert_eq!(open(&mut wire, VAULT, &fresh).unwrap(), b"again");
            } else {
                // The key of the lost version 2 is in the token still: its label is not given to another key.
                assert!(rotate(&site, VAULT).is_err());
            }
            drop(wire);
            site.stop().verify();
        }
    });
}

#[test]
fn a_root_in_a_token_is_needed_to_restore_and_not_in_the_backup() {
    on_each(|store| {
        let keeper = Keeper::new();
        let site = Site::over(home_rooted(store));
        let file = site.home.beside("backup.kwb");
        let mut wire = site.wire(TRADING, Protocol::Http2);
        let sealed = try_seal(&mut wire, EXCHANGE, b"kept").unwrap();
        drop(wire);
        keeper.back_up(site.node(), &file);
        let home = site.stop();
        let backup = keeper.open(&file, &home).unwrap();
        let log = home.path().join("audit");
        let (new, _) = restore(&backup, &home, LaterLog::Folder(&log)).unwrap();
        let site = Site::over(new);
        let mut wire = site.wire(TRADING, Protocol::Http2);
        assert_eq!(open(&mut wire, EXCHANGE, &sealed).unwrap(), b"kept");
        drop(wire);
        site.stop().verify();
    });
}
