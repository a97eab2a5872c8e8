//! Empty: `cargo build -p kryoptic` builds the dependency, with the features and versions that this package
//! names.
