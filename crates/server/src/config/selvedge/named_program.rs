//! Programs and folders of this machine that `config.toml` may name. Programs run with the rights of whoever calls a command, and
//! functions read the folders with them, so who named them matters.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Stands for a key where a program came with the project as a package of npm.
const PACKAGES: &str = "a package in version control";
/// The key with folders that functions import modules from.
const MODULE_FOLDERS: &str = "selvedge.functions.module_folders";
/// The keys whose values are programs, with the flag and the variable that name them otherwise.
const KEYS: [(&str, &str); 4] = [
    ("selvedge.pg_bin", "--pg-bin DIR, or SELVEDGE_PG_BIN=DIR"),
    (
        "selvedge.functions.deno",
        "--deno-bin FILE, or SELVEDGE_FUNCTIONS_DENO=FILE",
    ),
    (MODULE_FOLDERS, "SELVEDGE_FUNCTIONS_MODULE_FOLDERS=DIR"),
    (
        PACKAGES,
        "--pg-bin DIR and --deno-bin FILE, after these packages are out of version control (git rm -r --cached)",
    ),
];

/// A program, or a folder of programs or modules, with the key that names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NamedProgram {
    /// The key of `config.toml`: `selvedge.pg_bin`.
    key: String,
    path: PathBuf,
}

impl NamedProgram {
    /// The programs that a configuration names, with their keys.
    pub(crate) fn list(pg_bin: Option<&Path>, deno: Option<&Path>) -> Vec<Self> {
        let named = KEYS.iter().zip([pg_bin, deno]);
        named
            .filter_map(|((key, _), path)| {
                Some(Self {
                    key: (*key).to_owned(),
                    path: path?.to_owned(),
                })
            })
            .collect()
    }

    /// Packages of npm that version control tracks.
    pub(crate) fn of_packages(path: &Path) -> Self {
        Self {
            key: PACKAGES.to_owned(),
            path: path.to_owned(),
        }
    }

    /// A folder that functions may import modules from.
    pub(crate) fn of_modules(path: &Path) -> Self {
        Self {
            key: MODULE_FOLDERS.to_owned(),
            path: path.to_owned(),
        }
    }

    /// What becomes of it, for people: with this user's rights, or with those of root.
    pub(crate) fn effect(&self, is_root: bool) -> &'static str {
        match (self.key == MODULE_FOLDERS, is_root) {
            (false, false) => "runs with your rights",
            (false, true) => "would run as root",
            (true, false) => "is read by functions with your rights",
            (true, true) => "would be read by functions as root",
        }
    }

    pub(crate) fn key(&self) -> &str {
        &self.key
    }

    /// Key and value, for people.
    pub(crate) fn describe(&self) -> String {
        format!("{} = {}", self.key, self.path.display())
    }

    /// The flag and the variable by which a person names it.
    pub(crate) fn alternatives(&self) -> &'static str {
        KEYS.iter()
            .find(|(key, _)| *key == self.key)
            .map_or("", |(_, alternatives)| *alternatives)
    }
}
