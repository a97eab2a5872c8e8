//! A module that fails, stalls, hangs or crashes in front of a token's own (`keywright-fault-module`).
#![expect(
    clippy::expect_used,
    reason = "fixtures: a failure here fails the test that asked for it"
)]

use std::fs;
use std::path::{Path, PathBuf};

use super::store::Store;

/// The module in front of one store's. A test that uses it names `keywright-fault-module` among its crate's
/// dev-dependencies, so that it is built.
#[derive(Debug)]
pub struct Faults {
    module: PathBuf,
}

impl Faults {
    /// Puts a copy of the module beside the tokens of a store.
    ///
    /// # Panics
    /// If it was not built, or cannot be copied.
    #[must_use]
    pub fn before(store: &Store) -> Self {
        let module = store.folder().join("fault.so");
        fs::copy(built(), &module).expect("the module with faults was built and can be copied");
        let target = store.tokens()[0].module().display().to_string();
        fs::write(store.folder().join("fault.so.target"), target).expect("its target is told");
        Self { module }
    }

    /// The file to load.
    #[must_use]
    pub fn module(&self) -> &Path {
        &self.module
    }

    /// Plants a fault, in the words that the module's own page has.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn plant(&self, words: &str) {
        // In one step: a module that reads meanwhile sees the one fault or the other.
        let beside = self.module.with_extension("new");
        fs::write(&beside, words).expect("a fault is written");
        fs::rename(&beside, self.file()).expect("a fault is planted");
    }

    /// Takes it away.
    pub fn mend(&self) {
        // One that was to happen once may have happened.
        drop(fs::remove_file(self.file()));
    }

    /// Whether it is there still: one that is to happen once goes when it does.
    #[must_use]
    pub fn waits(&self) -> bool {
        self.file().exists()
    }

    fn file(&self) -> PathBuf {
        self.module.with_extension("so.fault")
    }
}

fn built() -> PathBuf {
    let program = std::env::current_exe().expect("the test's own program");
    let folders = program.ancestors().skip(1).take(2);
    let places = folders.flat_map(|folder| {
        ["", "deps"].map(|inner| folder.join(inner).join("libkeywright_fault_module.so"))
    });
    let mut there = places.filter(|path| path.exists());
    there
        .next()
        .expect("the module with faults is built beside the test")
}
