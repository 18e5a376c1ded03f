//! Whether a running cluster is of an older package than the machine's.

use std::path::{Path, PathBuf};

use super::{ClusterConfig, error::ClusterError, owner::Owner, program_tree::shared_folder};

impl ClusterConfig {
    /// Whether the project's running PostgreSQL is an older one than its next start will run, because the machine's packages were
    /// changed since. False where that is not known.
    ///
    /// # Errors
    /// When there is no user for the cluster, or files of PostgreSQL cannot be read.
    pub fn runs_replaced_programs(&self) -> Result<bool, ClusterError> {
        let owner = Owner::for_project(&self.state_dir)?;
        let home = self.home(&owner)?;
        let Some(next) = self
            .find_binaries()?
            .next_program_folder(&shared_folder(&owner, &home))?
        else {
            return Ok(false);
        };
        Ok(running_program(&home.join("pgdata")).is_some_and(|running| running.parent() != Some(&next)))
    }
}

/// The program that runs in a data directory, or ran there last: PostgreSQL writes its command line into a file.
fn running_program(data_dir: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(data_dir.join("postmaster.opts")).ok()?;
    let (program, _) = text.split_once(" \"-D\"")?;
    Some(PathBuf::from(program))
}
