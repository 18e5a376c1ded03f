//! Tells a data folder that this user has made from one that came with a project.

use std::collections::BTreeMap;
use std::fs::{Metadata, OpenOptions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::Path;

use anyhow::{Context, Result, bail};
use nix::fcntl::{Flock, FlockArg};
use nix::unistd::{User, geteuid};
use selvedge_postgres::cluster::open_own_file;

use super::git_index::find_tracked;
use super::records::{Grants, Record, Records, write_private_file};

/// The file with the folder's id.
const ID_FILE: &str = "binding";
/// That file while it is written.
const NEW_ID_FILE: &str = "binding.new";
/// Keeps the folder out of version control.
const IGNORE_FILE: &str = ".gitignore";

/// What is known of a data folder.
#[derive(Debug)]
pub(super) enum Standing {
    /// There is none, or an empty one, or one of which [`create`] and [`bind`] have made a part before they were ended.
    Missing,
    /// This user has made it on this machine.
    Own,
    /// It is this user's own, and was at another path.
    Moved(Record),
    /// Somebody may have brought it.
    Foreign(Reason),
}

/// Why a data folder is not used.
#[derive(Debug)]
pub(super) enum Reason {
    /// No record of this user knows it.
    Unknown,
    /// Another user owns it.
    OtherOwner(String),
    /// Version control tracks a file in it, so that the next change of the project could replace what is in it.
    Tracked(String),
    /// It, or an entry in it, is a link that the user has not trusted.
    Link { name: String, target: String },
}

impl Reason {
    pub(super) fn is_other_owner(&self) -> bool {
        matches!(self, Self::OtherOwner(_))
    }

    /// Whether `selvedge trust` cannot make the folder usable.
    pub(super) fn outlasts_trust(&self) -> bool {
        matches!(self, Self::OtherOwner(_) | Self::Tracked(_))
    }

    pub(super) fn describe(&self, path: &Path) -> String {
        let shown = path.display();
        match self {
            Self::OtherOwner(owner) => format!(
                "{shown} belongs to {owner}: run this command as that user, or work on a copy of the project without this folder"
            ),
            Self::Tracked(file) => format!(
                "{shown} holds passwords and data, and is in version control ({file}): whoever changes the repository could write in it\n  \
                 take it out:  git rm -r --cached {shown} (with a split index then git update-index --no-split-index)"
            ),
            Self::Link { name, target } => format!(
                "{} is a link to {target}, which this program has not made\n  if it is yours:  selvedge trust\n  if not:          \
                 selvedge reset (deletes the project's database and objects)",
                path.join(name).display()
            ),
            Self::Unknown => format!(
                "{shown} was not made by you on this machine, as far as is known here. A folder that came with a project could \
                 overwrite your files and run programs, so nothing in it was read\n  if it is yours (moved or copied, made by an \
                 older version, another HOME):  selvedge trust\n  if it came with the project:  selvedge reset (deletes its database \
                 and objects)\n  in a container, name the folder by SELVEDGE_DATA_DIR, or keep SELVEDGE_STATE_HOME in a volume"
            ),
        }
    }
}

/// Looks at a data folder without changing it.
///
/// # Errors
/// When it cannot be read.
pub(super) fn inspect(path: &Path, records: &Records) -> Result<Standing> {
    let explain = || format!("cannot read {}", path.display());
    let own = match path.symlink_metadata() {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Standing::Missing);
        }
        meta => meta.with_context(explain)?,
    };
    let meta = match path.metadata() {
        // A link that leads nowhere is somebody's nevertheless.
        Err(_) if own.is_symlink() => {
            let (name, target) = list_own_link(path);
            return Ok(Standing::Foreign(Reason::Link { name, target }));
        }
        meta => meta.with_context(explain)?,
    };
    if meta.uid() != geteuid().as_raw() {
        return Ok(Standing::Foreign(Reason::OtherOwner(name_of_owner(&meta))));
    }
    if !own.is_symlink() && has_nothing_to_read(path).with_context(explain)? {
        return Ok(Standing::Missing);
    }
    if let Some(file) = find_tracked(path) {
        return Ok(Standing::Foreign(Reason::Tracked(file)));
    }
    let inode = (meta.dev(), meta.ino());
    let Some(id) = read_id(path) else {
        return Ok(Standing::Foreign(Reason::Unknown));
    };
    match records.load(path).filter(|record| record.id == id) {
        Some(record) => {
            let unknown = list_links(path)?
                .into_iter()
                .find(|(name, target)| record.links.get(name) != Some(target));
            Ok(match unknown {
                Some((name, target)) => Standing::Foreign(Reason::Link { name, target }),
                None => Standing::Own,
            })
        }
        None => Ok(
            match records.find_moved(&id, inode).filter(|_| !own.is_symlink()) {
                Some(record) => Standing::Moved(record),
                None => Standing::Foreign(Reason::Unknown),
            },
        ),
    }
}

/// Whether a folder is empty but for the files that come before its id, of which nothing is ever read.
fn has_nothing_to_read(path: &Path) -> std::io::Result<bool> {
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        let is_first = [IGNORE_FILE, NEW_ID_FILE]
            .iter()
            .any(|name| entry.file_name() == *name);
        if !is_first || !entry.file_type()?.is_file() {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Makes the folder. The file that keeps it out of version control comes first, because it may hold passwords at any time.
///
/// # Errors
/// When the file system refuses it.
pub(super) fn create(path: &Path) -> Result<()> {
    let explain = || format!("cannot create {}", path.display());
    std::fs::create_dir_all(path).with_context(explain)?;
    let ignore = path.join(IGNORE_FILE);
    // That of a command that was ended here may be empty.
    let _ = std::fs::remove_file(&ignore);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .custom_flags(nix::libc::O_NOFOLLOW)
        .open(ignore)
        .with_context(explain)?;
    file.write_all(b"*\n").with_context(explain)
}

/// Removes the folder if it holds nothing but what [`create`] and [`bind`] have put there.
pub(super) fn remove_if_unused(path: &Path) {
    let own = [IGNORE_FILE, ID_FILE];
    let names = std::fs::read_dir(path).into_iter().flatten().flatten();
    if names
        .map(|entry| entry.file_name())
        .all(|name| own.iter().any(|own| name == *own))
    {
        for name in own {
            let _ = std::fs::remove_file(path.join(name));
        }
        let _ = std::fs::remove_dir(path);
    }
}

/// Gives the folder an id if it has none, and records it, with the links in it, as this user's own, and what the user has allowed the projects
/// that use it.
///
/// # Errors
/// When the id or the record cannot be written.
pub(super) fn bind(path: &Path, records: &Records, grants: Grants) -> Result<()> {
    let id = read_id(path).unwrap_or_else(|| uuid::Uuid::new_v4().simple().to_string());
    let meta = path.metadata()?;
    let mut record = Record::new(path, id.clone(), (meta.dev(), meta.ino()), list_links(path)?);
    record.grants = grants;
    records.save(path, &record)?;
    let file = path.join(ID_FILE);
    write_private_file(&file, &id).with_context(|| format!("cannot write {}", file.display()))
}

fn list_own_link(path: &Path) -> (String, String) {
    let target = std::fs::read_link(path).unwrap_or_default();
    (String::new(), target.to_string_lossy().into_owned())
}

/// The links at the top of the folder with their targets; the empty name is the folder itself.
///
/// # Errors
/// When the folder cannot be read.
pub(super) fn list_links(path: &Path) -> Result<BTreeMap<String, String>> {
    let mut links = BTreeMap::new();
    let mut add = |name: String, link: &Path| {
        if let Ok(target) = std::fs::read_link(link) {
            links.insert(name, target.to_string_lossy().into_owned());
        }
    };
    add(String::new(), path);
    for entry in std::fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_symlink() {
            add(entry.file_name().to_string_lossy().into_owned(), &entry.path());
        }
    }
    Ok(links)
}

/// Deletes the folder without believing anything in it.
///
/// # Errors
/// When a process has locked it, or a file cannot be deleted.
pub(super) fn delete_unread(path: &Path) -> Result<()> {
    let explain = || format!("cannot delete {}", path.display());
    if path.symlink_metadata().with_context(explain)?.is_symlink() {
        return std::fs::remove_file(path).with_context(explain);
    }
    if let Ok(file) = open_own_file(&path.join("lock"), false)
        && Flock::lock(file, FlockArg::LockExclusiveNonblock).is_err()
    {
        bail!(
            "{} is in use by a running process: stop that first",
            path.display()
        );
    }
    std::fs::remove_dir_all(path).with_context(explain)
}

/// Whether the folder is the one that a record is about, and not another one at its path.
pub(super) fn is_of_record(path: &Path, record: &Record) -> bool {
    read_id(path).is_some_and(|id| id == record.id)
}

fn read_id(path: &Path) -> Option<String> {
    let mut text = String::new();
    let file = open_own_file(&path.join(ID_FILE), false).ok()?;
    file.take(100).read_to_string(&mut text).ok()?;
    let id = text.trim();
    let is_id = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| id.to_owned())
}

fn name_of_owner(meta: &Metadata) -> String {
    let user = User::from_uid(meta.uid().into()).ok().flatten();
    user.map_or_else(|| format!("user {}", meta.uid()), |user| user.name)
}

#[cfg(test)]
mod tests;
