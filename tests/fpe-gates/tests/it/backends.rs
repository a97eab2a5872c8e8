//! Every backend of the machine gives what the portable one gives.

use keywright_fpe_gates::backends::compare;
use keywright_fpe_gates::sequence::Sequence;

const RECORDS: u64 = 1_000_000;

#[test]
fn backends_agree_on_a_million_records() {
    let mut sequence = Sequence::new(71);
    let mut records = 0;
    while records < RECORDS {
        records += compare(&mut sequence).unwrap();
    }
}
