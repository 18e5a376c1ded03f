//! The arguments of `selvedge storage`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub struct StorageArgs {
    #[command(subcommand)]
    pub action: StorageAction,
    /// Work with this database instead of the project's own [env: DATABASE_URL]
    #[arg(long, global = true, value_name = "URL")]
    pub database_url: Option<String>,
}

#[derive(Debug, Subcommand)]
pub enum StorageAction {
    /// Let this database alone remove stored objects: the marks of all other databases are deleted
    Adopt(AdoptArgs),
}

#[derive(Debug, Args)]
pub struct AdoptArgs {
    /// Say that all stored objects are of this database: --yes=HOST, or --yes=PROJECT of the project's own one
    #[arg(short, long, value_name = "NAME", require_equals = true)]
    pub yes: Option<String>,
}
