//! What the library refuses, as a command says it.

use keywright_token::Error;

use crate::exit::{Exit, Failure};

/// An error of the library as the end of the command.
#[expect(clippy::too_many_lines, reason = "a table with a row for each error")]
pub(super) fn refused(error: Error) -> Failure {
    let (exit, code, advice) = match error {
        Error::Backend(_) => (
            Exit::Internal,
            "backend",
            "see whether the system gives random bytes",
        ),
        Error::Closed => (
            Exit::Refused,
            "token_closed",
            "use the token as it is; only its issuer can make another",
        ),
        Error::Data => (
            Exit::Usage,
            "data_length",
            "give a --data-file of 1 to 1024 bytes",
        ),
        Error::DelegationWithMac => (
            Exit::Usage,
            "delegation_with_mac",
            "leave --delegate-file out: everybody who holds the token can narrow it; or take --suite ed25519",
        ),
        Error::Empty => (
            Exit::Usage,
            "never_valid",
            "give an end that is later than the beginning",
        ),
        Error::KeyOther => (
            Exit::Refused,
            "key_other",
            "give the key that the token names with --key-file",
        ),
        Error::Malformed => (
            Exit::Negative,
            "token_malformed",
            "give the whole output of `token build` or `token attenuate`",
        ),
        Error::Name => (
            Exit::Usage,
            "name",
            "use 1 to 255 visible ASCII characters without spaces",
        ),
        Error::OtherWay => (
            Exit::Usage,
            "other_way",
            "give --key-file for a signed token, and none for one with a MAC",
        ),
        Error::Scope => (
            Exit::Usage,
            "scope",
            "give words of 1 to 64 visible ASCII characters with spaces between them",
        ),
        Error::Skew => (Exit::Usage, "skew", "give --skew 0 to --skew 60"),
        Error::Time => (
            Exit::Usage,
            "time",
            "give seconds since 1970, before the year 10000",
        ),
        Error::TooLong => (
            Exit::Usage,
            "too_long",
            "say less: a token has at most 2048 bytes",
        ),
        Error::TooManyBlocks => (
            Exit::Refused,
            "too_many_blocks",
            "ask the issuer for a token that is narrow already",
        ),
        Error::Widens => (
            Exit::Refused,
            "widens",
            "take something away: an earlier end, a later beginning, fewer words, an audience where there is none",
        ),
        _ => (
            Exit::Usage,
            "token",
            "add --help to see what the command takes",
        ),
    };
    Failure {
        code: Some(code),
        ..Failure::new(exit, format!("{error} ({code})"), advice)
    }
}
