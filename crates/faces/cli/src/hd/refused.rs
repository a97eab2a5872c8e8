//! What the library refuses, as a command says it.

use keywright_hdkey::Error;

use crate::exit::{Exit, Failure};

/// An error of the library as the end of the command.
pub(super) fn refused(error: Error) -> Failure {
    let (exit, advice) = match &error {
        Error::Rejected => (
            Exit::Negative,
            "check message, signature, public key, scheme and algorithm",
        ),
        Error::SoftChild { .. } | Error::PublicNodesOff => (
            Exit::Refused,
            "write ' behind every number, or allow children that public parents can make: --allow-soft",
        ),
        Error::PublicNodeShared => (Exit::Refused, "use the key where it is: keywright hd sign"),
        Error::HardenedOnly { .. } => (Exit::Usage, "write ' behind every number of the path"),
        Error::Path(_) | Error::TooDeep => (
            Exit::Usage,
            "give a path such as m/29'/29'/0'/1'/0', or --identus DID/PURPOSE/INDEX",
        ),
        Error::Mnemonic(_) => (
            Exit::Usage,
            "check the words against the paper; other languages: --seed-scheme bip39-foreign; Identus: apollo",
        ),
        Error::SeedLength { .. } | Error::SeedLengthOfScheme { .. } => (
            Exit::Usage,
            "give a seed of another length, or choose another --scheme",
        ),
        Error::InvalidChild { .. } => (Exit::Usage, "take the next index; this one has no key"),
        Error::WrongUse { .. } | Error::OtherScheme { .. } => (
            Exit::Unsupported,
            "choose another --scheme or --algorithm; keywright hd --help lists them",
        ),
        Error::PublicKeyRejected => (
            Exit::Usage,
            "give the public key as `keywright hd public` prints it, with its --scheme",
        ),
        Error::Backend => (Exit::Internal, "please report this with the command"),
        _ => (Exit::Usage, "add --help to see what the command takes"),
    };
    Failure::new(exit, error.to_string(), advice)
}
