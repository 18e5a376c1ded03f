//! Packages of npm whose programs this program runs: where they are looked for, and which programs may not run.

use std::path::{Path, PathBuf};

use nix::unistd::geteuid;

use crate::repository::read_owner;

/// The name of the folders in which npm installs packages.
const MODULES: &str = "node_modules";

/// The packages of these names in `node_modules` of a folder and of those above it, the nearest first. Only those that belong to this user, to
/// root, or to the owner of the folder: in a folder that everybody may write in, such as /tmp, anybody could put one above a project.
#[must_use]
pub fn find_packages(folder: &Path, names: &[&str]) -> Vec<PathBuf> {
    let owners = [Some(geteuid().as_raw()), Some(0), read_owner(folder)];
    let is_ours = |package: &PathBuf| {
        let link = package.symlink_metadata().ok();
        let link = link.map(|meta| std::os::unix::fs::MetadataExt::uid(&meta));
        let found = [link, read_owner(package)];
        found
            .iter()
            .all(|owner| owner.is_some() && owners.contains(owner))
    };
    folder
        .ancestors()
        .flat_map(|above| names.iter().map(|name| above.join(MODULES).join(name)))
        .filter(is_ours)
        .collect()
}

/// The folder in which npm has installed a path, links resolved: the outermost `node_modules`, as some package managers keep each package in
/// one of its own there.
#[must_use]
pub fn find_modules_folder(real: &Path) -> Option<&Path> {
    let above = real.ancestors();
    above.filter(|folder| folder.ends_with(MODULES)).last()
}

/// A program, or a folder or package with programs, that may not run, because a stranger may have brought it with the project.
#[derive(Debug, Clone)]
pub struct RefusedProgram {
    places: Vec<PathBuf>,
    reason: String,
}

impl RefusedProgram {
    /// `reason` says for people why, and what to do.
    #[must_use]
    pub fn new(path: &Path, reason: String) -> Self {
        let real = path.canonicalize().ok();
        // The files of a package may be beside it, behind a link.
        let modules = real.as_deref().and_then(find_modules_folder);
        let places = [
            Some(path.to_owned()),
            modules.map(Path::to_path_buf),
            real.clone(),
        ];
        Self {
            places: places.into_iter().flatten().collect(),
            reason,
        }
    }

    /// Why the program at this path may not run; `None` when it may, as far as this refusal says.
    #[must_use]
    pub fn explain(&self, program: &Path) -> Option<&str> {
        let real = program.canonicalize().ok();
        let mut names = [Some(program), real.as_deref()].into_iter().flatten();
        let is_refused = names.any(|name| self.places.iter().any(|place| name.starts_with(place)));
        is_refused.then_some(self.reason.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn gw_109_the_nearest_package_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for package in ["a/node_modules/b", "node_modules/a", "node_modules/b"] {
            std::fs::create_dir_all(root.join(package)).unwrap();
        }

        let found = find_packages(&root.join("a"), &["a", "b"]);

        let names = ["a/node_modules/b", "node_modules/a", "node_modules/b"];
        assert_eq!(found, names.map(|name| root.join(name)));
    }

    /// Only root can give a folder to somebody else.
    #[test]
    fn gw_109_packages_of_other_users_are_not_found() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("shop");
        let package = folder.path().join("node_modules/deno");
        std::fs::create_dir_all(&project).unwrap();
        std::fs::create_dir_all(&package).unwrap();
        let give = |path: &Path| std::os::unix::fs::chown(path, Some(12_345), None);
        assert_eq!(find_packages(&project, &["deno"]).len(), 1);

        if give(&package).is_ok() {
            assert_eq!(find_packages(&project, &["deno"]), [] as [PathBuf; 0]);
            // The owner of the project has installed it.
            give(&project).unwrap();
            assert_eq!(find_packages(&project, &["deno"]).len(), 1);
        }
    }

    #[test]
    fn gw_109_a_refused_package_is_refused_behind_links_as_well() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let stored = root.join("node_modules/.pnpm/deno@2/node_modules/deno");
        std::fs::create_dir_all(&stored).unwrap();
        std::fs::write(stored.join("deno"), "").unwrap();
        symlink(".pnpm/deno@2/node_modules/deno", root.join("node_modules/deno")).unwrap();
        std::fs::write(root.join("deno"), "").unwrap();
        symlink(stored.join("deno"), root.join("link")).unwrap();

        let refused = RefusedProgram::new(&root.join("node_modules/deno"), "why".to_owned());

        for program in [
            stored.join("deno"),
            root.join("node_modules/deno/deno"),
            root.join("link"),
        ] {
            assert_eq!(refused.explain(&program), Some("why"), "{}", program.display());
        }
        assert_eq!(refused.explain(&root.join("deno")), None);
    }
}
