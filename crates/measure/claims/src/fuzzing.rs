//! The promises of the readers over arbitrary bytes, as one function that the fuzz target and a plain
//! test both call.

use crate::read;

/// Reads `data` in every form and checks that
///
/// * an error has words, and every finding has a code, both figures and a sentence;
/// * reading and checking again gives the same findings;
/// * findings can be written as JSON.
///
/// # Panics
/// If one of them does not hold, which is what a fuzzer looks for.
pub fn document(data: &[u8]) {
    for name in ["a.json", "a.csv", "a.md", "a.toml", "a"] {
        match read(name, data) {
            Err(error) => assert!(!error.to_string().is_empty(), "an error without words"),
            Ok(document) => {
                let findings = document.check();
                for finding in &findings {
                    let words = [&finding.claimed, &finding.recomputed, &finding.sentence];
                    assert!(
                        words.iter().all(|text| !text.is_empty()),
                        "a finding without words"
                    );
                }
                let again = read(name, data).map(|document| document.check());
                assert!(
                    matches!(again, Ok(again) if again == findings),
                    "other findings"
                );
                assert!(
                    serde_json::to_string(&findings).is_ok(),
                    "findings that are not data"
                );
            }
        }
    }
}
