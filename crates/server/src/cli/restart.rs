//! Arguments of `selvedge restart`.

use clap::Args;

#[derive(Debug, Args)]
pub struct RestartArgs {
    /// Give the new process the variables of this command in the place of those of the running server
    #[arg(long)]
    pub environment: bool,
}
