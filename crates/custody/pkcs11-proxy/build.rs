//! Keeps what other crates export out of the module: an application sees the functions of the standard alone,
//! whatever features the build turns on in the libraries below.

fn main() {
    println!("cargo::rustc-cdylib-link-arg=-Wl,--exclude-libs,ALL");
    println!("cargo::rerun-if-changed=build.rs");
}
