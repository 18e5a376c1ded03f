//! Finds the Deno program: the given one, the machine's, or the npm package `deno` of the project.

use std::fs;
use std::path::{Path, PathBuf};

use selvedge_project_files::find_packages;

use crate::config::DenoSearch;

/// The error text when Deno is missing.
const HOW_TO_INSTALL: &str = "Edge functions need Deno 2, which this machine does not have. Install it with \
                              `npm install --save-dev deno`, or name it with --deno-bin.";

/// Why no program is there that may run.
#[derive(Debug)]
pub(crate) enum DenoError {
    /// A text for the user that says how to install it.
    Missing(String),
    /// A text for the operator: a stranger may have brought the one that is there.
    Refused(String),
}

/// Finds the program, which may not run where a refusal is about it.
pub(crate) fn find_deno(search: &DenoSearch) -> Result<PathBuf, DenoError> {
    let found = find_program(search).map_err(DenoError::Missing)?;
    match search.refused.iter().find_map(|refused| refused.explain(&found)) {
        Some(reason) => Err(DenoError::Refused(reason.to_owned())),
        None => Ok(found),
    }
}

/// Why the program that functions would run may not run; `None` where it may, and where none is found.
#[must_use]
pub fn explain_refusal(search: &DenoSearch) -> Option<String> {
    match find_deno(search) {
        Err(DenoError::Refused(reason)) => Some(reason),
        _ => None,
    }
}

fn find_program(search: &DenoSearch) -> Result<PathBuf, String> {
    if let Some(given) = &search.given {
        return if given.is_file() {
            Ok(given.clone())
        } else {
            Err(format!("There is no Deno at {}.", given.display()))
        };
    }
    let on_path = search.path.iter().flat_map(std::env::split_paths);
    let on_path = on_path.map(|folder| folder.join("deno"));
    let [platform, program] = package_names();
    let in_packages = search
        .folders
        .iter()
        .flat_map(|folder| find_packages(folder, &[&platform, &program]))
        .filter_map(|package| find_in_package(&package));
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
        .find_map(|modules| {
            let packages = package_names().map(|name| modules.join(name));
            packages.iter().find_map(|package| find_in_package(package))
        })
}

fn is_script(path: &Path) -> bool {
    let mut start = [0_u8; 2];
    let read = fs::File::open(path).and_then(|mut file| std::io::Read::read_exact(&mut file, &mut start));
    read.is_ok() && start == *b"#!"
}

/// The npm packages that have the program: that of the platform always, and `deno` once its install script ran.
#[must_use]
pub fn package_names() -> [String; 2] {
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
    [format!("@deno/{platform}"), "deno".to_owned()]
}

fn find_in_package(package: &Path) -> Option<PathBuf> {
    Some(package.join("deno")).filter(|path| path.is_file() && !is_script(path))
}

#[cfg(test)]
mod tests {
    use selvedge_project_files::RefusedProgram;

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
            refused: Vec::new(),
        };

        let missing = find_program(&search).unwrap_err();
        let package = folder.path().join("node_modules/deno");
        fs::create_dir_all(&package).unwrap();
        fs::write(package.join("deno"), "\u{7f}ELF").unwrap();

        assert!(missing.contains("npm install --save-dev deno"), "{missing}");
        assert_eq!(find_deno(&search).unwrap(), package.join("deno"));
    }

    #[test]
    fn gw_109_a_refused_program_does_not_run_and_is_no_obstacle_to_another_one() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["node_modules/deno/deno", "bin/deno"] {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "\u{7f}ELF").unwrap();
        }
        let refused = RefusedProgram::new(&root.join("node_modules/deno"), "why".to_owned());
        let search = |path: &str| DenoSearch {
            path: Some(path.to_owned()),
            folders: vec![root.clone()],
            refused: vec![refused.clone()],
            ..DenoSearch::default()
        };

        let alone = find_deno(&search(""));
        // As `npm run` sets it.
        let on_path = find_deno(&search(&root.join("node_modules/deno").display().to_string()));
        let beside = find_deno(&search(&root.join("bin").display().to_string()));

        for found in [alone, on_path] {
            assert!(
                matches!(&found, Err(DenoError::Refused(text)) if text == "why"),
                "{found:?}"
            );
        }
        assert_eq!(beside.unwrap(), root.join("bin/deno"));
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
