//! Programs, files and folders of this machine that a project may name. Programs run with the rights of whoever calls a command, and what
//! files and folders hold is served, mailed or run, so who named them matters.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Stands for a key where a program came with the project as a package of npm.
const PACKAGES: &str = "a package that may have come with the project";
/// Stands for a key where a link leads out of the project.
const LINK: &str = "a link";
/// The key with PostgreSQL's programs.
const POSTGRESQL: &str = "selvedge.pg_bin";
/// The key with the program that runs functions.
const DENO: &str = "selvedge.functions.deno";
/// The key with folders that functions import modules from.
const MODULE_FOLDERS: &str = "selvedge.functions.module_folders";
/// The keys whose values are programs or folders of modules, and what stands for one.
const PROGRAMS: [&str; 4] = [POSTGRESQL, DENO, MODULE_FOLDERS, PACKAGES];

/// A program, file or folder, with what names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedPath {
    /// The key of `config.toml`: `selvedge.pg_bin`.
    key: String,
    path: PathBuf,
    /// For a link in the project: its own path. `path` is where it leads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    link: Option<PathBuf>,
    /// For a program in the repository, which a change of the project may replace: what tells it from another one at the same path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stamp: Option<String>,
}

impl NamedPath {
    /// The value of a key of `config.toml`.
    pub fn of_key(key: &str, path: &Path) -> Self {
        Self {
            key: key.to_owned(),
            path: path.to_owned(),
            link: None,
            stamp: None,
        }
    }

    /// The same for a program with this stamp.
    pub fn with_stamp(self, stamp: String) -> Self {
        Self {
            stamp: Some(stamp),
            ..self
        }
    }

    /// Programs and module folders that a configuration names, with their keys.
    pub fn list_programs(pg_bin: Option<&Path>, deno: Option<&Path>, modules: &[PathBuf]) -> Vec<Self> {
        let named = [(POSTGRESQL, pg_bin), (DENO, deno)].into_iter();
        let programs = named.filter_map(|(key, path)| Some(Self::of_key(key, path?)));
        programs
            .chain(modules.iter().map(|folder| Self::of_key(MODULE_FOLDERS, folder)))
            .collect()
    }

    /// Packages of npm that may have come with the project.
    pub fn of_packages(path: &Path) -> Self {
        Self::of_key(PACKAGES, path)
    }

    /// A link of the project, and where it leads.
    pub fn of_link(link: &Path, target: &Path) -> Self {
        Self {
            link: Some(link.to_owned()),
            ..Self::of_key(LINK, target)
        }
    }

    /// Whether it is what a link of the project leads to.
    pub fn is_link(&self) -> bool {
        self.link.is_some()
    }

    /// Whether functions may import modules from it.
    pub fn is_module_folder(&self) -> bool {
        self.key == MODULE_FOLDERS
    }

    /// Whether it is run, or its code is: such a path is never taken from a file of the project by root.
    pub fn is_program(&self) -> bool {
        PROGRAMS.contains(&self.key.as_str())
    }

    /// Whether it is the folder of PostgreSQL's programs.
    pub fn is_postgresql(&self) -> bool {
        self.key == POSTGRESQL
    }

    /// Whether it is what functions run in.
    pub fn is_deno(&self) -> bool {
        self.key == DENO
    }

    /// What becomes of it, for people: with this user's rights, or with those of root.
    fn effect(&self, is_root: bool) -> &'static str {
        match (self.is_program(), self.is_module_folder(), is_root) {
            (false, ..) => {
                "is outside of the project, or came with it: what is there would be used with your rights, and be served, mailed or run"
            }
            (true, false, false) => "runs with your rights",
            (true, false, true) => "would run as root",
            (true, true, false) => "is read by functions with your rights",
            (true, true, true) => "would be read by functions as root",
        }
    }

    pub fn key(&self) -> &str {
        &self.key
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What names it, and what becomes of it, for people.
    pub fn explain(&self, is_root: bool) -> String {
        let (shown, effect) = (self.describe(), self.effect(is_root));
        match &self.link {
            Some(_) => format!("{shown} came with this project, and {effect}"),
            None if self.key == PACKAGES => format!("{} is {PACKAGES}, and {effect}", self.path.display()),
            None => format!("{shown} is named by a file of this project, and {effect}"),
        }
    }

    /// Key and value, or link and target, for people.
    pub fn describe(&self) -> String {
        match &self.link {
            Some(link) => format!("the link {} to {}", link.display(), self.path.display()),
            None => format!("{} = {}", self.key, self.path.display()),
        }
    }

    /// How a person says the same without a file of the project: the variable, which each command has, while few have the flag.
    pub fn alternatives(&self) -> String {
        if self.link.is_some() {
            return "put what it leads to into the project, or take the link out".to_owned();
        }
        match self.key.as_str() {
            POSTGRESQL => "SELVEDGE_PG_BIN=DIR".to_owned(),
            DENO => "SELVEDGE_FUNCTIONS_DENO=FILE".to_owned(),
            MODULE_FOLDERS => "SELVEDGE_FUNCTIONS_MODULE_FOLDERS=DIR".to_owned(),
            key => format!("{}PATH", variable_of(key)),
        }
    }
}

/// The variable of the process that overrides a key, up to the path in its value.
fn variable_of(key: &str) -> String {
    if let Some(name) = key.strip_prefix("postgrest.") {
        return format!("PGRST_{}=@", name.replace(['.', '-'], "_").to_ascii_uppercase());
    }
    let name = key.replace(['.', '-'], "_").to_ascii_uppercase();
    match key.starts_with("selvedge.") {
        true => format!("{name}="),
        false => format!("SUPABASE_{name}="),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_109_who_is_asked_to_trust_a_path_learns_the_variable_that_names_it() {
        let alternatives = |key: &str| NamedPath::of_key(key, Path::new("/x")).alternatives();

        assert_eq!(alternatives("selvedge.site"), "SELVEDGE_SITE=PATH");
        assert_eq!(alternatives("postgrest.jwt-secret"), "PGRST_JWT_SECRET=@PATH");
        assert_eq!(
            alternatives("storage.buckets.my-files.objects_path"),
            "SUPABASE_STORAGE_BUCKETS_MY_FILES_OBJECTS_PATH=PATH"
        );
        assert_eq!(alternatives("selvedge.pg_bin"), "SELVEDGE_PG_BIN=DIR");
    }

    #[test]
    fn gw_109_records_of_older_versions_are_read() {
        let older = r#"{"key": "selvedge.pg_bin", "path": "/opt/pg"}"#;

        let read: NamedPath = serde_json::from_str(older).unwrap();

        assert_eq!(read, NamedPath::of_key("selvedge.pg_bin", Path::new("/opt/pg")));
    }
}
