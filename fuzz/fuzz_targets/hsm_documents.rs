//! The files that the `hsm` commands read: a configuration with its profiles, and what a key is expected to be.
#![no_main]

use std::path::Path;

use keywright_hsm::config::Settings;
use keywright_hsm::expected::Expected;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let path = Path::new("/hsm.toml");
    for profile in [None, Some("a")] {
        if let Ok(settings) = Settings::read(path, text, profile) {
            let module = settings.module.as_deref();
            assert!(module.is_none_or(Path::is_absolute), "{settings:?}");
        }
    }
    if let Err(error) = Expected::read(text) {
        let lines = text.matches('\n').count() + 1;
        assert!((1..=lines).contains(&error.line), "{error}");
    }
});
