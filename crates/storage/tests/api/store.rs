//! The blobs of a test, in a folder or in a bucket of a real S3 server. They stay when the service is restarted.

use std::path::{Path, PathBuf};

use selvedge_storage::{S3BackendConfig, StorageConfig};

/// An empty store of blobs.
pub(crate) struct Store {
    /// The root folder of the service.
    pub(crate) root: tempfile::TempDir,
    /// The folder of finished blobs: our own, or the S3 server's.
    finished: PathBuf,
    pub(crate) s3_backend: Option<S3BackendConfig>,
}

impl Store {
    /// An empty store on the backend of this test binary.
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        let (finished, s3_backend) = if crate::ON_S3 {
            let (folder, config) = crate::s3_server::bucket(&root.path().join("incoming"));
            (folder, Some(config))
        } else {
            (root.path().join("blobs"), None)
        };
        Self {
            root,
            finished,
            s3_backend,
        }
    }

    /// The settings with which the service uses it.
    pub(crate) fn config(&self) -> StorageConfig {
        StorageConfig {
            root: self.root.path().to_owned(),
            s3_backend: self.s3_backend.clone(),
            ..StorageConfig::default()
        }
    }

    /// Files of finished and unfinished blobs.
    pub(crate) fn blobs(&self) -> usize {
        files_below(&self.finished) + self.unfinished()
    }

    /// How many blobs are being written.
    pub(crate) fn unfinished(&self) -> usize {
        files_below(&self.root.path().join("incoming"))
    }

    /// Deletes all blobs without the service.
    pub(crate) fn remove_all_blobs(&self) {
        std::fs::remove_dir_all(&self.finished).expect("removable");
        std::fs::create_dir(&self.finished).expect("ours");
    }

    /// Deletes the blob of an object without the service.
    pub(crate) fn remove_blob(&self, version: &str) {
        let blob = self
            .find_blob(version)
            .unwrap_or_else(|| panic!("there is no blob {version}"));
        std::fs::remove_file(blob).expect("ours");
    }

    /// The file of a blob.
    pub(crate) fn find_blob(&self, version: &str) -> Option<PathBuf> {
        let mut waiting = vec![self.finished.clone()];
        while let Some(folder) = waiting.pop() {
            for entry in std::fs::read_dir(folder).expect("readable").flatten() {
                if entry.path().is_dir() {
                    waiting.push(entry.path());
                } else if entry.file_name() == version {
                    return Some(entry.path());
                }
            }
        }
        None
    }
}

/// All files below a folder.
pub(crate) fn files_below(folder: &Path) -> usize {
    let mut waiting = vec![folder.to_owned()];
    let mut files = 0;
    while let Some(folder) = waiting.pop() {
        // A folder may be removed while it is read.
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path: PathBuf = entry.path();
            if path.is_dir() {
                waiting.push(path)
            } else {
                files += 1
            }
        }
    }
    files
}
