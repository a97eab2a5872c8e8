//! A session that only reads makes nothing that stays, and says so.

use keywright_hsm::pairs::{self, Leaving, Namesakes, NewKey};
use keywright_hsm::{
    Access, Caution, Context, Desk, Kind, Login, Module, PairKind, Pin, Purpose, TokenChoice,
};
use keywright_tokens::{Store, on_each};

fn desk(store: &Store, access: Access) -> Desk {
    let at = &store.tokens()[0];
    let module = Module::load(at.module()).unwrap();
    let choice = TokenChoice {
        label: Some(at.label()),
        ..TokenChoice::default()
    };
    let token = choice.find(&module).unwrap();
    let pin = Pin::from_line(at.user_pin().as_bytes().to_vec());
    Desk::open(&token, access, Some(Login::Pin(pin)), Caution::Guard).unwrap()
}

#[test]
fn a_session_that_only_reads_makes_no_key() {
    on_each(|store| {
        let reads = desk(store, Access::Read);
        let new = NewKey {
            label: "new",
            id: None,
            purpose: Purpose::Sign,
            leaving: Leaving::Forbid,
            namesakes: Namesakes::Refuse,
        };
        let kind = PairKind::Rsa { bits: 2048 };
        let error = pairs::generate(&reads, kind, &new).unwrap_err();
        assert_eq!(error.kind(), Kind::Token);
        let failure = error.failure().unwrap();
        assert_eq!(failure.code().to_string(), "CKR_SESSION_READ_ONLY");
        let line = error.explain_line(Context::Keygen).unwrap();
        assert!(
            line.starts_with("keywright hsm explain-error 0xb5 "),
            "{line}"
        );
        let writes = desk(store, Access::Write);
        pairs::generate(&writes, kind, &new).unwrap();
    });
}
