//! The blobs of a test, in a folder or in a bucket of a real S3 server. They stay when the service is restarted.

use std::path::{Path, PathBuf};

use selvedge_storage::{S3BackendConfig, StorageConfig};

/// Set to `1`, it makes every store of a test one in an S3 server.
const S3_VARIABLE: &str = "SELVEDGE_TEST_S3";

/// An empty store of blobs.
pub(crate) struct Store {
    /// The root folder of the service.
    pub(crate) root: tempfile::TempDir,
    /// The folder of finished blobs: our own, or the S3 server's.
    finished: PathBuf,
    pub(crate) s3_backend: Option<S3BackendConfig>,
}

impl Store {
    /// An empty store, in a folder unless the environment asks for the S3 server.
    pub(crate) fn new() -> Self {
        if std::env::var(S3_VARIABLE).is_ok_and(|value| value == "1") {
            return Self::on_s3();
        }
        let root = tempfile::tempdir().expect("a temporary folder");
        Self {
            finished: root.path().join("blobs"),
            root,
            s3_backend: None,
        }
    }

    /// An empty store in the S3 server.
    pub(crate) fn on_s3() -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        let (finished, s3_backend) = crate::s3_server::bucket(&root.path().join("incoming"));
        Self {
            root,
            finished,
            s3_backend: Some(s3_backend),
        }
    }

    /// The same place in the S3 server, for the service of another project.
    pub(crate) fn shared_on_s3(&self) -> Self {
        let root = tempfile::tempdir().expect("a temporary folder");
        let s3_backend = self.s3_backend.clone().map(|config| S3BackendConfig {
            spool: root.path().join("incoming"),
            ..config
        });
        Self {
            finished: self.finished.clone(),
            root,
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
        // Marks of databases that use the store are no blobs, nor is what a sweep has removed.
        let others =
            ["selvedge/owners", "selvedge/trash"].map(|folder| files_below(&self.finished.join(folder)));
        files_below(&self.finished) - others.iter().sum::<usize>() + self.unfinished()
    }

    /// How many blobs are in the trash.
    pub(crate) fn trashed(&self) -> usize {
        files_below(&self.root.path().join("trash")) + files_below(&self.finished.join("selvedge/trash"))
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
