//! A cluster in production: its folder is marked, and PostgreSQL gets the memory, the checksums and the log of a server.

use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;

use super::error::ClusterError;
use super::own_file::write_private;
use super::owner::Owner;
use super::production_mark::{MARK, is_production_home};
use super::sockets::fits_beside;

/// What the mark says to people.
const TEXT: &str = "This folder is the home of a production database, made by `selvedge serve`.\n\
     Commands for development (start, reset, db reset, migrate down, import, seed, stop --no-backup) refuse it because of this file.\n";
/// What a folder may have that nobody has used yet: what file systems and tools put into each, and what commands leave that refuse it.
const UNUSED: [&str; 5] = ["lost+found", ".gitignore", "binding", "lock", "server.lock"];
/// The file by which a server with a database elsewhere says that the folder is its own.
const EXTERNAL_MARK: &str = "database-elsewhere";
const EXTERNAL_TEXT: &str = "A server whose database is at DATABASE_URL has used this folder. `selvedge serve` makes no database in it, so that a lost\n\
     variable never serves an empty one. To have one here, name another folder or remove this file.\n";
/// The folder beside the data with PostgreSQL's log.
pub(super) const LOGS: &str = "logs";

const MIB: u64 = 1024 * 1024;
const GIB: u64 = 1024 * MIB;

/// Makes the folder a home if it is none yet, and returns whether it was none. Nobody else may look into it.
///
/// # Errors
/// [`ClusterError::OtherUse`] when something is in it: a database that was made for development, whose logins have passwords that everybody
/// knows; the objects or the mark of a server whose database is elsewhere, and whose address is missing now; or files of something else,
/// whose folder must not be closed to others. Also when the folder cannot be written.
pub fn mark_production_home(state_dir: &Path) -> Result<bool, ClusterError> {
    if is_production_home(state_dir) {
        return Ok(false);
    }
    if is_used_folder(state_dir).map_err(ClusterError::file(state_dir))? {
        return Err(ClusterError::OtherUse {
            home: state_dir.to_owned(),
        });
    }
    if !fits_beside(state_dir) {
        return Err(ClusterError::LongHome {
            home: state_dir.to_owned(),
        });
    }
    let owner = Owner::for_this_process()?;
    make_folder(state_dir).map_err(ClusterError::file(state_dir))?;
    // As root PostgreSQL runs as another user, who passes through on the way to its own folders and lists nothing.
    let mode = if owner.is_other() { 0o711 } else { 0o700 };
    std::fs::set_permissions(state_dir, std::fs::Permissions::from_mode(mode))
        .map_err(ClusterError::file(state_dir))?;
    if !owner.can_pass(state_dir) {
        return Err(ClusterError::UnreachableHome {
            home: state_dir.to_owned(),
        });
    }
    write_private(&state_dir.join(MARK), TEXT)?;
    Ok(true)
}

/// Notes that the folder is that of a server whose database is elsewhere, for [`mark_production_home`]. Nothing is noted in a home.
///
/// # Errors
/// When the folder cannot be made or written.
pub fn mark_external_use(state_dir: &Path) -> std::io::Result<()> {
    let mark = state_dir.join(EXTERNAL_MARK);
    if is_production_home(state_dir) || mark.symlink_metadata().is_ok() {
        return Ok(());
    }
    std::fs::create_dir_all(state_dir)?;
    std::fs::write(mark, EXTERNAL_TEXT)
}

/// Whether something is in a folder that file systems and commands do not put into each. One that is missing has nothing.
///
/// # Errors
/// When it cannot be read.
pub fn is_used_folder(state_dir: &Path) -> std::io::Result<bool> {
    let entries = match std::fs::read_dir(state_dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
        entries => entries?,
    };
    for entry in entries {
        let name = entry?.file_name();
        if !UNUSED.iter().any(|unused| name == *unused) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Makes a folder for its owner alone, unless it is there, and those around it with the usual rights.
fn make_folder(folder: &Path) -> std::io::Result<()> {
    if let Some(parent) = folder.parent() {
        std::fs::create_dir_all(parent)?;
    }
    match std::fs::DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// What a cluster gets in production.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProductionProfile {
    /// The memory in bytes that PostgreSQL, the server and its functions have together.
    pub memory: u64,
}

impl ProductionProfile {
    /// Bytes of `shared_buffers`: a quarter of the memory, 128 MB to 8 GB.
    #[must_use]
    pub fn shared_buffers(&self) -> u64 {
        (self.memory / 4).clamp(128 * MIB, 8 * GIB)
    }

    /// Bytes that sessions are expected to need besides: an eighth of the memory, at least 64 MB.
    #[must_use]
    pub fn sessions(&self) -> u64 {
        (self.memory / 8).max(64 * MIB)
    }

    /// The settings that depend on the memory or are for a server, by their names.
    #[must_use]
    pub fn settings(&self) -> Vec<(&'static str, String)> {
        let mebibytes = |bytes: u64| format!("{}MB", bytes / MIB);
        let maintenance = (self.memory / 32).clamp(64 * MIB, GIB);
        vec![
            ("shared_buffers", mebibytes(self.shared_buffers())),
            // What the system keeps of files, as PostgreSQL's planner may expect it.
            (
                "effective_cache_size",
                mebibytes((self.memory / 2).max(128 * MIB)),
            ),
            // A hundred sessions that sort at once take a quarter of the memory.
            (
                "work_mem",
                mebibytes((self.memory / 400).clamp(4 * MIB, 64 * MIB)),
            ),
            ("maintenance_work_mem", mebibytes(maintenance)),
            ("autovacuum_work_mem", mebibytes(maintenance.min(256 * MIB))),
            ("log_destination", "jsonlog".to_owned()),
            ("logging_collector", "on".to_owned()),
            ("log_directory", format!("../{LOGS}")),
            ("log_filename", "postgresql-%Y-%m-%d_%H%M%S.log".to_owned()),
            ("log_rotation_age", "1d".to_owned()),
            ("log_rotation_size", "64MB".to_owned()),
            ("log_file_mode", "0600".to_owned()),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setting(memory: u64, name: &str) -> String {
        let settings = ProductionProfile { memory }.settings();
        let found = settings.into_iter().find(|(setting, _)| *setting == name);
        found.expect("it is set").1
    }

    #[test]
    fn prod_017_postgresql_gets_a_quarter_of_the_memory_between_two_limits() {
        for (memory, buffers, work) in [
            (GIB / 4, "128MB", "4MB"),
            (2 * GIB, "512MB", "5MB"),
            (16 * GIB, "4096MB", "40MB"),
            (256 * GIB, "8192MB", "64MB"),
        ] {
            assert_eq!(setting(memory, "shared_buffers"), buffers);
            assert_eq!(setting(memory, "work_mem"), work);
        }
    }

    #[test]
    fn prod_010_a_home_is_marked_once_and_a_folder_with_a_database_for_development_is_refused() {
        let folder = tempfile::Builder::new()
            .permissions(std::fs::Permissions::from_mode(0o755))
            .tempdir_in("/tmp")
            .expect("a folder");
        let home = folder.path().join("deep/home");

        assert!(!is_production_home(&home));
        assert!(mark_production_home(&home).expect("made"));
        let mode = home.metadata().expect("a folder").permissions().mode();
        let is_root = nix::unistd::geteuid().is_root();
        assert_eq!(mode & 0o777, if is_root { 0o711 } else { 0o700 });
        assert!(is_production_home(&home) && !mark_production_home(&home).expect("it is one"));

        let used = folder.path().join("used");
        std::fs::create_dir_all(used.join("pgdata")).expect("made");
        assert!(matches!(
            mark_production_home(&used),
            Err(ClusterError::OtherUse { .. })
        ));
        assert!(!is_production_home(&used));
    }

    #[test]
    fn prod_001_the_folder_of_a_server_with_a_database_elsewhere_is_no_home() {
        let folder = tempfile::tempdir_in("/tmp").expect("a folder");
        let data = folder.path().join("data");

        mark_external_use(&data).expect("noted");

        mark_external_use(&data).expect("noted once");
        assert!(matches!(
            mark_production_home(&data),
            Err(ClusterError::OtherUse { .. })
        ));
        let other = folder.path().join("other");
        std::fs::create_dir_all(other.join("lost+found")).expect("made");
        assert!(mark_production_home(&other).expect("nothing of anybody is in it"));
        mark_external_use(&other).expect("a home stays one");
        assert_eq!(std::fs::read_dir(&other).expect("a folder").count(), 2);
    }
}
