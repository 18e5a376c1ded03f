//! Arguments of `selvedge stack`.

use std::path::PathBuf;

use clap::Args;
use selvedge_config::Flags;

#[derive(Debug, Args)]
pub struct StackArgs {
    /// Folder with PostgreSQL's programs (initdb, postgres) [default: looked for]
    #[arg(long, value_name = "DIR")]
    pub pg_bin: Option<PathBuf>,
    /// The Deno program for edge functions [default: looked for]
    #[arg(long, value_name = "FILE")]
    pub deno_bin: Option<PathBuf>,
    /// Run the shared cluster of the stacks in this folder; started by the first stack
    #[arg(long, value_name = "DIR", hide = true)]
    pub host: Option<PathBuf>,
}

impl StackArgs {
    /// Adds these arguments to `flags`.
    pub(super) fn add_to(&self, flags: Flags) -> Flags {
        Flags {
            pg_bin: self.pg_bin.clone(),
            deno_bin: self.deno_bin.clone(),
            ..flags
        }
    }
}
