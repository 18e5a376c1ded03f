//! Which files scripts of a project may include: tests of a stranger could show, or send, what is in any file of whoever runs them.

use std::path::{Path, PathBuf};

use selvedge_config::Config;
use selvedge_project_files::resolve;

use super::outside::list_outside;
use super::place::{ProjectPlace, find_place};

/// Files that scripts may include: those of the project, of links that the user has trusted, and of folders that the user has named. Not its
/// passwords, keys and data.
pub struct ReadableFiles {
    place: ProjectPlace,
    /// Links resolved.
    others: Vec<PathBuf>,
    /// Links resolved.
    secrets: Vec<PathBuf>,
}

impl ReadableFiles {
    /// For a project whose paths have been decided about ([`super::check`]), and files or folders that the user has named.
    pub fn of(config: &Config, named: &[PathBuf]) -> Self {
        let place = ProjectPlace::of(&config.project);
        let trusted = list_outside(config);
        let trusted = trusted.iter().filter(|named| named.is_link());
        let folders = named.iter().map(|path| match path.is_dir() {
            true => resolve(path),
            false => resolve(
                path.parent()
                    .filter(|parent| *parent != Path::new(""))
                    .unwrap_or(Path::new(".")),
            ),
        });
        Self {
            others: trusted.map(|link| resolve(link.path())).chain(folders).collect(),
            secrets: place.list_secrets(config),
            place,
        }
    }

    /// Whether a script may include the file at this path.
    pub fn admits(&self, path: &Path) -> bool {
        let Some(file) = find_place(path) else {
            return false;
        };
        let is_below = |folders: &[PathBuf]| folders.iter().any(|folder| file.starts_with(folder));
        !is_below(&self.secrets) && (self.place.leads_out(path).is_none() || is_below(&self.others))
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use selvedge_config::{Environment, Flags, Project};

    use super::*;

    #[test]
    fn gw_109_scripts_include_files_of_the_project_and_of_folders_that_the_user_names() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        for file in [
            "clone/.git/index",
            "clone/db/helper.sql",
            "clone/supabase/tests/a.sql",
            "clone/supabase/.env",
            "clone/supabase/.selvedge/superuser-password",
            "clone/supabase/config.toml",
            "named/b.sql",
            "victim/dump.sql",
        ] {
            let file = root.join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "").unwrap();
        }
        let folder = root.join("clone/supabase");
        symlink("../../../victim/dump.sql", folder.join("tests/link.sql")).unwrap();
        let project = Project::find(Some(&folder), &root).unwrap();
        let environment: Environment = [("A", "b")].into_iter().collect();
        let mut config = Config::load_project(project, environment, &Flags::default())
            .unwrap()
            .config;
        config.environment_files = vec![folder.join(".env")];
        // As if it had not been asked about, which happens in folders of other names.
        std::fs::rename(folder.join("tests"), folder.join("checks")).unwrap();
        let readable = ReadableFiles::of(&config, &[root.join("named/b.sql")]);
        let admits = |name: &str| readable.admits(&folder.join(name));

        for name in ["checks/a.sql", "../db/helper.sql", "../../named/c.sql"] {
            assert!(admits(name), "{name}");
        }
        for name in [
            "checks/link.sql",
            "checks/../../../victim/dump.sql",
            "missing/../../../victim/dump.sql",
            ".env",
            ".selvedge/superuser-password",
            "config.toml",
            "../.git/index",
        ] {
            assert!(!admits(name), "{name}");
        }
        assert!(!readable.admits(Path::new("/etc/passwd")));
    }
}
