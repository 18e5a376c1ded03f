//! Data folders outside of the project, for projects in folders that the cluster's user cannot enter.
//!
//! State folder and data folder name each other, by the files `location` and `project`. A project that was moved therefore keeps
//! its data, a copied project does not use the original's data, and a new project in the place of a deleted one starts empty.

use std::{
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};

use super::{
    error::ClusterError,
    own_file::{read_own_text, write_private},
    production_mark::is_production_home,
};

/// The file in the state folder that names the data folder.
const LOCATION: &str = "location";
/// The file in the data folder that names the state folder.
const PROJECT: &str = "project";

/// Where the project's data folder is, without a change of any file; the state folder if none is named.
pub(crate) fn peek(state_dir: &Path) -> PathBuf {
    if is_production_home(state_dir) {
        return state_dir.to_owned();
    }
    read_path(&state_dir.join(LOCATION)).unwrap_or_else(|| state_dir.to_owned())
}

/// Forgets a data folder that does not exist any more.
pub(crate) fn forget_missing(state_dir: &Path) -> io::Result<()> {
    let named = state_dir.join(LOCATION);
    match read_path(&named) {
        Some(home) if !home.is_dir() => std::fs::remove_file(named),
        _ => Ok(()),
    }
}

/// Returns the project's data folder outside of the project; `None` when it has none, or is a copy of the project that uses it.
///
/// # Errors
/// [`ClusterError::DataMissing`] when the folder does not exist, for example because its disk is not mounted.
pub(crate) fn find(state_dir: &Path) -> Result<Option<PathBuf>, ClusterError> {
    let named = state_dir.join(LOCATION);
    let Some(home) = read_path(&named) else {
        return Ok(None);
    };
    let state = state_dir.canonicalize().map_err(ClusterError::file(state_dir))?;
    if !home.is_dir() {
        return Err(ClusterError::DataMissing {
            evidence: named,
            data_dir: home.join("pgdata"),
        });
    }
    match read_path(&home.join(PROJECT)) {
        Some(project) if project == state => {}
        // The state folder was copied: the original project still uses the data.
        Some(project) if is_in_use(&home, &project) => return Ok(None),
        // The project was moved. A failed write is repeated at the next start.
        Some(project) if project.is_absolute() => {
            let _ = write_path(&home.join(PROJECT), &state);
        }
        // A folder that never was a project's data is not one because a file names it.
        _ => {
            return Err(ClusterError::DataMissing {
                evidence: named,
                data_dir: home.join("pgdata"),
            });
        }
    }
    Ok(Some(home))
}

/// Creates a data folder below `parent`.
pub(crate) fn create(parent: &Path, state_dir: &Path) -> io::Result<PathBuf> {
    let state = state_dir.canonicalize()?;
    let name = &hex::encode(Sha256::digest(state.as_os_str().as_encoded_bytes()))[..16];
    create_folder(parent)?;
    // The name may be in use for the data of a project that was in the same place before and was moved or deleted.
    let home = (0..)
        .map(|number| match number {
            0 => parent.join(name),
            number => parent.join(format!("{name}-{number}")),
        })
        .find(|home| !home.exists())
        .unwrap_or_else(|| parent.join(name));
    create_folder(&home)?;
    write_path(&home.join(PROJECT), &state)?;
    write_path(&state.join(LOCATION), &home)?;
    Ok(home)
}

/// Lists the data folders below `parent` whose projects do not exist any more, with the state folders that they name.
pub(crate) fn find_abandoned(parent: &Path) -> Vec<(PathBuf, PathBuf)> {
    let entries = std::fs::read_dir(parent).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| Some((entry.path(), read_path(&entry.path().join(PROJECT))?)))
        .filter(|(home, project)| !is_in_use(home, project))
        .collect()
}

/// Whether the state folder `project` names this data folder as its own.
fn is_in_use(home: &Path, project: &Path) -> bool {
    read_path(&project.join(LOCATION)).is_some_and(|location| location == home)
}

fn read_path(file: &Path) -> Option<PathBuf> {
    let text = read_own_text(file).ok()?;
    Some(PathBuf::from(text.trim_end_matches('\n')))
}

fn write_path(file: &Path, path: &Path) -> io::Result<()> {
    write_private(file, &format!("{}\n", path.display())).map_err(io::Error::other)
}

fn create_folder(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    // Set explicitly, because a strict umask would keep the cluster's user out.
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o755))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder for data, and one for projects.
    fn folders() -> (tempfile::TempDir, PathBuf, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("it exists");
        let (parent, projects) = (root.join("data"), root.join("projects"));
        std::fs::create_dir_all(projects.join("one")).expect("created");
        (folder, parent, projects)
    }

    fn found(state_dir: &Path) -> Option<PathBuf> {
        find(state_dir).expect("its folder exists")
    }

    #[test]
    fn a_moved_project_keeps_its_data_and_copies_get_their_own() {
        let (_folder, parent, projects) = folders();
        let one = projects.join("one");
        assert_eq!(found(&one), None);
        let home = create(&parent, &one).expect("created");
        assert_eq!(found(&one), Some(home.clone()));

        let copy = projects.join("copy");
        std::fs::create_dir(&copy).expect("created");
        std::fs::copy(one.join(LOCATION), copy.join(LOCATION)).expect("copied");
        assert_eq!(found(&copy), None);
        assert_ne!(create(&parent, &copy).expect("created"), home);

        let moved = projects.join("moved");
        std::fs::rename(&one, &moved).expect("moved");
        assert_eq!(found(&moved), Some(home.clone()));
        std::fs::create_dir(&one).expect("created");
        let successor = create(&parent, &one).expect("created");
        assert_ne!(successor, home);
        assert_eq!(find_abandoned(&parent), []);

        std::fs::remove_dir_all(&one).expect("deleted");
        assert_eq!(find_abandoned(&parent), [(successor, one)]);
    }

    #[test]
    fn gw_109_a_folder_that_names_no_project_is_not_used_as_its_data() {
        let (_folder, parent, projects) = folders();
        let (one, documents) = (projects.join("one"), parent.join("documents"));
        std::fs::create_dir_all(documents.join("pgdata")).expect("created");
        write_path(&one.join(LOCATION), &documents).expect("written");

        assert!(matches!(find(&one), Err(ClusterError::DataMissing { .. })));
        assert!(!documents.join(PROJECT).exists());
    }
}
