//! Rules about paths: nothing is allowed that no rule allows, and what is forbidden stays so.

use keywright_hdkey::identus::{Purpose, key_path};
use keywright_hdkey::rules::{Denied, Effect, KeyUse, PathPattern, PathRule, PathRules};
use keywright_hdkey::{Path, PathError, Scheme};

use crate::scene::path;

const SCHEME: Scheme = Scheme::Bip32Secp256k1;

fn rule(effect: Effect, pattern: &str, uses: &[KeyUse]) -> PathRule {
    PathRule {
        effect,
        pattern: pattern.parse().unwrap(),
        scheme: None,
        uses: uses.to_vec(),
    }
}

fn allowed(rules: &PathRules, at: &str, key_use: KeyUse) -> Result<(), Denied> {
    let permit = rules.decide(&path(at), SCHEME, key_use)?;
    assert_eq!(
        (permit.path(), permit.scheme(), permit.key_use()),
        (&path(at), SCHEME, key_use)
    );
    Ok(())
}

#[test]
fn without_a_rule_nothing_is_allowed() {
    for key_use in KeyUse::ALL {
        for at in ["m", "m/0'", "m/29'/29'/0'/1'/0'"] {
            assert!(allowed(&PathRules::default(), at, key_use).is_err());
        }
    }
}

#[test]
fn a_rule_allows_its_own_paths_and_uses_alone() {
    let rules = PathRules::new(vec![rule(
        Effect::Allow,
        "m/29'/29'/*'/4'/*'",
        &[KeyUse::Sign],
    )]);
    assert_eq!(allowed(&rules, "m/29'/29'/7'/4'/0'", KeyUse::Sign), Ok(()));
    for at in [
        "m",
        "m/29'/29'/7'/4'",
        "m/29'/29'/7'/4'/0'/0'",
        "m/29'/29'/7'/4'/0",
        "m/29'/29'/7/4'/0'",
        "m/29'/29'/7'/5'/0'",
        "m/29/29'/7'/4'/0'",
        "m/30'/29'/7'/4'/0'",
    ] {
        assert_eq!(
            allowed(&rules, at, KeyUse::Sign),
            Err(Denied::NoRule),
            "{at}"
        );
    }
    for key_use in [KeyUse::Export, KeyUse::Public, KeyUse::SharePublic] {
        let denied = allowed(&rules, "m/29'/29'/7'/4'/0'", key_use);
        assert_eq!(denied, Err(Denied::NoRule));
    }
}

#[test]
fn what_one_rule_forbids_no_other_allows_in_whatever_order() {
    let allow = rule(Effect::Allow, "m/**", &KeyUse::ALL);
    let deny = rule(Effect::Deny, "m/29'/29'/*'/1'/**", &[KeyUse::Export]);
    for rules in [vec![allow.clone(), deny.clone()], vec![deny, allow]] {
        let rules = PathRules::new(rules);
        let denied = allowed(&rules, "m/29'/29'/0'/1'/0'", KeyUse::Export);
        assert_eq!(denied, Err(Denied::Forbidden));
        // The node itself lies below `**` too.
        let denied = allowed(&rules, "m/29'/29'/0'/1'", KeyUse::Export);
        assert_eq!(denied, Err(Denied::Forbidden));
        assert_eq!(allowed(&rules, "m/29'/29'/0'/1'/0'", KeyUse::Sign), Ok(()));
        assert_eq!(
            allowed(&rules, "m/29'/29'/0'/2'/0'", KeyUse::Export),
            Ok(())
        );
    }
}

#[test]
fn a_rule_for_one_scheme_says_nothing_about_another() {
    let mut only = rule(Effect::Allow, "m/**", &[KeyUse::Sign]);
    only.scheme = Some(Scheme::Slip10Ed25519);
    let rules = PathRules::new(vec![only]);
    let at = path("m/0'");
    for scheme in Scheme::ALL {
        let decided = rules.decide(&at, scheme, KeyUse::Sign).is_ok();
        assert_eq!(decided, scheme == Scheme::Slip10Ed25519, "{scheme}");
    }
}

#[test]
fn t41_a_purpose_signs_or_agrees_whatever_rules_allow() {
    let rules = PathRules::new(vec![rule(Effect::Allow, "m/**", &KeyUse::ALL)]);
    for purpose in Purpose::ALL {
        let at = key_path(3, purpose, 5).unwrap();
        for scheme in crate::scene::INDEXED {
            for (key_use, meant) in [
                (KeyUse::Agree, purpose.agrees()),
                (KeyUse::Sign, !purpose.agrees()),
            ] {
                match rules.decide(&at, scheme, key_use) {
                    Ok(_) => assert!(meant, "{scheme} {at}"),
                    Err(Denied::Purpose { purpose: found }) => {
                        assert_eq!((found, meant), (purpose, false));
                    }
                    // Keys of Ed25519 never agree, those of X25519 never sign.
                    Err(denied) => assert_eq!(denied, Denied::Scheme { scheme }),
                }
            }
        }
    }
    let denied = rules.decide(&path("m/0'"), Scheme::Slip10Ed25519, KeyUse::Agree);
    assert!(matches!(denied, Err(Denied::Scheme { .. })));
    let denied = rules.decide(&path("m/0'"), Scheme::Slip10Curve25519, KeyUse::Sign);
    assert!(matches!(denied, Err(Denied::Scheme { .. })));
}

#[test]
fn patterns_have_one_spelling_and_bad_ones_name_the_component() {
    for good in [
        "m",
        "m/**",
        "m/*/*'/0/0'",
        "m/29'/29'/*'/4'/**",
        "m/2147483647'",
    ] {
        assert_eq!(good.parse::<PathPattern>().unwrap().to_string(), good);
    }
    use PathError::{Empty, LeadingZero, NoRoot, Syntax, TooDeep, TooLarge};
    for (bad, expected) in [
        ("", NoRoot),
        ("**", NoRoot),
        ("/**", NoRoot),
        ("*/0", NoRoot),
        ("M/*", NoRoot),
        ("m/", Empty { position: 1 }),
        ("m/1//2", Empty { position: 2 }),
        ("m/**/1", Syntax { position: 1 }),
        ("m/1/**/**", Syntax { position: 2 }),
        ("m/*h/0", Syntax { position: 1 }),
        ("m/1*", Syntax { position: 1 }),
        ("m/0/***", Syntax { position: 2 }),
        ("m/0/01", LeadingZero { position: 2 }),
        ("m/0/0/2147483648", TooLarge { position: 3 }),
    ] {
        assert_eq!(bad.parse::<PathPattern>().err(), Some(expected), "{bad}");
    }
    let deep = format!("m{}", "/*".repeat(256));
    assert_eq!(deep.parse::<PathPattern>().err(), Some(TooDeep));
    let deepest: PathPattern = format!("m{}", "/*".repeat(255)).parse().unwrap();
    let long: Path = format!("m{}", "/0'".repeat(255)).parse().unwrap();
    assert!(deepest.matches(&long));
}

#[test]
fn uses_have_names_and_nothing_else_is_one() {
    for key_use in KeyUse::ALL {
        assert_eq!(key_use.name().parse(), Ok(key_use));
    }
    for bad in ["", "Sign", "sign ", "xpub", "all", "*"] {
        assert!(bad.parse::<KeyUse>().is_err());
    }
}

/// The way of a service: decide, take the key from the cache, use it where it is.
#[test]
fn what_is_permitted_is_derived_from_the_cache_and_signs_there() {
    use keywright_clock::Clock;
    use keywright_hdkey::cache::{Keep, Limits, Owner, PrefixCache};
    use keywright_hdkey::{Digest, PrivateNode, SoftChildren};

    let rules = PathRules::new(vec![rule(
        Effect::Allow,
        "m/29'/29'/*'/4'/**",
        &[KeyUse::Sign],
    )]);
    let at = path("m/29'/29'/0'/4'/2'");
    let permit = rules.decide(&at, SCHEME, KeyUse::Sign).unwrap();
    let cache = PrefixCache::new(Clock::system(), Limits::default()).unwrap();
    let owner = Owner {
        tenant: [1; 16],
        tree: [2; 16],
    };
    let seed = crate::scene::seed();
    let digest = Digest::of_sha256(b"message");
    let mut asked = 0;
    for _ in 0..3 {
        let wanted = permit.wanted(owner, SoftChildren::Refuse, Keep::Account);
        let node = cache.derive(&wanted, || {
            asked += 1;
            PrivateNode::root(&seed, permit.scheme())
        });
        let node = node.unwrap();
        let signature = node.sign_ecdsa(&digest).unwrap();
        let same = PrivateNode::derive_from(&seed, SCHEME, &at).unwrap();
        assert_eq!(
            same.public_key().unwrap().verify_ecdsa(&digest, &signature),
            Ok(())
        );
    }
    assert_eq!(asked, 1);
}
