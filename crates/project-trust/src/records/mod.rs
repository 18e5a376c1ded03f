//! What this user has made and trusted: one small file per data folder, outside of all projects.
//!
//! `$SELVEDGE_STATE_HOME/projects`, else `$XDG_STATE_HOME/selvedge/projects` (`~/.local/state/selvedge/projects`), else, where the
//! home folder cannot be written or is another user's (containers, CI, `sudo -E`), `/var/tmp/selvedge-UID/projects`. Only variables of
//! the process count, because `.env` files come with a project.

mod private_file;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use nix::fcntl::{Flock, FlockArg};
use nix::unistd::{User, geteuid};
use selvedge_config::{Environment, NamedPath};
use selvedge_postgres::cluster::open_own_file;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

pub use private_file::write_private_file;

/// Where records are kept if the user has no home folder that can be written.
const SHARED_PARENT: &str = "/var/tmp";

/// What is known of one data folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    /// The folder's path, for people; the file's name is made from its bytes.
    pub(super) path: String,
    /// The id that is in the folder as well.
    pub(super) id: String,
    /// Device and inode, by which a folder that was moved is recognized.
    pub(super) inode: (u64, u64),
    /// Links in the folder that the user has trusted, with their targets; the empty name is the folder itself.
    pub(super) links: BTreeMap<String, String>,
    #[serde(flatten)]
    pub(super) grants: Grants,
    /// What a version before December 2026 has noted for whatever project had the folder.
    #[serde(default, rename = "programs", skip_serializing)]
    older: Vec<NamedPath>,
}

/// What the user has allowed the projects that use one data folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Grants {
    /// Folders of the projects that may use it although it is outside of them.
    #[serde(default)]
    pub(super) projects: BTreeSet<PathBuf>,
    /// Programs, files and folders that the files of a project may name, by the project's folder: what one may name another, or a clone in a
    /// shell whose SELVEDGE_DATA_DIR is that of the first, may not.
    #[serde(default)]
    pub(super) trusted: BTreeMap<PathBuf, Vec<NamedPath>>,
}

impl Record {
    pub(super) fn new(path: &Path, id: String, inode: (u64, u64), links: BTreeMap<String, String>) -> Self {
        Self {
            path: path.display().to_string(),
            id,
            inode,
            links,
            ..Self::default()
        }
    }

    /// What the user lets the files of the project in this folder name.
    pub(super) fn trusted_by(&self, project: &Path) -> &[NamedPath] {
        let is_in_project = || Path::new(&self.path).starts_with(project);
        match self.grants.trusted.get(project) {
            Some(trusted) => trusted,
            None if is_in_project() => &self.older,
            None => &[],
        }
    }

    /// Takes back what the user has allowed the project in this folder, and the links in the data folder.
    pub(super) fn forget(&mut self, project: &Path) {
        self.links.clear();
        self.grants.projects.remove(project);
        // Empty and not missing, so that a list of an older version does not count again.
        self.grants.trusted.insert(project.to_owned(), Vec::new());
    }

    /// The grants after the data folder was moved with its project, whose folder is now `project`.
    pub(super) fn grants_after_move(&self, project: &Path) -> Grants {
        let mut grants = self.grants.clone();
        let before = Path::new(&self.path)
            .ancestors()
            .find(|folder| grants.trusted.contains_key(*folder));
        let moved = match before {
            Some(before) => grants.trusted.remove(before),
            None => Some(self.older.clone()),
        };
        grants
            .trusted
            .entry(project.to_owned())
            .or_insert_with(|| moved.unwrap_or_default());
        grants
    }
}

/// The folders in which this user's records may be, the first of them that can be written is used for new ones.
#[derive(Debug)]
pub(super) struct Records {
    folders: Vec<PathBuf>,
}

impl Records {
    pub(super) fn of_this_user() -> Self {
        let environment = Environment::of_process();
        let absolute = |name: &str| {
            environment
                .get(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        if let Some(named) = absolute("SELVEDGE_STATE_HOME") {
            return Self::below(&[named]);
        }
        let uid = geteuid();
        // `sudo` and containers may leave the variable of another user, in whose folder no record of this one belongs.
        let home = absolute("HOME")
            .filter(|home| is_owned(home))
            .or_else(|| User::from_uid(uid).ok().flatten().map(|user| user.dir));
        let in_home = home.map(|home| home.join(".local/state"));
        let states = absolute("XDG_STATE_HOME").into_iter().chain(in_home);
        let mut folders: Vec<PathBuf> = states
            .filter(|folder| {
                folder
                    .ancestors()
                    .find(|path| path.exists())
                    .is_some_and(is_owned)
            })
            .map(|folder| folder.join("selvedge"))
            .collect();
        folders.push(Path::new(SHARED_PARENT).join(format!("selvedge-{uid}")));
        Self::below(&folders)
    }

    pub(super) fn below(folders: &[PathBuf]) -> Self {
        Self {
            folders: folders.iter().map(|folder| folder.join("projects")).collect(),
        }
    }

    /// The record of a data folder.
    pub(super) fn load(&self, data_dir: &Path) -> Option<Record> {
        let name = file_name(data_dir);
        self.safe_folders()
            .find_map(|folder| read_record(&folder.join(&name)))
    }

    /// The record of the folder with this id and inode, under whatever path it was.
    pub(super) fn find_moved(&self, id: &str, inode: (u64, u64)) -> Option<Record> {
        self.safe_folders()
            .filter_map(|folder| std::fs::read_dir(folder).ok())
            .flatten()
            .flatten()
            .filter_map(|entry| read_record(&entry.path()))
            .find(|record| record.id == id && record.inode == inode)
    }

    /// Writes a record to the first folder that takes it.
    pub(super) fn save(&self, data_dir: &Path, record: &Record) -> Result<()> {
        let text = serde_json::to_string_pretty(record)?;
        let folder = self.first_writable_folder().ok_or_else(|| self.no_place())?;
        Ok(write_private_file(&folder.join(file_name(data_dir)), &text)?)
    }

    /// Keeps other processes of this user from making data folders; `None` where nothing can be written.
    pub(super) fn lock(&self) -> Option<Flock<File>> {
        let path = self.first_writable_folder()?.join("lock");
        let file = open_own_file(&path, true).ok()?;
        Flock::lock(file, FlockArg::LockExclusive).ok()
    }

    fn first_writable_folder(&self) -> Option<&PathBuf> {
        self.folders.iter().find(|folder| {
            let made = std::fs::DirBuilder::new()
                .recursive(true)
                .mode(0o700)
                .create(folder);
            made.is_ok()
                && is_safe(folder)
                && nix::unistd::access(*folder, nix::unistd::AccessFlags::W_OK).is_ok()
        })
    }

    fn safe_folders(&self) -> impl Iterator<Item = &PathBuf> {
        self.folders.iter().filter(|folder| is_safe(folder))
    }

    fn no_place(&self) -> anyhow::Error {
        let places: Vec<String> = self
            .folders
            .iter()
            .map(|folder| folder.display().to_string())
            .collect();
        anyhow!(
            "which data folders are yours could not be recorded in {}\n  name a folder that can be written:  \
             SELVEDGE_STATE_HOME=DIR\n  or the data folder itself:            SELVEDGE_DATA_DIR=DIR",
            places.join(" or ")
        )
    }
}

/// The name of a data folder's record. The folder's own name is not resolved: a link to the folder of another project is not that
/// project's folder.
fn file_name(data_dir: &Path) -> String {
    let parent = data_dir.parent().and_then(|parent| parent.canonicalize().ok());
    let path = match (parent, data_dir.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => data_dir.to_owned(),
    };
    format!(
        "{}.json",
        &hex::encode(Sha256::digest(path.as_os_str().as_encoded_bytes()))[..32]
    )
}

/// Reads a record; one that cannot be read counts as none.
fn read_record(path: &Path) -> Option<Record> {
    let file = open_own_file(path, false).ok()?;
    serde_json::from_reader(file).ok()
}

fn is_owned(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.uid() == geteuid().as_raw())
}

/// Whether only this user can have written in a folder of records and in the one above, which is this program's own, too.
fn is_safe(folder: &Path) -> bool {
    folder.ancestors().take(2).all(|folder| {
        folder
            .symlink_metadata()
            .is_ok_and(|meta| meta.is_dir() && meta.uid() == geteuid().as_raw() && meta.mode() & 0o022 == 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLDER: &str = r#"{"path": "/shop/supabase/.selvedge", "id": "a", "inode": [1, 2], "links": {},
        "programs": [{"key": "selvedge.pg_bin", "path": "/opt/pg"}]}"#;

    fn named(path: &str) -> Vec<NamedPath> {
        vec![NamedPath::of_key("selvedge.pg_bin", Path::new(path))]
    }

    #[test]
    fn gw_109_what_one_project_may_name_another_with_the_same_data_folder_may_not() {
        let mut record: Record = serde_json::from_str(OLDER).unwrap();
        let (shop, clone) = (Path::new("/shop/supabase"), Path::new("/clone/supabase"));

        // Of a record of an older version, the project that has the folder in it.
        assert_eq!(record.trusted_by(shop), named("/opt/pg"));
        assert_eq!(record.trusted_by(clone), []);
        record
            .grants
            .trusted
            .insert(clone.to_owned(), named("/opt/other"));
        let record: Record = serde_json::from_str(&serde_json::to_string(&record).unwrap()).unwrap();
        assert_eq!(record.trusted_by(clone), named("/opt/other"));
        assert_eq!(record.trusted_by(shop), []);
    }

    #[test]
    fn gw_109_trust_moves_with_the_data_folder() {
        let older: Record = serde_json::from_str(OLDER).unwrap();
        let mut newer = Record::new(
            Path::new("/shop/supabase/.selvedge"),
            "a".into(),
            (1, 2),
            BTreeMap::new(),
        );
        newer
            .grants
            .trusted
            .insert("/shop/supabase".into(), named("/opt/pg"));
        let moved = Path::new("/moved/supabase");

        for record in [older, newer] {
            let grants = record.grants_after_move(moved);
            assert_eq!(
                grants.trusted,
                BTreeMap::from([(moved.to_owned(), named("/opt/pg"))])
            );
        }
    }
}
