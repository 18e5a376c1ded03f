//! Arguments of `selvedge backup` and `selvedge restore`.

use std::path::PathBuf;

use clap::Args;
use selvedge_config::Flags;

#[derive(Debug, Args)]
pub struct BackupArgs {
    /// The file to write, which must not exist
    pub file: PathBuf,
    /// Folder with PostgreSQL's programs, when the project does not run [default: looked for]
    #[arg(long, value_name = "DIR")]
    pub pg_bin: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// A file that `selvedge backup` has written
    pub file: PathBuf,
    /// Replace the database and the objects that the project has; objects that may be of another database as well: --yes=PROJECT
    #[arg(short, long, value_name = "PROJECT", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub yes: Option<String>,
    /// Folder with PostgreSQL's programs [default: looked for]
    #[arg(long, value_name = "DIR")]
    pub pg_bin: Option<PathBuf>,
}

impl BackupArgs {
    /// Adds these arguments to `flags`.
    pub(super) fn add_to(&self, flags: Flags) -> Flags {
        Flags {
            pg_bin: self.pg_bin.clone(),
            ..flags
        }
    }
}

impl RestoreArgs {
    /// Adds these arguments to `flags`.
    pub(super) fn add_to(&self, flags: Flags) -> Flags {
        Flags {
            pg_bin: self.pg_bin.clone(),
            ..flags
        }
    }
}
