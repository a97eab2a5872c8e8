//! The promises of the parsers of backups and of configurations over arbitrary bytes, as functions that the fuzz targets
//! and plain tests both call.

use std::path::Path;

use crate::backup::SignedText;
use crate::{Config, ConfigError};

/// Reads `data` as the text of a backup, and checks that what is accepted has this one form.
///
/// # Panics
/// If it has another, which is what a fuzzer looks for.
pub fn backup(data: &[u8]) {
    let Ok(text) = SignedText::parse(data) else {
        return;
    };
    if let Some(again) = text.encode_again() {
        assert!(again == data, "a backup with two spellings");
    }
}

/// Reads `data` as a configuration, says whether it is one, and checks that
///
/// * what is accepted means the same when it is written down with all its defaults, and has no number that is out of
///   its range;
/// * what is refused is refused in words, and for what it says, not for a file that is not there.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
#[must_use]
pub fn configuration(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    let place = Path::new("keywright.toml");
    match Config::parse(place, text) {
        Ok(config) => {
            assert!(config.check().is_ok(), "numbers out of their ranges");
            let written = config.to_text().unwrap_or_default();
            let again = Config::parse(place, &written);
            let again = again.map(|again| again.to_text().unwrap_or_default());
            assert!(
                again.is_ok_and(|again| again == written),
                "a configuration means something else when written"
            );
            true
        }
        Err(error) => {
            let of_files = matches!(error, ConfigError::Read(..) | ConfigError::Missing { .. });
            assert!(!of_files, "a file was looked at");
            assert!(!error.to_string().is_empty(), "an error without words");
            false
        }
    }
}
