//! Users of the seed service: its routes and their leniency, what it sealed, and how its clients go on (key-service.md,
//! section 1).

mod doors;
mod reading;
mod scene;
mod tokens;
