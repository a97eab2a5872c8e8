//! Gives the shared library the name under which programs ask for it at run time.

#[expect(
    clippy::disallowed_methods,
    reason = "cargo tells a build script about the target by its environment"
)]
fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let system = std::env::var_os("CARGO_CFG_TARGET_OS").unwrap_or_default();
    if system == "linux" {
        println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libfpe.so.0");
    }
}
