//! Rules, waivers and conditions out of damaged files, and what a token's keys come to.

use keywright_hsm::audit::{
    Accepted, Baseline, Day, RuleSet, Severity, State, Waivers, audit, fuzz,
};
use keywright_hsm::pairs::{self, Leaving, Namesakes, NewKey};
use keywright_hsm::{Access, Caution, Desk, Login, Module, PairKind, Pin, Purpose, TokenChoice};
use keywright_mutate::{mutants, mutations};
use keywright_tokens::{Store, on_each};

#[test]
fn damaged_rules_are_refused_with_a_place_and_never_panic() {
    let waivers = b"version = 1\n[[waiver]]\nrule = \"R\"\nlabel = \"k\"\nreason = \"because\"\nuntil = \"2027-06-30\"\n";
    let condition = b"class in [\"private\", \"secret\"] and not (bits >= 3072 or curve == \"p256\") or allowed_mechanisms any [\"x\"]";
    let rules = b"version = 1\nbuiltin = true\n[[rule]]\nid = \"R\"\nseverity = \"HIGH\"\nwhen = 'local and bits < 7'\nsays = \"s\"\nadvice = \"a\"\n[[profile]]\nname = \"p\"\nlabel = \"t\"\noff = [\"R\"]\nseverity = { WeakRsa = \"LOW\" }\n";
    let seeds: [&[u8]; 3] = [rules, waivers, condition];
    for seed in seeds {
        fuzz(seed);
    }
    for mutant in mutations(&seeds, mutants(), 0xa0d17) {
        fuzz(&mutant);
    }
}

pub(crate) fn desk(store: &Store) -> Desk {
    let at = &store.tokens()[0];
    let module = Module::load(at.module()).unwrap();
    let choice = TokenChoice {
        label: Some(at.label()),
        ..TokenChoice::default()
    };
    let pin = Pin::from_line(at.user_pin().as_bytes().to_vec());
    let token = choice.find(&module).unwrap();
    Desk::open(&token, Access::Write, Some(Login::Pin(pin)), Caution::Guard).unwrap()
}

fn made(desk: &Desk, label: &str, leaving: Leaving) {
    let new = NewKey {
        label,
        id: None,
        purpose: Purpose::Sign,
        leaving,
        namesakes: Namesakes::Refuse,
    };
    pairs::generate(desk, PairKind::Rsa { bits: 2048 }, &new).unwrap();
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one token, and all that can be accepted of it"
)]
fn a_key_that_can_leave_is_found_waived_known_and_found_again() {
    on_each(|store| {
        let desk = desk(store);
        made(&desk, "stays", Leaving::Forbid);
        made(&desk, "leaves", Leaving::Allow);
        let today: Day = "2027-01-31".parse().unwrap();
        let rules = RuleSet::builtin();
        let run = |accepted: &Accepted| audit(&desk, &rules, accepted, today).unwrap();
        let report = run(&Accepted::default());
        assert_eq!((report.private_keys, report.public_keys), (2, 2));
        // Some tokens show their mechanisms as objects as well.
        assert!(report.total_objects >= 4);
        let of = |report: &keywright_hsm::audit::AuditReport,
                  label: &str|
         -> Vec<(String, Severity, State)> {
            let own = report
                .issues
                .iter()
                .filter(|issue| issue.key_label == label && issue.key_class == "private");
            own.map(|issue| (issue.issue_type.clone(), issue.severity, issue.state))
                .collect()
        };
        let weak = ("WeakRsa".to_owned(), Severity::Medium, State::New);
        assert_eq!(
            of(&report, "stays"),
            std::slice::from_ref(&weak),
            "{:?}",
            report.issues
        );
        let leaves = (
            "ExtractablePrivateKey".to_owned(),
            Severity::Critical,
            State::New,
        );
        assert!(of(&report, "leaves").contains(&leaves));
        assert_eq!(report.worst(), Some(Severity::Critical));
        assert_eq!(report.summary.critical_count, 1);

        let waiver = "version = 1\n[[waiver]]\nrule = \"ExtractablePrivateKey\"\nlabel = \"leaves\"\nreason = \"moves next week\"\nuntil = \"2027-01-31\"\n";
        let waived = run(&Accepted::new(Waivers::read(waiver).unwrap(), None));
        assert_eq!(
            (waived.summary.critical_count, waived.summary.waived_count),
            (0, 1)
        );
        let over = waiver.replace("2027-01-31", "2027-01-30");
        let over = run(&Accepted::new(Waivers::read(&over).unwrap(), None));
        assert_eq!(over.summary.critical_count, 1);
        assert!(over.notes[0].contains("2027-01-30"), "{:?}", over.notes);

        let baseline = Baseline::of(report.marks());
        let known = run(&Accepted::new(Waivers::default(), Some(baseline.clone())));
        assert_eq!((known.summary.total_issues, known.worst()), (0, None));
        made(&desk, "later", Leaving::Allow);
        let later = run(&Accepted::new(Waivers::default(), Some(baseline)));
        assert_eq!(later.worst(), Some(Severity::Critical));
        assert!(
            later
                .issues
                .iter()
                .filter(|issue| issue.state == State::New)
                .all(|issue| issue.key_label == "later")
        );

        let text = "version = 1\nbuiltin = true\n[[profile]]\nname = \"here\"\nlabel = \"keywright\"\noff = [\"WeakRsa\"]\nseverity = { ExtractablePrivateKey = \"LOW\" }\n";
        let own = audit(
            &desk,
            &RuleSet::read(text).unwrap(),
            &Accepted::default(),
            today,
        )
        .unwrap();
        assert_eq!(own.profile.as_deref(), Some("here"));
        assert_eq!(own.worst(), Some(Severity::Low), "{:?}", own.issues);
    });
}
