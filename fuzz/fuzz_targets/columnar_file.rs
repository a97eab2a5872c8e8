//! Whole Parquet and Arrow files: protected and revealed, in a folder of this process.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use keywright_protect::{ColumnKey, Keys};
use keywright_secret::Secret;

static SCENE: LazyLock<(PathBuf, Keys)> = LazyLock::new(|| {
    let folder = std::env::temp_dir().join(format!("keywright-columnar-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder for the files");
    let key = ColumnKey::without_id(1, Secret::from_fill(|key| key.fill(9)));
    (folder, Keys::none().with_unnamed(key.expect("a key")))
});

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    // What the libraries answer with a panic is taken for damage; the fuzzer would take it for its own.
    std::panic::set_hook(Box::new(|_| {}));
    keywright_columnar::fuzzing::file(&SCENE.0, data, &SCENE.1);
});
