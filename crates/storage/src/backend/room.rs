//! Whether the disk has room for what is written to it: what is left of a full one is for the database.

use std::fs::File;
use std::io::{self, Read as _};

use selvedge_postgres::DiskState;

/// So much is copied between two looks: a fraction of what is kept aside for the database.
const PIECE_BYTES: u64 = 8 * 1024 * 1024;

/// Refuses to write.
///
/// # Errors
/// `StorageFull` while the disk is full.
pub(super) fn check_room(disk: &DiskState) -> io::Result<()> {
    match disk.is_full() {
        true => Err(io::ErrorKind::StorageFull.into()),
        false => Ok(()),
    }
}

/// Copies the rest of a file, and returns its size.
///
/// # Errors
/// When the disk becomes full meanwhile, and those of the file system.
pub(super) fn copy_while_room(from: &mut File, to: &mut File, disk: &DiskState) -> io::Result<u64> {
    let mut size = 0;
    loop {
        check_room(disk)?;
        let copied = io::copy(&mut from.by_ref().take(PIECE_BYTES), to)?;
        size += copied;
        if copied < PIECE_BYTES {
            return Ok(size);
        }
    }
}

#[cfg(test)]
mod tests {
    use selvedge_postgres::DiskLevel;

    use super::*;

    #[test]
    fn prod_009_files_of_all_sizes_are_copied_whole_and_nothing_to_a_full_disk() {
        let folder = tempfile::tempdir().expect("a folder");
        let disk = DiskState::default();
        for size in [0, 1, PIECE_BYTES, PIECE_BYTES + 1] {
            let path = folder.path().join("from");
            let mut content = vec![7; usize::try_from(size).expect("it fits")];
            if let Some(last) = content.last_mut() {
                *last = 8;
            }
            std::fs::write(&path, &content).expect("written");
            let copy = |disk: &DiskState| {
                let mut to = File::create(folder.path().join("to")).expect("made");
                copy_while_room(&mut File::open(&path).expect("there"), &mut to, disk)
            };

            disk.set(DiskLevel::VeryLow);
            assert_eq!(copy(&disk).expect("copied"), size);
            assert!(std::fs::read(folder.path().join("to")).expect("there") == content);
            disk.set(DiskLevel::Full);
            let refused = copy(&disk).expect_err("no room");
            assert_eq!(refused.kind(), io::ErrorKind::StorageFull);
        }
    }
}
