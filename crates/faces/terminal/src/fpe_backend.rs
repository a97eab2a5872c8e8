//! The backend of format-preserving encryption that the environment asks for.

use keywright_fpe::Backend;

use crate::exit::{Exit, Failure};

const VARIABLE: &str = "KEYWRIGHT_FPE_BACKEND";

/// The backend that the environment asks for.
pub fn backend() -> Result<Option<Backend>, Failure> {
    #[expect(clippy::disallowed_methods, reason = "the faces read the environment")]
    let word = std::env::var_os(VARIABLE).filter(|word| !word.is_empty());
    let Some(word) = word else {
        return Ok(None);
    };
    let read = word.to_str().map(str::parse::<Backend>);
    match read {
        Some(Ok(backend)) => Ok(Some(backend)),
        _ => Err(Failure::new(
            Exit::Usage,
            format!("{VARIABLE} names no backend"),
            format!("unset it, or choose one of {}", names()),
        )),
    }
}

fn names() -> String {
    Backend::ALL.map(Backend::name).join(", ")
}
