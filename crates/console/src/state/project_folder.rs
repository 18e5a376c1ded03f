//! Folders of the project in which the console reads and writes files.

use std::path::{Path, PathBuf};

use selvedge_project_files::resolve;

use crate::error::ConsoleError;

/// A folder of the project whose place was decided about when the server started: whoever starts it has not trusted a link that a pull puts
/// there later.
#[derive(Debug, Clone)]
pub struct ProjectFolder {
    /// Links resolved, as they were then.
    path: PathBuf,
}

impl ProjectFolder {
    /// The folder at this path, which need not exist.
    #[must_use]
    pub fn at_start(path: &Path) -> Self {
        Self { path: resolve(path) }
    }

    /// Where the folder is.
    ///
    /// # Errors
    /// 409 when it is somewhere else than at the start.
    pub(crate) fn path(&self) -> Result<&Path, ConsoleError> {
        if resolve(&self.path) == self.path {
            return Ok(&self.path);
        }
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let message = format!("The folder {name} was replaced by a link since the server started");
        Err(ConsoleError::conflict(message).with_hint("Restart the server, which asks about the link."))
    }
}
