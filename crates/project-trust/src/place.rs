//! Where the files of a project may be: in its repository. Everything else is somebody's own.

use std::path::{Component, Path, PathBuf};

use anyhow::{Result, bail};
use selvedge_config::{Config, Project};
use selvedge_project_files::{find_repository, is_data_folder, is_private_path, resolve};

/// The folders that hold a project's files, links resolved.
pub(super) struct ProjectPlace {
    roots: [PathBuf; 2],
}

impl ProjectPlace {
    pub(super) fn of(project: &Project) -> Self {
        let repository = resolve(&project.repository);
        Self {
            roots: [find_repository(&repository), resolve(&project.folder)],
        }
    }

    /// Files and folders of a project, links resolved, that hold passwords, keys and data: nothing that a file of the project names may hand
    /// them out, although they are inside.
    pub(super) fn list_secrets(&self, config: &Config) -> Vec<PathBuf> {
        let folder = &config.project.folder;
        let tls = config.api.tls.as_ref().map(|tls| tls.key.clone());
        let named = [
            Some(config.selvedge.data_dir.clone()),
            Some(folder.join("config.toml")),
            Some(folder.join(".env")),
            Some(folder.join("signing_keys.json")),
            Some(self.roots[0].join(".git")),
            config.auth.signing_keys_path.clone(),
            tls,
        ];
        let environment = config.environment_files.iter().cloned();
        named
            .into_iter()
            .flatten()
            .chain(environment)
            .map(|path| find_place(&path).unwrap_or(path))
            .collect()
    }

    /// The path itself, or the folder around it, when it is something in the project's repository that by its name or content holds
    /// passwords, keys or data. Links resolved.
    pub(super) fn find_private(&self, path: &Path) -> Option<PathBuf> {
        let inner = self.roots.iter().find_map(|root| path.strip_prefix(root).ok())?;
        if is_private_path(inner) {
            return Some(path.to_owned());
        }
        let above = inner.components().count();
        let mut folders = path.ancestors().take(above);
        folders
            .find(|folder| is_data_folder(folder))
            .map(Path::to_path_buf)
    }

    /// Where a path leads when that is outside of the project; `None` when it is inside. A link that leads nowhere is outside, because
    /// what it leads to may be made at any time.
    pub(super) fn leads_out(&self, path: &Path) -> Option<PathBuf> {
        match find_place(path) {
            Some(place) if self.roots.iter().any(|root| place.starts_with(root)) => None,
            Some(place) => Some(place),
            None => Some(path.to_owned()),
        }
    }

    /// Whether the path itself, before any link is followed, is one of the project.
    pub(super) fn has_name(&self, path: &Path) -> bool {
        let climbs = path.components().any(|part| part == Component::ParentDir);
        !climbs && self.roots.iter().any(|root| path.starts_with(root))
    }
}

/// A path with the links in it resolved; its last parts need not exist. `None` when a link leads nowhere, or when `..` follows a part that
/// does not exist, so that nobody can say where it will lead.
pub(super) fn find_place(path: &Path) -> Option<PathBuf> {
    let existing = path.ancestors().find(|path| path.symlink_metadata().is_ok())?;
    let rest = path.strip_prefix(existing).ok()?;
    let is_plain = rest
        .components()
        .all(|component| matches!(component, Component::Normal(_)));
    let place = existing.canonicalize().ok().filter(|_| is_plain)?;
    // The parts one by one, as joining none of them would add a slash.
    Some(place.components().chain(rest.components()).collect())
}

/// Checks that what is written at a path of the project stays in it, or in the repository that holds it: a project of a stranger may
/// bring `functions`, `migrations` or a file as a link to somebody's own.
///
/// # Errors
/// When a link in the path leads out of the project and its repository, or its target does not exist.
pub fn check_place(project: &Project, path: &Path) -> Result<()> {
    match ProjectPlace::of(project).leads_out(path) {
        None => Ok(()),
        Some(place) if place == path => bail!(
            "{} is a link that leads nowhere, or outside of the project: nothing was written there",
            path.display()
        ),
        Some(place) => bail!(
            "{} leads out of the project by a link, to {}: nothing was written there",
            path.display(),
            place.display()
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A project in a clone, with links to a folder of the clone, to somebody else's, and to nothing.
    fn make_project(root: &Path) -> Project {
        let folder = root.join("clone/app/supabase");
        for name in [
            "clone/app/supabase/functions",
            "clone/.git",
            "clone/shared",
            "victim",
        ] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        for (target, name) in [
            ("clone/shared", "migrations"),
            ("victim", "tests"),
            ("nowhere", ".temp"),
        ] {
            symlink(root.join(target), folder.join(name)).unwrap();
        }
        Project::find(Some(&folder), root).unwrap()
    }

    #[test]
    fn gw_109_links_may_lead_to_places_in_the_repository_alone() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let project = make_project(&root);
        let check = |name: &str| check_place(&project, &project.folder.join(name)).is_ok();

        let allowed = ["functions/new/index.ts", "migrations/new.sql", "config.toml"].map(check);
        let refused = [
            "tests/new.sql",
            "tests",
            ".temp/database-url",
            "../../../victim/file",
            // The part that is missing may be made later.
            "missing/../../../../victim/file",
        ]
        .map(check);

        assert_eq!((allowed, refused), ([true; 3], [false; 5]));
    }
}
