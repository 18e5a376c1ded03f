//! Which folder a project's repository is.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nix::unistd::User;

/// What the folder of a whole repository has, in which several projects may share modules.
const REPOSITORY_MARKS: [&str; 4] = [".git", ".hg", ".jj", "pnpm-workspace.yaml"];
/// What a folder with packages has, where a deployment has left version control out.
const PACKAGE_SETTINGS: [&str; 3] = ["package.json", "deno.json", "deno.jsonc"];

/// The nearest folder upward that is a repository. A deployment may leave `.git` out: then the highest one that has settings of npm or
/// Deno; the given one when none is. It is below the root of the file system and below the home of this user and of the folder's owner: who
/// keeps settings of programs in a repository there has not made all that is in it part of every project.
#[must_use]
pub fn find_repository(folder: &Path) -> PathBuf {
    find_below(folder, &list_homes(folder))
}

/// Whether a folder is part of a Git repository that its owner or root has made, whatever else is nearer. Also of one that is a whole home: who
/// asks looks up what that repository tracks.
#[must_use]
pub fn is_in_git_repository(folder: &Path) -> bool {
    let owner = read_owner(folder);
    let mut candidates = list_candidates(folder, &[]).into_iter();
    candidates.any(|above| has_mark(above, &[".git"], owner))
}

fn list_homes(folder: &Path) -> Vec<PathBuf> {
    let owner = read_owner(folder).and_then(|owner| User::from_uid(owner.into()).ok().flatten());
    let homes = [std::env::home_dir(), owner.map(|owner| owner.dir)];
    homes.into_iter().flatten().collect()
}

/// The folder and those above it, up to a home or the root of the file system, neither of which counts as a repository.
fn list_candidates<'a>(folder: &'a Path, homes: &[PathBuf]) -> Vec<&'a Path> {
    let upward = folder.ancestors();
    upward
        .take_while(|folder| folder.parent().is_some() && !homes.iter().any(|home| home == folder))
        .collect()
}

/// Whether a folder has a file or folder of one of these names that `owner` or root has made. Another user could put one above
/// a project, such as /tmp/.git.
fn has_mark(folder: &Path, names: &[&str], owner: Option<u32>) -> bool {
    let mut owners = names.iter().filter_map(|name| read_owner(&folder.join(name)));
    owners.any(|found| Some(found) == owner || found == 0)
}

fn find_below(folder: &Path, homes: &[PathBuf]) -> PathBuf {
    let owner = read_owner(folder);
    let candidates = list_candidates(folder, homes);
    let nearest = candidates
        .iter()
        .find(|above| has_mark(above, &REPOSITORY_MARKS, owner));
    let highest = || {
        let mut downward = candidates.iter().rev();
        downward.find(|above| has_mark(above, &PACKAGE_SETTINGS, owner))
    };
    nearest
        .or_else(highest)
        .map_or_else(|| folder.to_path_buf(), |found| found.to_path_buf())
}

/// The path with links resolved, as far as it exists.
#[must_use]
pub fn resolve(path: &Path) -> PathBuf {
    if let Ok(resolved) = path.canonicalize() {
        return resolved;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => resolve(parent).join(name),
        _ => path.to_path_buf(),
    }
}

pub(crate) fn read_owner(path: &Path) -> Option<u32> {
    fs::metadata(path).ok().map(|metadata| metadata.uid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_040_the_repository_is_the_nearest_folder_under_version_control() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("apps/shop");
        fs::create_dir_all(&project).unwrap();

        let alone = find_repository(&project);
        fs::create_dir(folder.path().join(".git")).unwrap();
        let shared = find_repository(&project);

        assert_eq!(
            (alone.as_path(), shared.as_path()),
            (project.as_path(), folder.path())
        );
    }

    #[test]
    fn gw_109_a_workspace_in_a_repository_is_part_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path().join("web");
        fs::create_dir(&workspace).unwrap();
        fs::write(workspace.join("pnpm-workspace.yaml"), "").unwrap();
        assert!(!is_in_git_repository(&workspace));

        fs::create_dir(folder.path().join(".git")).unwrap();

        assert_eq!(find_repository(&workspace), workspace);
        assert!(is_in_git_repository(&workspace));
    }

    #[test]
    fn gw_040_a_repository_of_a_whole_home_holds_no_project() {
        let folder = tempfile::tempdir().unwrap();
        let project = folder.path().join("home/downloads/shop");
        fs::create_dir_all(&project).unwrap();
        for name in [".git", "home/.git"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("home/package.json"), "{}").unwrap();

        let found = find_below(&project, &[folder.path().join("home")]);

        assert_eq!(found, project);
    }
}
