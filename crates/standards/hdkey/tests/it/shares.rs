//! A seed in parts: any that are enough bring it back, fewer nothing, wrong ones are named.

use keywright_hdkey::shares::{MAX_SHARES, Plan, Share, ShareError, combine, split, split_with};
use keywright_hdkey::{PrivateNode, Scheme, Seed, SeedScheme};
use keywright_mutate::SplitMix;
use keywright_primitives::random::RandomStream;
use keywright_vectors::{Record, Tally, repository};

use crate::scene::{bytes, exported, path};

fn golden(name: &str) -> Vec<Record> {
    let file = repository().join("vectors/golden/hd").join(name);
    let value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    Record::new(name, &value).unwrap().list("cases").unwrap()
}

fn texts(case: &Record) -> Vec<String> {
    let list = case.field("shares").unwrap().as_array().unwrap();
    list.iter()
        .map(|text| text.as_str().unwrap().to_owned())
        .collect()
}

fn plan(case: &Record) -> Plan {
    let number = |field: &str| u8::try_from(case.number::<u64>(field).unwrap()).unwrap();
    Plan::new(number("needed"), number("count")).unwrap()
}

fn scheme(case: &Record) -> SeedScheme {
    case.text("seed_scheme").unwrap().parse().unwrap()
}

fn shown(share: &Share) -> String {
    String::from_utf8(share.to_text().expose().to_vec()).unwrap()
}

#[test]
fn shares_of_the_second_implementation_are_ours_letter_by_letter() {
    let mut tally = Tally::new("golden seed shares");
    for case in golden("shares.json") {
        if !case.truth("valid").unwrap() {
            continue;
        }
        let seed = case.hex("seed").unwrap();
        let set = case.hex("set").unwrap().try_into().unwrap();
        let random = case.hex("random").unwrap();
        let mut random = random.as_slice();
        let made = split_with(
            &Seed::restore(&seed, scheme(&case)).unwrap(),
            plan(&case),
            set,
            |out| {
                let (now, later) = random.split_at(out.len());
                out.copy_from_slice(now);
                random = later;
                Ok(())
            },
        );
        let made: Vec<String> = made.unwrap().iter().map(shown).collect();
        assert!(random.is_empty());
        let theirs: Vec<Share> = texts(&case)
            .iter()
            .map(|text| Share::parse(text).unwrap())
            .collect();
        let back = combine(&theirs).unwrap();
        let holds = made == texts(&case) && back.expose() == seed && back.scheme() == scheme(&case);
        tally.check(case.name(), holds);
    }
    assert_eq!(tally.total(), 16);
    tally.finish().unwrap();
}

#[test]
fn wrong_shares_are_named_by_their_numbers() {
    let mut tally = Tally::new("golden seed shares that are wrong");
    for case in golden("shares.json") {
        if case.truth("valid").unwrap() {
            continue;
        }
        let numbers: Vec<u8> = case
            .field("numbers")
            .unwrap()
            .as_array()
            .unwrap()
            .iter()
            .map(|number| u8::try_from(number.as_u64().unwrap()).unwrap())
            .collect();
        let read: Result<Vec<Share>, ShareError> =
            texts(&case).iter().map(|text| Share::parse(text)).collect();
        let error = read.and_then(|shares| combine(&shares)).unwrap_err();
        let holds = match (case.text("error").unwrap(), error) {
            ("too few", ShareError::TooFew { .. }) | ("no seed", ShareError::NoSeed) => true,
            ("repeated", ShareError::Repeated { number })
            | ("other set", ShareError::OtherSet { number })
            | ("damaged or none", ShareError::Damaged { number }) => numbers == [number],
            ("unfit", ShareError::Unfit { numbers: found }) => {
                found.iter().collect::<Vec<u8>>() == numbers
            }
            _ => false,
        };
        tally.check(case.name(), holds);
    }
    assert!(tally.total() > 35);
    tally.finish().unwrap();
}

fn made(needed: u8, count: u8, length: usize) -> (Seed, Vec<Share>) {
    let seed = Seed::raw(&vec![0xC5; length]).unwrap();
    let plan = Plan::new(needed, count).unwrap();
    let shares = split(&seed, plan, &mut RandomStream::new().unwrap()).unwrap();
    (seed, shares)
}

/// Takes those whose bit is set, in an order that differs from that of their numbers.
fn chosen(shares: &[Share], bits: u32) -> Vec<Share> {
    let mut some: Vec<Share> = shares
        .iter()
        .filter(|share| bits >> (share.number() - 1) & 1 == 1)
        .map(|share| Share::parse(&shown(share)).unwrap())
        .collect();
    some.reverse();
    some
}

#[test]
fn any_that_are_enough_bring_the_seed_back_and_fewer_say_how_many_are_needed() {
    for (needed, count) in [(2, 2), (2, 4), (3, 5), (5, 6)] {
        let (seed, shares) = made(needed, count, 64);
        for bits in 1..1_u32 << count {
            let given = chosen(&shares, bits);
            match combine(&given) {
                Ok(back) => {
                    assert!(bits.count_ones() >= u32::from(needed));
                    assert_eq!(back.expose(), seed.expose());
                }
                Err(error) => {
                    let given = u8::try_from(given.len()).unwrap();
                    assert_eq!(error, ShareError::TooFew { needed, given });
                    assert!(given < needed);
                }
            }
        }
    }
}

#[test]
fn every_length_of_seed_comes_back_with_its_name() {
    for length in 16..=64 {
        let (seed, shares) = made(2, 3, length);
        let back = combine(&chosen(&shares, 0b101)).unwrap();
        assert_eq!(
            (back.expose(), back.scheme()),
            (seed.expose(), SeedScheme::Raw)
        );
    }
    for scheme in [SeedScheme::Apollo, SeedScheme::Bip39] {
        let seed = Seed::restore(&[7; 64], scheme).unwrap();
        let plan = Plan::new(2, MAX_SHARES).unwrap();
        let shares = split(&seed, plan, &mut RandomStream::new().unwrap()).unwrap();
        assert_eq!(combine(&shares).unwrap().scheme(), scheme);
    }
}

/// What fewer shares than needed hold says nothing: over many splittings of one seed, each byte of a share
/// takes every value about as often as any other.
#[test]
fn a_share_looks_the_same_whatever_the_seed() {
    let mut counts = [[0_u32; 256]; 2];
    for (place, fill) in [0_u8, 0xFF].into_iter().enumerate() {
        let seed = Seed::raw(&[fill; 16]).unwrap();
        let mut random = RandomStream::new().unwrap();
        for _ in 0..400 {
            let shares = split(&seed, Plan::new(2, 2).unwrap(), &mut random).unwrap();
            let text = shown(&shares[0]);
            let digits: String = text
                .lines()
                .filter_map(|line| line.strip_prefix("data "))
                .collect();
            for byte in keywright_encoding::hex::decode(&digits).unwrap() {
                counts[place][usize::from(byte)] += 1;
            }
        }
    }
    // 400 times 66 bytes: 103 of each on average, with a deviation of 10.
    for count in counts.iter().flatten() {
        assert!((40..=180).contains(count), "{count}");
    }
}

#[test]
fn plans_that_make_no_sense_are_refused() {
    for needed in 0..=20 {
        for count in 0..=20 {
            let fine = 2 <= needed && needed <= count && count <= 16;
            let expected = match fine {
                true => Ok((needed, count)),
                false => Err(ShareError::Plan),
            };
            let plan = Plan::new(needed, count);
            assert_eq!(plan.map(|plan| (plan.needed(), plan.count())), expected);
        }
    }
}

#[test]
fn a_share_has_one_spelling_and_every_change_of_a_letter_is_noticed() {
    let (_, shares) = made(3, 5, 32);
    let text = shown(&shares[1]);
    assert!(Share::parse(&text).is_ok());
    for place in 0..text.len() {
        for other in ["0", "9", "f", "A", " ", "\n", "\r\n", "", "é"] {
            let changed = format!("{}{other}{}", &text[..place], &text[place + 1..]);
            if changed == text {
                continue;
            }
            match Share::parse(&changed) {
                Err(ShareError::NotAShare | ShareError::Damaged { .. }) => {}
                found => panic!("{place} {other:?}: {found:?}"),
            }
        }
        assert!(Share::parse(&text[..place]).is_err());
    }
    for more in ["\n", " ", "data 00\n", "check 00000000\n"] {
        assert!(Share::parse(&format!("{text}{more}")).is_err());
    }
    // The number is said as long as it can be read.
    let digit = text.find("data ").unwrap() + 5;
    let swapped = if text.as_bytes()[digit] == b'0' {
        "1"
    } else {
        "0"
    };
    let changed = format!("{}{swapped}{}", &text[..digit], &text[digit + 1..]);
    assert_eq!(
        Share::parse(&changed).err(),
        Some(ShareError::Damaged { number: 2 })
    );
}

#[test]
fn errors_and_what_is_printed_show_nothing_of_a_share() {
    let (_, shares) = made(2, 3, 64);
    let text = shown(&shares[0]);
    let digits = text.split("data ").nth(1).unwrap();
    for said in [
        format!("{:?}", shares[0]),
        format!("{:?}", Share::parse(&text[1..])),
        ShareError::Damaged { number: 1 }.to_string(),
        combine(&shares[..1]).unwrap_err().to_string(),
    ] {
        assert!(!said.contains(&digits[..8]), "{said}");
        assert!(said.len() < 120, "{said}");
    }
}

/// A restore drill: a tree is grown, its seed split, all but enough shares burnt, and every key comes back.
#[test]
fn after_a_restore_from_shares_every_key_of_the_tree_is_there() {
    let mut dice = SplitMix::new(39);
    let seed = Seed::restore(&bytes::<64>(&mut dice), SeedScheme::Bip39).unwrap();
    let plan = Plan::new(3, 5).unwrap();
    let shares = split(&seed, plan, &mut RandomStream::new().unwrap()).unwrap();
    let restored = combine(&chosen(&shares, 0b11010)).unwrap();
    assert_eq!(restored.scheme(), SeedScheme::Bip39);
    for scheme in crate::scene::INDEXED {
        for did in 0..2 {
            for purpose in 1..=8 {
                for index in 0..3 {
                    let at = path(&format!("m/29'/29'/{did}'/{purpose}'/{index}'"));
                    let key =
                        |seed| exported(&PrivateNode::derive_from(seed, scheme, &at).unwrap());
                    assert_eq!(key(&seed), key(&restored), "{scheme} {at}");
                }
            }
        }
    }
    let label = |seed| {
        let root = keywright_hdkey::slip21::LabelNode::root(seed);
        root.derive(&["backup", "files"]).key().expose().to_vec()
    };
    assert_eq!(label(&seed), label(&restored));
    assert!(PrivateNode::root(&restored, Scheme::Bip32Secp256k1).is_ok());
}
