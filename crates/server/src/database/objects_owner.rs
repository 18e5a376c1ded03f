//! To which databases the files of a project's objects belong. A project has one folder for them, and may have two databases: its own, and one on
//! another server for `serve`. To each of them every file of the other is one without an object, which a sweep would remove.
//!
//! Every database whose objects are stored there is noted beside the folder. Only one that is alone there removes files.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use selvedge_postgres::cluster::{DATABASE, open_own_file};
use selvedge_postgres::migrate::replace_file;
use selvedge_storage::OwnersNote;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::embedded;
use super::external::ExternalDatabase;
use super::identity::find_identity;
use crate::config::Config;

/// The note: a line for each database.
const FILE: &str = "storage-owners";

/// The file that is locked while the note is changed.
const LOCK_FILE: &str = "storage-owners.lock";

/// The line of the project's own database.
const OWN: &str = "own";

/// A database whose objects are files of the project.
#[derive(Debug, Clone)]
pub(crate) enum ObjectsOwner {
    /// That of the project's own cluster.
    Own,
    /// One on another server: what identifies it, and its name for people.
    Other { identity: String, name: String },
}

impl PartialEq for ObjectsOwner {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Own, Self::Own) => true,
            (Self::Other { identity, .. }, Self::Other { identity: found, .. }) => identity == found,
            _ => false,
        }
    }
}

/// Stands for what identifies a database of which only the address is known.
const UNKNOWN: &str = "unknown";

impl ObjectsOwner {
    /// The database of a session on another server. Where nobody may ask for its identity, the name has to do.
    ///
    /// # Errors
    /// When the session is broken: then nobody knows which database it is.
    pub(crate) async fn of_session(client: &Client, name: &str) -> Result<Self> {
        let identity = match find_identity(client).await {
            Ok(identity) => identity,
            Err(error) if is_closed(&error) => name.replace(' ', "_"),
            Err(error) => return Err(error),
        };
        Ok(Self::Other {
            identity,
            name: name.to_owned(),
        })
    }

    fn parse(line: &str) -> Option<Self> {
        match line.split_once(' ') {
            Some((identity, name)) => Some(Self::Other {
                identity: identity.to_owned(),
                name: name.to_owned(),
            }),
            None => (line == OWN).then_some(Self::Own),
        }
    }

    fn line(&self) -> String {
        match self {
            Self::Own => format!("{OWN}\n"),
            Self::Other { identity, name } => format!("{identity} {name}\n"),
        }
    }

    /// What the storage service needs to ask before each sweep.
    pub(crate) fn note_for_storage(&self, config: &Config) -> OwnersNote {
        OwnersNote {
            path: note_path(config),
            own: match self {
                Self::Own => OWN.to_owned(),
                Self::Other { identity, .. } => identity.clone(),
            },
        }
    }

    /// Notes that objects of this database are in `folder`, and returns whether it is alone there.
    ///
    /// # Errors
    /// When the note cannot be read or written.
    pub(crate) fn join(&self, config: &Config, folder: &Path) -> Result<bool> {
        let _lock = lock(config)?;
        let owners = self.add_to(read_or_guess(config, folder)?);
        write_owners(config, &owners)?;
        Ok(owners.len() == 1)
    }

    /// Whether no other database has objects in `folder`. Changes nothing.
    ///
    /// # Errors
    /// When the note cannot be read.
    pub(crate) fn is_alone(&self, config: &Config, folder: &Path) -> Result<bool> {
        Ok(self.add_to(read_or_guess(config, folder)?).len() == 1)
    }

    /// Adds this database, in the place of one of which only the address was known.
    fn add_to(&self, mut owners: Vec<Self>) -> Vec<Self> {
        owners.retain(|owner| match (owner, self) {
            (Self::Other { identity, name }, Self::Other { name: own, .. }) => {
                identity != UNKNOWN || name != own
            }
            _ => true,
        });
        if !owners.contains(self) {
            owners.push(self.clone());
        }
        owners
    }

    /// Notes that all files are of this database.
    ///
    /// # Errors
    /// When the note cannot be written.
    pub(crate) fn take(&self, config: &Config) -> Result<()> {
        let _lock = lock(config)?;
        write_owners(config, std::slice::from_ref(self))
    }

    /// The name of the database for people.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Own => "the project's own database",
            Self::Other { name, .. } => name,
        }
    }
}

/// Whether the identity is closed to the login, or the server does not know the function.
fn is_closed(error: &anyhow::Error) -> bool {
    let code = error
        .downcast_ref::<tokio_postgres::Error>()
        .and_then(tokio_postgres::Error::code);
    [&SqlState::INSUFFICIENT_PRIVILEGE, &SqlState::UNDEFINED_FUNCTION]
        .iter()
        .any(|closed| code == Some(closed))
}

/// The databases of the note, and without one those that the files may belong to: earlier versions wrote none.
fn read_or_guess(config: &Config, folder: &Path) -> Result<Vec<ObjectsOwner>> {
    if let Some(owners) = list_owners(config)? {
        return Ok(owners);
    }
    let mut owners = Vec::new();
    if has_files(folder) {
        owners.extend(embedded::has_cluster(config).then_some(ObjectsOwner::Own));
        owners.extend(find_configured_address(config)?.map(|name| ObjectsOwner::Other {
            identity: UNKNOWN.to_owned(),
            name,
        }));
    }
    Ok(owners)
}

/// The address of the database on another server that the configuration names, also where the command works on the own one.
fn find_configured_address(config: &Config) -> Result<Option<String>> {
    let port = config.db.port;
    if let Some(external) = ExternalDatabase::of_project(config)? {
        let is_own = external.is_at_local_port(port, DATABASE);
        return Ok((!is_own).then(|| external.describe()));
    }
    let own = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("{host}:{port}/{DATABASE}"));
    let named = config.selvedge.ignored_database_url.clone();
    Ok(named.filter(|address| !own.contains(address)))
}

/// The databases of the note; `None` without one, as in projects of earlier versions.
///
/// # Errors
/// When it cannot be read.
pub(crate) fn list_owners(config: &Config) -> Result<Option<Vec<ObjectsOwner>>> {
    let path = note_path(config);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text.lines().filter_map(ObjectsOwner::parse).collect())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Names of the databases on other servers whose objects are, or may be, in `folder`.
///
/// # Errors
/// When the note cannot be read.
pub(crate) fn list_other_owners(config: &Config, folder: &Path) -> Result<Vec<String>> {
    let owners = read_or_guess(config, folder)?;
    let others = owners.iter().filter(|owner| **owner != ObjectsOwner::Own);
    Ok(others.map(|owner| owner.name().to_owned()).collect())
}

/// Notes that the project's own database has no objects in `folder` any more.
///
/// # Errors
/// When the note cannot be changed.
pub(crate) fn forget_own(config: &Config, folder: &Path) -> Result<()> {
    if config.selvedge.data_dir.symlink_metadata().is_err() {
        return Ok(());
    }
    let _lock = lock(config)?;
    let mut owners = read_or_guess(config, folder)?;
    owners.retain(|owner| *owner != ObjectsOwner::Own);
    if !owners.is_empty() {
        return write_owners(config, &owners);
    }
    let path = note_path(config);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot delete {}", path.display()))
        }
        _ => Ok(()),
    }
}

fn write_owners(config: &Config, owners: &[ObjectsOwner]) -> Result<()> {
    let text: String = owners.iter().map(ObjectsOwner::line).collect();
    let path = note_path(config);
    if std::fs::read_to_string(&path).is_ok_and(|written| written == text) {
        return Ok(());
    }
    Ok(replace_file(&path, &text)?)
}

/// Keeps other commands from changing the note, until the file is closed.
fn lock(config: &Config) -> Result<File> {
    let path = config.selvedge.data_dir.join(LOCK_FILE);
    let locked = open_own_file(&path, true).and_then(|file| file.lock().map(|()| file));
    locked.with_context(|| format!("cannot lock {}", path.display()))
}

/// The file that says whose objects are there.
pub(crate) fn note_path(config: &Config) -> PathBuf {
    config.selvedge.data_dir.join(FILE)
}

fn has_files(folder: &Path) -> bool {
    let mut entries = walkdir::WalkDir::new(folder).into_iter().flatten();
    entries.any(|entry| entry.file_type().is_file())
}
