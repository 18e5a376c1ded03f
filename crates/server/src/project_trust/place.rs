//! Refuses to write through links that lead out of a project.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::config::Project;

/// Checks that what is written at a path of the project stays in it, or in the repository of Git that holds it: a project of a stranger may
/// bring `functions`, `migrations` or a file as a link to somebody's own.
///
/// # Errors
/// When a link on the way leads elsewhere, or nowhere.
pub(crate) fn check_place(project: &Project, path: &Path) -> Result<()> {
    let holder = project
        .repository
        .ancestors()
        .find(|folder| folder.join(".git").exists());
    let holder = holder.unwrap_or(&project.repository);
    // A project that is made by this command has no folder yet.
    let real = |path: &Path| {
        let there = path.ancestors().find(|path| path.symlink_metadata().is_ok());
        there.map(Path::canonicalize).transpose()
    };
    let explain = || format!("{} is a link that leads nowhere", path.display());
    let (Some(place), Some(holder_place)) = (
        real(path).with_context(explain)?,
        real(holder).with_context(explain)?,
    ) else {
        return Ok(());
    };
    if !place.starts_with(&holder_place) {
        bail!(
            "{} leads out of the project by a link, to {}: nothing was written there",
            path.display(),
            place.display()
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn gw_109_links_may_lead_to_places_in_the_repository_alone() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let folder = root.join("clone/app/supabase");
        std::fs::create_dir_all(folder.join("functions")).unwrap();
        std::fs::create_dir_all(root.join("clone/.git")).unwrap();
        std::fs::create_dir_all(root.join("clone/shared")).unwrap();
        std::fs::create_dir_all(root.join("victim")).unwrap();
        for (target, name) in [
            ("clone/shared", "migrations"),
            ("victim", "tests"),
            ("nowhere", ".temp"),
        ] {
            symlink(root.join(target), folder.join(name)).unwrap();
        }
        let project = Project::find(Some(&folder), &root).unwrap();
        let check = |name: &str| check_place(&project, &folder.join(name)).is_ok();

        let allowed = ["functions/new/index.ts", "migrations/new.sql", "config.toml"].map(check);
        let refused = [
            "tests/new.sql",
            "tests",
            ".temp/database-url",
            "../../../victim/file",
        ]
        .map(check);

        assert_eq!((allowed, refused), ([true; 3], [false; 4]));
    }
}
