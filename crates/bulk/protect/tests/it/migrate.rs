//! Tokens written anew: out of FF3, FF3-1 and what fpe-c wrote, and under newer keys.

use keywright_fpe::{Algorithm, Alphabet, Key, Mode, Options as Engine, Policy, Radix};
use keywright_protect::{Error, Foreign, Keys, Origin, Plan, Summary, run};
use keywright_secret::SecretBytes;

use crate::table::{PEOPLE, Table, card, go_on, keys, options, people, rules};

const OLD: [u8; 16] = *b"an old, raw key!";
const TWEAK: [u8; 7] = [0xCB, 0xD0, 0x92, 0x80, 0x97, 0x95, 0x64];

fn engine(mode: Mode) -> Key {
    let policy = Policy::STRICT.allow_legacy_encrypt();
    let options = Engine::new(mode, Algorithm::Aes, Radix::DECIMAL).with_policy(policy);
    Key::new(options, &OLD).unwrap()
}

/// What another program wrote: cards whose sixteen digits went through the engine as they are.
fn old_file(mode: Mode, tweak: &[u8], rows: u64) -> (String, String) {
    let key = engine(mode);
    let (mut old, mut clear) = ("id,card\n".to_owned(), "id,card\n".to_owned());
    for row in 0..rows {
        let value = card(row * 31);
        let token = key.encrypt_string(tweak, Alphabet::DIGITS, &value).unwrap();
        old.push_str(&format!("{row},\"{token}\"\n"));
        clear.push_str(&format!("{row},\"{value}\"\n"));
    }
    (old, clear)
}

fn migrate(table: &Table, foreign: &Foreign) -> Result<Summary, Error> {
    let source = table.open("in.csv");
    let old = rules(&["name = \"card\"\nformat = \"digit(16)\""]);
    let new = rules(&["name = \"card\"\nformat = \"card\""]);
    let origin = Origin::Elsewhere(&old, foreign);
    let plan = Plan::migrate(source.layout(), &origin, &new, &keys(1))?;
    run(
        &source,
        &plan,
        &table.files("out.csv"),
        &options(2),
        &mut go_on,
    )
}

fn foreign(mode: Mode, tweak: &[u8]) -> Foreign {
    Foreign::new(mode, SecretBytes::from_vec(OLD.to_vec()), tweak)
}

#[test]
fn tokens_of_the_ff3_family_become_tokens_of_ff1() {
    let eight = [TWEAK.as_slice(), &[0x11]].concat();
    for (mode, tweak) in [
        (Mode::Ff31, &TWEAK[..]),
        (Mode::Ff3, &eight),
        (Mode::Ff1, &eight),
    ] {
        let (old, clear) = old_file(mode, tweak, 100);
        let table = Table::new(old.as_bytes());
        let summary = migrate(&table, &foreign(mode, tweak)).unwrap();
        assert_eq!(summary.columns[0].counts.changed, 100);
        table.reveal(None, &keys(1)).unwrap();
        assert_eq!(table.text("back.csv"), clear, "{mode:?}");
    }
}

/// fpe-c's FF3-1 is FF3 under another order of the tweak, so FF3 makes the old data here.
#[test]
fn what_fpe_c_wrote_as_ff3_1_is_read_by_its_own_name() {
    let t = TWEAK;
    let order = [t[0], t[1], t[2], t[3] & 0xF0, t[3] & 0x0F, t[4], t[5], t[6]];
    let (old, clear) = old_file(Mode::Ff3, &order, 60);
    let table = Table::new(old.as_bytes());
    migrate(&table, &foreign(Mode::FpecFf31, &TWEAK)).unwrap();
    table.reveal(None, &keys(1)).unwrap();
    assert_eq!(table.text("back.csv"), clear);
}

#[test]
fn a_wrong_mode_tweak_or_key_is_noticed_before_anything_is_written() {
    let (old, _) = old_file(Mode::Ff31, &TWEAK, 60);
    let wrong = [
        foreign(Mode::FpecFf31, &TWEAK),
        foreign(Mode::Ff31, &[1, 2, 3, 4, 5, 6, 7]),
        Foreign::new(Mode::Ff31, SecretBytes::from_vec(vec![1; 16]), &TWEAK),
    ];
    for foreign in &wrong {
        let table = Table::new(old.as_bytes());
        let error = migrate(&table, foreign).unwrap_err();
        assert!(matches!(error, Error::OldKey { .. }), "{error:?}");
        assert_eq!(table.names(), ["in.csv"]);
    }
}

/// Protects `in.csv` under the first key and puts the result in its place.
fn first_version() -> Table {
    let table = Table::new(people(300).as_bytes());
    std::fs::copy(table.path("in.csv"), table.path("clear.csv")).unwrap();
    table.protect(&rules(&PEOPLE)).unwrap();
    table
}

fn to_second_key(
    table: &Table,
    old: &Keys,
    progress: &mut (dyn FnMut(&keywright_protect::Progress) -> std::ops::ControlFlow<()> + Send),
) -> Result<Summary, Error> {
    let source = table.open("out.csv");
    let protection = table.protection("out.csv");
    let new = rules(&[
        "name = \"card\"\nformat = \"card\"\nkeep = \"last4\"",
        PEOPLE[1],
    ]);
    let origin = Origin::Here(&protection, old);
    let plan = Plan::migrate(source.layout(), &origin, &new, &keys(2))?;
    run(
        &source,
        &plan,
        &table.files("new.csv"),
        &options(1),
        progress,
    )
}

fn reveals_as_before(table: &Table) {
    let source = table.open("new.csv");
    let plan = Plan::reveal(
        source.layout(),
        &table.protection("new.csv"),
        None,
        &keys(2),
    )
    .unwrap();
    run(
        &source,
        &plan,
        &table.files("back.csv"),
        &options(1),
        &mut go_on,
    )
    .unwrap();
    assert!(table.read("back.csv") == table.read("clear.csv"));
}

#[test]
fn tokens_move_to_a_newer_key_and_another_rule() {
    let table = first_version();
    to_second_key(&table, &keys(1), &mut go_on).unwrap();
    assert!(table.read("new.csv") != table.read("out.csv"));
    reveals_as_before(&table);
    let error = to_second_key(&first_version(), &keys(3), &mut go_on).unwrap_err();
    assert!(matches!(error, Error::WrongKey { .. }), "{error:?}");
}

#[test]
fn an_interrupted_migration_goes_on() {
    let whole = first_version();
    to_second_key(&whole, &keys(1), &mut go_on).unwrap();
    for blocks in [1, 2, 9, 20] {
        let table = first_version();
        let mut left = blocks;
        let error = to_second_key(&table, &keys(1), &mut |_| {
            left -= 1;
            if left == 0 {
                return std::ops::ControlFlow::Break(());
            }
            std::ops::ControlFlow::Continue(())
        });
        assert!(matches!(error, Err(Error::Interrupted)), "{error:?}");
        to_second_key(&table, &keys(1), &mut go_on).unwrap();
        assert!(table.read("new.csv") == whole.read("new.csv"));
        reveals_as_before(&table);
    }
}

#[test]
fn a_column_that_was_not_protected_has_no_origin() {
    let table = first_version();
    let source = table.open("out.csv");
    let (protection, old) = (table.protection("out.csv"), keys(1));
    let origin = Origin::Here(&protection, &old);
    let new = rules(&["name = \"id\"\nformat = \"digit(6..9)\""]);
    let error = Plan::migrate(source.layout(), &origin, &new, &keys(2)).unwrap_err();
    assert!(matches!(error, Error::RulesChanged { column } if column == "id"));
}
