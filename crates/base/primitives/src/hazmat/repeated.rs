//! Randomness that has been given out before: what a stream is after the process was copied in the midst of a
//! job, or the machine was restored from a snapshot. For tests that show what becomes of it.

use crate::Error;
use crate::random::RandomStream;

/// A stream of bytes that whoever knows the seed knows too.
///
/// # Errors
/// [`Error::Backend`] if the backend refuses.
pub fn stream(seed: &[u8; 32]) -> Result<RandomStream, Error> {
    RandomStream::of_seed(seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_bytes_until_the_job_ends() {
        let (mut one, mut two) = (stream(&[1; 32]).unwrap(), stream(&[1; 32]).unwrap());
        for _ in 0..100 {
            assert_eq!(one.array::<24>().unwrap(), two.array::<24>().unwrap());
        }
        assert_ne!(
            stream(&[2; 32]).unwrap().array::<24>(),
            stream(&[1; 32]).unwrap().array()
        );
        one.end_job();
        two.end_job();
        assert_ne!(one.array::<24>().unwrap(), two.array::<24>().unwrap());
    }
}
