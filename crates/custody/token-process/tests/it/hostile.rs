//! Children that are none, or mean no good.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use keywright_clock::Clock;
use keywright_custody::{HolderError, HolderOperation, KeyMaterial};
use keywright_pkcs11::TokenQuery;
use keywright_secret::SecretBytes;
use keywright_token_process::{
    Cause, ChildHolder, Notice, Program, Settings, StartError, TokenProcess,
};
use keywright_tokens::on_each;
use keywright_types::Code;

use crate::child;
use crate::scene::{BACK, holder, identity, one, settings, within};

fn refused(program: Program, settings: Settings) -> StartError {
    TokenProcess::start(program, settings)
        .map(drop)
        .unwrap_err()
}

#[test]
fn what_does_not_open_a_token_is_refused_and_told_apart() {
    on_each(|store| {
        let own = || child::program("token_process");
        let missing = Settings {
            module: store.folder().join("none.so"),
            ..settings(store)
        };
        let error = refused(own(), missing);
        assert!(
            matches!(&error, StartError::Failed(why) if why.contains("none.so")),
            "{error:?}"
        );
        let unknown = Settings {
            query: TokenQuery::label("another"),
            ..settings(store)
        };
        let error = refused(own(), unknown);
        assert!(
            matches!(&error, StartError::Failed(why) if why.contains("no token")),
            "{error:?}"
        );
        let wrong = Settings {
            pin: SecretBytes::from_vec(b"wrong-9999".to_vec()),
            ..settings(store)
        };
        let error = refused(own(), wrong);
        assert!(
            matches!(&error, StartError::Refused(why) if !why.contains("wrong-9999")),
            "{error:?}"
        );
    });
}

#[test]
fn a_program_that_is_no_child_is_refused_at_once() {
    on_each(|store| {
        let none = Program {
            file: store.folder().join("none"),
            words: Vec::new(),
        };
        assert!(matches!(
            refused(none, settings(store)),
            StartError::Spawn(_)
        ));
        let clock = Clock::system();
        let begun = clock.monotonic();
        for role in [
            "says_nothing_that_is_meant",
            "says_more_than_there_can_be",
            "ends_at_once",
        ] {
            let error = refused(child::program(role), settings(store));
            assert!(matches!(error, StartError::Ended), "{role}: {error:?}");
        }
        let error = refused(child::program("is_of_another_version"), settings(store));
        assert!(matches!(error, StartError::Version), "{error:?}");
        assert!(clock.monotonic().since(begun) < Duration::from_secs(30));
    });
}

#[test]
fn a_child_that_says_nothing_is_not_waited_for() {
    on_each(|store| {
        let error = refused(child::program("says_nothing_at_all"), settings(store));
        assert!(matches!(error, StartError::Hung), "{error:?}");
    });
}

/// What becomes of a message that the child answers with these bytes.
fn answered(
    holder: &ChildHolder,
    operation: HolderOperation,
    bytes: &[u8],
) -> Result<Result<Vec<u8>, Code>, HolderError> {
    let key = Arc::new(KeyMaterial::new(identity(1), b"proof".to_vec(), None));
    let length = u32::try_from(bytes.len()).unwrap().to_be_bytes();
    let message = [child::ANSWER, &length, bytes].concat();
    one(holder, operation, &key, &message)
}

fn framed(body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).unwrap().to_be_bytes();
    [&length, body].concat()
}

/// One result: its code, and what is said of its length, and the bytes.
fn result(code: Code, length: u32, bytes: &[u8]) -> Vec<u8> {
    let (code, length) = (code.number().to_be_bytes(), length.to_be_bytes());
    framed(&[&[0, 0, 0, 0, 1][..], &code, &length, bytes].concat())
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of answers that are none")]
fn what_is_no_answer_ends_the_child_and_is_handed_to_nobody() {
    on_each(|store| {
        let program = child::program("answers_what_it_is_told");
        let settings = Settings {
            patience: Duration::from_secs(1),
            ..settings(store)
        };
        let process = TokenProcess::start(program, settings).unwrap();
        let told = Arc::new(Mutex::new(Vec::new()));
        let notices = Arc::clone(&told);
        process.tell(Box::new(move |notice| {
            notices.lock().unwrap().push(notice.clone());
        }));
        let holder = holder(&process);
        let cases: [(&str, Vec<u8>, Cause); 14] = [
            ("nothing", Vec::new(), Cause::Ended),
            ("half a frame", vec![0, 0, 0], Cause::Hung),
            ("an endless frame", vec![0xFF; 4], Cause::Nonsense),
            (
                "two frames",
                [framed(&[2]), framed(&[2])].concat(),
                Cause::Nonsense,
            ),
            ("an empty answer", framed(&[]), Cause::Nonsense),
            ("a status that is none", framed(&[9]), Cause::Nonsense),
            (
                "an error that is none",
                framed(&[1, u8::MAX, 0]),
                Cause::Nonsense,
            ),
            ("never told", framed(&[2]), Cause::Nonsense),
            ("no results", framed(&[0]), Cause::Nonsense),
            ("no result", framed(&[0, 0, 0, 0, 0]), Cause::Nonsense),
            ("no envelope", result(Code::Ok, 4, b"text"), Cause::Nonsense),
            (
                "shorter than it says",
                result(Code::Ok, 5, b"text"),
                Cause::Nonsense,
            ),
            (
                "longer than it says",
                result(Code::DecryptionFailed, 0, b"text"),
                Cause::Nonsense,
            ),
            (
                "failed with a text",
                result(Code::DecryptionFailed, 4, b"text"),
                Cause::Nonsense,
            ),
        ];
        for (what, bytes, cause) in cases {
            within(BACK, || process.id().is_some());
            told.lock().unwrap().clear();
            let refused = answered(&holder, HolderOperation::Seal, &bytes);
            assert_eq!(refused, Err(HolderError::Unavailable), "{what}");
            within(BACK, || {
                told.lock().unwrap().first() == Some(&Notice::Lost(cause))
            });
        }
        // An answer that is one is passed on.
        within(BACK, || process.id().is_some());
        let told = |bytes: &[u8]| answered(&holder, HolderOperation::Seal, bytes);
        assert_eq!(told(&framed(&[1, 5, 0])), Err(HolderError::KeyRejected));
        let code = Code::AadTooLarge;
        assert_eq!(told(&result(code, 0, b"")), Ok(Err(code)));
    });
}
