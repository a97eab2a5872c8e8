//! Asking before something is done that cannot be undone.

use std::io::{IsTerminal, Write as _};

use crate::exit::{Exit, Failure};

/// Whether the words of the command already say yes.
#[derive(Clone, Copy, Debug, clap::Args)]
pub struct Yes {
    /// Do it without asking.
    #[arg(long)]
    pub yes: bool,
}

/// What is to be typed for it.
#[derive(Clone, Copy, Debug)]
pub enum Word<'a> {
    /// `yes`.
    Yes,
    /// What tells this one from every other: its name, and it.
    Own(&'static str, &'a str),
}

impl Word<'_> {
    /// How it is asked for.
    pub fn asked(self) -> String {
        match self {
            Self::Yes => "Type yes".to_owned(),
            Self::Own(name, _) => format!("Type its {name}"),
        }
    }

    /// Whether this is it, blanks included.
    pub fn is(self, typed: &[u8]) -> bool {
        match self {
            Self::Yes => typed == b"yes",
            Self::Own(_, word) => !word.is_empty() && typed == word.as_bytes(),
        }
    }
}

/// Goes on if the user wants `deed` done; without a terminal nobody can be asked, so the answer is no.
pub fn confirm(deed: &str, yes: Yes) -> Result<(), Failure> {
    confirm_with(deed, Word::Yes, yes)
}

/// The same, for a deed that takes more than a habit: this word is to be typed.
pub fn confirm_with(deed: &str, word: Word<'_>, yes: Yes) -> Result<(), Failure> {
    if yes.yes {
        return Ok(());
    }
    match crate::token::asked::agrees(deed, word) {
        Some(true) => return Ok(()),
        Some(false) => return Err(unchanged(deed)),
        None => {}
    }
    let (input, mut screen) = (std::io::stdin(), std::io::stderr());
    if !input.is_terminal() || !screen.is_terminal() {
        return Err(Failure::new(
            Exit::Refused,
            format!("{deed}: not confirmed"),
            "add --yes to do it",
        ));
    }
    let mut answer = String::new();
    let deed = &crate::output::line(deed);
    let asked = write!(screen, "{deed}? {}: ", word.asked()).and_then(|()| screen.flush());
    let heard = asked
        .and_then(|()| crate::token::interrupt::wait(&input))
        .and_then(|()| input.read_line(&mut answer));
    match heard {
        Ok(_) if word.is(answer.trim().as_bytes()) => Ok(()),
        _ => Err(unchanged(deed)),
    }
}

fn unchanged(deed: &str) -> Failure {
    Failure::new(
        Exit::Refused,
        format!("{deed}: not confirmed"),
        "nothing was changed",
    )
}
