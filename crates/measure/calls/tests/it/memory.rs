//! Memory does not grow with the log.

use keywright_calls::{Analyzer, Options};

use crate::endless::{resident, thousand};

#[test]
fn analyze_constant_memory() {
    let mut analyzer = Analyzer::new(Options::default());
    let mut text = String::new();
    let mut early = 0;
    for block in 0..1000 {
        thousand(block * 1000, &mut text);
        analyzer.push(text.as_bytes());
        if block == 399 {
            early = resident();
        }
    }
    let grown = resident().saturating_sub(early);
    // Other tests run beside it; the 600,000 lines have some 170 MB.
    assert!(
        grown < 32 << 20,
        "{grown} bytes more for 600,000 lines more"
    );
    analyzer.finish();
    let report = analyzer.report();
    assert_eq!(report.total_ops, 1_000_000);
    // What did not fit is said, and the nonces are compared in part.
    assert!(report.limits.len() >= 5, "{:?}", report.limits);
    assert!(report.nonces.compared_share < 1.0 && report.nonces.reused == 0);
    assert!(report.throughput.unwrap().bins.len() <= 240);
}
