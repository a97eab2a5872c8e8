//! What the library refuses, as a command says it.

use keywright_container::Error;
use keywright_types::SlotType;

use crate::exit::{Exit, Failure, sentence};

/// An error of the library as the end of the command. A wrong key, a wrong password and a changed file are one
/// answer.
pub(super) fn refused(error: Error) -> Failure {
    use keywright_password::Error as Password;
    let (exit, code, advice) = match &error {
        Error::Malformed => (
            Exit::Negative,
            "file_malformed",
            "give the whole output of `keywright seal` or `keywright lock`",
        ),
        Error::Rejected | Error::NoSlot => (
            Exit::Negative,
            "file_rejected",
            "check the key or the password, and whether the whole file is there and unchanged",
        ),
        Error::Password(Password::OutOfBounds) => (
            Exit::Negative,
            "password_cost",
            "do not trust the file: no profile asks for so much",
        ),
        Error::Password(Password::Busy | Password::OutOfMemory) => (
            Exit::Internal,
            "password_memory",
            "free memory, or lock with a smaller --profile",
        ),
        Error::SlotCount(_) => (
            Exit::Usage,
            "recipient_count",
            "give between 1 and 255 recipients",
        ),
        Error::Hpke(_) => (
            Exit::Usage,
            "recipient_key",
            "take a key that `keywright seal keygen` has made",
        ),
        Error::Read(_) | Error::Write(_) => (
            Exit::Internal,
            "input_output",
            "check the disk or the pipe, and try again",
        ),
        _ => (
            Exit::Internal,
            "backend",
            "see whether the system gives random bytes and memory",
        ),
    };
    Failure {
        code: Some(code),
        ..Failure::new(exit, format!("{} ({code})", sentence(&error)), advice)
    }
}

/// As [`refused`]; what the file itself shows to everybody, that it has no slot of the type, is said.
pub(super) fn unopened(error: Error, wanted: SlotType) -> Failure {
    let advice = match wanted {
        SlotType::Password => "open it with a private key: keywright open --key-file FILE",
        _ => {
            "take the private key of another kind, or keywright unlock for a file under a password"
        }
    };
    without_slot(error, wanted, advice)
}

/// As [`unopened`], where the same command takes a password or a private key.
pub(super) fn unopened_here(error: Error, wanted: SlotType) -> Failure {
    let advice = match wanted {
        SlotType::Password => {
            "give --key-file FILE with a private key in the same command, and no password"
        }
        _ => "take the private key of another kind, or --password-file FILE in place of --key-file",
    };
    without_slot(error, wanted, advice)
}

fn without_slot(error: Error, wanted: SlotType, advice: &str) -> Failure {
    let happened = match (&error, wanted) {
        (Error::NoSlot, SlotType::Password) => "the file is under no password",
        (Error::NoSlot, _) => "the file was not sealed to a key of this kind",
        _ => return refused(error),
    };
    Failure {
        code: Some("no_slot"),
        ..Failure::new(Exit::Negative, format!("{happened} (no_slot)"), advice)
    }
}
