//! The platform schema is compiled into the binary: a new or changed file of it compiles the crate again.

fn main() {
    println!("cargo:rerun-if-changed=../../sql/platform");
}
