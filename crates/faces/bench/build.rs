//! Tells the program how it is optimised and, where its tree is a checkout, from which commit it is built: results carry
//! both.

use std::path::Path;
use std::process::Command;

#[expect(clippy::disallowed_methods, reason = "cargo tells build scripts so")]
fn main() {
    // Looked at again when the checkout moves to another commit. A tree without git says nothing.
    for file in ["HEAD", "logs/HEAD"] {
        let path = Path::new("../../../.git").join(file);
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
    if let Ok(level) = std::env::var("OPT_LEVEL") {
        println!("cargo::rustc-env=KEYWRIGHT_OPT_LEVEL={level}");
    }
    let described = Command::new("git")
        .args([
            "describe",
            "--always",
            "--dirty",
            "--abbrev=12",
            "--exclude=*",
        ])
        .output();
    let Ok(described) = described else { return };
    let commit = String::from_utf8_lossy(&described.stdout);
    if described.status.success() && !commit.trim().is_empty() {
        println!("cargo::rustc-env=KEYWRIGHT_COMMIT={}", commit.trim());
    }
}
