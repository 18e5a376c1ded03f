//! Replaces the cluster of a project, with other files that belong to it, as a whole or not at all.
//!
//! New files are written beside the old ones, which stay untouched meanwhile. A journal in the state folder names both
//! places. As long as it says that the new files are incomplete, whoever takes the project's lock next deletes them. Once it
//! says that they are complete, whoever takes the lock next moves them to their places. So a restore that was killed at
//! any point leaves either the old project or the new one.

use std::{
    fs::File,
    io::ErrorKind,
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Component, Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::{
    data_home,
    error::ClusterError,
    lock::ProjectLock,
    lock_holder::LockPurpose,
    own_file::{read_own_text, write_private},
    owner::Owner,
    postmaster, sockets,
};

/// The journal's name in the state folder.
const JOURNAL: &str = "replacement.json";
/// The folder of the new cluster, beside the folder `pgdata` of the old one.
const STAGING: &str = "restoring";
/// The file with the superuser's password, which belongs to one data directory.
const PASSWORD: &str = "superuser-password";

/// What the names of new files and folders end with, which are written beside the old ones.
const NEW: &str = ".restored";
/// What the names of old ones end with until all new ones are in their places.
const OLD: &str = ".replaced";

/// A file or folder that takes the place of another one in the same file system.
#[derive(Debug, Clone)]
struct StagedPath {
    /// Path at which the new version is prepared before it is moved into place.
    staged: PathBuf,
    /// Where the old one is, if there is one.
    target: PathBuf,
}

/// The journal's text. It names files by their names in the state folder only: a state folder may have come from somewhere else, and must
/// not lead to files outside of it.
#[derive(Debug, Serialize, Deserialize)]
struct Journal {
    is_complete: bool,
    /// The names in the state folder that are replaced together with the data directory.
    names: Vec<String>,
}

impl Journal {
    /// What is replaced, and by what.
    ///
    /// # Errors
    /// When a name leads out of the state folder.
    fn paths(&self, state_dir: &Path, home: &Path) -> Result<Vec<StagedPath>, ClusterError> {
        let mut paths = Vec::new();
        for name in &self.names {
            let mut parts = Path::new(name).components();
            let is_name = matches!(parts.next(), Some(Component::Normal(_))) && parts.next().is_none();
            if !is_name || name.contains('/') {
                let reason = std::io::Error::other(format!("{name:?} is no name of a file"));
                return Err(ClusterError::file(&state_dir.join(JOURNAL))(reason));
            }
            let target = state_dir.join(name);
            paths.push(StagedPath {
                staged: with_suffix(&target, NEW),
                target,
            });
        }
        paths.push(StagedPath {
            staged: home.join(STAGING).join("pgdata"),
            target: home.join("pgdata"),
        });
        Ok(paths)
    }
}

/// A cluster that is being written beside the project's own. Dropped before [`Replacement::commit`], it is deleted.
#[derive(Debug)]
pub struct Replacement {
    state_dir: PathBuf,
    journal: Journal,
    /// The folder of the data directory.
    home: PathBuf,
    staging: PathBuf,
    owner: Owner,
    _lock: ProjectLock,
}

impl Replacement {
    /// Takes the project's lock and prepares the folder of the new cluster. `others` are names in the state folder that are replaced
    /// together with it: [`Replacement::staged`] says where the new ones are written.
    ///
    /// # Errors
    /// [`ClusterError::AlreadyRunning`] while the project runs, and what the file system refuses.
    pub fn begin(state_dir: &Path, others: &[&str]) -> Result<Self, ClusterError> {
        let lock = ProjectLock::acquire(state_dir, &LockPurpose::command("restore"), &[])?;
        finish_replacement(state_dir)?;
        // What is restored takes the place of data that are gone.
        data_home::forget_missing(state_dir).map_err(ClusterError::file(state_dir))?;
        let owner = Owner::for_project(state_dir)?;
        let home = owner.data_home(state_dir)?;
        let staging = home.join(STAGING);
        let names = others.iter().chain([&PASSWORD]).map(|name| (*name).to_owned());
        let journal = Journal {
            is_complete: false,
            names: names.collect(),
        };
        let paths = journal.paths(state_dir, &home)?;
        refuse_mount_points(&paths)?;
        let replacement = Self {
            state_dir: state_dir.to_owned(),
            journal,
            home,
            staging,
            owner,
            _lock: lock,
        };
        // Files that an unknown older program left there would be mixed with the new ones.
        delete_staged(&replacement.staging, &paths)?;
        write_journal(state_dir, &replacement.journal)?;
        owner.create_private_dir(&replacement.staging)?;
        Ok(replacement)
    }

    /// The state folder of the new cluster, for a trial start by [`Cluster::start`](super::Cluster::start). The data
    /// directory in it is named `pgdata`.
    #[must_use]
    pub fn staging(&self) -> &Path {
        &self.staging
    }

    /// Where the new version of a file or folder of the state folder is written.
    #[must_use]
    pub fn staged(&self, name: &str) -> PathBuf {
        with_suffix(&self.state_dir.join(name), NEW)
    }

    /// Creates a folder of the new data directory, whose parent exists.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create_dir(&self, relative: &Path) -> Result<(), ClusterError> {
        self.owner.create_private_dir(&self.staging.join(relative))
    }

    /// Creates a file of the new data directory, in a folder that exists.
    ///
    /// # Errors
    /// When it cannot be created, or exists.
    pub fn create_file(&self, relative: &Path) -> Result<File, ClusterError> {
        let path = self.staging.join(relative);
        let file = std::fs::OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)
            .map_err(ClusterError::file(&path))?;
        self.owner.give_ownership_of_file(&file, &path)?;
        Ok(file)
    }

    /// Moves everything to its final place. The new cluster must have been started once and stopped.
    ///
    /// # Errors
    /// Until the journal records that the new files are complete, the old project stays. After that the next start
    /// or restore repeats the steps that failed.
    pub fn commit(mut self) -> Result<(), ClusterError> {
        // The trial start has set a new password for the superuser of the new cluster.
        let password = self.staging.join(PASSWORD);
        let text = std::fs::read_to_string(&password).map_err(ClusterError::file(&password))?;
        write_private(&self.staged(PASSWORD), &text)?;
        for path in &self.journal.paths(&self.state_dir, &self.home)? {
            sync_file_system(&path.staged)?;
        }
        self.journal.is_complete = true;
        write_journal(&self.state_dir, &self.journal)?;
        finish_replacement(&self.state_dir)
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        // A commit removes the journal, and nothing is left to do.
        if !self.journal.is_complete
            && let Err(error) = finish_replacement(&self.state_dir)
        {
            tracing::warn!(%error, "the unfinished restore stays until the next start");
        }
    }
}

/// Completes a replacement that was interrupted after its files were complete, and deletes the files of one that was
/// interrupted earlier. The caller holds the project's lock.
pub(super) fn finish_replacement(state_dir: &Path) -> Result<(), ClusterError> {
    let path = state_dir.join(JOURNAL);
    let text = match read_own_text(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        read => read.map_err(ClusterError::file(&path))?,
    };
    let journal = parse_journal(&text).map_err(|error| ClusterError::file(&path)(error.into()))?;
    let home = Owner::for_project(state_dir)?.data_home(state_dir)?;
    let paths = journal.paths(state_dir, &home)?;
    if journal.is_complete {
        for path in &paths {
            put_in_place(path)?;
        }
        // The old files are deleted only after all new ones are in their places.
        for path in &paths {
            delete(&with_suffix(&path.target, OLD))?;
        }
    }
    delete_staged(&home.join(STAGING), &paths)?;
    std::fs::remove_file(&path).map_err(ClusterError::file(&path))?;
    sync_folder(state_dir)
}

/// Parses the journal. Earlier versions wrote whole paths, of which only the names count: the folder may have been moved since.
fn parse_journal(text: &str) -> serde_json::Result<Journal> {
    #[derive(Deserialize)]
    struct Earlier {
        is_complete: bool,
        paths: Vec<EarlierPath>,
    }
    #[derive(Deserialize)]
    struct EarlierPath {
        target: PathBuf,
    }
    serde_json::from_str(text).or_else(|error| {
        let Ok(Earlier { is_complete, paths }) = serde_json::from_str(text) else {
            return Err(error);
        };
        let names = paths
            .iter()
            .filter_map(|path| path.target.file_name()?.to_str())
            .filter(|name| ["storage", "initialized", PASSWORD].contains(name))
            .map(str::to_owned)
            .collect();
        Ok(Journal { is_complete, names })
    })
}

/// Moves a staged file or folder to its place, and the old one aside; does nothing when that was done before.
fn put_in_place(path: &StagedPath) -> Result<(), ClusterError> {
    if !path.staged.exists() {
        return Ok(());
    }
    if path.target.exists() {
        if path.target.is_dir() {
            postmaster::end_leftover_postmaster(&path.target)?;
        }
        let replaced = with_suffix(&path.target, OLD);
        delete(&replaced)?;
        std::fs::rename(&path.target, &replaced).map_err(ClusterError::file(&path.target))?;
    }
    std::fs::rename(&path.staged, &path.target).map_err(ClusterError::file(&path.target))?;
    path.target.parent().map_or(Ok(()), sync_folder)
}

fn delete_staged(staging: &Path, paths: &[StagedPath]) -> Result<(), ClusterError> {
    // A trial start that was killed may have left its PostgreSQL running, and a folder for its socket.
    postmaster::end_leftover_postmaster(&staging.join("pgdata"))?;
    sockets::remove_far_socket_dir(staging);
    for path in paths {
        delete(&path.staged)?;
    }
    delete(staging)
}

/// Refuses targets that are mount points, because they cannot be renamed.
fn refuse_mount_points(paths: &[StagedPath]) -> Result<(), ClusterError> {
    for StagedPath { target, .. } in paths {
        let device = |path: &Path| path.metadata().map(|meta| meta.dev()).ok();
        let parent = target.parent().and_then(device);
        if device(target).is_some_and(|own| Some(own) != parent) {
            let reason =
                std::io::Error::other("it is a mount point, and a restore replaces the whole folder");
            return Err(ClusterError::file(target)(reason));
        }
    }
    Ok(())
}

fn write_journal(state_dir: &Path, journal: &Journal) -> Result<(), ClusterError> {
    let text = serde_json::to_string(journal).expect("paths of a project are text");
    write_private(&state_dir.join(JOURNAL), &text)?;
    sync_folder(state_dir)
}

fn delete(path: &Path) -> Result<(), ClusterError> {
    let deleted = match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
        Err(error) => Err(error),
    };
    match deleted {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(ClusterError::file(path)(error)),
        _ => Ok(()),
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

fn sync_folder(folder: &Path) -> Result<(), ClusterError> {
    File::open(folder)
        .and_then(|file| file.sync_all())
        .map_err(ClusterError::file(folder))
}

/// Makes everything in the file system of `path` durable, which is faster than a sync of a thousand files.
fn sync_file_system(path: &Path) -> Result<(), ClusterError> {
    let file = File::open(path).map_err(ClusterError::file(path))?;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    nix::unistd::syncfs(&file).map_err(|error| ClusterError::file(path)(error.into()))?;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    nix::unistd::sync();
    file.sync_all().map_err(ClusterError::file(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A state folder with an old cluster and old objects, and the new ones beside them.
    fn project_with_staged_files(is_complete: bool) -> (tempfile::TempDir, Vec<StagedPath>) {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path();
        let journal = Journal {
            is_complete,
            names: vec!["storage".to_owned()],
        };
        let paths = journal.paths(state, state).expect("names");
        for path in &paths {
            for (place, text) in [(&path.staged, "new"), (&path.target, "old")] {
                std::fs::create_dir_all(place).expect("created");
                std::fs::write(place.join("file"), text).expect("written");
            }
        }
        write_journal(state, &journal).expect("written");
        (folder, paths)
    }

    fn assert_files_contain(state: &Path, paths: &[StagedPath], text: &str) {
        for path in paths {
            assert_eq!(
                std::fs::read_to_string(path.target.join("file")).expect("readable"),
                text
            );
            assert!(!path.staged.exists());
        }
        let mut names: Vec<_> = std::fs::read_dir(state)
            .expect("readable")
            .map(|entry| entry.expect("an entry").file_name())
            .collect();
        names.sort();
        assert_eq!(names, ["pgdata", "storage"]);
    }

    #[test]
    fn an_incomplete_replacement_is_deleted_and_the_old_files_stay() {
        let (folder, paths) = project_with_staged_files(false);

        finish_replacement(folder.path()).expect("finished");

        assert_files_contain(folder.path(), &paths, "old");
    }

    #[test]
    fn a_complete_replacement_is_finished_from_every_step_at_which_it_was_cut_off() {
        // Steps: old folder aside, new folder in its place, for both folders; then old folders deleted.
        for steps in 0..=6 {
            let (folder, paths) = project_with_staged_files(true);
            let moves = paths.iter().flat_map(|path| {
                let replaced = with_suffix(&path.target, OLD);
                [
                    (path.target.clone(), replaced),
                    (path.staged.clone(), path.target.clone()),
                ]
            });
            for (from, to) in moves.take(steps) {
                std::fs::rename(from, to).expect("renamed");
            }
            for path in paths.iter().take(steps.saturating_sub(4)) {
                std::fs::remove_dir_all(with_suffix(&path.target, OLD)).expect("deleted");
            }

            finish_replacement(folder.path()).expect("finished");

            assert_files_contain(folder.path(), &paths, "new");
        }
    }

    #[test]
    fn a_journal_leads_to_no_file_outside_of_the_state_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let state = folder.path().join(".selvedge");
        std::fs::create_dir(&state).expect("created");
        let outside = folder.path().join("precious");
        std::fs::write(&outside, "kept").expect("written");

        for name in ["../precious", "/etc/passwd", "a/b", "..", "."] {
            let text = serde_json::json!({ "is_complete": true, "names": [name] }).to_string();
            std::fs::write(state.join(JOURNAL), text).expect("written");
            assert!(finish_replacement(&state).is_err(), "{name}");
        }
        // As earlier versions wrote it.
        let text = serde_json::json!({
            "is_complete": false, "staging": folder.path(), "paths": [{ "staged": outside, "target": outside }],
        });
        std::fs::write(state.join(JOURNAL), text.to_string()).expect("written");
        finish_replacement(&state).expect("finished");

        assert_eq!(std::fs::read_to_string(&outside).expect("readable"), "kept");
        assert!(!state.join(JOURNAL).exists());
    }
}
