//! Interrupted runs go on and give the same bytes; what must not be gone on with is refused.

use std::io::Write as _;
use std::ops::ControlFlow;

use keywright_mutate::SplitMix;
use keywright_protect::{Error, Files, Plan, Summary, run};

use crate::table::{PEOPLE, Table, exists, go_on, keys, options, people, rules};

fn rejecting() -> keywright_format::Rules {
    rules(&[
        "name = \"card\"\nformat = \"card\"\non_bad = \"reject\"",
        "name = \"born\"\nformat = \"date(from=0001-01-01, to=9999-12-31)\"",
    ])
}

/// Every seventh card is wrong.
fn file() -> String {
    let mut rows = 0;
    let lines = people(400).lines().map(str::to_owned).collect::<Vec<_>>();
    let text: Vec<String> = lines
        .into_iter()
        .map(|line| {
            rows += 1;
            if rows % 7 == 0 {
                line.replace(",99", ",98")
            } else {
                line
            }
        })
        .collect();
    text.join("\n") + "\n"
}

/// Ends the run after so many blocks.
fn interrupt(table: &Table, blocks: usize, threads: usize) -> Result<Summary, Error> {
    let mut left = blocks;
    table.protect_with(&rejecting(), &options(threads), &mut |_| {
        left = left.saturating_sub(1);
        if left == 0 {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })
}

fn whole() -> Table {
    let table = Table::new(file().as_bytes());
    table.protect(&rejecting()).unwrap();
    table
}

#[track_caller]
fn same(table: &Table, whole: &Table) {
    for name in ["out.csv", "rejects.csv", "out.csv.protection.json"] {
        assert!(table.read(name) == whole.read(name), "{name} differs");
    }
    assert_eq!(table.names(), whole.names());
}

#[test]
fn a_run_goes_on_wherever_it_was_interrupted() {
    let whole = whole();
    for blocks in 1..40 {
        let table = Table::new(file().as_bytes());
        let error = interrupt(&table, blocks, 1 + blocks % 3).unwrap_err();
        assert!(matches!(error, Error::Interrupted), "{error:?}");
        assert!(!exists(&table.path("out.csv")));
        let summary = table
            .protect_with(&rejecting(), &options(1 + blocks % 2), &mut go_on)
            .unwrap();
        assert!(
            summary.resumed > 0 && summary.rows > summary.resumed,
            "{summary:?}"
        );
        same(&table, &whole);
    }
}

#[test]
fn a_run_may_be_interrupted_again_and_again() {
    let (whole, table) = (whole(), Table::new(file().as_bytes()));
    let mut times = 0;
    while let Err(error) = interrupt(&table, 3, 2) {
        assert!(matches!(error, Error::Interrupted), "{error:?}");
        times += 1;
        assert!(times < 100, "it does not get on");
    }
    assert!(times > 5, "{times}");
    same(&table, &whole);
}

/// Files as a crash may leave them: each shorter than the others know of.
#[test]
fn whatever_a_crash_has_cut_off_is_written_again() {
    let whole = whole();
    let mut dice = SplitMix::new(7);
    for _ in 0..60 {
        let table = Table::new(file().as_bytes());
        interrupt(&table, 30, 1).unwrap_err();
        for name in ["out.csv.part", "out.csv.journal", "rejects.csv.part"] {
            let file = std::fs::File::options()
                .write(true)
                .open(table.path(name))
                .unwrap();
            let length = file.metadata().unwrap().len();
            let cut = dice.below(usize::try_from(length).unwrap() + 1) as u64;
            file.set_len(if dice.below(3) == 0 { length } else { cut })
                .unwrap();
        }
        table.protect(&rejecting()).unwrap();
        same(&table, &whole);
    }
}

#[test]
fn bytes_that_are_not_what_was_written_are_written_again() {
    let whole = whole();
    let table = Table::new(file().as_bytes());
    interrupt(&table, 30, 1).unwrap_err();
    let mut part = table.read("out.csv.part");
    let middle = part.len() / 2;
    part[middle] ^= 1;
    std::fs::write(table.path("out.csv.part"), part).unwrap();
    table.protect(&rejecting()).unwrap();
    same(&table, &whole);
}

#[test]
fn an_input_that_has_changed_is_refused() {
    let table = Table::new(file().as_bytes());
    interrupt(&table, 10, 1).unwrap_err();
    let before = table.names();
    let changed = file().replacen("plain", "plaim", 1);
    std::fs::write(table.path("in.csv"), changed).unwrap();
    let error = table.protect(&rejecting()).unwrap_err();
    assert!(matches!(error, Error::InputChanged { .. }), "{error:?}");
    std::fs::write(table.path("in.csv"), file() + "x,,,\n").unwrap();
    let error = table.protect(&rejecting()).unwrap_err();
    assert!(matches!(error, Error::OtherRun { .. }), "{error:?}");
    assert_eq!(table.names(), before);
    // With the file as it was, it goes on.
    std::fs::write(table.path("in.csv"), file()).unwrap();
    table.protect(&rejecting()).unwrap();
    same(&table, &whole());
}

#[test]
fn other_rules_and_other_keys_do_not_go_on_with_a_run() {
    let table = Table::new(file().as_bytes());
    interrupt(&table, 10, 1).unwrap_err();
    let error = table.protect(&rules(&PEOPLE[1..])).unwrap_err();
    assert!(matches!(error, Error::OtherRun { .. }), "{error:?}");
    let source = table.open("in.csv");
    let plan = Plan::protect(source.layout(), &rejecting(), &keys(2)).unwrap();
    let go = |options: &keywright_protect::Options| {
        run(&source, &plan, &table.files("out.csv"), options, &mut go_on)
    };
    assert!(matches!(go(&options(1)), Err(Error::OtherRun { .. })));
    // Unless the old one is given up.
    go(&options(1).anew()).unwrap();
    assert!(table.read("out.csv") != whole().read("out.csv"));
}

#[test]
fn a_changed_journal_is_not_believed() {
    let whole = whole();
    let mut dice = SplitMix::new(11);
    for _ in 0..40 {
        let table = Table::new(file().as_bytes());
        interrupt(&table, 20, 1).unwrap_err();
        let mut journal = table.read("out.csv.journal");
        let place = dice.below(journal.len());
        journal[place] ^= 1 << dice.below(8);
        std::fs::write(table.path("out.csv.journal"), journal).unwrap();
        match table.protect(&rejecting()) {
            Ok(_) => same(&table, &whole),
            Err(error) => assert!(
                place < 80 && matches!(error, Error::OtherRun { .. }),
                "{place}: {error:?}"
            ),
        }
    }
}

#[test]
fn a_run_whose_files_have_their_names_already_is_only_tidied_up() {
    let whole = whole();
    let table = Table::new(file().as_bytes());
    // All blocks are done, and the program ends before it renames.
    let blocks = {
        let (mut count, probe) = (0, Table::new(file().as_bytes()));
        let listen = &mut |_: &_| {
            count += 1;
            ControlFlow::Continue(())
        };
        probe
            .protect_with(&rejecting(), &options(1), listen)
            .unwrap();
        count
    };
    interrupt(&table, blocks, 1).unwrap_err();
    std::fs::rename(table.path("out.csv.part"), table.path("out.csv")).unwrap();
    std::fs::rename(table.path("rejects.csv.part"), table.path("rejects.csv")).unwrap();
    let summary = table.protect(&rejecting()).unwrap();
    assert_eq!((summary.resumed, summary.rows), (400, 400));
    same(&table, &whole);
}

#[test]
fn somebody_elses_output_is_not_taken_for_our_own() {
    let table = Table::new(file().as_bytes());
    interrupt(&table, 10, 1).unwrap_err();
    std::fs::remove_file(table.path("out.csv.part")).unwrap();
    std::fs::write(table.path("out.csv"), b"somebody else's").unwrap();
    let error = table.protect(&rejecting()).unwrap_err();
    assert!(matches!(error, Error::OtherRun { .. }), "{error:?}");
    assert_eq!(table.read("out.csv"), b"somebody else's");
}

#[test]
fn two_runs_to_one_output_are_refused() {
    let table = Table::new(file().as_bytes());
    let journal = std::fs::File::create(table.path("out.csv.journal")).unwrap();
    journal.try_lock().unwrap();
    let error = table.protect(&rejecting()).unwrap_err();
    assert!(matches!(error, Error::Busy { .. }), "{error:?}");
    drop(journal);
    table.protect(&rejecting()).unwrap();
}

#[test]
fn outputs_that_would_destroy_a_file_are_refused() {
    let table = Table::new(file().as_bytes());
    let source = table.open("in.csv");
    let plan = Plan::protect(source.layout(), &rejecting(), &keys(1)).unwrap();
    let go = |files: &Files| run(&source, &plan, files, &options(1), &mut go_on);
    std::fs::hard_link(table.path("in.csv"), table.path("link.csv")).unwrap();
    std::os::unix::fs::symlink(table.path("in.csv"), table.path("soft.csv")).unwrap();
    std::fs::write(table.path("rules.toml"), b"rules").unwrap();
    let replace = keywright_protect::Overwrite::Replace;
    for name in ["in.csv", "link.csv", "soft.csv"] {
        let error = go(&Files::new(&table.path(name)).with_overwrite(replace)).unwrap_err();
        assert!(matches!(error, Error::SameFile { .. }), "{name}: {error:?}");
        let second = Files::new(&table.path("new.csv")).with_rejects(&table.path(name));
        let error = go(&second.with_overwrite(replace)).unwrap_err();
        assert!(matches!(error, Error::SameFile { .. }), "{name}: {error:?}");
    }
    let twice = Files::new(&table.path("new.csv")).with_rejects(&table.path("new.csv"));
    assert!(matches!(go(&twice), Err(Error::SameFile { .. })));
    // The same file by another spelling, before any of them is there.
    for other in ["./new.csv", "new.csv.part", "./new.csv.journal", "../"] {
        let other = match other {
            "../" => table
                .path("..")
                .join(table.path("").file_name().unwrap())
                .join("new.csv"),
            other => table.path(other),
        };
        let twice = Files::new(&table.path("new.csv")).with_rejects(&other);
        assert!(
            matches!(go(&twice), Err(Error::SameFile { .. })),
            "{other:?}"
        );
    }
    let rules = Files::new(&table.path("rules.toml")).keeping(&table.path("rules.toml"));
    assert!(matches!(
        go(&rules.with_overwrite(replace)),
        Err(Error::SameFile { .. })
    ));
    let folder = Files::new(&table.path("")).with_overwrite(replace);
    assert!(matches!(go(&folder), Err(Error::NoFile { .. })));
    let error = go(&Files::new(&table.path("in.csv"))).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("is used twice by this run, and would be overwritten")
    );
    let there = table.files("there.csv");
    std::fs::write(table.path("there.csv"), b"there").unwrap();
    assert!(matches!(go(&there), Err(Error::Exists { .. })));
    assert_eq!(table.read("in.csv"), file().as_bytes());
    assert_eq!(table.read("there.csv"), b"there");
    go(&there.with_overwrite(replace)).unwrap();
    assert!(table.read("there.csv") != b"there");
}

#[test]
fn outputs_that_are_links_are_refused() {
    let table = Table::new(file().as_bytes());
    let source = table.open("in.csv");
    let plan = Plan::protect(source.layout(), &rejecting(), &keys(1)).unwrap();
    let go = |files: &Files| run(&source, &plan, files, &options(1), &mut go_on);
    let replace = keywright_protect::Overwrite::Replace;
    std::fs::write(table.path("aim.csv"), b"aim").unwrap();
    for (aim, name) in [("aim.csv", "aimed.csv"), ("missing.csv", "dangling.csv")] {
        std::os::unix::fs::symlink(table.path(aim), table.path(name)).unwrap();
        for files in [
            Files::new(&table.path(name)),
            Files::new(&table.path("new.csv")).with_rejects(&table.path(name)),
        ] {
            let error = go(&files.with_overwrite(replace)).unwrap_err();
            assert!(matches!(error, Error::Link { .. }), "{name}: {error:?}");
        }
        assert!(std::fs::read_link(table.path(name)).is_ok());
    }
    assert_eq!(table.read("aim.csv"), b"aim");
}

#[test]
fn an_input_that_grows_meanwhile_is_refused() {
    let table = Table::new(file().as_bytes());
    let mut grown = false;
    let error = table.protect_with(&rejecting(), &options(1), &mut |_| {
        if !std::mem::replace(&mut grown, true) {
            let mut input = std::fs::File::options()
                .append(true)
                .open(table.path("in.csv"))
                .unwrap();
            input.write_all(b"1,,,\n").unwrap();
        }
        ControlFlow::Continue(())
    });
    let error = error.unwrap_err();
    assert!(matches!(error, Error::InputChanged { .. }), "{error:?}");
    assert_eq!(table.names(), ["in.csv"]);
}

#[test]
fn files_that_cannot_be_made_leave_nothing_behind() {
    let table = Table::new(file().as_bytes());
    let source = table.open("in.csv");
    let plan = Plan::protect(source.layout(), &rejecting(), &keys(1)).unwrap();
    let files = table
        .files("out.csv")
        .with_rejects(&table.path("no/folder.csv"));
    let error = run(&source, &plan, &files, &options(1), &mut go_on).unwrap_err();
    assert!(matches!(error, Error::Write { .. }), "{error:?}");
    let nowhere = Files::new(&table.path("no/out.csv"));
    let error = run(&source, &plan, &nowhere, &options(1), &mut go_on).unwrap_err();
    assert!(matches!(error, Error::Write { .. }), "{error:?}");
    assert_eq!(table.names(), ["in.csv"]);
}

#[test]
fn an_old_output_that_is_to_be_replaced_stays_until_the_new_one_is_whole() {
    let table = Table::new(file().as_bytes());
    std::fs::write(table.path("out.csv"), b"old").unwrap();
    let source = table.open("in.csv");
    let plan = Plan::protect(source.layout(), &rejecting(), &keys(1)).unwrap();
    let files = table
        .files("out.csv")
        .with_overwrite(keywright_protect::Overwrite::Replace);
    let mut left = 5;
    let error = run(&source, &plan, &files, &options(1), &mut |_| {
        left -= 1;
        if left == 0 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    assert!(matches!(error, Err(Error::Interrupted)), "{error:?}");
    assert_eq!(table.read("out.csv"), b"old");
    // A crash before the first byte leaves a journal and no part.
    std::fs::remove_file(table.path("out.csv.part")).unwrap();
    let journal = std::fs::File::options()
        .write(true)
        .open(table.path("out.csv.journal"))
        .unwrap();
    journal.set_len(80).unwrap();
    drop(journal);
    run(&source, &plan, &files, &options(1), &mut go_on).unwrap();
    same(&table, &whole());
}
