//! To which databases the files of a project's objects belong. A project has one folder for them, and may have two databases: its own, and one on
//! another server for `serve`. To each of them every file of the other is one without an object, which a sweep would remove.
//!
//! Every database whose objects are stored there is noted beside the folder. Only one that is alone there removes files.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use selvedge_postgres::migrate::replace_file;
use tokio_postgres::Client;

use super::embedded;
use super::external::ExternalDatabase;
use super::identity::find_identity;
use crate::config::Config;

/// The note: a line for each database.
const FILE: &str = "storage-owners";

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

impl ObjectsOwner {
    /// The database of a session on another server. Where that does not tell its identity, the name has to do.
    pub(crate) async fn of_session(client: &Client, name: &str) -> Self {
        let found = find_identity(client).await;
        Self::Other {
            identity: found.unwrap_or_else(|_| name.replace(' ', "_")),
            name: name.to_owned(),
        }
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

    /// Notes that objects of this database are in `folder`, and returns whether it is alone there. Files that nobody has noted are those of
    /// the project's own database, if there is one.
    ///
    /// # Errors
    /// When the note cannot be read or written.
    pub(crate) fn join(&self, config: &Config, folder: &Path) -> Result<bool> {
        let mut owners = match list_owners(config)? {
            Some(owners) => owners,
            None if embedded::has_cluster(config) && has_files(folder) => vec![Self::Own],
            None => Vec::new(),
        };
        if !owners.contains(self) {
            owners.push(self.clone());
        }
        write_owners(config, &owners)?;
        Ok(owners.len() == 1)
    }

    /// Notes that all files are of this database.
    ///
    /// # Errors
    /// When the note cannot be written.
    pub(crate) fn take(&self, config: &Config) -> Result<()> {
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

/// Names of the databases on other servers whose objects are files of the project.
///
/// # Errors
/// When the note cannot be read.
pub(crate) fn list_other_owners(config: &Config) -> Result<Vec<String>> {
    if let Some(owners) = list_owners(config)? {
        let others = owners.iter().filter(|owner| **owner != ObjectsOwner::Own);
        return Ok(others.map(|owner| owner.name().to_owned()).collect());
    }
    match ExternalDatabase::of_project(config)? {
        Some(external) if !embedded::has_cluster(config) => Ok(vec![external.describe()]),
        _ => Ok(Vec::new()),
    }
}

/// Notes that the project's own database has no objects any more.
///
/// # Errors
/// When the note cannot be changed.
pub(crate) fn forget_own(config: &Config) -> Result<()> {
    let mut owners = list_owners(config)?.unwrap_or_default();
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

fn note_path(config: &Config) -> PathBuf {
    config.selvedge.data_dir.join(FILE)
}

fn has_files(folder: &Path) -> bool {
    let mut entries = walkdir::WalkDir::new(folder).into_iter().flatten();
    entries.any(|entry| entry.file_type().is_file())
}
