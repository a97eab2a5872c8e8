//! Format-preserving encryption: FF1, FF3 and FF3-1 over AES and SM4, in every shape that is promised.
//!
//! A name says everything: `fpe.ff1.aes128.r10.n16.single` is mode, cipher, radix, digits and way. `base62`
//! instead of `r62` means text over an alphabet of so many symbols; `r10` is text over the decimal digits
//! except where a way says digits. The ways:
//!
//! | way | one operation |
//! |---|---|
//! | `single` | encrypts one value under a key, a length and a tweak that are prepared |
//! | `single.tweak` | the same with a tweak of the call, as most libraries know it |
//! | `decrypt` | as `single`, backwards |
//! | `oneshot` | makes the key from its bytes, encrypts one value with a tweak of the call, wipes the key |
//! | `inplace`, `separate` | as `single.tweak` on digits, where they stand or into another buffer |
//! | `batch` | encrypts many values of one length into another buffer; `batch.decrypt` backwards |
//! | `batch.digits` | as `batch`, on digits instead of text |
//! | `batch.tweaks` | as `batch`, with a tweak for each value |
//! | `batch.t4` | as `batch` on 4,194,304 values, over 4 threads of the library's own |
//!
//! Operations are chained: each takes what the one before it made, so none can begin before the other has
//! ended. An output is judged by the way back, with the portable code for single values and for a sample of
//! a batch, and with the code that is measured for a batch as a whole and for values of more than 10,000
//! digits. Keys, tweaks (8 bytes, 7 for FF3-1) and first values are drawn from the seed.
//!
//! The backend is what the setting says, or the best of the machine. One that does not run the cipher is
//! an error of that operation; nothing else is measured in its place.
//!
//! Not here: columns of formats (`super::format`), and files.

mod batch;
mod buffers;
#[cfg(feature = "peers")]
mod peers;
mod single;
mod subject;
mod table;
mod task;
#[cfg(test)]
mod tests;

pub use keywright_fpe::{Backend, UnknownBackend};
pub use table::operations;
pub use task::{Cipher, Symbols, Task, Way};
