//! States on disk: older states and copies are found, and nothing that is not the newest state is a session.

use std::fs;

use keywright_primitives::hazmat::repeated;
use keywright_ratchet::{Claim, Fence};
use keywright_session::hazmat::Stop;
use keywright_session::{FileFence, Files, Mode, Session, SessionId};

use crate::folders::{Folders, Lenient, MODES, answer, begin, get, send, stored};
use crate::scene::{CONTEXT, NOW, Scene, kind, receive, store_key};

#[test]
fn a_session_goes_on_through_any_number_of_loads() {
    for mode in MODES {
        let folders = Folders::new(mode);
        let (mut scene, mut other, id) = stored(&folders);
        let files = folders.files();
        assert_eq!(files.ids().unwrap(), [id]);
        let late = answer(&mut scene, &mut other, b"late");
        for round in 0..5_u8 {
            let mut kept = files.load(&id, &mut scene.random).unwrap();
            let frame = send(&mut kept, &[round]).unwrap();
            receive(&mut other, &frame, &[round]);
            let frame = answer(&mut scene, &mut other, &[round]);
            assert_eq!(get(&mut kept, &frame).unwrap(), [round]);
            if round == 3 {
                // The key of what was skipped before is in the state.
                assert_eq!(get(&mut kept, &late).unwrap(), b"late");
            }
        }
    }
}

#[test]
fn t20_an_older_state_is_refused_and_so_is_a_copy_of_what_was_about_to_be_written() {
    let folders = Folders::new(Mode::Fenced);
    let (mut scene, _, id) = stored(&folders);
    let mut snapshots = vec![folders.snapshot()];
    // A crash before the mark leaves a state that never counted.
    let files = folders.failing(3, Stop::Before);
    assert!(files.load(&id, &mut scene.random).is_err());
    drop(files);
    snapshots.push(folders.snapshot());
    for _ in 0..3 {
        let files = folders.files();
        let mut kept = files.load(&id, &mut scene.random).unwrap();
        send(&mut kept, b"on").unwrap();
        drop(kept);
        snapshots.push(folders.snapshot());
    }
    let newest = snapshots.pop().unwrap();
    for older in &snapshots {
        folders.restore(older, &folders.states());
        let refused = folders.files().load(&id, &mut scene.random).map(drop);
        assert_eq!(kind(refused), "StateRolledBack");
        // Under the other name as well.
        for (path, bytes) in older {
            let name = path.file_name().unwrap().to_str().unwrap();
            if let Some(stem) = name.strip_suffix(".session") {
                fs::write(folders.states().join(format!(".{stem}.next")), bytes).unwrap();
            } else if let Some(stem) = name.strip_suffix(".next") {
                let name = format!("{}.session", &stem[1..]);
                fs::write(folders.states().join(name), bytes).unwrap();
            }
        }
        let refused = folders.files().load(&id, &mut scene.random).map(drop);
        assert_eq!(kind(refused), "StateRolledBack");
    }
    folders.restore(&newest, &folders.states());
    folders.files().load(&id, &mut scene.random).unwrap();
    folders.restore(&newest, &folders.states());
    let refused = folders.files().load(&id, &mut scene.random).map(drop);
    assert_eq!(kind(refused), "StateRolledBack");
}

#[test]
fn t20_without_its_counter_a_fenced_session_does_not_load() {
    let folders = Folders::new(Mode::Fenced);
    let (mut scene, _, id) = stored(&folders);
    let marks = folders.marks();
    fs::remove_file(marks.join(format!("{}.mark", hex(&id)))).unwrap();
    let refused = folders.files().load(&id, &mut scene.random).map(drop);
    assert_eq!(kind(refused), "StateRolledBack");
}

#[test]
fn t20_a_session_in_memory_stops_when_somebody_moves_its_counter() {
    let folders = Folders::new(Mode::Fenced);
    let (mut scene, mut other, id) = stored(&folders);
    let files = folders.files();
    let mut kept = files.load(&id, &mut scene.random).unwrap();
    let frame = answer(&mut scene, &mut other, b"x");
    let mark = folders.marks().join(format!("{}.mark", hex(&id)));
    let mut moved = fs::read(&mark).unwrap();
    moved[28] += 1;
    fs::write(&mark, moved).unwrap();
    assert_eq!(kind(get(&mut kept, &frame)), "StateRolledBack");
    assert_eq!(kind(send(&mut kept, b"x")), "Broken");
}

#[test]
fn a_session_is_open_once() {
    for mode in MODES {
        let folders = Folders::new(mode);
        let (mut scene, _, id) = stored(&folders);
        let (files, again) = (folders.files(), folders.files());
        let kept = files.load(&id, &mut scene.random).unwrap();
        assert_eq!(kind(again.load(&id, &mut scene.random).map(drop)), "InUse");
        assert_eq!(kind(again.forget(&id)), "InUse");
        drop(kept);
        drop(again.load(&id, &mut scene.random).unwrap());
    }
}

#[test]
fn the_session_of_a_handshake_is_kept_once() {
    let folders = Folders::new(Mode::Fenced);
    let (mut scene, mut one) = begin(Mode::Fenced);
    let files = folders.files();
    let reserve = keywright_session::Reserve::Numbers;
    one.save(&store_key(), reserve, &mut Lenient, &mut scene.random)
        .unwrap();
    let frame = one.send(b"hello", CONTEXT, NOW, &mut scene.random).unwrap();
    let first = scene.accept(&frame).unwrap().session;
    let id = *first.id();
    drop(files.keep(first, &mut scene.random).unwrap());
    files.forget(&id).unwrap();
    assert!(files.ids().unwrap().is_empty());
    assert_eq!(
        kind(files.load(&id, &mut scene.random).map(drop)),
        "StateRolledBack"
    );
    // A responder that has forgotten whom it has seen takes the copy of the first frame; the counter does
    // not.
    assert_eq!(kind(scene.accept(&frame)), "Repeated");
}

#[test]
fn other_keys_other_modes_and_every_changed_byte_are_refused() {
    for mode in MODES {
        let folders = Folders::new(mode);
        let (mut scene, _, id) = stored(&folders);
        let path = folders.states().join(format!("{}.session", hex(&id)));
        let genuine = fs::read(&path).unwrap();
        for place in (0..genuine.len()).step_by(3) {
            let mut changed = genuine.clone();
            changed[place] ^= 4;
            fs::write(&path, changed).unwrap();
            let refused = folders.files().load(&id, &mut scene.random).map(drop);
            assert!(refused.is_err(), "{mode:?} byte {place}");
        }
        fs::write(&path, &genuine).unwrap();
        let other = keywright_session::StoreKey::new(crate::scene::secret(0x45));
        let files = match mode {
            Mode::Fenced => Files::fenced(&folders.states(), &folders.marks(), other),
            Mode::Hedged => Files::hedged(&folders.states(), other),
        };
        assert_eq!(
            kind(files.load(&id, &mut scene.random).map(drop)),
            "Rejected"
        );
        let absent = SessionId::from_bytes([0; 16]);
        assert_eq!(
            kind(files.load(&absent, &mut scene.random).map(drop)),
            "NotFound"
        );
        if mode == Mode::Fenced {
            let hedged = Files::hedged(&folders.states(), store_key());
            let refused = hedged.load(&id, &mut scene.random).map(drop);
            assert_eq!(kind(refused), "WrongMode");
        }
    }
}

#[test]
fn t24_two_saves_of_one_session_share_no_block() {
    let mut scene = Scene::hedged();
    let (mut one, _) = scene.acquainted();
    let key = store_key();
    let first = one.save_hedged(&key, &mut scene.random).unwrap();
    let second = one.save_hedged(&key, &mut scene.random).unwrap();
    assert_eq!(first.len(), second.len());
    // Behind the ratchet's clear header; the lengths between the parts are the same.
    let blocks = |bytes: &[u8]| -> Vec<Vec<u8>> {
        bytes.chunks_exact(16).skip(3).map(<[u8]>::to_vec).collect()
    };
    let shared = blocks(&first)
        .iter()
        .zip(&blocks(&second))
        .filter(|(a, b)| a == b)
        .count();
    assert_eq!(shared, 0);
}

#[test]
fn t47_sessions_saved_with_the_same_randomness_share_no_nonce() {
    let mut scene = Scene::hedged();
    let (mut one, mut other) = scene.acquainted();
    let nonce = |session: &mut Session| {
        let mut random = repeated::stream(&[7; 32]).unwrap();
        let saved = session.save_hedged(&store_key(), &mut random).unwrap();
        // Behind magic, version, the ratchet's state and the commitment.
        let length = u32::from_be_bytes(saved[5..9].try_into().unwrap());
        let place = 9 + usize::try_from(length).unwrap() + 32;
        saved[place..place + 24].to_vec()
    };
    assert_ne!(nonce(&mut one), nonce(&mut other));
    // Only the epoch has gone on.
    assert_ne!(nonce(&mut one), nonce(&mut one));
}

#[test]
fn a_file_fence_grants_each_value_once_and_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (
        SessionId::from_bytes([1; 16]),
        SessionId::from_bytes([2; 16]),
    );
    let mut fence = FileFence::new(folder.path());
    let mut again = FileFence::new(folder.path());
    assert_eq!(fence.claim(&one, 0).unwrap(), Claim::Refused);
    assert_eq!(fence.claim(&one, 2).unwrap(), Claim::Refused);
    for value in 1..20 {
        assert_eq!(fence.claim(&one, value).unwrap(), Claim::Granted);
        assert_eq!(again.claim(&one, value).unwrap(), Claim::Refused);
        assert_eq!(again.claim(&one, value + 2).unwrap(), Claim::Refused);
    }
    assert_eq!(again.claim(&other, 1).unwrap(), Claim::Granted);
    let granted: usize = std::thread::scope(|scope| {
        let claims: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let mut fence = FileFence::new(folder.path());
                    (20..60)
                        .filter(|value| fence.claim(&one, *value) == Ok(Claim::Granted))
                        .count()
                })
            })
            .collect();
        claims.into_iter().map(|claim| claim.join().unwrap()).sum()
    });
    assert!((1..=40).contains(&granted), "{granted}");
    let gone = folder.path().join("absent");
    assert!(FileFence::new(&gone).claim(&one, 1).is_err());
    fs::write(folder.path().join(format!("{}.mark", hex(&other))), b"torn").unwrap();
    assert!(fence.claim(&other, 2).is_err());
}

fn hex(id: &SessionId) -> String {
    id.as_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}
