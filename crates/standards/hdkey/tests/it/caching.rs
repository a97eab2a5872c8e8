//! A cached answer equals an uncached one, and what is kept is bounded, expires and is wiped.

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use keywright_clock::{Clock, Hand, WallTime};
use keywright_hdkey::cache::{Keep, Limits, Owner, PrefixCache, Wanted};
use keywright_hdkey::{Error, Path, PrivateNode, Scheme, SoftChildren};

use crate::scene::{INDEXED, exported, path, seed};

fn cache(limits: Limits) -> (PrefixCache, Hand) {
    let (clock, hand) = Clock::simulated(WallTime::from_unix_seconds(1));
    (PrefixCache::new(clock, limits).unwrap(), hand)
}

const fn owner(tenant: u8, tree: u8) -> Owner {
    Owner {
        tenant: [tenant; 16],
        tree: [tree; 16],
    }
}

const fn wanted(path: &Path, owner: Owner) -> Wanted<'_> {
    Wanted {
        owner,
        scheme: Scheme::Bip32Secp256k1,
        soft: SoftChildren::Refuse,
        path,
        keep: Keep::Account,
    }
}

/// The key, and whether the root was asked for.
fn ask(cache: &PrefixCache, wanted: &Wanted<'_>) -> (Vec<u8>, bool) {
    let mut asked = false;
    let node = cache.derive(wanted, || {
        asked = true;
        PrivateNode::root(&seed(), wanted.scheme)
    });
    (exported(&node.unwrap()), asked)
}

#[test]
fn a_cached_answer_equals_an_uncached_one() {
    let (cache, _hand) = cache(Limits::default());
    for scheme in INDEXED {
        for (soft, paths) in [
            (
                SoftChildren::Refuse,
                [
                    "m",
                    "m/1'",
                    "m/1'/2'",
                    "m/29'/29'/0'/1'/0'",
                    "m/29'/29'/0'/2'/7'",
                ],
            ),
            (
                SoftChildren::Allow,
                ["m", "m/1", "m/1'/2", "m/44'/0'/0'/0/0", "m/44'/0'/0'/1/5"],
            ),
        ] {
            if soft == SoftChildren::Allow && !scheme.has_soft_children() {
                continue;
            }
            for at in paths.map(path) {
                for keep in [Keep::Account, Keep::Usage, Keep::Account] {
                    let mut root = PrivateNode::root(&seed(), scheme).unwrap();
                    if soft == SoftChildren::Allow {
                        root.allow_soft();
                    }
                    let plain = root.derive(&at).unwrap();
                    let wanted = Wanted {
                        scheme,
                        soft,
                        keep,
                        ..wanted(&at, owner(1, 1))
                    };
                    let kept = cache
                        .derive(&wanted, || PrivateNode::root(&seed(), scheme))
                        .unwrap();
                    assert_eq!(exported(&kept), exported(&plain), "{scheme} {at}");
                    assert_eq!((kept.depth(), kept.index()), (plain.depth(), plain.index()));
                    assert_eq!(kept.soft_children(), plain.soft_children());
                    assert_eq!(kept.seed_scheme(), plain.seed_scheme());
                    let below = path("m/3'");
                    let next = |node: &PrivateNode| exported(&node.derive(&below).unwrap());
                    assert_eq!(next(&kept), next(&plain), "the chain code too");
                }
            }
        }
    }
}

#[test]
fn the_root_is_asked_for_once_for_each_prefix_of_each_owner_and_scheme() {
    let (cache, _hand) = cache(Limits::default());
    let paths = [
        "m/29'/29'/0'/1'/0'",
        "m/29'/29'/0'/4'/9'",
        "m/29'/29'/1'/1'/0'",
    ]
    .map(path);
    let asked = |path, owner| ask(&cache, &wanted(path, owner)).1;
    assert!(asked(&paths[0], owner(1, 1)));
    assert!(!asked(&paths[0], owner(1, 1)));
    assert!(!asked(&paths[1], owner(1, 1)), "the same account");
    assert!(asked(&paths[2], owner(1, 1)), "another account");
    assert!(asked(&paths[0], owner(1, 2)), "another tree");
    assert!(asked(&paths[0], owner(2, 1)), "another tenant");
    let slip10 = Wanted {
        scheme: Scheme::Slip10Secp256k1,
        ..wanted(&paths[0], owner(1, 1))
    };
    assert!(ask(&cache, &slip10).1, "another scheme");
    let usage = Wanted {
        keep: Keep::Usage,
        ..wanted(&paths[0], owner(1, 1))
    };
    assert!(ask(&cache, &usage).1, "another level");
    assert_eq!(cache.len(), 6);
    // Errors keep their places, whether the prefix was kept or not.
    let soft = path("m/29'/29'/0'/1'/7");
    let refused = cache.derive(&wanted(&soft, owner(1, 1)), || panic!("it is kept"));
    assert_eq!(refused.err(), Some(Error::SoftChild { position: 5 }));
    let soft = path("m/29'/29'/0'/1/7'");
    let refused = cache.derive(&wanted(&soft, owner(1, 1)), || panic!("it is kept"));
    assert_eq!(refused.err(), Some(Error::SoftChild { position: 4 }));
}

#[test]
fn what_is_idle_is_not_used_again_and_what_is_used_stays() {
    let (cache, hand) = cache(Limits::default());
    let at = path("m/29'/29'/0'/1'/0'");
    let asked = || ask(&cache, &wanted(&at, owner(1, 1))).1;
    assert!(asked());
    for _ in 0..5 {
        hand.advance(Duration::from_secs(299));
        assert!(!asked());
    }
    hand.advance(Duration::from_secs(301));
    assert_eq!(cache.len(), 1);
    assert!(asked());
    hand.advance(Duration::from_secs(301));
    cache.sweep();
    assert!(cache.is_empty());
}

#[test]
fn forgetting_a_tree_or_all_leaves_nothing_of_it() {
    let (cache, _hand) = cache(Limits::default());
    let at = path("m/29'/29'/0'/1'/0'");
    for tree in 1..=3 {
        ask(&cache, &wanted(&at, owner(1, tree)));
    }
    cache.forget(&owner(1, 2));
    assert_eq!(cache.len(), 2);
    assert!(ask(&cache, &wanted(&at, owner(1, 2))).1);
    assert!(!ask(&cache, &wanted(&at, owner(1, 1))).1);
    cache.clear();
    assert!(cache.is_empty());
}

#[test]
fn the_longest_unused_of_a_tenant_makes_room_and_other_tenants_keep_theirs() {
    let mut limits = Limits::default();
    (limits.prefixes, limits.prefixes_of_tenant) = (6, 3);
    let (cache, hand) = cache(limits);
    let paths: Vec<Path> = (0..5)
        .map(|did| path(&format!("m/29'/29'/{did}'/1'/0'")))
        .collect();
    let asked = |place: usize, owner| {
        hand.advance(Duration::from_secs(1));
        ask(&cache, &wanted(&paths[place], owner)).1
    };
    assert!(asked(0, owner(2, 1)));
    for place in 0..3 {
        assert!(asked(place, owner(1, 1)));
    }
    assert!(!asked(0, owner(1, 1)));
    assert!(asked(3, owner(1, 1)), "puts out the second");
    assert!(!asked(0, owner(1, 1)));
    assert!(asked(1, owner(1, 1)));
    assert!(!asked(0, owner(2, 1)), "the other tenant's is still there");
    assert_eq!(cache.len(), 4);
    // A full cache puts out the longest unused of all.
    for tenant in 3..=5 {
        assert!(asked(0, owner(tenant, 1)));
    }
    assert_eq!(cache.len(), 6);
}

/// Memory that is full because old entries are still in use is no reason not to answer.
#[test]
fn without_room_the_answer_is_the_same() {
    let mut limits = Limits::default();
    (limits.prefixes, limits.prefixes_of_tenant) = (1, 1);
    let (cache, _hand) = cache(limits);
    let (one, other) = (path("m/29'/29'/0'/1'/0'"), path("m/29'/29'/1'/1'/0'"));
    let expected = |at: &Path| {
        exported(
            &PrivateNode::root(&seed(), Scheme::Bip32Secp256k1)
                .unwrap()
                .derive(at)
                .unwrap(),
        )
    };
    let made = cache.derive(&wanted(&one, owner(1, 1)), || {
        // Another key is asked for while the first is still being made, and takes the only room.
        assert_eq!(
            ask(&cache, &wanted(&other, owner(1, 1))).0,
            expected(&other)
        );
        PrivateNode::root(&seed(), Scheme::Bip32Secp256k1)
    });
    assert_eq!(exported(&made.unwrap()), expected(&one));
}

#[test]
fn a_root_that_cannot_be_had_is_asked_for_again_the_next_time() {
    let (cache, _hand) = cache(Limits::default());
    let at = path("m/29'/29'/0'/1'/0'");
    for _ in 0..2 {
        let failed = cache.derive(&wanted(&at, owner(1, 1)), || Err(Error::InvalidRoot));
        assert_eq!(failed.err(), Some(Error::InvalidRoot));
        assert!(cache.is_empty());
    }
    assert!(ask(&cache, &wanted(&at, owner(1, 1))).1);
}

#[test]
fn under_load_a_missing_prefix_is_derived_once() {
    let (cache, _hand) = cache(Limits::default());
    let at = path("m/29'/29'/0'/1'/0'");
    let (roots, barrier) = (AtomicUsize::new(0), Barrier::new(8));
    let mut keys: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    barrier.wait();
                    let node = cache.derive(&wanted(&at, owner(1, 1)), || {
                        roots.fetch_add(1, Ordering::SeqCst);
                        PrivateNode::root(&seed(), Scheme::Bip32Secp256k1)
                    });
                    exported(&node.unwrap())
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(roots.load(Ordering::SeqCst), 1);
    keys.dedup();
    assert_eq!(keys.len(), 1);
    assert_eq!(format!("{cache:?}"), "PrefixCache(1 of 1024)");
}
