//! When a token is valid: every second about its ends, with every tolerance.

use std::time::Duration;

use keywright_clock::{Clock, WallTime};
use keywright_token::{
    Audience, Check, Claims, DenySet, Error, Narrowing, Reason, Revocations, Skew, UnixSeconds,
    attenuate_into,
};

use crate::scene::{NOW, at, branches, check, claims, issue, key, keys, refusal};
use keywright_token::Suite;

#[test]
fn t42_a_token_is_valid_from_its_beginning_to_before_its_end() {
    let key = key(Suite::Blake3, 1);
    let (keys, begin, end) = (keys(&key), NOW, NOW + 100);
    let token = issue(&key, &Claims::until(at(end)).not_before(at(begin)), None);
    for skew in [0, 1, 30, 59, 60] {
        for now in (begin - 70..begin + 70).chain(end - 70..end + 70) {
            let check = Check::at(at(now), Audience::Any).skew(Skew::seconds(skew).unwrap());
            let wanted = if now >= end + skew {
                Some(Reason::Expired)
            } else if now + skew < begin {
                Some(Reason::NotYetValid)
            } else {
                None
            };
            assert_eq!(refusal(&keys, &token, &check), wanted, "{now} {skew}");
        }
    }
}

#[test]
fn t42_no_time_overflows() {
    for number in [UnixSeconds::MAX.number() + 1, u64::MAX - 60, u64::MAX] {
        assert_eq!(UnixSeconds::new(number), Err(Error::Time));
    }
    for seconds in [61, u64::MAX] {
        assert_eq!(Skew::seconds(seconds), Err(Error::Skew));
    }
    let key = key(Suite::Blake3, 1);
    let token = issue(&key, &Claims::until(UnixSeconds::MAX), None);
    let minute = Skew::seconds(60).unwrap();
    let last = Check::at(UnixSeconds::MAX, Audience::Any);
    assert_eq!(refusal(&keys(&key), &token, &last), Some(Reason::Expired));
    assert_eq!(refusal(&keys(&key), &token, &last.skew(minute)), None);
    let first = Check::at(at(0), Audience::Any);
    assert_eq!(refusal(&keys(&key), &token, &first), None);
}

#[test]
fn the_time_is_the_callers_and_a_clock_that_goes_back_is_believed() {
    let (clock, hand) = Clock::simulated(WallTime::from_unix_seconds(NOW));
    let key = key(Suite::Blake3, 1);
    let (keys, token) = (keys(&key), issue(&key, &claims(), None));
    let now = || {
        refusal(
            &keys,
            &token,
            &Check::at(clock.wall().into(), Audience::Is("api")),
        )
    };
    assert_eq!(now(), None);
    hand.advance(Duration::from_millis(3_599_999));
    assert_eq!(now(), None);
    hand.advance(Duration::from_millis(1));
    assert_eq!(now(), Some(Reason::Expired));
    hand.set_wall(WallTime::from_unix_seconds(NOW));
    assert_eq!(now(), None);
}

#[test]
fn a_token_that_never_holds_is_not_issued() {
    let key = key(Suite::Blake3, 1);
    let mut random = keywright_primitives::random::RandomStream::new().unwrap();
    for claims in [
        Claims::until(at(0)),
        Claims::until(at(NOW)).not_before(at(NOW)),
        Claims::until(at(NOW)).not_before(at(NOW + 1)),
    ] {
        let mut out = vec![5];
        let made = key.issue_into(&claims, None, &mut random, &mut out);
        assert_eq!((made, &out[..]), (Err(Error::Empty), &[5][..]));
    }
}

#[test]
fn a_revoked_id_is_remembered_until_no_tolerance_could_accept_its_token() {
    let key = key(Suite::Blake3, 1);
    let (keys, token) = (keys(&key), issue(&key, &claims(), None));
    let mut narrower = Vec::new();
    let narrowing = Narrowing::new().until(at(NOW + 50));
    let branch = attenuate_into(&token, &narrowing, &mut narrower).unwrap();
    assert_eq!(branches(&keys, &narrower)[1], branch);

    let mut denied = DenySet::new();
    denied.insert(branch, at(NOW + 50));
    let rejected = keys.verify(&narrower, &check(), &denied).unwrap_err();
    assert_eq!(rejected.reason_for_audit(), Reason::Revoked);
    assert!(
        keys.verify(&token, &check(), &denied).is_ok(),
        "the root is not revoked with a branch"
    );
    // The earlier end does not shorten what was promised.
    denied.insert(branch, at(NOW + 10));
    denied.forget_expired(at(NOW + 50 + 59));
    assert!(denied.is_revoked(&branch) && denied.len() == 1);
    denied.forget_expired(at(NOW + 50 + 60));
    assert!(!denied.is_revoked(&branch) && denied.is_empty());
    let minute = Skew::seconds(60).unwrap();
    let latest = Check::at(at(NOW + 50 + 60), Audience::Any).skew(minute);
    assert_eq!(refusal(&keys, &narrower, &latest), Some(Reason::Expired));
}
