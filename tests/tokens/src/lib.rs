//! PKCS#11 tokens in software: which there are, a store for one test, and a process for one test.
//!
//! Both tokens read their configuration from the environment of the process that loads them, once: SoftHSM
//! from `SOFTHSM2_CONF`, Kryoptic from `KRYOPTIC_CONF`. A process therefore sees one store of each kind for all
//! its life, and a test binary whose tests run on threads cannot give each test its own. Changing the environment
//! of a running process is unsafe, and is not done here. Instead, [`on_each`] makes a [`Store`] and runs the test
//! binary again with the name of the test it is called from and the environment of that store; in that second
//! process the same call runs the body. So
//!
//! * every test has a store of its own, which is gone afterwards, and may do to it what it likes;
//! * a test may load the module, finalise it, crash in it: nobody else is in that process;
//! * a token of each kind in one process is what [`together`] gives, several of one kind [`on_each_with`].
//!
//! ```no_run
//! #[test]
//! fn the_token_has_the_label_that_it_was_given() {
//!     keywright_tokens::on_each(|store| {
//!         let token = &store.tokens()[0];
//!         // load token.module(), find token.label(), log in with token.user_pin() ...
//!     });
//! }
//! ```
//!
//! With `KEYWRIGHT_TESTKIT_RECORDER` in the environment, the path of a module, tests with one store load that module
//! in place of the token's own, whose path it is told in `KEYWRIGHT_P11_TARGET`.
//!
//! [`Faults`] puts a module that fails, hangs or crashes in front of a store's.
//!
//! A kind that is not installed (`scripts/setup test-all` installs both) is said in one line and counted as a
//! skipped test. Where [`Store`] is used without [`on_each`], programs of others are started with its environment:
//! [`Store::command`].
//!
//! Not here: loading a module; that is for the crate under test.
#![forbid(unsafe_code)]

mod again;
mod faults;
mod kind;
mod store;

pub use again::{on_each, on_each_with, together};
pub use faults::Faults;
pub use kind::{Kind, Missing};
pub use store::{SO_PIN, Store, Token, USER_PIN};
