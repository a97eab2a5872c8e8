//! The time of codecs and comparisons of secrets, measured with few samples: a branch or a table on a secret is
//! found with a tenth of them. `timing` takes more.

use keywright_fpe_gates::codecs;
use keywright_fpe_gates::sequence::Sequence;
use keywright_fpe_gates::timing::{BOUND, median};

const REPEATS: usize = 5;
const SAMPLES: usize = 20_000;
const ATTEMPTS: usize = 3;

#[test]
fn t33_the_time_of_a_codec_or_comparison_tells_nothing_of_its_secret() {
    if !cfg!(target_arch = "x86_64") {
        // No counter is known there, and nothing would be found.
        return;
    }
    let mut sequence = Sequence::new(33);
    for timed in &mut codecs::all() {
        // A leak shows each time; something else on the machine now and then.
        let mut attempts = Vec::new();
        let found = (0..ATTEMPTS).all(|_| {
            let repeat = |_| timed.sample(SAMPLES, &mut sequence).t();
            let t = median(&[(); REPEATS].map(repeat));
            attempts.push(t);
            t > BOUND
        });
        assert_eq!(found, timed.leaks(), "{}: {attempts:?}", timed.name());
    }
}
