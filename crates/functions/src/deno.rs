//! Finds the Deno program: the given one, the machine's, or the npm package `deno` of the project.

use std::fs;
use std::path::{Path, PathBuf};

use crate::config::DenoSearch;

/// The error text when Deno is missing.
const HOW_TO_INSTALL: &str = "Edge functions need Deno 2, which this machine does not have. Install it with \
                              `npm install --save-dev deno`, or name it with --deno-bin.";

/// Finds the program.
///
/// # Errors
/// A text for the user that says how to install it.
pub(crate) fn find_deno(search: &DenoSearch) -> Result<PathBuf, String> {
    if let Some(given) = &search.given {
        return if given.is_file() {
            Ok(given.clone())
        } else {
            Err(format!("There is no Deno at {}.", given.display()))
        };
    }
    let on_path = search.path.iter().flat_map(std::env::split_paths);
    let on_path = on_path.map(|folder| folder.join("deno"));
    let in_packages = search
        .folders
        .iter()
        .flat_map(|folder| folder.ancestors())
        .filter_map(|folder| find_npm_binary(&folder.join("node_modules")));
    on_path
        .filter_map(|path| resolve_program(&path))
        .chain(in_packages)
        .next()
        .ok_or_else(|| HOW_TO_INSTALL.to_owned())
}

/// The program behind a path. The npm package puts a Node script there, which would run Deno as a second process that
/// outlives it when it is killed; the program itself is beside the script.
fn resolve_program(path: &Path) -> Option<PathBuf> {
    let path = fs::canonicalize(path).ok().filter(|path| path.is_file())?;
    if !is_script(&path) {
        return Some(path);
    }
    path.ancestors()
        .filter(|folder| folder.file_name().is_some_and(|name| name == "node_modules"))
        .find_map(find_npm_binary)
}

fn is_script(path: &Path) -> bool {
    let mut start = [0_u8; 2];
    let read = fs::File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut start));
    read.is_ok() && start == *b"#!"
}

/// The program in `node_modules`: the package `deno` has it once its install script ran, the package of the platform
/// always does.
fn find_npm_binary(modules: &Path) -> Option<PathBuf> {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    let platform = match std::env::consts::OS {
        "macos" => format!("darwin-{architecture}"),
        "windows" => format!("win32-{architecture}"),
        _ => format!("linux-{architecture}-glibc"),
    };
    [
        modules.join("@deno").join(platform).join("deno"),
        modules.join("deno").join("deno"),
    ]
    .into_iter()
    .find(|path| path.is_file() && !is_script(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_044_deno_is_found_in_node_modules_upward_or_a_text_says_how_to_get_it() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("app/supabase");
        fs::create_dir_all(&project).unwrap();
        let search = DenoSearch {
            given: None,
            path: Some(String::new()),
            folders: vec![project],
        };

        let missing = find_deno(&search).unwrap_err();
        let package = folder.path().join("node_modules/deno");
        fs::create_dir_all(&package).unwrap();
        fs::write(package.join("deno"), "\u{7f}ELF").unwrap();

        assert!(missing.contains("npm install --save-dev deno"), "{missing}");
        assert_eq!(find_deno(&search).unwrap(), package.join("deno"));
    }

    #[test]
    fn gw_044_the_node_script_of_the_npm_package_is_replaced_by_its_program() {
        let folder = tempfile::tempdir().unwrap();
        let modules = folder.path().canonicalize().unwrap().join("node_modules");
        for package in [
            "deno",
            "bin",
            "@deno/linux-x64-glibc",
            "@deno/linux-arm64-glibc",
            "@deno/darwin-arm64",
        ] {
            fs::create_dir_all(modules.join(package)).unwrap();
            fs::write(modules.join(package).join("deno"), "#!/usr/bin/env node").unwrap();
        }
        let search = DenoSearch {
            path: Some(modules.join("bin").display().to_string()),
            ..DenoSearch::default()
        };

        let only_scripts = find_deno(&search);
        fs::write(modules.join("deno/deno"), "program").unwrap();

        assert!(only_scripts.is_err());
        assert_eq!(find_deno(&search).unwrap(), modules.join("deno/deno"));
    }
}
