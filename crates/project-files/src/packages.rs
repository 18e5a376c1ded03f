//! Packages of npm whose programs this program runs: where they are looked for, and which programs may not run.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nix::unistd::geteuid;

use crate::repository::read_owner;

/// The name of the folders in which npm installs packages.
const MODULES: &str = "node_modules";

/// The packages of these names in `node_modules` of a folder and of those above it, the nearest first. Only those that belong to this user, to
/// root, or to the owner of the folder, with each folder from `node_modules` on: in a folder that everybody may write in, such as /tmp, anybody
/// could put one above a project. Who asks about packages and who runs them call this with the same names, so that both find the same.
#[must_use]
pub fn find_packages(folder: &Path, names: &[&str]) -> Vec<PathBuf> {
    let owners = [Some(geteuid().as_raw()), Some(0), read_owner(folder)];
    let is_ours = |path: &Path| {
        let link = path.symlink_metadata().ok().map(|meta| meta.uid());
        let found = [link, read_owner(path)];
        found
            .iter()
            .all(|owner| owner.is_some() && owners.contains(owner))
    };
    let is_whole = |modules: &Path, package: &Path| {
        let mut folders = package.ancestors();
        let inner = package.components().count() - modules.components().count();
        folders.by_ref().take(inner + 1).all(is_ours)
    };
    folder
        .ancestors()
        .map(|above| above.join(MODULES))
        .flat_map(|modules| {
            let packages = names.iter().map(|name| modules.join(name));
            packages
                .filter(|package| is_whole(&modules, package))
                .collect::<Vec<_>>()
        })
        .collect()
}

/// The folder in which npm has installed a path: the outermost `node_modules`, as some package managers keep each package in
/// one of its own there.
#[must_use]
pub fn find_modules_folder(path: &Path) -> Option<&Path> {
    let above = path.ancestors();
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
        let names = [Some(path), real.as_deref()].into_iter().flatten();
        // The files of a package may be beside it, behind a link, and so may what calls it.
        let places = names.flat_map(|name| [Some(name), find_modules_folder(name)]);
        Self {
            places: places.flatten().map(Path::to_path_buf).collect(),
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

    /// An archive that root unpacks keeps the owners that it names.
    #[test]
    fn gw_109_each_folder_of_a_package_belongs_to_somebody_who_counts() {
        let folder = tempfile::tempdir().unwrap();
        let leaf = folder.path().join("node_modules/@scope/leaf");
        let found = || find_packages(folder.path(), &["@scope/leaf"]).len();
        std::fs::create_dir_all(&leaf).unwrap();
        assert_eq!(found(), 1);

        for above in ["node_modules/@scope", "node_modules"] {
            let above = folder.path().join(above);
            let give = |owner: u32| std::os::unix::fs::chown(&above, Some(owner), None);
            if give(12_345).is_ok() {
                assert_eq!(found(), 0, "{}", above.display());
                give(0).unwrap();
            }
        }
        assert_eq!(found(), 1);
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
        // The package is a link out of its folder: what stands beside it there is refused all the same.
        std::fs::create_dir(root.join("vendor")).unwrap();
        symlink("../vendor", root.join("node_modules/vendored")).unwrap();
        std::fs::create_dir(root.join("node_modules/.bin")).unwrap();
        std::fs::write(root.join("node_modules/.bin/vendored"), "").unwrap();
        let refused = RefusedProgram::new(&root.join("node_modules/vendored"), "why".to_owned());
        assert_eq!(
            refused.explain(&root.join("node_modules/.bin/vendored")),
            Some("why")
        );
    }
}
