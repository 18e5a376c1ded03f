//! The settings of this program in the data directory (`selvedge.conf`), and the way back to those with which PostgreSQL has run before.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::error::ClusterError;
use super::own_file::write_private;
use super::owner::Owner;

const FILE: &str = "selvedge.conf";
/// The settings before, which are kept until PostgreSQL has started with the new ones.
const EARLIER: &str = "selvedge.conf.earlier";

/// The file beside it with what holds while the disk is full, which it includes as its last line.
pub(super) const DISK_SETTINGS: &str = "selvedge-disk.conf";

/// The path of the settings in a data directory.
pub(super) fn settings_file(data_dir: &Path) -> PathBuf {
    data_dir.join(FILE)
}

/// Writes the settings. Not in place: the folder belongs to the cluster's user, who could have put a link there, and this may be root.
///
/// # Errors
/// When the folder cannot be written.
pub(super) fn write_settings_file(data_dir: &Path, owner: &Owner, text: &str) -> Result<(), ClusterError> {
    let path = settings_file(data_dir);
    write_private(&path, text)?;
    owner.give_ownership_of(&path)
}

/// Settings that PostgreSQL has not started with yet. Dropping the value brings the earlier ones back.
#[derive(Debug)]
pub(super) struct UntriedSettings {
    file: PathBuf,
    earlier: PathBuf,
    is_proven: bool,
}

impl UntriedSettings {
    /// Writes the settings of a start, and keeps the earlier ones. They are only renamed, as what is in the folder is the cluster's user's.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub(super) fn write(data_dir: &Path, owner: &Owner, text: &str) -> Result<Self, ClusterError> {
        let file = settings_file(data_dir);
        let earlier = data_dir.join(EARLIER);
        // A start that was killed has left the earlier ones there: those of the file were never tried.
        if earlier.symlink_metadata().is_err() {
            match std::fs::rename(&file, &earlier) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                renamed => renamed.map_err(ClusterError::file(&file))?,
            }
        }
        let untried = Self {
            file,
            earlier,
            is_proven: false,
        };
        write_settings_file(data_dir, owner, text)?;
        Ok(untried)
    }

    /// PostgreSQL has started with them.
    pub(super) fn keep(mut self) {
        self.is_proven = true;
        // Where it stays, a later start that fails brings back settings that are older, with which PostgreSQL has started once.
        let _ = std::fs::remove_file(&self.earlier);
    }
}

impl Drop for UntriedSettings {
    fn drop(&mut self) {
        if self.is_proven {
            return;
        }
        match std::fs::rename(&self.earlier, &self.file) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                tracing::error!(%error, "the earlier settings of PostgreSQL could not be brought back");
            }
            _ => {}
        }
    }
}
