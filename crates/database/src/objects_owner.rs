//! To which databases the files of a project's objects belong. A project has one folder for them, and may have two databases: its own, and one on
//! another server for `serve`. To each of them every file of the other is one without an object, which a sweep would remove.
//!
//! Every database whose objects are stored there is noted beside the folder. Only one that is alone there removes files.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use selvedge_config::Config;
use selvedge_postgres::cluster::{Cluster, DATABASE, RunningCluster, open_own_file};
use selvedge_postgres::migrate::replace_file;
use selvedge_storage::OwnersNote;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use crate::embedded;
use crate::external::ExternalDatabase;
use crate::state::identity::find_identity;

/// The note: a line for each database.
const FILE: &str = "storage-owners";

/// The file that is locked while the note is changed.
const LOCK_FILE: &str = "storage-owners.lock";

/// More than any note has.
const MAX_NOTE_BYTES: u64 = 64 * 1024;

/// The line of the project's own database.
const OWN: &str = "own";

/// A database whose objects are files of the project.
#[derive(Debug, Clone)]
pub enum ObjectsOwner {
    /// That of the project's own cluster.
    Own,
    /// One on another server: what identifies it, and its name for people.
    Other { identity: String, name: String },
}

impl PartialEq for ObjectsOwner {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Own, Self::Own) => true,
            (
                Self::Other { identity, name },
                Self::Other {
                    identity: found,
                    name: other,
                },
            ) => identity == found && (identity != UNKNOWN || name == other),
            _ => false,
        }
    }
}

/// Stands for what identifies a database of which only the address is known, or not even that.
const UNKNOWN: &str = "unknown";

/// The name of one of which nothing is known.
const NAMELESS: &str = "another database";

/// What tells the PostgreSQL that runs the project from all others, copies of its data included.
const PROCESS: &str = "
    select s.system_identifier::pg_catalog.text || ' ' || (extract(epoch from pg_catalog.pg_postmaster_start_time()))::pg_catalog.text
      || ' ' || pg_catalog.current_database()
    from pg_catalog.pg_control_system() as s";

impl ObjectsOwner {
    /// The database of a session on another server. Where nobody may ask for its identity, the name has to do.
    ///
    /// # Errors
    /// When the session is broken: then nobody knows which database it is.
    pub async fn of_session(config: &Config, client: &Client, name: &str) -> Result<Self> {
        if is_own_running(config, client).await {
            return Ok(Self::Own);
        }
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

    fn parse(line: &str) -> Self {
        let (identity, name) = line.split_once(' ').unwrap_or((line, line));
        match line == OWN {
            true => Self::Own,
            false => Self::Other {
                identity: identity.to_owned(),
                name: name.to_owned(),
            },
        }
    }

    /// A database of which only the name is known.
    fn unknown(name: String) -> Self {
        Self::Other {
            identity: UNKNOWN.to_owned(),
            name,
        }
    }

    fn line(&self) -> String {
        match self {
            Self::Own => format!("{OWN}\n"),
            Self::Other { identity, name } => format!("{identity} {name}\n"),
        }
    }

    /// What the storage service needs to ask before each sweep. `session` is one of this database, where that is on another server: whatever
    /// answers at its address later must be the same one.
    ///
    /// # Errors
    /// When the session is broken.
    pub async fn note_for_storage(&self, config: &Config, session: Option<&Client>) -> Result<OwnersNote> {
        let database = match session {
            Some(session) => read_store_owner(session).await?,
            None => None,
        };
        Ok(OwnersNote {
            path: note_path(config),
            database,
            is_elsewhere: *self != Self::Own,
            own: match self {
                Self::Own => OWN.to_owned(),
                Self::Other { identity, .. } => identity.clone(),
            },
        })
    }

    /// Notes that objects of this database are in `folder`, and returns whether it is alone there.
    ///
    /// # Errors
    /// When the note cannot be read or written.
    pub fn join(&self, config: &Config, folder: &Path) -> Result<bool> {
        let _lock = lock(config)?;
        let owners = self.add_to(read_or_guess(config, folder)?);
        write_owners(config, &owners)?;
        Ok(owners.len() == 1)
    }

    /// Whether no other database has objects in `folder`. Changes nothing.
    ///
    /// # Errors
    /// When the note cannot be read.
    pub fn is_alone(&self, config: &Config, folder: &Path) -> Result<bool> {
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
    pub fn take(&self, config: &Config) -> Result<()> {
        let _lock = lock(config)?;
        write_owners(config, std::slice::from_ref(self))
    }

    /// Runs `replace`, which replaces all files in `folder` by this database's own, and notes that no other database has any there. Nobody can
    /// join meanwhile.
    ///
    /// # Errors
    /// When another database than those that are `known` has joined. Nothing was replaced then.
    pub fn take_replacing(
        &self,
        config: &Config,
        folder: &Path,
        known: &[Self],
        replace: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let _lock = lock(config)?;
        let others = find_other_owners(config, folder)?;
        let joined: Vec<&str> = others
            .iter()
            .filter(|owner| !known.iter().any(|known| known.may_be(owner)))
            .map(Self::name)
            .collect();
        if !joined.is_empty() {
            bail!(
                "{} has objects of {} since this command began. Nothing was changed\n  run it once more, with --yes={} if all are of the \
                 project's own database",
                folder.display(),
                joined.join(" and "),
                config.project.id
            );
        }
        replace()?;
        write_owners(config, std::slice::from_ref(self)).context("the restore is complete and in place")
    }

    /// Whether `found` may be this one: where only an address was known, whatever answers there.
    fn may_be(&self, found: &Self) -> bool {
        let is_of_address = matches!(self, Self::Other { identity, .. } if identity == UNKNOWN);
        self == found || (is_of_address && self.name() == found.name())
    }

    /// The name of the database for people.
    pub fn name(&self) -> &str {
        match self {
            Self::Own => "the project's own database",
            Self::Other { name, .. } => name,
        }
    }
}

/// The database of a session as the storage service knows it; `None` where nobody may ask.
async fn read_store_owner(session: &Client) -> Result<Option<String>> {
    match find_identity(session).await {
        // There it is a part of a file's name.
        Ok(identity) => Ok(Some(identity.replace('/', "-"))),
        Err(error) if is_closed(&error) => Ok(None),
        Err(error) => Err(error),
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

/// Whether a session is one of the PostgreSQL that runs the project, whatever address has led to it.
async fn is_own_running(config: &Config, client: &Client) -> bool {
    let ask = async || -> Result<bool> {
        let Some(running) = RunningCluster::find(&config.selvedge.data_dir).await? else {
            return Ok(false);
        };
        let own = embedded::connect_privileged(&running.superuser_login()).await?;
        let own: String = own.query_one(PROCESS, &[]).await?.try_get(0)?;
        let found: String = client.query_one(PROCESS, &[]).await?.try_get(0)?;
        Ok(own == found)
    };
    // Where one of both may not ask, they count as two, and nothing is removed.
    ask().await.unwrap_or(false)
}

/// The databases of the note, and without one those that the files may belong to: earlier versions wrote none.
fn read_or_guess(config: &Config, folder: &Path) -> Result<Vec<ObjectsOwner>> {
    match list_owners(config)? {
        Some(owners) => Ok(owners),
        None => guess_owners(config, folder, is_older_than_cluster),
    }
}

/// The databases that the files may belong to: the project's own, those that the configuration names, and one of which nothing is known where
/// files are there that the own one cannot have written.
fn guess_owners(
    config: &Config,
    folder: &Path,
    is_of_another: impl Fn(&Config, &Path) -> bool,
) -> Result<Vec<ObjectsOwner>> {
    if !has_files(folder) {
        return Ok(Vec::new());
    }
    let has_cluster = embedded::has_cluster(config);
    let mut owners: Vec<ObjectsOwner> = has_cluster.then_some(ObjectsOwner::Own).into_iter().collect();
    owners.extend(
        list_configured_addresses(config)?
            .into_iter()
            .map(ObjectsOwner::unknown),
    );
    if !has_cluster || is_of_another(config, folder) {
        owners.push(ObjectsOwner::unknown(NAMELESS.to_owned()));
    }
    Ok(owners)
}

/// The addresses of databases on other servers that the configuration names, also where the command works on another one.
fn list_configured_addresses(config: &Config) -> Result<Vec<String>> {
    let port = config.db.port;
    let own = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("{host}:{port}/{DATABASE}"));
    let external =
        ExternalDatabase::of_project(config)?.filter(|external| !external.is_at_local_port(port, DATABASE));
    let mut addresses = config.selvedge.file_databases.clone();
    addresses.extend(external.map(|external| external.describe()));
    addresses.retain(|address| !own.contains(address));
    addresses.sort_unstable();
    addresses.dedup();
    Ok(addresses)
}

/// The folder in which the file backend keeps objects.
pub fn objects_folder(config: &Config) -> PathBuf {
    config.selvedge.data_dir.join("storage")
}

/// The databases of the note; `None` without one, as in projects of earlier versions, and where it names none.
///
/// # Errors
/// When it cannot be read.
pub fn list_owners(config: &Config) -> Result<Option<Vec<ObjectsOwner>>> {
    let path = note_path(config);
    // Never through a link: the data folder may have come with the project.
    let mut text = String::new();
    match open_own_file(&path, false).and_then(|file| file.take(MAX_NOTE_BYTES).read_to_string(&mut text)) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
        Ok(_) => {}
    }
    let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let owners: Vec<ObjectsOwner> = lines.map(ObjectsOwner::parse).collect();
    Ok((!owners.is_empty()).then_some(owners))
}

/// Names of the databases on other servers whose objects are, or may be, in a data folder that is not bound to this user: what its note says,
/// which can only keep files, and what the configuration names. Times of files that may have come with a project tell nothing.
///
/// # Errors
/// When the note cannot be read.
pub fn list_other_owners_of_unbound(config: &Config, folder: &Path) -> Result<Vec<String>> {
    let owners = match list_owners(config)? {
        Some(owners) => owners,
        // What a link leads to stays when the data folder is deleted.
        None if folder.is_symlink() => Vec::new(),
        None => guess_owners(config, folder, |_, _| false)?,
    };
    Ok(name_others(&owners))
}

fn name_others(owners: &[ObjectsOwner]) -> Vec<String> {
    let others = owners.iter().filter(|owner| **owner != ObjectsOwner::Own);
    others.map(|owner| owner.name().to_owned()).collect()
}

/// Names of all databases whose objects are, or may be, in `folder`.
///
/// # Errors
/// When the note cannot be read.
pub fn list_possible_owners(config: &Config, folder: &Path) -> Result<Vec<String>> {
    let owners = read_or_guess(config, folder)?;
    Ok(owners.iter().map(|owner| owner.name().to_owned()).collect())
}

/// Names of the databases on other servers whose objects are, or may be, in `folder`.
///
/// # Errors
/// When the note cannot be read.
pub fn list_other_owners(config: &Config, folder: &Path) -> Result<Vec<String>> {
    Ok(name_others(&read_or_guess(config, folder)?))
}

/// The databases themselves.
///
/// # Errors
/// When the note cannot be read.
pub fn find_other_owners(config: &Config, folder: &Path) -> Result<Vec<ObjectsOwner>> {
    let mut owners = read_or_guess(config, folder)?;
    owners.retain(|owner| *owner != ObjectsOwner::Own);
    Ok(owners)
}

/// Notes that the project's own database has no objects in `folder` any more.
///
/// # Errors
/// When the note cannot be changed.
pub fn forget_own(config: &Config, folder: &Path) -> Result<()> {
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
fn note_path(config: &Config) -> PathBuf {
    config.selvedge.data_dir.join(FILE)
}

/// Whether a file is older than the project's own database, so that another one has made it. A restore, which brings older ones, writes the note.
fn is_older_than_cluster(config: &Config, folder: &Path) -> bool {
    let home =
        Cluster::data_home(&config.selvedge.data_dir).unwrap_or_else(|_| config.selvedge.data_dir.clone());
    // Written when the database was made, and never again.
    let made = home
        .join("pgdata/PG_VERSION")
        .metadata()
        .and_then(|meta| meta.modified());
    let Ok(made) = made else { return true };
    let mut entries = walkdir::WalkDir::new(folder).into_iter().flatten();
    entries.any(|entry| {
        let is_file = entry.file_type().is_file();
        is_file
            && entry
                .metadata()
                .is_ok_and(|meta| meta.modified().is_ok_and(|time| time < made))
    })
}

fn has_files(folder: &Path) -> bool {
    let mut entries = walkdir::WalkDir::new(folder).into_iter().flatten();
    entries.any(|entry| entry.file_type().is_file())
}

#[cfg(test)]
mod tests {
    use selvedge_config::{Environment, Flags, Project};

    use super::*;

    #[test]
    fn a_database_that_has_joined_since_a_restore_began_keeps_its_files() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::find(Some(folder.path()), folder.path()).unwrap();
        let environment: Environment = [("A", "b")].into_iter().collect();
        let loaded = Config::load_project(project, environment, &Flags::default()).unwrap();
        let config = loaded.config;
        std::fs::create_dir(&config.selvedge.data_dir).unwrap();
        let objects = config.selvedge.data_dir.join("storage");
        let restore = |known: &[ObjectsOwner]| {
            let mut is_replaced = false;
            let taken = ObjectsOwner::Own.take_replacing(&config, &objects, known, || {
                is_replaced = true;
                Ok(())
            });
            (taken.map_err(|error| error.to_string()), is_replaced)
        };
        let write = |text: &str| std::fs::write(note_path(&config), text).unwrap();

        let staging = |identity: &str| ObjectsOwner::Other {
            identity: identity.to_owned(),
            name: "staging.example.com:5432/app".to_owned(),
        };
        let both = "own\n7123/5 staging.example.com:5432/app\n";

        // Another database at the same address is another one.
        for known in [&[][..], &[staging("8000/5")]] {
            write(both);
            let (refused, is_replaced) = restore(known);
            let refused = refused.unwrap_err();
            assert!(
                refused.contains("staging.example.com:5432/app") && refused.contains("--yes="),
                "{refused}"
            );
            assert!(!is_replaced);
        }
        for known in [staging("7123/5"), staging(UNKNOWN)] {
            write(both);
            assert_eq!(restore(&[known]), (Ok(()), true));
        }
        assert_eq!(std::fs::read_to_string(note_path(&config)).unwrap(), "own\n");
    }
}
