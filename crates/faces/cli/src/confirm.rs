//! Asking before something is done that cannot be undone.

use std::io::{IsTerminal, Write as _};

use crate::exit::{Exit, Failure};

/// Whether the words of the command already say yes.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct Yes {
    /// Do it without asking.
    #[arg(long)]
    pub(crate) yes: bool,
}

/// Goes on if the user wants `deed` done; without a terminal nobody can be asked, so the answer is no.
pub(crate) fn confirm(deed: &str, yes: Yes) -> Result<(), Failure> {
    if yes.yes {
        return Ok(());
    }
    match crate::hsm::asked::agrees(deed) {
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
    let asked = write!(screen, "{deed}? Type yes: ").and_then(|()| screen.flush());
    let heard = asked.and_then(|()| input.read_line(&mut answer));
    match heard {
        Ok(_) if answer.trim() == "yes" => Ok(()),
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
