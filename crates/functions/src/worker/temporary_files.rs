//! Measures a worker's folder for temporary files, which is on the server's disk.

use std::fs;
use std::path::{Path, PathBuf};

/// Bytes that are counted for an empty file or folder, because each takes a block and a directory entry.
const ENTRY_BYTES: u64 = 4096;

/// Returns the size of everything below `folder` in bytes. Links are counted but not followed; files that are deleted
/// meanwhile are ignored.
pub(super) fn measure_folder(folder: &Path) -> u64 {
    let mut open: Vec<PathBuf> = vec![folder.to_path_buf()];
    let mut bytes = 0;
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let Ok(metadata) = entry.metadata() else {
                continue;
            };
            if metadata.is_dir() {
                open.push(entry.path());
            }
            bytes += disk_bytes(&metadata).max(ENTRY_BYTES);
        }
    }
    bytes
}

/// Returns the disk space of a file; for a sparse file it is less than its length.
fn disk_bytes(metadata: &fs::Metadata) -> u64 {
    // POSIX counts blocks of 512 bytes, whatever the block size of the disk is.
    std::os::unix::fs::MetadataExt::blocks(metadata) * 512
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gw_042_files_in_all_folders_count_and_links_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("large"), vec![1; 1024 * 1024]).unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        fs::write(folder.path().join("sub/file"), vec![1; 64 * 1024]).unwrap();
        std::os::unix::fs::symlink(outside.path(), folder.path().join("link")).unwrap();

        let bytes = measure_folder(folder.path());

        let expected = 64 * 1024 + 2 * ENTRY_BYTES;
        assert!((expected..expected + 64 * 1024).contains(&bytes), "{bytes}");
        assert_eq!(measure_folder(&folder.path().join("missing")), 0);
    }
}
