//! Statistics on slices of `f64`: pure functions, one subject per file, each naming its source.
//!
//! Three rules hold everywhere. A question the data cannot answer (too few values, a value that is
//! not finite, a level outside 0..1) is answered with `None`, never with a number that looks like
//! an answer. Nothing here reads a clock, a file or the machine's randomness: what is random takes
//! a seed and gives the same answer for the same seed. No sample is ever thrown away as an outlier.

pub mod bootstrap;
pub mod brunner_munzel;
pub mod change_points;
pub mod effect;
pub mod hodges_lehmann;
pub mod holm;
pub mod interval;
pub mod location;
pub mod mann_whitney;
pub mod normal;
pub mod outliers;
pub mod quantile;
pub mod random;
pub mod ranks;
pub mod scaling;
pub mod series;
pub mod sign_flip;
pub mod signed_rank;
pub mod size_model;
pub mod student;
pub mod trend;
pub mod usl;
