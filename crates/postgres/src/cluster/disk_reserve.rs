//! Bytes that are kept aside on the disk of a production database, in a file that is removed where nothing else makes room.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use crate::DiskRoom;

const MIB: u64 = 1024 * 1024;

/// The reserve, beside the data directory.
pub(super) const RESERVE: &str = "reserve";
/// The bytes of the reserve, and those on a small disk, where it is a hundredth.
const RESERVE_BYTES: u64 = 256 * MIB;
const LEAST_RESERVE_BYTES: u64 = 32 * MIB;
/// With less room than this the reserve is given up: two files of PostgreSQL's log and what a checkpoint writes.
pub(super) const LAST_BYTES: u64 = 48 * MIB;
/// With less room than this the reserve is given up before a start of PostgreSQL, which writes to its log at once.
const START_BYTES: u64 = 2 * LAST_BYTES;

/// The bytes of the reserve of a disk.
pub(super) fn size_for(room: DiskRoom) -> u64 {
    (room.total / 100).clamp(LEAST_RESERVE_BYTES, RESERVE_BYTES)
}

/// Makes room for a start of PostgreSQL, which recovers from its log and writes to it: without this a PostgreSQL that a full disk has ended would
/// never start again. Blocks on the disk.
pub(super) fn make_room_for_start(data_dir: &Path) {
    let home = data_dir.parent().unwrap_or(data_dir);
    match DiskRoom::of(data_dir) {
        Ok(room) => {
            give_up_reserve(&home.join(RESERVE), room.free, START_BYTES);
        }
        Err(error) => tracing::warn!(%error, "the room on the disk of PostgreSQL is unknown"),
    }
}

/// Removes the reserve if less than `needed` bytes are free. Returns whether it was removed.
pub(super) fn give_up_reserve(reserve: &Path, free: u64, needed: u64) -> bool {
    if free >= needed || reserve.symlink_metadata().is_err() {
        return false;
    }
    match fs::remove_file(reserve) {
        Ok(()) => {
            tracing::error!("the disk is full: the reserve was removed, so that PostgreSQL can go on");
            true
        }
        Err(error) => {
            tracing::error!(%error, "the disk is full, and the reserve cannot be removed");
            false
        }
    }
}

/// Whether there is a whole reserve. A power failure may leave a short one, which is made anew.
pub(super) fn is_whole(reserve: &Path) -> bool {
    reserve
        .symlink_metadata()
        .is_ok_and(|meta| !meta.is_file() || meta.len() >= LEAST_RESERVE_BYTES)
}

/// Fills a file with random bytes, which file systems cannot compress, and returns when they are on the disk, because some file systems look for room
/// only then. A shorter reserve is replaced.
pub(super) fn make_reserve(path: &Path, size: u64) -> io::Result<()> {
    let mut block = vec![0; 1024 * 1024];
    getrandom::fill(&mut block).map_err(|error| io::Error::other(error.to_string()))?;
    // Written under another name, and linked to this one when it is whole: if this process ends before, no part of it is taken for a reserve.
    let unfinished = path.with_extension("unfinished");
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&unfinished)?;
    let written = (0..size / MIB)
        .try_for_each(|_| file.write_all(&block))
        .and_then(|()| file.sync_all())
        .and_then(|()| remove_short(path))
        .and_then(|()| fs::hard_link(&unfinished, path));
    fs::remove_file(&unfinished)?;
    written?;
    // The folder is synced, too, or the file would have no name after a power failure.
    path.parent()
        .map_or(Ok(()), |folder| File::open(folder)?.sync_all())
}

/// Removes a reserve that is too short. A whole one stays, and so does anything else than a regular file.
fn remove_short(reserve: &Path) -> io::Result<()> {
    match reserve.symlink_metadata() {
        Ok(_) if !is_whole(reserve) => fs::remove_file(reserve),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prod_009_the_reserve_is_as_large_as_it_says_and_nobody_elses_file_is_replaced() {
        use std::os::unix::fs::MetadataExt as _;

        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(RESERVE);

        make_reserve(&path, LEAST_RESERVE_BYTES).expect("made");

        let meta = path.metadata().expect("a file");
        assert_eq!(meta.len(), LEAST_RESERVE_BYTES);
        assert!(meta.blocks() * 512 >= LEAST_RESERVE_BYTES && meta.mode() & 0o777 == 0o600);
        assert!(make_reserve(&path, MIB).is_err());
        assert!(!folder.path().join("reserve.unfinished").exists());
    }

    /// Makes the file shorter than its name promises, as a power failure may.
    #[test]
    fn prod_009_what_is_left_of_a_reserve_counts_as_none_and_is_made_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(RESERVE);
        fs::write(&path, "").expect("written");
        assert!(!is_whole(&path));

        make_reserve(&path, LEAST_RESERVE_BYTES).expect("made");

        assert!(is_whole(&path));
    }

    #[test]
    fn prod_009_a_start_gets_the_reserve_where_there_is_no_other_room() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(RESERVE);
        fs::write(&path, "kept").expect("written");

        assert!(!give_up_reserve(&path, START_BYTES, START_BYTES));
        assert!(path.exists());
        assert!(give_up_reserve(&path, START_BYTES - 1, START_BYTES));
        assert!(!path.exists() && !give_up_reserve(&path, 0, START_BYTES));
    }
}
