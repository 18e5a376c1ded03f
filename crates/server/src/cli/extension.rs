//! Arguments of `selvedge extension`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use selvedge_config::Flags;

#[derive(Debug, Args)]
pub struct ExtensionArgs {
    #[command(subcommand)]
    pub action: ExtensionAction,
    /// Folder with PostgreSQL's programs (initdb, postgres) [default: looked for]
    #[arg(long, value_name = "DIR", global = true)]
    pub pg_bin: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum ExtensionAction {
    /// Download an extension that was built for the project's PostgreSQL, check it, and install it; with PostgreSQL 18 if
    /// nothing is known for the one at hand
    Add(AddExtensionArgs),
    /// List the extensions that can be added
    List,
}

#[derive(Debug, Args)]
pub struct AddExtensionArgs {
    /// Its name in `create extension`, such as vector
    pub name: String,
    /// A package that was downloaded by other means; can be given several times
    #[arg(long, value_name = "FILE")]
    pub file: Vec<PathBuf>,
}

impl ExtensionArgs {
    /// Adds these arguments to `flags`.
    pub(super) fn add_to(&self, flags: Flags) -> Flags {
        Flags {
            pg_bin: self.pg_bin.clone(),
            ..flags
        }
    }
}
