//! The promises of the backup's parser over arbitrary bytes, as one function that the fuzz target and a plain test
//! both call.

use crate::backup::Content;

/// Reads `data` as what stands in a backup, and checks that what is accepted has this one form.
///
/// # Panics
/// If it has another, which is what a fuzzer looks for.
pub fn backup(data: &[u8]) {
    if let Ok(content) = Content::parse(data) {
        let again = content.encode();
        assert!(
            again.is_ok_and(|again| again == data),
            "a backup with two spellings"
        );
        let _ = content.image.is_complete();
    }
}
