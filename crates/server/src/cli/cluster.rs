//! Arguments of `selvedge cluster`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use selvedge_config::Flags;

#[derive(Debug, Args)]
pub struct ClusterArgs {
    #[command(subcommand)]
    pub action: ClusterAction,
}

#[derive(Debug, Subcommand)]
pub enum ClusterAction {
    /// Run the PostgreSQL of a production database, and start it again when it ends; `serve` connects to it
    Run(RunClusterArgs),
    /// Restart PostgreSQL with the settings of [db.settings], for those that take effect only then
    Restart,
}

#[derive(Debug, Args)]
pub struct RunClusterArgs {
    /// Folder with PostgreSQL's programs (initdb, postgres) [default: looked for]
    #[arg(long, value_name = "DIR")]
    pub pg_bin: Option<PathBuf>,
    /// What to log: a level (info, debug) or filters (selvedge_postgres=debug,warn)
    #[arg(long, value_name = "FILTER")]
    pub log: Option<String>,
}

impl ClusterArgs {
    /// Adds these arguments to `flags`.
    pub(super) fn add_to(&self, flags: Flags) -> Flags {
        match &self.action {
            ClusterAction::Run(args) => Flags {
                pg_bin: args.pg_bin.clone(),
                log: args.log.clone(),
                ..flags
            },
            ClusterAction::Restart => flags,
        }
    }
}
