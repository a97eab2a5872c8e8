//! Interrupted runs go on and give the same bytes; what must not be gone on with is refused.

use std::ops::ControlFlow;

use keywright_columnar::{Error, Kind};
use keywright_mutate::SplitMix;
use keywright_protect::Error as Common;

use crate::scene::{KINDS, Work, batch};

/// Some cities are too short for this.
const RULES: &str = "version = 1\n\
    [[column]]\nname = \"card\"\nformat = \"card\"\n\
    [[column]]\nname = \"city\"\nformat = \"letter(8..20)\"\non_bad = \"reject\"\n";

const BATCHES: [usize; 7] = [40, 1, 60, 30, 30, 200, 2];

fn scene(kind: Kind) -> Work {
    let work = Work::new();
    let batches = BATCHES.map(batch);
    work.write(kind, &batches);
    work
}

/// Ends the run after so many batches. An Arrow file with dictionaries is gone through once before.
fn interrupt(work: &Work, batches: usize) -> Result<(), Error> {
    let before = match Kind::of(&work.path("in")) {
        Some(Kind::ArrowFile) => BATCHES.len(),
        _ => 0,
    };
    let mut left = before + batches;
    let ran = work.protect_with(RULES, &mut |_| {
        left -= 1;
        match left {
            0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    });
    ran.map(drop)
}

#[track_caller]
fn same(work: &Work, whole: &Work) {
    for name in ["out", "rejects", "out.protection.json"] {
        assert!(work.read(name) == whole.read(name), "{name} differs");
    }
    assert_eq!(work.names(), whole.names());
}

#[test]
fn a_run_goes_on_wherever_it_was_interrupted() {
    for kind in KINDS {
        let whole = scene(kind).alone();
        let summary = whole.protect(RULES).unwrap();
        let mut resumed = 0;
        for batches in 1..64 {
            let work = scene(kind);
            let Err(error) = interrupt(&work, batches) else {
                break;
            };
            assert!(
                matches!(error, Error::Protect(Common::Interrupted)),
                "{error:?}"
            );
            assert!(!work.path("out").exists());
            let again = work.protect(RULES).unwrap();
            resumed = resumed.max(again.resumed);
            assert_eq!(
                (again.rows, again.rejected),
                (summary.rows, summary.rejected)
            );
            assert_eq!(again.columns, summary.columns, "{kind:?} {batches}");
            same(&work, &whole);
        }
        assert!(resumed > 300, "{kind:?}: nothing was gone on with");
    }
}

#[test]
fn a_run_may_be_interrupted_again_and_again() {
    for kind in KINDS {
        let (work, whole) = (scene(kind), scene(kind).alone());
        whole.protect(RULES).unwrap();
        let mut times = 0;
        // As many batches as the largest block has, so that each run gets on.
        while interrupt(&work, 4).is_err() {
            times += 1;
            assert!(times < 100, "it does not get on");
        }
        assert!(times > 1, "{kind:?}");
        same(&work, &whole);
    }
}

/// Files as a crash may leave them: each shorter than the others know of.
#[test]
fn whatever_a_crash_has_cut_off_is_written_again() {
    let mut dice = SplitMix::new(7);
    for kind in KINDS {
        let whole = scene(kind).alone();
        whole.protect(RULES).unwrap();
        for _ in 0..20 {
            let work = scene(kind);
            interrupt(&work, 7).unwrap_err();
            for name in ["out.part", "out.journal", "rejects.part"] {
                let file = std::fs::File::options()
                    .write(true)
                    .open(work.path(name))
                    .unwrap();
                let length = file.metadata().unwrap().len();
                let cut = dice.below(usize::try_from(length).unwrap() + 1) as u64;
                file.set_len(if dice.below(3) == 0 { length } else { cut })
                    .unwrap();
            }
            work.protect(RULES).unwrap();
            same(&work, &whole);
        }
    }
}

#[test]
fn an_input_that_has_changed_is_refused() {
    for kind in KINDS {
        let work = scene(kind);
        interrupt(&work, 7).unwrap_err();
        let before = work.names();
        let good = work.read("in");
        let mut changed = good.clone();
        // In the first row group, or behind the schema.
        let marked = |from: usize| good[from..].windows(4).position(|bytes| bytes == [0xFF; 4]);
        let place = match kind {
            Kind::Parquet => 60,
            _ => {
                let schema = marked(0).unwrap() + 4;
                schema + marked(schema).unwrap() + 900
            }
        };
        changed[place] ^= 1;
        std::fs::write(work.path("in"), &changed).unwrap();
        if let Err(error) = work.protect(RULES) {
            let refused = matches!(
                error,
                Error::Damaged { .. }
                    | Error::Protect(Common::InputChanged { .. } | Common::OtherRun { .. })
            );
            assert!(refused, "{kind:?}: {error:?}");
        } else {
            panic!("{kind:?}: a changed input was gone on with");
        }
        assert_eq!(work.names(), before, "{kind:?}");
        std::fs::write(work.path("in"), good).unwrap();
        work.protect(RULES).unwrap();
    }
}
