//! Who is asked when a command wants a PIN or a yes: the terminal, unless somebody stands in for it.
//!
//! The menu stands in while it runs a command, so that the same code asks, and the answers come from its dialogs.

use std::cell::RefCell;

use super::answer::Refusal;
use crate::confirm::Word;

/// Answers in place of the terminal.
pub trait Asker {
    /// The line that was typed for `what`, which is wiped by whoever takes it.
    fn secret(&mut self, what: &str) -> Result<Vec<u8>, Refusal>;
    /// Whether `deed` is wanted, which `word` says.
    fn agrees(&mut self, deed: &str, word: Word<'_>) -> bool;
}

thread_local! {
    static ASKER: RefCell<Option<Box<dyn Asker>>> = const { RefCell::new(None) };
}

/// Takes the asker away when the command ends, also by a panic.
struct Standing;

impl Drop for Standing {
    fn drop(&mut self) {
        ASKER.with(|place| drop(place.take()));
    }
}

/// Runs `work` with somebody who answers on this thread.
pub fn standing_in<T>(asker: Box<dyn Asker>, work: impl FnOnce() -> T) -> T {
    ASKER.with(|place| place.replace(Some(asker)));
    let standing = Standing;
    let done = work();
    drop(standing);
    done
}

fn asked<T>(ask: impl FnOnce(&mut dyn Asker) -> T) -> Option<T> {
    // Out of its place while it answers, so that it may be asked again.
    let mut asker = ASKER.with(RefCell::take)?;
    let answer = ask(asker.as_mut());
    ASKER.with(|place| place.replace(Some(asker)));
    Some(answer)
}

/// What the one who stands in says to a question for a secret.
pub fn secret(what: &str) -> Option<Result<Vec<u8>, Refusal>> {
    asked(|asker| asker.secret(what))
}

/// What the one who stands in says to a deed.
pub fn agrees(deed: &str, word: Word<'_>) -> Option<bool> {
    asked(|asker| asker.agrees(deed, word))
}
