//! Embeds the built browser half, `console/dist`, into the binary. Without a build the list of files is empty, so that the
//! crate compiles on a machine that has only Rust; the page then says how to build it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    let dist = root.join("console/dist");
    println!("cargo::rerun-if-changed=build.rs");
    // A path that is not there would make cargo run this script at every build. The build of console/ touches this file, so
    // that the first build of the page is noticed, too.
    if dist.is_dir() {
        println!("cargo::rerun-if-changed={}", dist.display());
    }
    let mut files = Vec::new();
    if dist.is_dir() {
        collect(&dist, &dist, &mut files);
    }
    files.sort();
    let mut source = String::from("pub(super) static FILES: &[EmbeddedFile] = &[\n");
    for (name, path, is_brotli) in files {
        writeln!(
            source,
            "    EmbeddedFile {{ name: {name:?}, is_brotli: {is_brotli}, content: include_bytes!({:?}) }},",
            path.display().to_string()
        )
        .expect("writing to a string");
    }
    source.push_str("];\n");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it")).join("files.rs");
    std::fs::write(out, source).expect("the folder of build results is writable");
}

/// Adds the files below `folder`: the brotli form where `tools/compress.mjs` has made one, else the file itself.
fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, PathBuf, bool)>) {
    for entry in std::fs::read_dir(folder).expect("console/dist is readable") {
        let path = entry.expect("console/dist is readable").path();
        if path.is_dir() {
            collect(root, &path, files);
            continue;
        }
        let name = path
            .strip_prefix(root)
            .expect("below the root")
            .display()
            .to_string();
        let is_left_out = [".br", ".gz", ".map"].iter().any(|ending| name.ends_with(ending));
        if is_left_out {
            continue;
        }
        let brotli = path.with_file_name(format!("{}.br", path.file_name().unwrap_or_default().display()));
        let path = path.canonicalize().expect("the file is there");
        match brotli.canonicalize() {
            Ok(brotli) => files.push((name, brotli, true)),
            Err(_) => files.push((name, path, false)),
        }
    }
}
