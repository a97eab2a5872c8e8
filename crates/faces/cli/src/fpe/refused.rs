//! What the library refuses, as a command says it: the library's sentence and code, and which flag helps.

use keywright_fpe::{Error, Mode};

use crate::exit::{Exit, Failure};

/// An error of the library as the end of the command.
pub(super) fn refused(error: Error) -> Failure {
    let (exit, advice) = match error {
        Error::BackendUnavailable { .. } => (
            Exit::Unsupported,
            "unset KEYWRIGHT_FPE_BACKEND, or name a backend that this machine has for this cipher",
        ),
        Error::Domain { .. } => (
            Exit::Refused,
            "encrypt longer values, or accept that these can be searched: --allow-small-domain, down to 100",
        ),
        Error::EncryptRefused {
            mode: Mode::FpecFf31,
        } => (
            Exit::Refused,
            "use --mode ff1; to test a migration, write what fpe-c would: --danger-reproduce-fpec",
        ),
        Error::EncryptRefused { .. } => (
            Exit::Refused,
            "use --mode ff1; to write what only old programs read: --legacy",
        ),
        Error::TweakEmpty => (
            Exit::Refused,
            "give --tweak HEX or --tweak-text TEXT, or go without by name: --allow-empty-tweak",
        ),
        Error::TweakLength { .. } => (
            Exit::Usage,
            "give a tweak of this length: --tweak HEX or --tweak-text TEXT",
        ),
        Error::KeySize { .. } => (
            Exit::Usage,
            "give a key file of such a size, raw or in hexadecimal digits",
        ),
        Error::Symbol { .. } => (
            Exit::Usage,
            "positions count from 0; take out what is no symbol, or choose another --alphabet",
        ),
        Error::Digit { .. } => (
            Exit::Usage,
            "positions count from 0; correct the numeral, or give another --radix",
        ),
        Error::Length { .. } => (
            Exit::Usage,
            "split the value; FF1 takes up to 1,048,576 symbols",
        ),
        Error::AlphabetDuplicate { .. } | Error::AlphabetSize { .. } => (
            Exit::Usage,
            "give 2 to 65,536 different symbols, or the name of an alphabet",
        ),
        Error::Radix { .. } => (Exit::Usage, "give --radix 2 to --radix 65536"),
        _ => (Exit::Usage, "add --help to see what the command takes"),
    };
    let code = error.code();
    Failure {
        code: Some(code),
        ..Failure::new(exit, format!("{error} ({code})"), advice)
    }
}
