//! Load on other machines is asked for in words: whoever mistypes an address is not to find out from its owner.

use http::Uri;

use super::flags::TargetFlags;
use crate::exit::{Exit, Failure};

/// Refuses an address that is not on this machine, unless that was asked for.
pub(super) fn allowed(url: &str, targets: &TargetFlags) -> Result<(), Failure> {
    if targets.allow_remote || is_here(url) {
        return Ok(());
    }
    Err(Failure::new(
        Exit::Refused,
        format!("{url} is not an address of this machine"),
        "add --allow-remote if whoever runs it knows of the load",
    ))
}

/// Whether a URL names this machine by a loopback address. A name that leads here by other ways is taken for
/// a remote one.
fn is_here(url: &str) -> bool {
    let Ok(uri) = url.parse::<Uri>() else {
        // Whoever connects says what is wrong with it.
        return true;
    };
    let host = uri.host().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let address = bare.parse::<std::net::IpAddr>();
    host.is_empty()
        || host.eq_ignore_ascii_case("localhost")
        || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_addresses_are_of_this_machine() {
        for here in [
            "https://127.0.0.1:8443",
            "https://127.9.9.9",
            "https://[::1]:8443/x",
            "https://localhost",
            "https://LOCALHOST:1",
        ] {
            assert!(is_here(here), "{here}");
        }
        for there in [
            "https://192.0.2.1:8443",
            "https://example.test",
            "https://localhost.example.test",
            "https://127.0.0.1.example.test",
            "https://[2001:db8::1]",
            "https://0.0.0.0",
        ] {
            assert!(!is_here(there), "{there}");
            let mut flags = TargetFlags::default();
            assert_eq!(allowed(there, &flags).unwrap_err().exit, Exit::Refused);
            flags.allow_remote = true;
            assert!(allowed(there, &flags).is_ok());
        }
    }
}
